"""`rubric-ci doctor`: check keys, logins, models and their end dates, git, workflows, the cache.

A look-up is free: it reads the server's entry of a model. No prompt is sent.
"""

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from posixpath import dirname, join
from typing import Final, NamedTuple

import click

from rubric_ci.cli.commands.validate import waiver_states
from rubric_ci.errors import CannotFindEvals, CannotUseGit, ExitCode, UserError
from rubric_ci.files.parsing.env_vars import Variables
from rubric_ci.files.project.checker import Checker
from rubric_ci.files.project.project import Project, open_checkout
from rubric_ci.grading.resolve import resolved
from rubric_ci.grading.setup import readable_cache
from rubric_ci.models.agents import AGENTS
from rubric_ci.models.agents.logins import NoLogin, login_of
from rubric_ci.models.llm.direct import named_provider, provider_of, provider_with_entry
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.parts.start.before_init import look
from rubric_ci.system.actions_runner import command_to_set, is_public
from rubric_ci.system.git import base_revision, plumbing
from rubric_ci.system.installation import install_command
from rubric_ci.system.model_list import known_models
from rubric_ci.system.output_and_masking import wrapped
from rubric_ci.text import command_lines_and_variables, escape, numbers
from rubric_ci.values.changes import NoBase
from rubric_ci.values.command_settings import CacheOptions, RequestOptions
from rubric_ci.values.config import Config
from rubric_ci.values.model_end_and_parameters import SWITCH, ending
from rubric_ci.values.targets import Endpoint, Target


class Check(NamedTuple):
    """The subject of a check, and its finding or the step to do."""

    ok: bool | None  # None: only a request could show it
    about: str
    detail: str


_PLAIN: Final = re.compile(r"[\w./:={} -]+")
LONGEST: Final = 10.0  # seconds of a look-up
_KEYS: Final = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
}


def doctor(config: Path | None, *, as_json: bool) -> ExitCode:
    """Print a line per check; exit with 1 if something is to be done."""
    checks = tuple(_checks(open_checkout(config)))
    failed = [check for check in checks if check.ok is False]
    if as_json:
        shown = [{"ok": check.ok, "about": check.about, "said": check.detail} for check in checks]
        click.echo(json.dumps({"ok": not failed, "checks": shown}, ensure_ascii=False, indent=2))
    else:
        for check in checks:
            word = "open" if check.ok is None else "ok  " if check.ok else "fix "
            line = escape.log_line(f"{word} {check.about}: {check.detail}")
            click.echo(wrapped(line, sys.stdout))
        count = numbers.plural(len(failed), "thing")
        click.echo(f"{count} to do" if failed else "all is well")
    return ExitCode.GATE if failed else ExitCode.OK


def _checks(project: Project) -> Iterator[Check]:
    environment = os.environ
    checker = Checker(project, waiver_states, from_root=True)
    evals = _evals(checker)
    yield from _files(project, checker, evals)
    config = project.policy_for("any")
    variables = Variables(environment=environment, listed=config.env_allow)
    yield from judge_checks(config, variables)
    folders = dict.fromkeys(["", *(dirname(project.name_of(path)) for path in evals)])
    targets = (project.policy_for(join(folder, "any")).targets for folder in folders)
    yield from target_checks(targets, variables)
    yield from repository_checks(project.root, config, environment)


def _evals(checker: Checker) -> list[Path]:
    try:
        return checker.find("")
    except CannotFindEvals:
        return []


def _files(project: Project, checker: Checker, evals: list[Path]) -> Iterator[Check]:
    if not project.config_name:
        yield Check(ok=False, about="rubric-ci.yaml", detail="it is missing; run `rubric-ci init`")
    for path in checker.configs(evals):
        found = [each for each in checker.check(path).found if each.severity.value != "notice"]
        for each in found:
            place = f"{each.file}:{each.span.line}"
            detail = "; ".join(filter(None, (each.message, each.hint)))
            yield Check(ok=False, about=place, detail=detail)
        if not found:
            yield Check(ok=True, about=path.as_posix(), detail="no problems")


def judge_checks(config: Config, variables: Variables) -> Iterator[Check]:
    if config.judge is None:
        detail = "none is configured; set `judge: {model: …}`, or use assertions only"
        yield Check(ok=True, about="judge", detail=detail)
    for endpoint in config.judge.endpoints if config.judge else ():
        yield from _endpoint("judge", endpoint, variables)


