"""The `composite` evaluator: members, and how their results become one; it may be a gate."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from rubric_ci.evaluators import code_judge
from rubric_ci.evaluators.kind import Evaluator, Prompt, Script, Written, common
from rubric_ci.evaluators.llm_judge import PROMPT_VARIABLES, prompt_of
from rubric_ci.model.problems import WEIGHT_TOTAL, Path, Problem, Rule, with_evaluator
from rubric_ci.text.suggestions import did_you_mean, nearest

if TYPE_CHECKING:
    from rubric_ci.model.evals import (
        CodeJudgeSpec,
        CompositeSpec,
        LlmJudgeSpec,
        PassedShare,
        WeightedAverage,
    )

RESULTS_VARIABLE: Final = "EVALUATOR_RESULTS_JSON"

UNKNOWN_MEMBER: Final = Rule(
    id="unknown-member",
    switchable=True,
    meaning="The weights of a composite refer to its members by name.",
    bad=with_evaluator(
        "- name: both\n  type: composite\n  evaluators:\n"
        "    - {name: fast, type: latency, threshold: 9}\n"
        "  aggregator: {type: weighted_average, weights: {fats: 1}}"
    ),
    good=with_evaluator(
        "- name: both\n  type: composite\n  evaluators:\n"
        "    - {name: fast, type: latency, threshold: 9}\n"
        "  aggregator: {type: weighted_average, weights: {fast: 1}}"
    ),
)


def read(written: Written) -> "CompositeSpec":
    """Return the spec of a composite, whose members were read before."""
    from rubric_ci.model.evals import CompositeSpec

    return CompositeSpec(
        **common(written),
        evaluators=written.members,
        aggregator=_aggregator(written),
        required_min_score=float(written.data.get("required_min_score", 0.0)),
    )


def _aggregator(
    written: Written,
) -> "WeightedAverage | PassedShare | CodeJudgeSpec | LlmJudgeSpec":
    from dataclasses import replace

    from rubric_ci.model.evals import LlmJudgeSpec, PassedShare, WeightedAverage

    name, settings = written.data["name"], _settings(written.data)
    match settings.get("type"):
        case "code_judge":
            data = {**settings, "name": name, "script": settings["path"]}
            del data["path"]
            spec = code_judge.read(written._replace(data=data))
            return replace(spec, span=written.span("aggregator"))
        case "llm_judge":
            text, file = prompt_of(settings.get("prompt", ""), written.files)
            return LlmJudgeSpec(
                name=name,
                prompt=text,
                prompt_path=file,
                model=settings.get("model", ""),
                span=written.span("aggregator"),
            )
        case "passed":
            return PassedShare()
        case _:
            weights = settings.get("weights", {})
            return WeightedAverage(weights={name: float(w) for name, w in weights.items()})


def prompts(evaluator: Evaluator, path: Path) -> Iterator[Prompt]:
    """Yield the prompt of the aggregator, which has the results of the members as a variable."""
    prompt = _settings(evaluator).get("prompt")
    if isinstance(prompt, str):
        known = (*PROMPT_VARIABLES, RESULTS_VARIABLE)
        where, needed = (*path, "aggregator", "prompt"), (RESULTS_VARIABLE,)
        yield Prompt(where, prompt, known, needed, "the results of the members")


def scripts(evaluator: Evaluator, path: Path) -> Iterator[Script]:
    """Yield the script of the aggregator."""
    settings = _settings(evaluator)
    if settings.get("type") == "code_judge":
        yield Script(settings, (*path, "aggregator"), "path")


def problems(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    """Yield weights of no member, and weights that are all 0."""
    weights, members = _settings(evaluator).get("weights"), evaluator.get("evaluators")
    if not isinstance(weights, dict) or not isinstance(members, list):
        return
    members = [member for member in members if isinstance(member, dict)]
    names = dict.fromkeys(str(member.get("name")) for member in members)
    where: Path = (*path, "aggregator", "weights")
    for name in weights:
        if name not in names:
            message = f"no member is called `{name}`"
            hint = did_you_mean(nearest(name, names))
            yield Problem(UNKNOWN_MEMBER, (*where, name), message, hint, at_key=True)
    given = [weights.get(name, 1.0) for name in names]
    if given and all(weight == 0 for weight in given):
        yield Problem(WEIGHT_TOTAL, where, "every member has weight 0, so nothing is graded")


def _settings(evaluator: Evaluator) -> dict[str, Any]:
    aggregator = evaluator.get("aggregator")
    return aggregator if isinstance(aggregator, dict) else {}
