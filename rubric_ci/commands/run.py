"""`rubric-ci run`: grade cases, write and publish the report."""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from time import monotonic

import click

from rubric_ci.calibration.gate import check_calibration
from rubric_ci.calibration.whole_suite import with_correction
from rubric_ci.comparison.baseline import open_baseline, with_comparison
from rubric_ci.comparison.reference import Baseline
from rubric_ci.errors import ExitCode, UserError
from rubric_ci.grading.cost_estimate import (
    JudgeEstimate,
    estimate_cost,
    estimate_lines,
    show_estimate,
    total,
)
from rubric_ci.grading.expected_work import ExpectedWork
from rubric_ci.grading.preflight import models_to_ask
from rubric_ci.grading.resolve import choose_target, judge_info, judges_of
from rubric_ci.grading.setup import build_context, readable_cache, uses_cache
from rubric_ci.grading.task import Task
from rubric_ci.grading.tasks import build_tasks, with_waivers
from rubric_ci.grading_changes.changes import find_grading_changes
from rubric_ci.history.forecast import show_power
from rubric_ci.llm.cache import Cache
from rubric_ci.model.context import RunContext, Side
from rubric_ci.model.options import CacheOptions, RunSettings
from rubric_ci.model.report import RunReport, ShardInfo, totals
from rubric_ci.model.scope import Narrowing
from rubric_ci.policy.checkout import allowed_hosts
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import LoadedProject, show_problems
from rubric_ci.publish import delivery, failure
from rubric_ci.publish.files import check_folder, write_and_show
from rubric_ci.publish.workflow import Workflow
from rubric_ci.report.build import build_report
from rubric_ci.report.exit_code import exit_code
from rubric_ci.report.redaction import without_secrets
from rubric_ci.report.sharding import case_cost, split
from rubric_ci.run import listing
from rubric_ci.run.grade import (
    GradedRun,
    RunInput,
    expected_work,
    grade_run,
    needs_fresh_judgements,
    open_sides,
    without_models,
)
from rubric_ci.selection import answer_dependencies, last_failed
from rubric_ci.selection.changed_cases import open_selected
from rubric_ci.selection.compare_cases import Selection
from rubric_ci.system import masking
from rubric_ci.text import escape
from rubric_ci.waivers.results import find_waivers


def run(settings: RunSettings) -> ExitCode:
    """Load, grade, write, publish; return the exit code of the report.

    An error of the setup is shown on the pull request before it ends the command.
    """
    workflow = Workflow.of(os.environ, settings.annotations)
    try:
        return _run(settings, workflow)
    except UserError as error:
        failure.publish_failure(error, settings, workflow)
        raise


def _run(settings: RunSettings, workflow: Workflow | None) -> ExitCode:
    started_at, clock = datetime.now(UTC), monotonic()
    loaded, selection = _select(settings, started_at.date(), workflow)
    if settings.last_failed:
        failed = last_failed.read(settings.output_dir, os.environ)
        selection = last_failed.choose_failed(selection, failed)
        if why := last_failed.nothing_to_run(selection, failed):
            click.echo(why)
            return ExitCode.USAGE if loaded.invalid else ExitCode.OK
    baseline = open_baseline(settings)
    selection, shard = _shard(selection, loaded, settings)
    tasks = with_waivers(build_tasks(selection.chosen, loaded, settings), selection.waivers)
    if settings.list_only:
        return _list(tasks, loaded, settings, baseline, now=started_at)
    selection, context = _set_up(selection, tasks, loaded, settings)
    check_folder(settings)
    # NOTE: a runner may provide a terminal; a bar before a workflow command would hide it.
    plain = True if workflow else None
    inputs = _inputs(tasks, loaded, settings, baseline, context, plain=plain)
    with open_sides(inputs) as sides:
        work = expected_work(inputs, sides)
        estimate = _show_forecast(inputs, work)
        graded = grade_run(inputs, sides, models_to_ask(work))
    report = build_report(
        loaded,
        tasks,
        graded.outcome.results,
        settings,
        selection=selection,
        shard=shard,
        started_at=started_at,
        seconds=monotonic() - clock,
    )
    report = _with_facts(replace(report, forecast=total(estimate)), inputs, graded)
    _remember(graded, loaded, selection, settings)
    written = write_and_show(report, settings)
    delivery.publish(report, written, settings, os.environ)
    return exit_code(report, invalid_files=bool(loaded.invalid))


def _remember(
    graded: GradedRun, loaded: LoadedProject, selection: Selection, settings: RunSettings
) -> None:
    """Remember which cases did not pass, for --last-failed."""
    every = {(case.file, case.id) for file in loaded.files for case in file.cases}
    suite = every if len(every) == selection.scope.suite else None
    last_failed.remember(settings.output_dir, graded.outcome.results, suite)


def _select(
    settings: RunSettings, today: date, workflow: Workflow | None
) -> tuple[LoadedProject, Selection]:
    """Load the project, choose its cases and show its problems."""
    loaded, selection = open_selected(settings)
    selection = _with_policy_facts(selection, loaded, settings, today)
    show_problems(loaded.diagnostics)
    failure.annotate_problems(loaded.diagnostics, workflow)
    return loaded, selection


