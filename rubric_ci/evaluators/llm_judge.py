"""The `llm_judge` evaluator: a free-form score 0..1 on a prompt, which a script may print."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from rubric_ci.errors import CannotJudge, CannotRunScript, NoVerdict
from rubric_ci.evaluators import code_judge
from rubric_ci.evaluators.judge_choice import judge_of, silent_judges
from rubric_ci.evaluators.kind import ExpectedRequest, UsedFiles, Written, names_file
from rubric_ci.evaluators.rubric import expected as expected_of_rubric
from rubric_ci.evaluators.rubric import for_judges, rubric
from rubric_ci.evaluators.scripts import payload
from rubric_ci.evaluators.written_criteria import read_rubric
from rubric_ci.models.judge.freeform import (
    VARIABLES,
    freeform_call,
    freeform_messages,
    read_freeform_mark,
    unknown_variables,
)
from rubric_ci.models.judge.request import (
    ParsedReply,
    new_fence,
    request_or_count,
    shown_to,
    unseen,
)
from rubric_ci.system import coroutines
from rubric_ci.system.coroutines import worked_on
from rubric_ci.system.processes import describe_exit
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import CodeJudgeSpec, EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.values.llm_calls import Unsent, unsent
from rubric_ci.values.results import Answer, Assessment
from rubric_ci.values.scoring import DECIMALS
from rubric_ci.values.usage import NOTHING_USED
from rubric_ci.values.written_keys import read_keys

FREEFORM_TOKENS: Final = 200  # of a reply, on average

_NO_VARIABLES: Mapping[str, str] = {}


def read_llm_judge(written: Written) -> LlmJudgeSpec | RubricSpec:
    """Return the spec: of a prompt, or of the criteria that an `llm_judge` may have instead."""
    if "rubrics" in written.data:
        return read_rubric(written)
    prompt, script = written.data.get("prompt", ""), None
    if isinstance(prompt, dict):
        data = {**prompt, "name": written.data["name"]}
        script, prompt = code_judge.read_code_judge(written._replace(data=data)), ""
    text, file = prompt_of(prompt, written.files)
    given: Any = {"prompt": text, "prompt_path": file, "prompt_script": script}
    return read_keys(LlmJudgeSpec, written.data, **given, span=written.span("name"))


def prompt_of(written: str, files: UsedFiles) -> tuple[str, str]:
    """Return a prompt's text, and its path if it is a file."""
    if not names_file(written):
        return written, ""
    found = files.read(written)
    return found.text, found.path


async def assess(
    case: EvalCase, answer: Answer, spec: LlmJudgeSpec | RubricSpec, context: RunContext
) -> Assessment | Unsent:
    """Request a score, or marks for the criteria that it has instead; raises NoVerdict."""
    if isinstance(spec, RubricSpec):
        return await rubric(case, answer, spec, context)
    return await llm_judge(case, for_judges(answer), spec, context)


def expected(
    case: EvalCase, spec: LlmJudgeSpec | RubricSpec, judge: JudgeConfig
) -> Sequence[ExpectedRequest]:
    if isinstance(spec, RubricSpec):
        return expected_of_rubric(case, spec, judge)
    nothing, shown = Answer(text=""), shown_to(judge)
    write = partial(freeform_messages, case, nothing, spec.prompt, shown=shown, fence="")
    return (ExpectedRequest(write, FREEFORM_TOKENS),)


async def llm_judge(
    case: EvalCase,
    answer: Answer,
    spec: LlmJudgeSpec,
    context: RunContext,
    variables: Mapping[str, str] = _NO_VARIABLES,
) -> Assessment | Unsent:
    """Request a score on a prompt that may use `variables`; raises NoVerdict."""
    judge = judge_of(spec, context.judge)
    asked = judge.members
    unknown = bool(unknown_variables(spec.prompt, variables))
    if not context.sends and (spec.prompt_script or unknown):  # the run writes the prompt
        return Unsent(tuple(one.endpoint for one in asked))
    if spec.prompt_script:
        prompt = await _prompt_from_script(case, answer, spec.prompt_script, context)
        spec = replace(spec, prompt=prompt, prompt_path="the output of the prompt script")
    _check(spec, variables)
    media = (*case.media, *case.reference_media, *answer.media)
    hidden = unseen(asked, media) if media else ()
    work = (_score(case, answer, spec, one, context, variables) for one in asked)
    replies = await coroutines.gather_all(work)
    if counted := unsent(replies):
        return counted
    usage = sum((reply.usage for reply in replies), NOTHING_USED)
    found = sorted((r for r in replies if isinstance(r, Assessment)), key=lambda each: each.score)
    if 2 * len(found) <= len(asked):
        lost = next(reply for reply in replies if isinstance(reply, NoVerdict))
        raise lost.with_usage(usage) from lost
    median = found[(len(found) - 1) // 2]
    name = asked[0].name if len(asked) == 1 else judge.name
    names = [one.name for one in asked]
    lost_by = {n: str(r) for n, r in zip(names, replies, strict=True) if isinstance(r, NoVerdict)}
    warnings = (*silent_judges(lost_by), *hidden)
    return replace(median, judge=name, usage=usage, warnings=warnings)


async def _score(
    case: EvalCase,
    answer: Answer,
    spec: LlmJudgeSpec,
    judge: JudgeConfig,
    context: RunContext,
    variables: Mapping[str, str],
) -> Assessment | NoVerdict | Unsent:
    """Return the score of one judge, or why it has none."""
    about, shown, fence = f"{case.file}: {case.id}: {spec.name}", shown_to(judge), new_fence()
    write = partial(freeform_call, shown=shown, fence=fence, about=about, more=variables)
    call = await worked_on(len(answer.text), write, case, answer, spec.prompt, judge)
    reply = await request_or_count(call, read_freeform_mark, context)
    if not isinstance(reply, ParsedReply):
        return reply
    return Assessment(
        score=round(reply.value.score, DECIMALS),
        reasoning=reply.value.reasoning,
        hits=reply.value.hits,
        misses=reply.value.misses,
        judge=judge.endpoint.model,
        marks=1,
        cached_marks=reply.usage.cache_hits,
        usage=reply.usage,
    )


async def _prompt_from_script(
    case: EvalCase, answer: Answer, script: CodeJudgeSpec, context: RunContext
) -> str:
    script_input = payload(case, answer, script.config, context.root)
    finished = await code_judge.run_script(script, script_input, answer, context)
    if finished.status != 0 or not finished.stdout.strip():
        raise CannotRunScript(f"the prompt script printed no prompt: {describe_exit(finished)}")
    return finished.stdout


def _check(spec: LlmJudgeSpec, variables: Mapping[str, str]) -> None:
    unknown = unknown_variables(spec.prompt, variables)
    if unknown:
        raise CannotJudge(
            f"{spec.prompt_path or 'the prompt'} of {spec.name} uses unknown variables: "
            f"{', '.join(f'{{{{ {name} }}}}' for name in unknown)}; "
            f"known: {', '.join((*VARIABLES, *variables))}"
        )
