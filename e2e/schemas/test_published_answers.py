"""Tests of the walker of answers: it finds every published field, and its answers are what the types allow."""

from collections import Counter
from functools import cache

import pytest
from pydantic import TypeAdapter, ValidationError

from e2e.schemas import field_paths
from e2e.schemas.disposition_table import report
from e2e.schemas.observed_answers import fields
from e2e.schemas.published_answers import ERRORS, EVENTS, FOLLOWING, WHOLE, rows

KNOWN = {
    "chat": """
        choices[].message.content
        choices[].message.tool_calls[type=custom].custom.input
        choices[].message.annotations[type=url_citation].url_citation.url
        choices[].delta.tool_calls[type=function].function.arguments
        choices[].delta.audio.transcript
        choices[].logprobs.refusal[].top_logprobs[].bytes
        usage.prompt_tokens_details.cached_tokens
        system_fingerprint
        obfuscation
        error_body.error.param
    """,
    "responses": """
        output[role=assistant].content[type=output_text].annotations[type=container_file_citation].container_id
        output[type=function_call].namespace
        output[type=reasoning].encrypted_content
        output[type=shell_call_output].output[].outcome(type=exit).exit_code
        output[type=additional_tools].tools[type=namespace].tools[type=custom].format(type=grammar).definition
        incomplete_details.reason
        usage.output_tokens_details.reasoning_tokens
        instructions[role=user].content[type=input_text].text
        event(type=response.output_text.delta).logprobs[].top_logprobs[].token
        event(type=response.shell_call_command.delta).obfuscation
        event(type=response.image_generation_call.partial_image).partial_image_b64
        event(type=error).param
        error_body.error.code
    """,
    "messages": """
        content[type=text].citations[type=page_location].start_page_number
        content[type=tool_use].caller(type=code_execution_20260120).tool_id
        content[type=web_search_tool_result].content[type=web_search_result].url
        content[type=mcp_tool_use].server_name
        content[type=compaction].content
        stop_details.explanation
        usage.iterations[type=compaction].input_tokens
        event(type=content_block_delta).delta(type=input_json_delta).partial_json
        event(type=content_block_delta).delta(type=compaction_delta).encrypted_content
        error_body.error(type=overloaded_error).message
        error_body.request_id
    """,
}

# Fewer fields would mean that the walk stops early somewhere. A vendor's release may add some.
FEWEST = {
    ("chat", "whole"): 100,
    ("chat", "stream"): 89,
    ("chat", "error"): 20,
    ("responses", "whole"): 2200,
    ("responses", "stream"): 2400,
    ("responses", "error"): 10,
    ("messages", "whole"): 900,
    ("messages", "stream"): 1900,
    ("messages", "error"): 40,
}


@pytest.mark.parametrize(("protocol", "path"), [(name, path) for name in KNOWN for path in KNOWN[name].split()])
def test_known_field_is_found(protocol, path):
    assert (protocol, path) in {(row.protocol, row.path) for row in rows()}


def test_no_fewer_fields_than_known():
    counts = Counter((row.protocol, row.form) for row in rows())
    assert {key: counts[key] >= least for key, least in FEWEST.items()} == dict.fromkeys(FEWEST, True)
    assert counts.keys() == FEWEST.keys()


def test_paths_are_in_the_grammar():
    for field in fields():
        path = field["path"]
        if not path.startswith(("event(", "error_body.")):
            assert field_paths.parse(path), path


def test_sample_is_at_its_places():
    for field in fields():
        for at in field["places"]:
            assert value_at(field["with"], at) is not MISSING, (field["path"], at)


def test_the_two_answers_differ():
    """A pair of equal answers would show nothing, except for values that every answer has."""
    equal = {field["path"].rpartition(".")[2] for field in fields() if field["with"] == field["without"]}
    assert equal <= FOLLOWING | ALWAYS, equal - FOLLOWING - ALWAYS


# Constants, and members of which an ordinary answer has the value under test. Their other values are tried too.
ALWAYS = {"object", "type", "role", "message", "finish_reason", "stop_reason"}


def test_answers_are_what_the_types_allow():
    misfits = [fault for field in fields() for fault in faults(field)]
    assert not misfits, report(misfits)


def faults(field):
    """What the newest of the types, which includes the others, finds wrong in an answer."""
    protocol, documents = field["protocol"], field["with"]
    if field["form"] == "stream":
        types = EVENTS
    elif field["form"] == "whole":
        types, documents = WHOLE, [documents]
    else:
        body = documents[-1] if isinstance(documents, list) else documents
        types, documents = ERRORS, [body if protocol == "messages" else body["error"]]
    for document in documents:
        try:
            adapter(types[protocol][-1]).validate_python(document)
        except ValidationError as error:
            others = {fault["loc"][0] for fault in error.errors() if fault["loc"][1:] == ("type",)}
            mine = [fault for fault in error.errors() if fault["loc"][0] not in others]
            places = [f"{'/'.join(map(str, fault['loc'][-4:]))}: {fault['msg']}" for fault in mine[:3]]
            yield f"{protocol} {field['form']} {field['path']}: {places}"
            return


adapter = cache(TypeAdapter)


def value_at(document, pointer):
    for key in pointer[1:].split("/"):
        key = int(key) if isinstance(document, list) else key.replace("~1", "/").replace("~0", "~")
        try:
            document = document[key]
        except (KeyError, IndexError):
            return MISSING
    return document


MISSING = object()
