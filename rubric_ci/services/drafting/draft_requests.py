"""The requests that drafts will take, announced before the first is sent, and step outputs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

import click

from rubric_ci.models.judge.voting import PANEL
from rubric_ci.models.llm.budget import priced
from rubric_ci.models.llm.model_info import prices_of
from rubric_ci.services.cost.estimate import cost_words
from rubric_ci.services.cost.judge_cost import CHARACTERS, picture_tokens
from rubric_ci.services.drafting.draft_check import VARIANTS
from rubric_ci.services.drafting.drafter import Drafter, DraftRequest, call_of
from rubric_ci.services.drafting.drafting_reply import MOST
from rubric_ci.services.drafting.publish import NothingToPublish, Published, added_by
from rubric_ci.services.drafting.rewrite import Rewrite
from rubric_ci.services.publish.workflow import Workflow, write_problems
from rubric_ci.text import escape, numbers
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.llm_calls import ModelCall

DRAFT_TOKENS: Final = 300  # of a reply
TESTS: Final = 2  # per criterion
LONGEST: Final = 200_000  # characters of the diffs; a step summary takes 1 MiB


def request_lines(
    requests: Sequence[DraftRequest],
    drafter: Drafter,
    judge: JudgeConfig | None,
    context: RunContext,
) -> Iterator[str]:
    """Yield how many drafts are requested, less those in the cache, and the bound of the checks."""
    asked = _asked(requests, drafter, context)
    cached = len(requests) - len(asked)
    read = sum(call.size for call in asked) // CHARACTERS
    read += sum(picture_tokens(call.media, call.endpoint) for call in asked)
    written = DRAFT_TOKENS * len(asked)
    prices = prices_of(drafter.endpoint)
    dollars = read * prices.input + written * prices.output if prices else None
    more = f"; {cached:,} more in the cache" if cached else ""
    yield (
        f"about {numbers.plural(len(asked), 'request')} to {drafter.endpoint.model} for drafts, "
        f"{read:,} + {written:,} tokens, {cost_words(dollars)}{more}"
    )
    if drafter.check and judge and (most := _checks(requests, judge)):
        yield (
            f"up to {numbers.plural(most, 'request')} to {judge.name} to check drafts by the "
            f"reference answer and at most {VARIANTS} variants of it per criterion"
        )
    if drafter.tests and (most := _tested(requests)):
        yield f"up to {numbers.plural(most, 'request')} to {drafter.endpoint.model} for tests"
        if judge:
            marks = numbers.plural(most * TESTS * MOST * _votes(judge), "request")
            yield f"up to {marks} to {judge.name} to check the tests"


def check_prices(
    requests: Sequence[DraftRequest],
    drafter: Drafter,
    judge: JudgeConfig | None,
    context: RunContext,
) -> None:
    """Raise CannotConfigure for a model that these requests ask and that fits no cap in dollars."""
    if not context.allowance.needs_prices:
        return
    tests = drafter.tests and _tested(requests)
    if tests or _asked(requests, drafter, context):
        priced(drafter.endpoint, prices_of, f"{drafter.endpoint.model}, which drafts,")
    if judge and (tests or (drafter.check and _checks(requests, judge))):
        for each in judge.endpoints:
            priced(each, prices_of, f"the judge {each.model}")


def _asked(
    requests: Sequence[DraftRequest], drafter: Drafter, context: RunContext
) -> list[ModelCall]:
    """Return the requests for drafts that are not in the cache."""
    calls = [call_of(request, drafter) for request in requests]
    cache = context.cache
    return [call for call in calls if cache is None or cache.get(call.key) is None]


def _checks(requests: Sequence[DraftRequest], judge: JudgeConfig) -> int:
    """Return the bound of the requests of `--check`: a reference answer and variants of it."""
    known = [request for request in requests if request.case.reference_answer]
    bad = sum(bool(request.contrast) for request in known)
    each = 1 + VARIANTS * MOST
    return _votes(judge) * (len(known) * each + bad)


def _tested(requests: Sequence[DraftRequest]) -> int:
    """Return the number of the drafts that get tests."""
    return sum(not request.plain for request in requests)


def _votes(judge: JudgeConfig) -> int:
    return PANEL if judge.votes == "auto" else judge.votes * len(judge.members)


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
