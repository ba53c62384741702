"""Whether a waiver is in force: its date, its case, the question and the text of its criterion."""

import json
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from datetime import date
from hashlib import sha256
from typing import NamedTuple

from rubric_ci.model.evals import CompositeSpec, EvalCase, EvaluatorSpec, LlmJudgeSpec, RubricSpec
from rubric_ci.model.rubric import Criterion, scale
from rubric_ci.model.waivers import SAFETY, Waiver, WaiverState


class Match(NamedTuple):
    """The state of a waiver; `not-run` means that it is in force."""

    state: WaiverState
    case: EvalCase | None = None
    criterion: Criterion | None = None


def match_waiver(waiver: Waiver, cases: Iterable[EvalCase], today: date) -> Match:
    """Return the case and the criterion of a waiver, and whether it is in force on a day."""
    named = [
        case
        for case in cases
        if case.id == waiver.case and (not waiver.file or case.file == waiver.file)
    ]
    case = named[0] if len(named) == 1 else None
    criterion = dict(criteria_of(case)).get(waiver.criterion) if case else None
    if case is None or criterion is None:
        return Match("unmatched", case)
    if SAFETY in (*case.tags, *criterion.tags):
        return Match("safety", case, criterion)
    if fingerprint_of(case, criterion) != waiver.fingerprint:
        return Match("edited", case, criterion)
    expired = today > date.fromisoformat(waiver.until)
    return Match("expired" if expired else "not-run", case, criterion)


def answered_by(
    name: str, cases: Iterable[EvalCase], targets: Callable[[str], Container[str]]
) -> tuple[EvalCase, ...]:
    """Return the cases with the id `name` if several targets answer: `case [target]`.

    `targets` returns those that serve an eval file.
    """
    own, _, target = name.removesuffix("]").rpartition(" [")
    if not own or not name.endswith("]"):
        return ()
    found = {
        case.file: case for case in cases if case.own_id == own and target in targets(case.file)
    }
    return tuple(replace(case, id=name, written_id=own, target=target) for case in found.values())


def answered_alone(name: str, cases: Iterable[EvalCase]) -> tuple[EvalCase, ...]:
    """Return the cases of a run with several targets that have the id `name` in other runs."""
    found = {case.file: case for case in cases if case.written_id == name}
    return tuple(replace(case, id=name, written_id="") for case in found.values())


def criteria_of(case: EvalCase) -> Iterator[tuple[str, Criterion]]:
    """Yield the criteria of a case by the ids that reports give them."""
    for spec in case.evaluators:
        yield from _criteria(spec, "")


def fingerprint_of(case: EvalCase, criterion: Criterion) -> str:
    """Return 12 hexadecimal digits of a question and a criterion's kind, text, ranges and levels.

    A waiver belongs to what is asked, not to the id of a case, which another case may take over.
    System messages and guidelines are prompts, which may be edited.
    """
    asked = [
        [message.role, message.name, message.text, message.tool_calls]
        for message in case.input_messages
        if message.role != "system" and not message.is_guideline
    ]
    asked += [["user", "", turn.text, ()] for turn in case.turns]
    if user := case.simulated_user:
        asked.append(["simulated", "", f"{user.persona}\n{user.goal}\n{user.end}", ()])
    facts = [criterion.kind, criterion.text, scale(criterion), asked]
    content = json.dumps(facts, ensure_ascii=False)
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _criteria(spec: EvaluatorSpec, prefix: str) -> Iterator[tuple[str, Criterion]]:
    match spec:
        case RubricSpec(rubric=rubric):
            yield from ((f"{prefix}{criterion.id}", criterion) for criterion in rubric)
        case CompositeSpec(evaluators=members):
            for member in members:
                yield from _criteria(member, f"{prefix}{member.name}/")
        case LlmJudgeSpec():
            return
        case _:
            return
