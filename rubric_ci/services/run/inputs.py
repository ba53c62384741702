"""The selection of a run, and what it is graded with: tasks, context and cache."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import click

from rubric_ci.files.project import working_tree
from rubric_ci.files.project.loaded_project import LoadedProject, show_problems
from rubric_ci.files.project.project import open_checkout
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.gate.grading_changes.all_changes import find_grading_changes, guess_notes
from rubric_ci.gate.policy.checkout import allowed_hosts
from rubric_ci.gate.policy.required_agreement import check_calibration
from rubric_ci.gate.selection import last_failed
from rubric_ci.gate.selection.affected_cases import Selection
from rubric_ci.gate.selection.changed_cases import open_selected
from rubric_ci.gate.waivers.matching import waivers_of
from rubric_ci.grading.case_choice import is_asked_for
from rubric_ci.grading.resolve import Task, judge_info, judges_of
from rubric_ci.grading.setup import build_context, readable_cache, uses_cache
from rubric_ci.grading.tasks import build_tasks, with_waivers
from rubric_ci.models.llm.cache_and_recording import Cache
from rubric_ci.services.run import sides
from rubric_ci.services.run.grade import RunInput, needs_fresh_judgements
from rubric_ci.text import escape
from rubric_ci.values.command_settings import (
    CacheOptions,
    RequestOptions,
    RunSettings,
    SelectOptions,
)
from rubric_ci.values.context import RunContext, Side
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.gate import FailOn, is_gating
from rubric_ci.values.report import ShardInfo
from rubric_ci.values.scope import Narrowing, UntrustedCaps
from rubric_ci.values.targets import RunnerTarget


def runner_of(config: Path | None, target: str) -> RunnerTarget | None:
    """Return the target of a run if it is another tool; None: cases come from eval files."""
    targets = open_checkout(config).policy_for("any").targets
    found = targets.get(target or "default")
    return found.tool if found else None


def select(
    settings: RunSettings,
    today: date,
    environment: Mapping[str, str],
    marked: Callable[[EvalCase], bool] = lambda _: True,
) -> tuple[LoadedProject, Selection]:
    """Load the project, show its problems and choose what runs.

    `marked` is true for cases that pytest's `-m` chooses.
    """
    loaded, selection = open_selected(settings.select, settings.models, settings.report)
    show_problems(loaded.diagnostics)
    asked_for = asked_by(settings.select, marked)
    selection = replace(
        selection,
        waivers=waivers_of(
            loaded.project, loaded.cases, today, complete=has_every_case(loaded, selection)
        ),
        notes=(*selection.notes, *guess_notes(loaded)),
        grading_changes=find_grading_changes(loaded, asked_for),
        none_decides=none_decides(loaded, settings.select, asked_for),
    )
    if settings.select.last_failed:
        failed = last_failed.read(settings.report.output_dir, environment)
        selection = last_failed.choose_failed(selection, failed)
        if selection.nothing_to_run:
            return loaded, selection
    selection = replace(selection, rows=len(selection.chosen))
    if settings.select.shard is None:
        return loaded, selection
    return loaded, _of_shard(selection, settings.select.shard, loaded.config.gate.fail_on)


def capped(requests: RequestOptions, caps: UntrustedCaps) -> RequestOptions:
    """Return the options of a run of a stranger's commit, with the lower cap on cost."""
    given, most = requests.max_cost_usd, caps.max_cost_usd
    return replace(requests, max_cost_usd=most if given is None else min(given, most))


def has_every_case(loaded: LoadedProject, selection: Selection) -> bool:
    """Return True if all cases of the suite were read, whether or not they run."""
    return sum(len(file.cases) for file in loaded.files) == selection.scope.suite


def _of_shard(selection: Selection, shard: tuple[int, int], fail_on: FailOn) -> Selection:
    """Return every N-th case, so that each shard has cases of every file."""
    index, count = shard
    positions = tuple(range(index - 1, len(selection.chosen), count))
    chosen = tuple(selection.chosen[position] for position in positions)
    dropped: list[Narrowing] = ["shard"] * (len(chosen) < len(selection.chosen))
    return replace(
        selection,
        chosen=chosen,
        shard=ShardInfo(index=index, count=count, positions=positions, fail_on=fail_on),
        scope=selection.scope.narrowed(*dropped),
    )


