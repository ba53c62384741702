"""The target and the judge of each case."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from posixpath import dirname, join, normpath
from typing import Any, Final

from rubric_ci.errors import CannotConfigure, ForbiddenVariable, MissingVariable
from rubric_ci.evaluators.judge_choice import with_model, with_named_model
from rubric_ci.files.parsing.env_vars import Variables, substitute
from rubric_ci.models.judge.prompt import PROMPT_VERSION
from rubric_ci.text.suggestions import misnamed, suggest
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import (
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    asks_judge,
    every_evaluator,
)
from rubric_ci.values.report import JudgeInfo
from rubric_ci.values.results import TEMPLATE, Answer
from rubric_ci.values.targets import Endpoint, MockTarget, Target

DEFAULT_TARGET = "default"

_DEEPEST: Final = 5  # aliases of aliases


def choose_target(case: EvalCase, config: Config, override: str = "") -> Target:
    """Return the target of --target, else of the case, else `default` or the only one."""
    targets = config.targets
    name = override or case.target or default_target(config)
    if name in targets:
        return _in_eval_folder(case, targets[name])
    asker = "--target" if override else f"{case.file}:{case.span.line}: case `{case.id}`"
    undefined = "define one under `targets` in rubric-ci.yaml"
    hint = suggest(name, targets, most=0) if targets else undefined
    raise CannotConfigure(f"{asker}: there is no target `{name}`", hint)


def lacks_target(case: EvalCase, config: Config, override: str = "") -> bool:
    return bool(case.target and not override and case.target not in config.targets)


def without_aliases(target: Target, config: Config, variables: Variables) -> Target:
    """Return the target that an alias and its judge's alias stand for; raises CannotConfigure."""
    end = _end_of(target, config, variables)
    found = end if end is target else replace(end, name=target.name)
    judge = config.targets.get(found.judge_target)
    if judge is not None:
        found = replace(found, judge_target=_end_of(judge, config, variables).name)
    return found


def _end_of(target: Target, config: Config, variables: Variables) -> Target:
    """Return the target at the end of a chain of aliases that variables name."""
    for _ in range(_DEEPEST):
        if not target.alias:
            return target
        name = variables.look_up(target.alias)
        if name not in config.targets:
            message = f"target `{target.name}`: {target.alias} is `{name}`, which is not a target"
            raise CannotConfigure(message, suggest(name, config.targets, most=0))
        target = config.targets[name]
    raise CannotConfigure(f"target `{target.name}`: its aliases name each other", "fix one of them")


def given(answer: Answer) -> MockTarget:
    """Return the target that gives an answer as it was given before."""
    return MockTarget(name="given", response=answer.text, did=answer)


def choose_cluster(case: EvalCase, rule: str) -> str:
    """Return the cluster of a case, else "".

    It is its conversation, what `regression.cluster` joins, or the template of its question.
    """
    if case.conversation_id:
        return f"conversation {case.conversation_id}"
    if rule == "file":
        return f"file {case.file}"
    kind, _, glob = rule.partition(":")
    tags = [tag for tag in case.tags if kind == "tag" and fnmatchcase(tag, glob)]
    if tags:
        return f"tag {tags[0]}"
    return f"{TEMPLATE}{case.template}" if case.template else ""


def default_target(config: Config) -> str:
    """Return the target name of cases without one: the only target's, else `default`."""
    return next(iter(config.targets)) if len(config.targets) == 1 else DEFAULT_TARGET


def resolve_target(target: Target, variables: Variables) -> Target:
    """Substitute environment variables in a model or a command; raises CannotConfigure."""
    who = f"target `{target.name}`"
    if target.held:
        shown = ", ".join(f"`{option}`" for option in target.held)
        raise CannotConfigure(
            f"{who} sets {shown}, which count after the merge",
            "under the policy of the base a target may set its model, texts and numbers; use "
            "the connection of another target of its provider, or merge this one first",
        )
    if target.endpoint:
        return target.having(endpoint=resolved(target.endpoint, who, variables))
    if not target.starts_program:
        return target
    check = target.healthcheck
    written = (target.command_template, target.cwd, check and check.texts)
    command, cwd, texts = _substituted(written, who, variables)
    agent = target.agent and _agent(target.agent, who, variables)
    check = check and replace(check, **texts)
    return target.having(command_template=command, cwd=cwd, healthcheck=check, agent=agent)


