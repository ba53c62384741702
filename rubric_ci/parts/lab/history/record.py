"""One compact record per run: the figures of a report that trends need, without texts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from rubric_ci.errors import CannotReadHistory, CannotReadReport
from rubric_ci.files.parsing import typed_json
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.dimensions import dimensions
from rubric_ci.values.report import JudgeInfo, RunReport, RunVerdict
from rubric_ci.values.results import Assessed, CaseResult, Graded, with_verdict

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run: totals, judge and the verdict of each case."""

    version: int = VERSION
    started_at: str  # RFC 3339, UTC
    tool: str
    verdict: RunVerdict
    gate_passes: bool
    complete: bool  # False: interrupted, or only the cases that a change affects
    worse: bool | None  # than what it was compared with; None: not compared
    judge: JudgeInfo | None
    judge_moved: bool = False  # since the reference was measured, as the sentinel found
    score: float | None  # mean of the graded cases; None: no graded case
    pass_rate: float | None
    calls: int
    cost_usd: float | None  # None: the price of a call is unknown
    commit: str  # empty: unknown
    link: str  # address of the report or of the workflow run; empty: unknown
    cases: tuple[CaseKey, ...]
    verdicts: str  # a letter per case
    mixed: tuple[CaseKey, ...] = ()  # cases whose trials have different verdicts
    tags: Mapping[str, float] = field(default_factory=dict)  # score by tag of criteria
    inapplicable: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Of each criterion with a condition: in how many answers it did not apply, of how many."""


def dump(record: RunRecord) -> str:
    """Return the record as one line without a newline; characters beyond ASCII are escaped.

    Raises CannotReadReport for a lone surrogate in a name: no line can contain it.
    """
    text = json.dumps(record, default=_fields, separators=(",", ":"))
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
    try:
        _check_version(typed_json.load(line), where)
        record: RunRecord = typed_json.value_of(RunRecord, line)
    except Mismatch as error:
        raise _invalid(where, str(error)) from error
    if problem := next(_problems(record), ""):
        raise _invalid(where, problem)
    return record


def _fields(value: Any) -> dict[str, object]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


def _check_version(data: object, where: str) -> None:
    version = data.get("version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise CannotReadHistory(
            f"{where}: version {version} is newer than this program's {VERSION}",
            "upgrade rubric-ci",
        )


def _problems(record: RunRecord) -> Iterator[str]:
    """Yield the problems of a record's values."""
    if len(record.verdicts) != len(record.cases):
        yield f"verdicts must have {len(record.cases)} letters"
    if not set(record.verdicts) <= LETTERS.keys():
        yield f"verdicts may have the letters {', '.join(LETTERS)} only"
    if any(share is not None and not 0 <= share <= 1 for share in (record.score, record.pass_rate)):
        yield "score and pass_rate must be in 0 to 1"
    if any(not 0 <= share <= 1 for share in record.tags.values()):
        yield "the scores of tags must be in 0 to 1"
    if any(not 0 <= part <= whole for part, whole in record.inapplicable.values()):
        yield "inapplicable must have the part before the whole"


def _invalid(where: str, problem: str) -> CannotReadHistory:
    return CannotReadHistory(
        f"{where}: not a record of a run: {problem}",
        "remove the line, or create the file again with `rubric-ci history add`",
    )


def record_of(report: RunReport, *, link: str = "") -> RunRecord:
    """Return the record of a report; `link` replaces the URL of its workflow run.

    Raises CannotReadReport for the report of a shard, and for one without a time.
    """
    if report.shard is not None:
        raise CannotReadReport(
            f"the report is of shard {report.shard.index} of {report.shard.count}, not of a run",
            "combine the shards with `rubric-ci report merge` first",
        )
    totals = report.totals
    return RunRecord(
        started_at=_utc(report.started_at),
        tool=report.tool,
        verdict=report.verdict,
        gate_passes=report.gate.holds,
        complete=report.scope.complete,
        worse=report.comparison.worse if report.comparison else None,
        judge=report.judge,
        judge_moved=report.sentinel is not None and report.sentinel.moved,
        score=totals.score,
        pass_rate=round(totals.passed / totals.graded, 6) if totals.graded else None,
        calls=totals.calls,
        cost_usd=None if totals.unpriced_calls else totals.cost_usd,
        commit=report.metadata.get("head_sha", ""),
        link=link or report.metadata.get("run_url", ""),
        cases=tuple(case.key for case in report.cases),
        verdicts="".join(map(_letter, report.cases)),
        mixed=tuple(case.key for case in _mixed(report.cases)),
        tags={each.tag: each.score for each in dimensions(report.cases)},
        inapplicable=_inapplicable(report.cases),
    )


def _inapplicable(cases: Sequence[CaseResult]) -> dict[str, tuple[int, int]]:
    """Return for each criterion with a condition in how many answers it did not apply."""
    applied: dict[str, list[bool]] = {}
    for case in with_verdict(cases):
        for each in case.evaluators:
            for criterion in each.criteria if isinstance(each, Assessed) else ():
                if criterion.applies_if:
                    applied.setdefault(criterion.id, []).append(criterion.applies)
    return {name: (given.count(False), len(given)) for name, given in sorted(applied.items())}


def _utc(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CannotReadReport(
            f"the report has no valid time: started_at is {text!r}",
            "create it again with `rubric-ci run`",
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")


def _letter(case: CaseResult) -> str:
    return (case.verdict or case.status)[0] if case.status != "waived" else "w"


def _mixed(cases: Sequence[CaseResult]) -> list[Graded]:
    """Return the cases whose trials have different verdicts."""
    graded = with_verdict(cases)
    return [case for case in graded if len({trial.verdict for trial in case.trials}) > 1]
