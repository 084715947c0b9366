"""Tests of the walker itself: it finds every published field, and its requests are valid."""

import json
import subprocess
import sys
from collections import Counter

import anthropic
import httpx2
import pytest

from e2e.schemas import field_paths
from e2e.schemas.published_fields import HEADERS, ROOTS, rows
from e2e.schemas.sdk_types import Flag, Free, Items, Number, Record, Text, alternatives, fields
from e2e.settings import PROTOCOLS

KNOWN = {
    "chat": """
        model
        messages[role=developer].content[type=text].text
        messages[role=user].content(string)
        messages[role=user].content[type=image_url].image_url.detail
        messages[role=user].content[type=input_audio].input_audio.format
        messages[role=user].content[type=file].file.filename
        messages[role=user].content[type=text].prompt_cache_breakpoint.ttl
        messages[role=assistant].tool_calls[type=function].function.arguments
        messages[role=assistant].tool_calls[type=custom].custom.input
        messages[role=assistant].content[type=refusal].refusal
        messages[role=assistant].function_call.name
        messages[role=tool].tool_call_id
        messages[role=function].name
        functions[].parameters
        function_call(object).name
        logit_bias
        response_format(type=json_schema).json_schema.strict
        stop(string)
        stop[]
        stream
        stream_options.include_usage
        tool_choice(string)
        tool_choice(type=allowed_tools).allowed_tools.mode
        tool_choice(type=function).function.name
        tools[type=function].function.strict
        tools[type=custom].custom.format(type=grammar).grammar.syntax
        web_search_options.user_location.approximate.city
    """,
    "responses": """
        input(string)
        input[role=user].content[type=input_text].text
        input[role=user].content[type=input_file].file_url
        input[role=user].type
        input[role=assistant].content[type=output_text].annotations[type=url_citation].url
        input[role=assistant].phase
        input[role=developer].content(string)
        input[type=function_call].arguments
        input[type=function_call].namespace
        input[type=function_call].caller(type=program).caller_id
        input[type=function_call_output].output(string)
        input[type=function_call_output].output[type=input_image].detail
        input[type=custom_tool_call].input
        input[type=local_shell_call].action.command
        input[type=shell_call_output].output[].outcome(type=exit).exit_code
        input[type=apply_patch_call].operation(type=update_file).diff
        input[type=computer_call].actions[type=scroll].scroll_y
        input[type=reasoning].encrypted_content
        input[type=reasoning].summary[type=summary_text].text
        input[type=additional_tools].tools[type=namespace].tools[type=custom].format(type=grammar).definition
        input[type=tool_search_output].tools[type=function].defer_loading
        input[type=item_reference].id
        prompt.variables.*(type=input_image).image_url
        reasoning.effort
        store
        text.format(type=json_schema).schema
        tool_choice(type=allowed_tools).tools
        tool_choice(type=mcp).server_label
        tool_choice(type=code_interpreter)
        tools[type=function].strict
        tools[type=custom].format(type=grammar).syntax
        tools[type=mcp].require_approval(object).never.tool_names
        tools[type=shell].environment(type=container_auto).network_policy(type=allowlist).allowed_domains
        tools[type=web_search].filters.allowed_domains
    """,
    "messages": """
        max_tokens
        system(string)
        system[type=text].cache_control.ttl
        messages[role=user].content(string)
        messages[role=user].content[type=image].source(type=base64).media_type
        messages[role=user].content[type=document].source(type=content).content[type=image].source(type=url).url
        messages[role=user].content[type=tool_result].is_error
        messages[role=user].content[type=tool_result].content(string)
        messages[role=user].content[type=tool_result].content[type=search_result].content[type=text].text
        messages[role=user].content[type=tool_result].content[type=tool_reference].tool_name
        messages[role=assistant].content[type=thinking].signature
        messages[role=assistant].content[type=redacted_thinking].data
        messages[role=assistant].content[type=tool_use].input
        messages[role=assistant].content[type=tool_use].caller(type=code_execution_20250825).tool_id
        messages[role=assistant].content[type=text].citations[type=page_location].start_page_number
        messages[role=assistant].content[type=web_search_tool_result].content[type=web_search_result].url
        messages[role=assistant].content[type=web_search_tool_result].content(type=web_search_tool_result_error).error_code
        messages[role=system].content(string)
        container(object).skills[].skill_id
        output_config.format.schema
        thinking(type=enabled).budget_tokens
        tool_choice(type=tool).name
        tool_choice(type=auto).disable_parallel_tool_use
        tools[type=custom].input_schema
        tools[type=custom].type
        tools[type=custom].cache_control.type
        tools[type=web_fetch_20260318].citations.enabled
        tools[type=browser_toolset_20260801].configs.zoom.enabled
    """,
    "messages beta": """
        context_management.edits[type=clear_tool_uses_20250919].trigger(type=tool_uses).value
        fallbacks[].thinking(type=enabled).budget_tokens
        fallbacks(string)
        mcp_servers[type=url].authorization_token
        messages[role=system].content[type=tool_addition].tool(type=tool_definition).definition(type=custom).input_schema
        tools[type=mcp_toolset].configs.*.enabled
        tools[type=computer_20251124].enable_zoom
        output_config.task_budget.total
        thread(type=continue).previous_message_id
    """,
}

