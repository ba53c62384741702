"""The report of a run, complete: results, facts, secrets removed, comparison."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from rubric_ci import __version__
from rubric_ci.errors import ForbiddenVariable, MissingVariable
from rubric_ci.evaluators.judge_choice import SILENT_JUDGE
from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.files.project.suite_name import suite_of
from rubric_ci.gate.comparison.baseline_files import with_comparison
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.gate.report.decision import concluded, gate_of, with_gate
from rubric_ci.gate.report.report_file import without_secrets
from rubric_ci.gate.selection import last_failed
from rubric_ci.gate.waivers.waiver_report import with_outcomes
from rubric_ci.github.actions import read_event, run_metadata
from rubric_ci.grading.engine import is_failure
from rubric_ci.grading.outcome import errored
from rubric_ci.grading.resolve import Task, choose_judge, judge_info, name_judge
from rubric_ci.grading.targets.answer_cache import varies
from rubric_ci.grading.targets.workplace import is_of_hook_after_answer
from rubric_ci.services.last_run import keep, keep_passes, newly_marked, read_passes, with_passes
from rubric_ci.services.publish_files import HINT
from rubric_ci.services.run.grade import GradedRun, RunInput
from rubric_ci.services.run.inputs import has_every_case
from rubric_ci.system import output_and_masking
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.system.git.plumbing import head_of
from rubric_ci.text import numbers
from rubric_ci.text.numbers import listed
from rubric_ci.values.command_settings import Models, RunSettings
from rubric_ci.values.config import PANEL
from rubric_ci.values.report import (
    CostEstimate,
    JudgeInfo,
    LeftOut,
    RunReport,
    run_verdict,
    totals,
    usage_of_sides,
)
from rubric_ci.values.results import Answer, Assessed, CaseResult, with_verdict
from rubric_ci.values.scope import Narrowing
from rubric_ci.values.targets import MockTarget
from rubric_ci.values.usage import NOTHING_USED

INTERRUPTED = "interrupted before it finished"


def finish(
    inputs: RunInput,
    graded: GradedRun,
    environment: Mapping[str, str],
    *,
    started_at: datetime,
    seconds: float,
    forecast: CostEstimate | None,
) -> RunReport:
    found, options = inputs.context.found, inputs.settings.report
    report = _report(inputs, graded, started_at, seconds)
    withheld, silent = _withheld(report, environment), silent_judges(report.cases)
    report = replace(
        report,
        forecast=forecast,
        notes=(*withheld, *silent, *report.notes, *found.notes),
        responders=found.responders(),
        left_out=tuple(LeftOut(file=f, why=w) for f, w in sorted(found.left_out.items())),
        used_by=found.accounts.list(),
    )
    if found.pictures:
        from rubric_ci.services.publish_files import write_copies  # few runs have one

        write_copies(found.pictures, options.output_dir, HINT)
    report = without_secrets(report, output_and_masking.redactor())
    return with_comparison(report, inputs.baseline, options.baseline, environment)


def with_cases(
    report: RunReport, cases: Sequence[CaseResult], baseline: Baseline | None
) -> RunReport:
    """Return a report with further cases, compared and its gate decided again.

    They are answers that a test brings, which no base has.
    """
    if report.against:
        why: Any = {"change": "not-comparable", "change_reason": "a test brings the answer"}
        cases = [replace(case, **why) for case in cases]
    every = (*report.cases, *cases)
    scope = report.scope
    known = scope.complete and scope.suite is not None  # how many tests were left out is not
    report = replace(
        report,
        scope=replace(scope, suite=len(every) if known else None),
        cases=every,
        totals=totals(every, report.beyond_cases),
        verdict=run_verdict(every, scope),
    )
    report = without_secrets(report, output_and_masking.redactor())
    return with_gate(compare(report, baseline) if baseline else report)


def _withheld(report: RunReport, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield why the cases of a stranger's pull request were skipped."""
    skipped = in_workflow(environment) and "offline" in report.scope.narrowed_by
    event = read_event(environment) if skipped else None
    if event and event.without_secrets:
        yield f"{event.without_secrets}: only what is recorded was graded."