def _agent(agent: AgentProgram, who: str, variables: Variables) -> AgentProgram:
    written = (agent.base_url, agent.mcp_servers, agent.args)
    base_url, servers, args = _substituted(written, who, variables)
    return replace(agent, base_url=base_url, mcp_servers=servers, args=tuple(args))


def resolved(endpoint: Endpoint, who: str, variables: Variables) -> Endpoint:
    """Substitute environment variables in a model's name and options; raises CannotConfigure."""
    options = _substituted(endpoint.options, who, variables)
    command = endpoint.command
    if command:
        argv = tuple(_substituted(list(command.argv), who, variables))
        command = replace(command, argv=argv, model=_substituted(command.model, who, variables))
    identity = endpoint.identity
    if identity:
        parameters = _substituted(identity.parameters, who, variables)
        identity = replace(identity, parameters=parameters)
    shown = named(endpoint, who, variables)
    _check_provider(shown, who)
    return replace(shown, options=options, command=command, identity=identity)


def _check_provider(endpoint: Endpoint, who: str) -> None:
    """Raise CannotConfigure for a model whose provider is missing or misspelt."""
    if endpoint.command or endpoint.http:
        return
    wrong = misnamed(endpoint.model, (), served="api_base" in endpoint.options)
    if wrong and (wrong.meant or "/" not in endpoint.model):
        raise CannotConfigure(f"{who}: {wrong.message}", wrong.hint)


def named(endpoint: Endpoint, who: str, variables: Variables) -> Endpoint:
    """Substitute environment variables in the name of a model; raises CannotConfigure."""
    model = _substituted(endpoint.model, who, variables)
    return endpoint if model == endpoint.model else replace(endpoint, model=model)


def name_judge(judge: JudgeConfig, variables: Variables) -> JudgeConfig:
    """Substitute environment variables in the name of the judge's model, in nothing secret."""
    first, *others = (named(each, _judge(each), variables) for each in judge.endpoints)
    if all(map(operator.is_, (first, *others), judge.endpoints)):
        return judge
    return replace(judge, endpoint=first, others=tuple(others))


def name_target(target: Target, variables: Variables) -> Target:
    """Substitute environment variables in the name of a target's model, in nothing secret."""
    if target.endpoint is None:
        return target
    return target.having(endpoint=named(target.endpoint, f"target `{target.name}`", variables))


def _substituted(value: Any, who: str, variables: Variables) -> Any:
    try:
        return substitute(value, variables)
    except (ForbiddenVariable, MissingVariable) as error:
        raise type(error)(f"{who}: {error.message}", error.hint) from None


def _in_eval_folder(case: EvalCase, target: Target) -> Target:
    """Return the target with its folders resolved against the eval file's folder, if relative."""
    if not target.cwd_from_eval_folder:
        return target
    folder, check = dirname(case.file), target.healthcheck
    if check and check.cwd:
        check = replace(check, cwd=_joined(folder, check.cwd))
    cwd = _joined(folder, target.cwd)
    return target.having(cwd=cwd, healthcheck=check, cwd_from_eval_folder=False)


def _joined(base: str, folder: str) -> str:
    return folder if folder.startswith("${{") else normpath(join(base, folder))


def choose_judge(config: Config, target: Target, override: str = "") -> JudgeConfig | None:
    """Return the judge of a target's answers: the target's own, else the configured one.

    `override` is a model at its provider's own host, or the name of a target with a model.
    """
    if override and override not in config.targets:
        return with_named_model(config.judge, override)
    name = override or target.judge_target
    if not name:
        return config.judge
    judges = config.targets if config.judges is None else config.judges
    judge = judges.get(name)
    if judge is None:
        message = f"target `{target.name}`: there is no judge_target `{name}`"
        raise CannotConfigure(message, suggest(name, judges, most=0))
    if judge.model is None:
        raise CannotConfigure(
            f"target `{name}` has no model and cannot judge",
            "set judge_target to a target with `model:`",
        )
    return (config.judge or JudgeConfig(endpoint=judge.model)).alone(judge.model)


