"""A run compared with an earlier report or a pinned reference, whose answers count as they are."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rubric_ci.gate.comparison import reference, rule, verdicts
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.gate.comparison.verdicts import SUSPECTED, Compared
from rubric_ci.text import numbers
from rubric_ci.values.answers import identity
from rubric_ci.values.comparison import OTHER_QUESTION, CaseKey, Comparison, RegressionConfig
from rubric_ci.values.dimensions import by_tag
from rubric_ci.values.media import answer_pictures
from rubric_ci.values.report import JudgeInfo, RemovedCase, RunReport
from rubric_ci.values.results import BaseResult, CaseResult, Graded, both_graded, own_id
from rubric_ci.values.trials import judge_noise, same_marks_again, trials_of


def compare(head: RunReport, baseline: Baseline) -> RunReport:
    """Return the head with how each case differs from a report or a pinned reference.

    A case that a part of the suite left out was not run; it is not `removed`.
    """
    matched = counterparts(head.cases, baseline.report.cases)
    moved = why_judge_moved(head, baseline.report, pinned=baseline.log is not None)
    found = {case.key: _change(case, matched.get(case.key), head, baseline) for case in head.cases}
    worse = frozenset(key for key, each in found.items() if each.change == "broken")
    shown = {key: _shown(each, key, head, baseline, moved) for key, each in found.items()}
    cases = tuple(
        verdicts.changed(
            case, shown[case.key], _before(case, matched.get(case.key), shown[case.key])
        )
        for case in head.cases
    )
    everything = of_asked_targets(head, baseline.report) if head.scope.complete else ()
    return replace(
        head,
        cases=cases,
        removed=removed_cases(everything, matched.values()),
        comparison=_whole(cases, head, baseline, matched, moved, tuple(sorted(worse))),
        against=None,
        totals=replace(head.totals, judge_noise=judge_noise(cases)),
    )


def removed_cases(
    baseline: Iterable[CaseResult], found: Iterable[CaseResult]
) -> tuple[RemovedCase, ...]:
    kept = {case.key for case in found}
    return tuple(
        RemovedCase(file=case.file, id=case.id) for case in baseline if case.key not in kept
    )


def counterparts(
    head: Iterable[CaseResult], baseline: Iterable[CaseResult]
) -> dict[CaseKey, CaseResult]:
    """Return each case's counterpart: the same file and id, or the only moved case with its id.

    A case that one target answered is the one of that target where several do now.
    """
    there = {case.key: case for case in baseline}
    here = {case.key: case for case in head}
    moved: dict[object, list[CaseResult]] = defaultdict(list)
    for key in there.keys() - here.keys():
        moved[key[1]].append(there[key])
        moved[_row(there[key])].append(there[key])
    found = {
        key: [there[key]] if key in there else moved[key[1]] or moved[_row(case)]
        for key, case in here.items()
    }
    return {key: known[0] for key, known in found.items() if len(known) == 1}


def _row(case: CaseResult) -> tuple[str, str]:
    return _own_id(case), _target(case)


def _change(
    case: CaseResult, was: CaseResult | None, head: RunReport, baseline: Baseline
) -> Compared:
    if was is None:
        return Compared(change="new")
    if not is_same_question(case, was):
        return Compared(change="not-comparable", reason=OTHER_QUESTION)
    found = verdicts.compare(case, was, f" in the {noun(baseline)}")
    if found.change != "broken" or not isinstance(case, Graded) or not isinstance(was, Graded):
        return found
    needs = rule.as_they_are(len(trials_of(case)), len(trials_of(was)))
    return verdicts.conclude(case, was, was, needs, head.regression or RegressionConfig())


def is_same_question(one: CaseResult, other: CaseResult) -> bool:
    """Return True unless both reports know what was asked, and it differs."""
    if not isinstance(one, Graded) or not isinstance(other, Graded):
        return True
    return one.question_id == other.question_id or not (one.question_id and other.question_id)


def noun(baseline: Baseline) -> str:
    return "reference" if baseline.log else "baseline"


def _shown(
    found: Compared, key: CaseKey, head: RunReport, baseline: Baseline, moved: str
) -> Compared:
    """Return how a case differs: nothing, if the judge moved; in one night, it is suspected."""
    if moved and found.change in {"broken", "not-confirmed", "better"}:
        return Compared(change="not-comparable", reason=moved)
    if found.change != "broken" or baseline.log is None:
        return found
    if key in reference.worse_before(baseline.log, head.started_at):
        return found
    return replace(found, change="not-confirmed", reason=SUSPECTED)


def _whole(
    cases: Sequence[CaseResult],
    head: RunReport,
    baseline: Baseline,
    matched: Mapping[CaseKey, CaseResult],
    moved: str,
    worse: tuple[CaseKey, ...],
) -> Comparison:
    pairs = both_graded((case, matched.get(case.key)) for case in cases)
    every = None if moved else rule.find_together(pairs)
    info = reference.info(head, baseline.report, baseline.log)
    found = replace(
        verdicts.of_cases(baseline.source, cases),
        ref=baseline.ref,
        commit=info.commit if info else "",
        together=every,
        reference=info,
        worse_cases=() if moved else worse,
        judge_moved=moved,
        notes=(
            *parts_of_suite(head, baseline.report),
            *differing_judges(head, baseline.report),
            *cached_marks(head, pinned=baseline.log is not None),
        ),
    )
    return _decided(found, head, baseline)


def _decided(found: Comparison, head: RunReport, baseline: Baseline) -> Comparison:
    """Return the comparison with its result: of a pinned reference, the result of two nights."""
    if baseline.log is None:
        return replace(found, worse=found.worse or found.fell)
    last = baseline.log.last(head.started_at)
    worse = found.worse or (found.fell and last is not None and last.lower)
    suspected = not worse and bool(found.worse_cases or found.fell)
    return replace(found, worse=worse, suspected=suspected)


def _before(case: CaseResult, was: CaseResult | None, found: Compared) -> BaseResult | None:
    """Return the earlier case as a report shows it; its answer if that is part of a change."""
    if was is None:
        return None
    if not isinstance(was, Graded):
        return BaseResult(outcome=was.outcome, reason=was.reason, source="report")
    same = isinstance(case, Graded) and identity(case) == identity(was)
    shown = isinstance(case, Graded) and not same and found.change != "unchanged"
    return BaseResult(
        outcome="graded",
        verdict=was.verdict,
        score=was.score,
        answer=was.answer if shown else "",
        trace=was.trace if shown else None,
        file_changes=was.file_changes if shown else (),
        media=answer_pictures(was.media) if shown else (),
        source="report",
        marks=same_marks_again(case.evaluators, was.evaluators) if same else (),
        tags=by_tag(was.evaluators),
    )


def parts_of_suite(head: RunReport, baseline: RunReport) -> Iterator[str]:
    """Yield the part of the suite that each report covers, unless it is the whole."""
    for report, name in ((head, "This report"), (baseline, "The baseline")):
        if report.covers:
            yield f"{name} covers {report.covers}; the other cases are not compared."
    kept = set(map(_target, of_asked_targets(head, baseline)))
    if others := sorted({*map(_target, baseline.cases)} - kept):
        names = numbers.listed(others)
        yield f"The baseline also has the targets {names}, which this run does not ask."


def of_asked_targets(head: RunReport, baseline: RunReport) -> tuple[CaseResult, ...]:
    targets = set(map(_target, head.cases))
    asked = {(case.file, _own_id(case)) for case in head.cases}
    return tuple(
        case
        for case in baseline.cases
        if _target(case) in targets or (case.file, _own_id(case)) not in asked
    )


def _own_id(case: CaseResult) -> str:
    """Return the id of a case without the target that it has if several answer."""
    return own_id(case.id, _target(case))


def _target(case: CaseResult) -> str:
    return "" if case.status == "skipped" else case.target


def cached_marks(head: RunReport, *, pinned: bool) -> Iterator[str]:
    """Yield how many marks the sentinel cannot vouch for; a night has none."""
    cached, marks = head.totals.cached_marks, head.totals.marks
    if pinned and cached:
        yield (
            f"{cached:,} of {numbers.plural(marks, 'mark')} are from the cache, perhaps of an "
            "earlier judge; `rubric-ci run --baseline` asks the judge for each."
        )


def why_judge_moved(head: RunReport, baseline: RunReport, *, pinned: bool) -> str:
    """Return why this run and the reference have different judges; empty: they have one.

    The settings decide for a pinned reference only; for other baselines they are a note.
    """
    if pinned and head.judge and baseline.judge and head.judge != baseline.judge:
        return f"The judge changed ({judge_differences(baseline.judge, head.judge)})"
    seen = head.sentinel
    if seen is None or not seen.moved:
        return ""
    (before, repeats), (differing, requests) = seen.repeated, seen.asked
    return (
        f"The judge moved: {differing} of {requests} marks of remembered answers differ, "
        f"{before} of {repeats} did when the baseline was measured"
    )


def differing_judges(head: RunReport, baseline: RunReport) -> Iterator[str]:
    """Yield the differences of judge and thresholds, which change scores as answers do."""
    if head.judge and baseline.judge and head.judge != baseline.judge:
        differences = judge_differences(baseline.judge, head.judge)
        yield f"The judges differ ({differences}): score changes may come from the judge."
    then, now = baseline.gate, head.gate
    if (then.passing, then.borderline) != (now.passing, now.borderline):
        yield (
            f"The thresholds differ (pass ≥ {then.passing:g}, now ≥ {now.passing:g}; "
            f"borderline ≥ {then.borderline:g}, now ≥ {now.borderline:g})."
        )


def judge_differences(then: JudgeInfo, now: JudgeInfo) -> str:
    """Return the settings that differ: "gpt-x → gpt-y; votes 1 → 3"."""
    pairs = (
        ("", then.model, now.model),
        ("prompt ", then.prompt_version, now.prompt_version),
        ("", then.mode, now.mode),
        ("votes ", then.votes, now.votes),
    )
    return "; ".join(f"{name}{was} → {new}" for name, was, new in pairs if was != new)
