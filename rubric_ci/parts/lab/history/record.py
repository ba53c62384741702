"""One compact record per run: the figures of a report that trends need, without texts."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from typing import Any, Final, Literal, TypeAlias

from rubric_ci.errors import CannotReadHistory, CannotReadReport
from rubric_ci.files.parsing import typed_json
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import JudgeInfo, RunVerdict

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
