"""`rubric-ci init`: create starter files; existing files are kept."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from textwrap import indent
from typing import Final

import click

from rubric_ci import __version__
from rubric_ci.errors import CannotReadFile, CannotWriteFile, ExitCode
from rubric_ci.files.editing.yaml_layout import last_line_break
from rubric_ci.files.project.file_kinds import CONFIG_NAMES
from rubric_ci.files.project.working_tree import read_text, write_text
from rubric_ci.parts.start.before_init import Found, look
from rubric_ci.parts.start.init_providers_and_targets import (
    DEPENDENCIES,
    PROVIDERS,
    InitSettings,
    Provider,
    TargetKind,
    setup_file,
    target_of,
    with_language,
)
from rubric_ci.system import installation
from rubric_ci.system.actions_runner import command_to_set, is_public
from rubric_ci.system.git.plumbing import checkout_commit
from rubric_ci.system.installation import install_command
from rubric_ci.values.dataclass import dataclass

_OFFLINE: Final = "rubric-ci run --target recorded --replay evals/example.replay.jsonl"
_FIRST: Final = PROVIDERS["openai"]  # the provider of the scaffold's files
_KEY: Final = _FIRST.variables[0]
_STEP: Final = f"        env:\n          {_KEY}: ${{{{ secrets.{_KEY} }}}}\n"
_STRANGERS: Final = (
    "Strangers: make an environment `rubric-ci` in the repository's settings, and put the keys "
    "there; `/rubric-ci run` in a comment grades a fork's pull request.\n"
)
_PIN: Final = re.compile(
    r"(rubric-ci/rubric-ci(?:/[\w./-]{1,100})?)@(?:[0-9a-f]{40} # )?v\d.*"
)  # of the example workflows
_SECRETS: Final = re.compile(r"^    secrets:\n(?:      .*\n)+", re.MULTILINE)
_CAP: Final = re.compile(r'max-cost-usd: "\d+"')
_EXAMPLE: Final = re.compile(r"^evals: .*\n|  # Recorded answers, .*\n(?:  .*\n)+", re.MULTILINE)
_CAPS: Final = "A pull request may cost $5, a night $20 (max-cost-usd).\n"
_NO_CAPS: Final = "No cap on cost (max-cost-usd) is set: a price is unknown.\n"
_NIGHTS: Final = (
    "A night answers and judges every case 3 times; "
    "`rubric-ci run --trials 3 --list` shows its cost.\n"
)
_OTHER_CI: Final = "https://github.com/rubric-ci/rubric-ci/blob/main/docs/other-ci.md"
_TAG: Final = f"v{__version__}"
_MODEL_TARGET: Final = "  # A model answers.\n  - name: default\n    {}\n"
_AGENT: Final = "python3 agent.py --prompt {PROMPT}"
_TARGETS: Final[dict[str, str]] = {
    "model": _MODEL_TARGET,
    "command": """\
  # Your own program answers; a change to the files of depends_on selects its cases.
  - name: default
    provider: cli
    command_template: {command}
    timeout_seconds: 120
    env: [{variables}] # it gets no other variable: delete what it does not read
    depends_on: [{files}]
""",
    **dict.fromkeys(
        ("claude-code", "codex"),
        """\
  # An agent answers; `workspace: {{copy: FOLDER}}` gives it files to work on.
  - name: default
    provider: {target}
""",
    ),
    "recorded": """\
  # Answers kept in a file, one line per case.
  - name: default
    provider: recorded
    answers: evals/example.answers.jsonl
""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    path: str  # in the project
    source: str  # in the scaffold
    shared: bool = False  # also edited by others: never overwritten
    appended: bool = False  # shared, and missing lines are appended
    example: bool = False  # written where there is no eval file and no configuration yet
    public: bool = False  # written with --public only
    only: TargetKind | None = None  # written for this kind of target only

    @property
    def is_workflow(self) -> bool:
        return self.path.startswith(".github/")


