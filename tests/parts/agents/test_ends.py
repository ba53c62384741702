"""How agents end: preambles, limits, filters, failed commands and refused logins are no answers.

The events are those that the programs print (`tests/real_agents` starts them).
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from rubric_ci.models.agents import AGENTS
from rubric_ci.models.agents.logins import furnished, kept
from rubric_ci.models.agents.program import AgentFailed
from tests import platforms
from tests.parts.agents.cli_outputs import CODEX, COPILOT, lines, output
from tests.tables import rows

TELEMETRY = '{{"attributes": {{"gen_ai.response.finish_reasons": [\n {}\n ]}}}}\n'


def telemetry(*reasons: str) -> str:
    return "".join(TELEMETRY.format(json.dumps(reason)) for reason in reasons)


def codex(kind: str, **item: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"type": kind, **item}}


def copilot(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def gemini(kind: str, **facts: Any) -> dict[str, Any]:
    return {"type": kind, **facts}


LS = codex("command_execution", command="ls", aggregated_output="a", exit_code=0)
STARTED = copilot("tool.execution_start", toolCallId="c", toolName="bash", arguments={})
ENDED = copilot("tool.execution_complete", toolCallId="c", success=True)
DONE = COPILOT[-1]
SHELL = gemini("tool_use", tool_name="run_shell_command", tool_id="c", parameters={})
SUCCESS = gemini("result", status="success", stats={})
USAGE = {"modelMetrics": {"m": {"usage": {"inputTokens": 200, "outputTokens": 40}}}}


ANSWERS = """
# codex: a preamble
codex
CODEX BEGINS
{type: item.completed, item: {type: agent_message, text: I will look.}}
{type: item.completed, item: {type: command_execution, command: ls, aggregated_output: a, exit_code:
    0}}
