"""What the conversations of the vendors' Python SDKs share."""

from e2e.clients.recording import LossHeaderHook, Recording, recording_error
from e2e.clients.scenarios import TOOLS
from e2e.clients.verification import DEFAULT_RESULTS

LOSS_HOOK = LossHeaderHook()


class Conversation:
    """One conversation: sends requests until there are no more calls to answer."""

    def __init__(self, gateway, scenario, model, mode):
        self.scenario, self.ask, self.model, self.mode = scenario, scenario["ask"], model, mode
        self.results = scenario.get("results", DEFAULT_RESULTS)
        self.recording = Recording()
        self.client = self.connect(gateway.url)
        LOSS_HOOK.recording = self.recording

    def run(self):
        with recording_error(self.recording):
            if self.scenario.get("abort"):
                self.abort()
                return self.recording
            while True:
                answer, calls = self.next_answer()
                self.recording.answers.append(answer)
                if not calls or self.scenario.get("once"):
                    break
                self.add_results(calls)
        return self.recording

    def abort(self):
        """Disconnects after the first text."""
        if self.mode == "helper":
            with self.helper() as stream:
                next(event for event in stream if self.is_text(event))
            return
        with self.create(stream=True) as stream:
            next(event for event in stream if self.is_text(event))

    def tools(self):
        return [(name, TOOLS[name]) for name in self.ask.get("tools", ())]
