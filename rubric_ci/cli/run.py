"""Commands that grade: a whole run, its parts, and how the parts come together."""

from pathlib import Path
from typing import Any, Final

import click

from rubric_ci.cli import options
from rubric_ci.cli.options import LINES, REPORTS, command


@command(
    epilog=options.examples(
        "run                              every case",
        "run evals/ --case 'refund*'      some cases",
        "run --changed-since origin/main  what the branch can affect",
        "run --baseline main.json         and what got worse",
    )
)
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option(
    "--target", metavar="NAME", default="", help="Ask this target, whatever the eval files say."
)
@options.judge
@options.choosing
@click.option(
    "--fail-on",
    type=click.Choice(["fail", "borderline", "never"]),
    show_default="`gate.fail_on`, else fail",
    help="The least bad verdict that fails the gate.",
)
@click.option("--require-rubrics", is_flag=True, help="A case with nothing to grade is an error.")
@options.against_a_baseline
@click.option(
    "--trials", type=click.IntRange(min=1), default=1, help="Answer and grade each case N times."
)
@click.option(
    "--shard",
    callback=lambda _, __, value: _shard(value),
    metavar="I/N",
    help="Grade one part of N; `rubric-ci merge` puts the reports together.",
)
@options.concurrency
@options.outputs
@options.recording
@click.option(
    "--batch",
    is_flag=True,
    help="Send requests to models in batches: cheaper, and up to a day later.",
)
@click.option(
    "--offline", is_flag=True, help="Ask no model: skip what is neither cached nor recorded."
)
@click.option(
    "--votes",
    callback=lambda _, __, value: _votes(value),
    metavar="N|auto",
    show_default="`judge.votes`, else 1",
    help="Ask the judge so often: an odd number, or `auto`, where it can change the verdict.",
)
@options.caps
@options.remembering
@options.color
@options.posting
def run(fail_on: str | None, paths: tuple[str, ...], reports: str, **options: Any) -> None:
    """Grade cases, explain their verdicts, and hold the gate.

    PATHS are eval files, folders or globs; without any, what `evals` configures.
    """
    from rubric_ci.commands.run import run as grade
    from rubric_ci.model.config import FailOn
    from rubric_ci.model.options import RunSettings

    settings = RunSettings(
        paths=paths,
        reports=_names(reports, REPORTS),
        fail_on=FailOn(fail_on) if fail_on else None,
        **options,
    )
    raise SystemExit(grade(settings))


@command()
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@options.choosing
@click.option(
    "--cases-per-shard", type=click.IntRange(min=1), default=25, help="About so many in each."
)
@click.option("--max-shards", type=click.IntRange(min=1), default=8, help="No more than these.")
def plan(cases_per_shard: int, max_shards: int, **options: Any) -> None:
    """Print how many shards the cases are worth, as a matrix.

    PATHS and options choose cases as they do for `run`; give both the same.
    """
    from rubric_ci.commands.plan import plan as count
    from rubric_ci.model.options import PlanSettings, RunSettings

    chosen = RunSettings(**options)
    settings = PlanSettings(run=chosen, cases_per_shard=cases_per_shard, max_shards=max_shards)
    raise SystemExit(count(settings))


@command()
@click.argument("parts", nargs=-1, required=True, type=LINES)
@options.outputs
@click.option(
    "--fail-on",
    type=click.Choice(["fail", "borderline", "never"]),
    show_default="that of the shards",
    help="The least bad verdict that fails the gate.",
)
@options.against_a_baseline
@options.color
@options.posting
def merge(parts: tuple[str, ...], reports: str, fail_on: str | None, **options: Any) -> None:
    """Put the reports of shards together as one run.

    PARTS are their report.json files, or folders that are searched for such files.
    """
    from rubric_ci.commands.merge import merge_reports
    from rubric_ci.model.config import FailOn
    from rubric_ci.model.options import RunSettings

    settings = RunSettings(
        reports=_names(reports, REPORTS),
        fail_on=FailOn(fail_on) if fail_on else None,
        **options,
    )
    raise SystemExit(merge_reports([Path(part) for part in parts], settings))


def _votes(value: str | None) -> int | str | None:
    """Read an odd number, so that there is a majority, or `auto`."""
    if value is None or value == "auto":
        return value
    if value.isdecimal() and int(value) % 2:
        return int(value)
    raise click.BadParameter(f"`{value}` is neither an odd number nor auto")


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    index, slash, count = text.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise click.BadParameter(f"`{text}` is no part of a whole, such as 2/4")
    return int(index), int(count)


def _names(text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.replace("\n", ",").split(",") if name.strip())
    for name in names:
        if name not in known:
            raise click.BadParameter(
                f"`{name}` is none of {', '.join(known)}", param_hint="--reports"
            )
    return names


COMMANDS: Final = (run, plan, merge)