_FILES: Final = (
    _File(path="rubric-ci.yaml", source="scaffold/rubric-ci.yaml"),
    *(
        _File(path=f"evals/example.{name}", source=f"scaffold/evals/example.{name}", example=True)
        for name in ("eval.yaml", "answers.jsonl", "replay.jsonl")
    ),
    _File(path="agent.py", source="scaffold/agent.py", only="command", example=True),
    *(
        _File(path=f".github/workflows/evals-{name}.yml", source=f"workflows/evals-{name}.yml")
        for name in ("validate", "gate", "default-branch", "nightly")
    ),
    _File(
        path=".github/workflows/evals-strangers.yml",
        source="workflows/evals-strangers.yml",
        public=True,
    ),
    _File(path=".pre-commit-config.yaml", source="scaffold/pre-commit-config.yaml", shared=True),
    _File(path=".gitignore", source="scaffold/gitignore", shared=True, appended=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The files to write: the choices of the command line, for a folder."""

    settings: InitSettings
    found: Found

    @property
    def is_new(self) -> bool:
        return not self.found.config or self.settings.force

    @property
    def has_example(self) -> bool:
        return self.is_new and (not self.found.has_evals or self.settings.force)

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.settings.provider]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that judge, targets and scripts need."""
        new = self.provider.variables if self.is_new else ()
        return tuple(dict.fromkeys((*new, *self.found.variables)))

    @property
    def priced(self) -> bool:
        """Whether a maximum cost can be enforced."""
        return self.found.priced and (self.provider.priced or not self.is_new)

    def files(self) -> Iterator[_File]:
        for file in _FILES:
            left_out = (file.example and not self.has_example) or (
                file.is_workflow and self.found.other_host
            )
            written = file.only is None or (
                file.only == self.settings.target and not self.settings.command
            )
            asked = self.settings.public or not file.public
            if asked and not left_out and written:
                yield file
        for name in self.settings.rubrics:
            path = f"rubrics/{name}.rubric.yaml"
            yield _File(path=path, source=f"rubrics/{path}")


def init(settings: InitSettings) -> ExitCode:
    """Write the files that are missing and print what was written or kept."""
    found = look(settings.folder, os.environ, overwritten=settings.force)
    if found.root and found.root.resolve() != settings.folder.resolve():
        place = f"{settings.folder} is in the repository {found.root}"
        raise CannotWriteFile(
            f"{place}, which needs the files at its root", f"run `rubric-ci init {found.root}`"
        )
    plan = _Plan(settings=settings, found=found)
    for file in plan.files():
        for line in _create(file, plan):
            click.echo(line)
    click.echo("\n" + "".join(_next(plan)), nl=False)
    return ExitCode.OK


def _next(plan: _Plan) -> Iterator[str]:
    """Yield the next commands, which work in this folder, and what the workflows need."""
    yield "Next:\n"
    if not plan.found.root:
        yield "  git init    # the hook and the workflows need a repository\n"
    yield "  rubric-ci validate    # offline\n"
    if plan.has_example:
        yield f"  {_OFFLINE}    # offline\n"
    else:
        yield "  rubric-ci run --list    # cases and cost; sends nothing\n"
    if plan.is_new and plan.provider.needs_litellm and find_spec("litellm") is None:
        yield f"  {install_command('judge')}    # this provider needs litellm\n"
    if plan.is_new and plan.provider.before:
        yield f"  {plan.provider.before}\n"
    yield "  rubric-ci doctor    # keys, models, programs and workflows; sends no prompt\n"
    needed = plan.found.variables if plan.is_new and plan.provider.cli else plan.variables
    values = " ".join(f"{name}=..." for name in needed)
    exports = f"export {values} && " if values else ""
    deployed = plan.settings.url and not plan.settings.start
    service = "asks your service" if deployed else "starts your service"
    own = {
        "model": "asks the model",
        "recorded": "needs a judge",
        "http": service,
        "command": "starts your command" if plan.settings.command else "starts agent.py",
    }
    started = own.get(plan.settings.target, f"starts {plan.settings.target}")
    what = started if plan.is_new else "grades the cases"
    yield f"  {exports}rubric-ci run    # {what}\n"
    if plan.found.has_pytest:
        yield f"  {exports}pytest --rubric-ci    # the same cases as tests of pytest\n"
    if plan.found.other_host:
        yield f"No workflows: `origin` is at {plan.found.other_host}. {_OTHER_CI}\n"
        return
    for name in plan.variables:
        yield f"  {command_to_set(name)}    # for the workflows\n"
    if plan.is_new and plan.provider.remark:
        yield f"{plan.provider.remark}\n"
    yield _STRANGERS if plan.settings.public else ""
    yield _CAPS if plan.priced else _NO_CAPS
    yield _NIGHTS


def _create(file: _File, plan: _Plan) -> Iterator[str]:
    settings, text = plan.settings, _scaffold_text(file, plan)
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


def _scaffold_text(file: _File, plan: _Plan) -> str:
    """Return a file of the scaffold for the provider, the target and the repository."""
    text = installation.read_example(file.source)
    if file.is_workflow:
        return _workflow(text, plan)
    if file.path == ".pre-commit-config.yaml":
        return text.replace(f"rev: {_TAG}", f"rev: {_revision()}")
    if file.path == ".gitignore" and plan.settings.target == "http":
        installs_python = setup_file(plan.settings.folder).endswith(".txt")
        return f"{text}{DEPENDENCIES}\n" if installs_python else text
    if file.path != "rubric-ci.yaml":
        return text.replace(_KEY, (plan.provider.variables or ("",))[0]) if file.only else text
    target = _target_of(plan)
    text = text.replace(_MODEL_TARGET.format(_target(_FIRST)), target)
    text = text.replace("\n  ".join(_FIRST.settings), "\n  ".join(plan.provider.settings))
    return text if plan.has_example else _EXAMPLE.sub("", text)


def _target_of(plan: _Plan) -> str:
    if plan.settings.target == "http":
        return target_of(plan.settings, ", ".join(plan.provider.variables))
    return _TARGETS[plan.settings.target].format(
        _target(plan.provider),
        variables=", ".join(plan.provider.variables),
        command=json.dumps(plan.settings.command or _AGENT, ensure_ascii=False),
        files=", ".join(json.dumps(name) for name in _files(plan)),
        target=plan.settings.target,
    )


def _files(plan: _Plan) -> list[str]:
    """Return the files of the folder that a command names; of the example, its program."""
    if not plan.settings.command:
        return ["agent.py"]
    words = plan.settings.command.split()
    named = [word for word in words if (plan.settings.folder / word).is_file()]
    return named or ["src/**"]


def _target(provider: Provider) -> str:
    if provider.cli:
        return f"provider: {provider.cli}\n    model: {provider.model}"
    lines = (line.partition(" # ")[0] for line in provider.settings)
    return "\n    ".join(line for line in lines if not line.startswith("output:"))


def _workflow(text: str, plan: _Plan) -> str:
    """Return a workflow for the branch, the variables and the prices of a repository."""
    name = plan.found.branch
    branch = name if re.fullmatch(r"[\w./-]+", name) else json.dumps(name)
    lines = [f"        {name}={_value(name)}\n" for name in plan.variables]
    released = installation.released_commit()
    pin = f"{released} # {_TAG}" if released else _revision()
    text = _PIN.sub(rf"\g<1>@{pin}", text).replace("branches: [main]", f"branches: [{branch}]")
    text = text.replace(_STEP, _step(plan.variables))
    if plan.is_new:
        text = with_language(text, plan.settings)
    if not plan.priced:
        text = _CAP.sub('max-cost-usd: ""', text)
    if not lines:
        return _SECRETS.sub("", text)
    return text.replace(f"        {_KEY}=${{{{ secrets.{_KEY} }}}}\n", "".join(lines))


def _revision() -> str:
    """Return this version for a hook: its tag, or the commit of a checkout, which has none yet."""
    commit = "" if installation.released_commit() else checkout_commit(os.environ)
    return f"{commit} # a checkout of {_TAG}" if commit else _TAG


def _step(variables: Iterable[str]) -> str:
    lines = [f"          {name}: {_value(name)}\n" for name in variables]
    return "".join(["        env:\n" * bool(lines), *lines])


def _value(name: str) -> str:
    return f"${{{{ {'vars' if is_public(name) else 'secrets'}.{name} }}}}"


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
    """Append whole lines to a file; raises CannotWriteFile."""
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
    write_text(path, text, "the file", "choose a folder that you can write to")


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
