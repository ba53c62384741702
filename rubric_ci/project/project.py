"""Open what a command works on: the repository, its configuration, its eval files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from rubric_ci.errors import CannotReadFile, InvalidInput
from rubric_ci.model.config import Config, Target
from rubric_ci.model.diagnostics import Diagnostic, Severity
from rubric_ci.model.evals import EvalFile
from rubric_ci.parsing import secret_values
from rubric_ci.project import discovery
from rubric_ci.project.loader import Loaded, load, load_config, load_targets
from rubric_ci.system import masking
from rubric_ci.text import escape
from rubric_ci.validation.diagnostics import of_fault
from rubric_ci.validation.output.text import headline
from rubric_ci.yaml_text.problems import Fault
from rubric_ci.yaml_text.source import decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What was read, and what is wrong with it."""

    root: Path  # of the repository
    config: Config
    files: tuple[EvalFile, ...]  # those without errors
    diagnostics: tuple[Diagnostic, ...]
    invalid: tuple[str, ...]  # eval files with errors, as reports name them


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEvals:
    """The configuration, and the eval files that there are to read."""

    root: Path
    config: Config
    paths: tuple[Path, ...]


def open_evals(paths: Sequence[str], config_path: Path | None) -> Opened:
    """Read the configuration and every eval file that the paths name.

    Problems of eval files are values. Raises `InvalidInput` where the configuration itself has
    problems, `CannotFindEvals` where a path names nothing to read.
    """
    found = find_evals(paths, config_path)
    return read_evals(found, found.paths)


def find_evals(paths: Sequence[str], config_path: Path | None) -> FoundEvals:
    """Read the configuration and find the eval files; raises as `open_evals` does."""
    setup = open_setup(config_path)
    found = tuple(discovery.find_evals(paths, setup.config.evals, setup.root))
    config = _with_targets_beside(setup.config, found, setup.root)
    return FoundEvals(root=setup.root, config=config, paths=found)


def read_evals(found: FoundEvals, paths: Sequence[Path]) -> Opened:
    """Read some of the eval files that were found."""
    root = found.root
    rules = found.config.rules
    loaded = {discovery.from_root(path, root): open_file(path, root, rules) for path in paths}
    return Opened(
        root=root,
        config=found.config,
        files=tuple(each.eval_file for each in loaded.values() if each.eval_file),
        diagnostics=tuple(problem for each in loaded.values() for problem in each.diagnostics),
        invalid=tuple(name for name, each in loaded.items() if not each.eval_file),
    )


def open_setup(config_path: Path | None) -> Opened:
    """Read the configuration alone; raises `InvalidInput` where it has problems."""
    root = discovery.find_root(Path.cwd())
    config = _with_targets_beside(_open_config(root, config_path), (), root)
    return Opened(root=root, config=config, files=(), diagnostics=(), invalid=())


def open_file(path: Path, root: Path, rules: Mapping[str, str]) -> Loaded:
    """Read one eval file, its sidecar and what it refers to; an unreadable one is a problem."""
    beside = discovery.sidecar_of(path)
    match _text(path, root), _text(beside, root) if beside else None:
        case Diagnostic() as problem, _:
            return Loaded(None, (problem,))
        case _, Diagnostic() as problem:
            return Loaded(None, (problem,))
        case str(text), (str() | None) as sidecar:
            lookup = discovery.lookup(root, path)
            return load(discovery.from_root(path, root), text, lookup, sidecar, rules)


def show_problems(diagnostics: Sequence[Diagnostic]) -> None:
    """Print problems on standard error, one line each; what files say gives a runner no orders."""
    for problem in diagnostics:
        click.echo(escape.log_line(headline(problem)), err=True)


def _open_config(root: Path, named: Path | None) -> Config:
    path = named or discovery.config_of(root)
    return _read_config(path, root) if path else Config()


def _read_config(path: Path, root: Path) -> Config:
    loaded = load_config(discovery.from_root(path, root), discovery.read_text(path, root))
    show_problems(loaded.diagnostics)
    if loaded.config is None:
        raise InvalidInput(f"{discovery.shown(path)} has problems", "mend them; nothing was graded")
    return loaded.config


def _with_targets_beside(config: Config, found: Sequence[Path], root: Path) -> Config:
    """Add the targets of targets files; the configuration's own come first."""
    targets: dict[str, Target] = dict(config.targets)
    for path in _targets_files(found, root):
        name = discovery.from_root(path, root)
        loaded = load_targets(name, discovery.read_text(path, root), config.rules)
        show_problems(loaded.diagnostics)
        if any(problem.severity is Severity.ERROR for problem in loaded.diagnostics):
            raise InvalidInput(
                f"{discovery.shown(path)} has problems", "mend them; nothing was graded"
            )
        for target in loaded.targets:
            targets.setdefault(target.name, target)
    return _masked(replace(config, targets=targets))


def _masked(config: Config) -> Config:
    """Return a configuration whose secrets no output shows from now on."""
    substituted = tuple(secret_values.substituted(config, os.environ))
    masking.hide((*secret_values.written(config), *substituted))
    masking.mask_on_runner(substituted)
    return config


def _targets_files(found: Sequence[Path], root: Path) -> Iterator[Path]:
    """Yield the targets files that serve the eval files, or the root where there are none."""
    folders = dict.fromkeys(path.resolve().parent for path in found) or {root: None}
    serving = (path for folder in folders for path in discovery.targets_of(folder, root))
    yield from dict.fromkeys(serving)


def _text(path: Path, root: Path) -> str | Diagnostic:
    """Return what a file says, or why it says nothing."""
    name = discovery.from_root(path, root)
    try:
        data = discovery.read_bytes(path, root)
    except CannotReadFile as error:
        return of_fault(name, Fault("unreadable", 1, 1, 1, 2, error.message), [])
    text = decode(data)
    return of_fault(name, text, []) if isinstance(text, Fault) else text
