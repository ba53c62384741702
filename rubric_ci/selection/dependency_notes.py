"""Notes for the report on globs under `depends_on` that match no file."""

from collections.abc import Iterable, Iterator

from rubric_ci.project.loaded_project import LoadedProject
from rubric_ci.project.near_files import nearest_path


def dependency_notes(loaded: LoadedProject, eval_files: Iterable[str]) -> tuple[str, ...]:
    """Return one note for each glob that matches no file, so that no change to it runs a case.

    `eval_files` are all that were found: not all of them need be loaded.
    """
    owners: dict[str, str] = {}
    for glob, owner in _globs(loaded, eval_files):
        owners.setdefault(glob, owner)
    hints = ((glob, nearest_path(loaded.root, glob)) for glob in owners)
    return tuple(
        f"No file matches `{glob}` under `depends_on` of {owners[glob]}: {hint}"
        for glob, hint in hints
        if hint is not None
    )


def _globs(loaded: LoadedProject, eval_files: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each glob with its owner."""
    for file in loaded.files:
        for case in file.cases:
            yield from ((glob, f"`{file.path}`") for glob in case.depends_on)
    for name in eval_files:
        for target in loaded.config_for(name).targets.values():
            yield from ((glob, f"target `{target.name}`") for glob in target.depends_on or ())
