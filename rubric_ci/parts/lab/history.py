"""The history of runs: one compact record per run, their trends, and the words for both.

A record has the figures of a report that trends need, without texts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from rubric_ci.errors import CannotReadHistory, CannotReadReport
from rubric_ci.files.parsing import typed_json
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.gate.comparison.compared import judge_differences
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.dimensions import dimensions
from rubric_ci.values.report import JudgeInfo, RunReport, RunVerdict
from rubric_ci.values.results import Assessed, CaseResult, with_verdict

VERSION: Final = 1
LETTERS: Final = "pbfwes"
"""The verdicts of a case: pass, borderline, fail, waived, errored, skipped."""
GRADED: Final = frozenset("pbfw")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
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
    link: str  # address of the workflow run; empty: unknown
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
    if len(record.verdicts) != len(record.cases):
        yield f"verdicts must have {len(record.cases)} letters"
    if not set(record.verdicts) <= {*LETTERS}:
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


def record_of(report: RunReport) -> RunRecord:
    """Return the record of a report.

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
        link=report.metadata.get("run_url", ""),
        cases=tuple(case.key for case in report.cases),
        verdicts="".join(
            "w" if case.status == "waived" else (case.verdict or case.status)[0]
            for case in report.cases
        ),
        mixed=tuple(
            case.key
            for case in with_verdict(report.cases)
            if len({trial.verdict for trial in case.trials}) > 1
        ),
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


ABSENT: Final = "-"  # in a strip: the case was not in that run
_BY_ATTENTION: Final = "fewbps-"  # verdict letters of the latest run, the most urgent first


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    key: CaseKey
    verdicts: str  # a letter per run, the oldest first
    mixed: int  # runs whose own trials have different verdicts

    @property
    def latest(self) -> str:
        return self.verdicts[-1]

    @property
    def flips(self) -> int:
        """Changes of the verdict from one run to the next that has one."""
        # A waived fail is a fail: the waiver changes the gate, not the answer.
        graded = [letter for letter in self.verdicts.replace("w", "f") if letter in GRADED]
        return sum(one != other for one, other in pairwise(graded))


def strips(records: Sequence[RunRecord]) -> tuple[Strip, ...]:
    """Return the strip of every case, those that need attention first."""
    letters: dict[CaseKey, list[str]] = {}
    mixed: dict[CaseKey, int] = {}
    empty = ABSENT * len(records)
    for n, record in enumerate(records):
        for key, letter in zip(record.cases, record.verdicts, strict=True):
            if key not in letters:
                letters[key] = list(empty)
            letters[key][n] = letter
        for key in record.mixed:
            mixed[key] = mixed.get(key, 0) + 1
    found = (
        Strip(key=key, verdicts="".join(row), mixed=mixed.get(key, 0))
        for key, row in letters.items()
    )
    return tuple(sorted(found, key=lambda s: (_BY_ATTENTION.index(s.latest), -s.flips, s.key)))


def judge_changes(records: Sequence[RunRecord]) -> Iterator[tuple[RunRecord, str]]:
    """Yield the runs with another judge than the last run that had one, and what changed.

    Runs from a move of the judge until `baseline accept` are one change.
    """
    judged = [(each, each.judge) for each in records if each.judge is not None]
    for (earlier, before), (run, after) in pairwise(judged):
        if before != after or (run.judge_moved and not earlier.judge_moved):
            words = f"{after.model} marks the remembered answers differently"
            yield run, judge_differences(before, after) or words


def percent(value: float) -> str:
    """Return a share as a whole percentage; 100 % and 0 % only if exact."""
    whole = round(value * 100)
    if whole in {0, 100} and value not in {0.0, 1.0}:
        whole = 1 if whole == 0 else 99
    return f"{whole} %"


def score(mean: float | None) -> str:
    return "-" if mean is None else f"{mean:.2f}"


def cost(record: RunRecord) -> str:
    """Return the cost of a run; an unknown one is never $0."""
    if not record.calls:
        return "no calls"
    return "unknown" if record.cost_usd is None else numbers.dollars(record.cost_usd)


def day(record: RunRecord) -> str:
    """Return date and minute of the start, UTC."""
    return record.started_at[:16].replace("T", " ")


SIGNS: Final = {"p": "█", "b": "▓", "f": "_", "w": "w", "e": "?", "s": " ", "-": " "}
LEGEND: Final = "█ pass  ▓ borderline  _ fail  w waived  ? no verdict"
MOST_SCORES: Final = 10  # of a tag, the latest
_HEAD: Final = ("started (UTC)", "verdict", "score", "pass rate", "cost")


def render(records: Sequence[RunRecord]) -> str:
    """Return the runs as a table, the changes of the judge, and the cases without a steady pass."""
    return "\n".join(_lines(records)) + "\n"


def _lines(records: Sequence[RunRecord]) -> Iterator[str]:
    rows = [_HEAD, *map(_cells, records)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
    for row in rows:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
    for run, change in judge_changes(records):
        yield ""
        yield log_line(f"judge changed at {day(run)}: {change}")
    for title, found in (
        ("tags of criteria, the oldest run on the left", tags(records)),
        ("criteria with a condition, answers to which they do not apply", inapplicable(records)),
    ):
        if found:
            yield from ("", title)
            yield from (log_line(f"{name}: {values}") for name, values in found)
    yield from _unsteady(strips(records))


def _cells(record: RunRecord) -> tuple[str, ...]:
    facts = (
        record.verdict,
        "" if record.gate_passes else "gate fails",
        "worse" if record.worse else "",
        "judge moved" if record.judge_moved else "",
        "" if record.complete else "partial",
    )
    rate = "-" if record.pass_rate is None else percent(record.pass_rate)
    return day(record), ", ".join(filter(None, facts)), score(record.score), rate, cost(record)


def tags(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """Return the scores of each tag of criteria in the last runs; below two tags none."""
    names = sorted({name for record in records for name in record.tags})
    latest = records[-MOST_SCORES:]
    rows = [(name, [score(record.tags.get(name)) for record in latest]) for name in names]
    return [(name, " → ".join(scores)) for name, scores in rows] if len(names) > 1 else []


def inapplicable(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """Return for each criterion with a condition in how many answers it did not apply."""
    found: dict[str, list[tuple[int, int]]] = {}
    for record in records:
        for name, counts in record.inapplicable.items():
            found.setdefault(name, []).append(counts)
    sums = {name: [sum(each) for each in zip(*rows, strict=True)] for name, rows in found.items()}
    return [
        (name, f"{part:,} of {whole:,} ({percent(part / whole)})")
        for name, (part, whole) in sorted(sums.items())
        if whole
    ]


def _unsteady(every: Sequence[Strip]) -> Iterator[str]:
    unsteady = [strip for strip in every if set(strip.verdicts) - set("ps-") or strip.mixed]
    if not unsteady:
        return
    yield ""
    yield f"cases without a steady pass, the oldest run first:  {LEGEND}"
    for strip in unsteady:
        signs = "".join(SIGNS[letter] for letter in strip.verdicts)
        name = log_line(f"{strip.key[0]}: {strip.key[1]}")
        yield f"{signs}  {name}  {flips(strip)}".rstrip()


def flips(strip: Strip) -> str:
    """Return how unsteady a case is, in a few words; empty: its verdict never changed."""
    parts = [
        numbers.plural(strip.flips, "verdict change") if strip.flips else "",
        f"{numbers.plural(strip.mixed, 'run')} with mixed trials" if strip.mixed else "",
    ]
    return ", ".join(part for part in parts if part)