def judge_info(judge: JudgeConfig) -> JudgeInfo:
    return JudgeInfo(
        model=judge.name, prompt_version=PROMPT_VERSION, mode=judge.mode, votes=judge.votes
    )


def resolve_judge(judge: JudgeConfig, variables: Variables) -> JudgeConfig:
    """Substitute environment variables in the judge's model; raises CannotConfigure."""
    first, *others = (resolved(each, _judge(each), variables) for each in judge.endpoints)
    return replace(judge, endpoint=first, others=tuple(others))


def _judge(endpoint: Endpoint) -> str:
    return f"judge `{endpoint.model}`"


def needs_judge(case: EvalCase) -> bool:
    return any(map(asks_judge, every_evaluator(case.evaluators)))


def judges_of(
    case: EvalCase, judge: JudgeConfig | None
) -> Iterator[tuple[JudgeConfig, RubricSpec | LlmJudgeSpec]]:
    """Yield each evaluator that uses a judge, with that judge; `judge` is the default."""
    for spec in every_evaluator(case.evaluators):
        if asks_judge(spec) and (chosen := with_model(judge, spec.model)) is not None:
            yield chosen, spec


def without_own_judges(case: EvalCase) -> EvalCase:
    """Return the case without the judge models of its evaluators, for --judge."""
    return _with_models(case, lambda _: "")


def name_own_models(case: EvalCase, target: Target, variables: Variables) -> EvalCase:
    """Substitute environment variables in the models of evaluators, and of a user that is asked.

    Raises CannotConfigure for a variable that is not set, and for a model without its provider.
    """
    who = f"{case.file}:{case.span.line}: case `{case.id}`"
    own = _with_models(case, lambda model: _own_model(model, who, variables) if model else "")
    user = case.simulated_user
    if not user or not user.model or target.answers:
        return own
    model = _own_model(user.model, f"{who}: simulated user", variables)
    return replace(own, simulated_user=replace(user, model=model))


def _own_model(model: str, who: str, variables: Variables) -> str:
    name = str(_substituted(model, who, variables))
    _check_provider(Endpoint(model=name), who)
    return name


def _with_models(case: EvalCase, change: Callable[[str], str]) -> EvalCase:
    specs = tuple(_with_model(spec, change) for spec in case.evaluators)
    unchanged = all(now is before for now, before in zip(specs, case.evaluators, strict=True))
    return case if unchanged else replace(case, evaluators=specs)


def _with_model(spec: EvaluatorSpec, change: Callable[[str], str]) -> EvaluatorSpec:
    match spec:
        case RubricSpec() | LlmJudgeSpec():
            model = change(spec.model)
            return spec if model == spec.model else replace(spec, model=model)
        case CompositeSpec(evaluators=members, aggregator=LlmJudgeSpec() as judge):
            own = tuple(_with_model(member, change) for member in members)
            return replace(
                spec, evaluators=own, aggregator=replace(judge, model=change(judge.model))
            )
        case CompositeSpec(evaluators=members):
            return replace(spec, evaluators=tuple(_with_model(one, change) for one in members))
        case _:
            return spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One case to grade, its target, its judge, and why it runs."""

    case: EvalCase
    target: Target
    judge: JudgeConfig | None = None  # None: the judge of the context
    why: str = ""
    cluster: str = ""  # of cases that are not independent of each other
    waived: frozenset[str] = frozenset()  # ids of criteria
    not_graded: str = ""  # why it is skipped without asking anything; empty: it is graded
    also: tuple[EvaluatorSpec, ...] = ()  # of the base: the answer is marked by them as well

    @property
    def answered(self) -> EvalCase:
        """The case as it is answered: all that marks the answer sees the same workspace."""
        if not self.also:
            return self.case
        return replace(self.case, evaluators=self.case.evaluators + self.also)

    def trials(self, default: int) -> int:
        """Return how many times the case is answered and graded."""
        return self.case.trials.count if self.case.trials else default
