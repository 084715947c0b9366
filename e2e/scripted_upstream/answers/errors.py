"""Errors as the vendors write them."""

# Sent with every answer of a protocol.
HEADERS = {
    "chat": {"x-request-id": "req_upstream", "x-ratelimit-remaining-requests": "59"},
    "responses": {"x-request-id": "req_upstream", "x-ratelimit-remaining-requests": "59"},
    "messages": {"request-id": "req_upstream", "anthropic-ratelimit-requests-remaining": "59"},
}

# Kind: status, type and code for OpenAI's protocols, then status and type for Messages.
ERRORS = {
    "invalid": (400, "invalid_request_error", None, 400, "invalid_request_error"),
    "context": (400, "invalid_request_error", "context_length_exceeded", 400, "invalid_request_error"),
    "auth": (401, "invalid_request_error", "invalid_api_key", 401, "authentication_error"),
    "permission": (403, "invalid_request_error", "permission_denied", 403, "permission_error"),
    "not_found": (404, "invalid_request_error", "model_not_found", 404, "not_found_error"),
    "too_large": (413, "invalid_request_error", "request_too_large", 413, "request_too_large"),
    "rate_limit": (429, "requests", "rate_limit_exceeded", 429, "rate_limit_error"),
    "server": (500, "server_error", None, 500, "api_error"),
    "overloaded": (503, "server_error", "server_is_overloaded", 529, "overloaded_error"),
}

ERROR_MESSAGES = {
    "invalid": "The request is not valid.",
    "context": "This model's maximum context length is 128000 tokens.",
    "auth": "The key is not valid.",
    "permission": "The key may not use this model.",
    "not_found": "The model does not exist.",
    "too_large": "The request is too large.",
    "rate_limit": "Too many requests.",
    "server": "The server had an error.",
    "overloaded": "The server is overloaded.",
}


def error_document(protocol, error):
    """An error as the vendor writes it: status, headers and document."""
    error = {"kind": error} if isinstance(error, str) else error
    kind = error["kind"]
    status, type, code, messages_status, messages_type = ERRORS[kind]
    message = error.get("message") or ERROR_MESSAGES[kind]
    headers = {**HEADERS[protocol], **error.get("headers", {})}
    if protocol != "messages":
        document = {"error": {"message": message, "type": type, "param": error.get("param"), "code": code}}
        return status, headers, document
    if kind == "context":
        message = "prompt is too long: 210000 tokens > 200000 maximum"
    elif error.get("param"):
        message = f"{error['param']}: {message}"
    document = {"type": "error", "error": {"type": messages_type, "message": message}, "request_id": "req_upstream"}
    return messages_status, headers, document
