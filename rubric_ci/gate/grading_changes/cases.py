"""Changes to the grading in eval files: cases, references, trials, tags and evaluators.

`docs/grading-changes.md` has the table of directions. What can move a verdict towards `pass` is
weaker, unless gates alone decide it. A text, a model and a script are `changed`: what they do is
not known.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Final

from rubric_ci.gate.grading_changes.criterion_changes import (
    criterion_changes,
    decided_by_gates,
    of_case,
    of_weights,
)
from rubric_ci.gate.grading_changes.targets import settings
from rubric_ci.gate.selection.compare_cases import Key
from rubric_ci.values.changes import ADDED, Direction, GradingChange
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    Container,
    EvalCase,
    EvaluatorSpec,
    FilePart,
    LlmJudgeSpec,
    MeasuringSpec,
    RubricSpec,
    TrialRule,
    WeightedAverage,
)
from rubric_ci.values.media import Media
from rubric_ci.values.question import question
from rubric_ci.values.waivers import SAFETY


def case_changes(
    head: Sequence[EvalCase], base: Mapping[Key, EvalCase], groups: Mapping[str, float]
) -> Iterator[GradingChange]:
    """Yield the changes of cases; `base` has each case of the head that was there before.

    `groups` are the tags that have a pass rate at the base, with that rate.
    """
    for case in head:
        was = base.get(case.key)
        if was is None:
            yield of_case(case, "case", "stronger", case.id, "", ADDED)
        elif case is not was:
            yield from _changes(case, was, groups)


def removed_cases(cases: Sequence[EvalCase], reason: str) -> Iterator[GradingChange]:
    """Yield the cases of the base that are not graded any more."""
    for case in cases:
        yield of_case(case, "case", "weaker", case.id, "graded", reason)


def _changes(case: EvalCase, was: EvalCase, groups: Mapping[str, float]) -> Iterator[GradingChange]:
    yield from _tags(case, was, groups)
    yield from _trials(case, was)
    yield from _question(case, was)
    yield from _depends_on(case, was)
    yield from _reference(case, was)
    yield from _guidelines(case, was)
    yield from _settings_of_case(case, was)
    yield from evaluator_changes(case, was)


def _tags(case: EvalCase, was: EvalCase, groups: Mapping[str, float]) -> Iterator[GradingChange]:
    """Yield the tags that decide how a failure counts.

    A case of a group may fail as often as the rate of the group allows, and a passing one lifts
    that rate; only a rate of 1 excuses no failure.
    """
    for tag in sorted({*groups, SAFETY}):
        now, then = tag in case.tags, tag in was.tags
        if now != then:
            excuses = tag != SAFETY and groups[tag] < 1
            direction: Direction = "weaker" if then or excuses else "stronger"
            before, after = (tag if then else ""), (tag if now else "")
            yield of_case(case, "tag", direction, case.id, before, after)


def _trials(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    if case.trials != was.trials:
        before, after = _rule(was.trials), _rule(case.trials)
        direction = _of_trials(was.trials, case.trials)
        yield of_case(case, "trials", direction, case.id, before, after)


def _rule(rule: TrialRule | None) -> str:
    return f"{rule.passes} of {rule.count} pass" if rule else ""


def _of_trials(before: TrialRule | None, after: TrialRule | None) -> Direction:
    """Return `stronger` if every answer that passes by the new rule passes by the old one.

    That is so if it takes no fewer passes and allows no more failures: then the old rule is met
    before the new one is. Without a rule, one trial must pass.
    """
    then, now = before or _ONE, after or _ONE
    fewer = now.passes < then.passes or _failures(now) > _failures(then)
    return "weaker" if fewer or now == then else "stronger"


def _failures(rule: TrialRule) -> int:
    return rule.count - rule.passes


_ONE = TrialRule(count=1, passes=1)


def _question(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    """Yield an edited question; system messages and files are prompts, which a change may edit."""
    if question(case) != question(was):
        about = f"{case.id}: question"
        before, after = was.question, case.question
        if before == after:
            before, after = _variables(was), _variables(case)
        if before == after:
            before, after = _digests(was.media), _digests(case.media)
        yield of_case(case, "case", "changed", about, before, after)


def _digests(media: Sequence[Media]) -> str:
    return ", ".join(f"{each.path} {each.digest[:12]}" for each in media)


def _variables(case: EvalCase) -> str:
    return json.dumps(dict(case.vars), ensure_ascii=False, sort_keys=True)


def _guidelines(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    """Yield the files that were part of the question and are guidelines now, or not any more."""
    now, then = _marked(case), _marked(was)
    for path in sorted(now.keys() & then.keys()):
        if now[path] != then[path]:
            before, after = (("guideline" if each[path] else "input") for each in (then, now))
            yield of_case(case, "case", "changed", f"{case.id}: {path}", before, after)


def _marked(case: EvalCase) -> dict[str, bool]:
    parts = (part for message in case.input_messages for part in message.parts)
    return {part.path: part.guideline for part in parts if isinstance(part, FilePart)}


WITH_ROW: Final = frozenset(
    (
        *("id", "file", "evaluators", "expected_outcome", "expected_messages", "input_messages"),
        *("turns", "simulated_user", "vars", "tags", "trials", "depends_on", "target"),
    )
)
"""Fields of a case whose change has its own row."""
NOT_GRADED: Final = frozenset(("span", "note", "references", "written_id", "workspace.of_target"))
"""Fields that move no verdict: places, notes, and names whose content is compared."""


def _settings_of_case(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    """Yield every other field of a case that differs; its effect is not known."""
    exempt = WITH_ROW | NOT_GRADED
    now, then = settings(case, exempt), settings(was, exempt)
    for key in dict.fromkeys((*then, *now)):
        before, after = then.get(key, ""), now.get(key, "")
        if before != after:
            yield of_case(case, "case", "changed", f"{case.id}: {key}", before, after)


def _depends_on(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    if set(case.depends_on) != set(was.depends_on):
        about, before, after = f"{case.id}: depends_on", was.depends_on, case.depends_on
        direction = narrowed(before, after)
        yield of_case(case, "depends-on", direction, about, ", ".join(before), ", ".join(after))


def _reference(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    """Yield edits of the expected answer, in its file too."""
    if case.expected_outcome != was.expected_outcome:
        about = f"{case.id}: expected_outcome"
        before, after = was.expected_outcome, case.expected_outcome
        yield of_case(case, "reference", "changed", about, before, after)
    for n, (now, then) in enumerate(zip(case.turns, was.turns, strict=False), 1):
        if now.expected_outcome != then.expected_outcome:
            about = f"{case.id}: expected_outcome of turn {n}"
            before, after = then.expected_outcome, now.expected_outcome
            yield of_case(case, "reference", "changed", about, before, after)
    if _expected(case) != _expected(was):
        about = f"{case.id}: expected_messages"
        before, after = was.reference_answer, case.reference_answer
        if before == after:
            before, after = _digests(was.reference_media), _digests(case.reference_media)
        yield of_case(case, "reference", "changed", about, before, after)


def _expected(case: EvalCase) -> list[tuple[object, ...]]:
    return [
        (m.role, m.name, m.text, m.tool_calls, *(each.digest for each in m.media))
        for m in case.expected_messages
    ]


def narrowed(before: Sequence[str] | None, after: Sequence[str] | None) -> Direction:
    """Return the direction of `depends_on`; None is every file of the repository."""
    if before is None or after is None:
        return "weaker" if before is None else "stronger"
    gone, new = set(before) - set(after), set(after) - set(before)
    if gone and not new:
        return "weaker"
    return "stronger" if new and not gone else "changed"


def evaluator_changes(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    """Yield the changes of the evaluators of a case that was there before."""
    yield from _compared(case, case.id, case.evaluators, was.evaluators)


def _compared(
    case: EvalCase, owner: str, head: Sequence[EvaluatorSpec], base: Sequence[EvaluatorSpec]
) -> Iterator[GradingChange]:
    """Yield the changes of the evaluators of a case, or of the members of a composite."""
    now, then = ({spec.name: spec for spec in side} for side in (head, base))
    for name in [name for name in then if name not in now]:
        yield of_case(case, "evaluator", "weaker", f"{owner}/{name}", _what(then[name]), "")
    decided = gates_decide(base)
    weights = [{name: spec.weight for name, spec in side.items()} for side in (then, now)]
    for name, spec in now.items():
        about, line = f"{owner}/{name}", spec.span.line
        change = partial(of_case, case, line=line)
        if name not in then:
            lifts = spec.weight > 0 and not decided
            yield change("evaluator", "weaker" if lifts else "stronger", about, "", _what(spec))
            continue
        if spec.weight != then[name].weight:
            direction = of_weights(name, *weights, decided=decided)
            yield change("weight", direction, about, f"{then[name].weight:g}", f"{spec.weight:g}")
        yield from _evaluator(case, about, spec, then[name])


def gates_decide(specs: Sequence[EvaluatorSpec]) -> bool:
    """Return True if the verdict is `pass` where every gate is met, and `fail` elsewhere."""
    return all(_is_decided(spec) for spec in specs if spec.weight > 0)


def _is_decided(spec: EvaluatorSpec) -> bool:
    match spec:
        case RubricSpec(rubric=rubric):
            return decided_by_gates(rubric)
        case CompositeSpec(aggregator=WeightedAverage(weights=weights), evaluators=members):
            counted = [each for each in members if weights.get(each.name, each.weight) > 0]
            return all(map(_is_decided, counted))
        case _:
            return False


def _what(spec: EvaluatorSpec) -> str:
    """Return the type, and what tells two evaluators of the same type from each other."""
    return f"{spec.type} with rubrics" if _has_rubrics(spec) else spec.type


def _has_rubrics(spec: EvaluatorSpec) -> bool:
    return isinstance(spec, RubricSpec) and spec.type != "rubric"


def _evaluator(
    case: EvalCase, about: str, spec: EvaluatorSpec, was: EvaluatorSpec
) -> Iterator[GradingChange]:
    change = partial(of_case, case, line=spec.span.line)
    match spec, was:
        case RubricSpec(), RubricSpec():
            if spec.model != was.model:
                yield change("judge", "changed", about, was.model, spec.model)
            then, now = settings(was, _OF_RUBRIC), settings(spec, _OF_RUBRIC)
            for key in dict.fromkeys((*then, *now)):
                if then.get(key) != now.get(key):
                    told = then.get(key, ""), now.get(key, "")
                    yield change("evaluator", "changed", f"{about}: {key}", *told)
            yield from criterion_changes(case, spec.rubric, was.rubric)
        case CompositeSpec(), CompositeSpec():
            yield from _compared(case, about, spec.evaluators, was.evaluators)
            yield from _aggregator(case, about, spec, was)
            yield from _minimum_score(case, about, spec, was)
        case _ if type(spec) is not type(was):
            yield change("evaluator", "weaker", about, _what(was), _what(spec))
        case _:
            before, after = _edited(was, spec)
            if before != after:
                yield change("evaluator", _of_settings(was, spec), about, before, after)


_OF_RUBRIC: Final = frozenset(("name", "type", "weight", "rubric", "model", "span"))
"""Fields of a rubric with their own row."""


def _aggregator(
    case: EvalCase, about: str, spec: CompositeSpec, was: CompositeSpec
) -> Iterator[GradingChange]:
    before, after = _edited(was.aggregator, spec.aggregator)
    if before == after and type(was.aggregator) is type(spec.aggregator):
        return
    edited = isinstance(spec.aggregator, CodeJudgeSpec | LlmJudgeSpec)
    known = edited and type(was.aggregator) is type(spec.aggregator)
    direction: Direction = "changed" if known else "weaker"
    yield of_case(case, "evaluator", direction, f"{about}: aggregator", before, after)


def _minimum_score(
    case: EvalCase, about: str, spec: CompositeSpec, was: CompositeSpec
) -> Iterator[GradingChange]:
    before, after = was.required_min_score, spec.required_min_score
    if before != after:
        direction: Direction = "weaker" if after < before else "stronger"
        told = (f"{each:g}" if each else "" for each in (before, after))
        where = f"{about}: required_min_score"
        yield of_case(case, "evaluator", direction, where, next(told), next(told))


def _of_settings(was: EvaluatorSpec, spec: EvaluatorSpec) -> Direction:
    """Return the direction of settings that differ; unknown for a script or a prompt."""
    if isinstance(spec, CodeJudgeSpec | LlmJudgeSpec):
        return "changed"
    if isinstance(spec, MeasuringSpec) and spec.maximums:
        raised = any(_maximum(spec, name) > _maximum(was, name) for name in spec.maximums)
        return "weaker" if raised else "stronger"
    return "weaker"


def _maximum(spec: EvaluatorSpec, name: str) -> float:
    value = getattr(spec, name)
    return inf if value is None else float(value)


def _edited(was: object, spec: object) -> tuple[str, str]:
    """Return the settings that differ, on each side; places, names and weights are left out."""
    then, now = _settings(was), _settings(spec)
    names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    shown = (
        ", ".join(f"{name}: {side[name]}" for name in names if name in side) for side in (then, now)
    )
    return next(shown), next(shown)


def _settings(value: object, prefix: str = "") -> dict[str, str]:
    """Return the settings as text; a script has `prompt_script.cwd` and so on."""
    found: dict[str, str] = {}
    for name in getattr(value, "__slots__", ()):
        match getattr(value, name):
            case _ if name in {"span", "weight", "name"}:
                continue
            case CodeJudgeSpec() | Container() as script:
                found |= _settings(script, f"{prefix}{name}.")
            case None:
                continue
            case tuple() as items:
                found[f"{prefix}{name}"] = str([_without_place(each) for each in items])
            case setting:
                found[f"{prefix}{name}"] = str(setting)
    return found


def _without_place(item: object) -> object:
    """Return a field or an expected call as its settings, without its line."""
    names = getattr(item, "__slots__", ())
    return {name: getattr(item, name) for name in names if name != "span"} or item
