"""Every client goes through every scenario, with an upstream of each protocol behind one gateway.

`scenarios.py` says what happens, `roster.py` which clients there are, `judge.py` what is wrong.
`node/clients.mjs` does the same for the clients in TypeScript.
"""

import pytest

from e2e.clients_sdk import RUN
from e2e.gateway import PROTOCOLS
from e2e.judge import wrong
from e2e.roster import CLIENTS, jobs
from e2e.scenarios import SCENARIOS

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