def target_checks(folders: Iterable[Mapping[str, Target]], variables: Variables) -> Iterator[Check]:
    """Yield the checks of every target with a model or an agent, once for all folders."""
    found: list[tuple[str, Target]] = []
    for name, target in (each for targets in folders for each in targets.items()):
        if (name, target) in found:
            continue
        found.append((name, target))
        if target.model:
            yield from _endpoint(f"target {name}", target.model, variables)
        elif target.endpoint:
            yield from _service(f"target {name}", target, target.endpoint, variables)
        elif agent := target.agent:
            about = f"target {name}: {agent.name}"
            environment, server = variables.environment, agent.base_url
            yield from _agent(about, agent.name, target.env, environment, server)


def _unresolved(who: str, about: str, error: UserError) -> Check:
    detail = "; ".join(filter(None, (error.message.removeprefix(f"{who}: "), error.hint)))
    return Check(ok=False, about=about, detail=detail)


def _service(who: str, target: Target, endpoint: Endpoint, variables: Variables) -> Iterator[Check]:
    """Yield how a service comes to answer, and what it lacks for that; it is not asked."""
    about, program = f"{who}: {endpoint.model}", target.program
    try:
        resolved(endpoint, who, variables)
    except UserError as error:
        yield _unresolved(who, about, error)
        return
    if program is None:
        where = "asked at `url_before`" if target.url_before else "not asked: kept answers count"
        detail = f"deployed, not asked here; the base of a change is {where}"
        yield Check(ok=True, about=about, detail=detail)
        return
    for name in program.env:
        if name not in variables.environment:
            yield Check(ok=False, about=about, detail=f"`{name}` of `env` is not set; export it")
    first = _first_word(program.start)
    if first and not shutil.which(first):
        yield Check(ok=False, about=about, detail=f"`{first}` is not on the PATH; install it")
    else:
        yield Check(ok=True, about=about, detail="a run starts it, for each side of a change")


def _first_word(start: str | tuple[str, ...]) -> str:
    """Return the program of a start command; empty: a line that only a shell can read."""
    if isinstance(start, str) and not _PLAIN.fullmatch(start):
        return ""
    words = start.split() if isinstance(start, str) else start
    return next((word for word in words if word != "env" and "=" not in word), "")


def _endpoint(who: str, endpoint: Endpoint, variables: Variables) -> Iterator[Check]:
    about = f"{who}: {endpoint.model}"
    if endpoint.command:
        if endpoint.command.cli:
            cli, given = endpoint.command.cli, endpoint.command.env
            yield from _agent(about, cli, given, variables.environment)
        else:
            yield _on_path(about, endpoint.command.argv[0])
        return
    try:
        ready = resolved(endpoint, who, variables)
    except UserError as error:
        yield _unresolved(who, about, error)
        return
    names = sorted({*command_lines_and_variables.names([endpoint.model, dict(endpoint.options)])})
    if names:
        yield Check(ok=True, about=about, detail=f"{', '.join(names)} set")
    yield from _model(f"{who}: {ready.model}", ready)


def _model(about: str, endpoint: Endpoint) -> Iterator[Check]:
    models = known_models()
    end = models.info(endpoint.model).get("deprecation_date")
    if message := ending(endpoint.model, end, models.today):
        yield Check(ok=False, about=about, detail=f"{message}; {SWITCH}")
    if provider_of(endpoint) is None and find_spec("litellm") is None:
        detail = f"it needs litellm, which is not installed; {install_command('judge')}"
        yield Check(ok=False, about=about, detail=detail)
        return
    yield _lacks_key(about, endpoint) or asyncio.run(_looked_up(about, endpoint))


def _lacks_key(about: str, endpoint: Endpoint) -> Check | None:
    provider, direct = endpoint.model.partition("/")[0], named_provider(endpoint)
    hosted = {"api_base", "base_url"}.isdisjoint(endpoint.options)
    if direct and hosted and not endpoint.identity and not direct.server_of(endpoint)[1]:
        name = _KEYS.get(provider, f"{provider.upper()}_API_KEY")
        return Check(ok=False, about=about, detail=f"no key; export {name}=...")
    return None


