"""What agents print is an answer or an error."""

import json
from dataclasses import replace

import pytest
import yaml

from rubric_ci.models.agents import AGENTS, READERS, format_of
from rubric_ci.models.agents.program import AgentFailed, failure
from rubric_ci.models.llm.judge_command import marks
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.trace import Step, Trace
from tests.parts.agents.cli_outputs import (
    ATIF,
    CLAUDE,
    CODEX,
    COPILOT,
    GEMINI,
    SPANS,
    lines,
    output,
)
from tests.tables import rows

REPLIES = """
# claude
claude-code
CLAUDE
=> {answer: ok, input_tokens: 16, output_tokens: 3, cost_usd: 0.001, duration_ms: 90.0, model:
   claude-sonnet-5-5, session: s}
# claude refuses
claude-code
CLAUDE {stop_reason: refusal}
=> {answer: ok, finish: refusal, input_tokens: 16, output_tokens: 3, cost_usd: 0.001, duration_ms:
   90.0, model: claude-sonnet-5-5, session: s}
# codex after an error event of a good run
codex
{type: error, message: 'stream lost, reconnecting'}
CODEX BEGINS
CODEX ENDS
=> {answer: ok, input_tokens: 9, output_tokens: 3, session: t}
# copilot
copilot
COPILOT
=> {answer: ok, model: gpt-6, session: s}
# gemini
gemini-cli
GEMINI
=> {answer: ok, input_tokens: 9, output_tokens: 3, model: gemini-3.8-flash}
"""


@pytest.mark.parametrize(("text", "expected"), rows(REPLIES))
def test_a_reply(text: str, expected: list[str]) -> None:
    agent, stdout, stderr = output(text)
    assert READERS[agent].read(stdout, stderr) == Trace(**yaml.safe_load(expected[0]))


def test_a_line_separator_in_a_text_ends_no_event() -> None:
    said = '{"type": "item.completed", "item": {"type": "agent_message", "text": "a\u2028b"}}\r\n'
    assert READERS["codex"].read(said + lines(CODEX[-1]), "").answer == "a\u2028b"


NO_REPLY = """
# claude: is_error with the subtype success
claude-code
CLAUDE {is_error: true, api_error_status: 529, result: Overloaded}
=> 529: Overloaded
# claude: no login
claude-code
CLAUDE {is_error: true, result: Not logged in · Please run /login}
=> 401: Not logged in · Please run /login
# claude: no credit
claude-code
CLAUDE {is_error: true, api_error_status: 400, result: Credit balance is too low}
=> 402: Credit balance is too low
# claude: turns
claude-code
{type: result, subtype: error_max_turns, errors: [3 turns]}
=> no status: 3 turns
# claude: a text in place of the envelope
claude-code
stdout You've hit your usage limit. Resets 3pm.
=> 402: You've hit your usage limit. Resets 3pm.
# claude: nothing
claude-code
=> no status: no reason given
# codex: quota
codex
CODEX BEGINS
{type: turn.failed, error: {message: Quota exceeded. Check your plan.}}
=> 402: Quota exceeded. Check your plan.
# codex: a turn that does not end
codex
CODEX BEGINS
{type: item.completed, item: {id: item_1, type: agent_message, text: ok}}
stderr last status: 429 Too Many Requests
=> 429: last status: 429 Too Many Requests
# copilot: rate limit
copilot
{type: session.error, data: {errorType: rate_limit, statusCode: 429, message: slow down}}
=> 429: rate_limit: slow down
# copilot: no login
copilot
COPILOT SAYS
{type: result, exitCode: 1}
stderr No authentication information found.
=> 401: No authentication information found.
# gemini: an exit status is no HTTP status
gemini-cli
stderr Loaded cached credentials.
stderr {
stderr  "session_id": "s", "error": {"type": "Error", "message": "no key", "code": 41}
stderr }
=> no status: no key
# gemini: HTTP status
gemini-cli
stderr {"error": {"message": "busy", "code": 503}}
=> 503: busy
# gemini: the error event has the reason
gemini-cli
{type: error, message: The model response was blocked due to safety settings.}
{type: result, status: error, stats: {}}
=> no status: The model response was blocked due to safety settings.
# gemini: a loop
gemini-cli
{type: tool_use, tool_name: run_shell_command, tool_id: c, parameters: {}}
{type: error, severity: warning, message: 'Loop detected, stopping execution'}
{type: result, status: success, stats: {}}
=> no status: Loop detected, stopping execution
# claude: a text in place of an answer
claude-code
CLAUDE {result: Please run /login, usage: {}}
=> 401: Please run /login
"""


