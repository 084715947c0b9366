"""Whether what came out is what the scenario says."""

import hashlib
import json
import re

from e2e.clients.client_table import CLIENTS
from e2e.clients.scenarios import SCENARIOS
from e2e.scripted_upstream.answers import USAGE
from e2e.settings import PROTOCOLS

RESULT = {"text": "", "error": None, "images": 0}


def wrong(job, heard, requests):
    """What is wrong with what a client heard (as JSON) and with what its upstream was asked."""
    client, scenario = CLIENTS[job.client], SCENARIOS[job.scenario]
    if refusal := next((request.refused for request in requests if request.refused), None):
        if f"{client.protocol}>{job.behind}" not in scenario.get("refused", ()):
            return [f"the upstream refused: {refusal}"]
        return list(unraised(client, {"error": "invalid"}, heard))
    if scenario.get("abort"):
        return list(unaborted(heard, requests))
    found = list(unraised(client, scenario.get("hears", {}), heard))
    if not heard["error"]:
        found += misheard(job, scenario, heard)
    found += missent(job, scenario, requests)
    found += mislaid(client, job, scenario, heard)
    return found


def misheard(job, scenario, heard):
    """Differences between the script and what the client heard."""
    turns, steps = scenario["turns"], heard["steps"]
    if len(turns) != len(steps):
        yield f"{len(turns)} turns were played, and {len(steps)} heard"
    for at, (turn, step) in enumerate(zip(turns, steps, strict=False)):
        told = {"text": turn.get("text", ""), "calls": [[call["name"], call["args"]] for call in turn.get("calls", ())]}
        for key, value in told.items():
            if step[key] != value:
                yield f"step {at}: the {key} are {step[key]!r}, not {value!r}"
        reasoning = turn.get("reasoning", {}).get("text")
        if reasoning and step["reasoning"] is not None and step["reasoning"] != reasoning:
            yield f"step {at}: the reasoning is {step['reasoning']!r}, not {reasoning!r}"
        stop = turn.get("stop") or ("calls" if turn.get("calls") else "end")
        if step["stop"] is not None and step["stop"] != stop:
            yield f"step {at}: the stop is {step['stop']!r}, not {stop!r}"
        usage = {**USAGE, **turn.get("usage", {})}
        if step["usage"] is not None and step["usage"] != {key: usage[key] for key in step["usage"]}:
            yield f"step {at}: the usage is {step['usage']}, not {usage}"
    for key in ("usage", "stop"):
        if key in scenario.get("hears", {}) and any(step[key] is None for step in steps):
            yield f"the client heard nothing of the {key}"


def missent(job, scenario, requests):
    """Differences between the client's words and what the upstream saw."""
    ask, results = scenario["ask"], []
    names = shown(job, ask.get("tools", ()))
    for at, request in enumerate(requests):
        turn = scenario["turns"][at - 1] if 0 < at <= len(scenario["turns"]) else {}
        results += [expected_result(job, scenario, call["name"]) for call in turn.get("calls", ())]
        told = [{key: result[key] for key in RESULT} for result in request.seen["results"]]
        if told != results:
            yield f"request {at}: the results are {told}, not {results}"
        paired = [result["id"] for result in request.seen["results"]]
        if paired != [call["id"] for call in request.seen["calls"]]:
            yield f"request {at}: the results {paired} do not answer the calls in their order"
        wanted = {"tools": sorted(names), **scenario.get("sent", {})}
        wanted |= wanted.get(request.protocol, {})
        wanted = {key: value for key, value in wanted.items() if key not in PROTOCOLS}
        got = {key: request.seen[key] for key in wanted}
        if job.mode != "unary" and not request.seen["stream"]:
            yield f"request {at}: no stream was asked for"
        if got != wanted:
            yield f"request {at}: it says {got}, not {wanted}"
        seals = [one["reasoning"]["seal"] for one in scenario["turns"][:at] if "reasoning" in one]
        if job.behind != "chat" and request.seen["seals"] != seals:
            yield f"request {at}: it brings the reasoning {request.seen['seals']}, not {seals}"


def shown(job, tools):
    """The names under which the upstream sees tools."""
    client = CLIENTS[job.client]
    if job.behind != "chat" or client.protocol == "chat":
        return list(tools)
    return [name if len(name) <= 64 else f"{name[:55]}_{short_hash(name)}" for name in tools]


def short_hash(name):
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def expected_result(job, scenario, tool):
    result = {**scenario.get("results", DEFAULT_RESULTS)[tool]}
    text, error, image = result["text"], result.get("error"), "image" in result
    said = {**RESULT, "text": text, "images": int(image)}
    if error:
        said |= {"error": True} if job.behind == "messages" else {"text": f"Error: {text}"}
    if image and job.behind == "chat":
        said |= {"text": f"{text}\n[image 1 attached below]", "images": 0}
    return said


def mislaid(client, job, scenario, heard):
    """Losses that should have been reported, and those that nobody expects."""
    if heard["error"] or not heard["loss"]:
        return
    entries = heard["loss"][-1].split(", ")
    # What the answer loses is little and told of unary answers alone; the vectors have it.
    asked = [entry for entry in entries if "side=response" not in entry]
    codes = {re.search(r"code=([\w:.]+)", entry)[1]: "level=info" in entry for entry in asked if "code=" in entry}
    pairs = (f"{client.protocol}>{job.behind}", f"*>{job.behind}")
    wanted = {code for pair in pairs if client.protocol != job.behind for code in scenario.get("loss", {}).get(pair, ())}
    if missing := wanted - set(codes):
        yield f"the losses {sorted(missing)} are not reported: {heard['loss'][-1]}"
    harmless = {code for code, info in codes.items() if info} | client.loses
    if more := set(codes) - wanted - harmless:
        yield f"the losses {sorted(more)} are reported: {heard['loss'][-1]}"


def unraised(client, hears, heard):
    """Whether the client raised what it should have."""
    kind, error = hears.get("error"), heard["error"]
    if kind is None:
        if error:
            yield f"the client raised {json.dumps(error)[:600]}"
        return
    if error is None:
        yield f"the client raised nothing: {heard['steps']}"
        return
    name, status = ERRORS[client.errors][kind]
    if (name and name not in error["classes"]) or (status and error["status"] != status):
        yield f"the client raised {error['classes'][0]} {error['status']}, not {name} {status}: {error['message']}"
    if "retry_after" in hears and error["retry_after"] != hears["retry_after"]:
        yield f"retry-after is {error['retry_after']!r}"
    if kind == "context":
        known = error["code"] == "context_length_exceeded" or "prompt is too long" in error["message"]
        if not known:
            yield f"nobody would know that the context is too long: {error}"


def unaborted(heard, requests):
    """Whether the upstream noticed that the client left."""
    if heard["error"]:
        yield f"the client raised {heard['error']}"
    if len(requests) != 1:
        yield f"{len(requests)} requests reached the upstream"
        return
    if not requests[0].closed.wait(timeout=2):
        yield "the upstream was never left"


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
# The Vercel SDK has one class for all, and gives what a stream says of an error as it is.
AI = {kind: ("AI_APICallError", status) for kind, (_, status) in OPENAI.items()} | {"in the stream": (None, None)}
ERRORS = {
    "openai": OPENAI,
    "anthropic": ANTHROPIC,
    "anthropic-node": {**ANTHROPIC, "overloaded": ("InternalServerError", 529)},
    "ai": AI,
    "ai anthropic": {**AI, "overloaded": ("AI_APICallError", 529)},
}
