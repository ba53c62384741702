"""Ask a person to accept, edit or drop each draft before anything is written."""

from collections.abc import Sequence
from dataclasses import replace

import click

from rubric_ci.drafting.engine import Drafted
from rubric_ci.drafting.lint import lint_messages
from rubric_ci.drafting.reply_parser import Draft, read_rubrics
from rubric_ci.drafting.summary import SkippedCase
from rubric_ci.editing.insert_rubrics import rubrics_block
from rubric_ci.judge.json_reply import InvalidReply
from rubric_ci.text import escape

DROPPED = "the draft was dropped"


def review(drafted: Sequence[Drafted]) -> tuple[list[Drafted], list[SkippedCase]]:
    """Return the accepted drafts, with their edits, and the cases whose draft was dropped."""
    accepted, dropped = list[Drafted](), list[SkippedCase]()
    for number, made in enumerate(drafted, 1):
        click.echo(f"\n[{number}/{len(drafted)}] {_case_text(made)}", err=True)
        kept = _decide(made)
        if kept is None:
            dropped.append(SkippedCase(case=made.case, reason=DROPPED))
        else:
            accepted.append(kept)
    return accepted, dropped


def _case_text(made: Drafted) -> str:
    case = made.case
    place = escape.log_line(f"{case.file}:{case.span.line}: {case.id}")
    return f"{place}\n{escape.log_text(case.expected_outcome.strip())}\n"


def _decide(made: Drafted) -> Drafted | None:
    while True:
        click.echo(escape.log_text(rubrics_block([*made.draft.rubrics])), err=True)
        for warning in made.warnings:
            click.echo(f"  {escape.log_line(warning)}", err=True)
        choice = _ask("Accept, edit or drop it?", "a", "e", "d")
        if choice == "a":
            return made
        if choice == "d":
            return None
        made = _edit(made)


def _ask(question: str, *letters: str) -> str:
    """Return one of the letters; the first is the default."""
    choice = click.Choice(letters, case_sensitive=False)
    try:
        return str(click.prompt(question, type=choice, default=letters[0], err=True))
    except click.Abort:  # Ctrl-C, or the end of the input
        raise KeyboardInterrupt from None


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
    return replace(made, draft=draft, warnings=lint_messages(draft.rubric, made.case))
