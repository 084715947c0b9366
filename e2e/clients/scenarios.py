"""Table only: the scenarios that every client runs, against an upstream of each protocol.

A scenario is

    ask        what the client asks for: system, user, image (beside the text), tools (names of
               TOOLS), choice ("auto", "any", "none", {"name"}, {"allowed": [names]}), parallel
               (false: one call at a time), format (a schema), think (true), limit
    turns      what the upstream answers, in the format of `scripted_upstream/server.py`
    results    what each tool returns, by its name: {"text", "error", "image"}
    sent       what every request to the upstream must hold, in the format of
               `scripted_upstream/request_view.py`. Calls, results, tools and seals are compared in
               any case. {"chat": {...}} inside is for upstreams of one protocol
    expects    what the client must report beyond the turns: usage, stop, error
    loss       the codes that the `toolwire-loss` header of the last answer must have, by pair
    rejected   the pairs in which the upstream rejects the request with a 400, because a gateway
               does not change a request in the upstream's own protocol
    upstreams  the protocols of the upstream, if not all
    needs      the capabilities that a client needs: see `client_table.py`
    modes      "unary", "stream" or "helper", if not all of them
    once       true: the client sends one request and does not answer the calls
    abort      true: the client disconnects after the first text

A pair is "client>upstream", by their protocols; "*" matches any.
"""

