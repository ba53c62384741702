"""A judge's free-form score 0..1, on a prompt of the user's or a built-in one."""

import secrets
from collections.abc import Mapping
from dataclasses import replace

from rubric_ci.errors import CannotJudge, CannotRunScript
from rubric_ci.evaluators.code_judge import run_script
from rubric_ci.evaluators.rubric import chosen_judge
from rubric_ci.evaluators.script_input import payload
from rubric_ci.judge.cached_ask import ask_once
from rubric_ci.judge.freeform import (
    VARIABLES,
    Opinion,
    opinion_call,
    read_opinion,
    unknown_variables,
)
from rubric_ci.judge.repair import ParsedReply
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import CodeJudgeSpec, EvalCase, LlmJudgeSpec
from rubric_ci.model.results import Answer, Assessed, EvaluatorResult
from rubric_ci.model.scoring import DECIMALS, verdict

_SHOWN = 300
_NO_MORE: Mapping[str, str] = {}


async def llm_judge(
    case: EvalCase, answer: Answer, spec: LlmJudgeSpec, context: RunContext
) -> EvaluatorResult:
    """Ask for a score; raises CannotJudge when the judge gives none."""
    heard = await ask_opinion(case, answer, spec, context)
    value = round(heard.value.score, DECIMALS)
    return Assessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        score=value,
        verdict=verdict(value, (), context.thresholds).value,
        reasoning=heard.value.reasoning,
        hits=heard.value.hits,
        misses=heard.value.misses,
        judge=chosen_judge(context, spec.model).endpoint.model,
        marks=1,
        cached_marks=heard.usage.cache_hits,
        usage=heard.usage,
    )


async def ask_opinion(
    case: EvalCase,
    answer: Answer,
    spec: LlmJudgeSpec,
    context: RunContext,
    more: Mapping[str, str] = _NO_MORE,
) -> ParsedReply[Opinion]:
    """Ask for a score on a prompt that may use `more` variables; raises NoVerdict."""
    if spec.prompt_script:
        prompt = await _printed(case, answer, spec.prompt_script, context)
        spec = replace(spec, prompt=prompt, prompt_path="the prompt that the script prints")
    _check(spec, more)
    call = opinion_call(
        case,
        answer,
        spec.prompt,
        chosen_judge(context, spec.model),
        fence=secrets.token_hex(8),
        about=f"{case.file}: {case.id}: {spec.name}",
        more=more,
    )
    return await ask_once(call, read_opinion, context)


async def _printed(
    case: EvalCase, answer: Answer, script: CodeJudgeSpec, context: RunContext
) -> str:
    """Return the template that a script prints."""
    asked = payload(case, answer, script.config, context.root)
    finished = await run_script(script, asked, answer.text, context)
    if finished.status != 0 or not finished.stdout.strip():
        said = " ".join(finished.stderr.split())[-_SHOWN:]
        told = f": {said}" if said else ""
        raise CannotRunScript(
            f"the script of the prompt printed none; exit status {finished.status}{told}"
        )
    return finished.stdout


def _check(spec: LlmJudgeSpec, more: Mapping[str, str]) -> None:
    unknown = unknown_variables(spec.prompt, more)
    if unknown:
        raise CannotJudge(
            f"{spec.prompt_path or 'the prompt'} of {spec.name} uses "
            f"{', '.join(f'{{{{ {name} }}}}' for name in unknown)}, which stands for nothing; "
            f"known: {', '.join((*VARIABLES, *more))}"
        )
