"""ATIF, the Agent Trajectory Interchange Format: one JSON object with `steps`."""

from collections.abc import Iterator, Mapping
from typing import Any

from rubric_ci.models.agents.program import (
    NO_FILES,
    Files,
    as_text,
    failure,
    integer,
    items,
    mapping,
    number,
)
from rubric_ci.values.json_value import parsed
from rubric_ci.values.trace import Step, Trace


def read(stdout: str, _stderr: str, _files: Files = NO_FILES, /) -> Trace:
    trajectory = mapping(parsed(stdout))
    if not is_output(trajectory):
        raise failure("it is not an ATIF trajectory: `schema_version` and `steps` are missing")
    steps = [mapping(step) for step in items(trajectory.get("steps"))]
    own = [step for step in steps if step.get("source") == "agent"]
    total = mapping(trajectory.get("final_metrics"))
    metrics = [mapping(step.get("metrics")) for step in own]
    texts = [as_text(step.get("message")) for step in own]
    return Trace(
        answer=next((text for text in reversed(texts) if text), ""),
        steps=tuple(call for step in own for call in _calls(step)),
        input_tokens=_sum("prompt_tokens", total, metrics),
        output_tokens=_sum("completion_tokens", total, metrics),
        cost_usd=number(total.get("total_cost_usd")),
        model=str(mapping(trajectory.get("agent")).get("model_name") or ""),
    )


def is_output(trajectory: Mapping[str, object]) -> bool:
    return str(trajectory.get("schema_version", "")).startswith("ATIF-v1") and "steps" in trajectory


def _sum(name: str, total: Mapping[str, Any], metrics: list[Mapping[str, Any]]) -> int:
    whole = integer(total.get(f"total_{name}"))
    return whole or sum(integer(each.get(name)) for each in metrics)


def _calls(step: Mapping[str, Any]) -> Iterator[Step]:
    results = items(mapping(step.get("observation")).get("results"))
    found = {str(mapping(each).get("source_call_id")): mapping(each) for each in results}
    for call in map(mapping, items(step.get("tool_calls"))):
        result = found.get(str(call.get("tool_call_id")), {})
        extra = {**mapping(call.get("extra")), **mapping(result.get("extra"))}
        yield Step(
            tool=str(call.get("function_name", "")),
            arguments=call.get("arguments"),
            result=as_text(result.get("content")),
            error=as_text(extra.get("error")),
            duration_ms=number(extra.get("duration_ms")),
        )