def silent_judges(cases: Sequence[CaseResult]) -> Iterator[str]:
    """Yield the judges of a panel that marked nothing in the whole run."""
    rounds: dict[str, list[set[str]]] = defaultdict(list)
    for each in (each for case in with_verdict(cases) for each in case.evaluators):
        if isinstance(each, Assessed) and PANEL in each.judge:
            found = filter(None, map(SILENT_JUDGE.match, each.warnings))
            rounds[each.judge].append({match[1] for match in found})
    for judge, silent in rounds.items():
        every = dict.fromkeys(judge.split(PANEL))
        for name in [name for name in every if all(name in each for each in silent)]:
            others = listed([f"`{each}`" for each in every if each != name])
            panels = numbers.plural(len(silent), "panel")
            yield f"The judge `{name}` gave no marks in any of {panels}; the others are {others}."


def remember(inputs: RunInput, graded: GradedRun) -> None:
    """Remember which cases did not pass, and what was used; raises CannotWriteFile."""
    every = {case.key for case in inputs.loaded.cases}
    suite = every if has_every_case(inputs.loaded, inputs.selection) else None
    results = graded.outcome.results
    unfinished = {task.case.key for task in inputs.tasks} - {case.key for case in results}
    last_failed.remember(inputs.settings.report.output_dir, results, suite, unfinished)
    if inputs.context.cache:
        folder, root = inputs.settings.cache.folder, inputs.context.root
        keep(folder, root, inputs.context.found.accounts.list())
        ended = with_outcomes(inputs.selection.waivers, results)
        keep_passes(folder, root, ended, newly_marked(results))


def _report(inputs: RunInput, graded: GradedRun, started_at: datetime, seconds: float) -> RunReport:
    """Return the report of a run, its secrets not removed yet; unfinished tasks are errored."""
    loaded, tasks, settings = inputs.loaded, inputs.tasks, inputs.settings
    selection, ended = inputs.selection, graded.outcome.results
    reason = INTERRUPTED
    if failures := _stopped_after(ended, settings.max_failures):
        count = numbers.plural(failures, "failure")
        reason = f"not run: stopped after {count} (--max-failures {settings.max_failures})"
    cases = _with_interrupted(tasks, ended, reason, compared=bool(settings.select.against))
    scope = selection.scope.narrowed(*_narrowed(tasks, ended, settings))
    verdict = run_verdict(cases, scope)
    kept = settings.cache.folder if settings.cache.enabled else None
    ended_waivers = with_outcomes(selection.waivers, cases)
    waivers = with_passes(ended_waivers, read_passes(kept), newly_marked(cases))
    changes = selection.grading_changes
    gate = gate_of(loaded.config.gate, settings.report.fail_on)
    gate = replace(gate, none_decides=selection.none_decides)
    gate = concluded(gate, cases, scope, waivers, changes)
    beyond = graded.spent.beyond(sum(map(usage_of_sides, cases), NOTHING_USED))
    again = _answered_again(tasks) if settings.cache.reuse_answers else ()
    more = (*_unfinished_work(ended), *again)
    invalid = (
        f"{name} was not graded because it has problems; run `rubric-ci validate {name}`"
        for name in loaded.invalid
    )
    return RunReport(
        tool=f"rubric-ci {__version__}",
        started_at=started_at.isoformat(timespec="seconds"),
        duration_seconds=round(seconds, 3),
        verdict=verdict,
        scope=scope,
        gate=gate,
        judge=_judge_info(loaded, tasks, settings.models),
        totals=totals(cases, beyond),
        cases=cases,
        beyond_cases=beyond,
        grading_changes=changes,
        waivers=waivers,
        notes=(*invalid, *_ungraded(tasks), *selection.notes, *more),
        metadata=_metadata(loaded, settings),
        shard=selection.shard,
        regression=loaded.config.regression,
        against=graded.outcome.against,
        removed=graded.outcome.removed,
        sentinel=graded.sentinel,
    )


