"""Claude Code and Codex do a piece of work with their own tools, through the gateway.

Each reads a file, changes it and reports what it held, once for each protocol that the model may
speak. The model is a script, and its report quotes what the tools answered: it cannot be right
unless the results came through.
"""

import json
import re
import time

import pytest

from e2e.agents import agent_process
from e2e.settings import PROTOCOLS

# What a wrong escape anywhere on the way would spoil.
BEFORE = 'name = "Zoë \\ 😀"\tcolour = grey'
AFTER = 'name = "Zoë \\ 😀"\tcolour = \\green <&> "\'`$HOME`\''
FIRST = {"text": "I should look at the file first. “Grey”?\n", "seal": "c2VhbC1vbmU=+/first=="}
SECOND = {"text": "Now change it.", "seal": "c2VhbC10d28=+/second=="}
QUESTION = "What can you do?"
PROMPT = "Change the colour in notes.txt, and say what the line was."

DEFAULTS = {"Edit": {"replace_all": False}}

# What each agent asks for that the protocol behind cannot be told.
LOST = {
    ("claude", "chat"): {"context_management", "thinking_mode"},
    ("claude", "responses"): {"context_management"},
    ("claude", "messages"): set(),
    ("codex", "chat"): {"hosted_tool:web_search", "only:client_metadata"},
    ("codex", "responses"): set(),
    ("codex", "messages"): {"grammar_unenforced", "web_search_option", "only:client_metadata"},
}


@pytest.mark.parametrize("behind", PROTOCOLS)
def test_claude_code_changes_a_file(behind, upstream, gateway, tmp_path):
    notes = agent_process.work(tmp_path) / "notes.txt"
    # Claude Code asks how many tokens a file has if it is longer than 25,000 characters.
    notes.write_text(BEFORE + "\n" + "Nothing to see in this line.\n" * 1000)
    read = [call("Read", file_path=str(notes)), call("Bash", command="wc -l < notes.txt", description="Count lines")]
    edit = [call("Edit", file_path=str(notes), old_string=BEFORE, new_string=AFTER)]
    # A name that goes up as it is: see test_claude_code_keeps_its_thinking_under_another_name.
    model = f"{behind}-claude-agent"
    upstream.play(model, script(read, edit), aside={"text": "Notes"})

    run = agent_process.claude(gateway, model, PROMPT, tmp_path)

    assert (run.code, run.said) == (0, "It was: " + BEFORE), run.output
    assert notes.read_text().splitlines()[0] == AFTER
    check(upstream.requests(model), behind, [*read, *edit])
    counted = [line for line in logged(gateway, model) if line["path"] == "/v1/messages/count_tokens"]
    assert [line["status"] for line in counted] == [200]
    check_log(gateway, "claude", behind, model)


@pytest.mark.parametrize("behind", ["responses", "messages"])
def test_claude_code_keeps_its_thinking_under_another_name(behind, upstream, gateway, tmp_path):
    """Claude Code sends thinking back only where the answer named the model as the request did."""
    notes = agent_process.work(tmp_path) / "notes.txt"
    notes.write_text(BEFORE + "\n")
    model = f"claude-renamed-{behind}"
    read = [call("Read", file_path=str(notes))]
    last = {"text": "Read.", "when": 1}
    upstream.play(model, [{"reasoning": FIRST, "calls": read}, last], aside={"text": "Notes"})
    run = agent_process.claude(gateway, f"{behind}/{model}", PROMPT, tmp_path)
    if (run.code, run.said) != (0, "Read."):
        pytest.fail(run.output)
    assert upstream.requests(model)[-1].seen["seals"] == [FIRST["seal"]]


@pytest.mark.parametrize("behind", PROTOCOLS)
def test_codex_changes_a_file(behind, upstream, gateway, tmp_path):
    notes = agent_process.work(tmp_path) / "notes.txt"
    notes.write_text(BEFORE + "\nNothing to see in this line.\n")
    patch = f"*** Begin Patch\n*** Update File: notes.txt\n@@\n-{BEFORE}\n+{AFTER}\n*** End Patch\n"
    read = [call("exec_command", cmd="cat notes.txt"), call("exec_command", cmd="wc -l < notes.txt")]
    edit = [{"name": "apply_patch", "input": patch}]
    # Codex knows what a model can do by its name; of this one it knows that patches are freeform.
    model = f"gpt-5.5-agent-{behind}"
    upstream.play(model, script(read, edit))

    run = agent_process.codex(gateway, f"{behind}/{model}", PROMPT, tmp_path)

    assert (run.code, run.said) == (0, "It was: " + BEFORE), run.output
    assert notes.read_text().splitlines()[0] == AFTER
    check(upstream.requests(model), behind, [*read, *edit])
    assert kind_of_last_call(upstream.requests(model)[-1]) == {"chat": "custom", "responses": "custom_tool_call"}.get(
        behind, "tool_use"
    )
    check_log(gateway, "codex", behind, f"{behind}/{model}")


