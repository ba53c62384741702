"""Turn drafts into a new text for each eval file, prove it, and show or write it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rubric_ci.drafting.reply_parser import Draft
from rubric_ci.editing.diff import unified
from rubric_ci.editing.insert_rubrics import Edited, EditRejected, insert_rubrics, rubrics_block
from rubric_ci.editing.jsonl import insert_rubrics_into_lines
from rubric_ci.errors import CannotWriteFile
from rubric_ci.model.diagnostics import Severity
from rubric_ci.model.evals import JSON, EvalFile
from rubric_ci.project import discovery
from rubric_ci.project.project import Project
from rubric_ci.system import atomic_write


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalFileText:
    """An eval file as it was read."""

    file: EvalFile
    path: Path
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """What a file is to say, and which cases are left as they were."""

    page: EvalFileText
    content: bytes
    drafts: Mapping[str, Draft]  # by case id
    refused: Mapping[str, EditRejected]  # by case id

    @property
    def name(self) -> str:
        """The file, as reports name it."""
        return self.page.file.path

    @property
    def added(self) -> tuple[str, ...]:
        """The ids of the cases that are given rubrics."""
        return tuple(name for name in self.drafts if name not in self.refused)

    @property
    def diff(self) -> str:
        """The change, as git shows it."""
        return unified(self.name, self.page.content.decode(), self.content.decode())


def read_eval_text(file: EvalFile, root: Path) -> EvalFileText:
    """Read the bytes of a file that loads."""
    path = root / file.path
    if not path.is_file():  # outside of the repository a file is named from where the user is
        path = Path(file.path)
    return EvalFileText(file=file, path=path, content=discovery.read_bytes(path, root))


def rewrite(page: EvalFileText, drafts: Mapping[str, Draft], project: Project) -> Rewrite:
    """Insert the drafts, given by case id; a new text that `validate` turns away is dropped."""
    positions = {case.id: position for position, case in enumerate(page.file.cases)}
    edited = _insert(page, {positions[name]: [*draft.rubrics] for name, draft in drafts.items()})
    change = Rewrite(
        page=page,
        content=edited.text.encode(),
        drafts=drafts,
        refused={n: edited.refused[positions[n]] for n in drafts if positions[n] in edited.refused},
    )
    problem = _problem(page, edited.text, project)
    return _withdrawn(change, problem) if problem else change


def write(change: Rewrite) -> Rewrite:
    """Put the new text in place; where that cannot be done, all of its cases are refused."""
    if change.content != change.page.content:
        try:
            atomic_write.replace(change.page.path, change.page.content, change.content)
        except CannotWriteFile as error:
            return _withdrawn(change, error.message)
    return change


def _withdrawn(change: Rewrite, reason: str) -> Rewrite:
    refused = {
        name: change.refused.get(name)
        or EditRejected(reason=reason, block=rubrics_block([*change.drafts[name].rubrics]))
        for name in change.drafts
    }
    return replace(change, content=change.page.content, refused=refused)


def _insert(page: EvalFileText, wanted: Mapping[int, JSON]) -> Edited:
    text = page.content.decode()
    if page.path.suffix == ".jsonl":
        return insert_rubrics_into_lines(text, wanted)
    return insert_rubrics(text, wanted)


def _problem(page: EvalFileText, text: str, project: Project) -> str:
    """Return the first error of the new text, if it has one."""
    loaded = project.load_text(page.file.path, text, place=page.path.absolute().as_posix())
    errors = [found for found in loaded.diagnostics if found.severity is Severity.ERROR]
    if not errors:
        return ""
    first = errors[0]
    return f"with the rubrics inserted, line {first.span.line} would be wrong: {first.message}"
