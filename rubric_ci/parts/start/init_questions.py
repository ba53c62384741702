"""The questions of `rubric-ci init` at a terminal, and what it proposes for this folder."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from rubric_ci.models.agents.logins import NoLogin, login_of
from rubric_ci.parts.start.init_http_target import DEPLOYED, PATH, SAMPLE, START
from rubric_ci.parts.start.init_providers import PROVIDERS, TARGETS
from rubric_ci.text.suggestions import suggest

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
