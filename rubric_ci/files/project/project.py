"""The files that serve an eval file: the configuration, the targets files, the rule switches.

The configuration comes first, then the targets file nearest to the eval file, then targets files of
the folders above it. One instance reads one state of the repository: the working tree or a commit.
NOTE: `validate` needs little of it, so modules that create the values of a run are imported late.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple

from rubric_ci.errors import CannotReadFile, InvalidInput
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.file_kinds import (
    CONFIG_NAMES,
    RepositoryFiles,
    agentv_configs,
    sidecar_name,
    targets_candidates,
)
from rubric_ci.files.validation.config_summary import ConfigSummary, summarize_config
from rubric_ci.files.validation.rubric_files import NOT_SHARED, SHARED, Shared, may_include
from rubric_ci.files.yaml_text.source import UNREADABLE, Source, decode, open_config, open_source
from rubric_ci.system.model_list import known_models
from rubric_ci.values.problems import LocatedProblem, errors_of
from rubric_ci.values.references import FindFiles, Found, NotFound, why_no_path

if TYPE_CHECKING:
    from rubric_ci.files.project.loader import Loaded, LoadedConfig, LoadedTargets
    from rubric_ci.values.config import Config
    from rubric_ci.values.diagnostics import Diagnostic


class Policy(NamedTuple):
    """Another project whose judge, gate and rule switches hold."""

    project: "Project"
    govern: "Callable[[Config, Config, bool], Config]"
    """Head's configuration, the base's, and whether the base has one, to what holds."""


def open_checkout(config: Path | None, targets: Sequence[str] = ()) -> "Project":
    """Return the project of the current folder; nothing is checked but that `config` exists.

    `targets` answer every case.
    """
    if config and not os.path.lexists(config):
        here = "paths are named from the folder that the command runs in"
        raise CannotReadFile(f"--config: there is no file {config}", here)
    root = working_tree.find_root(Path.cwd())
    name = working_tree.from_root(config, root) if config else ""
    return Project(working_tree.WorkingTree(root=root), name, targets=targets)


class Project:
    """Finds and reads what the eval files of a repository depend on, each file once."""

    def __init__(
        self,
        files: RepositoryFiles,
        named_config: str = "",
        policy: Policy | None = None,
        *,
        origin: str = "",
        targets: Sequence[str] = (),
    ) -> None:
        """Use `named_config`, if given, instead of the configuration at the root.

        `origin` is what messages call the files if they are not the working tree; `targets`, if
        given, answer every case.
        """
        self.targets = targets
        self.files = files
        self.named_config = named_config
        self.origin = origin
        self.policy = policy
        self.name_of = cache(lambda path: working_tree.from_root(path, files.root))
        self.lookup_in = cache(lambda folder: cache(files.lookup(join(folder, "any"))))
        self._text = cache(self._read_text)
        self.opened = cache(self._open)
        self._targets_files = cache(self._find_targets_files)
        self.load_targets = cache(self._load_targets)
        self.config_with = cache(self._build_config)
        self._governed = cache(self._build_governed)

    def at(
        self, files: RepositoryFiles, policy: Policy | None = None, origin: str = ""
    ) -> "Project":
        """Return the project in another state of the repository, or under another policy."""
        return Project(files, self.named_config, policy, origin=origin, targets=self.targets)

    @cached_property
    def own(self) -> "Project":
        """The project under its own configuration."""
        return self.at(self.files) if self.policy else self

    @property
    def root(self) -> Path:
        return self.files.root

    @cached_property
    def config_name(self) -> str:
        """The file that holds the configuration; empty: there is none."""
        return next(filter(self._exists, self._config_candidates()), "")

    @cached_property
    def summary(self) -> ConfigSummary:
        """The parts of the configuration that have the right shape, errors or not."""
        return self.summarize(self.config_name) if self.config_name else ConfigSummary()

    @property
    def rules(self) -> Mapping[str, str]:
        """The severities that the policy gives to rules."""
        return self._policy_owner.summary.rules

    @property
    def policy_files(self) -> RepositoryFiles:
        """The files that hold what belongs to the policy, such as the calibration."""
        return self._policy_owner.files

    @property
    def _policy_owner(self) -> "Project":
        policy = self.policy.project if self.policy else self
        return policy if policy.config_name else self

    def targets_files(self, eval_file: str) -> tuple[str, ...]:
        """Return the targets files that serve an eval file, the nearest first."""
        return self._targets_files(dirname(eval_file))

    def serving(self, folder: str) -> tuple[str, ...]:
        """Return the files that define targets for the eval files of a folder, the first wins."""
        return (*filter(None, [self.config_name]), *self._targets_files(folder))

    def candidates(self, eval_file: str) -> tuple[str, ...]:
        """Return the files that serve an eval file if they exist, in the order of precedence."""
        folder = dirname(eval_file)
        return (*self._config_candidates(), *targets_candidates(folder), *agentv_configs(folder))

    def summarize(self, name: str) -> ConfigSummary:
        match self.opened(name):
            case None | LocatedProblem():
                return ConfigSummary()
            case opened:
                return summarize_config(opened)

    @cached_property
    def own_config(self) -> "LoadedConfig":
        """The configuration without the targets of targets files, and its problems."""
        from rubric_ci.files.project.loader import LoadedConfig, load_config
        from rubric_ci.values.config import Config

        match self.opened(self.config_name):
            case None:
                return LoadedConfig(Config(), ())
            case LocatedProblem() as problem:
                return LoadedConfig(None, (_diagnostic(self.config_name, problem),))
            case opened:
                lookup = self.files.lookup(self.config_name)
                return load_config(opened, self.rules, lookup=lookup, models=known_models)

    def config_for(self, eval_file: str) -> "Config":
        """Return the configuration with every target that serves an eval file, under the policy.

        Raises InvalidInput if a file that serves it has errors.
        """
        return self._governed(dirname(eval_file))

    def policy_for(self, eval_file: str) -> "Config":
        """Return the configuration that serves an eval file; files with errors have no targets."""
        from rubric_ci.values.config import Config

        return self._with_targets(self.own_config.config or Config(), self.targets_files(eval_file))

    def place_of_variable(self, eval_file: str, name: str) -> str:
        """Return `file:line` of `${{ name }}` in the files that serve an eval file."""
        for file in self.serving(dirname(eval_file)):
            text = self._text(file)
            for number, line in enumerate(text.splitlines() if isinstance(text, str) else (), 1):
                if "{{" in line and name in line and not line.lstrip().startswith("#"):
                    return f"{file}:{number}"
        if self.policy is None:
            return self.config_name or "the configuration"
        policy = self.policy.project
        return f"{policy.place_of_variable(eval_file, name)} of {policy.origin}"

    def first_error(self, eval_file: str) -> "Diagnostic | None":
        """Return the first error of the files that serve an eval file."""
        loaded = map(self.load_targets, self.targets_files(eval_file))
        found = chain(self.own_config.diagnostics, *(each.diagnostics for each in loaded))
        return next(iter(errors_of(found)), None)

    def load(self, name: str, *, place: str = "") -> "Loaded | None":
        """Check and parse an eval file; None: there is no such file.

        `place` is the link through which it was found: references are looked up from there.
        """
        match self._read_text(place or name):
            case None:
                return None
            case str(text):
                return self.load_text(name, text, place=place)
            case problem:
                return _invalid(name, problem)

    def load_text(self, name: str, text: str, *, place: str = "") -> "Loaded":
        from rubric_ci.files.parsing.eval_file import TargetNames
        from rubric_ci.files.project.loader import load_source

        place = place or name
        sidecar = self._read_text(side) if (side := sidecar_name(place)) else None
        if isinstance(sidecar, LocatedProblem):
            return _invalid(sidecar_name(name), sidecar)
        return load_source(
            self.open_eval(name, text, sidecar, place=place),
            self.lookup_in(dirname(place)),
            self.rules,
            default_evaluator=self.summary.default_evaluator,
            targets=TargetNames(self.targets, self.summary.compare),
        )

    def open_eval(
        self, name: str, text: str, sidecar: str | None = None, *, place: str = "", shown: str = ""
    ) -> Source:
        """Return an eval file with the cases and criteria that it has from other files.

        `shown` is what its problems call it.
        """
        opened = self.open_cases(name, text, sidecar, place=place, shown=shown)
        if not self.shared.entries and not may_include(opened):
            return opened
        from rubric_ci.files.validation.includes import with_includes

        return with_includes(opened, self.lookup_in(dirname(place or name)), self.shared)

    def open_cases(
        self, name: str, text: str, sidecar: str | None = None, *, place: str = "", shown: str = ""
    ) -> Source:
        return open_source(shown or name, text, sidecar, self.case_finder(name, place))

    @property
    def shared(self) -> Shared:
        """The criteria that the configuration, or the policy's one, gives to every case."""
        return (self.policy.project if self.policy else self)._own_shared

    @cached_property
    def _own_shared(self) -> Shared:
        opened = self.opened(self.config_name)
        if opened is None or isinstance(opened, LocatedProblem):
            return NOT_SHARED
        if not any(SHARED in text for text in opened.texts().values()):
            return NOT_SHARED
        from rubric_ci.files.validation.includes import shared_of

        return shared_of(opened, self.files.lookup(self.config_name))

    def case_finder(self, name: str, place: str = "") -> FindFiles:
        """Return the search of the files that `evalcases` of an eval file names."""
        lookup = self.lookup_in(dirname(place or name))
        matching = cache(self.files.matching)  # from the root, `../` leads nowhere

        def find(reference: str) -> Sequence[Found | NotFound]:
            if not any(sign in reference for sign in "*?["):
                return [lookup(reference)]
            if refused := why_no_path(reference):
                return [refused]
            glob = normpath(join("/", dirname(name), reference)).lstrip("/")
            names = sorted(matching(glob))
            return [lookup(f"/{name}") for name in names] or [NotFound("no file matches")]

        return find

    def _load_targets(self, name: str) -> "LoadedTargets":
        from rubric_ci.files.project.loader import LoadedTargets, load_targets

        match self.opened(name):
            case None:
                return LoadedTargets((), ())
            case LocatedProblem() as problem:
                return LoadedTargets((), (_diagnostic(name, problem),))
            case opened:
                lookup = self.files.lookup(name)
                return load_targets(opened, self.rules, lookup=lookup, models=known_models)

    def _build_config(self, targets_files: tuple[str, ...]) -> "Config":
        if self.own_config.config is None:
            raise _has_problems(self.config_name, self.own_config.diagnostics)
        for name in targets_files:
            loaded = self.load_targets(name)
            if errors_of(loaded.diagnostics) and not loaded.targets:
                raise _has_problems(name, loaded.diagnostics)
        return self._with_targets(self.own_config.config, targets_files)

    def _with_targets(self, config: "Config", files: Iterable[str]) -> "Config":
        """Return the configuration with the targets of files; the first of a name counts."""
        from dataclasses import replace

        found = (target for name in files for target in self.load_targets(name).targets)
        targets = dict(config.targets)
        for each in found:
            targets.setdefault(each.name, each)
        return replace(config, targets=targets)

    def _build_governed(self, folder: str) -> "Config":
        config = self.config_with(self._targets_files(folder))
        if self.policy:
            policy = self.policy.project
            base = policy.policy_for(join(folder, "any"))
            config = self.policy.govern(config, base, bool(policy.config_name))
        return config

    def _config_candidates(self) -> tuple[str, ...]:
        return (self.named_config,) if self.named_config else CONFIG_NAMES

    def _find_targets_files(self, folder: str) -> tuple[str, ...]:
        return tuple(filter(self._exists, targets_candidates(folder)))

    def _exists(self, name: str) -> bool:
        return self._text(name) is not None

    def _open(self, name: str) -> Source | LocatedProblem | None:
        """Return a configuration or a targets file; None: there is none."""
        text = self._text(name) if name else None
        return open_config(name, text) if isinstance(text, str) else text

    def _read_text(self, name: str) -> str | LocatedProblem | None:
        try:
            data = self.files.read(name)
        except CannotReadFile as error:
            return unreadable(error)
        return None if data is None else decode(data)


def unreadable(error: CannotReadFile) -> LocatedProblem:
    """Return why a file cannot be read as a problem of that file."""
    return LocatedProblem(UNREADABLE, 1, 1, 1, 2, error.message)


def _diagnostic(name: str, problem: LocatedProblem) -> "Diagnostic":
    from rubric_ci.files.validation.located_problems import to_diagnostic

    return to_diagnostic(name, problem, [])


def _invalid(name: str, problem: LocatedProblem) -> "Loaded":
    from rubric_ci.files.project.loader import Loaded

    return Loaded(None, (_diagnostic(name, problem),))


def _has_problems(name: str, found: "Iterable[Diagnostic]") -> InvalidInput:
    hint = "fix them and run again (no case was graded)"
    return InvalidInput(f"{name} has problems", hint, problems=errors_of(found))
