"""Every client runs every scenario through one gateway, against an upstream of each protocol.

`scenarios.py` has the scenarios, `client_table.py` the clients, and `verification.py` finds what is
wrong. `../node/test_clients.mjs` does the same for the clients in TypeScript.
"""

import copy

import pytest

from e2e.clients import anthropic_sdk, langchain, openai_agents, openai_sdk
from e2e.clients.client_table import CLIENTS, cases
from e2e.clients.scenarios import SCENARIOS
from e2e.clients.verification import problems
from e2e.settings import PROTOCOLS

VENDOR_SDKS = {**openai_sdk.CONVERSATIONS, **anthropic_sdk.CONVERSATIONS}
CONVERSATIONS = {**VENDOR_SDKS, **openai_agents.CONVERSATIONS, **langchain.CONVERSATIONS}
TABLE = {}
for client in CONVERSATIONS:
    for case in cases(CLIENTS[client]):
        TABLE.setdefault((client, case.upstream_protocol, case.scenario), []).append(case)


@pytest.mark.parametrize(("client", "upstream_protocol", "scenario"), TABLE, ids=lambda part: part.replace(" ", "_"))
def test_clients(client, upstream_protocol, scenario, upstream, gateway):
    found = []
    for case in TABLE[client, upstream_protocol, scenario]:
        upstream.set_script(case.model, SCENARIOS[scenario]["turns"])
        model = f"{upstream_protocol}/{case.model}"
        recording = CONVERSATIONS[client](gateway, SCENARIOS[scenario], model, case.mode).run()
        wrong = problems(case, recording.as_json(), upstream.requests(case.model))
        found += [f"{case.mode}: {problem}" for problem in wrong]
    assert not found, "\n" + "\n".join(found)


def test_every_scenario_is_run():
    """For each scenario there is a client that can run it."""
    assert {scenario for _, _, scenario in TABLE} == set(SCENARIOS)
    assert {upstream_protocol for _, upstream_protocol, _ in TABLE} == set(PROTOCOLS)


# The scenario, a change to its script, and a part of the problem that must be found.
CHANGES = {
    "text": ("single", lambda turns: turns[1].update(text="Rain."), "the text"),
    "name": ("single", lambda turns: turns[0]["calls"][0].update(name="add"), "the calls"),
    "arguments": ("nested arguments", lambda turns: turns[0]["calls"][0]["args"].update(name="b"), "the calls"),
    "order": ("parallel", lambda turns: turns[0]["calls"].reverse(), "the calls"),
    "usage": ("usage", lambda turns: turns[1]["usage"].update(cached=99), "the usage"),
    "stop": ("cut by the limit", lambda turns: turns[0].pop("stop"), "the stop"),
    "reasoning": ("reasoning", lambda turns: turns[0]["reasoning"].update(text="Hm."), "the reasoning"),
    "seal": ("reasoning", lambda turns: turns[0]["reasoning"].update(seal="c2VhbA=="), "returns the reasoning"),
    "another error": ("error: auth", lambda turns: turns[0].update(error="permission"), "PermissionDeniedError"),
    "no error": ("error: auth", lambda turns: turns[0].pop("error"), "raised nothing"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_verification_finds_a_changed_script(change, upstream, gateway):
    """Proves that `test_clients` can fail."""
    name, apply, expected = CHANGES[change]
    turns = copy.deepcopy(SCENARIOS[name]["turns"])
    apply(turns)
    for client in VENDOR_SDKS:
        case = next(case for case in TABLE[client, "messages", name] if case.mode == "unary")
        upstream.set_script(case.model, turns)
        recording = CONVERSATIONS[client](gateway, SCENARIOS[name], f"messages/{case.model}", case.mode).run()
        found = problems(case, recording.as_json(), upstream.requests(case.model))
        assert any(expected in problem for problem in found), found