async def _looked_up(about: str, endpoint: Endpoint) -> Check:
    provider = provider_with_entry(endpoint)
    if provider is None or endpoint.identity:
        detail = "not looked up: its provider has no free look-up here"
        return Check(ok=True, about=about, detail=detail)
    probed = replace(endpoint, timeout_seconds=min(LONGEST, endpoint.timeout_seconds))
    try:
        async with asyncio.timeout(LONGEST):
            entry = await provider.look_up(probed)
    except TimeoutError:
        detail = f"no reply within {LONGEST:g} s; check `api_base` and the network"
        return Check(ok=False, about=about, detail=detail)
    except RequestError as error:
        return _refused(about, error)
    if not entry:
        detail = "the server replies, without its entry; the first request will tell"
        return Check(ok=None, about=about, detail=detail)
    return Check(ok=True, about=about, detail="the server knows the model and accepts the key")


def _refused(about: str, error: RequestError) -> Check:
    if error.status == 404:
        detail = "the server lists no such model; check the name (gateways may not list aliases)"
        return Check(ok=False, about=about, detail=detail)
    if error.status == 401 or not error.reached:
        return Check(ok=False, about=about, detail=str(error))
    return Check(ok=None, about=about, detail=f"the server replies, without its entry: {error}")


def _on_path(about: str, name: str) -> Check:
    if found := shutil.which(name):
        return Check(ok=True, about=about, detail=f"program {found}")
    return Check(ok=False, about=about, detail=f"`{name}` is not on the PATH; install it")


def _agent(
    about: str, name: str, given: tuple[str, ...], environment: Mapping[str, str], server: str = ""
) -> Iterator[Check]:
    yield _on_path(about, AGENTS[name].judge("").argv[0])
    try:
        login = login_of(name, given, environment, server=server)
    except NoLogin as error:
        yield Check(ok=False, about=about, detail=str(error))
        return
    named = ", ".join((*login.variables, *given)) or "no credential is needed"
    yield Check(ok=True, about=about, detail=f"login in {login.place}" if login.place else named)


_WORKFLOWS: Final = ".github/workflows"
_GRADES: Final = ("gate.yml@", "night.yml@", "default-branch.yml@", "command: run", "rubric-ci run")
"""The text of a workflow that grades has one of them; it needs the keys."""


def repository_checks(
    root: Path, config: Config, environment: Mapping[str, str]
) -> Iterator[Check]:
    yield from _git(root, environment)
    yield from _workflows(root, environment)
    options = CacheOptions()
    unread = readable_cache(RequestOptions(), options, config, environment)[1]
    about = f"cache {options.folder.as_posix()}"
    yield Check(ok=not unread, about=about, detail=unread or _size(root / options.folder))


def _git(root: Path, environment: Mapping[str, str]) -> Iterator[Check]:
    try:
        repository = plumbing.open_repository(root, environment)
    except CannotUseGit as error:
        detail = f"{error.message}; run `git init`"
        yield Check(ok=False, about="git", detail=detail)
        return
    if plumbing.is_shallow(repository):
        detail = "the clone is shallow; run `git fetch --unshallow`"
        yield Check(ok=False, about="git", detail=detail)
        return
    found = base_revision.default_branch_base(repository)
    if isinstance(found, NoBase):
        detail = "no `origin/HEAD`: `--changed-since REV` names a base; after a push, run "
        detail += "`git remote set-head origin --auto`"
        yield Check(ok=True, about="git base", detail=detail)
    else:
        yield Check(ok=True, about="git base", detail=f"{found.origin} ({found.commit[:10]})")


def _workflows(root: Path, environment: Mapping[str, str]) -> Iterator[Check]:
    """Yield whether each workflow that grades passes on every variable."""
    names = look(root, environment).variables
    folder = root / _WORKFLOWS
    paths = sorted([*folder.glob("*.yml"), *folder.glob("*.yaml")])
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in paths}
    grading = {
        path: text
        for path, text in texts.items()
        if "rubric-ci" in text and any(each in text for each in _GRADES)
    }
    if not grading:
        detail = "none grades; `rubric-ci init` writes them"
        yield Check(ok=True, about="workflows", detail=detail)
    for path, text in grading.items():
        about = f"{_WORKFLOWS}/{path.name}"
        missing = [name for name in names if name not in text]
        for name in missing:
            owner = "vars" if is_public(name) else "secrets"
            line = f"`{name}=${{{{ {owner}.{name} }}}}`"
            detail = f"add {line} to `secrets: env:`, and run `{command_to_set(name)}`"
            yield Check(ok=False, about=about, detail=detail)
        if not missing:
            passed = f"passes on {', '.join(names)}; `gh secret list` shows which are set"
            yield Check(ok=True, about=about, detail=passed if names else "needs no secret")


def _size(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    return f"{len(files):,} files, {size / 2**20:.1f} MiB" if files else "empty"
