"""`rubric-ci plan`: print the shard matrix for a GitHub Actions job."""

import json
import math
import os

import click

from rubric_ci.errors import ExitCode
from rubric_ci.files.project.loaded_project import show_problems
from rubric_ci.gate.selection.changed_cases import open_selected
from rubric_ci.services.publish.failure import end
from rubric_ci.services.publish.workflow import Workflow
from rubric_ci.values.command_settings import Models, PlanSettings, ReportOptions


def plan(settings: PlanSettings) -> ExitCode:
    """Print the matrix; on GitHub, set the outputs `matrix`, `shards` and `cases`."""
    loaded, selection = open_selected(settings.select, Models(), ReportOptions())
    show_problems(loaded.diagnostics)
    cases = len(selection.chosen)
    count = min(settings.max_shards, math.ceil(cases / settings.cases_per_shard))
    matrix = json.dumps({"shard": [f"{index}/{count}" for index in range(1, count + 1)]})
    click.echo(matrix)
    if workflow := Workflow.of(os.environ):
        workflow.set_outputs({"matrix": matrix, "shards": str(count), "cases": str(cases)})
    if loaded.invalid:
        return end(ExitCode.USAGE, loaded.problems, "plan", os.environ)
    return ExitCode.OK
