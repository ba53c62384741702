"""Options that several commands share: what is selected, judge, gate and policy."""

from functools import partial
from typing import TYPE_CHECKING

import click

from rubric_ci.cli import completion
from rubric_ci.cli.command import FILE, LINES, Decorator, bundle, option

if TYPE_CHECKING:
    from rubric_ci.model.config import FailOn

paths = click.argument("paths", nargs=-1, type=LINES)

select = partial(option, heading="Select")
judging = partial(option, heading="Judge")
gate = partial(option, heading="Gate")
comparing = partial(option, heading="Compare")
policy = partial(option, heading="Policy")

config = select(
    "--config",
    type=FILE,
    metavar="FILE",
    help="Configuration file to use instead of rubric-ci.yaml.",
)

policy_from = policy(
    "--policy-from",
    metavar="base|head|FILE",
    default="",
    show_default="base on a pull request in CI, else head",
    help="Source of judge, gate, rule switches and calibration: the base commit, the checkout, or "
    "a configuration file.",
)

cases = select(
    "--case",
    "cases",
    multiple=True,
    type=LINES,
    metavar="GLOB",
    shell_complete=completion.case_ids,
    help="Only cases whose id matches; repeatable.",
)

selection = bundle(
    cases,
    select(
        "--tag",
        "tags",
        multiple=True,
        type=LINES,
        metavar="TAG",
        shell_complete=completion.tags,
        help="Only cases with this tag; repeatable.",
    ),
    select(
        "--changed-since",
        metavar="REV",
        default="",
        help="Only cases that a change since this revision can affect; `auto` takes the revision "
        "from the event or the branch.",
    ),
)

judge = judging(
    "--judge",
    default="",
    metavar="MODEL",
    help="Use this model (or target's model) as judge everywhere; overrides eval files and "
    "configuration, also their host and key.",
)


def _read_fail_on(_: click.Context, __: click.Parameter, value: str | None) -> "FailOn | None":
    from rubric_ci.model.config import FailOn

    return FailOn(value) if value else None


def fail_on(default: str) -> Decorator:
    """Return `--fail-on`; `default` describes the value that applies without it."""
    return gate(
        "--fail-on",
        type=click.Choice(["fail", "borderline", "regression", "never"]),
        callback=_read_fail_on,
        show_default=default,
        help="Least severe verdict that fails the gate, or `regression`: what the change broke.",
    )


baseline = comparing(
    "--baseline",
    type=FILE,
    metavar="FILE",
    help="Compare with this report, or with the pooled reports of a folder. If it does not "
    "exist, the report says so and the run continues.",
)
