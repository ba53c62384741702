"""This installation: schemas, pages, examples, models, its commit, and how an extra is added."""

import sys
from itertools import pairwise
from pathlib import Path, PurePath

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


def install_command(extra: str, prefix: str = sys.prefix) -> str:
    """Return the command that installs an extra where rubric-ci is installed."""
    package, folders = f"'rubric-ci[{extra}]'", PurePath(prefix.replace("\\", "/")).parts
    of_a_hook = ("prek", "hooks") in pairwise(folders)  # or of pre-commit's
    if of_a_hook or any(folder.startswith("py_env-") for folder in folders):
        packages = ", ".join(map(repr, _packages(extra)))
        return f"add `additional_dependencies: [{packages}]` to the hook"
    if ("uv", "tools") in pairwise(folders):
        return f"uv tool install {package}"
    if "pipx" in folders:
        return f"pipx install --force {package}"
    return f"pip install {package}"


def _packages(extra: str) -> list[str]:
    """Return the packages of an extra, with their versions."""
    from importlib.metadata import requires  # files are read without it

    listed = (each.partition(";") for each in requires("rubric-ci") or ())
    return [name.strip() for name, _, marker in listed if f"extra == '{extra}'" in marker]
