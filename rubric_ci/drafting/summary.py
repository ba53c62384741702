"""Print the result of each case: its draft and warnings, or why it was left unchanged."""

from collections.abc import Sequence

import click

from rubric_ci.drafting.check import Drafted
from rubric_ci.drafting.rewrite import Rewrite
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.llm_calls import Usage
from rubric_ci.system.output import print_block
from rubric_ci.text import escape, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCase:
    """A case that is left unchanged."""

    case: EvalCase
    reason: str
    block: str = ""  # rubrics to paste by hand


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
    count = len(made.draft.rubrics)
    echo(f"{_place(made.case)}: {count} criteri{'on' if count == 1 else 'a'}", err=err)
    unchecked = f"the reference answer was not checked: {made.unchecked}"
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
