"""Data files of the package: JSON Schemas, parts of pages, files of a new project, models."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def read_schema(name: str) -> str:
    """Return the text of `schemas/<name>.schema.json`."""
    return _read_resource("_schemas", "schemas", f"{name}.schema.json")


def read_example(name: str) -> str:
    """Return the text of a file below `examples/`, such as "scaffold/rubric-ci.yaml"."""
    return _read_resource("_scaffold", "examples", name)


def read_page_part(name: str) -> str:
    """Return the text of a style sheet or script of the HTML pages, such as "page.css"."""
    return (_PACKAGE / "reports" / "html" / name).read_text(encoding="utf-8")


def read_model_list() -> str:
    """Return the text of the list of models: JSON with one model a line."""
    return (_PACKAGE / "system" / "models.json").read_text(encoding="utf-8")


def released_commit() -> str:
    """Return the commit that this package was built from; "" in a checkout."""
    path = _PACKAGE / "COMMIT"  # `make dist` writes it
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _read_resource(installed: str, checkout: str, name: str) -> str:
    """Read from the wheel's folder, else from the checkout's.

    NOTE: an editable install does not carry the folders that the wheel adds.
    """
    folder = _PACKAGE / installed
    folder = folder if folder.is_dir() else _PACKAGE.parent / checkout
    return (folder / name).read_text(encoding="utf-8")
