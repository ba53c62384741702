"""Open what a command works on: the repository, its configuration, its eval files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from rubric_ci import files
from rubric_ci.errors import CannotReadFile, InvalidInput
from rubric_ci.model.config import Config, Target
from rubric_ci.model.diagnostic import Diagnostic, Severity, Span
from rubric_ci.model.evals import EvalFile
from rubric_ci.source.config import load_config, load_targets
from rubric_ci.source.load import Loaded, load


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
    found = tuple(files.find_evals(paths, setup.config.evals, setup.root))
    config = _with_targets_beside(setup.config, found, setup.root)
    return FoundEvals(root=setup.root, config=config, paths=found)


def read_evals(found: FoundEvals, paths: Sequence[Path]) -> Opened:
    """Read some of the eval files that were found."""
    root = found.root
    loaded = {_from_root(path, root): open_file(path, root) for path in paths}
    return Opened(
        root=root,
        config=found.config,
        files=tuple(each.eval_file for each in loaded.values() if each.eval_file),
        diagnostics=tuple(problem for each in loaded.values() for problem in each.diagnostics),
        invalid=tuple(name for name, each in loaded.items() if not each.eval_file),
    )


def open_setup(config_path: Path | None) -> Opened:
    """Read the configuration alone; raises `InvalidInput` where it has problems."""
    root = files.find_root(Path.cwd())
    config = _with_targets_beside(_open_config(root, config_path), (), root)
    return Opened(root=root, config=config, files=(), diagnostics=(), invalid=())


def open_file(path: Path, root: Path) -> Loaded:
    """Read one eval file, its sidecar and what it refers to; an unreadable one is a problem."""
    name = _from_root(path, root)
    beside = files.sidecar_of(path)
    try:
        text = files.read_text(path)
        sidecar = files.read_text(beside) if beside else None
    except CannotReadFile as error:
        return Loaded(None, (_unreadable(name, error),))
    return load(name, text, files.lookup(root, path), sidecar)


def show_problems(diagnostics: Sequence[Diagnostic]) -> None:
    """Print problems on standard error, one line each."""
    for problem in diagnostics:
        place = f"{problem.file}:{problem.span.line}:{problem.span.column}"
        hint = f"; {problem.hint}" if problem.hint else ""
        click.echo(f"{place}: {problem.rule}: {problem.message}{hint}", err=True)


def _open_config(root: Path, named: Path | None) -> Config:
    if named:
        return _read_config(named, root)
    known = (root / name for name in files.CONFIG_NAMES)
    found = next((path for path in known if path.is_file()), None)
    return _read_config(found, root) if found else Config()


def _read_config(path: Path, root: Path) -> Config:
    loaded = load_config(_from_root(path, root), files.read_text(path))
    show_problems(loaded.diagnostics)
    if loaded.config is None:
        raise InvalidInput(f"{path} has problems", "mend them; nothing was graded")
    return loaded.config


def _with_targets_beside(config: Config, found: Sequence[Path], root: Path) -> Config:
    """Add the targets of targets files; the configuration's own come first."""
    targets: dict[str, Target] = dict(config.targets)
    for path in _targets_files(found, root):
        loaded = load_targets(_from_root(path, root), files.read_text(path))
        show_problems(loaded.diagnostics)
        if any(problem.severity is Severity.ERROR for problem in loaded.diagnostics):
            raise InvalidInput(f"{path} has problems", "mend them; nothing was graded")
        for target in loaded.targets:
            targets.setdefault(target.name, target)
    return replace(config, targets=targets)


def _targets_files(found: Sequence[Path], root: Path) -> Iterator[Path]:
    """Yield `.agentv/targets.yaml` at the root, then targets files beside the eval files."""
    folders = {root / ".agentv": None} | {path.resolve().parent: None for path in found}
    for folder in folders:
        yield from (folder / name for name in files.TARGETS_NAMES if (folder / name).is_file())


def _from_root(path: Path, root: Path) -> str:
    """Name a file as reports do: from the root, with forward slashes."""
    resolved = path.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else str(path)


def _unreadable(name: str, error: CannotReadFile) -> Diagnostic:
    return Diagnostic(
        rule="file-unreadable",
        severity=Severity.ERROR,
        file=name,
        span=Span(1, 1, 1, 1),
        message=error.message,
        hint=error.hint,
    )
