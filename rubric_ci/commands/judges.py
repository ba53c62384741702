"""Choose who marks: the configured judge, a target's own, an evaluator's own, or the command's."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rubric_ci.commands.choosing import nearest, resolved
from rubric_ci.errors import CannotConfigure
from rubric_ci.judging.prompt import PROMPT_VERSION
from rubric_ci.model.config import Config, JudgeConfig, LlmTarget, Target, with_model
from rubric_ci.model.evals import (
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    every_evaluator,
)
from rubric_ci.model.report import JudgeInfo


def choose_judge(config: Config, target: Target, override: str = "") -> JudgeConfig | None:
    """Return who marks a target's answers: the target's own judge, else the configured one.

    `override` names a model, or a target that is one.
    """
    if override and override not in config.targets:
        return with_model(config.judge, override)
    name = override or target.judge_target
    if not name:
        return config.judge
    match config.targets.get(name):
        case LlmTarget(endpoint=endpoint):
            base = config.judge or JudgeConfig(endpoint=endpoint)
            return replace(base, endpoint=endpoint)
        case None:
            message = f"target `{target.name}`: there is no judge_target `{name}`"
            raise CannotConfigure(message, nearest(name, config.targets))
        case _:
            raise CannotConfigure(
                f"target `{name}` is no model and cannot judge",
                "name a target with `model:` as the judge_target",
            )


def judge_info(judge: JudgeConfig) -> JudgeInfo:
    """Say who judges, as reports and calibrations do."""
    return JudgeInfo(
        model=judge.endpoint.model,
        prompt_version=PROMPT_VERSION,
        mode=judge.mode,
        votes=judge.votes,
    )


def resolve_judge(judge: JudgeConfig, environment: Mapping[str, str]) -> JudgeConfig:
    """Put the environment's values into the judge's options; raises `MissingVariable`."""
    who = f"judge `{judge.endpoint.model}`"
    return replace(judge, endpoint=resolved(judge.endpoint, who, environment))


def asks_a_judge(case: EvalCase) -> bool:
    """Tell whether grading the case may call a judge."""
    return any(True for _ in _judged(case))


def judges_of(
    case: EvalCase, judge: JudgeConfig | None
) -> Iterator[tuple[JudgeConfig, EvaluatorSpec]]:
    """Yield each evaluator that asks a judge, and which; `judge` where it has none of its own."""
    for spec in _judged(case):
        if spec.model:
            yield with_model(judge, spec.model), spec
        elif judge is not None:
            yield judge, spec


def without_own_judges(case: EvalCase) -> EvalCase:
    """Let the judge of the command line mark everything, whatever the eval file says."""
    return replace(case, evaluators=tuple(_without_model(spec) for spec in case.evaluators))


def _judged(case: EvalCase) -> Iterator[RubricSpec | LlmJudgeSpec]:
    for spec in every_evaluator(case.evaluators):
        if isinstance(spec, RubricSpec | LlmJudgeSpec):
            yield spec


def _without_model(spec: EvaluatorSpec) -> EvaluatorSpec:
    match spec:
        case RubricSpec() | LlmJudgeSpec():
            return replace(spec, model="")
        case CompositeSpec(evaluators=members, aggregator=LlmJudgeSpec() as judge):
            own = tuple(_without_model(member) for member in members)
            return replace(spec, evaluators=own, aggregator=replace(judge, model=""))
        case CompositeSpec(evaluators=members):
            return replace(spec, evaluators=tuple(_without_model(one) for one in members))
        case _:
            return spec
