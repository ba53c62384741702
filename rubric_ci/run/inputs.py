"""What a run is graded with: the context of the checkout, its cache, and what it asks again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from rubric_ci.calibration.gate import check_calibration
from rubric_ci.comparison.reference import Baseline
from rubric_ci.grading.resolve import judge_info, judges_of
from rubric_ci.grading.setup import build_context, readable_cache, uses_cache
from rubric_ci.grading.task import Task
from rubric_ci.grading.tasks import build_tasks, with_waivers
from rubric_ci.llm.cache import Cache
from rubric_ci.model.context import RunContext, Side
from rubric_ci.model.options import CacheOptions, RunSettings
from rubric_ci.policy.checkout import allowed_hosts
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import LoadedProject
from rubric_ci.run.grade import RunInput, needs_fresh_judgements
from rubric_ci.selection import answer_dependencies
from rubric_ci.selection.compare_cases import Selection
from rubric_ci.text import escape


def open_inputs(
    loaded: LoadedProject,
    selection: Selection,
    settings: RunSettings,
    baseline: Baseline | None,
    *,
    environment: Mapping[str, str],
    plain: bool | None = None,
) -> RunInput:
    """Return what is graded; with `list_only` nothing can be requested and no folder is made."""
    tasks = with_waivers(build_tasks(selection.chosen, loaded, settings), selection.waivers)
    cache, unread = readable_cache(settings.requests, settings.cache, loaded.config, environment)
    notes: Sequence[str] = ()
    if settings.list_only:
        context = _listing_context(loaded, settings, cache, environment)
    else:
        notes = (*([unread] if unread else []), *_calibration_warnings(tasks, loaded))
        context = _context(loaded, settings, cache, environment)
    fresh = needs_fresh_judgements(settings, baseline, loaded.config)
    return RunInput(
        tasks=tasks,
        loaded=loaded,
        selection=replace(selection, notes=(*notes, *selection.notes)),
        settings=settings,
        baseline=baseline,
        context=replace(context, fresh_judgements=fresh),
        plain=plain,
    )


def _context(
    loaded: LoadedProject,
    settings: RunSettings,
    cache: CacheOptions,
    environment: Mapping[str, str],
) -> RunContext:
    """Return the context of the checkout."""
    context = build_context(
        loaded.root,
        loaded.config,
        settings.requests,
        environment,
        cache=cache,
        offline=settings.offline,
        batch=_show_progress if settings.batch else None,
        hosts=allowed_hosts(loaded, settings.requests.allowed_hosts, environment),
    )
    return replace(context, side=_own_side(loaded, settings))


def _listing_context(
    loaded: LoadedProject,
    settings: RunSettings,
    cache: CacheOptions,
    environment: Mapping[str, str],
) -> RunContext:
    offline, no_cache = replace(settings, offline=True), CacheOptions(enabled=False)
    context = _context(loaded, offline, no_cache, environment)
    if uses_cache(settings.requests, cache):
        return replace(context, cache=Cache(cache.folder, cache.seal))  # its folder is not created
    return context


def _own_side(loaded: LoadedProject, settings: RunSettings) -> Side:
    """Return how the checkout answers: which answers are reused, and what they depend on."""
    written = (settings.output_dir, settings.cache.folder)
    outputs = [discovery.from_root(folder, loaded.root) for folder in written]
    return Side(
        reuse=settings.reuse_answers,
        dependencies=answer_dependencies.of_working_tree(loaded.change, outputs),
    )


def _calibration_warnings(tasks: Sequence[Task], loaded: LoadedProject) -> Sequence[str]:
    """Check the calibration of the judges before any model request."""
    judges = (judge for task in tasks for judge, _ in judges_of(task.case, task.judge))
    return check_calibration(loaded, tuple(dict.fromkeys(judge_info(judge) for judge in judges)))


def _show_progress(line: str) -> None:
    click.echo(escape.log_line(line), err=True)