@pytest.mark.parametrize("behind", ["chat", "messages"])
def test_codex_runs_a_program_in_a_namespace(behind, upstream, gateway, tmp_path):
    """With its newest models, Codex declares its tools inside the conversation, in namespaces."""
    notes = agent_process.work(tmp_path) / "notes.txt"
    notes.write_text(BEFORE + "\n")
    program = 'const found = await tools.exec_command({cmd: "cat notes.txt"}); text(found.output);'
    run_it = [{"name": "functions__exec", "input": program}]
    model = f"gpt-6.1-sol-agent-{behind}"
    upstream.play(model, [{"reasoning": FIRST, "calls": run_it}, {"text": "Read.", "when": 1}])

    run = agent_process.codex(gateway, f"{behind}/{model}", PROMPT, tmp_path)

    assert (run.code, run.said) == (0, "Read."), run.output
    requests = upstream.requests(model)
    assert [request.refused for request in requests] == [None, None]
    seen = requests[-1].seen
    assert [one["args"] for one in seen["calls"]] == [arguments(run_it[0], behind, None)]
    assert BEFORE in seen["results"][0]["text"]
    assert seen["seals"] == ([] if behind == "chat" else [FIRST["seal"]])
    lost = {loss["code"] for line in logged(gateway, f"{behind}/{model}") for loss in line.get("losses", ())}
    assert "tool_position" in lost


def test_toolwire_starts_claude_code(tmp_path):
    ended = agent_process.toolwire_run("claude", "demo", agent_process.claude_arguments(QUESTION), demo(tmp_path), tmp_path)
    run = agent_process.claude_run(ended)
    assert (run.code, QUESTION in run.said) == (0, True), run.output


def test_toolwire_starts_codex(tmp_path):
    arguments = agent_process.codex_arguments(QUESTION, tmp_path)
    run = agent_process.codex_run(agent_process.toolwire_run("codex", "demo", arguments, demo(tmp_path), tmp_path), tmp_path)
    assert (run.code, QUESTION in run.said) == (0, True), run.output
    # Its settings were temporary: nothing stands where the user's would.
    assert not (tmp_path / "home/.codex").exists()


def demo(scratch):
    """A configuration with the demo model alone, on no port that another gateway may have."""
    config = scratch / "toolwire.toml"
    config.write_text('listen = "127.0.0.1:0"\n[[upstream]]\nname = "demo"\ndemo = true\n')
    return config


def call(name, **args):
    return {"name": name, "args": args}


def script(read, edit):
    """Look, think, change, report."""

    def report(request):
        shown = request.seen["results"][0]["text"]
        found = re.search(r"name = .*grey", shown)
        return {"text": "It was: " + (found[0] if found else repr(shown)), "when": len(read) + len(edit)}

    return [
        {"reasoning": FIRST, "text": "Let me look.", "calls": read},
        {"reasoning": SECOND, "calls": edit, "when": len(read)},
        report,
    ]


def check(requests, behind, calls):
    """Every request was one that the vendor takes, and the last holds all that happened."""
    assert [request.refused for request in requests if request.refused] == []
    seen = requests[-1].seen
    assert [one["name"] for one in seen["calls"]] == [one["name"] for one in calls]
    assert [one["args"] for one in seen["calls"]] == [
        arguments(one, behind, sent["args"]) for one, sent in zip(calls, seen["calls"], strict=True)
    ]
    assert [one["id"] for one in seen["results"]] == [one["id"] for one in seen["calls"]]
    assert seen["results"][1]["text"].strip().splitlines()[-1].isdigit()
    # Chat has nowhere to put a seal.
    assert seen["seals"] == ([] if behind == "chat" else [FIRST["seal"], SECOND["seal"]])


def arguments(call, behind, sent):
    """What the arguments must be. Claude Code writes the defaults of its tools into its history."""
    if "input" not in call:
        return {**DEFAULTS.get(call["name"], {}), **call["args"]} if len(sent) > len(call["args"]) else call["args"]
    return {"input": call["input"]} if behind == "messages" else call["input"]


def kind_of_last_call(request):
    """What the last call of the conversation is, in the words of its protocol."""
    if request.protocol == "chat":
        return [call for message in request.body["messages"] for call in message.get("tool_calls", ())][-1]["type"]
    if request.protocol == "responses":
        return [item["type"] for item in request.body["input"] if "call_id" in item and "output" not in item][-1]
    return [block["type"] for turn in request.body["messages"] for block in turn["content"] if "input" in block][-1]


def check_log(gateway, agent, behind, model):
    """The gateway answered everything, and said what it could not pass on."""
    lines = logged(gateway, model)
    assert {(line["status"], line["ending"]) for line in lines} == {(200, "answered")}, lines
    lost = {loss["code"] for line in lines for loss in line.get("losses", ())}
    assert LOST[agent, behind] <= lost and (LOST[agent, behind] or not lost), lost


def logged(gateway, model):
    """What the gateway has logged of one model. A line is written after the answer has gone."""
    time.sleep(0.2)
    lines = [json.loads(line) for line in gateway.log.splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("model") == model]
