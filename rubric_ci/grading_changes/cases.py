"""Changes to the grading in eval files: cases, questions, references, trials and tags.

`docs/grading-changes.md` has the table of directions.
"""

from collections.abc import Iterator, Mapping, Sequence

from rubric_ci.grading_changes.criteria import of_case
from rubric_ci.grading_changes.evaluators import evaluator_changes
from rubric_ci.model.changes import ADDED, Direction, GradingChange
from rubric_ci.model.evals import EvalCase, TrialRule
from rubric_ci.model.waivers import SAFETY
from rubric_ci.selection.compare_cases import Key
from rubric_ci.selection.fingerprint import question


def case_changes(
    head: Sequence[EvalCase], base: Mapping[Key, EvalCase], groups: Mapping[str, float]
) -> Iterator[GradingChange]:
    """Yield the changes of cases; `base` has each case of the head that was there before.

    `groups` are the tags that have a pass rate at the base, with that rate.
    """
    for case in head:
        was = base.get((case.file, case.id))
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
    """Return `stronger` if whatever passes by the new rule passes by the old one.

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
        yield of_case(case, "case", "changed", about, was.question, case.question)


def _depends_on(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    if set(case.depends_on) != set(was.depends_on):
        about, before, after = f"{case.id}: depends_on", was.depends_on, case.depends_on
        direction = narrowed(before, after)
        yield of_case(case, "depends-on", direction, about, ", ".join(before), ", ".join(after))


def _reference(case: EvalCase, was: EvalCase) -> Iterator[GradingChange]:
    """Yield edits of what is expected, also in a file that holds it."""
    if case.expected_outcome != was.expected_outcome:
        about = f"{case.id}: expected_outcome"
        before, after = was.expected_outcome, case.expected_outcome
        yield of_case(case, "reference", "changed", about, before, after)
    if _expected(case) != _expected(was):
        about = f"{case.id}: expected_messages"
        before, after = was.reference_answer, case.reference_answer
        yield of_case(case, "reference", "changed", about, before, after)


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
