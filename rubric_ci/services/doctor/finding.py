"""One check of a setup: ok, or what to do."""

from typing import NamedTuple


class Check(NamedTuple):
    """What was checked, and what was found or is to be done."""

    ok: bool
    about: str
    said: str
