"""The command `waive`."""

from datetime import UTC, datetime
from typing import Any

import click

from rubric_ci.cli import options
from rubric_ci.cli.command import command, examples, option


@command(
    epilog=examples("waive refund/period --until 2026-12-31 --reason 'index is rebuilt in #123'")
)
@click.argument("what", metavar="CASE/CRITERION")
@option(
    "--until",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    required=True,
    help="Last day of the waiver, such as 2026-12-31.",
)
@option("--reason", metavar="WORDS", required=True, help="Reason that reports show.")
@option("--owner", metavar="NAME", default="", help="Who fixes it; default: `user.email` of git.")
@option("--file", metavar="FILE", default="", help="Eval file, if several have this case.")
@options.config
def waive(until: datetime, **options: Any) -> None:
    """Add a known failure of one criterion to waivers.yaml.

    The waiver excuses the criterion with its present text, until a date.
    """
    from rubric_ci.commands.waive import waive as add_waiver
    from rubric_ci.model.options import WaiveSettings

    settings = WaiveSettings(until=until.date(), **options)
    raise SystemExit(add_waiver(settings, datetime.now(UTC).date()))
