"""`openai-agents` with both of its model classes. It runs the tools and the loop itself."""

import asyncio
import json
from functools import cache

import openai
from agents import (
    Agent,
    AgentOutputSchemaBase,
    FunctionTool,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    ToolOutputImage,
    ToolOutputText,
)
from openai.types.shared import Reasoning

from e2e.clients.recording import RecordedAnswer, Recording, recording_error
from e2e.clients.scenarios import TOOLS
from e2e.clients.sdk_conversation import LOSS_HOOK
from e2e.clients.verification import DEFAULT_RESULTS

LOOP = asyncio.new_event_loop()
# Traces would be sent to OpenAI.
NO_TRACING = RunConfig(tracing_disabled=True)


class Conversation:
    """One conversation with an agent."""

    def __init__(self, gateway, scenario, model, mode):
        self.scenario, self.ask, self.mode = scenario, scenario["ask"], mode
        self.results = scenario.get("results", DEFAULT_RESULTS)
        self.recording = Recording()
        LOSS_HOOK.recording = self.recording
        options = {"tool_use_behavior": "stop_on_first_tool"} if scenario.get("once") else {}
        if "format" in self.ask:
            options["output_type"] = Format(self.ask["format"])
        self.agent = Agent(
            name="agent",
            instructions=self.ask.get("system"),
            model=self.model(model=model, openai_client=client(gateway.url)),
            model_settings=self.settings(),
            tools=[self.tool(name) for name in self.ask.get("tools", ())],
            **options,
        )

    def run(self):
        with recording_error(self.recording):
            LOOP.run_until_complete(self.converse())
        return self.recording

    async def converse(self):
        content = self.ask["user"]
        if "image" in self.ask:
            image = {"type": "input_image", "image_url": data_url(self.ask["image"]), "detail": "auto"}
            content = [{"type": "input_text", "text": content}, image]
        messages = [{"role": "user", "content": content}]
        if self.mode == "unary":
            result = await Runner.run(self.agent, messages, run_config=NO_TRACING)
        else:
            result = Runner.run_streamed(self.agent, messages, run_config=NO_TRACING)
            async for event in result.stream_events():
                if self.scenario.get("abort") and is_text(event):
                    result.cancel()
                    break
            await wait_for_other_tasks()
        if not self.scenario.get("abort"):
            self.recording.answers += [recorded_answer(response) for response in result.raw_responses]

    def settings(self):
        ask, more = self.ask, {}
        if "choice" in ask:
            choice = ask["choice"]
            more["tool_choice"] = {"any": "required"}.get(choice, choice) if isinstance(choice, str) else choice["name"]
        if "parallel" in ask:
            more["parallel_tool_calls"] = ask["parallel"]
        if ask.get("think"):
            more["reasoning"] = Reasoning(effort="low", summary="auto")
            more["response_include"] = ["reasoning.encrypted_content"]
        return ModelSettings(include_usage=True, store=False, **more)

    def tool(self, name):
        async def invoke(_context, _arguments):
            result = self.results[name]
            if "image" in result:
                return [ToolOutputText(text=result["text"]), ToolOutputImage(image_url=data_url(result["image"]))]
            return result["text"]

        declared = TOOLS[name]
        return FunctionTool(name, declared["description"], declared["schema"], invoke)


class Chat(Conversation):
    """Over Chat Completions."""

    model = OpenAIChatCompletionsModel


class Responses(Conversation):
    """Over Responses."""

    model = OpenAIResponsesModel


class Format(AgentOutputSchemaBase):
    """The schema of an answer, in the form that the agent takes."""

    def __init__(self, schema):
        self.schema = schema

    def is_plain_text(self):
        return False

    def name(self):
        return "answer"

    def json_schema(self):
        return self.schema

    def is_strict_json_schema(self):
        return True

    def validate_json(self, json_str):
        return json.loads(json_str)


async def wait_for_other_tasks():
    """Lets cancelled tasks end, which they only do while the loop runs."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=1)


def is_text(event):
    return event.type == "raw_response_event" and event.data.type == "response.output_text.delta"


def recorded_answer(response):
    kinds = {}
    for item in response.output:
        kinds.setdefault(item.type, []).append(item)
    texts = [part.text for item in kinds.get("message", ()) for part in item.content]
    calls = [[item.name, json.loads(item.arguments)] for item in kinds.get("function_call", ())]
    thoughts = [part.text for item in kinds.get("reasoning", ()) for part in (*item.summary, *(item.content or ()))]
    usage = response.usage
    cached = usage.input_tokens_details.cached_tokens
    counts = {"input": usage.input_tokens, "cached": cached, "output": usage.output_tokens}
    return RecordedAnswer("".join(texts), calls, "".join(thoughts), counts)


@cache
def client(url):
    http = openai.DefaultAsyncHttpxClient(event_hooks={"response": [record_loss]})
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="client-key", max_retries=0, http_client=http)


async def record_loss(response):
    LOSS_HOOK(response)


def data_url(image):
    return f"data:image/png;base64,{image}"


CONVERSATIONS = {"openai-agents chat": Chat, "openai-agents responses": Responses}
