"""How three families of models write calls, and how results come to them.

A dialect has `write(calls)`, the text of the calls of one turn; `calls(text, schemas)`, the calls in
an earlier turn of the model; and `results(text)`, the results in a turn of the user. `calls` and
`results` read exactly what is documented for the dialect and nothing else, so that a prompt that a
model would not understand is no prompt.
"""

import json
import re


class Hermes:
    """One JSON object between tags for each call."""

    name = "hermes"
    CALL = re.compile(r"<tool_call>\n(\{.*?\})\n</tool_call>", re.S)
    RESULT = re.compile(r"<tool_response>\n(\{.*?\})\n</tool_response>", re.S)

    def write(self, calls):
        return "\n".join(f"<tool_call>\n{_dump(call)}\n</tool_call>" for call in calls)

    def calls(self, text, schemas):
        return [json.loads(call) for call in self.CALL.findall(text)]

    def results(self, text):
        return [json.loads(result) for result in self.RESULT.findall(text)]


class Qwen3Coder(Hermes):
    """A function with a parameter for each argument. What is no string is JSON."""

    name = "qwen3_coder"
    CALL = re.compile(r"<tool_call>\n<function=([^>\n]+)>\n(.*?)</function>\n</tool_call>", re.S)
    ARGUMENT = re.compile(r"<parameter=([^>\n]+)>\n(.*?)\n</parameter>\n", re.S)

    def write(self, calls):
        return "\n".join(self.write_call(call) for call in calls)

    def write_call(self, call):
        arguments = [(key, value if isinstance(value, str) else _dump(value)) for key, value in call["arguments"].items()]
        lines = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments)
        return f"<tool_call>\n<function={call['name']}>\n{lines}</function>\n</tool_call>"

    def calls(self, text, schemas):
        found = []
        for name, arguments in self.CALL.findall(text):
            types = {key: schema.get("type") for key, schema in schemas[name]["properties"].items()}
            values = {key: value if types[key] == "string" else json.loads(value) for key, value in self.ARGUMENT.findall(arguments)}
            found.append({"name": name, "arguments": values})
        return found


class Mistral:
    """One list behind a marker for all calls of a turn."""

    name = "mistral"
    CALLS = re.compile(r"\[TOOL_CALLS\](\[.*\])", re.S)
    RESULT = re.compile(r"\[TOOL_RESULTS\](\{.*?\})\[/TOOL_RESULTS\]", re.S)

    def write(self, calls):
        return f"[TOOL_CALLS][{', '.join(map(_dump, calls))}]" if calls else ""

    def calls(self, text, schemas):
        return [call for calls in self.CALLS.findall(text) for call in json.loads(calls)]

    def results(self, text):
        return [json.loads(result) for result in self.RESULT.findall(text)]


def _dump(value):
    return json.dumps(value, ensure_ascii=False)


DIALECTS = {dialect.name: dialect for dialect in (Hermes(), Qwen3Coder(), Mistral())}
