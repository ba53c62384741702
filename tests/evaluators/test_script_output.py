"""Valid and invalid output of scripts."""

import re

import pytest

from rubric_ci.errors import CannotRunScript
from rubric_ci.evaluators.script_output import read
from rubric_ci.model.results import Assessment
from rubric_ci.system.processes import Finished


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
            finished('{"score": 0.4}', status=1),
            Assessment(score=0.4, warnings=("the script exited with status 1",)),
            id="a-mark-and-a-status",
        ),
        pytest.param(finished(""), Assessment(score=1.0, reasoning="exit status 0"), id="status-0"),
        pytest.param(
            finished("\n", status=1, stderr=" line 1: no\n"),
            Assessment(score=0.0, reasoning="line 1: no"),
            id="status-1-with-stderr",
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
                        "make it print a JSON object with `score`."
                    ),
                ),
            ),
            id="a-crash-is-doubtful",
        ),
    ],
)
def test_marks(output: Finished, mark: Assessment) -> None:
    assert read(output) == mark


WANTED = (
    "; expected one JSON object with `score` (0..1), or no output (then the exit status decides)"
)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        pytest.param(finished("all fine\n"), f"the script printed `all fine`{WANTED}", id="text"),
        pytest.param(
            finished("x.py:1: E501", 1, "1 error"),
            f"the script printed `x.py:1: E501` and exited with status 1{WANTED}"
            "; stderr: `1 error`",
            id="a-linter",
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
        pytest.param(
            finished("", 127, "sh: 1: mypy: not found"),
            "the script was not found; stderr: `sh: 1: mypy: not found`",
            id="127-is-no-fail",
        ),
        pytest.param(finished("", 126), "the script is not executable", id="126-is-no-fail"),
        pytest.param(finished("", -11), "the script was killed by signal 11", id="signal"),
        pytest.param(finished("", 137), "the script was killed by signal 9", id="shell-signal"),
    ],
)
def test_errors(output: Finished, message: str | None) -> None:
    pattern = ".*" if message is None else f"^{re.escape(message)}$"
    with pytest.raises(CannotRunScript, match=pattern):
        read(output)


def test_long_output_is_shortened() -> None:
    with pytest.raises(CannotRunScript) as caught:
        read(finished("x" * 5000))
    assert str(caught.value) == "the script printed `" + "x" * 300 + f"…`{WANTED}"
