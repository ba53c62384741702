"""Insert drafts into the text of eval files, prove the result by parsing it, and write it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rubric_ci.errors import CannotWriteFile
from rubric_ci.files.editing.fixes import unified
from rubric_ci.files.editing.insertions import (
    Edited,
    EditRejected,
    Keys,
    insert_rubrics,
    rubrics_block,
)
from rubric_ci.files.editing.jsonl import insert_rubrics_into_lines
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.project import Project
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import dialect_of
from rubric_ci.services.drafting.drafting_reply import Draft
from rubric_ci.system import file_io
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalFile
from rubric_ci.values.json_value import JSON
from rubric_ci.values.problems import errors_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalFileText:
    """An eval file and its bytes when it was read."""

    file: EvalFile
    path: Path
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """The new text of an eval file, and the cases whose drafts were rejected."""

    source: EvalFileText
    content: bytes
    drafts: Mapping[str, Draft]  # by case id
    rejected: Mapping[str, EditRejected]  # by case id

    @property
    def name(self) -> str:
        """Path of the file, as reports show it."""
        return self.source.file.path

    @property
    def added(self) -> tuple[str, ...]:
        """The ids of the cases that get rubrics."""
        return tuple(name for name in self.drafts if name not in self.rejected)

    @property
    def diff(self) -> str:
        return unified(self.name, self.source.content.decode(), self.content.decode())


def read_eval_text(file: EvalFile, root: Path) -> EvalFileText:
    path = root / file.path
    if not path.is_file():  # outside the repository, a path is relative to the working directory
        path = Path(file.path)
    return EvalFileText(file=file, path=path, content=working_tree.read_bytes(path, root))


def why_not(source: EvalFileText) -> str:
    """Return why a file cannot be written; empty: it can."""
    try:
        file_io.check_writable(source.path)
    except CannotWriteFile as error:
        return error.message
    return ""


def rewrite(source: EvalFileText, drafts: Mapping[str, Draft], project: Project) -> Rewrite:
    """Insert the drafts, given by case id; reject all of them if the result is not valid."""
    positions = {case.id: position for position, case in enumerate(source.file.cases)}
    edited = _insert(source, {positions[name]: draft.written for name, draft in drafts.items()})
    change = Rewrite(
        source=source,
        content=edited.text.encode(),
        drafts=drafts,
        rejected={
            n: edited.refused[positions[n]] for n in drafts if positions[n] in edited.refused
        },
    )
    problem = _problem(source, edited.text, project)
    return _all_rejected(change, problem) if problem else change


def write(change: Rewrite) -> Rewrite:
    """Replace the file atomically; if that fails, all of its drafts are rejected."""
    if change.content != change.source.content:
        try:
            file_io.replace(change.source.path, change.source.content, change.content)
        except CannotWriteFile as error:
            return _all_rejected(change, error.message)
    return change


def _all_rejected(change: Rewrite, reason: str) -> Rewrite:
    rejected = {
        name: change.rejected.get(name)
        or EditRejected(reason=reason, block=rubrics_block(change.drafts[name].written))
        for name in change.drafts
    }
    return replace(change, content=change.source.content, rejected=rejected)


def _insert(source: EvalFileText, rubrics: Mapping[int, JSON]) -> Edited:
    text = source.content.decode()
    if not source.file.of_other_tool:
        lines = source.path.suffix == ".jsonl"
        return insert_rubrics_into_lines(text, rubrics) if lines else insert_rubrics(text, rubrics)
    data = Document("", text).data
    dialect = dialect_of(data)
    cases, criteria = dialect.edited(data) if dialect else ("", "")
    if dialect is None or not cases:
        reason = "the file is a list for another tool, which is not edited"
        blocks = {n: EditRejected(reason=reason, block=rubrics_block(rubrics[n])) for n in rubrics}
        return Edited(text=text, refused=blocks)
    theirs = {n: dialect.drafted(rubrics[n], criteria) for n in rubrics}
    return insert_rubrics(text, theirs, Keys(cases, criteria))


def _problem(source: EvalFileText, text: str, project: Project) -> str:
    """Return the first error of the new text, or ""."""
    place = source.path.absolute().as_posix()
    loaded = project.load_text(source.file.path, text, place=place)
    if not (errors := errors_of(loaded.diagnostics)):
        return ""
    first = errors[0]
    return f"with the rubrics inserted, line {first.span.line} would be wrong: {first.message}"
