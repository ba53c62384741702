"""The kinds of target: how each answers, and what its answers depend on.

A kind has one row here, by its value in `values/`.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, Final, NamedTuple, NoReturn

from rubric_ci.errors import CannotAnswer
from rubric_ci.grading.targets import command, http_target, llm, recorded
from rubric_ci.grading.targets.workplace import Workplaces, assertions_of, needed
from rubric_ci.models.llm.judge_command import version_of_cli
from rubric_ci.values.agent_names_and_credentials import instead_of
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import call_key
from rubric_ci.values.messages import FilePart
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import (
    CliTarget,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    RunnerTarget,
    ServiceTarget,
    Target,
    TargetFacts,
    UnsupportedTarget,
)


class Attempt(NamedTuple):
    """The state that the answers to one case share."""

    number: int
    session: str  # the id of a conversation with a service
    workplaces: Workplaces


class Kind(NamedTuple):
    """How a kind of target answers, and what an answer depends on besides files."""

    answer: Callable[[EvalCase, Any, RunContext, Attempt], Awaitable[Answer]]
    key: Callable[[EvalCase, Any, RunContext], JSON]  # None: there is none, so it is not cached
    at_hand: Callable[[EvalCase, Any, RunContext], Answer | None] | None = None
    """Returns the answer that is written down; None: a simulated user has to be asked."""


def kind_of(target: Target) -> Kind:
    return KINDS[type(target)]


def at_hand(case: EvalCase, target: Target, context: RunContext) -> Answer | None:
    """Return the answer that is written down, if the target has one; raises CannotAnswer."""
    find = kind_of(target).at_hand
    return find(case, target, context) if find else None


async def _model(
    case: EvalCase, target: LlmTarget, context: RunContext, attempt: Attempt
) -> Answer:
    return await llm.answer(case, target, context, attempt.number)


async def _service(
    case: EvalCase, target: ServiceTarget, context: RunContext, attempt: Attempt
) -> Answer:
    return await http_target.answer(case, target, context, attempt.number, attempt.session)


async def _program(
    case: EvalCase, target: CliTarget, context: RunContext, attempt: Attempt
) -> Answer:
    if target.works_in_folder:
        work = needed("answer in a workspace")
        place = attempt.workplaces.made()
        given: Answer = await work(case, target, context, attempt.number, place)
        return given
    return await command.answer(case, target, context, attempt.number)


async def _fixed(_: EvalCase, target: MockTarget, *__: object) -> Answer:
    return Answer(text=target.response)


async def _runner(_: EvalCase, target: RunnerTarget, *__: object) -> NoReturn:
    raise CannotAnswer(
        f"target {target.name}: a runner has its own cases and answers no others; run "
        f"`rubric-ci run --target {target.name}`"
    )


async def _unsupported(_: EvalCase, target: UnsupportedTarget, *__: object) -> NoReturn:
    if target.reason:
        raise CannotAnswer(f"target {target.name} is not started: {target.reason}")
    raise CannotAnswer(
        f"target {target.name}: provider `{target.provider}` is not supported; "
        f"{instead_of(target.provider)}"
    )


def _model_question(case: EvalCase, target: LlmTarget, _: RunContext) -> JSON:
    options = target.endpoint.options
    try:
        messages = llm.chat_messages(case, target.prompt)
    except CannotAnswer:  # a variable is missing: there is no answer
        return None
    host = options.get("api_base") or options.get("base_url") or ""
    return ["model", call_key(target.endpoint, messages), host]


def _program_question(case: EvalCase, target: CliTarget, context: RunContext) -> JSON:
    template = target.command_template
    # Nothing is started to look up a version for a recording, whose key has none.
    asked = target.agent if context.recording is None else None
    parts = [part for message in case.input_messages for part in message.parts]
    return {
        "command": [template, target.cwd, target.files_format],
        "work": [target.trace, *(e and asdict(e) for e in (target.agent, target.workspace))],
        "program": version_of_cli(asked.name) if asked else "",
        "checks": [[each.key, each.value] for each in assertions_of(case)],
        "prompt": [case.question, command.guidelines(case)],
        "files": [[part.path, part.text] for part in parts if isinstance(part, FilePart)],
        "id": case.own_id if "{EVAL_ID}" in template else "",
        "eval_file": case.file if "{EVAL_FILE}" in template else "",
    }


def _nothing(*_: object) -> None:
    """Return no key: there is no answer."""


KINDS: Final[Mapping[type[TargetFacts], Kind]] = {
    LlmTarget: Kind(_model, _model_question),
    ServiceTarget: Kind(_service, http_target.key_parts),
    CliTarget: Kind(_program, _program_question),
    RunnerTarget: Kind(_runner, _nothing),
    UnsupportedTarget: Kind(_unsupported, _nothing),
    RecordedTarget: Kind(_fixed, _nothing, recorded.answer),
    MockTarget: Kind(_fixed, _nothing, recorded.fixed_answer),
}
