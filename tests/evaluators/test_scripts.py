"""Valid and invalid output of scripts."""

import re
from collections.abc import Callable

import pytest

from rubric_ci.errors import CannotRunScript
from rubric_ci.evaluators.scripts import read_assessment, read_status, unused_score
from rubric_ci.system.processes import Finished
from rubric_ci.values.results import Assessment


def finished(stdout: str, status: int = 0, stderr: str = "") -> Finished:
    return Finished(status=status, stdout=stdout, stderr=stderr, duration_seconds=0.1)


MARKS: dict[str, tuple[str, Assessment]] = {
    "integer": ('{"score": 1}', Assessment(score=1.0)),
    "blanks": ('\n {"score": 0.25}\n\n', Assessment(score=0.25)),
    "all keys": (
        (
            '{"score": 0.5, "hits": ["a"], "misses": ["b"], "reasoning": "r", '
            '"details": {"n": [1]}, "more": 1}'
        ),
        Assessment(score=0.5, hits=("a",), misses=("b",), reasoning="r", details={"n": [1]}),
    ),
    "nulls": ('{"score": 0, "hits": null, "reasoning": null}', Assessment(score=0.0)),
    "AgentV's pass": (
        '{"pass": false, "reason": "too short"}',
        Assessment(score=0.0, reasoning="too short"),
    ),
    "AgentV's checks": (
        (
            '{"pass": false, "checks": [{"text": "a", "pass": true, "reason": ""}, '
            '{"text": "b", "pass": false, "score": 0.5, "reason": ""}]}'
        ),
        Assessment(score=0.75, hits=("a",), misses=("b",)),
    ),
    "AgentV's score": ('{"pass": true, "score": 0.9, "assertions": []}', Assessment(score=0.9)),
}


@pytest.mark.parametrize(("printed", "mark"), MARKS.values(), ids=MARKS)
def test_scores_that_are_printed(printed: str, mark: Assessment) -> None:
    assert read_assessment(finished(printed)) == mark


CRASH = "Traceback (most recent call last):\nKeyError: 'a'"
DOUBTFUL = (
    "stderr contains a Python traceback. If the script itself failed, "
    "make it print a JSON object with `score` and set `score_from: output`."
)


@pytest.mark.parametrize(
    ("output", "score", "reasoning", "warnings"),
    [
        pytest.param(finished(""), 1.0, "exit status 0", (), id="status-0"),
        pytest.param(finished("\n", 1, " line 1: no\n"), 0.0, "line 1: no", (), id="stderr"),
        pytest.param(finished("x.py:1: E501\n", 1), 0.0, "x.py:1: E501", (), id="stdout"),
        pytest.param(finished('{"score": 0.3}'), 1.0, "exit status 0", (), id="output"),
        pytest.param(finished("", 255), 0.0, "exit status 255", (), id="status-255"),
        pytest.param(finished("", 1, CRASH), 0.0, CRASH, (DOUBTFUL,), id="a-crash-is-doubtful"),
    ],
)
def test_scores_by_status(
    output: Finished, score: float, reasoning: str, warnings: tuple[str, ...]
) -> None:
    expected = Assessment(score=score, reasoning=reasoning, warnings=warnings)
    assert read_status(output) == expected


BY_STATUS = "; set `score_from: exit_status` if the exit status is the score"
WANTED = f"; expected one JSON object with `score` (0..1){BY_STATUS}"
NUMBER = "`score` must be a number from 0 to 1, not "


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("all fine\n", f"the script printed `all fine`{WANTED}"),
        ("", f"the script printed nothing{WANTED}"),
        ("0.9", f"the script printed `0.9`{WANTED}"),
        ('log\n{"score": 1}', f'the script printed `log {{"score": 1}}`{WANTED}'),
        ('{"score": NaN}', f'the script printed `{{"score": NaN}}`{WANTED}'),
        ("[" * 99_999, f"the script printed `{'[' * 300}…`{WANTED}"),
        ('{"mark": 1}', 'the script printed no `score`: `{"mark": 1}`'),
        (
            '{"checks": [{"text": "a"}]}',
            '`checks` must be a list of `text` and `pass`, not `[{"text": "a"}]`',
        ),
        ('{"pass": "yes"}', 'the script printed no `score`: `{"pass": "yes"}`'),
        ('{"score": true}', f"{NUMBER}`True`"),
        ('{"score": "0.9"}', f"{NUMBER}`'0.9'`"),
        ('{"score": 1e999}', f"{NUMBER}`inf`"),
        ('{"score": 1.01}', "`score` must be from 0 to 1, not 1.01"),
        ('{"score": -0.1}', "`score` must be from 0 to 1, not -0.1"),
        ('{"score": 1, "hits": "all"}', '`hits` must be a list of strings, not `"all"`'),
        ('{"score": 1, "misses": [1]}', "`misses` must be a list of strings, not `[1]`"),
        ('{"score": 1, "reasoning": 3}', "`reasoning` must be a string, not `3`"),
    ],
)
def test_what_is_printed_is_no_score(printed: str, message: str) -> None:
    with pytest.raises(CannotRunScript, match=f"^{re.escape(message)}$"):
        read_assessment(finished(printed))


@pytest.mark.parametrize(
    ("output", "message"),
    [
        pytest.param(
            finished("x.py:1: E501", 1, "1 error"),
            f"the script failed: exit status 1: 1 error{BY_STATUS}",
            id="a-linter",
        ),
        pytest.param(
            finished("", 1), f"the script failed: exit status 1, no output{BY_STATUS}", id="status"
        ),
        pytest.param(
            finished('{"score": 1}', 1, "Error: refused\n  at judge.ts:3\n"),
            "the script failed: exit status 1: at judge.ts:3 (after: Error: refused)",
            id="a-score-and-a-status",
        ),
        pytest.param(
            finished("", 0, "no case"),
            f"the script printed nothing{WANTED}; stderr: `no case`",
            id="nothing-but-stderr",
        ),
    ],
)
def test_a_status_or_stderr_without_a_score(output: Finished, message: str) -> None:
    with pytest.raises(CannotRunScript, match=f"^{re.escape(message)}$"):
        read_assessment(output)


@pytest.mark.parametrize("reader", [read_assessment, read_status])
@pytest.mark.parametrize(
    ("output", "message"),
    [
        pytest.param(
            finished("", 127, "sh: 1: mypy: not found"),
            "the script was not found; stderr: `sh: 1: mypy: not found`",
            id="127",
        ),
        pytest.param(finished('{"score": 1}', 126), "the script is not executable", id="126"),
        pytest.param(finished("", -11), "the script was killed by signal 11", id="signal"),
        pytest.param(finished("", 137), "the script was killed by signal 9", id="shell-signal"),
    ],
)
def test_a_script_that_did_not_run_has_no_score(
    reader: Callable[[Finished], Assessment], output: Finished, message: str
) -> None:
    with pytest.raises(CannotRunScript, match=f"^{re.escape(message)}$"):
        reader(output)


UNUSED = (
    "the script takes a file, so its exit status is the score, and the printed "
    '`{"score": 0.2}` is not used; set `score_from` to `output` or `exit_status`'
)


@pytest.mark.parametrize(
    ("printed", "warnings"),
    [
        pytest.param('{"score": 0.2}', (UNUSED,), id="score"),
        pytest.param('{"passed": 1}', (), id="other-json"),
        pytest.param("fine", (), id="text"),
        pytest.param("", (), id="nothing"),
    ],
)
def test_an_unused_score_is_reported(printed: str, warnings: tuple[str, ...]) -> None:
    assert unused_score(finished(printed)) == warnings
