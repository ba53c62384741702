"""Search the eval files of a project: those of PATHS, or those that its configuration names."""

import os
from collections.abc import Sequence
from pathlib import Path

from rubric_ci.errors import CannotFindEvals
from rubric_ci.project import discovery
from rubric_ci.project.project import Project
from rubric_ci.system import confined


def find_evals(project: Project, paths: Sequence[str]) -> list[Path]:
    """Return the eval files of PATHS, or of the configured globs where there are none.

    Raises CannotFindEvals for a path that does not exist or holds no eval file, and for globs of a
    configuration outside of the repository.
    """
    if not paths and project.summary.globs and _is_outside(project):
        folder = os.path.dirname(project.config_name) or "/"  # noqa: PTH120 - keeps `..`
        raise CannotFindEvals(
            f"{project.config_name} is outside of the repository {project.root.as_posix()}, and so "
            "are the eval files that it names",
            f"run the command in {folder}, or pass the paths of eval files of this repository",
        )
    return discovery.find_evals(paths, _globs(project), project.root)


def is_eval(project: Project, path: Path) -> bool:
    """Return True if a search of the repository would find a file."""
    return discovery.is_eval(path, _globs(project), project.root)


def _globs(project: Project) -> Sequence[str]:
    return () if _is_outside(project) else project.summary.globs


def _is_outside(project: Project) -> bool:
    place = os.path.realpath(project.root / project.config_name)
    return not confined.is_inside(place, os.path.realpath(project.root))
