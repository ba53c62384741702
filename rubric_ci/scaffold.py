"""The files that a new project begins with; they ship with the package."""

from pathlib import Path

_INSTALLED = Path(__file__).with_name("_scaffold")
_CHECKOUT = Path(__file__).parents[1] / "examples"


def read(name: str) -> str:
    """Return the text of a file below `examples/`, such as "scaffold/rubric-ci.yaml".

    NOTE: an editable install does not carry `_scaffold/`; the checkout's own folder serves then.
    """
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return (folder / name).read_text(encoding="utf-8")
