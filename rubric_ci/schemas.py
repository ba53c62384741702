"""The JSON Schemas that ship with the package."""

from pathlib import Path

_INSTALLED = Path(__file__).with_name("_schemas")
_CHECKOUT = Path(__file__).parents[1] / "schemas"


def read(name: str) -> str:
    """Return the text of `schemas/<name>.schema.json`.

    NOTE: an editable install does not carry `_schemas/`; the checkout's own folder serves then.
    """
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return (folder / f"{name}.schema.json").read_text(encoding="utf-8")
