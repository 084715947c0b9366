"""Table only: the clients, what each can do, and which scenarios follow from that.

A client that lacks a capability skips the scenarios that need it; a comment gives the reason. The
capabilities are

    sdk           it is a vendor's own SDK, which leaves the tool loop to its user
    choice        can force a tool
    allowed       can limit the choice to some tools
    parallel      can ask for one call at a time
    is_error      can report that a tool failed
    result_image  can send images in tool results
    image         can send images
    reasoning     shows the model's reasoning, and sends it back
    format        can ask for an answer that follows a schema
    usage         reports the tokens of each answer
    stop          reports why an answer ended
    abort         can disconnect in mid-stream
"""

from dataclasses import dataclass

from e2e.clients.scenarios import SCENARIOS
from e2e.clients.text_scenarios import TEXT_SCENARIOS
from e2e.scripted_upstream.text_only import DIALECTS
from e2e.settings import PROTOCOLS

CAPABILITIES = {
    "sdk",
    "choice",
    "allowed",
    "parallel",
    "is_error",
    "result_image",
    "image",
    "reasoning",
    "format",
    "usage",
    "stop",
    "abort",
}
# Chat has no error flag and no images in results, Responses no error flag, Messages no allowed tools.
PROTOCOL_LACKS = {"chat": {"is_error", "result_image"}, "responses": {"is_error"}, "messages": {"allowed"}}


@dataclass(frozen=True)
class Client:
    """One library with one protocol."""

    name: str
    protocol: str
    language: str
    # The key in `verification.ERRORS`: whose exceptions it raises.
    errors: str
    modes: tuple[str, ...]
    lacks: frozenset[str] = frozenset()
    # Loss codes of fields that it always sends and no other protocol has.
    always_loses: frozenset[str] = frozenset()

    @property
    def capabilities(self):
        return CAPABILITIES - PROTOCOL_LACKS[self.protocol] - self.lacks


# Fields that the helpers add to an answer, and that come back in the history.
PARSED = frozenset({"only:parsed", "only:index", "only:parsed_arguments", "only:function.parsed_arguments"})
COMPATIBLE_LACKS = frozenset({"allowed", "reasoning", "parallel"})
SDK_MODES = ("unary", "stream", "helper")
BOTH = ("unary", "stream")
CLIENTS = {
    client.name: client
    for client in [
        Client("openai chat", "chat", "python", "openai", SDK_MODES, always_loses=PARSED),
        Client("openai responses", "responses", "python", "openai", SDK_MODES),
        Client("anthropic", "messages", "python", "anthropic", SDK_MODES),
        # It shows reasoning in Chat, but does not send the seal back.
        Client("openai-agents chat", "chat", "python", "openai", BOTH, lacks=frozenset({"allowed", "stop", "reasoning"})),
        Client("openai-agents responses", "responses", "python", "openai", BOTH, lacks=frozenset({"allowed", "stop"})),
        # It drops every field that OpenAI's Chat does not have.
        Client("langchain-openai chat", "chat", "python", "openai", BOTH, lacks=frozenset({"allowed", "reasoning"})),
        Client("langchain-openai responses", "responses", "python", "openai", BOTH, lacks=frozenset({"allowed"})),
        Client("langchain-anthropic", "messages", "python", "anthropic", BOTH),
        Client("openai-node chat", "chat", "typescript", "openai", SDK_MODES, always_loses=PARSED),
        Client("openai-node responses", "responses", "typescript", "openai", SDK_MODES, always_loses=PARSED),
        Client("anthropic-node", "messages", "typescript", "anthropic-node", SDK_MODES),
        # OpenAI's Chat has no reasoning, so this provider neither reads nor sends any.
        Client("ai openai chat", "chat", "typescript", "ai", BOTH, lacks=frozenset({"allowed", "reasoning"})),
        Client("ai openai responses", "responses", "typescript", "ai", BOTH, lacks=frozenset({"allowed"})),
        Client("ai anthropic", "messages", "typescript", "ai anthropic", BOTH),
        # It shows reasoning, but sends it back without its seal.
        Client("ai openai-compatible", "chat", "typescript", "ai", BOTH, lacks=COMPATIBLE_LACKS),
    ]
}


# Defects of the clients, which would show without a gateway too.
# Keyed by client, scenario, protocol of the upstream, and mode; "*" matches any.
SKIPPED = {
    ("openai-node chat", "cut by the limit", "*", "helper"): "throws for an answer that the limit cut, and keeps none of it",
    ("openai-node chat", "reasoning", "chat", "helper"): "keeps only the last piece of `reasoning_content`",
    ("langchain-openai responses", "reasoning", "chat", "*"): "sends the summary of reasoning back and not its text",
    ("ai openai responses", "reasoning", "chat", "*"): "reads the summary of reasoning and not its text",
}


@dataclass(frozen=True)
class Case:
    """One client, scenario, protocol of the upstream, and mode."""

    client: str
    scenario: str
    upstream_protocol: str
    mode: str
    # The dialect of an upstream that takes no tools.
    dialect: str | None = None

    @property
    def script(self):
        """The scenario itself."""
        return (TEXT_SCENARIOS if self.dialect else SCENARIOS)[self.scenario]

    @property
    def model(self):
        """The name of the model that follows the scenario's script."""
        parts = [self.client, self.scenario, self.mode, *([self.dialect] if self.dialect else [])]
        return "-".join(parts).replace(" ", "_").replace(":", "")


def cases(client):
    """All the cases of one client."""
    for name, scenario in SCENARIOS.items():
        if not set(scenario.get("needs", ())) <= client.capabilities:
            continue
        for upstream_protocol in scenario.get("upstreams", PROTOCOLS):
            for mode in client.modes:
                if mode in scenario.get("modes", SDK_MODES) and not skipped(client.name, name, upstream_protocol, mode):
                    yield Case(client.name, name, upstream_protocol, mode)


def text_cases(client, dialects=tuple(DIALECTS)):
    """The cases of a vendor's SDK with an upstream that takes no tools."""
    for name, scenario in TEXT_SCENARIOS.items():
        if not set(scenario.get("needs", ())) <= client.capabilities:
            continue
        for dialect in dialects:
            for upstream_protocol in PROTOCOLS:
                for mode in client.modes:
                    if not skipped(client.name, name, upstream_protocol, mode):
                        yield Case(client.name, name, upstream_protocol, mode, dialect)


def skipped(client, scenario, upstream_protocol, mode):
    """Why a case is skipped, or None."""
    keys = [(client, scenario, protocol, way) for protocol in (upstream_protocol, "*") for way in (mode, "*")]
    return next((SKIPPED[key] for key in keys if key in SKIPPED), None)
