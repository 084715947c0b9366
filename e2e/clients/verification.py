"""Compares what a client received, and what its upstream received, with the scenario."""

import hashlib
import json
import re

from e2e.clients.client_table import CLIENTS
from e2e.scripted_upstream.answers.turn_encoder import USAGE
from e2e.settings import PROTOCOLS

RESULT = {"text": "", "error": None, "images": 0}


def problems(case, recording, requests):
    """Everything that is wrong with a client's recording (as JSON) and with the requests to its upstream."""
    client, scenario = CLIENTS[case.client], case.script
    if rejection := next((request.rejection for request in requests if request.rejection), None):
        if f"{client.protocol}>{case.upstream_protocol}" not in scenario.get("rejected", ()):
            return [f"the upstream rejected the request: {rejection}"]
        return list(error_problems(client, {"error": "invalid"}, recording))
    if scenario.get("abort"):
        return list(abort_problems(recording, requests))
    found = list(error_problems(client, scenario.get("expects", {}), recording))
    if not recording["error"]:
        found += answer_problems(case, scenario, recording)
    found += request_problems(case, scenario, requests)
    if case.dialect:
        found += text_problems(case, scenario, recording, requests)
    found += loss_problems(client, case, scenario, recording)
    return found


def answer_problems(case, scenario, recording):
    """Differences between the script and what the client received."""
    turns, answers = scenario["turns"], recording["answers"]
    if len(turns) != len(answers):
        yield f"{len(turns)} turns were scripted, and {len(answers)} received"
    for at, (turn, answer) in enumerate(zip(turns, answers, strict=False)):
        text = "\n".join(turn[key] for key in ("text", "text_after") if key in turn)
        expected = {"text": text, "calls": [[call["name"], call["args"]] for call in turn.get("calls", ())]}
        for key, value in expected.items():
            if answer[key] != value:
                yield f"answer {at}: the {key} are {answer[key]!r}, not {value!r}"
        reasoning = turn.get("reasoning", {}).get("text")
        if reasoning and answer["reasoning"] is not None and answer["reasoning"] != reasoning:
            yield f"answer {at}: the reasoning is {answer['reasoning']!r}, not {reasoning!r}"
        stop = turn.get("stop") or ("calls" if turn.get("calls") else "end")
        if answer["stop"] is not None and answer["stop"] != stop:
            yield f"answer {at}: the stop is {answer['stop']!r}, not {stop!r}"
        usage = {**USAGE, **turn.get("usage", {})}
        if answer["usage"] is not None and answer["usage"] != {key: usage[key] for key in answer["usage"]}:
            yield f"answer {at}: the usage is {answer['usage']}, not {usage}"
    for key in ("usage", "stop"):
        if key in scenario.get("expects", {}) and any(answer[key] is None for answer in answers):
            yield f"the client did not report the {key}"


def request_problems(case, scenario, requests):
    """Differences between what the client asked for and what the upstream received."""
    ask, results = scenario["ask"], []
    names = upstream_names(case, ask.get("tools", ()))
    for at, request in enumerate(requests):
        turn = scenario["turns"][at - 1] if 0 < at <= len(scenario["turns"]) else {}
        results += [expected_result(case, scenario, call["name"]) for call in turn.get("calls", ())]
        received = [{key: result[key] for key in RESULT} for result in request.view["results"]]
        if received != results:
            yield f"request {at}: the results are {received}, not {results}"
        paired = [result["id"] for result in request.view["results"]]
        if paired != [call["id"] for call in request.view["calls"]]:
            yield f"request {at}: the results {paired} do not answer the calls in their order"
        wanted = {"tools": sorted(names), **scenario.get("sent", {})}
        wanted |= wanted.get(request.protocol, {})
        wanted = {key: value for key, value in wanted.items() if key not in PROTOCOLS}
        got = {key: request.view[key] for key in wanted}
        if case.mode != "unary" and not request.view["stream"]:
            yield f"request {at}: it does not ask for a stream"
        if got != wanted:
            yield f"request {at}: it has {got}, not {wanted}"
        seals = [one["reasoning"]["seal"] for one in scenario["turns"][:at] if "seal" in one.get("reasoning", ())]
        if case.upstream_protocol != "chat" and request.view["seals"] != seals:
            yield f"request {at}: it returns the reasoning {request.view['seals']}, not {seals}"


def text_problems(case, scenario, recording, requests):
    """What is wrong with the calls of a conversation with an upstream that takes no tools."""
    calls = []
    for at, request in enumerate(requests):
        turn = scenario["turns"][at - 1] if 0 < at <= len(scenario["turns"]) else {}
        calls += [[*upstream_names(case, [call["name"]]), call["args"]] for call in turn.get("calls", ())]
        received = [[call["name"], call["args"]] for call in request.view["calls"]]
        if received != calls:
            yield f"request {at}: the calls are {received}, not {calls}"
        names = [result["name"] for result in request.view["results"]]
        if names != [name for name, _ in calls]:
            yield f"request {at}: the results are of {names}, not of {calls}"
        for told in scenario.get("told", ()):
            if told not in request.view["instructions"]:
                yield f"request {at}: the model is not told {told!r}: {request.view['instructions']!r}"
    # The head of a stream is sent before it is known whether there will be a call.
    always = case.mode != "unary" and bool(requests) and bool(requests[0].view["tools"])
    expected = [case.dialect if always or turn.get("calls") else None for turn in scenario["turns"]]
    if recording["recovered"] != expected:
        yield f"the headers toolwire-recovered are {recording['recovered']}, not {expected}"


