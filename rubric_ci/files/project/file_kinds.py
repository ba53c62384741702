"""The kind of a file, by its name and by its content: eval files, and the files that serve them."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath
from posixpath import basename, dirname, join, splitext
from typing import Final, Protocol

from rubric_ci.errors import CannotReadFile
from rubric_ci.files.yaml_text.source import AGENTV, PROVIDERS_NAMES, is_providers
from rubric_ci.values import parts
from rubric_ci.values.json_value import parsed
from rubric_ci.values.problems import INPUTS
from rubric_ci.values.references import Lookup

CONFIG_NAMES: Final = ("rubric-ci.yaml", "rubric-ci.yml")
TARGETS_NAMES: Final = ("targets.yaml", "targets.yml")
HIDDEN: Final = AGENTV
HERE: Final = "."
SUFFIXES: Final = (".yaml", ".yml", ".jsonl", "evals.json")
"""How the names of files end that a search looks into; the last is Agent Skills' file."""
_SKIPPED: Final = frozenset(("node_modules", "__pycache__", "venv"))
USUAL: Final = rb"(?m)^[^\S\n]*+\{?[^\S\n]*+[\"']?evalcases[\"']?\s*+:"
DIALECTS: Final = rb"[\"']?(?:tests|evals|cases|test_cases)[\"']?\s*+:"
"""A key of the cases of other tools; their data decides."""


def sidecar_name(name: str) -> str:
    """Return the file that may hold the suite fields of a JSON Lines file, else nothing."""
    stem, suffix = splitext(name)
    return f"{stem}.yaml" if suffix == ".jsonl" else ""


def is_searched(folder: str) -> bool:
    return not folder.startswith(".") and folder not in _SKIPPED


def is_named_eval(name: str) -> bool:
    return name.endswith((".eval.yaml", ".eval.yml", ".eval.jsonl"))


def is_targets_file(name: str) -> bool:
    return basename(name) in TARGETS_NAMES or is_providers(name)


def folder_served(name: str) -> str:
    """Return the folder whose eval files, and those below it, a targets file serves."""
    folder = dirname(name)
    return dirname(folder) if basename(folder) == HIDDEN else folder


def targets_candidates(folder: str) -> Iterator[str]:
    """Yield every targets file that would serve the eval files of a folder, the nearest first."""
    for above in _served(folder):
        yield from (join(above, name) for name in TARGETS_NAMES)
        yield from (join(above, HIDDEN, name) for name in (*TARGETS_NAMES, *PROVIDERS_NAMES))


def agentv_configs(folder: str) -> Iterator[str]:
    """Yield every `.agentv/config.yaml` that would serve the eval files of a folder."""
    yield from (join(above, HIDDEN, "config.yaml") for above in _served(folder))


def _served(folder: str) -> Iterator[str]:
    """Yield the folders whose files serve a folder: itself and, in the repository, those above."""
    yield folder
    outside = folder.partition("/")[0] == ".." or PurePath(folder).is_absolute()
    while folder and not outside:
        folder = dirname(folder)
        yield folder


class RepositoryFiles(Protocol):
    """One state of the files of a repository, by path from its root with forward slashes."""

    @property
    def root(self) -> Path:
        """The folder of the working tree."""

    def read(self, name: str, /) -> bytes | None:
        """Return a file's bytes, or None if there is no such file; raises CannotReadFile."""

    def lookup(self, name: str, /) -> Lookup:
        """Return the lookup of the references of an eval file."""

    def matching(self, glob: str, /) -> Iterable[str]:
        """Return the files that match a glob from the root."""


_FOREIGN: Final = rb"(?m)^[^\S\n]*+(?:tests|testData|scenarios)\s*+:"
_HOLDS_ID: Final = rb"\"id\"\s*+:"
_HOLDS_INPUT: Final = rb"\"input(?:_messages)?\"\s*+:"
_INPUTS: Final = frozenset(INPUTS)
_MISSPELT_INPUTS: Final = frozenset(("inputs", "input_message", "prompt", "question", "messages"))


def holds_cases(name: str, data: bytes) -> bool:
    """Return True if the content of a file that a search looks into shows an eval file."""
    return lines_hold_cases(data) if name.endswith(".jsonl") else yaml_holds_cases(data)


def may_hold_cases(
    name: str, read: Callable[[str], bytes | None], exists: Callable[[str], bool]
) -> bool:
    """Return False for files that globs match too, such as targets files and recorded answers."""
    if basename(name) in CONFIG_NAMES or is_targets_file(name):
        return False
    stem, suffix = splitext(name)
    if suffix == ".jsonl":
        try:
            return lines_may_hold_cases(read(name) or b"")
        except CannotReadFile:
            return True  # it is reported
    is_sidecar = suffix == ".yaml" and exists(f"{stem}.jsonl")
    return not is_sidecar or yaml_holds_cases(read(name) or b"")


def yaml_holds_cases(data: bytes) -> bool:
    """Return True for an eval file, also of a dialect, and for broken YAML with our key."""
    if re.search(USUAL, data):
        return True
    named = b"evalcases" in data
    dialect = re.search(DIALECTS, data)
    if not named and not dialect and b"\\" not in data:  # an escape can spell the key
        return False
    from rubric_ci.files.yaml_text.document import YAML_EMPTY, Document
    from rubric_ci.files.yaml_text.source import decode

    text = decode(data)
    document = Document("", text) if isinstance(text, str) else None
    if document is None:
        return named
    if not document.readable:
        return named and all(problem.rule != YAML_EMPTY for _, problem in document.text_problems)
    if isinstance(document.data, dict) and "evalcases" in document.data:
        return True
    from rubric_ci.files.yaml_text.source import dialect_of

    return dialect is not None and dialect_of(document.data) is not None


def foreign_tool(data: bytes) -> str:
    """Return the tool, or the kind of records, of a YAML file that is not read here; else ""."""
    if not re.search(_FOREIGN, data):
        return ""
    from rubric_ci.files.yaml_text.document import Document
    from rubric_ci.files.yaml_text.source import decode

    foreign, text = parts.offered("files of other tools"), decode(data)
    if foreign is None or not isinstance(text, str):
        return ""
    tool: str = foreign.tool_of(Document("", text).data)
    return tool


def lines_hold_cases(data: bytes) -> bool:
    """Return True if a line is a case, and for a first one with broken JSON that looks like one."""
    for number, line in enumerate(_lines(data)):
        if b"input" not in line and b"\\u" not in line:  # an escape can spell the key
            continue
        keys = _keys(line)
        if keys is None:
            if number == 0 and re.search(_HOLDS_ID, line) and re.search(_HOLDS_INPUT, line):
                return True
        elif "id" in keys and keys & _INPUTS:
            return True
    return False


def lines_may_hold_cases(data: bytes) -> bool:
    """Return True unless no line has a key of an input, misspelt or not."""
    found = [_keys(line) for line in _lines(data)]
    if not found or found[0] is None:
        return True
    return any(keys & (_INPUTS | _MISSPELT_INPUTS) for keys in found if keys)


def _lines(data: bytes) -> Iterator[bytes]:
    lines = data.removeprefix(b"\xef\xbb\xbf").splitlines()
    return (line for line in lines if line.strip())


def _keys(line: bytes) -> frozenset[str] | None:
    """Return the keys of an object; None: the line is not an object in JSON."""
    value = parsed(line)
    return frozenset(value) if isinstance(value, dict) else None
