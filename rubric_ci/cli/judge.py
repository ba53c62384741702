"""Commands about the judge: how well it marks, who labels, what it remembers."""

from pathlib import Path
from typing import Any, Final

import click

from rubric_ci.cli import options
from rubric_ci.cli.options import LINES, command


@command("judge-check")
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@options.judge
@click.option("--max-moved", type=click.IntRange(min=0), default=0, help="How many marks may move.")
@options.concurrency
@options.recording
@options.caps
def judge_check(paths: tuple[str, ...], **options: Any) -> None:
    """Put attacks to the judge and count the marks that move.

    PATHS are eval files whose cases carry answers; without any, the corpus that is shipped.
    """
    from rubric_ci.commands.judge_check import judge_check as check
    from rubric_ci.model.options import JudgeCheckSettings

    raise SystemExit(check(JudgeCheckSettings(paths=paths, **options)))


@command()
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default=Path(".rubric-ci/report.json"),
    help="The report whose answers are marked.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default=Path("labels.jsonl"),
    help="Where the marks are kept.",
)
def label(**options: Any) -> None:
    """Mark the answers of a report yourself.

    One criterion at a time, in the terminal. Stop with q; the same command goes on where you were.
    """
    from rubric_ci.commands.label import label as mark
    from rubric_ci.model.options import LabelSettings

    raise SystemExit(mark(LabelSettings(**options)))


@command()
@click.argument("labels", type=click.Path(path_type=Path))
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@options.judge
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write this in place of calibration.json at the root of the repository.",
)
@click.option(
    "--both-modes", is_flag=True, help="Ask batched and isolated, and compare; costs twice."
)
@click.option("--seed", default=0, help="Of the resampling behind the intervals.")
@options.concurrency
@options.recording
@options.caps
def calibrate(**options: Any) -> None:
    """Measure how far the judge agrees with a person.

    LABELS is the file that `rubric-ci label` writes; PATHS are the eval files, by default those
    that it names.
    """
    from rubric_ci.commands.calibrate import calibrate_judge
    from rubric_ci.model.options import CalibrateSettings

    raise SystemExit(calibrate_judge(CalibrateSettings(**options)))


@command()
@click.option(
    "--cache-dir",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
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
    from rubric_ci.model.options import CacheSettings

    raise SystemExit(tell(CacheSettings(**options)))


COMMANDS: Final = (judge_check, label, calibrate, cache)