def _set_up(
    selection: Selection, tasks: Sequence[Task], loaded: LoadedProject, settings: RunSettings
) -> tuple[Selection, RunContext]:
    """Return the context of the head, and the selection with notes on cache and calibration."""
    cache, unread = readable_cache(settings.requests, settings.cache, loaded.config, os.environ)
    notes = (*([unread] if unread else []), *_calibration_warnings(tasks, loaded))
    context = _context(loaded, settings, cache)
    return replace(selection, notes=(*notes, *selection.notes)), context


def _context(loaded: LoadedProject, settings: RunSettings, cache: CacheOptions) -> RunContext:
    """Return the context of the head."""
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
    return replace(context, side=_own_side(loaded, settings))


def _inputs(
    tasks: Sequence[Task],
    loaded: LoadedProject,
    settings: RunSettings,
    baseline: Baseline | None,
    context: RunContext,
    *,
    plain: bool | None = None,
) -> RunInput:
    """Return what is graded, without the cache of judgements where it may not be used."""
    fresh = needs_fresh_judgements(settings, baseline, loaded.config)
    return RunInput(
        tasks=tasks,
        loaded=loaded,
        settings=settings,
        baseline=baseline,
        context=replace(context, fresh_judgements=fresh),
        plain=plain,
    )


def _show_forecast(inputs: RunInput, work: Sequence[ExpectedWork]) -> Sequence[JudgeEstimate]:
    """Show what the run may cost and detect, and return the estimate of its cost."""
    estimate = _estimate(work, inputs.settings)
    show_estimate(estimate)
    if estimate and len(inputs.tasks) > 1:
        clusters = [task.cluster for task in inputs.tasks]
        trials = min(task.trials(inputs.settings.trials) for task in inputs.tasks)
        show_power(clusters, inputs.baseline, os.environ, trials=trials)
    return estimate


def _with_facts(report: RunReport, inputs: RunInput, graded: GradedRun) -> RunReport:
    """Add what is known after grading, remove secrets, and compare with the baseline."""
    outcome = graded.outcome
    report = replace(
        report,
        notes=(*report.notes, *inputs.context.notes),
        responders=inputs.context.responders(),
        against=outcome.against,
        removed=outcome.removed,
        sentinel=graded.sentinel,
        preflight=graded.preflight,
        totals=totals(report.cases, graded.preflight),
    )
    report = without_secrets(report, masking.redactor())
    report = with_correction(report, inputs.loaded)
    return with_comparison(report, inputs.baseline, inputs.settings, os.environ)


def _list(
    tasks: Sequence[Task],
    loaded: LoadedProject,
    settings: RunSettings,
    baseline: Baseline | None,
    *,
    now: datetime,
) -> ExitCode:
    """Print the cases and the estimate; nothing is requested."""
    context = _context(loaded, replace(settings, offline=True), CacheOptions(enabled=False))
    options, _ = readable_cache(settings.requests, settings.cache, loaded.config, os.environ)
    if uses_cache(settings.requests, options):
        cache = Cache(options.folder, options.seal)  # its folder is not created
        context = replace(context, cache=cache)
    inputs = _inputs(tasks, loaded, settings, baseline, context)
    with open_sides(inputs) as sides:
        work = expected_work(inputs, sides)
        estimates = estimate_lines(_estimate(work, settings))
        click.echo(listing.render(work, sides, estimates, now), nl=False)
    return ExitCode.USAGE if loaded.invalid else ExitCode.OK


def _with_policy_facts(
    selection: Selection, loaded: LoadedProject, settings: RunSettings, today: date
) -> Selection:
    complete = not (settings.paths or settings.changed_since or loaded.invalid)
    return replace(
        selection,
        waivers=find_waivers(loaded, today, complete=complete),
        grading_changes=find_grading_changes(loaded),
    )


def _show_progress(line: str) -> None:
    click.echo(escape.log_line(line), err=True)


def _estimate(work: Sequence[ExpectedWork], settings: RunSettings) -> Sequence[JudgeEstimate]:
    return () if without_models(settings) else estimate_cost(work, batched=settings.batch)


def _own_side(loaded: LoadedProject, settings: RunSettings) -> Side:
    """Return how the checkout answers: which answers are reused, and what they depend on."""
    written = (settings.output_dir, settings.cache.folder)
    outputs = [discovery.from_root(folder, loaded.root) for folder in written]
    return Side(
        reuse=settings.reuse_answers,
        dependencies=answer_dependencies.of_working_tree(loaded.change, outputs),
    )


def _shard(
    selection: Selection, loaded: LoadedProject, settings: RunSettings
) -> tuple[Selection, ShardInfo | None]:
    """Leave only the cases of this shard."""
    if settings.shard is None:
        return selection, None
    index, count = settings.shard
    costs = [
        case_cost(case, choose_target(case, loaded.config_for(case.file), settings.target))
        for case, _ in selection.chosen
    ]
    positions = split(costs, count)[index - 1]
    shard = ShardInfo(index=index, count=count, positions=positions)
    chosen = tuple(selection.chosen[position] for position in positions)
    dropped: list[Narrowing] = ["shard"] * (len(chosen) < len(selection.chosen))
    scope = selection.scope.narrowed(*dropped)
    return replace(selection, chosen=chosen, scope=scope), shard


def _calibration_warnings(tasks: Sequence[Task], loaded: LoadedProject) -> Sequence[str]:
    """Check the calibration of the judges before any model request."""
    judges = (judge for task in tasks for judge, _ in judges_of(task.case, task.judge))
    return check_calibration(loaded, tuple(dict.fromkeys(judge_info(judge) for judge in judges)))
