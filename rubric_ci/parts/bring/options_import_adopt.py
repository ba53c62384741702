"""The commands `import` and `adopt`: files and results of other eval tools."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from rubric_ci.cli import options
from rubric_ci.cli.click_types import FILE, LINES, Count, command, examples, option
from rubric_ci.values.formats_and_defaults import ADOPTED_TOOLS, MASKED_KINDS, TRACE_FORMATS

_traces = partial(option, heading="Traces")


@command(
    name="import",
    epilog=examples(
        "import promptfooconfig.yaml --output-dir evals",
        "import traces.jsonl --where tag=thumbs_down --sample 50   cases of recorded traces",
    ),
)
@click.argument("files", nargs=-1, required=True, type=FILE)
@option(
    "--output-dir",
    type=FILE,
    metavar="FOLDER",
    help="Folder for the eval files, their targets, answers and scripts; default: next to each "
    "file.",
)
@_traces(
    "--from",
    "form",
    type=click.Choice(TRACE_FORMATS),
    help="The format of the traces; default: the one that the first record shows. All FILES "
    "become one eval file.",
)
@_traces(
    "--where",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only traces with this fact: `=` and `!=` take `*`, `<` and `>` a number; repeatable.",
)
@_traces("--sample", type=Count(min=1), metavar="N", help="Number of cases, drawn at random.")
@_traces("--seed", default=0, metavar="N", help="Random seed of the draw.")
@_traces("--dedupe", is_flag=True, help="Only the first trace of each question.")
@_traces(
    "--mask",
    "kinds",
    metavar="KINDS",
    default="",
    help=f"Personal data to mask: {', '.join(MASKED_KINDS)}. Secrets always are.",
)
def import_files(
    files: tuple[Path, ...], output_dir: Path | None, form: str | None, kinds: str, **traces: Any
) -> None:
    """Write eval files from spreadsheets, other tools' files, and traces.

    FILES are of promptfoo, OpenAI Evals, GitHub Models (`.prompt.yml`), Agent Skills or AgentV,
    CSV tables, sheets (`cases.xlsx#Sheet`), golden sets in JSON or JSON Lines, or traces of
    OpenTelemetry, Langfuse, LangSmith, Phoenix or Braintrust. Parts without a counterpart are
    listed with their lines, and the exit code is 1.
    """
    from rubric_ci.parts.bring.import_files import ImportSettings
    from rubric_ci.parts.bring.import_files import import_files as import_all
    from rubric_ci.parts.bring.import_traces import TraceChoice

    choice = TraceChoice(form or "", **traces, mask=_masked_kinds(kinds))
    raise SystemExit(import_all(ImportSettings(files, output_dir, choice)))


def _masked_kinds(typed: str) -> tuple[str, ...]:
    """Return the kinds of a list with commas; raises BadParameter."""
    kinds = tuple(each.strip().upper() for each in typed.split(",") if each.strip())
    if unknown := [each for each in kinds if each not in MASKED_KINDS]:
        known = ", ".join(MASKED_KINDS)
        raise click.BadParameter(
            f"`{unknown[0]}` is not a kind; the kinds are {known}", param_hint="--mask"
        )
    return kinds


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
    type=click.Choice(ADOPTED_TOOLS),
    help="The tool that wrote the results; default: the one whose format they have.",
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
def adopt(results: tuple[str, ...], tool: str | None, **options: Any) -> None:
    """Make a report from the results of another eval tool.

    RESULTS are the files that the tool wrote. Marks, passes and errors are the tool's; gate,
    waivers, comparison, comment and history are rubric-ci's.
    """
    from rubric_ci.parts.bring.adopt import adopt as adopt_results
    from rubric_ci.values.command_settings import AdoptSettings, settings_of

    options |= {"results": tuple(map(Path, results)), "tool": tool or ""}
    raise SystemExit(adopt_results(settings_of(AdoptSettings, options)))
