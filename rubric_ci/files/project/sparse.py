"""A sparse checkout: the eval files of git's index that it leaves out would look removed."""

from collections.abc import Collection, Iterable
from typing import Final

from rubric_ci.errors import CannotFindEvals
from rubric_ci.files.project.base_state import BaseSearch
from rubric_ci.files.project.change import Change
from rubric_ci.files.project.project import Project
from rubric_ci.system.git.snapshot import of_objects
from rubric_ci.text.numbers import listed

_SHOWN: Final = 3  # files in a message


def check_whole(
    change: Change, project: Project, found: Collection[str], was: Iterable[str] = ()
) -> None:
    """Raise CannotFindEvals if a sparse checkout leaves out eval files of PATHS.

    So it does for the configuration of the eval files that were found, and for files of the base.
    """
    if not (absent := change.left_out):
        return
    search = BaseSearch(project, of_objects(change.repository, absent))
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
