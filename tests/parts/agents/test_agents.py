"""What agents print is an answer or an error."""

import json
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.models.agents import AGENTS, READERS, format_of
from rubric_ci.models.agents.program import AgentFailed, failure
from rubric_ci.models.llm.judge_command import marks
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.trace import Step, Trace
from tests.parts.agents.cli_outputs import CLAUDE, CODEX, COPILOT, GEMINI, lines


@pytest.mark.parametrize(
    ("read", "stdout", "expected"),
    [
        pytest.param(
            "claude-code",
            json.dumps(CLAUDE),
            Trace(
                answer="ok",
                input_tokens=16,
                output_tokens=3,
                cost_usd=0.001,
                duration_ms=90.0,
                model="claude-sonnet-5-5",
                session="s",
            ),
            id="claude",
        ),
        pytest.param(
            "claude-code",
            json.dumps({**CLAUDE, "stop_reason": "refusal"}),
            Trace(
                answer="ok",
                finish="refusal",
                input_tokens=16,
                output_tokens=3,
                cost_usd=0.001,
                duration_ms=90.0,
                model="claude-sonnet-5-5",
                session="s",
            ),
            id="claude refuses",
        ),
        pytest.param(
            "codex",
            lines({"type": "error", "message": "stream lost, reconnecting"}, *CODEX),
            Trace(answer="ok", input_tokens=9, output_tokens=3, session="t"),
            id="codex, after an error event of a good run",
        ),
        pytest.param(
            "copilot", lines(*COPILOT), Trace(answer="ok", model="gpt-6", session="s"), id="copilot"
        ),
        pytest.param(
            "gemini-cli",
            json.dumps(GEMINI),
            Trace(answer="ok", input_tokens=9, output_tokens=3, model="gemini-3.8-flash"),
            id="gemini",
        ),
    ],
)
def test_a_reply(read: str, stdout: str, expected: Trace) -> None:
    assert READERS[read].read(stdout, "") == expected


def test_a_line_separator_in_a_text_ends_no_event() -> None:
    said = '{"type": "item.completed", "item": {"type": "agent_message", "text": "a\u2028b"}}\r\n'
    assert READERS["codex"].read(said + lines(CODEX[-1]), "").answer == "a\u2028b"


FAILED = {"type": "turn.failed", "error": {"message": "Quota exceeded. Check your plan."}}
RATE = {"errorType": "rate_limit", "statusCode": 429, "message": "slow down"}
GEMINI_ERROR = {"session_id": "s", "error": {"type": "Error", "message": "no key", "code": 41}}
GEMINI_BUSY = {"error": {"message": "busy", "code": 503}}


@pytest.mark.parametrize(
    ("read", "stdout", "stderr", "expected"),
    [
        pytest.param(
            "claude-code",
            json.dumps(
                {**CLAUDE, "is_error": True, "api_error_status": 529, "result": "Overloaded"}
            ),
            "",
            ("Overloaded", 529),
            id="claude: is_error with the subtype success",
        ),
        pytest.param(
            "claude-code",
            json.dumps({**CLAUDE, "is_error": True, "result": "Not logged in · Please run /login"}),
            "",
            ("Not logged in · Please run /login", 401),
            id="claude: no login",
        ),
        pytest.param(
            "claude-code",
            json.dumps(
                {
                    **CLAUDE,
                    "is_error": True,
                    "api_error_status": 400,
                    "result": "Credit balance is too low",
                }
            ),
            "",
            ("Credit balance is too low", 402),
            id="claude: no credit",
        ),
        pytest.param(
            "claude-code",
            json.dumps({"type": "result", "subtype": "error_max_turns", "errors": ["3 turns"]}),
            "",
            ("3 turns", None),
            id="claude: turns",
        ),
        pytest.param(
            "claude-code",
            "You've hit your usage limit. Resets 3pm.",
            "",
            ("You've hit your usage limit. Resets 3pm.", 402),
            id="claude: a text in place of the envelope",
        ),
        pytest.param("claude-code", "", "", ("no reason given", None), id="claude: nothing"),
        pytest.param(
            "codex",
            lines(CODEX[0], FAILED),
            "",
            ("Quota exceeded. Check your plan.", 402),
            id="codex: quota",
        ),
        pytest.param(
            "codex",
            lines(*CODEX[:-1]),
            "last status: 429 Too Many Requests",
            ("last status: 429 Too Many Requests", 429),
            id="codex: a turn that does not end",
        ),
        pytest.param(
            "copilot",
            lines({"type": "session.error", "data": RATE}),
            "",
            ("rate_limit: slow down", 429),
            id="copilot: rate limit",
        ),
        pytest.param(
            "copilot",
            lines(COPILOT[0], {"type": "result", "exitCode": 1}),
            "No authentication information found.",
            ("No authentication information found.", 401),
            id="copilot: no login",
        ),
        pytest.param(
            "gemini-cli",
            "",
            f"Loaded cached credentials.\n{json.dumps(GEMINI_ERROR, indent=1)}",
            ("no key", None),
            id="gemini: an exit status is no HTTP status",
        ),
        pytest.param(
            "gemini-cli", "", json.dumps(GEMINI_BUSY), ("busy", 503), id="gemini: HTTP status"
        ),
    ],
)
def test_no_reply(read: str, stdout: str, stderr: str, expected: tuple[str, int | None]) -> None:
    with pytest.raises(AgentFailed) as raised:
        READERS[read].read(stdout, stderr)
    error = raised.value
    assert (str(error), error.status) == expected


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


