"""`rubric-ci plan`: print the shard matrix for a GitHub Actions job."""

import json
import math
import os

import click

from rubric_ci.errors import ExitCode
from rubric_ci.files.project.loaded_project import LoadedProject, show_problems
from rubric_ci.gate.comparison.baseline_files import open_baseline
from rubric_ci.gate.selection.changed_cases import open_selected
from rubric_ci.gate.selection.compare_cases import Selection
from rubric_ci.grading.resolve import choose_cluster
from rubric_ci.parts.lab.history.detectable_drop import show_needed
from rubric_ci.services.publish.failure import end
from rubric_ci.services.publish.workflow import Workflow
from rubric_ci.values.command_settings import PlanSettings


def plan(settings: PlanSettings) -> ExitCode:
    """Print the matrix; on GitHub, set the outputs `matrix`, `shards` and `cases`."""
    loaded, selection = open_selected(settings.run)
    show_problems(loaded.diagnostics)
    cases = len(selection.chosen)
    count = min(settings.max_shards, math.ceil(cases / settings.cases_per_shard))
    matrix = json.dumps({"shard": [f"{index}/{count}" for index in range(1, count + 1)]})
    click.echo(matrix)
    if settings.detect is not None:
        show_needed(
            settings.detect,
            _clusters(selection, loaded),
            open_baseline(settings.run),
            os.environ,
            trials=settings.run.trials,
        )
    if workflow := Workflow.of(os.environ):
        workflow.set_outputs({"matrix": matrix, "shards": str(count), "cases": str(cases)})
    if loaded.invalid:
        return end(ExitCode.USAGE, loaded.problems, "plan", os.environ)
    return ExitCode.OK


def _clusters(selection: Selection, loaded: LoadedProject) -> list[str]:
    return [
        choose_cluster(case, loaded.config_for(case.file).regression.cluster)
        for case, _ in selection.chosen
    ]
