"""The body of the issue about nights: gate and reference apart, since when, and the evidence."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from rubric_ci.comparison import comparison_text, reference
from rubric_ci.model.gate import is_held_against
from rubric_ci.model.reference_log import CaseKey, Night, ReferenceLog
from rubric_ci.model.report import CaseChange, Comparison, RunReport
from rubric_ci.model.results import CriterionResult, Graded
from rubric_ci.render import heading, wording
from rubric_ci.render.markdown import GATE_ICONS
from rubric_ci.report.exit_code import gate_state
from rubric_ci.text import escape, numbers

MOST_ROWS: Final = 25  # cases of each table
LONGEST: Final = 300  # characters of a reason

WORSE, NOT_WORSE, UNKNOWN = "🔻", "✅", "⚠️"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an issue is about: a run, its comparison, and the log of a pinned reference."""

    head: RunReport
    comparison: Comparison
    log: ReferenceLog | None = None  # None: the baseline is a report

    @property
    def red(self) -> bool:
        """Return True if the gate fails, the run is worse than its baseline, or the judge moved."""
        moved = bool(self.comparison.judge_moved)
        return self.comparison.regressed or moved or gate_state(self.head) == "fail"

    @property
    def complete(self) -> bool:
        """Return True if every case has a verdict."""
        lost = self.comparison.count("errored")
        return gate_state(self.head) != "no-verdict" and not lost

    def since(self, holds: Callable[[Night], bool]) -> Night | None:
        """Return the first night since which something holds; None without a log."""
        return reference.since(self.log, holds) if self.log else None


def render(subject: Subject, repository_url: str) -> str:
    """Return the body in GitHub's markdown."""
    blocks = [
        f"## rubric-ci · {_headline(subject)}",
        "\n".join((_gate(subject, repository_url), _reference(subject, repository_url))),
        *_table(("Regressed", "Since", "Evidence"), _regressed(subject, repository_url)),
        *_table(("Fails the gate", "Why"), _failing(subject)),
        "\n".join(f"- {escape.prose(line)}" for line in comparison_text.lines(subject.comparison)),
        " · ".join(_links(subject, repository_url)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _headline(subject: Subject) -> str:
    gate = gate_state(subject.head)
    words = {"pass": "the gate passes", "fail": "the gate fails", "no-verdict": "no verdict"}
    return f"{words[gate]}; {comparison_text.headline(subject.comparison)}"


def _gate(subject: Subject, repository_url: str) -> str:
    icon = GATE_ICONS[heading.tone(subject.head)]
    line = f"- {icon} {escape.prose(heading.heading(subject.head))}"
    fails = gate_state(subject.head) == "fail"
    first = subject.since(lambda night: night.gate == "fail") if fails else None
    return f"{line}; it fails since {_night(first, repository_url)}" if first else line


def _reference(subject: Subject, repository_url: str) -> str:
    comparison = subject.comparison
    icon = WORSE if comparison.regressed else UNKNOWN if comparison.judge_moved else NOT_WORSE
    line = f"- {icon} **Reference:** {escape.prose(comparison_text.headline(comparison))}"
    first = subject.since(lambda night: night.worse) if comparison.regressed else None
    return f"{line}, since {_night(first, repository_url)}" if first else line


def _regressed(subject: Subject, repository_url: str) -> Iterator[tuple[str, ...]]:
    said = comparison_text.by_case(subject.comparison)
    for change in subject.comparison.changes:
        if change.kind == "regressed":
            key = (change.file, change.id)
            first = subject.since(partial(_was_regressed, key))
            evidence = escape.markdown(said[key])
            why = _why(subject.head, change)
            yield (
                _name(change.id, change.file),
                _night(first, repository_url) if first else "this run",
                f"{evidence}<br>{why}" if why else evidence,
            )


def _was_regressed(key: CaseKey, night: Night) -> bool:
    return key in night.regressed


def _failing(subject: Subject) -> Iterator[tuple[str, ...]]:
    if gate_state(subject.head) != "fail":
        return
    for case in subject.head.cases:
        if isinstance(case, Graded) and is_held_against(case, subject.head.gate):
            yield _name(case.id, case.file), _cut(case.reason)


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table of at most `MOST_ROWS`, and how many more there are."""
    every = list(rows)
    if every:
        shown = [head, tuple(":--" for _ in head), *every[:MOST_ROWS]]
        yield "\n".join(f"| {' | '.join(row)} |" for row in shown)
    if len(every) > MOST_ROWS:
        yield f"and {len(every) - MOST_ROWS:,} more: see the run."


def _why(head: RunReport, change: CaseChange) -> str:
    """Return the reasons of the judge for the criteria that a case misses."""
    for case in head.cases:
        if isinstance(case, Graded) and (case.file, case.id) == (change.file, change.id):
            missed = [criterion for _, criterion in wording.missed(case, head)]
            return "<br>".join(map(_criterion, missed[:3]))
    return ""


def _criterion(criterion: CriterionResult) -> str:
    return f"{escape.code_span(criterion.id, in_table=True)}: {_cut(criterion.reasoning)}"


def _name(case_id: str, file: str) -> str:
    name = escape.code_span(numbers.shortened(case_id, 120), in_table=True)
    return f"{name}<br><sub>{escape.markdown(numbers.shortened(file, 200))}</sub>"


def _cut(text: str) -> str:
    return escape.markdown(numbers.shortened(text, LONGEST))


def _night(night: Night, repository_url: str) -> str:
    """Return the day and the commit of a night, with a link to its run."""
    day = night.started_at[:10]
    shown = f"[{day}]({escape.link_target(night.run_url)})" if night.run_url else day
    return f"{shown} ({_commit(night.commit, repository_url)})" if night.commit else shown


def _commit(commit: str, repository_url: str) -> str:
    target = escape.link_target(f"{repository_url}/commit/{commit}")
    return f"[{escape.code_span(commit[: comparison_text.SHORT], in_table=True)}]({target})"


def _links(subject: Subject, repository_url: str) -> Iterator[str]:
    """Yield links to the run and to the changes since the reference."""
    metadata = subject.head.metadata
    if run := metadata.get("run_url", ""):
        yield f"[Run]({escape.link_target(run)})"
    now = metadata.get("head_sha", "")
    then = subject.comparison.reference.commit if subject.comparison.reference else ""
    if now and then and now != then:
        target = escape.link_target(f"{repository_url}/compare/{then}...{now}")
        yield f"[Changes since the reference]({target})"