def upstream_names(case, tools):
    """The names that tools have in the request to the upstream."""
    client = CLIENTS[case.client]
    if case.dialect:
        return [name if len(name) <= 64 else f"{name[:55]}_{short_hash(name)}" for name in tools]
    if case.upstream_protocol != "chat" or client.protocol == "chat":
        return list(tools)
    return [name if len(name) <= 64 else f"{name[:55]}_{short_hash(name)}" for name in tools]


def short_hash(name):
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def expected_result(case, scenario, tool):
    result = {**scenario.get("results", DEFAULT_RESULTS)[tool]}
    text, error, image = result["text"], result.get("error"), "image" in result
    expected = {**RESULT, "text": text, "images": int(image)}
    if case.dialect:
        attached = "\n[attachment 1 below]" if image else ""
        return {**expected, "text": f"Error: {text}" if error else f"{text}{attached}"}
    if error:
        expected |= {"error": True} if case.upstream_protocol == "messages" else {"text": f"Error: {text}"}
    if image and case.upstream_protocol == "chat":
        expected |= {"text": f"{text}\n[image 1 attached below]", "images": 0}
    return expected


def loss_problems(client, case, scenario, recording):
    """Losses that should have been reported and were not, and losses that were reported and are unexpected."""
    if recording["error"] or not recording["loss_headers"]:
        return
    entries = recording["loss_headers"][-1].split(", ")
    # The losses of answers are reported for unary answers alone; the vectors check them.
    of_request = [entry for entry in entries if "side=response" not in entry]
    codes = {re.search(r"code=([\w:.]+)", entry)[1]: "level=info" in entry for entry in of_request if "code=" in entry}
    pairs = (f"{client.protocol}>{case.upstream_protocol}", f"*>{case.upstream_protocol}", "*>*")
    translated = case.dialect or client.protocol != case.upstream_protocol
    wanted = {code for pair in pairs if translated for code in scenario.get("loss", {}).get(pair, ())}
    if missing := wanted - set(codes):
        yield f"the losses {sorted(missing)} are not reported: {recording['loss_headers'][-1]}"
    harmless = {code for code, info in codes.items() if info} | client.always_loses
    if case.dialect:
        # Nobody keeps a model that writes its calls as text to a schema.
        harmless.add("strict_downgraded")
    if more := set(codes) - wanted - harmless:
        yield f"the losses {sorted(more)} are reported: {recording['loss_headers'][-1]}"


def error_problems(client, expects, recording):
    """Whether the client raised the expected exception."""
    kind, error = expects.get("error"), recording["error"]
    if kind is None:
        if error:
            yield f"the client raised {json.dumps(error)[:600]}"
        return
    if error is None:
        yield f"the client raised nothing: {recording['answers']}"
        return
    name, status = ERRORS[client.errors][kind]
    if (name and name not in error["classes"]) or (status and error["status"] != status):
        yield f"the client raised {error['classes'][0]} {error['status']}, not {name} {status}: {error['message']}"
    if "retry_after" in expects and error["retry_after"] != expects["retry_after"]:
        yield f"retry-after is {error['retry_after']!r}"
    if kind == "context":
        known = error["code"] == "context_length_exceeded" or "prompt is too long" in error["message"]
        if not known:
            yield f"the error does not show that the context is too long: {error}"


def abort_problems(recording, requests):
    """Whether the upstream noticed that the client disconnected."""
    if recording["error"]:
        yield f"the client raised {recording['error']}"
    if len(requests) != 1:
        yield f"{len(requests)} requests reached the upstream"
        return
    if not requests[0].closed.wait(timeout=2):
        yield "the connection to the upstream was not closed"


DEFAULT_RESULTS = {"weather": {"text": "sunny, 21 °C"}, "add": {"text": "3"}}

OPENAI = {
    "invalid": ("BadRequestError", 400),
    "auth": ("AuthenticationError", 401),
    "permission": ("PermissionDeniedError", 403),
    "not_found": ("NotFoundError", 404),
    "too_large": ("APIError", 413),
    "rate_limit": ("RateLimitError", 429),
    "server": ("InternalServerError", 500),
    "overloaded": ("InternalServerError", 503),
    "context": ("BadRequestError", 400),
    "in the stream": ("APIError", None),
    "cut": ("InternalServerError", 502),
}
ANTHROPIC = {
    **OPENAI,
    "too_large": ("ContentTooLargeError", 413),
    "overloaded": ("OverloadedError", 529),
}
# The Vercel SDK has one class for all errors, and passes on an error event of a stream unchanged.
AI = {kind: ("AI_APICallError", status) for kind, (_, status) in OPENAI.items()} | {"in the stream": (None, None)}
ERRORS = {
    "openai": OPENAI,
    "anthropic": ANTHROPIC,
    "anthropic-node": {**ANTHROPIC, "overloaded": ("InternalServerError", 529)},
    "ai": AI,
    "ai anthropic": {**AI, "overloaded": ("AI_APICallError", 529)},
}
