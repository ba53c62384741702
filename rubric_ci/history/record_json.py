"""Records as JSON: one line per run, for a branch or an artifact; also the text in the database."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields
from math import isfinite
from typing import Any, Final

from rubric_ci.errors import CannotReadHistory, CannotReadReport
from rubric_ci.history.record import GRADED, LETTERS, TRIALS, VERSION, CaseKey, RunRecord
from rubric_ci.parsing import typed_json
from rubric_ci.parsing.typed_json import Mismatch


def dump(record: RunRecord) -> str:
    """Return the record as one line without a newline; characters beyond ASCII are escaped.

    Without a corrected pass rate or a move of the judge it has no such key: its identity is that
    of earlier versions.

    Raises CannotReadReport for a lone surrogate in a name: no line can contain it.
    """
    text = _text(record)
    if "\\ud" in text:  # of a character beyond the basic plane, or of half of one
        try:
            json.dumps(json.loads(text), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise CannotReadReport(
                "a name of the report is not valid Unicode", "rename the case and run it again"
            ) from None
    return text


def load(line: str, where: str) -> RunRecord:
    """Return the record of a line; raises CannotReadHistory, `where` names the line."""
    record = parse(line, where)
    if problem := next(_problems(record), ""):
        raise _invalid(where, problem)
    return record


def parse(text: str, where: str) -> RunRecord:
    """Return a record of the right shape, without a check of its columns."""
    found: RunRecord = _value(RunRecord, text, where)
    return found


def dump_cases(cases: tuple[CaseKey, ...]) -> str:
    """Return the names of the cases of a run as JSON."""
    return _text(cases)


def parse_cases(text: str, where: str) -> tuple[CaseKey, ...]:
    """Return the names of the cases of a run; raises CannotReadHistory."""
    found: tuple[CaseKey, ...] = _value(tuple[CaseKey, ...], text, where)
    return found


def digest(record: RunRecord) -> str:
    """Return the identity of a run: equal records are one run."""
    return hashlib.sha256(dump(record).encode()).hexdigest()[:32]


def _problems(record: RunRecord) -> Iterator[str]:
    """Yield what is wrong with the values of a record."""
    columns, n = record.results, len(record.cases)
    lengths = {len(columns.verdicts), len(columns.scores)}
    optional = (columns.trials, columns.trial_scores, columns.further_trials, columns.clusters)
    if lengths != {n} or any(len(column) not in {0, n} for column in optional):
        yield f"each column of results must have {n} entries"
        return
    if not set(columns.verdicts) <= LETTERS.keys():
        yield f"results.verdicts may have the letters {', '.join(LETTERS)} only"
    pairs = zip(columns.verdicts, columns.scores, strict=True)
    if any((letter in GRADED) is (score is None) for letter, score in pairs):
        yield "graded cases have a score, and other cases have none"
    if not all(map(_is_share, _scores(record))):
        yield "a score must be in 0 to 1"
    if not _trials_fit(record):
        yield "results.trials and results.trial_scores must have one entry per trial"
    if not isfinite(record.cost_usd or 0.0) or not isfinite(record.duration_seconds):
        yield "cost_usd and duration_seconds must be finite"


def _scores(record: RunRecord) -> Iterator[float]:
    columns = record.results
    yield from (score for score in columns.scores if score is not None)
    yield from (score for scores in columns.trial_scores for score in scores)
    for interval in (record.score, record.pass_rate):
        ends = (interval.value, interval.low, interval.high) if interval else ()
        yield from (end for end in ends if end is not None)


def _trials_fit(record: RunRecord) -> bool:
    columns = record.results
    if len(columns.trials) != len(columns.trial_scores):
        return False
    return all(
        len(letters) == len(scores) and set(letters) <= TRIALS.keys()
        for letters, scores in zip(columns.trials, columns.trial_scores, strict=True)
    )


def _is_share(score: float) -> bool:
    return 0 <= score <= 1


def _text(value: object) -> str:
    return json.dumps(value, default=_fields, separators=(",", ":"))


def _fields(value: Any) -> dict[str, object]:
    """Return a record as an object, without the keys of later versions that say nothing."""
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: each for name, each in found.items() if each or name not in _LATER}


def _value(kind: Any, text: str, where: str) -> Any:
    try:
        data = typed_json.load(text)
        _check_version(data, where)
        return typed_json.value_of(kind, text)
    except Mismatch as error:
        raise _invalid(where, str(error)) from error


def _check_version(data: object, where: str) -> None:
    version = data.get("version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise CannotReadHistory(
            f"{where}: version {version} is newer than this program's {VERSION}",
            "upgrade rubric-ci",
        )


def _invalid(where: str, problem: str) -> CannotReadHistory:
    return CannotReadHistory(
        f"{where}: not a record of a run: {problem}",
        "remove it, or create the history again with `rubric-ci history add` or `import`",
    )


_LATER: Final = frozenset({"corrected", "judge_moved"})
