"""`rubric-ci run`: grade cases, write and publish the report."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from time import monotonic

import click

from rubric_ci.against.base_side import BaseSide, open_base
from rubric_ci.against.comparison import Outcome, compare
from rubric_ci.against.sides import Sides
from rubric_ci.calibration.ask_sentinel import Watch, grade_watched
from rubric_ci.calibration.gate import check_calibration
from rubric_ci.calibration.whole_suite import with_correction
from rubric_ci.errors import ExitCode, UserError
from rubric_ci.grading import case_list
from rubric_ci.grading.cost_estimate import (
    JudgeEstimate,
    estimate_cost,
    estimate_lines,
    show_estimate,
    total,
)
from rubric_ci.grading.engine import grade
from rubric_ci.grading.resolve import choose_target, judge_info, judges_of, needs_judge
from rubric_ci.grading.setup import build_context, readable_cache
from rubric_ci.grading.task import Task
from rubric_ci.grading.tasks import build_tasks, with_waivers
from rubric_ci.history.forecast import show_power
from rubric_ci.model.context import RunContext, Side
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.git_changes import NoBase
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import ShardInfo
from rubric_ci.model.results import CaseResult, Errored, Skipped
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import LoadedProject, show_problems
from rubric_ci.reports import alarm_budget, failure, publish
from rubric_ci.reports.build import build_report
from rubric_ci.reports.comparison import counterparts
from rubric_ci.reports.exit_code import exit_code
from rubric_ci.reports.files import (
    check_folder,
    open_baseline,
    read_report,
    with_baseline,
    write_and_show,
)
from rubric_ci.reports.formats import FILES
from rubric_ci.reports.progress import progress
from rubric_ci.reports.redaction import without_secrets
from rubric_ci.reports.reference import Baseline
from rubric_ci.reports.sharding import case_cost, split
from rubric_ci.selection import answer_dependencies
from rubric_ci.selection.changed_cases import open_selected
from rubric_ci.selection.compare_cases import Selection
from rubric_ci.selection.grading_changes import grading_changes_of
from rubric_ci.selection.last_failed import choose_failed, failed
from rubric_ci.selection.policy import allowed_hosts
from rubric_ci.selection.waivers import find_waivers
from rubric_ci.system import masking
from rubric_ci.system.signals import run_until_terminated
from rubric_ci.text import escape


def run(settings: RunSettings) -> ExitCode:
    """Load, grade, write, publish; return the exit code of the report.

    An error of the setup is shown on the pull request before it ends the command.
    """
    try:
        return _run(settings)
    except UserError as error:
        failure.publish_failure(error, settings, os.environ)
        raise


def _run(settings: RunSettings) -> ExitCode:
    started_at, clock = datetime.now(UTC), monotonic()
    loaded, selection = open_selected(settings)
    selection = _last_failed(selection, settings)
    selection = _with_policy_facts(selection, loaded, settings, started_at.date())
    show_problems(loaded.diagnostics)
    failure.annotate_problems(loaded.diagnostics, os.environ)
    baseline = open_baseline(settings)
    shard, chosen = _cases_of_shard(selection, loaded, settings)
    tasks = with_waivers(build_tasks(chosen, loaded, settings), selection.waivers)
    if settings.list_only:
        return _list(tasks, loaded, settings)
    cache, unread = readable_cache(settings.requests, settings.cache, os.environ)
    notes = (*([unread] if unread else []), *_calibration_warnings(tasks, loaded))
    selection = replace(selection, notes=(*notes, *selection.notes))
    context = build_context(
        loaded.root,
        loaded.config,
        settings.requests,
        os.environ,
        cache=cache,
        offline=settings.offline,
        batch=_show_progress if settings.batch else None,
        hosts=allowed_hosts(loaded, settings.requests.allowed_hosts, os.environ),
    )
    context = replace(context, side=_own_side(loaded, settings))
    check_folder(settings)
    estimate = _estimate(tasks, settings)
    show_estimate(estimate)
    if estimate and len(tasks) > 1:
        show_power([task.cluster for task in tasks], settings, baseline, os.environ)
    further_trials = _further_trials(tasks, baseline, loaded, settings)
    watch = _watch(tasks, baseline, loaded, settings)
    with open_base(tasks, loaded, settings) as base:
        outcome = _grade(tasks, context, settings, further_trials, base, loaded, watch)
    report = build_report(
        loaded,
        tasks,
        outcome.results,
        settings,
        selection=selection,
        shard=shard,
        started_at=started_at,
        seconds=monotonic() - clock,
    )
    report = replace(report, forecast=total(estimate), notes=(*report.notes, *context.notes))
    report = replace(report, responders=context.responders())
    report = replace(report, against=outcome.against, removed=outcome.removed)
    report = without_secrets(replace(report, sentinel=watch.seen), masking.redactor())
    report = with_correction(report, loaded, tasks, settings)
    report = with_baseline(report, baseline, settings)
    written = write_and_show(report, settings)
    publish.publish(report, written, settings, os.environ)
    return exit_code(report, invalid_files=bool(loaded.invalid))


def _list(tasks: Sequence[Task], loaded: LoadedProject, settings: RunSettings) -> ExitCode:
    """Print the cases and the estimate; nothing is requested."""
    estimates = estimate_lines(_estimate(tasks, settings))
    click.echo(case_list.render(tasks, estimates, settings.trials), nl=False)
    return ExitCode.USAGE if loaded.invalid else ExitCode.OK


def _with_policy_facts(
    selection: Selection, loaded: LoadedProject, settings: RunSettings, today: date
) -> Selection:
    complete = not (settings.paths or settings.changed_since or loaded.invalid)
    return replace(
        selection,
        waivers=find_waivers(loaded, today, complete=complete),
        grading_changes=grading_changes_of(loaded, settings, os.environ),
    )


def _last_failed(selection: Selection, settings: RunSettings) -> Selection:
    if not settings.last_failed:
        return selection
    path = settings.output_dir / FILES["json"]
    last = set(failed(read_report(path).cases)) if path.exists() else None
    return choose_failed(selection, last, path.as_posix())


def _show_progress(line: str) -> None:
    click.echo(escape.log_line(line), err=True)


def _estimate(tasks: Sequence[Task], settings: RunSettings) -> Sequence[JudgeEstimate]:
    if _without_models(settings):
        return ()
    return estimate_cost(tasks, settings.trials, batched=settings.batch)


def _grade(
    tasks: Sequence[Task],
    context: RunContext,
    settings: RunSettings,
    further_trials: Callable[[CaseResult], int],
    base: BaseSide | NoBase | None,
    loaded: LoadedProject,
    watch: Watch,
) -> Outcome:
    """Grade the cases on both sides and show progress; return the finished ones if interrupted."""
    sides = base if not isinstance(base, BaseSide) else _sides(base, context, loaded, settings)
    lacking = _without_evaluators(tasks) if settings.require_rubrics else frozenset()
    # NOTE: a runner may provide a terminal; a bar before a workflow command would hide it.
    plain = publish.on_github(os.environ) or None
    with progress(len(tasks), plain=plain, quiet=settings.quiet) as advance:
        graded = partial(
            grade,
            tasks,
            context,
            concurrency=settings.requests.concurrency,
            on_result=lambda case: advance(_ended(case, lacking)),
            trials=settings.trials,
            batched=settings.batch and not _without_models(settings),
            stop_after=settings.max_failures,
        )
        grading = grade_watched(
            lambda moved: graded(further_trials=_none_further if moved else further_trials),
            watch,
            tasks,
            context,
        )
        outcome = asyncio.run(
            run_until_terminated(compare(sides, settings.against, tasks, grading))
        )
    return replace(outcome, results=tuple(_ended(case, lacking) for case in outcome.results))


def _watch(
    tasks: Sequence[Task],
    baseline: Baseline | None,
    loaded: LoadedProject,
    settings: RunSettings,
) -> Watch:
    """Return what to ask the judge for again: what the reference remembers, or new items."""
    needed = loaded.config.regression.reference_trials
    live = not (_without_models(settings) or settings.batch)
    judged = live and any(needs_judge(task.case) for task in tasks)
    remembered = baseline.report.sentinel if baseline and judged else None
    return Watch(
        remembered=remembered,
        measures=judged and remembered is None and settings.trials >= needed > 1,
        concurrency=settings.requests.concurrency,
    )


def _none_further(_: CaseResult) -> int:
    return 0


def _sides(
    base: BaseSide, context: RunContext, loaded: LoadedProject, settings: RunSettings
) -> Sides:
    def grade_again(
        tasks: Sequence[Task], context: RunContext, trials: int
    ) -> Awaitable[tuple[CaseResult, ...]]:
        concurrency = settings.requests.concurrency
        batched = settings.batch and not _without_models(settings)
        return grade(tasks, context, concurrency=concurrency, trials=trials, batched=batched)

    return Sides(
        base=base,
        context=context,
        grade=grade_again,
        trials=settings.trials,
        config=loaded.config.regression,
        can_ask=not _without_models(settings),
        fresh=settings.fresh,
    )


def _own_side(loaded: LoadedProject, settings: RunSettings) -> Side:
    """Return how the checkout answers: which answers are reused, and what they depend on."""
    written = (settings.output_dir, settings.cache.folder)
    outputs = [discovery.from_root(folder, loaded.root) for folder in written]
    return Side(
        reuse=settings.reuse_answers,
        dependencies=answer_dependencies.of_working_tree(loaded.root, outputs),
    )


def _without_evaluators(tasks: Sequence[Task]) -> frozenset[tuple[str, str]]:
    return frozenset((t.case.file, t.case.id) for t in tasks if not t.case.evaluators)


def _ended(case: CaseResult, lacking: frozenset[tuple[str, str]]) -> CaseResult:
    """Return the result; a skipped case is errored if it lacks required evaluators."""
    if not isinstance(case, Skipped) or (case.file, case.id) not in lacking:
        return case
    return Errored(
        file=case.file,
        line=case.line,
        id=case.id,
        reason=case.reason,
        why=case.why,
        question=case.question,
        expected_outcome=case.expected_outcome,
        change=case.change,
        change_reason=case.change_reason,
    )


def _further_trials(
    tasks: Sequence[Task],
    baseline: Baseline | None,
    loaded: LoadedProject,
    settings: RunSettings,
) -> Callable[[CaseResult], int]:
    """Return the number of further trials of a case; 0 unless the baseline is a reference."""
    config = loaded.config.regression
    if (
        baseline is None
        or _without_models(settings)
        or not (baseline.log or alarm_budget.pools_enough(baseline.report.cases, config))
    ):
        return lambda _: 0
    matched = counterparts(
        ((task.case.file, task.case.id) for task in tasks), baseline.report.cases
    )

    def further_trials(result: CaseResult) -> int:
        reference = matched.get((result.file, result.id))
        return alarm_budget.further_trials(result, reference, config, settings.tolerance)

    return further_trials


def _without_models(settings: RunSettings) -> bool:
    """Return True if no model request can be sent: replaying or offline."""
    return bool(settings.requests.replay) or settings.offline


def _cases_of_shard(
    selection: Selection, loaded: LoadedProject, settings: RunSettings
) -> tuple[ShardInfo | None, Sequence[tuple[EvalCase, str]]]:
    """Return the cases of this shard, or all of them."""
    if settings.shard is None:
        return None, selection.chosen
    index, count = settings.shard
    costs = [
        case_cost(case, choose_target(case, loaded.config_for(case.file), settings.target))
        for case, _ in selection.chosen
    ]
    positions = split(costs, count)[index - 1]
    shard = ShardInfo(index=index, count=count, positions=positions)
    return shard, [selection.chosen[position] for position in positions]


def _calibration_warnings(tasks: Sequence[Task], loaded: LoadedProject) -> Sequence[str]:
    """Check the calibration of the judges before any model request."""
    judges = (judge for task in tasks for judge, _ in judges_of(task.case, task.judge))
    return check_calibration(loaded, tuple(dict.fromkeys(judge_info(judge) for judge in judges)))
