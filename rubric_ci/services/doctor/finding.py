"""One check of a setup: ok, or what to do."""

from typing import NamedTuple


class Check(NamedTuple):
    """The subject of a check, and its finding or the step to do."""

    ok: bool
    about: str
    said: str