def closed(**properties):
    """The schema of an object, as OpenAI's strict mode requires it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
LONG = "read_the_quarterly_report_of_the_regional_office_and_summarise_it_for_the_board_in_plain_words"
PLACE = closed(
    name=TEXT,
    path=closed(steps={"type": "array", "items": closed(at=closed(x=NUMBER, y=NUMBER), tags={"type": "array", "items": TEXT})}),
)
NESTED = {
    "name": "a \"quoted\" name\\with\nlines",
    "path": {"steps": [{"at": {"x": 1, "y": -2.5}, "tags": ["", "ü", "{}"]}, {"at": {"x": 0, "y": 1e21}, "tags": []}]},
}
UNICODE = {"city": "Zürich 東京 👩‍👩‍👧 \u2028 \u0000 \t\"\\/ é"}
PERSON = closed(name=TEXT, age={"type": "integer"})
# One red pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

TOOLS = {
    "weather": {"description": "The weather of a city.", "schema": closed(city=TEXT)},
    "add": {"description": "Adds two numbers.", "schema": closed(a=NUMBER, b=NUMBER)},
    "now": {"description": "The time.", "schema": closed()},
    "place": {"description": "Stores a place.", "schema": PLACE},
    LONG: {"description": "Reads a report.", "schema": closed(city=TEXT)},
}

WEATHER = {"name": "weather", "args": {"city": "Paris"}}
ADD = {"name": "add", "args": {"a": 1, "b": 2}}
ASK = {"user": "What is the weather in Paris?", "tools": ["weather", "add"]}
SUNNY = {"weather": {"text": "sunny, 21 °C"}, "add": {"text": "3"}}
DONE = {"text": "It is sunny in Paris."}
USAGE = {"input": 120, "cached": 100, "output": 30, "reasoning": 20}
HARD = {"text": "The user wants the weather.\nI shall look.", "seal": "EqQBCgIYAhIkc2VhbGVkIGJ5IHRoZSB2ZW5kb3I/+w=="}
HARDER = {"text": "Paris is sunny, so:", "seal": "EqQBCgIYAhIkYW5vdGhlciBzZWFs+/=="}

CONVERSATIONS = {
    "single": {"ask": {**ASK, "system": "Be brief."}, "turns": [{"calls": [WEATHER]}, DONE], "sent": {"system": "Be brief."}},
    "text alone": {"ask": {"user": "Say hello."}, "turns": [{"text": "Hello."}], "sent": {"user": "Say hello."}},
    "parallel": {"ask": ASK, "turns": [{"calls": [WEATHER, ADD, {**WEATHER, "args": {"city": "Oslo"}}]}, DONE]},
    "sequential": {"ask": ASK, "turns": [{"calls": [WEATHER]}, {"calls": [ADD]}, {"calls": [WEATHER]}, DONE]},
    "text with calls": {"ask": ASK, "turns": [{"text": "Let me look.", "calls": [WEATHER, ADD]}, DONE]},
    "no arguments": {
        "ask": {"user": "What time is it?", "tools": ["now"]},
        "turns": [{"calls": [{"name": "now", "args": {}}]}, {"text": "Noon."}],
        "results": {"now": {"text": "12:00"}},
    },
    "nested arguments": {
        "ask": {"user": "Store it.", "tools": ["place"]},
        "turns": [{"calls": [{"name": "place", "args": NESTED}], "chunk_size": 3}, {"text": "Stored."}],
        "results": {"place": {"text": "ok"}},
    },
    "unicode": {
        "ask": {**ASK, "user": "Wetter in Zürich? 👩‍👩‍👧"},
        "turns": [{"calls": [{"name": "weather", "args": UNICODE}], "chunk_size": 1}, {"text": "Schön: ☀️ 東京\u2028👩‍👩‍👧", "chunk_size": 1}],
        "results": {"weather": {"text": "☀️ \"21°\" \\ \n"}},
        "sent": {"user": "Wetter in Zürich? 👩‍👩‍👧"},
    },
    "empty result": {"ask": ASK, "turns": [{"calls": [WEATHER]}, DONE], "results": {"weather": {"text": ""}}},
    "long name": {
        "ask": {**ASK, "tools": [LONG, "weather"]},
        "turns": [{"calls": [{"name": LONG, "args": {"city": "Paris"}}]}, DONE],
        "results": {LONG: {"text": "fine"}},
        "rejected": ["chat>chat"],
        "loss": {"responses>chat": ["tool_name"], "messages>chat": ["tool_name"]},
    },
    "long ids": {
        "ask": ASK,
        "turns": [{"calls": [{**WEATHER, "id": "call_" + "x" * 58}, {**ADD, "id": "call_" + "x" * 57 + "y"}]}, DONE],
        # Ids in Chat cannot be this long.
        "upstreams": ["responses", "messages"],
    },
    "forced": {
        "ask": {**ASK, "choice": {"name": "weather"}},
        "turns": [{"calls": [WEATHER]}],
        "once": True,
        "sent": {"choice": {"name": "weather"}},
        "needs": ["choice"],
    },
    "required": {
        "ask": {**ASK, "choice": "any"},
        "turns": [{"calls": [WEATHER]}],
        "once": True,
        "sent": {"choice": "any"},
        "needs": ["choice"],
    },
    "none": {
        "ask": {**ASK, "choice": "none"},
        "turns": [{"text": "I may not look."}],
        "sent": {"choice": "none"},
        "needs": ["choice"],
    },
    "allowed": {
        "ask": {**ASK, "choice": {"allowed": ["weather"]}},
        "turns": [{"calls": [WEATHER]}, DONE],
        "sent": {"allowed": ["weather"], "messages": {"allowed": None, "tools": ["weather"]}},
        "loss": {"*>messages": ["cache_prefix"]},
        "needs": ["allowed"],
    },
    "parallel off": {
        "ask": {**ASK, "parallel": False},
        "turns": [{"calls": [WEATHER]}, DONE],
        "sent": {"parallel": False},
        "needs": ["parallel"],
    },
    "tool error": {
        "ask": ASK,
        "turns": [{"calls": [WEATHER, ADD]}, {"text": "It failed."}],
        "results": {"weather": {"text": "no such city", "error": True}, "add": {"text": "3"}},
        "loss": {"messages>chat": ["is_error"], "messages>responses": ["is_error"]},
        "needs": ["is_error"],
    },
    "image in a result": {
        "ask": ASK,
        "turns": [{"calls": [WEATHER, ADD]}, {"text": "Red."}],
        "results": {"weather": {"text": "a picture", "image": PIXEL}, "add": {"text": "3"}},
        "loss": {"*>chat": ["result_media_moved"]},
        "needs": ["result_image"],
    },
    "image": {
        "ask": {"user": "What is this?", "image": PIXEL},
        "turns": [{"text": "Red."}],
        "sent": {"images": 1},
        "needs": ["image"],
    },
    "reasoning": {
        "ask": {**ASK, "think": True},
        "turns": [
            {"reasoning": HARD, "text": "One moment.", "calls": [WEATHER]},
            {"reasoning": HARDER, "calls": [ADD]},
            {"text": "It is sunny in Paris."},
        ],
        "loss": {
            "messages>chat": ["reasoning_unsigned", "thinking_budget"],
            "messages>responses": ["thinking_budget"],
            "responses>chat": ["reasoning_unsigned", "reasoning_display"],
        },
        "needs": ["reasoning"],
    },
    "structured output": {
        "ask": {"user": "Who is it?", "format": PERSON},
        "turns": [{"text": '{"name": "Ada", "age": 36}'}],
        "sent": {"format": PERSON},
        "loss": {"chat>messages": ["format_name"], "responses>messages": ["format_name"]},
        "needs": ["format"],
    },
    "usage": {
        "ask": ASK,
        "turns": [{"calls": [WEATHER], "usage": USAGE}, {**DONE, "usage": {**USAGE, "input": 150}}],
        "expects": {"usage": [USAGE, {**USAGE, "input": 150}]},
        "needs": ["usage"],
    },
    "cut by the limit": {
        "ask": {**ASK, "limit": 64},
        "turns": [{"text": "It is", "stop": "length"}],
        "sent": {"limit": 64},
        "expects": {"stop": "length"},
        "needs": ["stop"],
    },
}

FAILURES = {
    **{f"error: {kind}": {"ask": ASK, "turns": [{"error": kind}], "expects": {"error": kind}} for kind in
       ("invalid", "auth", "permission", "not_found", "server", "overloaded", "context", "too_large")},
    "error: rate_limit": {
        "ask": ASK,
        "turns": [{"error": {"kind": "rate_limit", "headers": {"retry-after": "7"}}}],
        "expects": {"error": "rate_limit", "retry_after": "7"},
    },
    "error in mid-stream": {
        "ask": ASK,
        "turns": [{"text": "It is sunny in Paris, and in Oslo too.", "error": "overloaded", "after": 8}],
        "expects": {"error": "in the stream"},
        "modes": ["stream", "helper"],
    },
    "cut stream": {
        "ask": ASK,
        "turns": [{"text": "It is sunny in Paris, and in Oslo too.", "cut": True, "after": 8}],
        "expects": {"error": "in the stream"},
        "modes": ["stream", "helper"],
    },
    "cut answer": {
        "ask": ASK,
        "turns": [{"text": "It is sunny.", "cut": True}],
        "expects": {"error": "cut"},
        "modes": ["unary"],
    },
    "abort": {
        "ask": ASK,
        "turns": [{"text": "It is sunny in Paris. " * 400, "delay": 0.02}],
        "modes": ["stream", "helper"],
        "abort": True,
        "needs": ["abort"],
    },
}

SCENARIOS = {**CONVERSATIONS, **FAILURES}
