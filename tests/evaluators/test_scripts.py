"""Valid and invalid output of scripts."""

import re
from collections.abc import Callable

import pytest

from rubric_ci.errors import CannotRunScript
from rubric_ci.evaluators.scripts import read, read_status, unused_score
from rubric_ci.system.processes import Finished
from rubric_ci.values.results import Assessment


def finished(stdout: str, status: int = 0, stderr: str = "") -> Finished:
    return Finished(status=status, stdout=stdout, stderr=stderr, duration_seconds=0.1)


@pytest.mark.parametrize(
    ("output", "mark"),
    [
        pytest.param(finished('{"score": 1}'), Assessment(score=1.0), id="integer"),
        pytest.param(finished('\n {"score": 0.25}\n\n'), Assessment(score=0.25), id="blanks"),
        pytest.param(
            finished(
                '{"score": 0.5, "hits": ["a"], "misses": ["b"], "reasoning": "r", '
                '"details": {"n": [1]}, "more": 1}'
            ),
            Assessment(score=0.5, hits=("a",), misses=("b",), reasoning="r", details={"n": [1]}),
            id="all-keys",
        ),
        pytest.param(
            finished('{"score": 0, "hits": null, "reasoning": null}'),
            Assessment(score=0.0),
            id="nulls",
        ),
        pytest.param(
            finished('{"pass": false, "reason": "too short"}'),
            Assessment(score=0.0, reasoning="too short"),
            id="agentv-pass",
        ),
        pytest.param(
            finished(
                '{"pass": false, "checks": [{"text": "a", "pass": true, "reason": ""}, '
                '{"text": "b", "pass": false, "score": 0.5, "reason": ""}]}'
            ),
            Assessment(score=0.75, hits=("a",), misses=("b",)),
            id="agentv-checks",
        ),
        pytest.param(
            finished('{"pass": true, "score": 0.9, "assertions": []}'),
            Assessment(score=0.9),
            id="agentv-score",
        ),
    ],
)
def test_scores_that_are_printed(output: Finished, mark: Assessment) -> None:
    assert read(output) == mark


@pytest.mark.parametrize(
    ("output", "mark"),
    [
        pytest.param(finished(""), Assessment(score=1.0, reasoning="exit status 0"), id="status-0"),
        pytest.param(
            finished("\n", status=1, stderr=" line 1: no\n"),
            Assessment(score=0.0, reasoning="line 1: no"),
            id="status-1-with-stderr",
        ),
        pytest.param(
            finished("x.py:1: E501\n", status=1),
            Assessment(score=0.0, reasoning="x.py:1: E501"),
            id="status-1-with-stdout",
        ),
        pytest.param(
            finished('{"score": 0.3}'),
            Assessment(score=1.0, reasoning="exit status 0"),
            id="output-does-not-count",
        ),
        pytest.param(
            finished("", status=255),
            Assessment(score=0.0, reasoning="exit status 255"),
            id="status-255",
        ),
        pytest.param(
            finished("", status=1, stderr="Traceback (most recent call last):\nKeyError: 'a'"),
            Assessment(
                score=0.0,
                reasoning="Traceback (most recent call last):\nKeyError: 'a'",
                warnings=(
                    (
                        "stderr contains a Python traceback. If the script itself failed, "
                        "make it print a JSON object with `score` and set `score_from: output`."
                    ),
                ),
            ),
            id="a-crash-is-doubtful",
        ),
    ],
)
def test_scores_by_status(output: Finished, mark: Assessment) -> None:
    assert read_status(output) == mark


BY_STATUS = "; set `score_from: exit_status` if the exit status is the score"
WANTED = f"; expected one JSON object with `score` (0..1){BY_STATUS}"


@pytest.mark.parametrize(
    ("output", "message"),
    [
        pytest.param(finished("all fine\n"), f"the script printed `all fine`{WANTED}", id="text"),
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
        pytest.param(finished(""), f"the script printed nothing{WANTED}", id="nothing"),
        pytest.param(
            finished("", 0, "no case"),
            f"the script printed nothing{WANTED}; stderr: `no case`",
            id="nothing-but-stderr",
        ),
        pytest.param(finished("0.9"), f"the script printed `0.9`{WANTED}", id="bare-number"),
        pytest.param(
            finished('log\n{"score": 1}'),
            f'the script printed `log {{"score": 1}}`{WANTED}',
            id="log-before-the-object",
        ),
        pytest.param(
            finished('{"score": NaN}'), f'the script printed `{{"score": NaN}}`{WANTED}', id="nan"
        ),
        pytest.param(finished("[" * 99_999), None, id="nested-too-deeply"),
        pytest.param(
            finished('{"mark": 1}'), 'the script printed no `score`: `{"mark": 1}`', id="no-score"
        ),
        pytest.param(
            finished('{"checks": [{"text": "a"}]}'),
            '`checks` must be a list of `text` and `pass`, not `[{"text": "a"}]`',
            id="checks-without-pass",
        ),
        pytest.param(
            finished('{"pass": "yes"}'),
            'the script printed no `score`: `{"pass": "yes"}`',
            id="pass-is-text",
        ),
        pytest.param(
            finished('{"score": true}'),
            "`score` must be a number from 0 to 1, not `True`",
            id="boolean",
        ),
        pytest.param(
            finished('{"score": "0.9"}'),
            "`score` must be a number from 0 to 1, not `'0.9'`",
            id="text-score",
        ),
        pytest.param(
            finished('{"score": 1e999}'),
            "`score` must be a number from 0 to 1, not `inf`",
            id="infinite",
        ),
        pytest.param(
            finished('{"score": 1.01}'), "`score` must be from 0 to 1, not 1.01", id="above"
        ),
        pytest.param(
            finished('{"score": -0.1}'), "`score` must be from 0 to 1, not -0.1", id="below"
        ),
        pytest.param(
            finished('{"score": 1, "hits": "all"}'),
            '`hits` must be a list of strings, not `"all"`',
            id="hits",
        ),
        pytest.param(
            finished('{"score": 1, "misses": [1]}'),
            "`misses` must be a list of strings, not `[1]`",
            id="misses",
        ),
        pytest.param(
            finished('{"score": 1, "reasoning": 3}'),
            "`reasoning` must be a string, not `3`",
            id="reasoning",
        ),
    ],
)
def test_errors(output: Finished, message: str | None) -> None:
    pattern = ".*" if message is None else f"^{re.escape(message)}$"
    with pytest.raises(CannotRunScript, match=pattern):
        read(output)


@pytest.mark.parametrize("reader", [read, read_status])
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
def test_a_printed_score_that_is_not_used_is_reported(
    printed: str, warnings: tuple[str, ...]
) -> None:
    assert unused_score(finished(printed)) == warnings


def test_long_output_is_shortened() -> None:
    with pytest.raises(CannotRunScript) as caught:
        read(finished("x" * 5000))
    assert str(caught.value) == "the script printed `" + "x" * 300 + f"…`{WANTED}"
