"""The vendors' SDKs complete tool loops with an upstream that takes no tools.

The gateway has `tool_calls = "text"`, and the upstream rejects every trace of tools
(`scripted_upstream/text_only/`). `text_scenarios.py` has the scenarios. `../node/test_clients.mjs`
does the same for the SDKs in TypeScript, in one dialect.
"""

import copy

import pytest

from e2e.clients import anthropic_sdk, openai_sdk
from e2e.clients.client_table import CLIENTS, text_cases
from e2e.clients.text_scenarios import TEXT_SCENARIOS
from e2e.clients.verification import problems
from e2e.gateway import Gateway
from e2e.scripted_upstream.text_only import DIALECTS

CONVERSATIONS = {**openai_sdk.CONVERSATIONS, **anthropic_sdk.CONVERSATIONS}
TABLE = {}
for client in CONVERSATIONS:
    for case in text_cases(CLIENTS[client]):
        TABLE.setdefault((client, case.dialect, case.upstream_protocol, case.scenario), []).append(case)


@pytest.fixture(scope="module")
def gateways(upstream):
    """A gateway for each dialect."""
    settings = 'tool_calls = "text"\ntool_dialect = "{}"'
    processes = {name: Gateway(upstream, upstream_settings=settings.format(name)) for name in DIALECTS}
    yield processes
    for process in processes.values():
        process.close()


@pytest.mark.parametrize(("client", "dialect", "upstream_protocol", "scenario"), TABLE, ids=lambda part: part.replace(" ", "_"))
def test_text_tools(client, dialect, upstream_protocol, scenario, upstream, gateways):
    found = []
    for case in TABLE[client, dialect, upstream_protocol, scenario]:
        wrong = problems(case, *run(case, case.script["turns"], upstream, gateways))
        found += [f"{case.mode}: {problem}" for problem in wrong]
    assert not found, "\n" + "\n".join(found)


def run(case, turns, upstream, gateways):
    """What a client received in one case, and what its upstream did."""
    upstream.set_script(case.model, turns, dialect=case.dialect)
    model = f"{case.upstream_protocol}/{case.model}"
    recording = CONVERSATIONS[case.client](gateways[case.dialect], case.script, model, case.mode).run()
    return recording.as_json(), upstream.requests(case.model)


# The scenario, a change to its script, and a part of the problem that must be found.
CHANGES = {
    "text": ("prose around calls", lambda turns: turns[0].update(text_after="No."), "the text"),
    "arguments": ("two rounds", lambda turns: turns[1]["calls"][1]["args"].update(a=7), "the calls"),
    "order": ("parallel", lambda turns: turns[0]["calls"].reverse(), "the calls"),
    "reasoning": ("thinking", lambda turns: turns[0]["reasoning"].update(text="Hm."), "the reasoning"),
    "no call": ("single", lambda turns: turns[0].update(calls=[], text="Hm."), "toolwire-recovered"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_verification_finds_a_changed_script(change, upstream, gateways):
    """Proves that `test_text_tools` can fail."""
    name, apply, expected = CHANGES[change]
    turns = copy.deepcopy(TEXT_SCENARIOS[name]["turns"])
    apply(turns)
    for client in CONVERSATIONS:
        case = next(case for case in TABLE[client, "hermes", "chat", name] if case.mode == "unary")
        found = problems(case, *run(case, turns, upstream, gateways))
        assert any(expected in problem for problem in found), found
