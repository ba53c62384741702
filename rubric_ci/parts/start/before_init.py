"""A folder before `rubric-ci init`: git, its host, the configuration; the questions about it."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import dirname
from typing import Any, Final

import click

from rubric_ci.errors import CannotFindEvals, CannotReadFile, CannotUseGit
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.eval_search import search
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, targets_candidates
from rubric_ci.files.yaml_text.source import decode, is_providers, open_config, open_own_source
from rubric_ci.models.agents.logins import NoLogin, login_of
from rubric_ci.parts.start.init_providers_and_targets import (
    DEPLOYED,
    PATH,
    PROVIDERS,
    SAMPLE,
    START,
    TARGETS,
)
from rubric_ci.system.git import branch, plumbing, process
from rubric_ci.system.model_list import model_info
from rubric_ci.text import command_lines_and_variables
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.agent_names_and_credentials import CREDENTIALS
from rubric_ci.values.dataclass import dataclass

_HOST: Final = re.compile(r"^(?:\w+://)?(?:[^@/]*@)?([\w.-]+)")
_NOT_GITHUB: Final = re.compile(r"gitlab|bitbucket|codeberg|dev\.azure|visualstudio|gitea")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_PYTEST: Final = {
    "pyproject.toml": "tool.pytest",
    "pytest.toml": "pytest",
    "pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
"""The files with settings of pytest, each with the section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A folder before `init`."""

    root: Path | None  # of the git repository that holds the folder
    branch: str  # the default branch
    other_host: str = ""  # of `origin`, if workflows of GitHub would not run there
    config: str = ""  # the configuration
    has_evals: bool = False
    variables: tuple[str, ...] = ()  # that judge, targets and scripts use
    priced: bool = True  # every model of the configuration has a price
    has_pytest: bool = False  # it has settings of pytest


def look(folder: Path, environment: Mapping[str, str], *, overwritten: bool = False) -> Found:
    """Look at a folder, which need not exist; at no configuration that is to be overwritten."""
    here = next(each for each in (folder, *folder.absolute().parents) if each.is_dir())
    try:
        repository = plumbing.open_repository(here, environment)
        top = process.query(repository, "rev-parse", "--show-toplevel")
    except CannotUseGit:
        repository, top = None, ""
    names = () if overwritten else CONFIG_NAMES
    config = next((name for name in names if (folder / name).is_file()), "")
    paths = _evals(folder)
    texts = [_data(path) for path in _settings_files(folder, config, paths) if path.is_file()]
    evals = [_data(path) for path in paths]
    named = [name for data in texts for name in command_lines_and_variables.names(data)]
    given = [name for data in (*texts, *evals) for name in _passed(data)]
    models = [each for data in texts for each in _models(data)]
    variables = dict.fromkeys((*named, *_credentials(models), *given))
    return Found(
        root=Path(top) if top else None,
        branch=_default_branch(repository) if repository else "main",
        other_host=_other_host(repository, folder) if repository else "",
        config=config,
        has_evals=bool(evals),
        variables=tuple(
            name for name in variables if not command_lines_and_variables.is_of_runner(name)
        ),
        priced=all(map(_is_priced, models)),
        has_pytest=any(_has_section(folder / name, word) for name, word in _PYTEST.items()),
    )


def _has_section(path: Path, section: str) -> bool:
    try:
        return f"\n[{section}" in f"\n{working_tree.read_text(path)}" if path.is_file() else False
    except CannotReadFile:
        return False


def _settings_files(folder: Path, config: str, evals: list[Path]) -> Iterator[Path]:
    """Yield the configuration, and each place of a targets file that serves the eval files."""
    folders = dict.fromkeys(
        ["", *(dirname(working_tree.from_root(each, folder)) for each in evals)]
    )
    served = (name for each in folders for name in targets_candidates(each))
    yield from (folder / name for name in dict.fromkeys((*filter(None, [config]), *served)))


def _data(path: Path) -> Any:
    """Return the data of a YAML file or of JSON Lines; None if it cannot be read."""
    try:
        text = decode(working_tree.read_bytes(path))
    except CannotReadFile:
        return None
    if not isinstance(text, str):
        return None
    name = path.as_posix()
    return (open_config if is_providers(name) else open_own_source)(name, text).data


def _evals(folder: Path) -> list[Path]:
    try:
        return search([str(folder)], (), folder) if folder.is_dir() else []
    except CannotFindEvals:
        return []


def _default_branch(repository: process.Repository) -> str:
    """Return the branch of `origin/HEAD`, else `main` or `master`, else the one checked out."""
    known = branch.default(repository)
    if known:
        return known
    for name in ("main", "master"):
        refs = (f"refs/remotes/origin/{name}", f"refs/heads/{name}")
        if any(plumbing.commit(repository, ref) for ref in refs):
            return name
    return branch.current(repository) or "main"


def _other_host(repository: process.Repository, folder: Path) -> str:
    """Return the host of `origin` if it is known to run no workflows and the folder has none."""
    if (folder / ".github").is_dir():
        return ""
    done = process.run(repository, "config", "remote.origin.url")
    found = _HOST.match(done.stdout.decode(errors="replace").strip())
    host = found[1].lower() if found else ""
    return host if _NOT_GITHUB.search(host) else ""


def _passed(data: Any) -> Iterator[str]:
    """Yield the variables that commands and scripts get: the lists `env`."""
    match data:
        case {"env": list() as names}:
            yield from (name for name in names if isinstance(name, str) and _NAME.fullmatch(name))
    for item in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _passed(item)


def _models(data: Any) -> Iterator[dict[str, Any]]:
    """Yield the judge and the targets that are models or command-line tools."""
    data = data if isinstance(data, dict) else {}
    targets = data.get("targets")
    for each in (data.get("judge"), *(targets if isinstance(targets, list) else ())):
        if isinstance(each, dict) and ("model" in each or "cli" in each):
            yield each


def _credentials(models: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the variables that a provider or a tool reads from the environment."""
    for each in models:
        if cli := each.get("cli"):
            yield from CREDENTIALS.get(str(cli), ())[:1]
        elif "api_key" not in each:
            prefix = str(each["model"]).partition("/")[0]
            name = {"vertex_ai": "vertex"}.get(prefix, prefix)
            yield from PROVIDERS[name].variables if name in PROVIDERS else ()