@pytest.mark.parametrize(("text", "expected"), rows(NO_REPLY))
def test_no_reply(text: str, expected: list[str]) -> None:
    agent, stdout, stderr = output(text)
    with pytest.raises(AgentFailed) as raised:
        READERS[agent].read(stdout, stderr)
    assert f"{raised.value.status or 'no status'}: {raised.value}" == expected[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"c1": {"score": 1}}', '{"c1": {"score": 1}}'),
        ('I check {this}.\n{"a": 1}\n```json\n{"b": {"c": 2}}\n```\nDone.', '{"b": {"c": 2}}'),
        ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ("no object", "no object"),
        ('{"quote": "your quota is used up"}', '{"quote": "your quota is used up"}'),
        ('{"a": {"b": 1}, "c": ', '{"b": 1}'),
        ("{" * 100_000, "{" * 100_000),
    ],
    ids=["whole", "the last", "as it is written", "none", "about a quota", "cut", "many braces"],
)
def test_the_last_object_is_the_reply(text: str, expected: str) -> None:
    assert marks(text) == expected


@pytest.mark.parametrize(
    "text",
    ["Please run /login", "Your quota is used up", "You are out of extra usage · resets 5pm"],
)
def test_a_text_of_the_tool_is_no_reply(text: str) -> None:
    with pytest.raises(AgentFailed, match=r"login|quota|usage") as raised:
        marks(text)
    assert raised.value.status in {401, 402}


def test_a_reason_is_one_short_line() -> None:
    assert str(failure("a\n  b" + "c" * 600)) == "a b" + "c" * 497


