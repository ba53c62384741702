"""The commands about the judge: `judge-check`, `rejudge`, `label`, `calibrate` and `cache`."""

from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from rubric_ci.cli import options, request_options
from rubric_ci.cli.command import FILE, command, option
from rubric_ci.model import defaults

_calibration = partial(option, heading="Calibration")


def _read_sample(_: click.Context, __: click.Parameter, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    passes, plus, fails = text.partition("+")
    if not (plus and passes.isdecimal() and fails.isdecimal() and int(passes) + int(fails)):
        raise click.BadParameter(f"invalid sample `{text}`: expected P+F, such as 20+20")
    return int(passes), int(fails)


@command("judge-check")
@options.paths
@options.config
@options.policy_from
@options.judge
@options.judging(
    "--max-moved",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Number of changed marks that is still accepted.",
)
@request_options.requests
def judge_check(**options: Any) -> None:
    """Count the marks that change under prompt-injection attacks.

    PATHS are eval files whose cases carry answers; default: the built-in corpus.
    """
    from rubric_ci.commands.judge_check import judge_check as check
    from rubric_ci.model.options import JudgeCheckSettings

    raise SystemExit(check(JudgeCheckSettings(**options)))


@command()
@click.argument("report", type=FILE, default=defaults.REFERENCE)
@options.config
@options.policy_from
@options.judge
@request_options.requests
def rejudge(**options: Any) -> None:
    """Mark the answers of a reference with the judge of today.

    REPORT is a report.json, or the folder of a reference, and is written again. No target is asked
    for an answer, and no judgement is taken from the cache.
    """
    from rubric_ci.commands.rejudge import rejudge_report
    from rubric_ci.model.options import RejudgeSettings

    raise SystemExit(rejudge_report(RejudgeSettings(**options)))


@command()
@options.paths
@options.config
@option(
    "--report",
    type=FILE,
    metavar="FILE",
    default=defaults.REPORT,
    help="Report whose answers are marked.",
)
@option(
    "--labels",
    type=FILE,
    metavar="FILE",
    default=defaults.LABELS,
    help="File that the marks are written to.",
)
@option(
    "--sample",
    metavar="P+F",
    callback=_read_sample,
    help="Draw P answers at random that the judge passes and F that it fails, such as 20+20; "
    "default: every answer.",
)
@option("--seed", default=0, metavar="N", help="Random seed of the draw.")
@option("--by", default="", metavar="NAME", help="Who labels, if several people do.")
@option(
    "--split",
    type=click.Choice(["test", "tune"]),
    show_default="test",
    help="Purpose of new labels: to test the judge, or to choose its model and prompt.",
)
def label(**options: Any) -> None:
    """Mark the answers of a report yourself.

    One criterion at a time, in the terminal. Press q to stop; run the same command again to
    continue.
    """
    from rubric_ci.commands.label import label as label_answers
    from rubric_ci.model.options import LabelSettings

    raise SystemExit(label_answers(LabelSettings(**options)))


@command()
@click.argument("labels", type=FILE)
@options.paths
@options.config
@options.policy_from
@options.judge
@_calibration(
    "--output",
    type=FILE,
    metavar="FILE",
    help="File to write instead of calibration.json at the root of the repository.",
)
@_calibration(
    "--both-modes",
    is_flag=True,
    help="Compare the modes batched and isolated; doubles the cost.",
)
@_calibration(
    "--variants",
    is_flag=True,
    help="Also measure the judge without each choice of its prompt: tie rule, evidence first, 0 to "
    "10 for ranges, and the other mode; multiplies the cost by five.",
)
@_calibration(
    "--split",
    type=click.Choice(["test", "tune"]),
    default="test",
    help="Labels to measure: those that test the judge, or those that chose its model and prompt "
    "(writes no calibration.json).",
)
@_calibration("--seed", default=0, metavar="N", help="Random seed for the confidence intervals.")
@request_options.requests
def calibrate(**options: Any) -> None:
    """Measure the agreement between the judge and a person.

    LABELS is the file that `rubric-ci label` writes. PATHS are the eval files; default: those that
    LABELS names.
    """
    from rubric_ci.commands.calibrate import calibrate_judge
    from rubric_ci.model.options import CalibrateSettings

    raise SystemExit(calibrate_judge(CalibrateSettings(**options)))


@command()
@option(
    "--cache-dir",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    default=defaults.CACHE_DIR,
    help="Folder of the judgement cache.",
)
@option(
    "--unused-days",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="Delete entries unused for this many days.",
)
@option(
    "--max-megabytes",
    type=click.FloatRange(min=0),
    metavar="MB",
    help="Delete least recently used entries until the cache is this small.",
)
@option("--clear", is_flag=True, help="Delete all entries.")
def cache(**options: Any) -> None:
    """Show the size of the judgement cache and prune it."""
    from rubric_ci.commands.cache import cache as prune_and_show
    from rubric_ci.model.options import CacheSettings

    raise SystemExit(prune_and_show(CacheSettings(**options)))


COMMANDS: Final = (judge_check, rejudge, label, calibrate, cache)
