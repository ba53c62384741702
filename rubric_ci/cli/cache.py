"""The command `cache`."""

from pathlib import Path
from typing import Any

import click

from rubric_ci.cli.command import command, option, workflow
from rubric_ci.model import defaults


@command()
@workflow(
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
