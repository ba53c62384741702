"""Every command but `validate`, which starts without them: words from outside become Settings."""

import os
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from rubric_ci import options
from rubric_ci.options import LINES, REPORTS, Command

_command = partial(click.command, cls=Command)


class _Group(click.Group):
    command_class = Command


@_command()
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option("--target", default="", help="Ask this target, whatever the eval files say.")
@click.option("--judge", default="", help="Mark with this model, or with this target's model.")
@click.option(
    "--case", "cases", multiple=True, type=LINES, help="Grade cases whose id matches this glob."
)
@click.option("--tag", "tags", multiple=True, type=LINES, help="Grade cases that carry this tag.")
@click.option(
    "--changed-since",
    metavar="REV",
    default="",
    help="Grade the cases that differ from this revision; auto takes it from the event or branch.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["fail", "borderline", "never"]),
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
    help="Ask the judge so often: an odd number, or auto.",
)
@options.caps
@options.remembering
@options.color
@options.posting
def run(fail_on: str | None, paths: tuple[str, ...], reports: str, **options: Any) -> None:
    """Grade cases, explain their verdicts, and hold the gate.

    PATHS are eval files, folders or globs; without any, the globs of rubric-ci.yaml.
    """
    from rubric_ci.commands.run import run as grade
    from rubric_ci.model.config import FailOn
    from rubric_ci.model.settings import RunSettings

    settings = RunSettings(
        paths=paths,
        reports=_names(reports, REPORTS),
        fail_on=FailOn(fail_on) if fail_on else None,
        **options,
    )
    raise SystemExit(grade(settings))


@_command()
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option(
    "--case", "cases", multiple=True, type=LINES, help="Count cases whose id matches this glob."
)
@click.option("--tag", "tags", multiple=True, type=LINES, help="Count cases that carry this tag.")
@click.option(
    "--changed-since",
    metavar="REV",
    default="",
    help="Count the cases that differ from this revision; auto takes it from the event or branch.",
)
@click.option(
    "--cases-per-shard", type=click.IntRange(min=1), default=25, help="About so many in each."
)
@click.option("--max-shards", type=click.IntRange(min=1), default=8, help="No more than these.")
def plan(cases_per_shard: int, max_shards: int, **options: Any) -> None:
    """Print the matrix of a workflow: how many shards the chosen cases are worth.

    PATHS and options choose cases as they do for `run`; give both the same.
    """
    from rubric_ci.commands.plan import plan as count
    from rubric_ci.model.settings import PlanSettings, RunSettings

    chosen = RunSettings(**options)
    settings = PlanSettings(run=chosen, cases_per_shard=cases_per_shard, max_shards=max_shards)
    raise SystemExit(count(settings))


@_command()
@click.argument("parts", nargs=-1, required=True, type=LINES)
@options.outputs
@click.option(
    "--fail-on",
    type=click.Choice(["fail", "borderline", "never"]),
    help="The least bad verdict that fails the gate; else that of the shards.",
)
@options.against_a_baseline
@options.color
@options.posting
def merge(parts: tuple[str, ...], reports: str, fail_on: str | None, **options: Any) -> None:
    """Put the reports of shards together, as if they had been one run.

    PARTS are their report.json files, or folders that are searched for such files.
    """
    from rubric_ci.commands.merge import merge_reports
    from rubric_ci.model.config import FailOn
    from rubric_ci.model.settings import RunSettings

    settings = RunSettings(
        reports=_names(reports, REPORTS),
        fail_on=FailOn(fail_on) if fail_on else None,
        **options,
    )
    raise SystemExit(merge_reports([Path(part) for part in parts], settings))


@_command()
@click.argument("baseline", type=click.Path(path_type=Path))
@click.argument("head", type=click.Path(path_type=Path))
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=0.05,
    help="A score may fall so far before that is a regression.",
)
@click.option("--format", type=click.Choice(["text", "markdown", "json"]), default="text")
@click.option(
    "--issue",
    default="",
    metavar="TITLE",
    help="In a workflow: keep one issue of this title open while it is red, best effort.",
)
def compare(**options: Any) -> None:
    """Tell what is worse in the report HEAD than in the report BASELINE, beyond noise.

    Exits with 1 on a regression, with 3 where a case has no verdict any more.
    """
    from rubric_ci.commands.compare import compare_reports
    from rubric_ci.model.settings import CompareSettings

    raise SystemExit(compare_reports(CompareSettings(**options)))


@_command("judge-check")
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option("--judge", default="", help="Check this model, or this target's model.")
@click.option("--max-moved", type=click.IntRange(min=0), default=0, help="How many marks may move.")
@options.concurrency
@options.recording
def judge_check(paths: tuple[str, ...], **options: Any) -> None:
    """Put a corpus of attacks to the judge and count the marks that move.

    PATHS are eval files whose cases carry answers; without any, the corpus that is shipped.
    """
    from rubric_ci.commands.judge_check import judge_check as check
    from rubric_ci.model.settings import JudgeCheckSettings

    raise SystemExit(check(JudgeCheckSettings(paths=paths, **options)))


