"""Let a person accept, edit or drop each draft before anything is written."""

from collections.abc import Sequence
from dataclasses import replace

import click

from rubric_ci.drafting.engine import Drafted
from rubric_ci.drafting.lint import lint
from rubric_ci.drafting.reply_parser import Draft, read_rubrics
from rubric_ci.drafting.summary import SkippedCase
from rubric_ci.editing.insert_rubrics import rubrics_block
from rubric_ci.judge.json_reply import InvalidReply
from rubric_ci.text import escape

DROPPED = "the draft was dropped"


def review(drafted: Sequence[Drafted]) -> tuple[list[Drafted], list[SkippedCase]]:
    """Return the drafts that a person accepted, as they were edited, and the cases left."""
    accepted, left = list[Drafted](), list[SkippedCase]()
    for number, made in enumerate(drafted, 1):
        click.echo(f"\n[{number}/{len(drafted)}] {_about(made)}", err=True)
        kept = _decide(made)
        if kept is None:
            left.append(SkippedCase(case=made.case, reason=DROPPED))
        else:
            accepted.append(kept)
    return accepted, left


def _about(made: Drafted) -> str:
    case = made.case
    place = escape.log_line(f"{case.file}:{case.span.line}: {case.id}")
    return f"{place}\n{escape.log_text(case.expected_outcome.strip())}\n"


def _decide(made: Drafted) -> Drafted | None:
    while True:
        click.echo(escape.log_text(rubrics_block([*made.draft.rubrics])), err=True)
        for doubt in made.doubts:
            click.echo(f"  {escape.log_line(doubt)}", err=True)
        choice = _choice()
        if choice == "a":
            return made
        if choice == "d":
            return None
        made = _edit(made)


def _choice() -> str:
    letters = click.Choice(["a", "e", "d"], case_sensitive=False)
    try:
        return str(click.prompt("Accept, edit or drop it?", type=letters, default="a", err=True))
    except click.Abort:  # Ctrl-C, or the end of the input
        raise KeyboardInterrupt from None


def _edit(made: Drafted) -> Drafted:
    """Open an editor until its text can stand; an editor that saves nothing changes nothing."""
    text = rubrics_block([*made.draft.rubrics])
    while True:
        edited = click.edit(text, extension=".yaml")
        if edited is None:
            return made
        match read_rubrics(edited):
            case Draft() as draft:
                return _again(made, draft)
            case InvalidReply() as wrong:
                for problem in wrong.problems:
                    click.echo(escape.log_line(problem), err=True)
                click.pause("Press a key to edit it again.", err=True)
                text = edited


def _again(made: Drafted, draft: Draft) -> Drafted:
    found = (f"{d.criterion}: {d.rule}: {d.message}" for d in lint(draft.rubric, made.case))
    return replace(made, draft=draft, doubts=tuple(found))