def _metadata(loaded: LoadedProject, settings: RunSettings) -> dict[str, str]:
    """Return the subject of a workflow run; elsewhere, and of an untrusted change, its commit."""
    comment, select = settings.report.comment, settings.select
    suite = comment.key or suite_of(select.config, select.paths)
    known = run_metadata(os.environ, comment.page, suite)
    proposal = loaded.change.proposal
    if known and not proposal:
        return known
    commit = proposal.commit if proposal else head_of(loaded.root, os.environ)
    return {**known, "head_sha": commit} if commit else known


def _narrowed(
    tasks: Sequence[Task], ended: Sequence[CaseResult], settings: RunSettings
) -> Iterator[Narrowing]:
    """Yield the reasons why cases of the selection have no result of this run."""
    if len(ended) < len(tasks):
        yield "max-failures" if _stopped_after(ended, settings.max_failures) else "interrupted"
    skipped = {case.key for case in ended if case.status == "skipped"}
    evaluated = (task.case.key for task in tasks if task.case.evaluators)
    if settings.requests.offline and not skipped.isdisjoint(evaluated):
        yield "offline"
    if settings.requests.replay is not None:
        yield "replay"


def _stopped_after(ended: Sequence[CaseResult], most: int | None) -> int:
    """Return how many failures stopped the run; 0: they did not."""
    failures = sum(map(is_failure, ended)) if most else 0
    return failures if most and failures >= most else 0


def _with_interrupted(
    tasks: Sequence[Task], ended: Sequence[CaseResult], reason: str, *, compared: bool
) -> tuple[CaseResult, ...]:
    """Return a result for every task, in the order of the tasks; unfinished ones are errored.

    `compared`: with a base, where they are not comparable.
    """
    by_case = {result.key: result for result in ended}
    change: Any = {"change": "not-comparable", "change_reason": reason} if compared else {}
    return tuple(
        by_case.get(task.case.key) or replace(errored(task, reason, Answer(text="")), **change)
        for task in tasks
    )


def _judge_info(loaded: LoadedProject, tasks: Sequence[Task], models: Models) -> JudgeInfo | None:
    file = tasks[0].case.file if tasks else ""
    config = loaded.config_for(file)
    judge = choose_judge(config, MockTarget(name="", response=""), models.judge)
    if judge is None:
        return None
    judge = replace(judge, votes=models.votes) if models.votes else judge
    with suppress(ForbiddenVariable, MissingVariable):  # no case needed the judge
        judge = name_judge(judge, loaded.variables(os.environ, file))
    return judge_info(judge)


def _ungraded(tasks: Sequence[Task]) -> Iterator[str]:
    """Yield a note with the number of cases that only lack an evaluator."""
    cases = [task.case for task in tasks if not task.not_graded]
    count = sum(bool(case.expected_outcome) and not case.evaluators for case in cases)
    if count:
        have = "case has" if count == 1 else "cases have"
        yield (
            f"{count} {have} an expected outcome and no evaluator, and no verdict: run "
            "`rubric-ci generate rubrics`, or set `default_evaluator: llm_judge` in rubric-ci.yaml"
        )


def _unfinished_work(ended: Sequence[CaseResult]) -> Iterator[str]:
    """Yield a note with the first command after an answer that failed, and the number of others."""
    notes = ((case.id, note) for case in ended if case.trace for note in case.trace.notes)
    failed = [(name, note) for name, note in notes if is_of_hook_after_answer(note)]
    if failed:
        (name, note), *others = failed
        more = f" and {numbers.plural(len(others), 'more case')}" if others else ""
        yield f"{name}{more}: {note}"


def _answered_again(tasks: Sequence[Task]) -> Iterator[str]:
    """Yield a note with the number of cases whose answer is not reused although it was asked."""
    count = sum(varies(task.case) for task in tasks)
    if count:
        cases = "1 case is" if count == 1 else f"{count} cases are"
        yield (
            f"{cases} answered each time, also with --reuse answers: a script looks into the "
            "`workspace`, or its `hooks` or the `ref` of a repository may change it"
        )
