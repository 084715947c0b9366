"""Claude Code and Codex edit a file with their own tools, through the gateway.

Each reads a file, changes it and reports its old content, once with an upstream of each protocol.
The upstream is scripted, and its report quotes the tool results: the report can only be right if
the results arrived.
"""

import json
import re
import time

import pytest

from e2e.agents import agent_process
from e2e.settings import PROTOCOLS

# Characters that a wrong escape anywhere on the way would change.
BEFORE = 'name = "Zoë \\ 😀"\tcolour = grey'
AFTER = 'name = "Zoë \\ 😀"\tcolour = \\green <&> "\'`$HOME`\''
FIRST = {"text": "I should look at the file first. “Grey”?\n", "seal": "c2VhbC1vbmU=+/first=="}
SECOND = {"text": "Now change it.", "seal": "c2VhbC10d28=+/second=="}
QUESTION = "What can you do?"
PROMPT = "Change the colour in notes.txt, and say what the line was."

# Arguments that Claude Code fills in for its tools.
DEFAULTS = {"Edit": {"replace_all": False}}

# The losses that must be reported, by agent and protocol of the upstream.
LOST = {
    ("claude", "chat"): {"context_management", "thinking_mode"},
    ("claude", "responses"): {"context_management"},
    ("claude", "messages"): set(),
    ("codex", "chat"): {"hosted_tool:web_search", "only:client_metadata"},
    ("codex", "responses"): set(),
    ("codex", "messages"): {"grammar_unenforced", "web_search_option", "only:client_metadata"},
}


@pytest.mark.parametrize("upstream_protocol", PROTOCOLS)
def test_claude_code_changes_a_file(upstream_protocol, upstream, gateway, tmp_path):
    notes = agent_process.work_folder(tmp_path) / "notes.txt"
    # For a file of more than 25,000 characters, Claude Code asks for the number of its tokens.
    notes.write_text(BEFORE + "\n" + "Nothing to see in this line.\n" * 1000)
    # Results come in the order in which the tools end, and the script quotes the first of them.
    count = call("Bash", command="sleep 2 && wc -l < notes.txt", description="Count lines")
    read = [call("Read", file_path=str(notes)), count]
    edit = [call("Edit", file_path=str(notes), old_string=BEFORE, new_string=AFTER)]
    # The upstream gets this name unchanged: see test_claude_code_keeps_its_thinking_under_another_name.
    model = f"{upstream_protocol}-claude-agent"
    upstream.set_script(model, script(read, edit), no_tools_turn={"text": "Notes"})

    result = agent_process.run_claude(gateway, model, PROMPT, tmp_path)

    assert (result.exit_code, result.last_message) == (0, "It was: " + BEFORE), result.output
    assert notes.read_text().splitlines()[0] == AFTER
    check_requests(upstream.requests(model), upstream_protocol, [*read, *edit])
    counted = [line for line in log_lines(gateway, model) if line["path"] == "/v1/messages/count_tokens"]
    assert [line["status"] for line in counted] == [200]
    check_log(gateway, "claude", upstream_protocol, model)


@pytest.mark.parametrize("upstream_protocol", ["responses", "messages"])
def test_claude_code_keeps_its_thinking_under_another_name(upstream_protocol, upstream, gateway, tmp_path):
    """Claude Code only sends thinking back if the answer names the model as the request did."""
    notes = agent_process.work_folder(tmp_path) / "notes.txt"
    notes.write_text(BEFORE + "\n")
    model = f"claude-renamed-{upstream_protocol}"
    read = [call("Read", file_path=str(notes))]
    last = {"text": "Read.", "when": 1}
    upstream.set_script(model, [{"reasoning": FIRST, "calls": read}, last], no_tools_turn={"text": "Notes"})
    result = agent_process.run_claude(gateway, f"{upstream_protocol}/{model}", PROMPT, tmp_path)
    if (result.exit_code, result.last_message) != (0, "Read."):
        pytest.fail(result.output)
    assert upstream.requests(model)[-1].view["seals"] == [FIRST["seal"]]


