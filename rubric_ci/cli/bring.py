"""The commands that bring what other eval tools have: `import` and `adopt`."""

from pathlib import Path
from typing import Any

import click

from rubric_ci.cli import options
from rubric_ci.cli.command import FILE, LINES, command, examples, option
from rubric_ci.model import defaults


@command(name="import", epilog=examples("import promptfooconfig.yaml --output-dir evals"))
@click.argument("files", nargs=-1, required=True, type=FILE)
@option(
    "--output-dir",
    type=FILE,
    metavar="FOLDER",
    help="Folder for the eval files, their targets and scripts; default: beside each file.",
)
def import_files(files: tuple[Path, ...], output_dir: Path | None) -> None:
    """Write eval files from files of other tools.

    FILES are of promptfoo, OpenAI Evals, GitHub Models (`.prompt.yml`), Agent Skills or AgentV, or
    CSV tables. What has no counterpart is listed with its line, and the exit code is 1.
    """
    from rubric_ci.commands.import_files import ImportSettings
    from rubric_ci.commands.import_files import import_files as import_all

    raise SystemExit(import_all(ImportSettings(files, output_dir)))


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
