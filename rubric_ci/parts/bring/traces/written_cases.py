"""The cases of traces as an eval file has them, and their answers as recordings have them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rubric_ci.files.yaml_text.golden_records import outcome
from rubric_ci.parts.bring.traces.chat_messages import as_input
from rubric_ci.parts.bring.traces.trace_cases import TraceCase
from rubric_ci.values.json_value import JSON

_SHORTEST: Final = 8  # characters of a trace's id in the id of its case


class Origin(NamedTuple):
    """Where the cases come from."""

    file: str
    form: str


def identities(cases: Sequence[TraceCase]) -> list[str]:
    """Return an id for each case: the start of its trace's id, as long as it takes to differ."""
    names = [case.trace.replace("-", "") for case in cases]
    length = _SHORTEST
    while length < max(map(len, names), default=0) and _repeated(_cut(names, length)):
        length += 4
    found = []
    for case, name in zip(cases, _cut(names, length), strict=True):
        kind = "item" if case.is_item else "trace"
        own = case.is_item and case.trace.startswith("item-")  # the trace has no id for it
        found.append(case.trace if own else f"{kind}-{name}")
    return _numbered(found)


def eval_file(
    cases: Sequence[TraceCase], names: Sequence[str], origin: Origin, target: str
) -> dict[str, Any]:
    """Return the data of the eval file; the target is "" if no case has an answer."""
    about = {"description": f"Imported from {origin.form} traces of {origin.file}"}
    execution = {"execution": {"target": target}} if target else {}
    written = [_case(case, name, origin) for case, name in zip(cases, names, strict=True)]
    return {**about, **execution, "evalcases": written}


def recordings(cases: Iterable[TraceCase], names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the recorded answer of each case that has one."""
    for case, name in zip(cases, names, strict=True):
        if has_answer(case):
            yield {"id": name, "answer": case.answer, **_work(case), **_rounded(case.measures)}


def has_answer(case: TraceCase) -> bool:
    """Return True if something was answered or done."""
    return bool(case.answer or case.steps)


def _case(case: TraceCase, name: str, origin: Origin) -> dict[str, Any]:
    messages = as_input(case.question)
    alone = len(messages) == 1 and messages[0].keys() == {"role", "content"}
    is_text = alone and messages[0]["role"] == "user" and messages[0]["content"].strip()
    asked = {"input": messages[0]["content"]} if is_text else {"input_messages": messages}
    known = {"expected_outcome": outcome(has_reference=bool(case.expected))}
    known |= {"expected_output": case.expected} if case.expected else {}
    tags = list(
        dict.fromkeys((*case.tags, *(each.tag for each in case.feedback if each.value is not None)))
    )
    tags += ["error"] if case.error else []
    return {
        "id": name,
        **asked,
        **known,
        **({"tags": tags} if tags else {}),
        "metadata": _metadata(case, origin),
    }


def _metadata(case: TraceCase, origin: Origin) -> dict[str, Any]:
    comments = [
        {"name": each.name, "value": each.value, "comment": each.comment}
        for each in case.feedback
        if each.comment
    ]
    place = {"file": case.file, "line": case.line, "format": origin.form, "id": case.trace}
    facts = {
        "span": case.span if case.span != case.trace else "",
        "name": case.name,
        "error": case.error,
        "feedback": comments,
        **case.rest,
    }
    return {"trace": {**place, **{key: fact for key, fact in facts.items() if fact}}}


def _work(case: TraceCase) -> dict[str, JSON]:
    """Return the messages of an answer whose work has steps."""
    calls = []
    for step in case.steps:
        facts = {
            "input": step.arguments,
            "output": step.result,
            "error": step.error,
            "duration_ms": step.duration_ms,
        }
        known = {key: fact for key, fact in facts.items() if fact not in ("", None)}
        calls.append({"tool": step.tool, **_rounded(known)})
    if not calls:
        return {}
    last = {"role": "assistant", "content": case.answer}
    return {"output_messages": [{"role": "assistant", "tool_calls": calls}, last]}


def _rounded(facts: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return facts with a duration to the microsecond."""
    took = facts.get("duration_ms")
    return {**facts, **({} if took is None else {"duration_ms": round(took, 3)})}


def _cut(names: Iterable[str], length: int) -> list[str]:
    return [name[:length] for name in names]


def _repeated(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)


def _numbered(names: Iterable[str]) -> list[str]:
    """Return names with a number behind those that repeat, as several roots of a trace do."""
    counts: dict[str, int] = {}
    found = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        found.append(name if counts[name] == 1 else f"{name}-{counts[name]}")
    return found
