"""What command-line tools print is a reply or an error."""

import json
from collections.abc import Callable

import pytest

from rubric_ci.llm.cli_presets import (
    CliReply,
    failure,
    marks,
    read_claude,
    read_codex,
    read_copilot,
    read_gemini,
)
from rubric_ci.llm.retry import RequestError
from tests.llm.cli_outputs import CLAUDE, CODEX, COPILOT, GEMINI, lines

Read = Callable[[str, str], CliReply]


@pytest.mark.parametrize(
    ("read", "stdout", "expected"),
    [
        pytest.param(
            read_claude,
            json.dumps(CLAUDE),
            CliReply(
                text="ok",
                input_tokens=16,
                output_tokens=3,
                cost_usd=0.001,
                model="claude-sonnet-5-5",
            ),
            id="claude",
        ),
        pytest.param(
            read_claude,
            json.dumps({**CLAUDE, "stop_reason": "refusal"}),
            CliReply(
                text="ok",
                finish="refusal",
                input_tokens=16,
                output_tokens=3,
                cost_usd=0.001,
                model="claude-sonnet-5-5",
            ),
            id="claude refuses",
        ),
        pytest.param(
            read_codex,
            lines({"type": "error", "message": "stream lost, reconnecting"}, *CODEX),
            CliReply(text="ok", input_tokens=9, output_tokens=3),
            id="codex, after an error event of a good run",
        ),
        pytest.param(
            read_copilot, lines(*COPILOT), CliReply(text="ok", model="gpt-6"), id="copilot"
        ),
        pytest.param(
            read_gemini,
            json.dumps(GEMINI),
            CliReply(text="ok", input_tokens=9, output_tokens=3, model="gemini-3.8-flash"),
            id="gemini",
        ),
    ],
)
def test_a_reply(read: Read, stdout: str, expected: CliReply) -> None:
    assert read(stdout, "") == expected


FAILED = {"type": "turn.failed", "error": {"message": "Quota exceeded. Check your plan."}}
RATE = {"errorType": "rate_limit", "statusCode": 429, "message": "slow down"}
GEMINI_ERROR = {"session_id": "s", "error": {"type": "Error", "message": "no key", "code": 41}}
GEMINI_BUSY = {"error": {"message": "busy", "code": 503}}


@pytest.mark.parametrize(
    ("read", "stdout", "stderr", "expected"),
    [
        pytest.param(
            read_claude,
            json.dumps(
                {**CLAUDE, "is_error": True, "api_error_status": 529, "result": "Overloaded"}
            ),
            "",
            ("Overloaded", 529, True),
            id="claude: is_error with the subtype success",
        ),
        pytest.param(
            read_claude,
            json.dumps({**CLAUDE, "is_error": True, "result": "Not logged in · Please run /login"}),
            "",
            ("Not logged in · Please run /login", 401, False),
            id="claude: no login",
        ),
        pytest.param(
            read_claude,
            json.dumps(
                {
                    **CLAUDE,
                    "is_error": True,
                    "api_error_status": 400,
                    "result": "Credit balance is too low",
                }
            ),
            "",
            ("Credit balance is too low", 402, False),
            id="claude: no credit",
        ),
        pytest.param(
            read_claude,
            json.dumps({"type": "result", "subtype": "error_max_turns", "errors": ["3 turns"]}),
            "",
            ("3 turns", None, False),
            id="claude: turns",
        ),
        pytest.param(
            read_claude,
            "You've hit your usage limit. Resets 3pm.",
            "",
            ("You've hit your usage limit. Resets 3pm.", 402, False),
            id="claude: a text in place of the envelope",
        ),
        pytest.param(read_claude, "", "", ("no reason given", None, False), id="claude: nothing"),
        pytest.param(
            read_codex,
            lines(CODEX[0], FAILED),
            "",
            ("Quota exceeded. Check your plan.", 402, False),
            id="codex: quota",
        ),
        pytest.param(
            read_codex,
            lines(*CODEX[:-1]),
            "last status: 429 Too Many Requests",
            ("last status: 429 Too Many Requests", 429, True),
            id="codex: a turn that does not end",
        ),
        pytest.param(
            read_copilot,
            lines({"type": "session.error", "data": RATE}),
            "",
            ("rate_limit: slow down", 429, True),
            id="copilot: rate limit",
        ),
        pytest.param(
            read_copilot,
            lines(COPILOT[0], {"type": "result", "exitCode": 1}),
            "No authentication information found.",
            ("No authentication information found.", 401, False),
            id="copilot: no login",
        ),
        pytest.param(
            read_gemini,
            "",
            f"Loaded cached credentials.\n{json.dumps(GEMINI_ERROR, indent=1)}",
            ("no key", None, False),
            id="gemini: an exit status is no HTTP status",
        ),
        pytest.param(
            read_gemini, "", json.dumps(GEMINI_BUSY), ("busy", 503, True), id="gemini: HTTP status"
        ),
    ],
)
def test_no_reply(
    read: Read, stdout: str, stderr: str, expected: tuple[str, int | None, bool]
) -> None:
    with pytest.raises(RequestError) as raised:
        read(stdout, stderr)
    error = raised.value
    assert (str(error), error.status, error.retryable) == expected


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
    with pytest.raises(RequestError, match=r"login|quota|usage") as raised:
        marks(text)
    assert raised.value.scope == "account"


def test_a_reason_is_one_short_line() -> None:
    assert str(failure("a\n  b" + "c" * 600)) == "a b" + "c" * 497
