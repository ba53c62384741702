"""Ask a person to accept, edit or drop each draft before anything is written."""

from collections.abc import Sequence
from dataclasses import replace

import click

from rubric_ci.drafting.check import Drafted, lint
from rubric_ci.drafting.reply import Draft, read_rubrics
from rubric_ci.drafting.summary import SkippedCase
from rubric_ci.editing.insertions import rubrics_block
from rubric_ci.judge.reply import InvalidReply
from rubric_ci.model.dataclass import dataclass
from rubric_ci.text import escape
from rubric_ci.text.numbers import plural

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
        click.echo(escape.log_text(rubrics_block([*made.draft.rubrics])), err=True)
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
    text = rubrics_block([*made.draft.rubrics])
    while True:
        edited = click.edit(text, extension=".yaml")
        if edited is None:
            return made
        match read_rubrics(edited):
            case Draft() as draft:
                return _linted(made, draft)
            case InvalidReply() as invalid:
                for problem in invalid.problems:
                    click.echo(escape.log_line(problem), err=True)
                if _ask("Edit it again, or discard the edit?", "e", "d") == "d":
                    return made
                text = edited


def _linted(made: Drafted, draft: Draft) -> Drafted:
    return replace(made, draft=draft, warnings=lint(draft.rubric, made.case))
