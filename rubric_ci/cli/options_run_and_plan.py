"""The commands `run` and `plan`, which select cases by the same options."""

import os
from math import ceil
from typing import Any, Final

import click

from rubric_ci.cli import completion_and_hints, options
from rubric_ci.cli.click_types import Count, command, examples, help_all, option
from rubric_ci.system.actions_runner import in_a_job


def _read_shard(_: click.Context, __: click.Parameter, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    index, slash, count = text.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise click.BadParameter(f"invalid shard `{text}`: expected I/N, such as 2/4")
    return int(index), int(count)


_trials = options.judging(
    "--trials",
    type=Count(min=1),
    metavar="N",
    default=1,
    help="Number of times each case is answered and graded.",
)


_FIRST: Final = (
    *("cases", "tags", "changed_since", "last_failed", "list_only", "targets"),
    *("judge", "votes", "trials", "against", "baseline", "fail_on"),
    *("stop_first", "max_cost_usd", "reuse", "reports", "verbose"),
)
"""The options of `run` that a week needs."""


@command(
    first=_FIRST,
    epilog=examples(
        "run                              all cases",
        "run evals/ --case 'refund*'      some cases",
        "run --changed-since origin/main  cases that the branch can affect",
        "run --baseline main.json         all cases, compared with a report",
    ),
)
@options.paths
@options.config
@options.policy_from
@options.selection
@options.select(
    "--lf",
    "--last-failed",
    "last_failed",
    is_flag=True,
    help="Only cases that did not pass when they ran last.",
)
@options.select(
    "--list",
    "list_only",
    is_flag=True,
    help="Print cases, targets, and the estimated requests and cost; request nothing.",
)
@options.select(
    "--target",
    "targets",
    metavar="NAME",
    multiple=True,
    shell_complete=completion_and_hints.targets,
    help="Target of every case, not its own (repeatable).",
)
@options.policy(
    "--untrusted",
    metavar="REV",
    default="",
    hidden=True,  # the text above the options names it
    help="Grade this commit of a stranger: its texts as git objects, and scripts, configuration "
    "and everything else of the checkout, which must be the base branch.",
)
@options.select(
    "--shard",
    callback=_read_shard,
    metavar="I/N",
    help="Run one of N shards; `rubric-ci report merge` combines the reports.",
)
@options.judge
@options.votes
@_trials
@options.comparing(
    "--against",
    metavar="REV|auto",
    default="",
    help="Also grade this revision, with the judge and rubrics of the checkout, and report what "
    "the change broke; `auto` takes the revision from the event or the branch.",
)
@options.fail_on("`gate.fail_on`, else fail")
@options.baseline
@options.limits(
    "-x",
    "--exitfirst",
    "stop_first",
    is_flag=True,
    help="Stop at the first case that fails or has no verdict, as with --max-failures 1.",
)
@options.limits(
    "--max-failures",
    type=Count(min=1),
    metavar="N",
    help="Stop after this many cases that fail or have no verdict; the rest is not run.",
)
@options.requests
@options.requesting(
    "--offline",
    is_flag=True,
    help="Send no model requests and start no command targets; skip cases whose answer or "
    "mark is neither cached nor recorded.",
)
@options.requesting(
    "--batch",
    is_flag=True,
    variable="RUBRIC_CI_BATCH",
    help="Send model requests in batches: cheaper, but replies can take up to a day.",
)
@options.cache
@options.caching(
    "--reuse",
    type=click.Choice(["answers", "marks", "nothing"]),
    show_default="marks, and answers of --against",
    metavar="answers|marks|nothing",
    help="What to take from the cache where nothing changed: answers and marks, so that a "
    "repeated run has the same verdict; marks alone; or nothing.",
)
@options.outputs
@options.posting
@help_all(help="Show every option, of limits, requests, shards and strangers as well.")
def run(stop_first: bool, **options: Any) -> Any:
    """Grade cases, report the verdicts, and fail if the gate fails.

    PATHS are eval files, folders or globs, FILE::CASE or FILE:LINE; default: `evals` of the
    configuration.

    --untrusted REV grades a stranger's commit on the checkout of the base branch: its texts are
    read as git objects, and none of it is run or configures anything.
    """
    reuse = options.pop("reuse")
    # To see an answer at a desk, it is not asked for again.
    shows = options["verbose"] and not in_a_job(os.environ)
    options["reuse_answers"] = reuse == "answers" or (not reuse and shows)
    options["fresh"] = reuse in ("marks", "nothing")
    options["enabled"] &= reuse != "nothing"
    if stop_first and options["max_failures"]:
        raise click.UsageError("-x is --max-failures 1; use one of them")
    if stop_first:
        options["max_failures"] = 1
    if options["untrusted"]:
        _check_untrusted(options)
    from rubric_ci.values.command_settings import RunSettings, settings_of

    # One target is `target`, several are `targets`.
    if len(given := tuple(dict.fromkeys(options["targets"]))) < 2:
        options |= {"target": "".join(given), "targets": ()}
    settings = settings_of(RunSettings, _with_places(options))
    if click.get_current_context().obj is SETTINGS_ONLY:
        return settings
    from rubric_ci.cli.commands.run import run as run_evals

    raise SystemExit(run_evals(settings))


def _check_untrusted(options: dict[str, Any]) -> None:
    """Raise UsageError for an option that reads another state than --untrusted allows."""
    if options["shard"]:
        raise click.UsageError(
            "--untrusted and --shard exclude each other: the caps hold for one run"
        )
    names = ("policy_from", "changed_since", "against", "last_failed")
    for name in filter(options.get, names):
        option = f"--{name.replace('_', '-')}"
        raise click.UsageError(
            f"--untrusted and {option} exclude each other: the commit is compared with the "
            "checkout, whose policy holds"
        )


SETTINGS_ONLY: Final = object()
"""The object of a context in which `run` returns its settings and grades nothing."""


def _with_places(options: dict[str, Any]) -> dict[str, Any]:
    from rubric_ci.values.scope import read_places

    paths, places = read_places(options["paths"])
    return {**options, "paths": paths, "places": places}


@command()
@options.paths
@options.config
@options.policy_from
@options.selection
@option(
    "--cases-per-shard",
    type=Count(min=1),
    metavar="N",
    default=25,
    heading="Shards",
    help="Target number of cases per shard.",
)
@option(
    "--max-shards",
    type=Count(min=1),
    metavar="N",
    default=8,
    heading="Shards",
    help="Maximum number of shards.",
)
def plan(**options: Any) -> None:
    """Print the shard matrix for a GitHub Actions job.

    PATHS and options select cases as in `run`; pass the same to both.
    """
    import json

    from rubric_ci.errors import ExitCode
    from rubric_ci.files.project.loaded_project import show_problems
    from rubric_ci.gate.selection.changed_cases import open_selected
    from rubric_ci.services.publish_workflow import Workflow, end
    from rubric_ci.values.command_settings import Models, PlanSettings, ReportOptions, settings_of

    settings = settings_of(PlanSettings, _with_places(options))
    loaded, selection = open_selected(settings.select, Models(), ReportOptions())
    show_problems(loaded.diagnostics)
    cases = len(selection.chosen)
    count = min(settings.max_shards, ceil(cases / settings.cases_per_shard))
    matrix = json.dumps({"shard": [f"{index}/{count}" for index in range(1, count + 1)]})
    click.echo(matrix)
    if workflow := Workflow.of(os.environ):  # the outputs of the job
        workflow.set_outputs({"matrix": matrix, "shards": str(count), "cases": str(cases)})
    if loaded.invalid:
        raise SystemExit(end(ExitCode.USAGE, loaded.problems, "plan", os.environ))
    raise SystemExit(ExitCode.OK)