# Fewer fields would mean that the walk stops early somewhere. A vendor's release may add some.
FEWEST = {("chat", False): 200, ("responses", False): 1300, ("messages", False): 1800, ("messages", True): 3300}


@pytest.fixture(scope="module")
def table():
    return [row.as_json() for row in rows()]


@pytest.mark.parametrize(("group", "path"), [(group, path) for group in KNOWN for path in KNOWN[group].split()])
def test_known_field_is_found(group, path):
    protocol, _, beta = group.partition(" ")
    assert (protocol, path, bool(beta)) in {(row.protocol, row.path, row.beta) for row in rows()}


def test_no_fewer_fields_than_known():
    counts = Counter((row.protocol, row.beta) for row in rows())
    assert {key: counts[key] >= least for key, least in FEWEST.items()} == dict.fromkeys(FEWEST, True)
    assert counts.keys() == FEWEST.keys()


def test_every_top_level_field_is_found():
    for protocol in PROTOCOLS:
        declared = {field.name for root in ROOTS[protocol] for field in fields(Record(root))}
        found = {row.path for row in rows() if row.protocol == protocol}
        assert declared - found == (HEADERS if protocol == "messages" else set())


def test_paths_are_unique_and_in_the_grammar(table):
    named = [(row["protocol"], row["path"]) for row in table]
    assert len(named) == len(set(named))
    for _, path in named:
        assert field_paths.parse(path)


def test_every_path_has_a_parent(table):
    """A path without its last name or selector has a row too, unless it ends in a bare `[]` or `.*`."""
    named = {(row["protocol"], row["path"]) for row in table}
    for protocol, path in named:
        tokens = list(field_paths.TOKEN.finditer(path))
        above = path[: tokens[-1].start()].removesuffix("[]").removesuffix(".*")
        assert not above or (protocol, above) in named, path


def test_requests_survive_json(table):
    for row in table:
        for side in ("with", "without"):
            assert json.loads(json.dumps(row[side])) == row[side], row["path"]


def test_sample_is_in_with_and_not_in_without(table):
    for row in table:
        having = field_paths.find(row["path"], row["with"])
        lacking = [value for _, value in field_paths.find(row["path"], row["without"])]
        assert (row["at"], row["sample"]) in having, row["path"]
        assert not any(same(value, row["sample"]) for value in lacking), row["path"]


def test_required_field_differs_or_goes_with_its_object(table):
    """A field that cannot be left out has another value, or the object around it is gone."""
    for row in table:
        if row["differs"]:
            assert field_paths.find(row["path"], row["without"]), row["path"]
        elif row["required"]:
            above = row["path"].rpartition(".")[0]
            held = [value for _, value in field_paths.find(above, row["with"])]
            left = [value for _, value in field_paths.find(above, row["without"])]
            assert len(left) < len(held) or not any(value in left for value in held), row["path"]


def test_optional_value_is_left_out_not_replaced(table):
    """Otherwise, nobody would notice a translator that ignores the field."""
    replaced = {row["type"] for row in table if row["differs"] and not row["required"] and "(" not in row["type"]}
    assert {name for name in replaced if not name.endswith(ESSENTIAL_FIELDS)} == set()


