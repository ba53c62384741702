"""Rules across the files of a project: shadowed targets, globs that match no file."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.model.rules import Rule
from rubric_ci.validation.agentv import snake_case
from rubric_ci.yaml_text.problems import Path, Problem


class Winner(NamedTuple):
    """A file whose target of the same name is used instead."""

    file: str
    folder: str  # for the eval files of this folder; empty: for all


Winners: TypeAlias = Callable[[], Mapping[str, Winner]]
"""The names of targets that another file defines with precedence."""

NearestPath: TypeAlias = Callable[[str], str | None]
"""A glob to a hint with the nearest existing path, or to None if it matches a file."""

TARGET_SHADOWED: Final = Rule(
    id="target-shadowed",
    severity="warning",
    switchable=True,
    meaning=(
        "Another file defines a target of this name and comes first: `rubric-ci.yaml`, then the "
        "targets file nearest to the eval file."
    ),
    hint="rename one of the two, or remove it",
)
DEPENDS_ON_UNMATCHED: Final = Rule(
    id="depends-on-unmatched",
    severity="warning",
    switchable=True,
    meaning=(
        "A glob under `depends_on` matches no file, so no change runs its cases. Globs are "
        "relative to the root of the repository."
    ),
)


def shadowed_targets(data: Any, winners: Winners) -> Iterator[Problem]:
    """Yield targets of a configuration or a targets file that other files shadow."""
    for index, target in enumerate(_list(data, "targets")):
        name = target.get("name") if isinstance(target, dict) else None
        winner = winners().get(name) if isinstance(name, str) else None
        if winner:
            where = f" for eval files in `{winner.folder}`" if winner.folder else ""
            message = f"`{name}` is also defined in `{winner.file}`, which comes first{where}"
            yield Problem(TARGET_SHADOWED, ("targets", index, "name"), message)


def unmatched_dependencies(data: Any, nearest_path: NearestPath) -> Iterator[Problem]:
    """Yield globs under `depends_on` that match no file of the repository."""
    yield from _unmatched(data, (), nearest_path)
    for key in ("evalcases", "targets"):
        for index, owner in enumerate(_list(data, key)):
            yield from _unmatched(owner, (key, index), nearest_path)


def _unmatched(owner: Any, path: Path, nearest_path: NearestPath) -> Iterator[Problem]:
    for key in owner if isinstance(owner, dict) else ():
        if isinstance(key, str) and snake_case(key) == "depends_on":
            for index, glob in enumerate(_list(owner, key)):
                hint = nearest_path(glob) if isinstance(glob, str) else None
                if hint is not None:
                    message = f"no file matches `{glob}`"
                    yield Problem(DEPENDS_ON_UNMATCHED, (*path, key, index), message, hint)


def _list(owner: Any, key: str) -> list[Any]:
    found = owner.get(key) if isinstance(owner, dict) else None
    return found if isinstance(found, list) else []
