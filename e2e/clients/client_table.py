"""Table only: the clients, what each can do, and which scenarios that makes for it.

A client that lacks something is not put through the scenarios that need it; the reason stands
beside it. What it can do is

    sdk           the vendor's own SDK, which leaves the loop to its user
    choice        says which tool to call
    allowed       limits the choice to some tools
    parallel      says that only one call is wanted at a time
    is_error      says that a tool failed
    result_image  sends images in results
    image         sends images
    reasoning     hears the model's reasoning, and sends it back
    format        asks for an answer by a schema
    usage         says how many tokens were used, for each answer
    stop          says why an answer ended
    abort         can leave in mid-stream
"""

from dataclasses import dataclass

from e2e.clients.scenarios import SCENARIOS
from e2e.settings import PROTOCOLS

ALL = {
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
# Chat has neither an error flag nor images in results, Responses no error flag, Messages no subset.
LACKS = {"chat": {"is_error", "result_image"}, "responses": {"is_error"}, "messages": {"allowed"}}


@dataclass(frozen=True)
class Client:
    """One library, speaking one protocol."""

    name: str
    protocol: str
    language: str
    # Whose exceptions it raises.
    errors: str
    modes: tuple[str, ...]
    lacks: frozenset[str] = frozenset()
    # Codes of what it sends that no other protocol has, whatever it is asked to do.
    loses: frozenset[str] = frozenset()

    @property
    def can(self):
        return ALL - LACKS[self.protocol] - self.lacks


# What the helpers add to an answer, and sends back with it.
PARSED = frozenset({"only:parsed", "only:index", "only:parsed_arguments", "only:function.parsed_arguments"})
COMPATIBLE_LACKS = frozenset({"allowed", "reasoning", "parallel"})
SDK_MODES = ("unary", "stream", "helper")
BOTH = ("unary", "stream")
CLIENTS = {
    client.name: client
    for client in [
        Client("openai chat", "chat", "python", "openai", SDK_MODES, loses=PARSED),
        Client("openai responses", "responses", "python", "openai", SDK_MODES),
        Client("anthropic", "messages", "python", "anthropic", SDK_MODES),
        # It hears of reasoning in Chat, and does not send its seal back.
        Client("openai-agents chat", "chat", "python", "openai", BOTH, lacks=frozenset({"allowed", "stop", "reasoning"})),
        Client("openai-agents responses", "responses", "python", "openai", BOTH, lacks=frozenset({"allowed", "stop"})),
        # It leaves all that OpenAI's Chat does not have.
        Client("langchain-openai chat", "chat", "python", "openai", BOTH, lacks=frozenset({"allowed", "reasoning"})),
        Client("langchain-openai responses", "responses", "python", "openai", BOTH, lacks=frozenset({"allowed"})),
        Client("langchain-anthropic", "messages", "python", "anthropic", BOTH),
        Client("openai-node chat", "chat", "typescript", "openai", SDK_MODES, loses=PARSED),
        Client("openai-node responses", "responses", "typescript", "openai", SDK_MODES, loses=PARSED),
        Client("anthropic-node", "messages", "typescript", "anthropic-node", SDK_MODES),
        # OpenAI's Chat knows no reasoning, so this provider neither hears nor says any.
        Client("ai openai chat", "chat", "typescript", "ai", BOTH, lacks=frozenset({"allowed", "reasoning"})),
        Client("ai openai responses", "responses", "typescript", "ai", BOTH, lacks=frozenset({"allowed"})),
        Client("ai anthropic", "messages", "typescript", "ai anthropic", BOTH),
        # This one hears of reasoning, and sends it back without its seal.
        Client("ai openai-compatible", "chat", "typescript", "ai", BOTH, lacks=COMPATIBLE_LACKS),
    ]
}


# What a client gets wrong by itself: with the vendor, without a gateway, the same would happen.
# By client, scenario, upstream and mode; "*" stands for any.
SKIPPED = {
    ("openai-node chat", "cut by the limit", "*", "helper"): "throws for an answer that is short, and keeps none of it",
    ("openai-node chat", "reasoning", "chat", "helper"): "keeps only the last piece of `reasoning_content`",
    ("langchain-openai responses", "reasoning", "chat", "*"): "sends the summary of reasoning back and not its text",
    ("ai openai responses", "reasoning", "chat", "*"): "reads the summary of reasoning and not its text",
}


@dataclass(frozen=True)
class Job:
    """One client, one scenario, one upstream, one way of asking."""

    client: str
    scenario: str
    behind: str
    mode: str

    @property
    def model(self):
        """The model whose script is the scenario's."""
        return "-".join([self.client, self.scenario, self.mode]).replace(" ", "_").replace(":", "")


def jobs(client):
    """Everything that a client is put through."""
    for name, scenario in SCENARIOS.items():
        if not set(scenario.get("needs", ())) <= client.can:
            continue
        for behind in scenario.get("behind", PROTOCOLS):
            for mode in client.modes:
                if mode in scenario.get("modes", SDK_MODES) and not skipped(client.name, name, behind, mode):
                    yield Job(client.name, name, behind, mode)


def skipped(client, scenario, behind, mode):
    """Why a job is not done, or nothing."""
    places = [(client, scenario, one, other) for one in (behind, "*") for other in (mode, "*")]
    return next((SKIPPED[place] for place in places if place in SKIPPED), None)