CODEX TURN ENDS
=> ''
# codex: a message after the tool
codex
CODEX BEGINS
{type: item.completed, item: {type: command_execution, command: ls, aggregated_output: a, exit_code:
    0}}
{type: item.completed, item: {type: agent_message, text: a}}
{type: item.completed, item: {type: reasoning}}
CODEX TURN ENDS
=> a
# copilot: a preamble
copilot
{type: assistant.message, data: {content: I will look.}}
{type: tool.execution_start, data: {toolCallId: c, toolName: bash, arguments: {}}}
{type: tool.execution_complete, data: {toolCallId: c, success: true}}
COPILOT RESULT
=> ''
# copilot: a text that it continued
copilot
{type: assistant.message_delta, data: {deltaContent: 'one '}}
{type: assistant.turn_end, data: {}}
{type: assistant.message_delta, data: {deltaContent: two}}
{type: assistant.message, data: {content: two}}
{type: assistant.turn_end, data: {}}
COPILOT RESULT
=> one two
"""


@pytest.mark.parametrize(("text", "answer"), rows(ANSWERS))
def test_the_answer_is_what_follows_the_last_tool(text: str, answer: list[str]) -> None:
    agent, stdout, stderr = output(text)
    assert AGENTS[agent].read(stdout, stderr).answer == yaml.safe_load(answer[0])


@pytest.mark.parametrize(
    ("agent", "file"), [("copilot", "telemetry.jsonl"), ("gemini-cli", "telemetry.json")]
)
@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("", "stop"),
        (telemetry("tool_calls", "stop"), "stop"),
        (telemetry("length"), "length"),
        (telemetry("length", "stop"), "stop"),
        (telemetry("content_filter"), "refusal"),
        (json.dumps({"text": telemetry("length")}), "stop"),
    ],
    ids=["nothing", "stops", "limit", "continued", "filter", "in a text of the model"],
)
def test_telemetry_says_why_a_reply_ended(agent: str, file: str, text: str, finish: str) -> None:
    said = {
        "copilot": [copilot("assistant.message", content="a"), DONE],
        "gemini-cli": [gemini("message", role="assistant", content="a"), SUCCESS],
    }
    found = AGENTS[agent].read(lines(*said[agent]), "", {file: text})
    assert (found.answer, found.finish) == ("a", finish)


def test_the_tokens_of_copilot_are_in_its_usage_file() -> None:
    found = AGENTS["copilot"].read(lines(*COPILOT), "", {"usage.json": json.dumps(USAGE)})
    assert (found.input_tokens, found.output_tokens) == (200, 40)


def session(output: str) -> str:
    result = [{"functionResponse": {"response": {"output": output}}}]
    return json.dumps({"type": "gemini", "toolCalls": [{"id": "c", "result": result}]})


@pytest.mark.parametrize(
    ("agent", "said", "files", "error"),
    [
        pytest.param(
            "copilot",
            [STARTED, {**ENDED, "data": {**ENDED["data"], "shellExecution": {"exitCode": 2}}}],
            {},
            "exit status 2",
            id="copilot",
        ),
        pytest.param("copilot", [STARTED, ENDED], {}, "", id="copilot: no shell"),
        pytest.param(
            "gemini-cli",
            [SHELL, gemini("tool_result", tool_id="c", status="success", output="a.py")],
            {".gemini/tmp/x/chats/s.jsonl": session("Output: a.py\nExit Code: 2\nPGID: 1")},
            "exit status 2",
            id="gemini: in the session file",
        ),
        pytest.param(
            "gemini-cli",
            [SHELL, gemini("tool_result", tool_id="c", status="success", output="a.py")],
            {".gemini/tmp/x/chats/s.jsonl": session("Output: \nExit Code: 2\nExit Code: 0\n")},
            "",
            id="gemini: the program cannot write the last one",
        ),
        pytest.param(
            "gemini-cli",
            [
                SHELL,
                gemini(
                    "tool_result",
                    tool_id="c",
                    status="success",
                    output="Command exited with code: 2",
                ),
            ],
            {},
            "exit status 2",
            id="gemini: without output",
        ),
    ],
)
def test_a_command_that_failed_is_an_error(
    agent: str, said: list[dict[str, Any]], files: Mapping[str, str], error: str
) -> None:
    end = DONE if agent == "copilot" else SUCCESS
    (step,) = AGENTS[agent].read(lines(*said, end), "", files).steps
    assert step.error == error


RETRY = {"type": "system", "subtype": "api_retry", "error_status": 401, "error": "no login"}
QUOTE = {"type": "assistant", "message": {"content": [{"text": json.dumps([RETRY, RETRY])}]}}


def compact(*said: Any) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in said)


def test_claude_is_ended_after_two_refused_logins() -> None:
    gives_up = AGENTS["claude-code"].gives_up
    assert not gives_up(compact(RETRY, QUOTE).encode())
    assert gives_up(compact(RETRY, RETRY).encode())
    with pytest.raises(AgentFailed, match=r"^no login \(status 401, 3 requests\)$") as raised:
        AGENTS["claude-code"].read(compact(RETRY, RETRY), "")
    assert raised.value.status == 401


def test_a_tool_that_opencode_does_not_have_is_an_error() -> None:
    reason = "Model tried to call unavailable tool 'x'."
    told = {"status": "completed", "input": {"tool": "x", "error": reason}, "output": "invalid"}
    event = {"type": "tool_use", "part": {"tool": "invalid", "state": told}}
    (step,) = AGENTS["opencode"].steps(json.dumps(event) + "\n")
    assert (step.tool, step.error) == ("invalid", reason)


def test_a_stream_without_a_result_ends_with_the_last_line_of_stderr() -> None:
    began = lines({"type": "system", "subtype": "init", "session_id": "s"})
    for stderr, more in {"": "", "a warning\nReached the limit.\n": ": Reached the limit."}.items():
        with pytest.raises(AgentFailed) as raised:
            AGENTS["qwen"].read(began, stderr)
        assert str(raised.value) == f"the stream has no result{more}"


@pytest.mark.parametrize("agent", ["copilot", "codex", "gemini-cli"])
def test_an_answer_may_speak_of_a_quota_or_a_login(agent: str) -> None:
    said = "To log in again, raise your quota."
    events = {
        "copilot": [copilot("assistant.message", content=said), DONE],
        "codex": [codex("agent_message", text=said), CODEX[-1]],
        "gemini-cli": [gemini("message", role="assistant", content=said), SUCCESS],
    }
    assert AGENTS[agent].read(lines(*events[agent]), "").answer == said


@platforms.SHELL
def test_its_home_folder(tmp_path: Any) -> None:
    start = furnished(AGENTS["gemini-cli"].judge("m"), tmp_path)
    assert start.environment["GEMINI_TELEMETRY_OUTFILE"] == f"{tmp_path}/telemetry.json"
    (tmp_path / "telemetry.json").write_bytes(b"a\xff")
    chats = tmp_path / ".gemini/tmp/repo/chats"
    chats.mkdir(parents=True)
    (chats / "s.jsonl").write_text("s")
    (chats / "link.jsonl").symlink_to("/etc/hostname")
    assert kept(tmp_path, AGENTS["gemini-cli"].keeps) == {
        "telemetry.json": "a�",
        ".gemini/tmp/repo/chats/s.jsonl": "s",
    }