ESSENTIAL_FIELDS = (
    ".model",
    ".input",
    ".content",
    ".call_id",
    ".file_id",
    ".file_url",
    ".file_data",
    ".filename",
    ".image_url",
    ".server_url",
    ".connector_id",
    ".tunnel_id",
    ".action",
    ".actions",
    ".reasoning",
    ".text",
    ".encrypted_content",
    "[]",
)


def test_requests_are_what_the_types_allow(table):
    for row in table:
        root = ROOTS[row["protocol"]][-1]
        for side in ("with", "without"):
            faults = list(misfits(row[side], [Record(root)], ""))
            assert not faults, (row["path"], side, faults)


def test_pairs_stay_pairs(table):
    """Every result has a call and every call has a result, whatever value is under test."""
    for row in table:
        if not row["misplaced"]:
            for side in ("with", "without"):
                calls, results = PAIRS[row["protocol"]](row[side])
                assert sorted(calls) == sorted(results), (row["path"], side)


def test_media_have_a_source(table):
    """The types make every source optional, but the APIs require one."""
    sources = {"image_url", "file_id", "file_url", "file_data"}
    for row in table:
        for media in objects([row["with"], row["without"]]):
            if media.get("type") in ("input_image", "input_file", "computer_screenshot"):
                assert sources & media.keys(), row["path"]


def test_only_the_field_and_its_partners_differ(table):
    """Any other difference between the two requests would hide the loss of the field."""
    for row in table:
        elsewhere = [place for place in differences(row["with"], row["without"]) if not within(place, row["at"])]
        if row["differs"]:
            assert {place.rpartition("/")[2] for place in elsewhere} <= PARTNERS, row["path"]
        elif not row["required"] and not row["path"].endswith(("]", ")")) and row["path"] not in CARRIERS:
            assert not elsewhere, row["path"]


# Fields by which a call and its result, or a server and its tools, refer to each other.
PARTNERS = {"id", "call_id", "tool_call_id", "tool_use_id", "caller_id", "approval_request_id", "name", "type"}
PARTNERS |= {"mcp_server_name"}

# If one of these is left out, what refers to it is left out too.
CARRIERS = {"messages[role=assistant].tool_calls", "messages[role=assistant].function_call", "mcp_servers"}


def test_neutral_fields_are_marked(table):
    neutral = {(row["protocol"], row["path"]) for row in table if row["neutral"]}
    assert {
        ("chat", "response_format(type=text)"),
        ("chat", "tools[type=custom].custom.format(type=text)"),
        ("responses", "text.format(type=text)"),
        ("responses", "input[role=user].type"),
        ("messages", "tool_choice(type=auto)"),
        ("messages", "tools[type=custom].type"),
    } <= neutral
    # Here, the plain format replaces another one.
    assert ("responses", "input[type=configuration_update].text.format(type=text)") not in neutral
    assert not {(row["protocol"], row["path"]) for row in table if row["required"]} & neutral


def test_headers_are_not_body_fields():
    """The SDK takes headers as arguments, but does not put them in the body."""
    sent = []

    def answer(request):
        sent.append(request)
        return httpx2.Response(400, json={"type": "error", "error": {"type": "api_error", "message": "enough"}})

    client = anthropic.Anthropic(
        api_key="none", max_retries=0, http_client=httpx2.Client(transport=httpx2.MockTransport(answer))
    )
    base = {"model": "claude-opus-5", "max_tokens": 1, "messages": [{"role": "user", "content": "hello"}]}
    with pytest.raises(anthropic.BadRequestError):
        client.beta.messages.create(**base, betas=["a"], user_profile_id="b", workspace_id="c")
    assert json.loads(sent[0].content).keys() == base.keys()
    assert {sent[0].headers[f"anthropic-{name}"] for name in ("beta", "user-profile-id", "workspace-id")} == set("abc")


def test_enum_values_can_be_tried_one_by_one(table):
    row = next(row for row in table if row["path"] == "tool_choice(string)" and row["protocol"] == "chat")
    assert row["values"] == ["none", "auto", "required"]
    assert field_paths.replace(row["with"], row["at"], "none")["tool_choice"] == "none"
    assert row["with"]["tool_choice"] == "required"


