"""What a script's output says: a mark, or why it is none."""

import json
import math
from typing import NoReturn

from rubric_ci.errors import CannotRunScript
from rubric_ci.model.evals import JSON
from rubric_ci.model.results import Assessment
from rubric_ci.system.processes import Finished, one_line_tail

_SHOWN = 300
_REASON_SHOWN = 2000
_TRACEBACK = (
    "a Python traceback stands on stderr: if the script failed and not the answer, "
    "let it print an object with `score`"
)
_WANTED = "one JSON object with `score` (0..1), or nothing (then the exit status is the mark)"


def read(finished: Finished) -> Assessment:
    """Return the mark; raises CannotRunScript for output that is none."""
    _check_ran(finished)
    if not finished.stdout.strip():
        return _from_status(finished)
    return _from_object(_parse(finished), finished)


def _check_ran(finished: Finished) -> None:
    """Refuse what says that the check itself broke: 126, 127 and signals are the shell's words."""
    status = finished.status
    if status == 127:
        raise CannotRunScript(f"the script was not found{_said(finished)}")
    if status == 126:
        raise CannotRunScript(f"the script is not executable{_said(finished)}")
    if status < 0 or 128 < status < 128 + 65:
        signal = -status if status < 0 else status - 128
        raise CannotRunScript(f"the script was ended by signal {signal}{_said(finished)}")


def _from_status(finished: Finished) -> Assessment:
    if finished.status == 0:
        return Assessment(score=1.0, reasoning="exit status 0")
    said = finished.stderr.strip()[-_REASON_SHOWN:]
    return Assessment(
        score=0.0,
        reasoning=said or f"exit status {finished.status}",
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
            f"the script printed {_quoted(finished.stdout)}{failed}; wanted is {_WANTED}"
            f"{_said(finished)}"
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
        raise CannotRunScript(f"`reasoning` must be a text, not {_quoted(json.dumps(reasoning))}")
    return reasoning


def _texts(value: dict[str, JSON], key: str) -> tuple[str, ...]:
    texts = value.get(key)
    if texts is None:
        return ()
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CannotRunScript(f"`{key}` must be a list of texts, not {_quoted(json.dumps(texts))}")
    return tuple(texts)


def _said(finished: Finished) -> str:
    tail = one_line_tail(finished.stderr)
    return f"; on stderr: {_quoted(tail)}" if tail else ""


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= _SHOWN else f"`{line[:_SHOWN]}…`"