@_command()
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    default=Path(".rubric-ci/report.json"),
    help="The report whose answers are marked.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    default=Path("labels.jsonl"),
    help="Where the marks are kept.",
)
def label(**options: Any) -> None:
    """Mark the answers of a report yourself, criterion by criterion.

    Stop at any time with q; the same command goes on where you stopped.
    """
    from rubric_ci.commands.label import label as mark
    from rubric_ci.model.settings import LabelSettings

    raise SystemExit(mark(LabelSettings(**options)))


@_command()
@click.argument("labels", type=click.Path(path_type=Path))
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option("--judge", default="", help="Measure this model, or this target's model.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Instead of calibration.json at the repository root.",
)
@click.option(
    "--both-modes", is_flag=True, help="Ask batched and isolated, and compare; costs twice."
)
@click.option("--seed", default=0, help="Of the resampling behind the intervals.")
@options.concurrency
@options.recording
def calibrate(**options: Any) -> None:
    """Measure how far the judge agrees with the LABELS of a person.

    LABELS is the file that `rubric-ci label` writes; PATHS are the eval files, by default those
    that it names.
    """
    from rubric_ci.commands.calibrate import calibrate_judge
    from rubric_ci.model.settings import CalibrateSettings

    raise SystemExit(calibrate_judge(CalibrateSettings(**options)))


@click.group(cls=_Group)
def generate() -> None:
    """Draft what eval files lack."""


@generate.command()
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option("--target", default="", help="Draft with this target's model; else with the judge.")
@click.option(
    "--case", "cases", multiple=True, type=LINES, help="Draft for cases whose id matches this glob."
)
@click.option(
    "--kind",
    type=click.Choice(["checklist", "score-range", "levels", "auto"]),
    default="checklist",
    help="The kind of criteria.",
)
@click.option("--check", is_flag=True, help="Let the judge mark reference answers by the drafts.")
@click.option("--diff", is_flag=True, help="Print what would change, and change nothing.")
@click.option("--interactive", is_flag=True, help="Accept, edit or drop each draft.")
@click.option("--commit", is_flag=True, help="Make one commit of the changed files.")
@click.option("--fixup", default="", metavar="REV", help="Make it a fix-up of this commit.")
@click.option(
    "--pr",
    is_flag=True,
    help="In a workflow run: commit to the pull request's branch, else open a pull request.",
)
@options.concurrency
@options.recording
@options.caps
@options.remembering
def rubrics(paths: tuple[str, ...], **options: Any) -> None:
    """Draft rubrics for the cases that have an expected outcome and none, in place.

    PATHS are eval files, folders or globs; without any, the globs of rubric-ci.yaml.
    """
    from rubric_ci.commands.generate import generate_rubrics
    from rubric_ci.model.settings import GenerateSettings

    if options["diff"] and (options["commit"] or options["fixup"] or options["pr"]):
        raise click.UsageError("--diff changes nothing, so there is nothing to commit")
    if options["fixup"] and options["pr"]:
        raise click.UsageError("--fixup is for a branch of one's own: leave out --pr")
    raise SystemExit(generate_rubrics(GenerateSettings(paths=paths, **options)))


@_command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--force", is_flag=True, help="Overwrite files of ours that are there already.")
def init(folder: Path, force: bool) -> None:
    """Begin a project: configuration, an example, a workflow, a pre-commit hook.

    FOLDER is the root of the repository. Nothing that is there is overwritten.
    """
    from rubric_ci.commands.init import init as begin
    from rubric_ci.model.settings import InitSettings

    raise SystemExit(begin(InitSettings(folder=folder, force=force)))


@_command()
@click.argument("report", type=click.Path(path_type=Path), default=Path(".rubric-ci/report.json"))
@click.option(
    "--mode",
    type=click.Choice(["update", "new", "on-failure", "off"]),
    default="update",
    help="Keep one comment, add one, or begin one only when the gate fails.",
)
@click.option("--key", default="default", help="Tells several comments of ours apart.")
@click.option("--check-run", "check", default="", metavar="NAME", help="Write a check run as well.")
@click.option("--repository", default="", help="owner/name, outside of a workflow.")
@click.option("--pull-request", type=click.IntRange(min=1), help="Number, outside of its events.")
def comment(**options: Any) -> None:
    """Show a report on its pull request.

    REPORT is the report.json of a run; GITHUB_TOKEN must be set.
    """
    from rubric_ci.commands.comment import comment as post
    from rubric_ci.model.settings import CommentSettings

    raise SystemExit(post(CommentSettings(**options), os.environ))


@_command()
@click.option(
    "--cache-dir",
    "folder",
    type=click.Path(path_type=Path),
    default=options.CACHE_DIR,
    help="Where judgements are kept.",
)
@click.option(
    "--unused-days", type=click.FloatRange(min=0), help="Forget what was not used for so long."
)
@click.option(
    "--max-megabytes",
    type=click.FloatRange(min=0),
    help="Forget the longest unused, down to this size.",
)
@click.option("--clear", is_flag=True, help="Forget everything.")
def cache(**options: Any) -> None:
    """Tell how many judgements are kept, and forget some of them."""
    from rubric_ci.commands.cache import cache as tell
    from rubric_ci.model.settings import CacheSettings

    raise SystemExit(tell(CacheSettings(**options)))


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


COMMANDS: Final = (
    run,
    plan,
    merge,
    compare,
    judge_check,
    label,
    calibrate,
    init,
    comment,
    cache,
    generate,
)
