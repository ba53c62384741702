"""`rubric-ci init`: create starter files; existing files are kept."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Final

import click

from rubric_ci import __version__
from rubric_ci.editing.yaml_layout import last_line_break
from rubric_ci.errors import CannotReadFile, CannotWriteFile, ExitCode
from rubric_ci.model.options import InitSettings
from rubric_ci.model.scaffold import PROVIDERS, Provider, TargetKind
from rubric_ci.project.discovery import read_text, write_text
from rubric_ci.project.file_names import CONFIG_NAMES
from rubric_ci.system import resources

_OFFLINE: Final = "rubric-ci run --target recorded --replay evals/example.replay.jsonl"
_FIRST: Final = PROVIDERS["openai"]  # the provider of the scaffold's files
_KEY_LINE: Final = re.compile(rf"^.*{_FIRST.key}.*\n", re.MULTILINE)
_SECRETS: Final = re.compile(r"^    secrets:\n(?:      .*\n)+", re.MULTILINE)
_CAP: Final = re.compile(r'max-cost-usd: "\d+"')
_PIN: Final = re.compile(r"@[0-9a-f]{40} # .*")  # of a workflow of ours, as examples have it
_CAPS: Final = "A pull request may cost $5, a night $20 (max-cost-usd).\n"
_MODEL_TARGET: Final = f"""\
  # A model answers.
  - name: default
    model: {_FIRST.model}
    api_key: ${{{{ OPENAI_API_KEY }}}}
"""
_TARGETS: Final[dict[TargetKind, str]] = {
    "model": _MODEL_TARGET,
    "command": """\
  # Your own program answers; a change to the files of depends_on selects its cases.
  - name: default
    provider: cli
    command_template: "python3 agent.py --prompt {PROMPT}"
    timeout_seconds: 120
    env: [OPENAI_API_KEY] # the program gets no other key
    depends_on: [agent.py]
""",
    "recorded": """\
  # Answers kept in a file, one line per case.
  - name: default
    provider: recorded
    answers: evals/example.answers.jsonl
""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One file of the scaffold."""

    path: str  # in the project
    source: str  # in the scaffold
    shared: bool = False  # also edited by others: never overwritten
    appended: bool = False  # shared, and missing lines are appended
    only: TargetKind | None = None  # written for this kind of target only


_FILES: Final = (
    _File(path="rubric-ci.yaml", source="scaffold/rubric-ci.yaml"),
    _File(path="evals/example.eval.yaml", source="scaffold/evals/example.eval.yaml"),
    _File(path="evals/example.answers.jsonl", source="scaffold/evals/example.answers.jsonl"),
    _File(path="evals/example.replay.jsonl", source="scaffold/evals/example.replay.jsonl"),
    _File(path="agent.py", source="scaffold/agent.py", only="command"),
    *(
        _File(path=f".github/workflows/evals-{name}.yml", source=f"workflows/evals-{name}.yml")
        for name in ("validate", "gate", "default-branch", "nightly")
    ),
    _File(path=".pre-commit-config.yaml", source="scaffold/pre-commit-config.yaml", shared=True),
    _File(path=".gitignore", source="scaffold/gitignore", shared=True, appended=True),
)


def init(settings: InitSettings) -> ExitCode:
    """Write the files that are missing and print what was written or kept."""
    for file in _FILES:
        if file.only in {None, settings.target}:
            for line in _create(file, settings):
                click.echo(line)
    click.echo(f"\n{_next(PROVIDERS[settings.provider], settings.target)}", nl=False)
    return ExitCode.OK


def _next(provider: Provider, target: TargetKind) -> str:
    """Return the next three commands."""
    key = f"export {provider.key}=... && " if provider.key else ""
    grades = {"model": "asks the model", "command": "runs agent.py", "recorded": "needs a judge"}
    return f"""\
Next:
  rubric-ci validate    # offline
  {_OFFLINE}    # offline
  {key}rubric-ci run    # {grades[target]}
{_CAPS if provider.priced else ""}The first night answers and judges every case 15 times; \
`rubric-ci run --trials 15 --list` shows its cost.
"""


def _create(file: _File, settings: InitSettings) -> Iterator[str]:
    """Write the file or keep it; yield lines about it."""
    text = _text(file, settings)
    existing = _existing(file, settings.folder)
    if existing is None or (settings.force and not file.shared):
        _write(existing or settings.folder / file.path, text)
        yield f"wrote {file.path if existing is None else _name(existing, settings.folder)}"
    elif not file.shared:
        yield f"kept {_name(existing, settings.folder)}: it exists (--force overwrites it)"
    elif not _is_incomplete(existing, text):
        yield f"kept {file.path}: it contains the rubric-ci lines already"
    elif file.appended:
        _append(existing, text)
        yield f"appended to {file.path}: {', '.join(text.split())}"
    else:
        yield f"kept {file.path}: check that it contains:"
        yield indent(text.rstrip("\n"), "    ")


def _text(file: _File, settings: InitSettings) -> str:
    """Return a file of the scaffold for the provider and the kind of target."""
    provider = PROVIDERS[settings.provider]
    text = resources.read_example(file.source).replace(_MODEL_TARGET, _TARGETS[settings.target])
    if file.path.startswith(".github/"):
        text = _PIN.sub(f"@v{__version__}", text)
    if not provider.priced:
        text = _CAP.sub('max-cost-usd: ""', text)
    if not provider.key:
        text = _KEY_LINE.sub("", _SECRETS.sub("", text))
    return text.replace(_FIRST.key, provider.key).replace(_FIRST.model, provider.model)


def _existing(file: _File, folder: Path) -> Path | None:
    """Return the file if the project has it; a configuration may have either suffix."""
    names = CONFIG_NAMES if file.path in CONFIG_NAMES else (file.path,)
    return next((folder / name for name in names if (folder / name).exists()), None)


def _is_incomplete(path: Path, text: str) -> bool:
    """Return True if a rubric-ci line of the text is missing in the file."""
    try:
        lines = {line.strip() for line in read_text(path).splitlines()}
    except CannotReadFile:
        return True
    return any(line.strip() not in lines for line in text.splitlines() if "rubric-ci" in line)


def _append(path: Path, text: str) -> None:
    """Append lines to a file, on lines of their own; raises CannotWriteFile."""
    try:
        before = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", "") or "it is not UTF-8 text"
        raise CannotWriteFile(
            f"{path}: cannot append to the file: {reason}", "edit it by hand"
        ) from error
    newline = last_line_break(before)
    start = "" if before.endswith(newline) or not before else newline
    _write(path, before + start + text.replace("\n", newline))


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
