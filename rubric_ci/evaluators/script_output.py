"""Output of scripts: a JSON object with `score`, or the exit status."""

import json
import math
from typing import NoReturn

from rubric_ci.errors import CannotRunScript
from rubric_ci.model.evals import JSON
from rubric_ci.model.results import Assessment
from rubric_ci.system.processes import Finished, missing_variables, one_line_tail

_SHOWN = 300
_REASON_SHOWN = 2000
_TRACEBACK = (
    "stderr contains a Python traceback. If the script itself failed, "
    "make it print a JSON object with `score`."
)
_EXPECTED = "one JSON object with `score` (0..1), or no output (then the exit status decides)"


def read(finished: Finished) -> Assessment:
    """Return the score of a finished script; raises CannotRunScript for invalid output."""
    _check_ran(finished)
    if not finished.stdout.strip():
        return _from_status(finished)
    return _from_object(_parse(finished), finished)


def _check_ran(finished: Finished) -> None:
    """Raise if the script did not run: exit status 126 or 127 of the shell, or a signal."""
    status = finished.status
    if status == 127:
        raise CannotRunScript(f"the script was not found{_stderr(finished)}")
    if status == 126:
        raise CannotRunScript(f"the script is not executable{_stderr(finished)}")
    if status < 0 or 128 < status < 128 + 65:
        signal = -status if status < 0 else status - 128
        raise CannotRunScript(f"the script was killed by signal {signal}{_stderr(finished)}")


def _from_status(finished: Finished) -> Assessment:
    if finished.status == 0:
        return Assessment(score=1.0, reasoning="exit status 0")
    stderr = finished.stderr.strip()[-_REASON_SHOWN:]
    return Assessment(
        score=0.0,
        reasoning=stderr or f"exit status {finished.status}",
        warnings=(_TRACEBACK,) if "Traceback (most recent call last)" in finished.stderr else (),
    )


def _parse(finished: Finished) -> dict[str, JSON]:
    try:
        value = json.loads(finished.stdout, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        failed = f" and exited with status {finished.status}" if finished.status else ""
        raise CannotRunScript(
            f"the script printed {_quoted(finished.stdout)}{failed}; expected {_EXPECTED}"
            f"{_stderr(finished)}"
        )
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _from_object(value: dict[str, JSON], finished: Finished) -> Assessment:
    failed = (f"the script exited with status {finished.status}",) if finished.status else ()
    return Assessment(
        score=_score(value),
        reasoning=_reasoning(value),
        hits=_texts(value, "hits"),
        misses=_texts(value, "misses"),
        details=value.get("details"),
        warnings=failed,
    )


def _score(value: dict[str, JSON]) -> float:
    if "score" not in value:
        raise CannotRunScript(f"the script printed no `score`: {_quoted(json.dumps(value))}")
    score = value["score"]
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise CannotRunScript(f"`score` must be a number from 0 to 1, not {_quoted(repr(score))}")
    if not 0 <= score <= 1:
        raise CannotRunScript(f"`score` must be from 0 to 1, not {score}")
    return float(score)


def _reasoning(value: dict[str, JSON]) -> str:
    reasoning = value.get("reasoning")
    if reasoning is None:
        return ""
    if not isinstance(reasoning, str):
        raise CannotRunScript(f"`reasoning` must be a string, not {_quoted(json.dumps(reasoning))}")
    return reasoning


def _texts(value: dict[str, JSON], key: str) -> tuple[str, ...]:
    texts = value.get(key)
    if texts is None:
        return ()
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CannotRunScript(
            f"`{key}` must be a list of strings, not {_quoted(json.dumps(texts))}"
        )
    return tuple(texts)


def _stderr(finished: Finished) -> str:
    tail = one_line_tail(finished.stderr)
    shown = f"; stderr: {_quoted(tail)}" if tail else ""
    return f"{missing_variables(finished)}{shown}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= _SHOWN else f"`{line[:_SHOWN]}…`"
