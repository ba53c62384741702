"""Open the text of a file: ours, or another tool's, which the part `bring` reads as ours.

NOTE: a file in rubric-ci's format imports no dialect, which keeps the hook fast.
"""

from posixpath import basename, dirname
from typing import TYPE_CHECKING, Any, Final

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import Source, open_own_source
from rubric_ci.values import parts

if TYPE_CHECKING:
    from types import ModuleType

    from rubric_ci.values.references import FindFiles

PROVIDERS_NAMES: Final = ("providers.yaml", "providers.yml")
AGENTV: Final = ".agentv"


def open_source(
    path: str, text: str, sidecar: str | None = None, find: "FindFiles | None" = None
) -> Source:
    """Parse a text as `open_own_source` does; a file of a dialect has its data as ours."""
    opened = open_own_source(path, text, sidecar, find)
    if path.endswith(".jsonl"):
        foreign = _has_lines_of_agentv(opened.data)
    else:
        foreign = isinstance(opened, Document) and dialect_of(opened.data) is not None
    translate = parts.offered("translated source") if foreign else None
    read: Source = translate(opened, path, find) if translate else opened
    return read


def open_config(path: str, text: str, place: str = "") -> Source:
    """Parse the text of a configuration or a targets file; AgentV's are translated.

    `place` is its name with its folder, if `path` may lack it.
    """
    document, name = Document(path, text), place or path
    foreign = basename(dirname(name)) == AGENTV and document.readable
    translate = parts.offered("translated configuration") if foreign else None
    read: Source = translate(document, name) if translate else document
    return read


def dialect_of(data: Any) -> "ModuleType | None":
    """Return the dialect of a file, by its keys; None: ours, or no eval file."""
    if data is None or (isinstance(data, dict) and "evalcases" in data):
        return None
    find = parts.offered("dialect of")
    found: ModuleType | None = find(data) if find else None
    return found


def is_providers(file: str) -> bool:
    """Return True for the name of a file with the providers of AgentV 5."""
    return basename(file) in PROVIDERS_NAMES and basename(dirname(file)) == AGENTV


def _has_lines_of_agentv(data: Any) -> bool:
    """Return True for JSON Lines of AgentV 2.7 or later: by their graders, without our keys."""
    lines = data["evalcases"] if isinstance(data, dict) else []
    return any(_OF_LINE & line.keys() for line in lines) and all(
        "id" in line and _OURS.isdisjoint(line) for line in lines
    )


_OF_LINE: Final = frozenset(("criteria", "assert", "assertions"))
_OURS: Final = frozenset(("rubrics", "expected_outcome", "outcome", "evaluators"))
