"""Say what became of each case: what was drafted, what is doubtful, what was left and why."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from rubric_ci.drafting.engine import Drafted
from rubric_ci.drafting.rewrite import Rewrite
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.llm_calls import Usage
from rubric_ci.system.output import print_block
from rubric_ci.text import escape, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCase:
    """A case that is left as it was."""

    case: EvalCase
    reason: str
    block: str = ""  # rubrics to paste by hand


def tell(line: str, *, aside: bool = False) -> None:
    """Print one line; aside: on standard error."""
    click.echo(escape.log_line(line), err=aside)


def show_diffs(changes: Sequence[Rewrite]) -> None:
    """Print what would change, and nothing else, on standard output: `git apply` takes it."""
    text = "".join(change.diff for change in changes)
    if text:
        print_block(text)


def show_outcome(
    drafted: Sequence[Drafted],
    left: Sequence[SkippedCase],
    changes: Sequence[Rewrite],
    *,
    aside: bool,
) -> None:
    """Print a line for each case and one for all; aside: on standard error."""
    refused = {(c.name, name): r for c in changes for name, r in c.refused.items()}
    for made in drafted:
        refusal = refused.get((made.case.file, made.case.id))
        if refusal is None:
            _show_drafted(made, aside=aside)
        else:
            left = [*left, SkippedCase(case=made.case, reason=refusal.reason, block=refusal.block)]
    for one in left:
        tell(f"{_place(one.case)}: left as it is: {one.reason}", aside=aside)
        if one.block:
            print_block(one.block, aside=aside)
    tell(_summary(changes, left, would=aside), aside=aside)


def show_spent(usage: Usage) -> None:
    """Print what the drafts cost, on standard error; nothing where no model was asked."""
    if usage.calls or usage.cache_hits:
        parts = (numbers.cost(usage), numbers.usage(usage))
        tell(", ".join(part for part in parts if part), aside=True)


def _show_drafted(made: Drafted, *, aside: bool) -> None:
    count = len(made.draft.rubrics)
    tell(f"{_place(made.case)}: {count} criteri{'on' if count == 1 else 'a'}", aside=aside)
    unchecked = f"the reference answer was not checked: {made.unchecked}"
    for doubt in (*made.doubts, *([unchecked] if made.unchecked else [])):
        click.echo(f"  {escape.log_line(doubt)}", err=aside)


def _place(case: EvalCase) -> str:
    return f"{case.file}:{case.span.line}: {case.id}"


def _summary(changes: Sequence[Rewrite], left: Sequence[SkippedCase], *, would: bool) -> str:
    if not changes and not left:
        return "nothing to do: every case has rubrics"
    added = sum(len(change.added) for change in changes)
    touched = sum(bool(change.added) for change in changes)
    verb = "would be given" if would else "given"
    files = f"{touched} file{'' if touched == 1 else 's'}"
    told = f"{added} case{'' if added == 1 else 's'} {verb} rubrics in {files}"
    if not left:
        return told
    return f"{told}, {len(left)} left as {'it was' if len(left) == 1 else 'they were'}"