HAPPENED = """
# claude
claude-code
{type: system, subtype: init, session_id: s}
{type: assistant, message: {content: [{type: tool_use, id: c1, name: Bash, input: {command: ls}}]},
    timestamp: '2026-11-22T10:00:00.000Z'}
{type: user, message: {content: [{type: tool_result, tool_use_id: c1, content: [{type: text, text:
    a.py}]}]}, timestamp: '2026-11-22T10:00:01.500Z'}
CLAUDE
=> {tool: Bash, arguments: {command: ls}, result: a.py, duration_ms: 1500.0}
# claude: a tool that was denied
claude-code
{type: assistant, message: {content: [{type: tool_use, id: c1, name: Bash, input: {command: ls}}]}}
{type: user, message: {content: [{type: tool_result, tool_use_id: c1, content: not allowed,
    is_error: true}]}}
CLAUDE
=> {tool: Bash, arguments: {command: ls}, error: not allowed}
# claude: a call that never ended
claude-code
{type: assistant, message: {content: [{type: tool_use, id: c1, name: Bash, input: {command: ls}}]}}
CLAUDE
=> {tool: Bash, arguments: {command: ls}, error: no result}
# claude: a session file
claude-code
{type: user, message: {role: user, content: hi}, sessionId: s, timestamp:
    '2026-11-22T10:00:00.000Z'}
{type: assistant, message: {content: [{type: tool_use, id: c1, name: Bash, input: {command: ls}}]},
    sessionId: s, timestamp: '2026-11-22T10:00:00.000Z'}
{type: user, message: {content: [{type: tool_result, tool_use_id: c1, content: [{type: text, text:
    a.py}]}]}, sessionId: s, timestamp: '2026-11-22T10:00:01.500Z'}
{type: assistant, message: {content: [{type: text, text: ok}]}, sessionId: s, timestamp:
    '2026-11-22T10:00:01.500Z'}
=> {tool: Bash, arguments: {command: ls}, result: a.py, duration_ms: 1500.0}
# codex
codex
CODEX BEGINS
{type: item.completed, item: {type: command_execution, command: ls, aggregated_output: a.py,
    exit_code: 0}}
{type: item.completed, item: {type: command_execution, command: rm x, exit_code: 1, status: failed}}
{type: item.completed, item: {type: file_change, changes: [{path: a.py, kind: update}]}}
{type: item.completed, item: {type: mcp_tool_call, server: s, tool: t, arguments: {q: 1}, result:
    r}}
CODEX ENDS
=> {tool: shell, arguments: {command: ls}, result: a.py}
=> {tool: shell, arguments: {command: rm x}, error: exit status 1}
=> {tool: apply_patch, arguments: {changes: [{path: a.py, kind: update}]}}
=> {tool: mcp__s__t, arguments: {q: 1}, result: r}
# codex: a command that runs on when the turn ends
codex
CODEX BEGINS
{type: item.started, item: {id: i1, type: command_execution, command: sleep 9, status: in_progress}}
{type: item.started, item: {id: i2, type: command_execution, command: ls}}
{type: item.completed, item: {id: i2, type: command_execution, command: ls, exit_code: 0}}
CODEX ENDS
=> {tool: shell, arguments: {command: sleep 9}, error: no result}
=> {tool: shell, arguments: {command: ls}}
# copilot
copilot
{type: tool.execution_start, data: {toolCallId: c, toolName: bash, arguments: {command: ls}},
    timestamp: '2026-11-22T10:00:00.000Z'}
{type: tool.execution_complete, data: {toolCallId: c, success: true, result: {content: a.py}},
    timestamp: '2026-11-22T10:00:01.500Z'}
COPILOT
=> {tool: bash, arguments: {command: ls}, result: a.py, duration_ms: 1500.0}
# copilot: a tool that failed
copilot
{type: tool.execution_start, data: {toolCallId: c, toolName: bash}, timestamp:
    '2026-11-22T10:00:00.000Z'}
{type: tool.execution_complete, data: {toolCallId: c, success: false, error: {message: denied}},
    timestamp: '2026-11-22T10:00:01.500Z'}
COPILOT
=> {tool: bash, error: denied, duration_ms: 1500.0}
# gemini
gemini-cli
{type: init, session_id: s, model: m}
{type: message, role: assistant, content: I look.}
{type: tool_use, tool_name: ls, tool_id: t, parameters: {}}
{type: tool_result, tool_id: t, status: success, output: a.py}
{type: message, role: assistant, content: o, delta: true}
{type: message, role: assistant, content: k, delta: true}
{type: result, status: success, stats: {input_tokens: 9}}
=> {tool: ls, arguments: {}, result: a.py}
# atif
atif
ATIF
=> {tool: ls, arguments: {}, result: a.py}
=> {tool: rm, arguments: {}, error: denied}
# otlp
otlp
SPANS
=> {tool: ls, arguments: {path: .}, result: a.py, duration_ms: 5.0}
=> {tool: rm, error: failed, duration_ms: 5.0}
"""


@pytest.mark.parametrize(("text", "steps"), rows(HAPPENED))
def test_what_happened(text: str, steps: list[str]) -> None:
    agent, stdout, stderr = output(text)
    trace = READERS[agent].read(stdout, stderr)
    assert trace.answer == "ok"
    assert [*trace.steps] == [Step(**yaml.safe_load(step)) for step in steps]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (json.dumps(CLAUDE), "claude-code"),
        (lines(*CODEX).removeprefix("starting\n"), "codex"),
        (lines(*COPILOT).removeprefix("starting\n"), "copilot"),
        (json.dumps(GEMINI, indent=2), "gemini-cli"),
        (json.dumps(ATIF), "atif"),
        (json.dumps(SPANS), "otlp"),
        ('{"type": "result", "score": 1}', ""),
        ('{"response": "ok"}', ""),
        ("[1, 2]", ""),
        ("Say {this}.", ""),
        ("", ""),
    ],
)
def test_the_format_of_an_output_is_recognised(text: str, form: str) -> None:
    assert format_of(text) == form


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '{"steps": 1}', '[{"type": 1}]', "{" * 5000])
def test_anything_else_is_no_answer(form: str, text: str) -> None:
    with pytest.raises(AgentFailed):
        READERS[form].read(text, "")


