"""The outputs and the summary of a workflow step that drafted rubrics."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

import click

from rubric_ci.services.drafting.publish import NothingToPublish, Published, added_by
from rubric_ci.services.drafting.rewrite import Rewrite
from rubric_ci.services.publish.workflow import Workflow, write_problems
from rubric_ci.text import escape, numbers

LONGEST: Final = 200_000  # characters of the diffs; a step summary takes 1 MiB


def write_step_outputs(
    changes: Sequence[Rewrite],
    published: Published | NothingToPublish,
    environment: Mapping[str, str],
) -> None:
    """Write to the runner's files what was drafted and where it is; nothing outside a workflow."""
    if (workflow := Workflow.of(environment)) is None:
        return
    written = (
        lambda: workflow.set_outputs(outputs(changes, published)),
        lambda: workflow.add_summary(summary(changes, published)),
    )
    for line in chain.from_iterable(map(write_problems, written)):
        click.echo(escape.log_line(line), err=True)


def outputs(changes: Sequence[Rewrite], published: Published | NothingToPublish) -> dict[str, str]:
    """Return the step's outputs, as `action.yml` names them."""
    made = published if isinstance(published, Published) else Published(url=published.url)
    return {
        "changed": str(bool(added_by(changes))).lower(),
        "commit": made.commit,
        "pull-request-url": made.url,
        "pull-request-number": made.number or made.url.rpartition("/")[2],
    }


def summary(changes: Sequence[Rewrite], published: Published | NothingToPublish) -> str:
    """Return the step's summary: where the drafts are, and the diff of each file."""
    if isinstance(published, NothingToPublish):
        return f"## rubric-ci \xb7 no drafts\n\n{escape.prose(published.reason)}"
    added = sum(len(names) for names in added_by(changes).values())
    cases = numbers.plural(added, "case") if added else "no case"
    heading = f"## rubric-ci \xb7 {cases} got rubrics"
    place = f"[Pull request]({escape.link_target(published.url)})" if published.url else ""
    commit = f"commit {escape.code_span(escape.commit(published.commit))}"
    where = " \xb7 ".join(filter(None, (place, commit if published.commit else "")))
    diff = "".join(change.diff for change in changes)
    shown = escape.fence(numbers.shortened(diff, LONGEST), "diff") if diff else ""
    return "\n\n".join(filter(None, (heading, where, shown)))
