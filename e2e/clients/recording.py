"""What a client received, independent of its protocol. `verification.py` compares it with the script."""

import contextlib
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class RecordedAnswer:
    """One answer of the model."""

    text: str = ""
    # [name, arguments as a value]
    calls: list[list[Any]] = field(default_factory=list)
    # The reasoning that the client shows its user; None if it cannot show any.
    reasoning: str | None = None
    usage: dict[str, int] | None = None
    stop: str | None = None


@dataclass
class Recording:
    """Everything that one client received in one conversation."""

    answers: list[RecordedAnswer] = field(default_factory=list)
    # The header `toolwire-loss` of each answer.
    loss_headers: list[str] = field(default_factory=list)
    # The header `toolwire-recovered` of each answer.
    recovered: list[str | None] = field(default_factory=list)
    # {"classes", "status", "code", "message", "retry_after"} of the exception that the client raised.
    error: dict[str, Any] | None = None

    def as_json(self):
        return asdict(self)


@contextlib.contextmanager
def recording_error(recording):
    """Records an exception that the client raises, and swallows it."""
    try:
        yield
    except Exception as error:
        response = getattr(error, "response", None)
        recording.error = {
            "classes": [kind.__name__ for kind in type(error).__mro__],
            "status": getattr(error, "status_code", None),
            "code": getattr(error, "code", None),
            "message": str(error),
            "retry_after": response.headers.get("retry-after") if response is not None else None,
        }


class LossHeaderHook:
    """A response hook for HTTP clients that records the losses the gateway reports.

    Creating a client takes longer than a conversation, so clients are reused, and each conversation
    sets the recording.
    """

    def __init__(self):
        self.recording = None

    def __call__(self, response):
        self.recording.loss_headers.append(response.headers.get("toolwire-loss", ""))
        self.recording.recovered.append(response.headers.get("toolwire-recovered"))
