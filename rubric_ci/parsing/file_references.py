"""The files that a case refers to, collected as they are looked up."""

import shlex
from posixpath import join

from rubric_ci.model.references import Found, Lookup


class UsedFiles:
    """Looks up references and collects the paths that were found."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self._paths: dict[str, None] = {}

    def read(self, reference: str) -> Found:
        """Return a file that the checks found."""
        found = self.lookup(reference)
        if not isinstance(found, Found):
            raise TypeError(f"{reference} was found by the checks: {found.reason}")
        self._paths[found.path] = None
        return found

    def note_script(self, script: str | list[str], cwd: str) -> None:
        """Collect the words of a command that name files."""
        for word in _words(script):
            if "/" in word or "." in word:
                found = self.lookup(join(cwd, word))
                if isinstance(found, Found):
                    self._paths[found.path] = None

    def paths(self) -> tuple[str, ...]:
        """Return every path once, in the order of the file."""
        return tuple(self._paths)


def _words(script: str | list[str]) -> list[str]:
    if not isinstance(script, str):
        return script
    try:
        return shlex.split(script)
    except ValueError:  # quotes that only a shell understands
        return script.split()
