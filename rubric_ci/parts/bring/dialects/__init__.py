"""Eval files of other tools, read in place: their data as ours, with a map of paths."""

from typing import TYPE_CHECKING, Any, Final

from rubric_ci.files.yaml_text.case_files import CaseFiles
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import Source, is_providers, names_files
from rubric_ci.parts.bring.translation import TranslatedSource
from rubric_ci.values.references import NO_SUCH_FILE, Found

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from rubric_ci.files.yaml_text.csv_cases import OfRow
    from rubric_ci.parts.bring.dialects.agent_skills import Below
    from rubric_ci.parts.bring.translation import ReadText
    from rubric_ci.values.references import FindFiles, NotFound


def dialect_of(data: Any) -> "ModuleType | None":
    """Return the dialect of a file, by its keys; None: no eval file."""
    from rubric_ci.parts.bring.dialects import agent_skills, agentv

    return next((each for each in (agent_skills, agentv) if each.matches(data)), None)


def translated(opened: Source, path: str, find: "FindFiles | None") -> Source:
    if path.endswith(".jsonl"):
        from rubric_ci.parts.bring.dialects.agentv_rows import translate_lines

        readers = _readers(find) if find else {}
        return TranslatedSource(opened, translate_lines(opened.data, **readers))
    dialect = dialect_of(opened.data) if isinstance(opened, Document) else None
    if dialect is None or not isinstance(opened, Document):
        return opened
    read: Source = opened
    if find and dialect.CASES in opened.data:
        mappings = getattr(dialect, "MAPPINGS", {})
        named = [opened.data[key] for key in mappings if key in opened.data]
        if names_files(opened.data[dialect.CASES]) or any(isinstance(n, str) for n in named):
            read = CaseFiles(opened, find, dialect.CASES, mappings, _row_reader(dialect))
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


def _row_reader(dialect: "ModuleType") -> "OfRow | None":
    if dialect.NAME != "AgentV":
        return None
    from rubric_ci.parts.bring.dialects.agentv_rows import of_row

    return of_row


def translated_config(document: Document, name: str) -> Source:
    from rubric_ci.parts.bring.dialects import agentv_targets

    if is_providers(name):
        return TranslatedSource(document, agentv_targets.translate_providers(document.data))
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
