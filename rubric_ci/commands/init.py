"""`rubric-ci init`: create starter files; existing files are kept."""

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
In the workflow, replace the zeros with the commit of a rubric-ci release.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One file of the scaffold."""

    path: str  # in the project
    source: str  # in the scaffold
    shared: bool = False  # also edited by others: never overwritten; missing lines are shown


_FILES: Final = (
    _File(path="rubric-ci.yaml", source="scaffold/rubric-ci.yaml"),
    _File(path="evals/example.eval.yaml", source="scaffold/evals/example.eval.yaml"),
    _File(path=".github/workflows/evals.yml", source="workflows/validate.yml"),
    _File(path=".pre-commit-config.yaml", source="scaffold/pre-commit-config.yaml", shared=True),
    _File(path=".gitignore", source="scaffold/gitignore", shared=True),
)


def init(settings: InitSettings) -> ExitCode:
    """Write the files that are missing and print what was written or kept."""
    for file in _FILES:
        for line in _create(file, settings):
            click.echo(line)
    click.echo(f"\n{_NEXT}", nl=False)
    return ExitCode.OK


def _create(file: _File, settings: InitSettings) -> Iterator[str]:
    """Write the file or keep it; yield lines about it."""
    text = resources.read_example(file.source)
    existing = _existing(file, settings.folder)
    if existing is None or (settings.force and not file.shared):
        _write(existing or settings.folder / file.path, text)
        yield f"wrote {file.path if existing is None else _name(existing, settings.folder)}"
    elif not file.shared:
        yield f"kept {_name(existing, settings.folder)}: it exists (--force overwrites it)"
    elif _is_incomplete(existing, text):
        yield f"kept {file.path}: check that it contains:"
        yield indent(text.rstrip("\n"), "    ")
    else:
        yield f"kept {file.path}: it contains the rubric-ci lines already"


def _existing(file: _File, folder: Path) -> Path | None:
    """Return the file if the project has it; a configuration may have either suffix."""
    names = CONFIG_NAMES if file.path in CONFIG_NAMES else (file.path,)
    return next((folder / name for name in names if (folder / name).exists()), None)


def _is_incomplete(path: Path, text: str) -> bool:
    """Return True if a rubric-ci line of the text is missing in the file."""
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
            "choose a folder that you can write to",
        ) from error


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
