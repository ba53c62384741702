"""Checking files one by one: what each is, what it needs to know of the others."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from rubric_ci.errors import CannotFindEvals, CannotReadFile
from rubric_ci.project import discovery
from rubric_ci.validation.config_summary import Facts, read_facts
from rubric_ci.validation.validator import check_config, check_evals
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.problems import LocatedProblem
from rubric_ci.yaml_text.source import UNREADABLE, decode, open_source

if TYPE_CHECKING:
    from rubric_ci.model.diagnostics import Diagnostic

Found: TypeAlias = "tuple[Diagnostic, ...]"


MARK: Final = "rubric-ci:"  # of comments that silence a rule


class Checker:
    """Checks files of one repository under its configuration."""

    def __init__(self, config: Path | None, *, from_root: bool) -> None:
        self.root = discovery.find_root(Path.cwd())
        self.config = config or discovery.config_of(self.root)
        self.facts = self._facts(self.config) if self.config else Facts()
        self._from_root = from_root
        self._targets_beside = cache(self._read_targets_beside)
        self._lookup = cache(lambda folder: discovery.lookup(self.root, folder / "any"))

    def configs(self, evals: Iterable[Path]) -> Iterator[Path]:
        """Yield the configuration and every targets file that serves some eval."""
        found = [self.config] if self.config else []
        folders = dict.fromkeys(path.parent for path in evals)
        for folder in folders or [self.root]:
            found += discovery.targets_of(folder, self.root)
        yield from dict.fromkeys(discovery.shown(path) for path in found)

    def owner_of(self, path: Path) -> Path:
        """Return the JSON Lines file of a sidecar, or the file itself."""
        lines = path.with_suffix(".jsonl")
        if path.suffix == ".yaml" and lines.is_file() and not discovery.holds_cases(path):
            return lines
        return path

    def concerns(self, path: Path) -> bool:
        """Tell whether a file is an eval file, the configuration, or targets that serve evals."""
        if path.name in discovery.TARGETS_NAMES and path.parent.name != ".agentv":
            return any(self._is_eval(beside) for beside in path.parent.glob("*.*"))
        known = (
            path.name in (*discovery.CONFIG_NAMES, *discovery.TARGETS_NAMES) or path == self.config
        )
        return known or self._is_eval(self.owner_of(path))

    def check(self, path: Path) -> Found:
        """Return the problems of a file, as what its name says it is."""
        name = discovery.from_root(path, self.root) if self._from_root else path.as_posix()
        try:
            data = discovery.read_bytes(path, self.root)
        except CannotReadFile as error:
            return _diagnosed(name, LocatedProblem(UNREADABLE, 1, 1, 1, 2, error.message), b"")
        if path.name in discovery.CONFIG_NAMES or path == self.config:
            return self._check_config(name, data, path, targets_only=False)
        if path.name in discovery.TARGETS_NAMES:
            return self._check_config(name, data, path, targets_only=True)
        return self._check_eval(name, data, path)

    def check_stdin(self, data: bytes) -> Found:
        """Return the problems of an eval file that has no name."""
        return self._check_eval("<stdin>", data, Path("stdin.yaml"))

    def _check_eval(self, name: str, data: bytes, path: Path) -> Found:
        text = decode(data)
        if isinstance(text, LocatedProblem):
            return _diagnosed(name, text, data)
        beside = discovery.sidecar_of(path)
        sidecar = self._text(beside) if beside else None
        if isinstance(sidecar, LocatedProblem) and beside:
            unread = sidecar.rule == UNREADABLE
            return _diagnosed(
                beside.as_posix(), sidecar, b"" if unread else discovery.read_bytes(beside)
            )
        source = open_source(name, text, None if isinstance(sidecar, LocatedProblem) else sidecar)
        folder = path.parent
        known = self._targets_beside(folder)
        found = check_evals(source, self._lookup(folder), known.targets, known.agents)
        return self._switched(found, source.texts())

    def _check_config(self, name: str, data: bytes, path: Path, *, targets_only: bool) -> Found:
        text = decode(data)
        if isinstance(text, LocatedProblem):
            return _diagnosed(name, text, data)
        document = Document(name, text)
        others = cache(partial(self._targets_of_others, path))
        found = check_config(document, targets_only=targets_only, others=others)
        return self._switched(found, document.texts())

    def _switched(self, found: Found, texts: Mapping[str, str]) -> Found:
        if not found and not any(MARK in text for text in texts.values()):
            return ()
        from rubric_ci.validation.suppressions import apply_suppressions

        return apply_suppressions(found, texts, self.facts.rules)

    def _is_eval(self, path: Path) -> bool:
        return discovery.is_eval(path, self.facts.globs, self.root)

    def _read_targets_beside(self, folder: Path) -> Facts:
        """Return the targets that serve a folder; the first of a name is the one that counts."""
        known = self.facts
        for path in discovery.targets_of(folder, self.root):
            facts = self._facts(path)
            agents = known.agents | (facts.agents - known.targets)
            known = Facts(targets=known.targets | facts.targets, agents=agents)
        return known

    def _targets_of_others(self, path: Path) -> frozenset[str]:
        """Return the targets that the cases of a file's targets know beside them."""
        folder = path.resolve().parent
        folders = {folder.parent if folder.name == ".agentv" else folder}
        if self.config and path.resolve() == self.config.resolve():
            folders |= {found.resolve().parent for found in self._configured()}
        return frozenset[str]().union(*(self._targets_beside(each).targets for each in folders))

    def _configured(self) -> list[Path]:
        try:
            return discovery.find_evals((), self.facts.globs, self.root)
        except CannotFindEvals:
            return []

    def _text(self, path: Path) -> str | LocatedProblem:
        try:
            return decode(discovery.read_bytes(path, self.root))
        except CannotReadFile as error:
            return LocatedProblem(UNREADABLE, 1, 1, 1, 2, error.message)

    def _facts(self, path: Path) -> Facts:
        text = self._text(path)
        if isinstance(text, LocatedProblem):  # its own check reports it
            return Facts()
        return read_facts(Document(discovery.from_root(path, self.root), text))


def _diagnosed(name: str, problem: LocatedProblem, data: bytes) -> Found:
    from rubric_ci.validation.diagnostics import to_diagnostic
    from rubric_ci.yaml_text.syntax_errors import split_lines

    return (to_diagnostic(name, problem, split_lines(data.decode("utf-8", "replace"))),)