ASK = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}
TOLD = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a.py"}]}
DENIED = {"type": "tool_result", "tool_use_id": "c1", "content": "not allowed", "is_error": True}
AT = {"timestamp": "2026-11-22T10:00:00.000Z"}
LATER = {"timestamp": "2026-11-22T10:00:01.500Z"}


def claude(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "message": {"content": parts}, **more}


def copilot(kind: str, at: dict[str, str], **data: Any) -> dict[str, Any]:
    return {"type": f"tool.execution_{kind}", "data": {"toolCallId": "c", **data}, **at}


def done(**item: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": item}


def started(**item: Any) -> dict[str, Any]:
    return {"type": "item.started", "item": item}


def span(name: str, *, took: int = 5, code: int = 0, **facts: Any) -> dict[str, Any]:
    def value(fact: Any) -> dict[str, Any]:
        return {"intValue": str(fact)} if isinstance(fact, int) else {"stringValue": fact}

    named = {"operation.name": name, **{k.replace("__", "."): v for k, v in facts.items()}}
    return {
        "startTimeUnixNano": "1000000",
        "endTimeUnixNano": str(1_000_000 + took * 1_000_000),
        "attributes": [{"key": f"gen_ai.{k}", "value": value(v)} for k, v in named.items()],
        "status": {"code": code},
    }


MESSAGES = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "ok"}]}])
SPANS = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        span("invoke_agent", took=90),
                        span("chat", usage__input_tokens=9, usage__output_tokens=3),
                        span(
                            "execute_tool",
                            tool__name="ls",
                            tool__call__arguments='{"path": "."}',
                            tool__call__result="a.py",
                        ),
                        span("execute_tool", tool__name="rm", code=2),
                        span("chat", request__model="m", output__messages=MESSAGES),
                    ]
                }
            ]
        }
    ]
}
ATIF = {
    "schema_version": "ATIF-v1.7",
    "agent": {"name": "x", "version": "1", "model_name": "m"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "hi"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "tool_calls": [
                {"tool_call_id": "c", "function_name": "ls", "arguments": {}},
                {"tool_call_id": "d", "function_name": "rm", "arguments": {}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c", "content": "a.py"},
                    {"source_call_id": "d", "content": "", "extra": {"error": "denied"}},
                ]
            },
            "metrics": {"prompt_tokens": 9, "completion_tokens": 3},
        },
        {"step_id": 3, "source": "agent", "message": "ok"},
    ],
    "final_metrics": {"total_cost_usd": 0.001},
}
SESSION = [
    {"type": "user", "message": {"role": "user", "content": "hi"}, "sessionId": "s", **AT},
    claude("assistant", ASK, sessionId="s", **AT),
    claude("user", TOLD, sessionId="s", **LATER),
    claude("assistant", {"type": "text", "text": "ok"}, sessionId="s", **LATER),
]


