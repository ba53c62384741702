"""One GitHub issue per title that stays open while the gate fails or a comparison is worse.

Its body has gate and reference apart, since when, and the evidence.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from rubric_ci.errors import CannotConfigure, CannotReachGitHub
from rubric_ci.gate.comparison import phrases as compared
from rubric_ci.gate.comparison import reference
from rubric_ci.gate.comparison.reference import Night, ReferenceLog
from rubric_ci.gate.report.decision import gate_state
from rubric_ci.github.actions import read_event
from rubric_ci.github.comments_and_issues import IssueKey, keep_issue
from rubric_ci.github.rest_api import build_server
from rubric_ci.reports import summary, wording
from rubric_ci.reports.markdown import GATE_ICONS, Links
from rubric_ci.services.publish_workflow import Workflow, not_posted
from rubric_ci.text import escape, numbers
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import is_held_against
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, with_verdict

MOST_ROWS: Final = 25  # cases of each table
LONGEST: Final = 300  # characters of a reason

WORSE, NOT_WORSE, UNKNOWN = "🔻", "✅", "⚠️"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of an issue: a run that was compared, and the log of a pinned reference."""

    head: RunReport
    log: ReferenceLog | None = None  # None: the baseline is a report

    @property
    def red(self) -> bool:
        """Return True if the gate fails, the judge moved, or the run is worse, not suspected."""
        return self.worse or self.moved or gate_state(self.head) == "fail"

    @property
    def worse(self) -> bool:
        return self.head.comparison is not None and self.head.comparison.worse

    @property
    def suspected(self) -> bool:
        """Return True if this night is worse than the reference, and the night before was not."""
        return self.head.comparison is not None and self.head.comparison.suspected

    @property
    def moved(self) -> bool:
        return self.head.comparison is not None and bool(self.head.comparison.judge_moved)

    @property
    def compared(self) -> bool:
        """Return True if a case has a verdict on both sides, or the judge moved."""
        comparison = self.head.comparison
        return comparison is not None and (comparison.compared > 0 or self.moved)

    @property
    def complete(self) -> bool:
        """Return True if every case has a verdict."""
        return gate_state(self.head) != "no-verdict" and not self.head.totals.errored

    def since(self, holds: Callable[[Night], bool]) -> Night | None:
        """Return the first night since which something holds; None without a log."""
        return reference.since(self.log, holds) if self.log else None


def update_issue(subject: Subject, name: str, environment: Mapping[str, str]) -> str:
    """Open, update or close the issue; return one line about it, also if GitHub fails.

    A run that lacks verdicts and shows neither neither opens nor closes it. The first night that is
    worse than a reference does not open it, the second in a row does.
    """
    event = read_event(environment)
    if event is None:
        return "no issue: not a workflow run, so the repository is unknown"
    if not subject.red and not subject.complete:
        return "issue left as it is: some case has no verdict"
    body = render(subject, f"{event.server_url}/{event.repository}")
    try:
        key = IssueKey(repository=event.repository, name=name)
        server, about = build_server(environment), wrong(subject)
        result = keep_issue(server, key, body, red=subject.red, wrong=about)
    except (CannotReachGitHub, CannotConfigure) as error:
        return not_posted(error, Workflow.of(environment))
    number = f" #{result.number}" if result.number else ""
    line = f"issue{number} {result.done}{f': {result.url}' if result.url else ''}"
    if subject.suspected and not subject.red:
        return f"{line}; worse tonight; it opens if it is worse tomorrow"
    return line


def wrong(subject: Subject) -> str:
    """Return the problem, for the title: "2 cases fail; the gate fails every night since …"."""
    parts = []
    if gate_state(subject.head) == "fail":
        since = _every_night(subject, lambda night: night.gate == "fail")
        held = len([*_failing(subject)])
        failing = f"{numbers.plural(held, 'case')} {'fails' if held == 1 else 'fail'}"
        parts += [failing] * bool(held) + [f"the gate fails{since}"] * bool(since or not held)
    if subject.moved:
        parts.append("the judge moved")
    elif subject.worse:
        keys = {case.key for case in compared.broken(subject.head)}
        since = _every_night(subject, lambda night: night.worse and keys <= {*night.regressed})
        parts.append(f"{compared.headline(subject.head)}{since and ','}{since}")
    return "; ".join(parts)


def _every_night(subject: Subject, holds: Callable[[Night], bool]) -> str:
    """Return since when something holds, unless it is since this night."""
    first = subject.since(holds)
    if first is None or first.started_at == subject.head.started_at:
        return ""
    return f" every night since {first.started_at[:10]}"


