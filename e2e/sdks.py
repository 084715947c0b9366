"""What the vendors' Python SDKs make of a stream.

`raw` iterates over the events as the SDK's `create(stream=True)` gives them; `helped` lets the
SDK's `stream()` helper put the answer together. Both take the bytes from a real HTTP response.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai

ASKED = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "Go on."}], "response_format": {"type": "text"}},
    "responses": {"model": "m", "input": "Go on."},
    "messages": {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Go on."}]},
}


@dataclass
class Heard:
    """What an SDK gave its user before it ended or raised."""

    events: list[Any] = field(default_factory=list)
    answer: Any = None
    error: Exception | None = None


class Sdks:
    """The clients of one server. A strict one refuses every event that its types do not describe."""

    def __init__(self, replay, strict):
        same = {"api_key": "k", "max_retries": 0, "_strict_response_validation": strict}
        self.replay = replay
        self.openai = openai.OpenAI(base_url=replay.url, **same)
        self.anthropic = anthropic.Anthropic(base_url=replay.url, **same)

    def raw(self, protocol, stream, piece):
        """Every event as the SDK's types say it."""
        create = {
            "chat": self.openai.chat.completions.create,
            "responses": self.openai.responses.create,
            "messages": self.anthropic.messages.create,
        }[protocol]
        heard = Heard()
        try:
            asked = ASKED[protocol] | {"extra_headers": self.replay.headers(stream, piece)}
            for event in create(stream=True, **asked):
                heard.events.append(event)
        except Exception as error:
            heard.error = error
        return heard

    def helped(self, protocol, stream, piece):
        """The answer as the SDK's helper puts it together."""
        open_stream, finish = {
            "chat": (self.openai.chat.completions.stream, "get_final_completion"),
            "responses": (self.openai.responses.stream, "get_final_response"),
            "messages": (self.anthropic.messages.stream, "get_final_message"),
        }[protocol]
        heard = Heard()
        try:
            asked = ASKED[protocol] | {"extra_headers": self.replay.headers(stream, piece)}
            with open_stream(**asked) as helper:
                for event in helper:
                    heard.events.append(event)
                heard.answer = getattr(helper, finish)().to_dict(mode="json")
        except Exception as error:
            heard.error = error
        return heard
