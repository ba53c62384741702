"""The commands that bring what other eval tools have: `adopt`."""

from pathlib import Path
from typing import Any

import click

from rubric_ci.cli import options
from rubric_ci.cli.command import LINES, command, examples, option
from rubric_ci.model import defaults


@command(
    epilog=examples(
        "adopt results.json --from promptfoo                       their marks, our report",
        "adopt results.json --from promptfoo --baseline main.json  compared with a report",
    )
)
@click.argument("results", nargs=-1, required=True, type=LINES)
@option(
    "--from",
    "tool",
    type=click.Choice(defaults.ADOPTED_TOOLS),
    required=True,
    help="The tool that wrote the results.",
)
@option(
    "--grader",
    "graders",
    multiple=True,
    metavar="NAME",
    help="Only this assertion, metric or scorer decides; the others are shown; repeatable.",
)
@option(
    "--suite",
    metavar="NAME",
    default="",
    help="File or name that reports and waivers give the cases; default: from the results, else "
    "their path.",
)
@options.config
@options.policy_from
@options.fail_on("`gate.fail_on`, else fail")
@options.baseline
@options.outputs
@options.posting
def adopt(
    results: tuple[str, ...],
    tool: str,
    graders: tuple[str, ...],
    suite: str,
    **options: Any,
) -> None:
    """Make a report from the results of another eval tool.

    RESULTS are the files that the tool wrote. Marks, passes and errors are the tool's; gate,
    waivers, comparison, comment and history are those of rubric-ci.
    """
    from rubric_ci.commands.adopt import adopt as adopt_results
    from rubric_ci.model.options import AdoptSettings, RunSettings

    settings = AdoptSettings(
        results=tuple(map(Path, results)),
        tool=tool,
        graders=graders,
        suite=suite,
        report=RunSettings(**options),
    )
    raise SystemExit(adopt_results(settings))
