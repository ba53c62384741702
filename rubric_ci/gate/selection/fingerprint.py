"""The fingerprint of a case: everything that its verdict depends on, part by part.

It leaves out positions, layout, tags, notes, API keys and concurrency.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from enum import Enum
from functools import cache
from typing import Any, TypeAlias

from rubric_ci.values.config import Endpoint, JudgeConfig, LlmTarget, Target
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import (
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    FilePart,
    LlmJudgeSpec,
    MediaPart,
    Message,
    Part,
    RubricSpec,
    asks_judge,
    every_evaluator,
    media_in,
)
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media
from rubric_ci.values.scoring import Thresholds

Parts: TypeAlias = Mapping[str, str]
"""The name of a part to its canonical text."""

INCIDENTAL = frozenset({"span", "tags", "depends_on", "concurrency", "judge_target", "cache"})
SECRETS = frozenset({"api_key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Target, judge and thresholds that a case runs with."""

    target: Target
    judge: JudgeConfig | None
    thresholds: Thresholds
    prompt_version: str


def content(case: EvalCase) -> Parts:
    """Return the content of the case, by the keys of an eval file."""
    inline, others = _evaluators(case)
    return {
        "input_messages": _canonical([_message(m) for m in case.input_messages]),
        "turns": _canonical(case.turns),
        "simulated_user": _canonical(case.simulated_user),
        "expected_outcome": case.expected_outcome,
        "expected_messages": _canonical([_message(m) for m in case.expected_messages]),
        "rubrics": _canonical(inline),
        "evaluators": _canonical(others),
        "vars": _canonical(case.vars),
        "workspace": _canonical(case.workspace),
        "trials": _canonical(case.trials),
        "metadata": _canonical(case.metadata if case.gives_metadata else {}),
    }


def rubrics(case: EvalCase) -> Parts:
    """Return the demands that an answer to the case is marked by."""
    names = ("turns", "expected_outcome", "expected_messages", "rubrics", "evaluators", "metadata")
    specs = [spec for spec in every_evaluator(case.evaluators) if isinstance(spec, LlmJudgeSpec)]
    prompts = {f"prompt {spec.prompt_path}": spec.prompt for spec in specs if spec.prompt_path}
    parts = content(case)
    return {name: parts[name] for name in names} | prompts


def files(case: EvalCase) -> Parts:
    """Return the text of each file that is part of the case, by path; of an image its digest."""
    messages = [m.parts for m in (*case.input_messages, *case.expected_messages)]
    parts = [part for each in (*messages, *(t.parts for t in case.turns)) for part in each]
    media = {each.path: each.digest for each in media_in(parts)}
    prompts = [spec for spec in every_evaluator(case.evaluators) if isinstance(spec, LlmJudgeSpec)]
    return (
        media
        | {part.path: part.text for part in parts if isinstance(part, FilePart)}
        | {spec.prompt_path: spec.prompt for spec in prompts if spec.prompt_path}
    )


def is_judged(case: EvalCase) -> bool:
    """Return True if a judge marks the case, or its model plays the user."""
    return case.simulated_user is not None or any(map(asks_judge, every_evaluator(case.evaluators)))


def setup(of: Setup, *, judged: bool) -> Parts:
    """Return the parts of a setup; the judge only if it marks the case."""
    judge = {"judge": _canonical([of.judge, of.prompt_version])} if judged else {}
    target, prompt = of.target, {}
    if isinstance(target, LlmTarget) and target.prompt:
        prompt = {f"`{target.prompt.path}`": _canonical(target.prompt)}
        target = replace(target, prompt=replace(target.prompt, messages=(), takes_input=False))
    return {
        f"target `{of.target.name}`": _canonical(target),
        **prompt,
        "thresholds": _canonical(of.thresholds),
    } | judge


def _evaluators(case: EvalCase) -> tuple[list[EvaluatorSpec], list[EvaluatorSpec]]:
    """Split inline `rubrics` from `evaluators`, without the text of prompt files."""
    specs = [_without_file(spec) for spec in case.evaluators]
    named = bool(specs) and isinstance(specs[0], RubricSpec) and specs[0].name == "rubric"
    return (specs[:1], specs[1:]) if named else ([], specs)


def _without_file(spec: EvaluatorSpec) -> EvaluatorSpec:
    match spec:
        case LlmJudgeSpec() if spec.prompt_path:
            return replace(spec, prompt="")
        case CompositeSpec(aggregator=aggregator):
            if isinstance(aggregator, LlmJudgeSpec) and aggregator.prompt_path:
                aggregator = replace(aggregator, prompt="")
            members = tuple(map(_without_file, spec.evaluators))
            return replace(spec, evaluators=members, aggregator=aggregator)
        case _:
            return spec


def _message(message: Message) -> JSON:
    parts = [_part(part) for part in message.parts]
    return [message.role, message.name, parts, message.tool_calls, message.in_list]


def _part(part: Part) -> JSON:
    if isinstance(part, MediaPart):
        return [part.path, part.media.type]
    if isinstance(part, FilePart):
        return [part.path, part.guideline]
    return [type(part).__name__, part.text]


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> JSON:
    match value:
        case Enum():
            return value.value
        case Endpoint(options=options):
            kept = {name: each for name, each in options.items() if name not in SECRETS}
            return [value.model, kept, value.timeout_seconds, value.command, value.http]
        case Mapping():
            return dict(value)
        case FilePart() | MediaPart():  # of turns: `files` has the content
            return _part(value)
        case Media():  # of a recorded answer
            return [value.path, value.type, value.digest]
        case _:
            cls: Any = type(value)
            return [cls.__name__, {name: getattr(value, name) for name in _names(cls)}]


@cache
def _names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls) if field.name not in INCIDENTAL)
