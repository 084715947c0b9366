"""Serves the scripted upstream and a gateway to clients that are not written in Python.

    python -m e2e.clients.case_server typescript

prints one line of JSON: the addresses, the scenarios, and the cases of that language's clients. A
client runs a case and posts {"case": number, "recording": ...} to /control/verify, which responds
with a list of problems. The servers stop when standard input ends.
"""

import json
import sys

from e2e.clients.client_table import CLIENTS, cases
from e2e.clients.scenarios import SCENARIOS, TOOLS
from e2e.clients.verification import DEFAULT_RESULTS, problems
from e2e.gateway import Gateway
from e2e.scripted_upstream.server import ScriptedUpstream


def main(language):
    upstream = ScriptedUpstream()
    gateway = Gateway(upstream)
    table = [case for client in CLIENTS.values() if client.language == language for case in cases(client)]
    for case in table:
        # One script per protocol of the upstream, because the cases run concurrently.
        upstream.set_script(model(case), SCENARIOS[case.scenario]["turns"])

    def verify(document):
        case = table[document["case"]]
        return problems(case, document["recording"], upstream.requests(model(case)))

    upstream.controls["verify"] = verify
    description = {
        "gateway": gateway.url,
        "control": f"{upstream.url}/control",
        "scenarios": SCENARIOS,
        "tools": TOOLS,
        "results": DEFAULT_RESULTS,
        "cases": [
            {
                "client": case.client,
                "scenario": case.scenario,
                "upstream_protocol": case.upstream_protocol,
                "mode": case.mode,
                "model": f"{case.upstream_protocol}/{model(case)}",
            }
            for case in table
        ],
    }
    print(json.dumps(description), flush=True)
    sys.stdin.read()
    gateway.close()


def model(case):
    return f"{case.model}-{case.upstream_protocol}"


if __name__ == "__main__":
    main(sys.argv[1])
