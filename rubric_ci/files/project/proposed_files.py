"""The files that a run of a stranger's commit reads: texts of the commit, settings of the checkout.

Both are git objects. A file is a setting by its name, so that no name of the commit can be one.
"""

from collections.abc import Iterable
from pathlib import Path
from posixpath import basename
from typing import Final

from rubric_ci.errors import CannotReadFile
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, HIDDEN, is_targets_file
from rubric_ci.system.git.proposal import Proposal
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.option_values import CALIBRATION, LABELS, WAIVERS
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


def is_setting(name: str) -> bool:
    """Return True for a file whose content configures a run."""
    known = basename(name) in _SETTINGS or is_targets_file(name)
    return known or HIDDEN in name.split("/")