def test_totals_of_a_trajectory_and_of_spans() -> None:
    found = READERS["atif"].read(json.dumps(ATIF), "")
    totals = (found.input_tokens, found.output_tokens, found.cost_usd, found.model)
    assert totals == (9, 3, 0.001, "m")
    found = READERS["otlp"].read(json.dumps(SPANS), "")
    assert (found.input_tokens, found.output_tokens, found.duration_ms) == (9, 3, 90.0)


SAID_TOKENS = {
    "claude-code": lines(
        {
            **CLAUDE,
            "usage": {
                "input_tokens": 2000,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 18000,
                "output_tokens": 1000,
                "output_tokens_details": {"thinking_tokens": 0},
            },
        }
    ),
    "codex": lines(
        *CODEX[:-1],
        {
            "type": "turn.completed",
            "usage": {
                "input_tokens": 20000,
                "cached_input_tokens": 18000,
                "cache_write_input_tokens": 0,
                "output_tokens": 1000,
                "reasoning_output_tokens": 600,
            },
        },
    ),
    "copilot": lines(*COPILOT),
    "gemini-cli": lines(
        {"type": "message", "role": "assistant", "content": "ok"},
        {
            "type": "result",
            "status": "success",
            "stats": {
                "total_tokens": 21000,
                "input_tokens": 20000,
                "output_tokens": 400,
                "cached": 18000,
                "input": 2000,
            },
        },
    ),
    "opencode": lines(
        *(
            {
                "type": "step_finish",
                "part": {
                    "reason": "stop",
                    "tokens": {
                        "total": 10500,
                        "input": 1000,
                        "output": 200,
                        "reasoning": 300,
                        "cache": {"write": 0, "read": 9000},
                    },
                    "cost": 0,
                },
            }
            for _ in range(2)
        )
    ),
    "qwen": lines(
        {
            **CLAUDE,
            "usage": {
                "input_tokens": 20000,
                "output_tokens": 1000,
                "cache_read_input_tokens": 18000,
                "total_tokens": 21000,
            },
        }
    ),
}
"""Ends of real streams: 20,000 tokens of input, 18,000 of them from a cache, and 1,000 of output,
600 of them reasoning."""
METRICS = {"modelMetrics": {"m": {"usage": {"inputTokens": 20000, "outputTokens": 1000}}}}


@pytest.mark.parametrize("agent", AGENTS)
def test_tokens_are_those_of_the_server(agent: str) -> None:
    files = {"usage.json": json.dumps(METRICS)} if agent == "copilot" else {}
    found = AGENTS[agent].read(SAID_TOKENS[agent], "", files)
    assert (found.input_tokens, found.output_tokens) == (20_000, 1_000)


def test_a_cost_that_no_float_holds_is_unknown() -> None:
    beyond = {**ATIF, "final_metrics": {"total_cost_usd": 10**400}}
    assert READERS["atif"].read(json.dumps(beyond), "").cost_usd is None


@pytest.mark.parametrize("agent", AGENTS)
def test_a_start_is_neutral_unless_the_project_is_used(agent: str) -> None:
    program = AgentProgram(name=agent, model="m")
    alone = AGENTS[agent].work(program)
    used = AGENTS[agent].work(replace(program, project_files=True))
    assert "m" in alone.argv
    assert set(used.argv) <= set(alone.argv)
    assert (used == alone) == (agent in {"gemini-cli", "qwen"})
    assert AGENTS[agent].work(replace(program, tools=())) != alone
