"""The files of a repository that grade or hold answers, which an agent must not read.

They are the eval files, by their content, and every file that the loader reads for one but for
those that a case gives to its target.
"""

import fnmatch
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from rubric_ci.errors import UserError
from rubric_ci.files.project import file_kinds, working_tree
from rubric_ci.files.project.links import named_paths
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import WorkingTree
from rubric_ci.system import file_io
from rubric_ci.values.evals import CodeJudgeSpec, EvalCase, every_evaluator
from rubric_ci.values.formats_and_defaults import CALIBRATION, LABELS, WAIVERS
from rubric_ci.values.json_value import parsed
from rubric_ci.values.references import Found, Lookup, NotFound

_FOLDERS: Final = frozenset((".git", ".rubric-ci", ".agentv"))
_NAMES: Final = frozenset((*file_kinds.CONFIG_NAMES, WAIVERS, LABELS, CALIBRATION))
_EVALS: Final = ("*.eval.yaml", "*.eval.yml", "*.eval.jsonl", "*.answers.jsonl")
_RECORDED: Final = frozenset(("key", "about", "text", "finish"))  # keys of a line of a recording
_EVAL_FILE: Final = "an eval file"


class Graders:
    """Why a file of one state of a repository is kept from agents."""

    def __init__(self, root: Path, names: Iterable[str]) -> None:
        """Look for eval files among `names`, relative to the root."""
        self._root = root
        self._names = tuple(name for name in names if name.endswith(file_kinds.SUFFIXES))

    def why(self, path: Path) -> str:
        """Return why a file is kept from agents; empty: it is not."""
        name = working_tree.from_root(path, self._root)
        parts = [part.casefold() for part in PurePosixPath(name).parts] or [""]
        if _FOLDERS & {*parts} or parts[-1] in _NAMES:
            return "a file of git or rubric-ci"
        if any(fnmatch.fnmatchcase(parts[-1], form) for form in _EVALS):
            return _EVAL_FILE
        return self._known.get(name) or ("" if path.is_symlink() else _content(path))

    @cached_property
    def _known(self) -> dict[str, str]:
        """The files that the loader reads, each with the reason."""
        found: dict[str, str] = {}
        project = Project(WorkingTree(self._root))
        for name in self._names:
            if _content(self._root / name) == _EVAL_FILE or _is_named(name):
                for file in _read_for(self._root, name):
                    found.setdefault(file, f"`{name}` names it")
                for target in project.policy_for(name).targets.values():
                    if target.answers:
                        found.setdefault(target.answers, f"answers of the target `{target.name}`")
                found[name] = _EVAL_FILE
        return found


def _is_named(name: str) -> bool:
    return any(fnmatch.fnmatch(PurePosixPath(name).name, form) for form in _EVALS[:3])


def _content(path: Path) -> str:
    """Return the kind of grader that the content of a file shows; empty: none."""
    if not path.name.endswith(file_kinds.SUFFIXES):
        return ""
    try:
        data = file_io.read_start(path)
    except UserError:
        return ""
    if file_kinds.holds_cases(path.name, data):
        return _EVAL_FILE
    if path.suffix == ".jsonl":
        return "a recording" * _is_recording(data)
    tool = file_kinds.foreign_tool(data)
    return f"an eval file of {tool}" if tool else ""


def _is_recording(data: bytes) -> bool:
    first = parsed(data.partition(b"\n")[0])
    return isinstance(first, dict) and first.keys() >= _RECORDED


def _read_for(root: Path, name: str) -> Iterator[str]:
    """Yield the files that are read for an eval file, except those given to a target."""
    files = _Watched(root)
    project = Project(files)
    cases: tuple[EvalCase, ...] = ()
    with suppress(UserError):
        loaded = project.load(name)
        cases = loaded.eval_file.cases if loaded and loaded.eval_file else ()
    for case in cases:
        yield from _scripts(case, root)
    question_files = {path for case in cases for path in _paths(case, expected=False)}
    expected = {path for case in cases for path in _paths(case, expected=True)}
    yield from files.seen - (question_files - expected)


def _scripts(case: EvalCase, root: Path) -> Iterator[str]:
    for spec in every_evaluator(case.evaluators):
        if isinstance(spec, CodeJudgeSpec):
            words = named_paths(spec.script, spec.cwd)
            yield from (word for word in words if (root / word).is_file())


def _paths(case: EvalCase, *, expected: bool) -> Iterator[str]:
    messages = case.expected_messages if expected else case.input_messages
    for part in (part for message in messages for part in message.parts):
        yield from filter(None, [getattr(part, "path", "")])


class _Watched:
    """The files of a working tree; `seen` has those that were read."""

    def __init__(self, root: Path) -> None:
        self._tree, self.root, self.seen = WorkingTree(root), root, set[str]()

    def read(self, name: str) -> bytes | None:
        data = self._tree.read(name)
        self.seen |= {name} if data is not None else set()
        return data

    def lookup(self, name: str) -> Lookup:
        find = self._tree.lookup(name)

        def found(reference: str) -> Found | NotFound:
            known = find(reference)
            file = known if isinstance(known, Found) else known.media
            self.seen |= {file.path} if file else set()
            return known

        return found

    def matching(self, glob: str) -> list[str]:
        return self._tree.matching(glob)