@pytest.mark.parametrize("upstream_protocol", PROTOCOLS)
def test_codex_changes_a_file(upstream_protocol, upstream, gateway, tmp_path):
    notes = agent_process.work_folder(tmp_path) / "notes.txt"
    notes.write_text(BEFORE + "\nNothing to see in this line.\n")
    patch = f"*** Begin Patch\n*** Update File: notes.txt\n@@\n-{BEFORE}\n+{AFTER}\n*** End Patch\n"
    read = [call("exec_command", cmd="cat notes.txt"), call("exec_command", cmd="wc -l < notes.txt")]
    edit = [{"name": "apply_patch", "input": patch}]
    # Codex tells from the name of a model that its patches are freeform.
    model = f"gpt-5.5-agent-{upstream_protocol}"
    upstream.set_script(model, script(read, edit))

    result = agent_process.run_codex(gateway, f"{upstream_protocol}/{model}", PROMPT, tmp_path)

    assert (result.exit_code, result.last_message) == (0, "It was: " + BEFORE), result.output
    assert notes.read_text().splitlines()[0] == AFTER
    check_requests(upstream.requests(model), upstream_protocol, [*read, *edit])
    assert kind_of_last_call(upstream.requests(model)[-1]) == {"chat": "custom", "responses": "custom_tool_call"}.get(
        upstream_protocol, "tool_use"
    )
    check_log(gateway, "codex", upstream_protocol, f"{upstream_protocol}/{model}")


@pytest.mark.parametrize("upstream_protocol", ["chat", "messages"])
def test_codex_runs_a_program_in_a_namespace(upstream_protocol, upstream, gateway, tmp_path):
    """With its newest models, Codex declares its tools inside the conversation, in namespaces."""
    notes = agent_process.work_folder(tmp_path) / "notes.txt"
    notes.write_text(BEFORE + "\n")
    program = 'const found = await tools.exec_command({cmd: "cat notes.txt"}); text(found.output);'
    run_it = [{"name": "functions__exec", "input": program}]
    model = f"gpt-6.1-sol-agent-{upstream_protocol}"
    upstream.set_script(model, [{"reasoning": FIRST, "calls": run_it}, {"text": "Read.", "when": 1}])

    result = agent_process.run_codex(gateway, f"{upstream_protocol}/{model}", PROMPT, tmp_path)

    assert (result.exit_code, result.last_message) == (0, "Read."), result.output
    requests = upstream.requests(model)
    assert [request.rejection for request in requests] == [None, None]
    view = requests[-1].view
    assert [one["args"] for one in view["calls"]] == [arguments(run_it[0], upstream_protocol, None)]
    assert BEFORE in view["results"][0]["text"]
    assert view["seals"] == ([] if upstream_protocol == "chat" else [FIRST["seal"]])
    lost = {loss["code"] for line in log_lines(gateway, f"{upstream_protocol}/{model}") for loss in line.get("losses", ())}
    assert "tool_position" in lost


def test_toolwire_starts_claude_code(tmp_path):
    arguments = agent_process.claude_arguments(QUESTION)
    process = agent_process.run_through_toolwire("claude", "demo", arguments, demo_config(tmp_path), tmp_path)
    result = agent_process.claude_result(process)
    assert (result.exit_code, QUESTION in result.last_message) == (0, True), result.output


def test_toolwire_starts_codex_and_resumes_its_session(tmp_path):
    config = demo_config(tmp_path)
    arguments = agent_process.codex_arguments(QUESTION, tmp_path)
    process = agent_process.run_through_toolwire("codex", "demo", arguments, config, tmp_path)
    result = agent_process.codex_result(process, tmp_path)
    assert (result.exit_code, QUESTION in result.last_message) == (0, True), result.output
    # The user's own settings and sessions are not touched.
    assert not (tmp_path / "home/.codex").exists()
    home = tmp_path / "home/.local/state/toolwire/codex"
    # Codex must not copy itself, several hundred megabytes, into a home that is kept.
    assert sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) < 20_000_000
    unattended = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    again = ["exec", "resume", "--last", *unattended, "--output-last-message", str(tmp_path / "last.txt"), "And then?"]
    process = agent_process.run_through_toolwire("codex", "demo", again, config, tmp_path)
    result = agent_process.codex_result(process, tmp_path)
    assert (result.exit_code, "an earlier answer" in result.last_message) == (0, True), result.output


