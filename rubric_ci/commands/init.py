"""`rubric-ci init`: the files that a project begins with, and nothing that it had is lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Final

import click

from rubric_ci.errors import CannotWriteFile, ExitCode
from rubric_ci.model.options import InitSettings
from rubric_ci.project.discovery import write_text
from rubric_ci.project.file_names import CONFIG_NAMES
from rubric_ci.system import resources

_NEXT: Final = """\
Next: `rubric-ci validate` checks the files offline. Set OPENAI_API_KEY (or another model in
rubric-ci.yaml), and `rubric-ci run` grades the cases.
In the workflow, put the commit of a release of rubric-ci in place of the zeros.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One file of the scaffold."""

    path: str  # in the project
    source: str  # in the scaffold
    shared: bool = False  # others have a say in it: what is ours is shown, it is never overwritten


_FILES: Final = (
    _File(path="rubric-ci.yaml", source="scaffold/rubric-ci.yaml"),
    _File(path="evals/example.eval.yaml", source="scaffold/evals/example.eval.yaml"),
    _File(path=".github/workflows/evals.yml", source="workflows/validate.yml"),
    _File(path=".pre-commit-config.yaml", source="scaffold/pre-commit-config.yaml", shared=True),
    _File(path=".gitignore", source="scaffold/gitignore", shared=True),
)


def init(settings: InitSettings) -> ExitCode:
    """Write what is missing, say what was kept."""
    for file in _FILES:
        for line in _settle(file, settings):
            click.echo(line)
    click.echo(f"\n{_NEXT}", nl=False)
    return ExitCode.OK


def _settle(file: _File, settings: InitSettings) -> Iterator[str]:
    """Write the file or leave it, and say so."""
    text = resources.read_example(file.source)
    present = _present(file, settings.folder)
    if present is None or (settings.force and not file.shared):
        _write(present or settings.folder / file.path, text)
        yield f"wrote {file.path if present is None else _name(present, settings.folder)}"
    elif not file.shared:
        yield f"kept {_name(present, settings.folder)}: it is there already (--force overwrites it)"
    elif _lacks(present, text):
        yield f"kept {file.path}: it is there already; it should hold"
        yield indent(text.rstrip("\n"), "    ")
    else:
        yield f"kept {file.path}: it holds what it should"


def _present(file: _File, folder: Path) -> Path | None:
    """Return the file if the project has it; a configuration may have either suffix."""
    names = CONFIG_NAMES if file.path in CONFIG_NAMES else (file.path,)
    return next((folder / name for name in names if (folder / name).exists()), None)


def _lacks(path: Path, text: str) -> bool:
    """Tell whether a line of the text is not in the file."""
    try:
        lines = {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}
    except (OSError, UnicodeDecodeError):
        return True
    return any(line.strip() not in lines for line in text.splitlines() if "rubric-ci" in line)


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise CannotWriteFile(
            f"{path}: cannot write the file: {error.strerror}",
            "name a folder that you may write to",
        ) from error


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
