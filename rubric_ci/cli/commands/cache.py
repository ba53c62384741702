"""`rubric-ci cache`: show the size of the cache and prune it."""

import os
import sys

from rubric_ci.errors import ExitCode
from rubric_ci.grading.setup import why_unread
from rubric_ci.models.llm.cache_and_recording import ALL, ANSWER, DAY, Cache, CacheStats
from rubric_ci.text import escape
from rubric_ci.text.numbers import plural
from rubric_ci.values.command_settings import CacheSettings

MEGABYTE = 1_000_000
_WORDS = {"": "judge request", ANSWER: "answer"}


def cache(settings: CacheSettings) -> ExitCode:
    """Delete the selected entries, then print what was removed and what is left."""
    store = Cache(settings.folder)
    removed = _prune(store, settings)
    lines = [f"{settings.folder}: {_size(store.stats())}"]
    if removed is not None:
        lines.insert(0, f"removed {_size(removed)}")
    lines.append(why_unread(settings.folder, os.environ))
    sys.stdout.write("\n".join(map(escape.log_line, filter(None, lines))) + "\n")
    return ExitCode.OK


def _prune(store: Cache, settings: CacheSettings) -> CacheStats | None:
    if settings.clear:
        return store.prune(unused_for=ALL)
    if settings.unused_days is None:
        return None
    return store.prune(unused_for=settings.unused_days * DAY)


def _size(stats: CacheStats) -> str:
    known = ", ".join(
        plural(stats.kinds[kind], word)
        for kind, word in _WORDS.items()
        if stats.kinds[kind] or not kind
    )
    return f"{known}, {stats.size / MEGABYTE:.1f} MB"