def _is_priced(model: Mapping[str, Any]) -> bool:
    return "input_cost_per_token" in model or bool(
        "model" in model and model_info(str(model["model"])).get("input_cost_per_token")
    )


_KEYS: Final = {
    "OPENAI_API_KEY": "openai",
    "ANTHROPIC_API_KEY": "anthropic",
    "GEMINI_API_KEY": "gemini",
    "AZURE_API_KEY": "azure",
}
_PROGRAMS: Final = {"claude-code": "claude", "codex": "codex"}
_SCRIPTS: Final = ("agent.py", "app.py", "main.py", "bot.py", "chat.py", "support.py", "agent.js")
_SKILLS: Final = (
    *("evals.json", "evals/evals.json"),
    *("*/evals/evals.json", "skills/*/evals/evals.json"),
)
_PROMPTS: Final = ("prompts/*.md", "prompts/*.txt", "prompts/*.prompt.yml")
_USES: Final = {
    _SKILLS: "an eval file of Agent Skills; `rubric-ci run {}` grades it in place",
    _PROMPTS: "a target asks a model with it, `prompt: {}`",
}


def proposals(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield each finding in a folder or on this machine, with its use."""
    for name in ("promptfooconfig.yaml", "promptfooconfig.yml"):
        if (folder / name).is_file():
            yield f"{name}: `rubric-ci import {name}` writes eval files from it"
    for globs, use in _USES.items():
        for path in [each for glob in globs for each in sorted(folder.glob(glob))][:3]:
            name = path.relative_to(folder).as_posix()
            yield f"{name}: {use.format(name)}"
    if script := _script(folder):
        yield f'{script}: `init --target command --command "{_command(script)}"` runs it'
    for provider, program in _PROGRAMS.items():
        if shutil.which(program, path=environment.get("PATH")):
            login = "logged in" if _has_login(provider, environment) else "not logged in"
            yield f"{program} is installed, {login}: `init --provider {provider}` judges with it"
    if shutil.which("ollama", path=environment.get("PATH")):
        yield "ollama is installed: `init --provider ollama` judges with a model that runs here"


def provider_here(environment: Mapping[str, str]) -> str:
    """Return the provider whose key or login is there; else the one of the examples."""
    keys = [provider for name, provider in _KEYS.items() if environment.get(name)]
    logins = [each for each in _PROGRAMS if _has_login(each, environment)]
    return next(iter([*keys, *logins]), "openai")


def ask(given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Ask for the options that the command line does not give."""
    for line in proposals(folder, os.environ):
        click.echo(f"found {line}")
    answers = dict(given)
    if "provider" not in answers:
        about = {name: each.about for name, each in PROVIDERS.items()}
        first = provider_here(os.environ)
        answers["provider"] = _choice("Provider of the judge", about, first)
    script = _script(folder)
    if "target" not in answers:
        first = "command" if script else "model"
        answers["target"] = _choice("Target that answers the cases", TARGETS, first)
    if answers["target"] == "command" and "command" not in answers:
        default = _command(script) if script else ""
        title = "Command, with {PROMPT} for the question (empty: an example agent.py)"
        answers["command"] = click.prompt(title, default=default, show_default=bool(default))
    if answers["target"] == "http":
        _ask_service(answers, folder)
    return {name: answer for name, answer in answers.items() if name not in given}


def _ask_service(answers: dict[str, str], folder: Path) -> None:
    if "start" not in answers and "url" not in answers:
        script = _script(folder)
        default = _command(script).replace("{PROMPT}", "--port {PORT}") if script else START
        title = "Start command, with {PORT} for its port (- : it is deployed)"
        start = click.prompt(title, default=default)
        answers["start"] = "" if start == "-" else start
    if "url" not in answers:
        title, default = "Path of its requests", PATH
        if not answers.get("start"):
            title, default = "URL of the service", DEPLOYED
        answers["url"] = click.prompt(title, default=default)
    if "reply" not in answers:
        title = "One of its replies, as JSON, to find the answer in it"
        answers["reply"] = click.prompt(title, default=SAMPLE)


def _choice(title: str, about: Mapping[Any, str], first: str) -> str:
    """Ask until a name is known; `?` explains all of them."""
    while True:
        names = ", ".join(about)
        answer = click.prompt(f"{title} ({names}; ? explains)", default=first)
        if answer in about:
            return str(answer)
        if answer == "?":
            width = max(map(len, about))
            click.echo("".join(f"  {name:{width}}  {text}\n" for name, text in about.items()))
        else:
            click.echo(f"`{answer}` is none of them; {suggest(answer, about)}")


def _script(folder: Path) -> str:
    return next((name for name in _SCRIPTS if (folder / name).is_file()), "")


def _command(script: str) -> str:
    program = "node" if script.endswith(".js") else "python3"
    return f"{program} {script} {{PROMPT}}"


def _has_login(provider: str, environment: Mapping[str, str]) -> bool:
    program = _PROGRAMS[provider]
    if not shutil.which(program, path=environment.get("PATH")):
        return False
    try:
        login_of(provider, (), environment)
    except NoLogin:
        return False
    return True
