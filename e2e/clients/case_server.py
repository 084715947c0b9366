"""The scripted upstream and a gateway for clients that are not in Python.

    python -m e2e.clients.case_server typescript

prints one line of JSON: the addresses, the scenarios, and the jobs of that language's clients. A
client does a job and posts {"job": number, "heard": ...} to /control/judge, which answers with a
list of what is wrong. Everything ends when standard input does.
"""

import json
import sys

from e2e.gateway import Gateway
from e2e.clients.verification import DEFAULT_RESULTS, wrong
from e2e.clients.client_table import CLIENTS, jobs
from e2e.clients.scenarios import SCENARIOS, TOOLS
from e2e.scripted_upstream.server import Upstream


def main(language):
    upstream = Upstream()
    gateway = Gateway(upstream)
    table = [job for client in CLIENTS.values() if client.language == language for job in jobs(client)]
    for job in table:
        # One script for each upstream, because the jobs run side by side.
        upstream.play(model(job), SCENARIOS[job.scenario]["turns"])

    def judge(said):
        job = table[said["job"]]
        return wrong(job, said["heard"], upstream.requests(model(job)))

    upstream.controls["judge"] = judge
    told = {
        "gateway": gateway.url,
        "control": f"{upstream.url}/control",
        "scenarios": SCENARIOS,
        "tools": TOOLS,
        "results": DEFAULT_RESULTS,
        "jobs": [
            {
                "client": job.client,
                "scenario": job.scenario,
                "behind": job.behind,
                "mode": job.mode,
                "model": f"{job.behind}/{model(job)}",
            }
            for job in table
        ],
    }
    print(json.dumps(told), flush=True)
    sys.stdin.read()
    gateway.close()


def model(job):
    return f"{job.model}-{job.behind}"


if __name__ == "__main__":
    main(sys.argv[1])
