"""Eval files of other tools, read in place: their data as ours, with a map of paths."""

from typing import TYPE_CHECKING, Any, Final

from rubric_ci.files.yaml_text.case_files import CaseFiles
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import Source, is_providers, names_files
from rubric_ci.parts.bring.translation import ALONE, Beside, TranslatedSource
from rubric_ci.values.references import NO_SUCH_FILE, Found

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from rubric_ci.values.references import FindFiles, NotFound


def dialect_of(data: Any) -> "ModuleType | None":
    """Return the dialect of a file, by its keys; None: no eval file."""
    from rubric_ci.parts.bring.dialects import agent_skills, agentv

    return next((each for each in (agent_skills, agentv) if each.matches(data)), None)


def translated(opened: Source, path: str, find: "FindFiles | None") -> Source:
    if path.endswith(".jsonl"):
        from rubric_ci.parts.bring.dialects.agentv import translate_lines

        return TranslatedSource(opened, translate_lines(opened.data, _beside(find)))
    dialect = dialect_of(opened.data) if isinstance(opened, Document) else None
    if dialect is None or not isinstance(opened, Document):
        return opened
    read: Source = opened
    if find and dialect.CASES in opened.data:
        mappings = getattr(dialect, "MAPPINGS", {})
        named = [opened.data[key] for key in mappings if key in opened.data]
        if names_files(opened.data[dialect.CASES]) or any(isinstance(n, str) for n in named):
            read = CaseFiles(opened, find, dialect.CASES, mappings)
    if not read.readable:
        return read
    return TranslatedSource(read, dialect.translate(read.data, _beside(find)))


def translated_config(document: Document, name: str) -> Source:
    from rubric_ci.parts.bring.dialects import agentv_targets

    if is_providers(name):
        return TranslatedSource(document, agentv_targets.translate_providers(document.data))
    if agentv_targets.matches(document.data):
        return TranslatedSource(document, agentv_targets.translate(document.data))
    return document


_FOLDERS_ABOVE: Final = 16


def _beside(find: "FindFiles | None") -> Beside:
    if find is None:
        return ALONE

    def first(name: str) -> "Found | None":
        found = next(iter(find(name)), None)
        return found if isinstance(found, Found) else None

    def is_missing(name: str) -> bool:
        found = find(name)[0]
        return not isinstance(found, Found) and found.reason == NO_SUCH_FILE

    def below(name: str) -> "Sequence[Found | NotFound]":
        """Return the files below a folder, from the file's own or a folder above it."""
        if any(sign in name for sign in "*?[") or isinstance(find(name)[0], Found):
            return ()
        for depth in range(_FOLDERS_ABOVE):
            files = find(f"{'../' * depth}{name.rstrip('/')}/**")
            if any(isinstance(each, Found) for each in files):
                return files
        return ()

    return Beside(
        read=lambda name: found.text if (found := first(name)) else None,
        place=lambda name: found.path if (found := first(name)) else None,
        below=below,
        is_missing=is_missing,
    )
