"""Every client goes through every scenario, with an upstream of each protocol behind one gateway.

`scenarios.py` says what happens, `client_table.py` which clients there are, `verification.py` what is wrong.
`../node/test_clients.mjs` does the same for the clients in TypeScript.
"""

import copy

import pytest

from e2e.clients import langchain_clients, openai_agents, vendor_sdks
from e2e.clients.verification import wrong
from e2e.clients.client_table import CLIENTS, jobs
from e2e.clients.scenarios import SCENARIOS
from e2e.settings import PROTOCOLS

RUN = {**vendor_sdks.RUN, **openai_agents.RUN, **langchain_clients.RUN}
TABLE = {}
for client in RUN:
    for job in jobs(CLIENTS[client]):
        TABLE.setdefault((client, job.behind, job.scenario), []).append(job)


@pytest.mark.parametrize(("client", "behind", "scenario"), TABLE, ids=lambda part: part.replace(" ", "_"))
def test_clients(client, behind, scenario, upstream, gateway):
    found = []
    for job in TABLE[client, behind, scenario]:
        upstream.play(job.model, SCENARIOS[scenario]["turns"])
        heard = RUN[client](gateway, SCENARIOS[scenario], f"{behind}/{job.model}", job.mode).run()
        found += [f"{job.mode}: {problem}" for problem in wrong(job, heard.as_json(), upstream.requests(job.model))]
    assert not found, "\n" + "\n".join(found)


def test_every_scenario_is_played():
    """Nothing stands in the table that no client can do."""
    assert {scenario for _, _, scenario in TABLE} == set(SCENARIOS)
    assert {behind for _, behind, _ in TABLE} == set(PROTOCOLS)


# Where a scenario's script is changed, and what the judge has to say of it.
CHANGES = {
    "text": ("single", lambda turns: turns[1].update(text="Rain."), "the text"),
    "name": ("single", lambda turns: turns[0]["calls"][0].update(name="add"), "the calls"),
    "arguments": ("nested arguments", lambda turns: turns[0]["calls"][0]["args"].update(name="b"), "the calls"),
    "order": ("parallel", lambda turns: turns[0]["calls"].reverse(), "the calls"),
    "usage": ("usage", lambda turns: turns[1]["usage"].update(cached=99), "the usage"),
    "stop": ("cut by the limit", lambda turns: turns[0].pop("stop"), "the stop"),
    "reasoning": ("reasoning", lambda turns: turns[0]["reasoning"].update(text="Hm."), "the reasoning"),
    "seal": ("reasoning", lambda turns: turns[0]["reasoning"].update(seal="c2VhbA=="), "brings the reasoning"),
    "another error": ("error: auth", lambda turns: turns[0].update(error="permission"), "PermissionDeniedError"),
    "no error": ("error: auth", lambda turns: turns[0].pop("error"), "raised nothing"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_judge_notices(change, upstream, gateway):
    """What comes out otherwise than the scenario says is found, so the others can fail."""
    name, apply, why = CHANGES[change]
    turns = copy.deepcopy(SCENARIOS[name]["turns"])
    apply(turns)
    for client in vendor_sdks.RUN:
        job = next(job for job in TABLE[client, "messages", name] if job.mode == "unary")
        upstream.play(job.model, turns)
        heard = RUN[client](gateway, SCENARIOS[name], f"messages/{job.model}", job.mode).run()
        found = wrong(job, heard.as_json(), upstream.requests(job.model))
        assert any(why in problem for problem in found), found
