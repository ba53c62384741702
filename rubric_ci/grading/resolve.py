"""Choose what runs: which cases, on which target."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from posixpath import dirname, join, normpath
from typing import Any

from rubric_ci.errors import CannotConfigure, CannotFindEvals, MissingVariable
from rubric_ci.judge.prompt import PROMPT_VERSION
from rubric_ci.model.config import (
    CliTarget,
    Config,
    Endpoint,
    JudgeConfig,
    LlmTarget,
    Target,
    with_model,
)
from rubric_ci.model.evals import (
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    every_evaluator,
)
from rubric_ci.model.report import JudgeInfo
from rubric_ci.parsing.env_vars import substitute
from rubric_ci.text.suggestions import suggest

DEFAULT_TARGET = "default"


def choose_cases(
    cases: Sequence[EvalCase], *, ids: Sequence[str], tags: Sequence[str]
) -> tuple[EvalCase, ...]:
    """Keep the cases that match a glob of `ids` and carry one of `tags`; empty keeps all."""
    for pattern in ids:
        if not any(fnmatchcase(case.id, pattern) for case in cases):
            known = [case.id for case in cases]
            raise CannotFindEvals(
                f"no case matches --case {pattern}", suggest(pattern, known, most=0)
            )
    for tag in tags:
        if not any(tag in case.tags for case in cases):
            known = sorted({known for case in cases for known in case.tags})
            raise CannotFindEvals(f"no case carries --tag {tag}", suggest(tag, known, most=0))
    return tuple(
        case
        for case in cases
        if (not ids or any(fnmatchcase(case.id, pattern) for pattern in ids))
        and (not tags or any(tag in case.tags for tag in tags))
    )


def choose_target(case: EvalCase, config: Config, override: str = "") -> Target:
    """Return the target of the command line, else the case's, else `default` or the only one."""
    targets = config.targets
    name = override or case.target or default_target(config)
    if name in targets:
        return _beside(case, targets[name])
    asker = "--target" if override else f"{case.file}:{case.span.line}: case `{case.id}`"
    undefined = "define one under `targets` in rubric-ci.yaml"
    hint = suggest(name, targets, most=0) if targets else undefined
    raise CannotConfigure(f"{asker}: there is no target `{name}`", hint)


def default_target(config: Config) -> str:
    """Name the target of cases that name none: `default`, or the only one."""
    return next(iter(config.targets)) if len(config.targets) == 1 else DEFAULT_TARGET


def resolve_target(target: Target, environment: Mapping[str, str]) -> Target:
    """Put the environment's values into a model or a command; raises `MissingVariable`."""
    match target:
        case LlmTarget(name=name, endpoint=endpoint):
            return replace(target, endpoint=resolved(endpoint, f"target `{name}`", environment))
        case CliTarget(name=name):
            written = (target.command_template, target.cwd, target.healthcheck)
            command, cwd, asked = _substituted(written, f"target `{name}`", environment)
            return replace(target, command_template=command, cwd=cwd, healthcheck=asked)
        case _:
            return target


def resolved(endpoint: Endpoint, who: str, environment: Mapping[str, str]) -> Endpoint:
    """Put the environment's values into the options of a model; raises `MissingVariable`."""
    options = _substituted(endpoint.options, who, environment)
    return replace(endpoint, options=options)


def _substituted(value: Any, who: str, environment: Mapping[str, str]) -> Any:
    try:
        return substitute(value, environment)
    except MissingVariable as error:
        raise MissingVariable(f"{who}: {error.message}", error.hint) from None


def _beside(case: EvalCase, target: Target) -> Target:
    """Return the target in the folder of the case's eval file, if that is where it runs."""
    if not isinstance(target, CliTarget) or not target.beside_evals:
        return target
    folder, asked = dirname(case.file), target.healthcheck
    if asked and "cwd" in asked:
        asked = {**asked, "cwd": _folder(folder, str(asked["cwd"]))}
    return replace(target, cwd=_folder(folder, target.cwd), healthcheck=asked, beside_evals=False)


def _folder(beside: str, folder: str) -> str:
    return folder if folder.startswith("${{") else normpath(join(beside, folder))


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
            raise CannotConfigure(message, suggest(name, config.targets, most=0))
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
