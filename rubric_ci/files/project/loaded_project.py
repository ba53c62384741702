"""From the current folder to the cases that a command works on, one value a step.

`open_checkout` (`project.py`) gives a `Project`, which reads files; `open_project` prints what is
wrong with its configuration, and `gate/policy/checkout.py` puts it under the policy of a `Change`.
`find_evals` gives paths, `load_evals` a `LoadedProject` with cases, `at_base` its `BaseState`.
"""

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from posixpath import dirname
from typing import Final

import click

from rubric_ci.errors import CannotConfigure, CannotFindEvals, InvalidInput
from rubric_ci.files.parsing import env_vars
from rubric_ci.files.parsing.env_vars import Variables
from rubric_ci.files.project import eval_search, working_tree
from rubric_ci.files.project.base_state import BaseSearch, BaseState, state_at
from rubric_ci.files.project.change import Change
from rubric_ci.files.project.project import Project, open_checkout
from rubric_ci.files.validation.problem_formats import headline
from rubric_ci.system import output_and_masking
from rubric_ci.system.actions_runner import how_to_set
from rubric_ci.system.git.snapshot import committed_files
from rubric_ci.system.output_and_masking import wrapped
from rubric_ci.text import escape
from rubric_ci.text.numbers import listed
from rubric_ci.values.changes import Base
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.evals import EvalCase, EvalFile
from rubric_ci.values.problems import errors_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedProject:
    """Eval files with their problems, and the project that they belong to."""

    project: Project
    files: tuple[EvalFile, ...]  # those without errors
    diagnostics: tuple[Diagnostic, ...]
    invalid: tuple[str, ...]  # eval files with errors, as reports name them
    change: Change  # what the checkout is compared with
    unread: tuple[str, ...] = ()  # eval files that were found and need not be read

    @property
    def root(self) -> Path:
        return self.project.root

    @property
    def cases(self) -> tuple[EvalCase, ...]:
        return tuple(case for file in self.files for case in file.cases)

    def check_valid(self) -> None:
        """Raise InvalidInput if an eval file has errors."""
        if self.invalid:
            raise self.problems

    @property
    def problems(self) -> InvalidInput:
        """The problems of the eval files that are not loaded, as one error."""
        names = ", ".join(self.invalid)
        errors = errors_of(self.diagnostics)
        return InvalidInput(f"{names}: invalid", "run `rubric-ci validate`", problems=errors)

    @property
    def config(self) -> Config:
        """The configuration with the targets that serve the root: for all but targets."""
        return self.project.config_for("")

    def config_for(self, eval_file: str) -> Config:
        return self.project.config_for(eval_file)

    def variables(self, environment: Mapping[str, str], eval_file: str = "") -> Variables:
        """Return the variables that the configuration of an eval file may use."""
        listed = self.config_for(eval_file).env_allow
        place = partial(self.project.place_of_variable, eval_file)
        advice = partial(how_to_set, environment=environment)
        return Variables(environment=environment, listed=listed, place=place, advice=advice)

    @property
    def found(self) -> frozenset[str]:
        return frozenset((*(file.path for file in self.files), *self.invalid, *self.unread))

    def at_base(self, base: Base) -> BaseState:
        """Return the project and the cases of a base.

        Raises CannotFindEvals if a sparse checkout leaves eval files out.
        """
        state = state_at(self.change.at(base), self.project, self.files, self.found)
        check_whole(self.change, self.project, self.found, was=state.files)
        return state

    def config_naming(self, target: str) -> Config:
        """Return the configuration for a target that serves every eval file.

        Raises CannotConfigure if eval files have different targets of that name.
        """
        configs = list(map(self.config_for, dict.fromkeys(file.path for file in self.files)))
        first, *others = configs or [self.config]
        if any(each.targets.get(target) != first.targets.get(target) for each in others):
            raise CannotConfigure(
                f"the eval files have different targets `{target}`",
                "run it for the eval files of one folder, or name a model",
            )
        return first


def load_project(
    paths: Sequence[str], project: Project, change: Change | None = None
) -> LoadedProject:
    """Load every eval file that the paths name.

    Problems of eval files are values. Raises InvalidInput if a targets file has errors,
    CannotFindEvals if a path names no eval file.
    """
    return load_evals(project, find_evals(project, paths), change)


def open_project(config: Path | None, targets: Sequence[str] = ()) -> Project:
    """Open the checkout, print the problems of its configuration and hide its secrets.

    `targets` answer every case. Raises InvalidInput if the files that serve the root have errors.
    """
    project = open_checkout(config, targets)
    if config:
        working_tree.read_bytes(config, project.root)  # raises if it is no text
    show_problems(project.own_config.diagnostics)
    _show_problems_of_targets(project, project.targets_files(""))
    try:
        mask_secrets(project.config_for(""))
    except InvalidInput as error:
        error.hint = _who_fixes(error, project) or error.hint
        raise
    return project


