"""The cases to draft rubrics for and the model that drafts them, announced; and step outputs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

import click

from rubric_ci.errors import CannotConfigure
from rubric_ci.files.parsing.env_vars import Variables
from rubric_ci.grading.case_choice import choose_cases
from rubric_ci.grading.resolve import name_judge, resolve_judge
from rubric_ci.models.judge.voting import PANEL
from rubric_ci.models.llm.budget import priced
from rubric_ci.models.llm.model_info import prices_of
from rubric_ci.services.cost_estimate import cost_words
from rubric_ci.services.drafting.drafter import Drafter, DraftRequest, call_of
from rubric_ci.services.drafting.drafting_reply import MOST
from rubric_ci.services.drafting.publish import NothingToPublish, Published, added_by
from rubric_ci.services.drafting.review_and_insertion import Rewrite, SkippedCase
from rubric_ci.services.expected_requests import CHARACTERS, picture_tokens
from rubric_ci.services.publish_workflow import Workflow, write_problems
from rubric_ci.text import escape, numbers
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.command_settings import GenerateSettings
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase, EvalFile
from rubric_ci.values.llm_calls import ModelCall
from rubric_ci.values.targets import Endpoint


def choose_requests(
    files: Sequence[EvalFile], patterns: Sequence[str]
) -> tuple[list[DraftRequest], list[SkippedCase]]:
    """Return the cases to draft rubrics for, and the skipped ones with the reason."""
    every = [case for file in files for case in file.cases]
    chosen = choose_cases(every, ids=patterns, tags=())
    suites = {case.key: file for file in files for case in file.cases}
    requests, skipped = list[DraftRequest](), list[SkippedCase]()
    for case in chosen:
        suite = suites[case.key]
        if not _has_rubrics(case, suite):
            if suite.in_files:
                reason = "files that `evalcases` names are not edited; write its `rubrics` there"
                skipped.append(SkippedCase(case=case, reason=reason))
            elif case.expected_outcome:
                requests.append(
                    DraftRequest(case=case, suite=suite.cases, plain=suite.of_other_tool)
                )
            else:
                skipped.append(
                    SkippedCase(case=case, reason="there is no `expected_outcome` to draft from")
                )
        elif patterns:  # a case that was asked for by id is reported, others are not
            skipped.append(SkippedCase(case=case, reason="it has rubrics"))
    return requests, skipped


def choose_drafter(config: Config, settings: GenerateSettings, variables: Variables) -> Drafter:
    """Return the drafting model: the target or model that `--target` names, else the judge's."""
    # A recording is looked up without secrets.
    resolve = name_judge if settings.requests.replay else resolve_judge
    chosen = resolve(_drafting_model(config, settings.target), variables)
    return Drafter(
        endpoint=chosen.endpoint, output=chosen.output, kind=settings.kind, tests=settings.tests
    )


def _has_rubrics(case: EvalCase, suite: EvalFile) -> bool:
    """Return True unless the outcome itself is the one criterion, as in files of other tools."""
    texts = [each.text for spec in case.rubrics for each in spec.rubric]
    if case.only_shared:
        return False
    return bool(case.rubrics) and not (suite.of_other_tool and texts == [case.expected_outcome])


def _drafting_model(config: Config, name: str) -> JudgeConfig:
    if not name and config.judge:
        return config.judge
    if not name:
        raise CannotConfigure(
            "no model is configured to draft with",
            "set `judge: {model: ...}` in rubric-ci.yaml, or name a target with --target",
        )
    target = config.targets.get(name)
    if target is None and "/" in name:
        return JudgeConfig(endpoint=Endpoint(model=name))
    if target is None:
        known = suggest(name, config.targets, most=0)
        raise CannotConfigure(f"--target: there is no target `{name}`", known)
    if target.model is None:
        raise CannotConfigure(
            f"--target: `{name}` is not a model and cannot draft", "name a target with `model:`"
        )
    return JudgeConfig(endpoint=target.model)


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
    if judge and tests:
        for each in judge.endpoints:
            priced(each, prices_of, f"the judge {each.model}")


def _asked(
    requests: Sequence[DraftRequest], drafter: Drafter, context: RunContext
) -> list[ModelCall]:
    """Return the requests for drafts that are not in the cache."""
    calls = [call_of(request, drafter) for request in requests]
    cache = context.cache
    return [call for call in calls if cache is None or cache.get(call.key) is None]


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