def render(subject: Subject, repository_url: str) -> str:
    figures = "\n".join(f"- {escape.prose(line)}" for line in compared.lines(subject.head))
    blocks = [
        f"## rubric-ci · {_headline(subject)}",
        "\n".join((_gate(subject, repository_url), _reference(subject, repository_url))),
        *_table(("Broken", "Since", "Evidence"), _broken(subject, repository_url)),
        *_table(("Fails the gate", "Why"), _failing(subject)),
        f"<details><summary>Figures</summary>\n\n{figures}\n\n</details>" if figures else "",
        " · ".join(_links(subject, repository_url)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _headline(subject: Subject) -> str:
    gate = gate_state(subject.head)
    words = {"pass": "the gate passes", "fail": "the gate fails", "no-verdict": "no verdict"}
    found = _found(subject)
    return f"{words[gate]}; {found[:1].lower()}{found[1:]}"


def _found(subject: Subject) -> str:
    """Return what the comparison shows; nothing, if no case has a verdict on both sides."""
    return compared.headline(subject.head) if subject.compared else "Not compared: no verdict"


def _gate(subject: Subject, repository_url: str) -> str:
    icon = GATE_ICONS[summary.tone(subject.head)]
    line = f"- {icon} {escape.prose(summary.heading(subject.head))}"
    fails = gate_state(subject.head) == "fail"
    first = subject.since(lambda night: night.gate == "fail") if fails else None
    return f"{line}; it fails since {_night(first, repository_url)}" if first else line


def _reference(subject: Subject, repository_url: str) -> str:
    unknown = subject.moved or subject.suspected or not subject.compared
    icon = WORSE if subject.worse else UNKNOWN if unknown else NOT_WORSE
    line = f"- {icon} **Baseline:** {escape.prose(_found(subject))}"
    first = subject.since(lambda night: night.worse) if subject.worse else None
    return f"{line}, since {_night(first, repository_url)}" if first else line


def _broken(subject: Subject, repository_url: str) -> Iterator[tuple[str, ...]]:
    for case in compared.broken(subject.head):
        first = subject.since(partial(_was_broken, case.key))
        facts = (compared.in_words(case), compared.why(case))
        evidence = [escape.markdown(fact) for fact in facts if fact]
        yield (
            _name(case.id, case.file),
            _night(first, repository_url) if first else "this run",
            "<br>".join([*evidence, *_why(subject.head, case)]),
        )


def _was_broken(key: CaseKey, night: Night) -> bool:
    return key in night.regressed


def _failing(subject: Subject) -> Iterator[tuple[str, ...]]:
    if gate_state(subject.head) != "fail":
        return
    for case in with_verdict(subject.head.cases):
        if is_held_against(case, subject.head.gate):
            yield _name(case.id, case.file), _cut(case.reason)


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table of at most `MOST_ROWS`, and how many more there are."""
    every = list(rows)
    if every:
        shown = [head, tuple(":--" for _ in head), *every[:MOST_ROWS]]
        yield "\n".join(f"| {' | '.join(row)} |" for row in shown)
    if len(every) > MOST_ROWS:
        yield f"and {len(every) - MOST_ROWS:,} more: see the run."


def _why(head: RunReport, case: CaseResult) -> Iterator[str]:
    """Yield the reasons of the judge for the criteria that a case misses."""
    for graded in with_verdict([case]):
        for each in wording.missed_criteria(graded, head)[:3]:
            yield f"{escape.code_span(each.id, in_table=True)}: {_cut(each.reasoning)}"


def _name(case_id: str, file: str) -> str:
    name = escape.code_span(numbers.shortened(case_id, 120), in_table=True)
    return f"{name}<br><sub>{escape.markdown(numbers.shortened(file, 200))}</sub>"


def _cut(text: str) -> str:
    return escape.markdown(numbers.shortened(text, LONGEST))


def _night(night: Night, repository_url: str) -> str:
    """Return the day and the commit of a night, with a link to its run."""
    day = night.started_at[:10]
    shown = f"[{day}]({escape.link_target(night.run_url)})" if night.run_url else day
    if not night.commit:
        return shown
    target = escape.link_target(f"{repository_url}/commit/{night.commit}")
    return f"{shown} ([{escape.code_span(escape.commit(night.commit), in_table=True)}]({target}))"


def _links(subject: Subject, repository_url: str) -> Iterator[str]:
    """Yield links to the run, its artifact, and the changes since the reference."""
    metadata = subject.head.metadata
    if run := metadata.get("run_url", ""):
        yield f"[Run]({escape.link_target(run)})"
    if page := Links(run=run, page=metadata.get("page", "")).artifact:
        yield page
    now = metadata.get("head_sha", "")
    then = subject.head.comparison.commit if subject.head.comparison else ""
    if now and then and now != then:
        target = escape.link_target(f"{repository_url}/compare/{then}...{now}")
        yield f"[Changes since the baseline]({target})"
