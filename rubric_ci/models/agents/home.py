"""The home folder of an agent program: its settings before it starts, its files afterwards."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from rubric_ci.models.agents.program import NO_FILES, Files, Start
from rubric_ci.system.file_io import read_end

_MOST_FILES: Final = 20  # of one glob
_MOST_BYTES: Final = 16 * 2**20


def furnished(start: Start, home: Path, login: Files = NO_FILES) -> Start:
    """Write settings and login into the home folder of a start, and return it with that folder."""
    own = start.at(str(home))
    for path, text in {**own.files, **login}.items():
        place = home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return own


def kept(home: Path, globs: Iterable[str]) -> Files:
    """Return the texts of the files that fit, of a large one its end; links are left out."""
    found: dict[str, str] = {}
    for glob in globs:
        for path in sorted(home.glob(glob))[:_MOST_FILES]:
            with suppress(OSError):
                data = read_end(path, _MOST_BYTES)
                found[path.relative_to(home).as_posix()] = data.decode("utf-8", "replace")
    return found
