"""Select the cases that a stranger's commit affects, and say which of them are not gradable.

A run reads texts of the commit and settings of the checkout. Both are git objects; a file is a
setting by its name, so that no name of the commit can be one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from posixpath import basename
from typing import Final

from rubric_ci.errors import CannotConfigure, CannotFindEvals, CannotReadFile
from rubric_ci.files.project.base_state import BaseSearch
from rubric_ci.files.project.change import Change
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, HIDDEN, is_targets_file
from rubric_ci.files.project.loaded_project import LoadedProject, load_names
from rubric_ci.files.project.project import Project
from rubric_ci.gate.policy.checkout import under_policy
from rubric_ci.gate.selection.compare_cases import Key, Selection, matched
from rubric_ci.gate.selection.dependencies import ChangedPaths, changed
from rubric_ci.gate.selection.untrusted import TrustedWork, not_gradable, within_caps
from rubric_ci.grading.resolve import choose_target, lacks_target
from rubric_ci.system.git.proposal import Proposal
from rubric_ci.text import escape
from rubric_ci.values.changes import Base
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.formats_and_defaults import CALIBRATION, LABELS, WAIVERS
from rubric_ci.values.references import IS_POINTER, LFS_POINTER, Found, Lookup, NotFound

_SETTINGS: Final = frozenset((*CONFIG_NAMES, CALIBRATION, LABELS, WAIVERS))
_IN_LFS: Final = "is in Git LFS, which is not fetched for an untrusted change"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedFiles:
    """Implements `RepositoryFiles` with a proposal."""

    proposal: Proposal
    named_config: str = ""

    @property
    def root(self) -> Path:
        """The folder of the working tree, from which nothing is read."""
        return self.proposal.now.root

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes, None if there is no such file; raises CannotReadFile for LFS."""
        data = (self.proposal.then if self._is_setting(name) else self.proposal.now).read(name)
        if data is not None and data.startswith(LFS_POINTER):
            raise CannotReadFile(f"{name} {_IN_LFS}")
        return data

    def lookup(self, name: str) -> Lookup:
        """Return the lookup of the references of an eval file."""
        resolve = self.proposal.now.lookup(name)
        settings = self.proposal.then.lookup(name)

        def found(reference: str) -> Found | NotFound:
            known = resolve(reference)
            if isinstance(known, Found) and self._is_setting(known.path):
                known = settings(reference)
            if isinstance(known, NotFound) and known.reason == IS_POINTER:
                return NotFound(_IN_LFS)
            return known

        return found

    def matching(self, glob: str) -> Iterable[str]:
        """Return the files that match a glob from the root."""
        return self.proposal.now.matching(glob)

    def _is_setting(self, name: str) -> bool:
        return name == self.named_config or is_setting(name)


def open_proposed(checkout: Project, change: Change, proposal: Proposal) -> Project:
    """Return the project of a stranger's commit under the configuration of the checkout.

    Raises CannotConfigure if the checkout has no configuration in git.
    """
    files = ProposedFiles(proposal=proposal, named_config=checkout.named_config)
    own = Project(files, checkout.named_config, targets=checkout.targets)
    if not own.config_name:
        raise CannotConfigure(
            "--untrusted: the checkout has no configuration in git",
            "commit rubric-ci.yaml to the base branch: judge, targets and caps come from there",
        )
    return under_policy(own, "", change)


def load_proposed(
    project: Project, change: Change, proposal: Proposal, paths: Sequence[str]
) -> LoadedProject:
    """Load the eval files of PATHS, or of the configured globs; raises CannotFindEvals."""
    names = list(BaseSearch(project, proposal.now).find(paths, lambda _: False))
    if not names:
        raise CannotFindEvals(
            f"{escape.commit(proposal.commit)} has no eval file", "pass paths of its eval files"
        )
    return load_names(project, {name: name for name in names}, change)


def with_configured(selection: Selection, loaded: LoadedProject, base: Base) -> Selection:
    """Return the selection with all cases whose settings the commit changes."""
    chosen = {case.key for case, _ in selection.chosen}
    further = tuple(
        (case, why)
        for case in loaded.cases
        if case.key not in chosen and (why := _configured(case, loaded, base))
    )
    return replace(selection, chosen=(*selection.chosen, *further))


def with_reasons(
    selection: Selection, loaded: LoadedProject, base: Base, override: str
) -> Selection:
    """Return the selection with the cases that are not gradable, and why."""
    found = dict(_reasons(selection, loaded, base, override))
    gradable = [case for case, _ in selection.chosen if case.key not in found]

    def prompt_of(case: EvalCase) -> str:
        config = loaded.config_for(case.file)
        return "".join(choose_target(case, config, override).request_texts)

    found |= within_caps(gradable, prompt_of, loaded.config.untrusted)
    reasons = {key: not_gradable(reason) for key, reason in found.items()}
    return replace(selection, not_gradable=reasons)


def proposal_notes(proposal: Proposal) -> tuple[str, ...]:
    """Return the entry of a report for a stranger's commit."""
    commit, base = escape.commit(proposal.commit), escape.commit(proposal.base)
    notes = [f"Untrusted change: texts come from {commit}, everything else from {base}."]
    names = [each.path for each in proposal.changes if is_setting(each.path)]
    if names:
        notes.append(f"Not read, as configuration comes from the checkout: {changed(names)}.")
    return tuple(notes)


def _configured(case: EvalCase, loaded: LoadedProject, base: Base) -> str:
    """Return the settings of a case that the commit changes."""
    differing = loaded.change.at(base).difference.changed_paths
    return changed([name for name in loaded.project.candidates(case.file) if name in differing])


def _reasons(
    selection: Selection, loaded: LoadedProject, base: Base, override: str
) -> Iterator[tuple[Key, str]]:
    state, difference = loaded.at_base(base), loaded.change.at(base).difference
    names = {name for file in state.files for name in loaded.project.candidates(file)}
    paths = ChangedPaths(sorted(difference.changed_paths), {*state.files, *names})
    trusted = TrustedWork(state.cases, paths)
    before: Mapping[Key, EvalCase] = matched(loaded.cases, state.cases)
    for case, _ in selection.chosen:
        if edited := _configured(case, loaded, base):
            yield case.key, f"{edited}, and configuration comes from the checkout"
            continue
        config = loaded.config_for(case.file)
        if lacks_target(case, config, override):
            yield case.key, f"target `{case.target}` is not one of the checkout"
            continue
        target = choose_target(case, config, override)
        if why := trusted.why_not(case, before.get(case.key), target):
            yield case.key, why


def is_setting(name: str) -> bool:
    """Return True for a file whose content configures a run."""
    known = basename(name) in _SETTINGS or is_targets_file(name)
    return known or HIDDEN in name.split("/")
