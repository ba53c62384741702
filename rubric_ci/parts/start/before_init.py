"""A folder before `rubric-ci init`: git, its default branch and host, the configuration."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import dirname
from typing import Any, Final

from rubric_ci.errors import CannotFindEvals, CannotReadFile, CannotUseGit
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.eval_search import search
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, targets_candidates
from rubric_ci.files.yaml_text.opened import is_providers, open_config
from rubric_ci.files.yaml_text.source import decode, open_own_source
from rubric_ci.parts.start.init_providers import PROVIDERS
from rubric_ci.system.git import branch, plumbing, process
from rubric_ci.system.model_list import model_info
from rubric_ci.text import variable_names
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
    named = [name for data in texts for name in variable_names.names(data)]
    given = [name for data in (*texts, *evals) for name in _passed(data)]
    models = [each for data in texts for each in _models(data)]
    variables = dict.fromkeys((*named, *_credentials(models), *given))
    return Found(
        root=Path(top) if top else None,
        branch=_default_branch(repository) if repository else "main",
        other_host=_other_host(repository, folder) if repository else "",
        config=config,
        has_evals=bool(evals),
        variables=tuple(name for name in variables if not variable_names.is_of_runner(name)),
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
