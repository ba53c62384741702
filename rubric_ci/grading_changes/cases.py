"""Changes to the grading in eval files: cases, criteria, evaluators, trials and tags.

`docs/grading-changes.md` has the table of directions.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import assert_never

from rubric_ci.model.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    RubricSpec,
    TrialRule,
)
from rubric_ci.model.grading_changes import (
    Direction,
    GradingChange,
    GradingChangeKind,
    compared,
)
from rubric_ci.model.rubric import Check, Criterion, Levelled, Scored, scale
from rubric_ci.model.waivers import SAFETY
from rubric_ci.selection.compare_cases import Key
from rubric_ci.selection.fingerprint import question


def case_changes(
    head: Sequence[EvalCase], base: Mapping[Key, EvalCase], groups: Collection[str]
) -> Iterator[GradingChange]:
    """Yield the changes of cases; `base` has each case of the head that was there before.

    `groups` are the tags that have a pass rate at the base.
    """
    for case in head:
        was = base.get((case.file, case.id))
        if was is None:
            yield _of_case(case, "case", "stronger", case.id, "", "added")
        elif case is not was:
            yield from _changes(case, was, groups)


def removed_cases(cases: Sequence[EvalCase], reason: str) -> Iterator[GradingChange]:
    """Yield the cases of the base that are not graded any more."""
    for case in cases:
        yield _of_case(case, "case", "weaker", case.id, "graded", reason)


def _of_case(
    case: EvalCase,
    kind: GradingChangeKind,
    direction: Direction,
    about: str,
    before: str,
    after: str,
    line: int = 0,
) -> GradingChange:
    return GradingChange(
        kind=kind,
        direction=direction,
        about=about,
        file=case.file,
        line=line or case.span.line,
        before=before,
        after=after,
    )


def _changes(case: EvalCase, was: EvalCase, groups: Collection[str]) -> Iterator[GradingChange]:
    yield from _tags(case, was, {*groups, SAFETY})
    yield from _trials(case, was)
    yield from _question(case, was)
    yield from _depends_on(case, was)
    yield from _reference(case, was)
    now, then = _by_name(case.evaluators), _by_name(was.evaluators)
    for name in then.keys() - now.keys():
        what, line = f"{case.id}/{name}", case.span.line
        yield _of_case(case, "evaluator", "weaker", what, then[name].type, "", line)
    for name, spec in now.items():
        yield from _evaluator(case, f"{case.id}/{name}", spec, then.get(name))


def _by_name(specs: Sequence[EvaluatorSpec]) -> dict[str, EvaluatorSpec]:
    return {spec.name: spec for spec in specs}


def _tags(case: EvalCase, was: EvalCase, watched: Collection[str]) -> Iterator[GradingChange]:
    for tag in sorted(watched):
        now, then = tag in case.tags, tag in was.tags
        if now != then:
            direction: Direction = "stronger" if now else "weaker"
            before, after = (tag if then else ""), (tag if now else "")
            yield _of_case(case, "tag", direction, case.id, before, after)


def _trials(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    if case.trials != was.trials:
        before, after = _rule(was.trials), _rule(case.trials)
        direction = _share(was.trials, case.trials)
        yield _of_case(case, "trials", direction, case.id, before, after)


def _rule(rule: TrialRule | None) -> str:
    return f"{rule.passes} of {rule.count} pass" if rule else ""


def _share(before: TrialRule | None, after: TrialRule | None) -> Direction:
    if before is None or after is None:
        return "changed"
    then, now = (Fraction(rule.passes, rule.count) for rule in (before, after))
    return compared(then, now)


def _question(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    """Yield an edited question; system messages and files are prompts, which a change may edit."""
    if question(case) != question(was):
        about = f"{case.id}: question"
        yield _of_case(case, "case", "changed", about, was.question, case.question)


def _depends_on(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    if set(case.depends_on) != set(was.depends_on):
        about, before, after = f"{case.id}: depends_on", was.depends_on, case.depends_on
        direction = narrowed(before, after)
        yield _of_case(case, "depends-on", direction, about, ", ".join(before), ", ".join(after))


def _reference(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    """Yield edits of what is expected, also in a file that holds it."""
    if case.expected_outcome != was.expected_outcome:
        about = f"{case.id}: expected_outcome"
        before, after = was.expected_outcome, case.expected_outcome
        yield _of_case(case, "reference", "changed", about, before, after)
    if _expected(case) != _expected(was):
        about = f"{case.id}: expected_messages"
        before, after = was.reference_answer, case.reference_answer
        yield _of_case(case, "reference", "changed", about, before, after)


def _expected(case: EvalCase) -> list[tuple[object, ...]]:
    return [(m.role, m.name, m.text, m.tool_calls) for m in case.expected_messages]


def narrowed(before: Sequence[str] | None, after: Sequence[str] | None) -> Direction:
    """Return the direction of `depends_on`; None is every file of the repository."""
    if before is None or after is None:
        return "weaker" if before is None else "stronger"
    gone, new = set(before) - set(after), set(after) - set(before)
    if gone and not new:
        return "weaker"
    return "stronger" if new and not gone else "changed"


def _evaluator(
    case: EvalCase, about: str, spec: EvaluatorSpec, was: EvaluatorSpec | None
) -> Iterator[GradingChange]:
    change = partial(_of_case, case, line=spec.span.line)
    if was is None:
        yield change("evaluator", "stronger", about, "", spec.type)
        return
    yield from _weight(change, about, was.weight, spec.weight)
    match spec, was:
        case RubricSpec(), RubricSpec():
            if spec.model != was.model:
                yield change("judge", "changed", about, was.model, spec.model)
            yield from _criteria(case, spec, was)
        case CompositeSpec(), CompositeSpec():
            yield from _members(case, about, spec, was)
        case _:
            before, after = _edited(was, spec)
            if before != after:
                yield change("evaluator", "changed", about, before, after)


def _members(
    case: EvalCase, about: str, spec: CompositeSpec, was: CompositeSpec
) -> Iterator[GradingChange]:
    now, then = _by_name(spec.evaluators), _by_name(was.evaluators)
    for name in then.keys() - now.keys():
        yield _of_case(case, "evaluator", "weaker", f"{about}/{name}", then[name].type, "")
    for name, member in now.items():
        yield from _evaluator(case, f"{about}/{name}", member, then.get(name))
    before, after = _edited(was.aggregator, spec.aggregator)
    if before != after:
        yield _of_case(case, "evaluator", "changed", f"{about}: aggregator", before, after)


def _edited(was: object, spec: object) -> tuple[str, str]:
    """Return the settings that differ, on each side; places, names and weights are left out."""
    then, now = _settings(was), _settings(spec)
    names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    shown = (
        ", ".join(f"{name}: {side[name]}" for name in names if name in side) for side in (then, now)
    )
    return next(shown), next(shown)


def _settings(value: object, prefix: str = "") -> dict[str, str]:
    """Return the settings as text; those of a script are `prompt_script.cwd` and so on."""
    found: dict[str, str] = {}
    for name in getattr(value, "__slots__", ()):
        match getattr(value, name):
            case _ if name in {"span", "weight", "name"}:
                continue
            case CodeJudgeSpec() as script:
                found |= _settings(script, f"{prefix}{name}.")
            case None:
                continue
            case setting:
                found[f"{prefix}{name}"] = str(setting)
    return found


def _criteria(case: EvalCase, spec: RubricSpec, was: RubricSpec) -> Iterator[GradingChange]:
    now = {criterion.id: criterion for criterion in spec.rubric}
    then = {criterion.id: criterion for criterion in was.rubric}
    for name in [name for name in then if name not in now]:
        about = f"{case.id}/{name}"
        yield _of_case(case, "criterion", "weaker", about, _shown(then[name]), "")
    for name, criterion in now.items():
        about, line = f"{case.id}/{name}", criterion.span.line
        change = partial(_of_case, case, line=line)
        if name not in then:
            yield change("criterion", "stronger", about, "", _shown(criterion))
        else:
            yield from _criterion(change, about, criterion, then[name])


def _shown(criterion: Criterion) -> str:
    return criterion.text or "; ".join(scale(criterion))


def _criterion(
    change: "partial[GradingChange]", about: str, now: Criterion, then: Criterion
) -> Iterator[GradingChange]:
    if now.kind != then.kind:
        yield change("criterion", "changed", about, then.kind, now.kind)
    elif now.text != then.text:
        yield change("criterion", "changed", about, then.text, now.text)
    if now.kind == then.kind and scale(now) != scale(then):
        before, after = "; ".join(scale(then)), "; ".join(scale(now))
        yield change("scale", "changed", about, before, after)
    yield from _weight(change, about, then.weight, now.weight)
    yield from _gate(change, about, then, now)
    if SAFETY in {*now.tags} ^ {*then.tags}:
        dropped = SAFETY in then.tags
        words = (SAFETY, "") if dropped else ("", SAFETY)
        yield change("tag", "weaker" if dropped else "stronger", about, *words)


def _weight(
    change: "partial[GradingChange]", about: str, before: float, after: float
) -> Iterator[GradingChange]:
    if before != after:
        direction: Direction = "changed"
        if 0 in (before, after):
            direction = "weaker" if after == 0 else "stronger"
        yield change("weight", direction, about, f"{before:g}", f"{after:g}")


def _gate(
    change: "partial[GradingChange]", about: str, then: Criterion, now: Criterion
) -> Iterator[GradingChange]:
    before, after = _minimum(then), _minimum(now)
    if before != after:
        known = now.kind == then.kind
        direction = compared(before, after) if known else "changed"
        yield change("required", direction, about, _requires(then), _requires(now))


def _minimum(criterion: Criterion) -> float:
    """Return what a criterion demands as a number; -inf: no gate."""
    none = float("-inf")
    match criterion:
        case Check():
            return 1 if criterion.required else none
        case Scored():
            return none if criterion.required_min_score is None else criterion.required_min_score
        case Levelled():
            return none if criterion.required_min_level is None else criterion.required_min_level
        case _:
            assert_never(criterion)


def _requires(criterion: Criterion) -> str:
    least = _minimum(criterion)
    if least == float("-inf"):
        return ""
    return "required" if isinstance(criterion, Check) else f"at least {least:g}"