def _who_fixes(error: InvalidInput, project: Project) -> str:
    """Return where to fix a file that a change did not touch; empty: in the change."""
    change = Change(project.root)
    base = change.policy
    if not isinstance(base, Base):
        return ""
    before = change.at(base).committed
    if any(before.read(each.file) != project.files.read(each.file) for each in error.problems):
        return ""
    branch = f"{base.origin} ({escape.commit(base.commit)})"
    return f"it is the same in {branch}: fix it there, then update this branch"


def find_evals(project: Project, paths: Sequence[str]) -> tuple[Path, ...]:
    """Return the eval files that the paths name; reads the targets files that serve them.

    Raises InvalidInput if a targets file has errors, CannotFindEvals if a path names no eval file.
    """
    found = tuple(eval_search.find_evals(project, paths))
    names = {dirname(name): name for name in map(project.name_of, found)}.values()  # one a folder
    serving = dict.fromkeys(file for name in names for file in project.targets_files(name))
    shown = project.targets_files("")
    _show_problems_of_targets(project, [file for file in serving if file not in shown])
    for name in names:
        mask_secrets(project.config_for(name))
    return found


def load_evals(
    project: Project, paths: Sequence[Path], change: Change | None = None
) -> LoadedProject:
    """Load eval files that were found; without a change, no option names a base."""
    places = {project.name_of(path): path.absolute().as_posix() for path in paths}
    return load_names(project, places, change or Change(project.root))


def load_names(project: Project, places: Mapping[str, str], change: Change) -> LoadedProject:
    """Load eval files by their names in reports, each from a place; see `Project.load`.

    A file of cases that a suite among them names is loaded with the suite only.
    """
    found = {name: project.load(name, place=place) for name, place in places.items()}
    suites = [each.eval_file for each in found.values() if each and each.eval_file]
    owned = {case.file for suite in suites for case in suite.cases if case.file != suite.path}
    loaded = {name: each for name, each in found.items() if each and name not in owned}
    files = tuple(each.eval_file for each in loaded.values() if each.eval_file)
    _check_owners(files)
    return LoadedProject(
        project=project,
        files=files,
        diagnostics=tuple(problem for each in loaded.values() for problem in each.diagnostics),
        invalid=tuple(name for name, each in loaded.items() if not each.eval_file),
        change=change,
    )


def _check_owners(files: Sequence[EvalFile]) -> None:
    """Raise CannotConfigure for a file of cases that several suites name."""
    owners: dict[str, str] = {}
    for suite in files:
        for name in dict.fromkeys(case.file for case in suite.cases):
            first = owners.setdefault(name, suite.path)
            if first != suite.path:
                raise CannotConfigure(
                    f"the cases of {name} belong to {first} and to {suite.path}",
                    "reports identify a case by its file and id: name the file in one suite",
                )


def mask_secrets(config: Config) -> None:
    """Replace the secrets of a configuration by `***` in every output from now on."""
    substituted = tuple(env_vars.substituted(config, os.environ))
    output_and_masking.hide((*env_vars.written(config), *substituted))
    output_and_masking.mask_on_runner(substituted)


def show_problems(diagnostics: Sequence[Diagnostic]) -> None:
    """Print problems on standard error, one line each, with workflow commands disabled."""
    for problem in diagnostics:
        click.echo(wrapped(escape.log_line(headline(problem)), sys.stderr), err=True)


def _show_problems_of_targets(project: Project, names: Iterable[str]) -> None:
    for name in names:
        show_problems(project.load_targets(name).diagnostics)


_SHOWN: Final = 3  # files in a message


def check_whole(
    change: Change, project: Project, found: Collection[str], was: Iterable[str] = ()
) -> None:
    """Raise CannotFindEvals if a sparse checkout leaves out eval files of PATHS.

    So it does for the configuration of the eval files that were found, and for files of the base.
    """
    if not (absent := change.left_out):
        return
    search = BaseSearch(project, committed_files(change.repository, absent))
    missing = {*search.find(change.options.paths, found.__contains__)}
    missing.update(name for file in found for name in project.candidates(file) if name in absent)
    missing.update(name for name in was if name in absent)
    if missing:
        raise CannotFindEvals(
            f"this checkout is sparse, without {listed(sorted(missing), _SHOWN)}: the cases "
            "there would look removed",
            "check out these folders (`git sparse-checkout add`, `sparse-checkout` of "
            "actions/checkout), or pass as PATHS those that are there",
        )
