"""Drafts as a person reviews them, and their insertion into eval files, proved by parsing it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

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
from rubric_ci.models.judge.reply import InvalidReply
from rubric_ci.services.drafting.draft_check import Drafted, lint
from rubric_ci.services.drafting.drafting_reply import Draft, read_rubrics
from rubric_ci.system import file_io
from rubric_ci.system.output_and_masking import print_block
from rubric_ci.text import escape, numbers
from rubric_ci.text.numbers import plural
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, EvalFile
from rubric_ci.values.json_value import JSON
from rubric_ci.values.problems import errors_of
from rubric_ci.values.usage import Usage

DROPPED = "the draft was dropped"
_INTERRUPTED = "interrupted"
NOT_REVIEWED = "the draft was not reviewed"
_HELP = """\
a: accept the draft as it is shown
e: edit it in $EDITOR, then decide
d: drop it; the case stays without rubrics
q: stop here and keep what was accepted; the other cases stay as they are
"""


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
    theirs, refused = dict[int, JSON](), dict[int, EditRejected]()
    for n, written in rubrics.items():
        try:
            theirs[n] = dialect.drafted(written, criteria)
        except ValueError as error:
            refused[n] = EditRejected(reason=str(error), block=rubrics_block(written))
    edited = insert_rubrics(text, theirs, Keys(cases, criteria))
    return replace(edited, refused={**edited.refused, **refused})


def _problem(source: EvalFileText, text: str, project: Project) -> str:
    """Return the first error of the new text, or ""."""
    place = source.path.absolute().as_posix()
    loaded = project.load_text(source.file.path, text, place=place)
    if not (errors := errors_of(loaded.diagnostics)):
        return ""
    first = errors[0]
    return f"with the rubrics inserted, line {first.span.line} would be wrong: {first.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCase:
    case: EvalCase
    reason: str
    block: str = ""  # rubrics to paste by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The accepted drafts with their edits, and the cases whose draft was not accepted."""

    accepted: list[Drafted]
    dropped: list[SkippedCase]
    interrupted: bool = False  # by Ctrl-C or the end of the input


def review(drafted: Sequence[Drafted]) -> Reviewed:
    """Ask what to do with each draft, shown with its case; stopping keeps the accepted ones."""
    accepted, dropped = list[Drafted](), list[SkippedCase]()
    for number, made in enumerate(drafted):
        click.echo(f"\n[{number + 1}/{len(drafted)}] {_case_text(made)}", err=True)
        choice, kept = _decide(made)
        if choice == "a":
            accepted.append(kept)
        elif choice == "d":
            dropped.append(SkippedCase(case=made.case, reason=DROPPED))
        else:
            left = [SkippedCase(case=each.case, reason=NOT_REVIEWED) for each in drafted[number:]]
            kept_text = plural(len(accepted), "accepted draft")
            verb = "is" if len(accepted) == 1 else "are"
            click.echo(f"\nstopped: {kept_text} {verb} kept, {len(left)} not reviewed", err=True)
            interrupted = choice == _INTERRUPTED
            return Reviewed(accepted=accepted, dropped=[*dropped, *left], interrupted=interrupted)
    return Reviewed(accepted=accepted, dropped=dropped)


def _case_text(made: Drafted) -> str:
    case = made.case
    place = escape.log_line(f"{case.file}:{case.span.line}: {case.id}")
    question, expected = case.question.strip(), case.expected_outcome.strip()
    return (
        f"{place}\nQuestion: {escape.log_text(question)}\n"
        f"Expected outcome: {escape.log_text(expected)}\n"
    )


def _decide(made: Drafted) -> tuple[str, Drafted]:
    """Return the decision and the draft, which may have been edited."""
    while True:
        click.echo(escape.log_text(rubrics_block(made.draft.written)), err=True)
        for warning in made.warnings:
            click.echo(f"  {escape.log_line(warning)}", err=True)
        try:
            choice = _ask("Accept, edit or drop it, quit, or help?", "a", "e", "d", "q", "?")
            if choice == "e":
                made = _edit(made)
        except click.Abort:
            return _INTERRUPTED, made
        if choice == "?":
            click.echo(_HELP, err=True)
        elif choice != "e":
            return choice, made


