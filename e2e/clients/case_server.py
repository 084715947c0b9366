"""Serves the scripted upstream and a gateway to clients that are not written in Python.

    python -m e2e.clients.case_server typescript

prints one line of JSON: the addresses, and the cases of that language's clients with their scenarios. A
client runs a case and posts {"case": number, "recording": ...} to /control/verify, which responds
with a list of problems. The servers stop when standard input ends.
"""

import json
import sys

from e2e.clients.client_table import CLIENTS, SDK_MODES, cases, text_cases
from e2e.clients.scenarios import TOOLS
from e2e.clients.verification import DEFAULT_RESULTS, problems
from e2e.gateway import Gateway
from e2e.scripted_upstream.server import ScriptedUpstream


# The dialect of the upstream that takes no tools.
DIALECT = "hermes"


def main(language):
    upstream = ScriptedUpstream()
    text_settings = f'tool_calls = "text"\ntool_dialect = "{DIALECT}"'
    gateways = {None: Gateway(upstream), DIALECT: Gateway(upstream, upstream_settings=text_settings)}
    clients = [client for client in CLIENTS.values() if client.language == language]
    table = [case for client in clients for case in cases(client)]
    # Vendors' own SDKs have all modes.
    sdks = [client for client in clients if client.modes == SDK_MODES]
    table += [case for client in sdks for case in text_cases(client, [DIALECT])]
    for case in table:
        # One script per protocol of the upstream, because the cases run concurrently.
        upstream.set_script(model(case), case.script["turns"], dialect=case.dialect)

    def verify(document):
        case = table[document["case"]]
        return problems(case, document["recording"], upstream.requests(model(case)))

    upstream.controls["verify"] = verify
    description = {
        "control": f"{upstream.url}/control",
        "tools": TOOLS,
        "results": DEFAULT_RESULTS,
        "cases": [
            {
                "client": case.client,
                "scenario": case.scenario,
                "script": case.script,
                "gateway": gateways[case.dialect].url,
                "dialect": case.dialect,
                "upstream_protocol": case.upstream_protocol,
                "mode": case.mode,
                "model": f"{case.upstream_protocol}/{model(case)}",
            }
            for case in table
        ],
    }
    print(json.dumps(description), flush=True)
    sys.stdin.read()
    for gateway in gateways.values():
        gateway.close()


def model(case):
    return f"{case.model}-{case.upstream_protocol}"


if __name__ == "__main__":
    main(sys.argv[1])
