"""Eval files of other tools, read in place: their data as ours, with a map of paths.

NOTE: a file in rubric-ci's format imports no dialect, which keeps the hook fast.
"""

from posixpath import basename, dirname
from typing import TYPE_CHECKING, Any, Final

from rubric_ci.files.yaml_text import source
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import Source, names_files
from rubric_ci.values.references import NO_SUCH_FILE, Found

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from rubric_ci.files.yaml_text.csv_cases import OfRow
    from rubric_ci.parts.bring.dialects.agent_skills import Below
    from rubric_ci.parts.bring.dialects.translation import ReadText
    from rubric_ci.values.references import FindFiles, NotFound

PROVIDERS_NAMES: Final = ("providers.yaml", "providers.yml")
AGENTV: Final = ".agentv"


def dialect_of(data: Any) -> "ModuleType | None":
    """Return the dialect of a file, by its keys; None: ours, or no eval file."""
    if data is None or (isinstance(data, dict) and "evalcases" in data):
        return None
    from rubric_ci.parts.bring.dialects import agent_skills, agentv

    return next((each for each in (agent_skills, agentv) if each.matches(data)), None)


def open_source(
    path: str, text: str, sidecar: str | None = None, find: "FindFiles | None" = None
) -> Source:
    """Parse a text as `source.open_source` does; a file of a dialect has its data as ours."""
    opened = source.open_source(path, text, sidecar, find)
    if path.endswith(".jsonl") and _are_of_agentv(opened.data):
        from rubric_ci.parts.bring.dialects.agentv_rows import translate_lines
        from rubric_ci.parts.bring.dialects.translation import TranslatedSource

        readers = _readers(find) if find else {}
        return TranslatedSource(opened, translate_lines(opened.data, **readers))
    dialect = dialect_of(opened.data) if isinstance(opened, Document) else None
    if dialect is None or not isinstance(opened, Document):
        return opened
    from rubric_ci.files.yaml_text.case_files import CaseFiles
    from rubric_ci.parts.bring.dialects.translation import TranslatedSource

    read: Source = opened
    if find and dialect.CASES in opened.data:
        mappings = getattr(dialect, "MAPPINGS", {})
        named = [opened.data[key] for key in mappings if key in opened.data]
        if names_files(opened.data[dialect.CASES]) or any(isinstance(n, str) for n in named):
            read = CaseFiles(opened, find, dialect.CASES, mappings, _of_row(dialect))
    if not read.readable:
        return read
    reads: dict[str, Any] = {}
    if find:
        skills = dialect.NAME == "Agent Skills"
        reads = _readers(find)
        if skills:
            missing = _is_missing(find)
            reads = {"below": _below(find), "read": reads["read"], "is_missing": missing}
    return TranslatedSource(read, dialect.translate(read.data, **reads))


def _are_of_agentv(data: Any) -> bool:
    """Return True for JSON Lines of AgentV 2.7 or later: by their graders, without our keys."""
    lines = data["evalcases"] if isinstance(data, dict) else []
    return any(_OF_LINE & line.keys() for line in lines) and all(
        "id" in line and _OURS.isdisjoint(line) for line in lines
    )


_OF_LINE: Final = frozenset(("criteria", "assert", "assertions"))
_OURS: Final = frozenset(("rubrics", "expected_outcome", "outcome", "evaluators"))


def _of_row(dialect: "ModuleType") -> "OfRow | None":
    if dialect.NAME != "AgentV":
        return None
    from rubric_ci.parts.bring.dialects.agentv_rows import of_row

    return of_row


def is_providers(file: str) -> bool:
    """Return True for the name of a file with the providers of AgentV 5."""
    return basename(file) in PROVIDERS_NAMES and basename(dirname(file)) == AGENTV


def open_config(path: str, text: str, place: str = "") -> Source:
    """Parse the text of a configuration or a targets file; AgentV's are translated.

    `place` is its name with its folder, if `path` may lack it.
    """
    document, name = Document(path, text), place or path
    if basename(dirname(name)) != AGENTV or not document.readable:
        return document
    from rubric_ci.parts.bring.dialects import agentv_providers, agentv_targets
    from rubric_ci.parts.bring.dialects.translation import TranslatedSource

    if is_providers(name):
        return TranslatedSource(document, agentv_providers.translate(document.data))
    if agentv_targets.matches(document.data):
        return TranslatedSource(document, agentv_targets.translate(document.data))
    return document


def _readers(find: "FindFiles") -> "dict[str, ReadText]":
    """Return the readers of the text of a file and of its path; None: there is none."""

    def first(name: str) -> "Found | None":
        found = next(iter(find(name)), None)
        return found if isinstance(found, Found) else None

    return {
        "read": lambda name: found.text if (found := first(name)) else None,
        "place": lambda name: found.path if (found := first(name)) else None,
    }


def _is_missing(find: "FindFiles") -> "Callable[[str], bool]":
    """Return the test whether a text names no file, and nothing else that is there."""

    def is_missing(name: str) -> bool:
        found = find(name)[0]
        return not isinstance(found, Found) and found.reason == NO_SUCH_FILE

    return is_missing


_FOLDERS_ABOVE: Final = 16


def _below(find: "FindFiles") -> "Below":
    """Return the search of the files below a folder, from the file's own or a folder above it."""

    def below(name: str) -> "Sequence[Found | NotFound]":
        if any(sign in name for sign in "*?[") or isinstance(find(name)[0], Found):
            return ()
        for depth in range(_FOLDERS_ABOVE):
            files = find(f"{'../' * depth}{name.rstrip('/')}/**")
            if any(isinstance(each, Found) for each in files):
                return files
        return ()

    return below