def _ask(question: str, *letters: str) -> str:
    """Return one of the letters; the first is the default. Raises Abort on Ctrl-C."""
    choice = click.Choice(letters, case_sensitive=False)
    return str(click.prompt(question, type=choice, default=letters[0], err=True))


def _edit(made: Drafted) -> Drafted:
    """Open an editor until its text is valid or the edit is discarded.

    Closing the editor without saving keeps the draft as it was.
    """
    text = rubrics_block(made.draft.written)
    while True:
        edited = click.edit(text, extension=".yaml")
        if edited is None:
            return made
        match read_rubrics(edited):
            case Draft() as draft:
                return replace(made, draft=draft, warnings=lint(draft.rubric, made.case))
            case InvalidReply() as invalid:
                for problem in invalid.problems:
                    click.echo(escape.log_line(problem), err=True)
                if _ask("Edit it again, or discard the edit?", "e", "d") == "d":
                    return made
                text = edited


def echo(line: str, *, err: bool = False) -> None:
    """Print one line of escaped text; `err`: on standard error."""
    click.echo(escape.log_line(line), err=err)


def show_diffs(changes: Sequence[Rewrite]) -> None:
    """Print the diffs, and nothing else, on standard output for `git apply`."""
    text = "".join(change.diff for change in changes)
    if text:
        print_block(text)


def show_outcome(
    drafted: Sequence[Drafted],
    skipped: Sequence[SkippedCase],
    changes: Sequence[Rewrite],
    *,
    invalid: Sequence[str],
    err: bool,
) -> None:
    """Print a line for each case and a summary; `err`: on standard error.

    `invalid` are the eval files with problems, of which no case was considered.
    """
    rejected = {(c.name, name): r for c in changes for name, r in c.rejected.items()}
    for made in drafted:
        rejection = rejected.get(made.case.key)
        if rejection is None:
            _show_drafted(made, err=err)
        else:
            skipped = [
                *skipped,
                SkippedCase(case=made.case, reason=rejection.reason, block=rejection.block),
            ]
    for one in skipped:
        echo(f"{_place(one.case)}: left unchanged: {one.reason}", err=err)
        if one.block:
            print_block(one.block, err=err)
    echo(_summary(changes, skipped, invalid, would=err), err=err)


def show_spent(usage: Usage) -> None:
    """Print the cost of the drafts on standard error, if any model request was made."""
    if usage.calls or usage.cache_hits:
        parts = (numbers.cost(usage), numbers.usage(usage))
        echo(", ".join(part for part in parts if part), err=True)


def _show_drafted(made: Drafted, *, err: bool) -> None:
    count, tests = len(made.draft.rubrics), len(made.draft.tests)
    more = f", {plural(tests, 'test')}" if tests else ""
    echo(f"{_place(made.case)}: {count} criteri{'on' if count == 1 else 'a'}{more}", err=err)
    unchecked = f"not checked: {made.unchecked}"
    for warning in (*made.warnings, *([unchecked] if made.unchecked else [])):
        click.echo(f"  {escape.log_line(warning)}", err=err)


def _place(case: EvalCase) -> str:
    return f"{case.file}:{case.span.line}: {case.id}"


def _summary(
    changes: Sequence[Rewrite],
    skipped: Sequence[SkippedCase],
    invalid: Sequence[str],
    *,
    would: bool,
) -> str:
    unread = f"{numbers.plural(len(invalid), 'eval file')} with problems" if invalid else ""
    if not changes and not skipped:
        if unread:
            return f"no drafts; not changed: {unread}"
        return "nothing to do: every case has rubrics"
    added = sum(len(change.added) for change in changes)
    touched = sum(bool(change.added) for change in changes)
    verb = "would get" if would else "got"
    files = numbers.plural(touched, "file")
    summary = f"{numbers.plural(added, 'case')} {verb} rubrics in {files}"
    if skipped:
        summary = f"{summary}, {len(skipped):,} left unchanged"
    return f"{summary}; not changed: {unread}" if unread else summary