@pytest.mark.parametrize(
    ("form", "printed", "answer", "steps"),
    [
        pytest.param(
            "claude-code",
            lines(
                {"type": "system", "subtype": "init", "session_id": "s"},
                claude("assistant", ASK, **AT),
                claude("user", TOLD, **LATER),
                CLAUDE,
            ),
            "ok",
            [Step(tool="Bash", arguments={"command": "ls"}, result="a.py", duration_ms=1500.0)],
            id="claude",
        ),
        pytest.param(
            "claude-code",
            lines(claude("assistant", ASK), claude("user", DENIED), CLAUDE),
            "ok",
            [Step(tool="Bash", arguments={"command": "ls"}, error="not allowed")],
            id="claude: a tool that was denied",
        ),
        pytest.param(
            "claude-code",
            lines(claude("assistant", ASK), CLAUDE),
            "ok",
            [Step(tool="Bash", arguments={"command": "ls"}, error="no result")],
            id="claude: a call that never ended",
        ),
        pytest.param(
            "claude-code",
            lines(*SESSION),
            "ok",
            [Step(tool="Bash", arguments={"command": "ls"}, result="a.py", duration_ms=1500.0)],
            id="claude: a session file",
        ),
        pytest.param(
            "codex",
            lines(
                *CODEX[:2],
                done(type="command_execution", command="ls", aggregated_output="a.py", exit_code=0),
                done(type="command_execution", command="rm x", exit_code=1, status="failed"),
                done(type="file_change", changes=[{"path": "a.py", "kind": "update"}]),
                done(type="mcp_tool_call", server="s", tool="t", arguments={"q": 1}, result="r"),
                *CODEX[2:],
            ),
            "ok",
            [
                Step(tool="shell", arguments={"command": "ls"}, result="a.py"),
                Step(tool="shell", arguments={"command": "rm x"}, error="exit status 1"),
                Step(
                    tool="apply_patch", arguments={"changes": [{"path": "a.py", "kind": "update"}]}
                ),
                Step(tool="mcp__s__t", arguments={"q": 1}, result="r"),
            ],
            id="codex",
        ),
        pytest.param(
            "codex",
            lines(
                *CODEX[:2],
                started(id="i1", type="command_execution", command="sleep 9", status="in_progress"),
                started(id="i2", type="command_execution", command="ls"),
                done(id="i2", type="command_execution", command="ls", exit_code=0),
                *CODEX[2:],
            ),
            "ok",
            [
                Step(tool="shell", arguments={"command": "sleep 9"}, error="no result"),
                Step(tool="shell", arguments={"command": "ls"}),
            ],
            id="codex: a command that runs on when the turn ends",
        ),
        pytest.param(
            "copilot",
            lines(
                copilot("start", AT, toolName="bash", arguments={"command": "ls"}),
                copilot("complete", LATER, success=True, result={"content": "a.py"}),
                *COPILOT,
            ),
            "ok",
            [Step(tool="bash", arguments={"command": "ls"}, result="a.py", duration_ms=1500.0)],
            id="copilot",
        ),
        pytest.param(
            "copilot",
            lines(
                copilot("start", AT, toolName="bash"),
                copilot("complete", LATER, success=False, error={"message": "denied"}),
                *COPILOT,
            ),
            "ok",
            [Step(tool="bash", error="denied", duration_ms=1500.0)],
            id="copilot: a tool that failed",
        ),
        pytest.param(
            "gemini-cli",
            lines(
                {"type": "init", "session_id": "s", "model": "m"},
                {"type": "message", "role": "assistant", "content": "I look."},
                {"type": "tool_use", "tool_name": "ls", "tool_id": "t", "parameters": {}},
                {"type": "tool_result", "tool_id": "t", "status": "success", "output": "a.py"},
                {"type": "message", "role": "assistant", "content": "o", "delta": True},
                {"type": "message", "role": "assistant", "content": "k", "delta": True},
                {"type": "result", "status": "success", "stats": {"input_tokens": 9}},
            ),
            "ok",
            [Step(tool="ls", arguments={}, result="a.py")],
            id="gemini",
        ),
        pytest.param(
            "atif",
            json.dumps(ATIF, indent=1),
            "ok",
            [
                Step(tool="ls", arguments={}, result="a.py"),
                Step(tool="rm", arguments={}, error="denied"),
            ],
            id="atif",
        ),
        pytest.param(
            "otlp",
            json.dumps(SPANS),
            "ok",
            [
                Step(tool="ls", arguments={"path": "."}, result="a.py", duration_ms=5.0),
                Step(tool="rm", error="failed", duration_ms=5.0),
            ],
            id="otlp",
        ),
    ],
)
def test_what_happened(form: str, printed: str, answer: str, steps: list[Step]) -> None:
    trace = READERS[form].read(printed, "")
    assert (trace.answer, [*trace.steps]) == (answer, steps)


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
    assert (found.input_tokens, found.output_tokens, found.cost_usd, found.model) == (
        *(9, 3, 0.001, "m"),
    )
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