def test_output_is_the_same_every_time():
    command = [sys.executable, "-m", "e2e.schemas.published_fields", "--json"]
    first, second = (
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    )
    assert first == second
    assert len(first.splitlines()) == len(rows())


def test_find_selects_the_right_elements():
    request = {
        "input": [{"role": "user", "content": "a"}, {"type": "additional_tools", "role": "user"}, {"id": "b"}],
        "stop": [True, 1, "c"],
        "map": {"x/y": {"z": 0}},
    }
    assert field_paths.find("input[role=user]", request) == [("/input/0", {"role": "user", "content": "a"})]
    assert field_paths.find("input[role=user].content(string)", request) == [("/input/0/content", "a")]
    assert field_paths.find("input[type=item_reference].id", request) == [("/input/2/id", "b")]
    assert field_paths.find("input(string)", request) == []
    assert field_paths.find("stop[number]", request) == [("/stop/1", 1)]
    assert field_paths.find("stop[boolean]", request) == [("/stop/0", True)]
    assert field_paths.find("map.*.z", request) == [("/map/x~1y/z", 0)]
    with pytest.raises(ValueError):
        field_paths.parse("input[role=user]]")


def same(left, right):
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def differences(left, right, where=""):
    """The JSON Pointers at which two values differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in left | right:
            if key in left and key in right:
                yield from differences(left[key], right[key], f"{where}/{key}")
            else:
                yield f"{where}/{key}"
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, pair in enumerate(zip(left, right, strict=True)):
            yield from differences(*pair, f"{where}/{index}")
    elif not same(left, right):
        yield where


def within(pointer, outer):
    return pointer == outer or pointer.startswith(outer + "/")


def objects(value):
    """Every object in a JSON value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def misfits(value, shapes, where):
    """Why `value` has none of `shapes`, according to the SDK's types."""
    for shape in shapes:
        if fits(value, shape):
            return
    records = [shape for shape in shapes if isinstance(shape, Record)]
    if len(shapes) == len(records) == 1 and isinstance(value, dict):
        known = {field.name: field for field in fields(records[0])}
        yield from (f"{where}: missing {name}" for name, field in known.items() if field.required and name not in value)
        for name, inner in value.items():
            if name not in known:
                yield f"{where}: unknown {name}"
            elif inner is not None:
                yield from misfits(inner, alternatives(known[name].type), f"{where}.{name}")
    else:
        yield f"{where}: {json.dumps(value)} is none of {len(shapes)} shapes"


def fits(value, shape):
    match shape:
        case Text(values=values):
            return isinstance(value, str) and (not values or value in values)
        case Number(whole=whole):
            return isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        case Flag():
            return isinstance(value, bool)
        case Free():
            return True
        case Items(of=of, keyed=keyed):
            if not isinstance(value, dict if keyed else list):
                return False
            items = value.values() if keyed else value
            return all(any(fits(item, inner) for inner in alternatives(of)) for item in items)
        case Record():
            if not isinstance(value, dict):
                return False
            known = {field.name: alternatives(field.type) for field in fields(shape)}
            return all(field.name in value for field in fields(shape) if field.required) and all(
                name in known and (inner is None or any(fits(inner, one) for one in known[name]))
                for name, inner in value.items()
            )


def chat_pairs(request):
    calls = [call["id"] for message in request["messages"] for call in message.get("tool_calls", [])]
    return calls, [message["tool_call_id"] for message in request["messages"] if message["role"] == "tool"]


def responses_pairs(request):
    items = request["input"] if isinstance(request["input"], list) else []
    kinds = ("function_call", "custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call", "computer_call")
    calls = [item["call_id"] for item in items if item.get("type") in kinds]
    results = [item for item in items if item.get("type", "").removesuffix("_output") in kinds]
    return calls, [item.get("call_id", item.get("id")) for item in results if item["type"].endswith("_output")]


def messages_pairs(request):
    blocks = [
        block for message in request["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    calls = [block["id"] for block in blocks if block["type"] in ("tool_use", "server_tool_use", "mcp_tool_use")]
    return calls, [block["tool_use_id"] for block in blocks if block["type"].endswith("tool_result")]


PAIRS = {"chat": chat_pairs, "responses": responses_pairs, "messages": messages_pairs}
