"""What checking eval files needs to know of the configuration, without the values of a run."""

from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Any, NamedTuple

from rubric_ci.source.document import Document


class Facts(NamedTuple):
    """Globs of eval files, switches of rules and names of targets."""

    globs: tuple[str, ...] = ()  # relative to the repository root
    rules: Mapping[str, str] = {}
    targets: frozenset[str] = frozenset()


def read_facts(document: Document) -> Facts:
    """Take from a configuration or a targets file what has the right shape."""
    data = document.data if isinstance(document.data, dict) else {}
    rules = data.get("rules")
    return Facts(
        globs=tuple(glob_from_root(document.file, glob) for glob in _texts(data.get("evals"))),
        rules={
            name: word or "off"
            for name, word in (rules.items() if isinstance(rules, dict) else ())
            if word is False or word in {"error", "warning", "notice", "off"}
        },
        targets=frozenset(_names(data.get("targets"))),
    )


def _texts(items: Any) -> Iterator[str]:
    yield from (item for item in items if isinstance(item, str)) if isinstance(items, list) else ()


def _names(targets: Any) -> Iterator[str]:
    for target in targets if isinstance(targets, list) else ():
        name = target.get("name") if isinstance(target, dict) else None
        if isinstance(name, str):
            yield name


def glob_from_root(file: str, glob: str) -> str:
    """Make a glob that is relative to a file relative to the repository root."""
    taken = "!" if glob.startswith("!") else ""
    return taken + normpath(join(dirname(file), glob.removeprefix("!")))
