"""What a client heard, in the words of no protocol; the judge compares it with the script."""

import contextlib
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Step:
    """One answer."""

    text: str = ""
    # [name, arguments as a value]
    calls: list[list[Any]] = field(default_factory=list)
    # What the client was told of the model's reasoning; None where it cannot hear of it.
    reasoning: str | None = None
    usage: dict[str, int] | None = None
    stop: str | None = None


@dataclass
class Heard:
    """A whole conversation, from one client."""

    steps: list[Step] = field(default_factory=list)
    # The header `toolwire-loss` of each answer.
    loss: list[str] = field(default_factory=list)
    # {"classes", "status", "code", "message", "retry_after"} of what the client raised.
    error: dict[str, Any] | None = None

    def as_json(self):
        return asdict(self)


@contextlib.contextmanager
def caught(heard):
    """Writes down what the client raises."""
    try:
        yield
    except Exception as error:
        response = getattr(error, "response", None)
        heard.error = {
            "classes": [kind.__name__ for kind in type(error).__mro__],
            "status": getattr(error, "status_code", None),
            "code": getattr(error, "code", None),
            "message": str(error),
            "retry_after": response.headers.get("retry-after") if response is not None else None,
        }


class Ear:
    """A hook of an HTTP client that writes down the losses which the gateway reports.

    Making a client takes longer than a conversation, so clients are kept and only told who listens.
    """

    def __init__(self):
        self.heard = None

    def __call__(self, response):
        self.heard.loss.append(response.headers.get("toolwire-loss", ""))
