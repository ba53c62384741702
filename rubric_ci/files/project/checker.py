"""Check files one by one: eval files, targets files and the configuration."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from posixpath import dirname
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rubric_ci.errors import CannotFindEvals, CannotReadFile
from rubric_ci.files.project import eval_search, working_tree
from rubric_ci.files.project.eval_search import NAME_IT, NO_SUITE
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, HIDDEN, folder_served, is_targets_file
from rubric_ci.files.project.project import Project, unreadable
from rubric_ci.files.project.working_tree import WorkingTree
from rubric_ci.files.validation.config_summary import KnownTargets, Prompt, WrittenTarget, texts_of
from rubric_ci.files.validation.rubric_files import ENDING, RUBRIC_UNUSED, IncludedSource
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
from rubric_ci.files.yaml_text.source import decode, open_config
from rubric_ci.system.model_list import known_models
from rubric_ci.values.formats_and_defaults import WAIVERS
from rubric_ci.values.problems import LocatedProblem
from rubric_ci.values.references import Found as Resolved
from rubric_ci.values.references import Lookup

if TYPE_CHECKING:
    from rubric_ci.files.project.near_files import GlobsOfFiles
    from rubric_ci.files.validation.gate_and_waiver_rules import Sizes, States
    from rubric_ci.files.validation.project_rules import Winner
    from rubric_ci.values.diagnostics import Diagnostic
    from rubric_ci.values.references import Machine

Found: TypeAlias = "tuple[Diagnostic, ...]"
FindStates: TypeAlias = "Callable[[Document, Project, Callable[[], Iterable[Path]]], States]"


class Checked(NamedTuple):
    """The problems of a file, and the names of the rubric files that it includes."""

    found: Found
    included: tuple[str, ...] = ()


class Checker:
    def __init__(self, project: Project, states: FindStates, *, from_root: bool) -> None:
        """Name files from the root of the project where `from_root` is True, else as given.

        `states` finds the states of the waivers of a file.
        """
        self.tree = WorkingTree(root=project.root)
        self.project = project
        self._from_root = from_root
        self._states = states
        self._known_targets = cache(self._find_known_targets)
        self._nearest_path = cache(self._find_nearest_path)
        self._globs: GlobsOfFiles | None = None
        self._suites_in = cache(lambda folder: eval_search.suites_in(project, folder))
        self._name = project.name_of

    def find(self, written: str) -> list[Path]:
        """Return the eval files of a path, or of the configuration; raises CannotFindEvals."""
        return eval_search.find_evals(self.project, [written] if written else [])

    def unused(self, rubrics: Iterable[Path], included: Collection[str]) -> Found:
        """Return a note for each rubric file that no eval file or configuration includes."""
        problem = LocatedProblem(RUBRIC_UNUSED, 1, 1, 1, 1, "no eval file includes this file")
        found: list[Diagnostic] = []
        for path in rubrics:
            if self._name(path) in included:
                continue
            with suppress(CannotReadFile):  # it is reported where the file is checked
                data = working_tree.read_bytes(path, self.project.root)
                if isinstance(text := decode(data), str):
                    shown = self._display_name(path)
                    found += self._switched(_diagnosed(shown, problem, data), {shown: text})
        return tuple(found)

    def names_of(self, paths: Iterable[Path]) -> set[str]:
        return set(map(self._name, paths))

    def configs(self, evals: Iterable[Path]) -> Iterator[Path]:
        """Yield the configuration and every targets file that serves an eval file."""
        folders = dict.fromkeys(dirname(self._name(path)) for path in evals) or [""]
        for name in dict.fromkeys(file for each in folders for file in self.project.serving(each)):
            yield working_tree.from_here(self.tree.path(name))
        if self.tree.path(WAIVERS).is_file():
            yield working_tree.from_here(self.tree.path(WAIVERS))

    def owner_of(self, path: Path) -> Path:
        """Return the JSON Lines file of a sidecar, the suite of a file of cases, or the file."""
        lines = path.with_suffix(".jsonl")
        if path.suffix == ".yaml" and lines.is_file() and not eval_search.holds_cases(path):
            return lines
        return eval_search.suite_of(self.project, path, self._suites_in) or path

    def concerns(self, path: Path) -> bool:
        """Return True for eval and rubric files, configuration, and targets of eval files."""
        if is_targets_file(path.absolute().as_posix()):
            return path.parent.name == HIDDEN or bool(self._evals(path.parent.as_posix()))
        known = (*CONFIG_NAMES, WAIVERS)
        if path.name.endswith(ENDING):
            return True
        return (
            path.name in known
            or self._is_config(path)
            or eval_search.is_eval(self.project, self.owner_of(path))
        )

    def check(self, path: Path) -> Checked:
        """Return the problems of a file; its name decides what it is checked as."""
        name = self._display_name(path)
        try:
            data = working_tree.read_bytes(path, self.project.root)
        except CannotReadFile as error:
            return Checked(_diagnosed(name, unreadable(error), b""))
        if path.suffix in SUFFIXES:
            problem = LocatedProblem(CASE_FILE, 1, 1, 1, 2, f"it {NO_SUITE}", NAME_IT)
            return Checked(_diagnosed(name, problem, data))
        return self._check(name, data, path)

    def check_stdin(self, data: bytes) -> Checked:
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
            return Checked(self._switched(*check_rubric(name, text, self._lookup(path))))
        return self._check_eval(name, text, path)

    def _display_name(self, path: Path) -> str:
        return self._name(path) if self._from_root else path.as_posix()

    def _lookup(self, path: Path) -> Lookup:
        return self.project.lookup_in(path.absolute().parent.as_posix())

    def _check_eval(self, name: str, text: str, path: Path) -> Checked:
        beside: str | None = None
        if sidecar := working_tree.sidecar_of(path):
            try:
                data = working_tree.read_bytes(sidecar, self.project.root)
            except CannotReadFile as error:
                return Checked(_diagnosed(self._display_name(sidecar), unreadable(error), b""))
            match decode(data):
                case LocatedProblem() as problem:
                    return Checked(_diagnosed(self._display_name(sidecar), problem, data))
                case beside:
                    pass
        place = path.absolute().as_posix()
        source = self.project.open_eval(self._name(path), text, beside, place=place, shown=name)
        around = Surroundings(
            self._lookup(path),
            self._known_targets(dirname(self._name(path))),
            self._nearest_path,
            default_evaluator=self.project.summary.default_evaluator,
            machine=partial(self._machine, path.parent),
            near_file=partial(self._near_file, path.parent),
            models=known_models,
        )
        raw = source.raw if isinstance(source, IncludedSource) else source
        found = check_evals(source, around)
        found = self._switched(found, source.texts())
        included = tuple(source.files) if isinstance(source, IncludedSource) else ()
        if not found:
            return Checked((), included)
        from dataclasses import replace

        # Problems of included files are named as these files are when they are checked alone.
        files = {
            file: self._display_name(working_tree.from_here(self.tree.path(file)))
            for file in source.texts().keys() - raw.texts().keys()
        }
        named = (replace(each, file=files.get(each.file, each.file)) for each in found)
        return Checked(tuple(named), included)

    def _check_config(self, name: str, text: str, path: Path, *, targets_only: bool) -> Found:
        document = open_config(name, text, path.absolute().as_posix())
        found = check_config(
            document,
            targets_only=targets_only,
            others=cache(partial(self._targets_of_others, path)),
            winners=cache(partial(self._winners, self._name(path))),
            nearest_path=self._nearest_path,
            sizes=cache(partial(self._sizes, self._name(path))),
            models=known_models,
            machine=partial(self._machine, None if path.parent.name == HIDDEN else path.parent),
        )
        near_file = partial(self._near_file, path.parent)
        prompts = check_prompts(document, self._lookup(path), near_file)
        return self._switched((*found, *prompts), document.texts())

    def _check_waivers(self, name: str, text: str) -> Found:
        from rubric_ci.files.validation.validator import check_waivers

        document = Document(name, text)
        states = partial(self._states, document, self.project, partial(self._evals, ""))
        return self._switched(check_waivers(document, states), document.texts())

    def _machine(self, folder: Path | None) -> "Machine":
        from rubric_ci.files.project.near_files import machine_for

        return machine_for(self.project.root, folder, os.environ)

    def _switched(self, found: Found, texts: Mapping[str, str]) -> Found:
        return switched(found, texts, self.project.rules)

    def _is_config(self, path: Path) -> bool:
        return bool(self.project.config_name) and self._name(path) == self.project.config_name

    def _find_known_targets(self, folder: str) -> KnownTargets:
        """Return the targets that serve a folder, the first of a name counts."""
        targets: dict[str, WrittenTarget] = {}
        for file in self.project.serving(folder):
            for name, target in self.project.summarize(file).targets.items():
                targets.setdefault(name, target)
        prompts = self._prompts(targets)
        default = next(iter(targets)) if len(targets) == 1 else "default"
        if default in targets:
            targets[""] = targets[default]
        if default in prompts:
            prompts[""] = prompts[default]
        return KnownTargets(targets, prompts, self.project.summary.compare)

    def _prompts(self, targets: Mapping[str, WrittenTarget]) -> dict[str, Prompt]:
        """Return the prompts of targets, and the bodies of services, by the targets' names."""
        found: dict[str, Prompt] = {}
        for name, (file, provider, target) in targets.items():
            if provider == "http":
                from rubric_ci.text.template import used

                texts = texts_of(target.get("body"))
                read = frozenset[str]().union(*(used(text).names for _, text in texts))
                found[name] = Prompt(name, file, read, is_body=True)
            elif isinstance(written := target.get("prompt"), str):
                from rubric_ci.files.yaml_text.prompt_file import open_prompt

                match self.project.files.lookup(file)(written):
                    case Resolved(path, text):
                        found[name] = Prompt(name, path, open_prompt(path, text).names)
        return found

    def _targets_of_others(self, path: Path) -> frozenset[str]:
        """Return the targets of other files that serve the same eval files as a file."""
        folders = {folder_served(self._name(path))}
        if self._is_config(path):
            folders |= {dirname(self._name(found)) for found in self._evals("")}
        return frozenset[str]().union(*(self._known_targets(each).names for each in folders))

    def _winners(self, name: str) -> "Mapping[str, Winner]":
        """Return the targets of the files that come before a targets file."""
        from rubric_ci.files.validation.project_rules import Winner

        if name == self.project.config_name:
            return {}
        served = folder_served(name)
        above = takewhile(lambda file: file != name, self.project.serving(served))
        below = map(self._name, eval_search.find_targets(self.tree.path(served)))
        before = [Winner(file, "") for file in above]
        before += [Winner(f, folder) for f in below if (folder := folder_served(f)) != served]
        return {
            target: winner
            for winner in reversed(before)
            for target in self.project.summarize(winner.file).targets
        }

    def _near_file(self, folder: Path, reference: str) -> str:
        from rubric_ci.files.project.near_files import near_file  # few references are broken

        return near_file(reference, os.path.realpath(folder), os.path.realpath(self.project.root))

    def _find_nearest_path(self, glob: str) -> str | None:
        from rubric_ci.files.project.near_files import GlobsOfFiles  # few files name globs

        self._globs = self._globs or GlobsOfFiles(self.project.root)
        return self._globs.nearest(glob)

    def _read_or_none(self, name: str) -> bytes | None:
        try:
            return self.tree.read(name)
        except CannotReadFile:
            return None

    def _sizes(self, name: str) -> "Sizes":
        from rubric_ci.files.project.near_files import count_cases  # few configurations name a case

        counted = count_cases(self.project, self._evals(""))
        own = self.project.summarize(name).targets
        return counted._replace(read=self._read_or_none, prompts=partial(self._prompts, own))

    def _evals(self, written: str) -> list[Path]:
        try:
            return self.find(written)
        except CannotFindEvals:
            return []


def _diagnosed(name: str, problem: LocatedProblem, data: bytes) -> Found:
    from rubric_ci.files.validation.located_problems import to_diagnostic
    from rubric_ci.files.yaml_text.syntax_errors import split_lines

    return (to_diagnostic(name, problem, split_lines(data.decode("utf-8", "replace"))),)
