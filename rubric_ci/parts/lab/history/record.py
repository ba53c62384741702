"""One compact record per run: the figures of a report that trends need, without texts.

The results are columns with one entry per case, so that a thousand runs of hundreds of cases are
read in a second; `case_records` gives them as rows.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final, Literal, TypeAlias, assert_never

from rubric_ci.errors import CannotReadHistory, CannotReadReport
from rubric_ci.files.parsing import typed_json
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import JudgeInfo, RunVerdict
from rubric_ci.values.results import Trial
from rubric_ci.values.scoring import Verdict

VERSION: Final = 1

CaseVerdict: TypeAlias = Literal["pass", "borderline", "fail", "waived", "errored", "skipped"]
"""`waived`: the case fails, and a waiver excuses it."""

LETTERS: Final[Mapping[str, CaseVerdict]] = {
    "p": "pass",
    "b": "borderline",
    "f": "fail",
    "w": "waived",
    "e": "errored",
    "s": "skipped",
}
GRADED: Final = frozenset("pbfw")
TRIALS: Final[Mapping[str, Verdict]] = {"p": "pass", "b": "borderline", "f": "fail"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The results of all cases, one entry per case; a column may be empty if all are default."""

    verdicts: str  # a letter per case
    scores: tuple[float | None, ...]  # None: not graded
    trials: tuple[str, ...] = ()  # a letter per trial; "": one trial, with the case's verdict
    trial_scores: tuple[tuple[float, ...], ...] = ()
    further_trials: tuple[int, ...] = ()  # of those trials, the ones of a suspected regression
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """One case of one run."""

    key: CaseKey
    verdict: CaseVerdict
    score: float | None  # None: not graded
    trials: tuple[Trial, ...]  # at least one if the case is graded
    further_trials: int
    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A share or mean of 0..1 with its 95 % interval over the cases."""

    value: float
    low: float | None = None  # None: one case or cluster has no interval
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run: totals, judge and the result of each case."""

    version: int = VERSION
    started_at: str  # RFC 3339, UTC
    tool: str
    verdict: RunVerdict
    gate_passes: bool
    complete: bool  # False: interrupted, or only the cases that a change affects
    worse: bool | None  # than its baseline; None: not compared
    judge: JudgeInfo | None
    passing: float  # thresholds of the verdicts
    borderline: float
    score: Interval | None  # None: no graded case
    pass_rate: Interval | None
    calls: int
    cost_usd: float | None  # None: the price of a call is unknown
    duration_seconds: float
    commit: str  # empty: unknown
    link: str  # address of the report or of the workflow run; empty: unknown
    cases: tuple[CaseKey, ...]
    results: Columns
    judge_moved: bool = False  # since the reference was measured, as the sentinel found


def case_records(record: RunRecord) -> Iterator[CaseRecord]:
    """Yield the cases of a run as rows."""
    columns = record.results
    for n, key in enumerate(record.cases):
        verdict = LETTERS[columns.verdicts[n]]
        score = columns.scores[n]
        yield CaseRecord(
            key=key,
            verdict=verdict,
            score=score,
            trials=_trials(verdict, score, columns, n),
            further_trials=columns.further_trials[n] if columns.further_trials else 0,
            cluster=columns.clusters[n] if columns.clusters else "",
        )


def _trials(
    verdict: CaseVerdict, score: float | None, columns: Columns, n: int
) -> tuple[Trial, ...]:
    if score is None:
        return ()
    if columns.trials and columns.trials[n]:
        pairs = zip(columns.trials[n], columns.trial_scores[n], strict=True)
        return tuple(Trial(verdict=TRIALS[letter], score=one) for letter, one in pairs)
    return (Trial(verdict=_graded(verdict), score=score),)


def _graded(verdict: CaseVerdict) -> Verdict:
    match verdict:
        case "pass" | "borderline" | "fail":
            return verdict
        case "waived":
            return "fail"
        case "errored" | "skipped":
            raise ValueError(f"a case that is {verdict} has no score")
        case _:
            assert_never(verdict)


def dump(record: RunRecord) -> str:
    """Return the record as one line without a newline; characters beyond ASCII are escaped.

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
    """Yield the problems of a record's values."""
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
    return {field.name: getattr(value, field.name) for field in fields(value)}


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