def open_inputs(
    loaded: LoadedProject,
    selection: Selection,
    settings: RunSettings,
    baseline: Baseline | None,
    *,
    environment: Mapping[str, str],
    plain: bool | None = None,
) -> RunInput:
    """Return the input of grading; `list_only` requests nothing and makes no folder."""
    models, requests = settings.models, settings.requests
    tasks = build_tasks(selection.chosen, loaded, models, requests, selection.not_gradable)
    tasks = with_waivers(tasks, selection.waivers)
    cache, unread = readable_cache(requests, settings.cache, loaded.config, environment)
    notes: Sequence[str] = ()
    sends, keeps = requests, cache
    if requests.list_only:
        sends, keeps = replace(requests, offline=True), replace(cache, enabled=False)
    else:
        notes = (*([unread] if unread else []), *_calibration_warnings(tasks, loaded))
    context = _context(loaded, sends, keeps, settings.report.output_dir, environment)
    if requests.list_only and uses_cache(requests, cache):  # its folder is not created
        context = replace(context, cache=Cache(cache.folder, cache.seal))
    fresh = needs_fresh_judgements(settings, baseline)
    compared = bool(settings.select.against or settings.report.baseline)
    return RunInput(
        tasks=tasks,
        loaded=loaded,
        selection=replace(selection, notes=(*notes, *selection.notes)),
        settings=settings,
        baseline=baseline,
        context=replace(
            context, fresh_judgements=fresh, variants=compared and loaded.config.regression.variants
        ),
        plain=plain,
    )


def _context(
    loaded: LoadedProject,
    requests: RequestOptions,
    cache: CacheOptions,
    output_dir: Path,
    environment: Mapping[str, str],
) -> RunContext:
    context = build_context(
        loaded.root,
        loaded.config,
        requests,
        environment,
        cache=cache,
        batch=_show_progress if requests.batch else None,
        hosts=allowed_hosts(loaded, requests.allowed_hosts, environment),
    )
    outputs = [working_tree.from_root(folder, loaded.root) for folder in (output_dir, cache.folder)]
    side = Side(
        reuse=cache.reuse_answers, dependencies=sides.checkout_dependencies(loaded.change, outputs)
    )
    services = context.services and context.services.logging_to(output_dir)
    return replace(context, side=side, services=services)


def _calibration_warnings(tasks: Sequence[Task], loaded: LoadedProject) -> Sequence[str]:
    """Check the calibration of the judges before any model request."""
    every = [pair for task in tasks for pair in judges_of(task.case, task.judge)]
    judges = {id(judge): judge for judge, _ in every}.values()  # most cases have the same one
    about_work = any(isinstance(spec, RubricSpec) and spec.is_about_work for _, spec in every)
    infos = tuple(dict.fromkeys(map(judge_info, judges)))
    return check_calibration(loaded, infos, about_work=about_work)


def _show_progress(line: str) -> None:
    click.echo(escape.log_line(line), err=True)


def asked_by(
    options: SelectOptions, marked: Callable[[EvalCase], bool] = lambda _: True
) -> Callable[[EvalCase], bool]:
    """Return a predicate of the cases that --tag chooses; `marked`: and those of pytest.

    A case that another id or place would choose is told as removed.
    """

    def asked_for(case: EvalCase) -> bool:
        return is_asked_for(case, ids=(), tags=options.tags) and marked(case)

    return asked_for


def none_decides(
    loaded: LoadedProject, options: SelectOptions, asked_for: Callable[[EvalCase], bool]
) -> bool:
    """Return True if no case decides, of the whole suite or where the base had one that did.

    A part of the suite that a person runs need not have a case that decides.
    """
    gate = loaded.config.gate
    if not (gate.tags or gate.not_tags or gate.targets) or loaded.unread or loaded.invalid:
        return False

    def decide(cases: Sequence[EvalCase]) -> bool:
        return any(is_gating(case, gate) and asked_for(case) for case in cases)

    if not loaded.cases or decide(loaded.cases):
        return False
    narrowed = (options.paths, options.places, options.cases)
    base = loaded.change.grading
    whole = not any(narrowed) and all(map(asked_for, loaded.cases))
    return whole or (base is not None and decide(loaded.at_base(base).cases))
