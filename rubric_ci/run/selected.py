"""The selection of a run, complete: cases, shard, scope, waivers and changes to the grading."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from rubric_ci.grading.resolve import choose_target
from rubric_ci.grading_changes.changes import find_grading_changes
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import ShardInfo
from rubric_ci.model.scope import Narrowing
from rubric_ci.project.loaded_project import LoadedProject, show_problems
from rubric_ci.report.sharding import case_cost, split
from rubric_ci.selection import last_failed
from rubric_ci.selection.changed_cases import open_selected
from rubric_ci.selection.compare_cases import Selection
from rubric_ci.waivers.results import find_waivers


def select(
    settings: RunSettings, today: date, environment: Mapping[str, str]
) -> tuple[LoadedProject, Selection]:
    """Load the project, show its problems and choose what runs."""
    loaded, selection = open_selected(settings)
    show_problems(loaded.diagnostics)
    selection = replace(
        selection,
        waivers=find_waivers(loaded, today, complete=has_every_case(loaded, selection)),
        grading_changes=find_grading_changes(loaded),
    )
    if settings.last_failed:
        failed = last_failed.read(settings.output_dir, environment)
        selection = last_failed.choose_failed(selection, failed)
        if selection.nothing_to_run:
            return loaded, selection
    return loaded, _of_shard(selection, loaded, settings)


def has_every_case(loaded: LoadedProject, selection: Selection) -> bool:
    """Return True if all cases of the suite were read, whether or not they run."""
    return sum(len(file.cases) for file in loaded.files) == selection.scope.suite


def _of_shard(selection: Selection, loaded: LoadedProject, settings: RunSettings) -> Selection:
    """Leave only the cases of this shard."""
    if settings.shard is None:
        return selection
    index, count = settings.shard
    costs = [
        case_cost(case, choose_target(case, loaded.config_for(case.file), settings.target))
        for case, _ in selection.chosen
    ]
    positions = split(costs, count)[index - 1]
    chosen = tuple(selection.chosen[position] for position in positions)
    dropped: list[Narrowing] = ["shard"] * (len(chosen) < len(selection.chosen))
    return replace(
        selection,
        chosen=chosen,
        shard=ShardInfo(index=index, count=count, positions=positions),
        scope=selection.scope.narrowed(*dropped),
    )
