"""Check files one by one: eval files, targets files and the configuration."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import takewhile
from os import environ
from pathlib import Path
from posixpath import dirname
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from rubric_ci.errors import CannotFindEvals, CannotReadFile
from rubric_ci.files.project import discovery, eval_search
from rubric_ci.files.project.eval_search import NAME_IT, NO_SUITE
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, HIDDEN, folder_served, is_targets_file
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import WorkingTree
from rubric_ci.files.validation.config_summary import ConfigSummary, KnownTargets, Prompt, texts_of
from rubric_ci.files.validation.included_source import IncludedSource, may_include
from rubric_ci.files.validation.rubric_files import ENDING, RUBRIC_UNUSED
from rubric_ci.files.validation.validator import (
    Surroundings,
    check_config,
    check_evals,
    check_prompts,
    check_rubric,
    switched,
)
from rubric_ci.files.yaml_text.csv_cases import CASE_FILE, SUFFIXES
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.opened import open_config, open_source
from rubric_ci.files.yaml_text.source import UNREADABLE, Source, decode
from rubric_ci.system.model_list import known_models
from rubric_ci.values.formats_and_defaults import WAIVERS
from rubric_ci.values.problems import LocatedProblem
from rubric_ci.values.references import Found as Resolved
from rubric_ci.values.references import Lookup

if TYPE_CHECKING:
    from rubric_ci.files.project.near_files import GlobsOfFiles
    from rubric_ci.files.validation.gate_rules import Sizes
    from rubric_ci.files.validation.project_rules import Winner
    from rubric_ci.files.validation.waiver_rules import States
    from rubric_ci.values.diagnostics import Diagnostic
    from rubric_ci.values.references import Machine

T = TypeVar("T")
Found: TypeAlias = "tuple[Diagnostic, ...]"
FindStates: TypeAlias = "Callable[[Document, Project, Callable[[], Iterable[Path]]], States]"


def open_unchecked(config: Path | None) -> Project:
    """Return the project of the current folder, under its own rule switches."""
    root = discovery.find_root(Path.cwd())
    name = discovery.from_root(config, root) if config else ""
    return Project(WorkingTree(root=root), name)


class Checked(NamedTuple):
    """The problems of a file, and the names of the rubric files that it includes."""

    found: Found
    included: tuple[str, ...] = ()


class Checker:
    """Checks files of one repository under its configuration."""

    def __init__(self, project: Project, states: FindStates, *, from_root: bool) -> None:
        """Name files from the root of the project where `from_root` is True, else as given.

        `states` finds the states of the waivers of a file.
        """
        root = project.root
        self.tree = WorkingTree(root=root)
        self.project = project
        self._from_root = from_root
        self._states = states
        self._targets_of = cache(self._summarize_targets)
        self._nearest_path = cache(self._find_nearest_path)
        self._globs: GlobsOfFiles | None = None
        self._suites_in = cache(lambda folder: eval_search.suites_in(project, folder))
        self._name = project.name_of
        self._lookup = cache(lambda folder: discovery.lookup(root, folder / "any"))

    def find(self, written: str) -> list[Path]:
        """Return the eval files of a path, or of the configuration; raises CannotFindEvals."""
        return eval_search.find_evals(self.project, [written] if written else [])

    def unused(self, rubrics: Iterable[Path], included: Collection[str]) -> Found:
        """Return a note for each rubric file that no eval file or configuration includes."""
        problem = LocatedProblem(RUBRIC_UNUSED, 1, 1, 1, 1, "no eval file includes this file")
        left = [path for path in rubrics if self._name(path) not in included]
        texts = {self._shown(path): self._text(path) for path in left}
        return tuple(
            each
            for shown, text in texts.items()
            if isinstance(text, str)
            for each in self._switched(_diagnosed(shown, problem, text.encode()), {shown: text})
        )

    def names_of(self, paths: Iterable[Path]) -> set[str]:
        """Return the names of files from the root."""
        return set(map(self._name, paths))

    def configs(self, evals: Iterable[Path]) -> Iterator[Path]:
        """Yield the configuration and every targets file that serves an eval file."""
        folders = dict.fromkeys(dirname(self._name(path)) for path in evals) or [""]
        for name in dict.fromkeys(file for each in folders for file in self.project.serving(each)):
            yield discovery.shown(self.tree.path(name))
        if self.tree.path(WAIVERS).is_file():
            yield discovery.shown(self.tree.path(WAIVERS))

    def owner_of(self, path: Path) -> Path:
        """Return the JSON Lines file of a sidecar, the suite of a file of cases, or the file."""
        lines = path.with_suffix(".jsonl")
        if path.suffix == ".yaml" and lines.is_file() and not discovery.holds_cases(path):
            return lines
        return eval_search.suite_of(self.project, path, self._suites_in) or path

    def concerns(self, path: Path) -> bool:
        """Return True for eval and rubric files, configuration, and targets of eval files."""
        if is_targets_file(path.absolute().as_posix()):
            return path.parent.name == HIDDEN or bool(self._evals(path.parent.as_posix()))
        known = (*CONFIG_NAMES, WAIVERS)
        if path.name.endswith(ENDING):
            return True
        return path.name in known or self._is_config(path) or self._is_eval(self.owner_of(path))

    def check(self, path: Path) -> Checked:
        """Return the problems of a file; its name decides what it is checked as."""
        name = self._shown(path)
        try:
            data = discovery.read_bytes(path, self.project.root)
        except CannotReadFile as error:
            problem = LocatedProblem(UNREADABLE, 1, 1, 1, 2, error.message)
            return Checked(_diagnosed(name, problem, b""))
        if path.suffix in SUFFIXES:
            problem = LocatedProblem(CASE_FILE, 1, 1, 1, 2, f"it {NO_SUITE}", NAME_IT)
            return Checked(_diagnosed(name, problem, data))
        return self._check(name, data, path)

    def check_stdin(self, data: bytes) -> Checked:
        """Return the problems of an eval file that has no name."""
        return self._check("<stdin>", data, Path("stdin.yaml"))

    def _check(self, name: str, data: bytes, path: Path) -> Checked:
        text = decode(data)
        if isinstance(text, LocatedProblem):
            return Checked(_diagnosed(name, text, data))
        if path.name in CONFIG_NAMES or self._is_config(path):
            found = self._check_config(name, text, path, targets_only=False)
            return Checked(found, tuple(self.project.shared.files))
        if is_targets_file(path.absolute().as_posix()):
            return Checked(self._check_config(name, text, path, targets_only=True))
        if self._name(path) == WAIVERS:
            return Checked(self._check_waivers(name, text))
        if path.name.endswith(ENDING):
            return Checked(self._check_rubric(name, text, path))
        return self._check_eval(name, text, path)

    def _check_rubric(self, name: str, text: str, path: Path) -> Found:
        found, texts = check_rubric(name, text, self._lookup(path.parent))
        return switched(found, texts, self.project.rules)

    def _included(self, source: Source, lookup: Lookup) -> Source:
        """Return a source with the criteria that it includes and shares."""
        if not self.project.shared.entries and not may_include(source):
            return source
        from rubric_ci.files.validation.includes import with_includes

        return with_includes(source, lookup, self.project.shared)

    def _shown(self, path: Path) -> str:
        return self._name(path) if self._from_root else path.as_posix()

    def _check_eval(self, name: str, text: str, path: Path) -> Checked:
        sidecar_path = discovery.sidecar_of(path)
        sidecar = self._text(sidecar_path) if sidecar_path else None
        if isinstance(sidecar, LocatedProblem) and sidecar_path:
            unread = sidecar.rule == UNREADABLE
            content = b"" if unread else discovery.read_bytes(sidecar_path, self.project.root)
            return Checked(_diagnosed(sidecar_path.as_posix(), sidecar, content))
        beside = None if isinstance(sidecar, LocatedProblem) else sidecar
        known = self._targets_of(dirname(self._name(path)))
        lookup = self._lookup(path.parent)
        opened = open_source(name, text, beside, self.project.case_finder(self._name(path)))
        source = self._included(opened, lookup)
        around = Surroundings(
            lookup,
            KnownTargets(
                known.targets,
                known.agents,
                self._prompts(known),
                self.project.summary.compare,
                _with_default(known.without_calls, known),
                _with_default(known.programs, known),
                _with_default(known.models, known),
            ),
            self._nearest_path,
            default_evaluator=self.project.summary.default_evaluator,
            machine=partial(self._machine, path.parent),
            near_file=partial(self._near_file, path.parent),
            models=known_models,
        )
        found = self._switched(check_evals(source, around), source.texts())
        included = tuple(source.files) if isinstance(source, IncludedSource) else ()
        return Checked(self._placed(found, included) if found else (), included)

    def _placed(self, found: Found, included: Collection[str]) -> Found:
        """Return problems with included files named as any other file is."""
        from dataclasses import replace

        shown = {file: self._shown(discovery.shown(self.tree.path(file))) for file in included}
        return tuple(
            replace(each, file=shown[each.file]) if each.file in shown else each for each in found
        )

    def _check_config(self, name: str, text: str, path: Path, *, targets_only: bool) -> Found:
        document = open_config(name, text, path.absolute().as_posix())
        others = cache(partial(self._targets_of_others, path))
        found = check_config(
            document,
            targets_only=targets_only,
            others=others,
            winners=cache(partial(self._winners, self._name(path))),
            nearest_path=self._nearest_path,
            sizes=cache(partial(self._sizes, self._name(path))),
            models=known_models,
            machine=partial(self._machine, None if path.parent.name == HIDDEN else path.parent),
        )
        near_file = partial(self._near_file, path.parent)
        prompts = check_prompts(document, self._lookup(path.parent), near_file)
        return self._switched((*found, *prompts), document.texts())

    def _check_waivers(self, name: str, text: str) -> Found:
        from rubric_ci.files.validation.validator import check_waivers

        document = Document(name, text)
        evals = partial(self._evals, "")
        states = partial(self._states, document, self.project, evals)
        return self._switched(check_waivers(document, states), document.texts())

    def _machine(self, folder: Path | None) -> "Machine":
        from rubric_ci.files.project.working_tree import machine_for

        return machine_for(self.project.root, folder, environ)

    def _switched(self, found: Found, texts: Mapping[str, str]) -> Found:
        return switched(found, texts, self.project.rules)

    def _text(self, path: Path) -> str | LocatedProblem:
        try:
            return decode(discovery.read_bytes(path, self.project.root))
        except CannotReadFile as error:
            return LocatedProblem(UNREADABLE, 1, 1, 1, 2, error.message)

    def _is_config(self, path: Path) -> bool:
        return bool(self.project.config_name) and self._name(path) == self.project.config_name

    def _is_eval(self, path: Path) -> bool:
        return eval_search.is_eval(self.project, path)

    def _summarize_targets(self, folder: str) -> ConfigSummary:
        """Return the targets that serve a folder; the first of a name counts."""
        known = ConfigSummary()
        for name in self.project.serving(folder):
            summary, new = self.project.summarize(name), partial(_new, known)
            known = ConfigSummary(
                targets=known.targets | summary.targets,
                agents=known.agents | (summary.agents - known.targets),
                prompts={**known.prompts, **new(summary.prompts)},
                bodies={**summary.bodies, **known.bodies},
                without_calls={**known.without_calls, **new(summary.without_calls)},
                programs={**known.programs, **new(summary.programs)},
                models={**known.models, **new(summary.models)},
            )
        return known

    def _prompts(self, known: ConfigSummary) -> "Mapping[str, Prompt]":
        """Return the prompts of targets by name, of the default one also under ""."""
        if not (known.prompts or known.bodies):
            return {}
        from rubric_ci.files.yaml_text.prompt_file import open_prompt
        from rubric_ci.text.template import used

        found = {}
        for target, (file, body) in known.bodies.items():
            read = frozenset[str]().union(*(used(text).names for _, text in texts_of(body)))
            found[target] = Prompt(target, file, read, is_body=True)
        for target, (file, written) in known.prompts.items():
            match self.project.files.lookup(file)(written):
                case Resolved(path, text):
                    found[target] = Prompt(target, path, open_prompt(path, text).names)
        return _with_default(found, known)

    def _targets_of_others(self, path: Path) -> frozenset[str]:
        """Return the targets of other files that serve the same eval files as a file."""
        folders = {folder_served(self._name(path))}
        if self._is_config(path):
            folders |= {dirname(self._name(found)) for found in self._evals("")}
        return frozenset[str]().union(*(self._targets_of(each).targets for each in folders))

    def _winners(self, name: str) -> "Mapping[str, Winner]":
        """Return the targets of the files that come before a targets file."""
        from rubric_ci.files.validation.project_rules import Winner

        winners: dict[str, Winner] = {}
        for file, folder in self._files_before(name):
            for target in self.project.summarize(file).targets:
                winners.setdefault(target, Winner(file, folder))
        return winners

    def _files_before(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield files that come before a targets file, each with a folder if only for it."""
        if name == self.project.config_name:
            return
        served = folder_served(name)
        for file in takewhile(lambda file: file != name, self.project.serving(served)):
            yield file, ""
        for path in discovery.find_targets(self.tree.path(served)):
            file = self._name(path)
            if folder_served(file) != served:
                yield file, folder_served(file)

    def _near_file(self, folder: Path, reference: str) -> str:
        from rubric_ci.files.project.near_files import near_file  # few references are broken

        return near_file(reference, os.path.realpath(folder), os.path.realpath(self.project.root))

    def _find_nearest_path(self, glob: str) -> str | None:
        from rubric_ci.files.project.near_files import GlobsOfFiles  # few files name globs

        self._globs = self._globs or GlobsOfFiles(self.project.root)
        return self._globs.nearest(glob)

    def _read(self, name: str) -> bytes | None:
        try:
            return self.tree.read(name)
        except CannotReadFile:
            return None

    def _sizes(self, name: str) -> "Sizes":
        from rubric_ci.files.project.eval_search import count_cases

        counted = count_cases(self.project, self._evals(""))
        return counted._replace(
            read=self._read, prompts=lambda: self._prompts(self.project.summarize(name))
        )

    def _evals(self, written: str) -> list[Path]:
        try:
            return self.find(written)
        except CannotFindEvals:
            return []


def _new(known: ConfigSummary, by_target: Mapping[str, T]) -> Mapping[str, T]:
    """Return the values of targets that an earlier file does not define."""
    return {name: each for name, each in by_target.items() if name not in known.targets}


def _with_default(by_target: Mapping[str, T], known: ConfigSummary) -> Mapping[str, T]:
    """Return values by target, the default target's also under ""."""
    default = next(iter(known.targets)) if len(known.targets) == 1 else "default"
    return {**by_target, **({"": by_target[default]} if default in by_target else {})}


def _diagnosed(name: str, problem: LocatedProblem, data: bytes) -> Found:
    from rubric_ci.files.validation.located_problems import to_diagnostic
    from rubric_ci.files.yaml_text.syntax_errors import split_lines

    return (to_diagnostic(name, problem, split_lines(data.decode("utf-8", "replace"))),)
