"""A report as JUnit XML: one suite per eval file, one test case per case."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rubric_ci.gate.waivers import waiver_report as waivers
from rubric_ci.reports import wording
from rubric_ci.text import escape, numbers
from rubric_ci.values.report import RunReport, usage_of_sides
from rubric_ci.values.results import CaseResult, CriterionResult, Errored, Graded, Skipped
from rubric_ci.values.usage import NOTHING_USED, Usage


def render(report: RunReport) -> str:
    """Return an XML document; a borderline case is a failure if `fail-on` is borderline."""
    suites = wording.grouped((case.file, case) for case in report.cases)
    counts = _counts(report.cases, report)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {_attributes(name='rubric-ci', **counts, time=_time(report.cases))}>",
        *(line for file, cases in suites for line in _suite(file, cases, report)),
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _suite(file: str, cases: list[CaseResult], report: RunReport) -> Iterator[str]:
    counts = _counts(cases, report)
    stamp = report.started_at.removesuffix("Z")
    facts = _attributes(name=file, **counts, time=_time(cases), timestamp=stamp)
    yield f"  <testsuite {facts}>"
    used = sum(map(usage_of_sides, cases), NOTHING_USED)
    lines = [_attributes(name=name, value=value) for name, value in _usage(used).items()]
    lines += [_attributes(name="provenance", value=text) for text in wording.basis(report)]
    lines += [_attributes(name="note", value=text) for text in report.notes]
    yield from _listed(lines, "    ")
    for case in cases:
        yield from _case(case, report)
    yield "  </testsuite>"


def _case(case: CaseResult, report: RunReport) -> Iterator[str]:
    where = {"file": case.file, "line": str(case.line)}
    facts = _attributes(name=case.id, classname=case.file, time=_time([case]), **where)
    yield f"    <testcase {facts}>"
    yield from _properties(case)
    match case:
        case Errored():
            yield f"      <error {_attributes(type='no-verdict', message=case.reason)}/>"
        case Skipped():
            yield f"      <skipped {_attributes(message=case.reason)}/>"
        case Graded() if case.status == "waived":
            excused = "; ".join(waivers.excuses(case, report))
            yield f"      <skipped {_attributes(type='waived', message=f'waived: {excused}')}/>"
        case Graded() if _fails(case, report):
            about = f"{case.verdict}, score {numbers.score(case.score)}: {case.reason}"
            text = escape.xml_text("\n\n".join(_reasons(case, report)))
            facts = _attributes(type=case.verdict, message=about)
            yield f"      <failure {facts}>{text}</failure>"
    if texts := wording.texts(case):
        shown = "\n\n".join(f"{title}:\n{text}" for title, text in texts)
        yield f"      <system-out>{escape.xml_text(shown)}</system-out>"
    yield "    </testcase>"


def _properties(case: CaseResult) -> Iterator[str]:
    facts = {"why": case.why}
    if isinstance(case, Graded):
        facts |= {"verdict": case.verdict, "score": f"{case.score:.6f}", "target": case.target}
        facts |= {"trials": wording.trials(case)}
    if not isinstance(case, Skipped):
        facts |= _usage(case.usage)
        facts |= {f"judge.{e.name}": e.judge for e in case.evaluators}
    lines = [_attributes(name=name, value=value) for name, value in facts.items() if value]
    lines += [_attributes(name="warning", value=text) for _, _, text in wording.warnings([case])]
    yield from _listed(lines, "      ")


def _listed(lines: Sequence[str], indent: str) -> Iterator[str]:
    if lines:
        yield f"{indent}<properties>"
        yield from (f"{indent}  <property {line}/>" for line in lines)
        yield f"{indent}</properties>"


def _usage(usage: Usage) -> dict[str, str]:
    """Return the non-zero usage; cost_usd covers only calls with a known cost."""
    counts = {name: str(number) for name, number in asdict(usage).items() if number}
    return counts | ({"cost_usd": f"{usage.cost_usd:.6f}"} if usage.cost_usd else {})


def _reasons(case: Graded, report: RunReport) -> Iterator[str]:
    for miss in wording.misses(case, report):
        evaluator = miss.evaluator
        if miss.criterion:
            yield _criterion(case, miss.criterion)
        elif evaluator.outcome == "unassessed":
            yield f"{evaluator.name}: no result: {evaluator.reason}"
        else:
            head = f"{evaluator.name}: {numbers.score(evaluator.score)}"
            yield "\n".join([head, *wording.reasons(evaluator)])


def _criterion(case: Graded, criterion: CriterionResult) -> str:
    mark = wording.mark(criterion)
    facts = ", ".join(fact for fact in (mark, wording.gate_of(criterion)) if fact)
    source = wording.quote_source(criterion)
    quote = f"Quote{source}: {criterion.evidence}" if criterion.evidence else ""
    head = f"{criterion.file or case.file}:{criterion.line}: {criterion.id}: {facts}"
    return "\n".join(line for line in (head, criterion.text, criterion.found, quote) if line)


def _fails(case: CaseResult, report: RunReport) -> bool:
    status = case.status
    return status == "fail" or (status == "borderline" and report.gate.fail_on == "borderline")


def _counts(cases: tuple[CaseResult, ...] | list[CaseResult], report: RunReport) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(sum(_fails(case, report) for case in cases)),
        "errors": str(sum(case.status == "errored" for case in cases)),
        "skipped": str(sum(case.status in {"skipped", "waived"} for case in cases)),
    }


def _time(cases: tuple[CaseResult, ...] | list[CaseResult]) -> str:
    took = (case.duration_seconds or 0 for case in cases)
    return f"{sum(took):.3f}"


def _attributes(**values: str) -> str:
    return " ".join(f'{name}="{escape.xml(value)}"' for name, value in values.items())