def test_toolwire_starts_opencode(tmp_path):
    arguments = ["run", QUESTION]
    process = agent_process.run_through_toolwire("opencode", "demo", arguments, demo_config(tmp_path), tmp_path)
    assert (process.returncode, QUESTION in process.stdout) == (0, True), process.stdout + process.stderr


def test_toolwire_starts_qwen_code(tmp_path):
    arguments = ["-p", QUESTION]
    process = agent_process.run_through_toolwire("qwen", "demo", arguments, demo_config(tmp_path), tmp_path)
    assert (process.returncode, QUESTION in process.stdout) == (0, True), process.stdout + process.stderr


@pytest.mark.skipif(not (agent_process.AIDER / "aider").exists(), reason="aider could not be installed")
def test_toolwire_starts_aider(tmp_path):
    unattended = ["--no-git", "--yes-always", "--no-check-update", "--analytics-disable", "--edit-format", "ask"]
    arguments = [*unattended, "--message", QUESTION]
    process = agent_process.run_through_toolwire("aider", "demo", arguments, demo_config(tmp_path), tmp_path)
    assert (process.returncode, "toolwire's demo model" in process.stdout) == (0, True), process.stdout + process.stderr


def demo_config(tmp):
    """A configuration with only the demo model. No gateway can be found on port 0."""
    config = tmp / "toolwire.toml"
    config.write_text('listen = "127.0.0.1:0"\n[[upstream]]\nname = "demo"\ndemo = true\n')
    return config


def call(name, **args):
    return {"name": name, "args": args}


def script(read, edit):
    """The turns of the model: read, think, edit, report."""

    def report(request):
        text = request.view["results"][0]["text"]
        found = re.search(r"name = .*grey", text)
        return {"text": "It was: " + (found[0] if found else repr(text)), "when": len(read) + len(edit)}

    return [
        {"reasoning": FIRST, "text": "Let me look.", "calls": read},
        {"reasoning": SECOND, "calls": edit, "when": len(read)},
        report,
    ]


def check_requests(requests, upstream_protocol, calls):
    """The vendor would accept every request, and the last one holds the whole conversation."""
    assert [request.rejection for request in requests if request.rejection] == []
    view = requests[-1].view
    assert [one["name"] for one in view["calls"]] == [one["name"] for one in calls]
    assert [one["args"] for one in view["calls"]] == [
        arguments(one, upstream_protocol, sent["args"]) for one, sent in zip(calls, view["calls"], strict=True)
    ]
    assert [one["id"] for one in view["results"]] == [one["id"] for one in view["calls"]]
    assert view["results"][1]["text"].strip().splitlines()[-1].isdigit()
    # Chat has nowhere to put a seal.
    assert view["seals"] == ([] if upstream_protocol == "chat" else [FIRST["seal"], SECOND["seal"]])


def arguments(call, upstream_protocol, sent):
    """The arguments that the upstream must receive."""
    if "input" not in call:
        return {**DEFAULTS.get(call["name"], {}), **call["args"]} if len(sent) > len(call["args"]) else call["args"]
    return {"input": call["input"]} if upstream_protocol == "messages" else call["input"]


def kind_of_last_call(request):
    """The type of the last call of the conversation, as its protocol names it."""
    if request.protocol == "chat":
        return [call for message in request.body["messages"] for call in message.get("tool_calls", ())][-1]["type"]
    if request.protocol == "responses":
        return [item["type"] for item in request.body["input"] if "call_id" in item and "output" not in item][-1]
    return [block["type"] for turn in request.body["messages"] for block in turn["content"] if "input" in block][-1]


def check_log(gateway, agent, upstream_protocol, model):
    """The gateway answered every request, and logged what it could not pass on."""
    lines = log_lines(gateway, model)
    assert {(line["status"], line["ending"]) for line in lines} == {(200, "answered")}, lines
    lost = {loss["code"] for line in lines for loss in line.get("losses", ())}
    assert LOST[agent, upstream_protocol] <= lost and (LOST[agent, upstream_protocol] or not lost), lost


def log_lines(gateway, model):
    """The log lines about one model. The gateway writes a line after it has sent the answer."""
    time.sleep(0.2)
    lines = [json.loads(line) for line in gateway.log.splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("model") == model]
