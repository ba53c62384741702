"""Changes to the grading of another eval tool: its samples and its graders.

The tool's tests are known by its results only: without results of the base, a change that deletes
one cannot be told.
"""

from collections.abc import Iterator, Mapping, Sequence

from rubric_ci.errors import CannotConfigure
from rubric_ci.gate.differences.case_changes import case_changes, of_case, removed_cases
from rubric_ci.gate.selection.affected_cases import Key
from rubric_ci.text.numbers import listed, plural
from rubric_ci.values.changes import Direction, GradingChange
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCase:
    """A case of another tool, as its results show it."""

    case: EvalCase  # with its question, its reference and its graders
    trials: int
    skipped: str = ""  # why there was nothing to grade
    errored: bool = False  # then its graders are not known


def results_changes(
    head: Mapping[Key, ToolCase], base: Mapping[Key, ToolCase]
) -> Iterator[GradingChange]:
    """Yield how the cases of a tool differ from the results of the base."""
    then = {key: each for key, each in base.items() if _is_graded(each)}
    now = {key: each for key, each in head.items() if _is_graded(each)}
    yield from removed_cases([then[key].case for key in then if key not in head], "")
    for key, each in head.items():
        if key in then and each.skipped:
            yield from removed_cases([then[key].case], f"skipped: {each.skipped}")
    known = [each.case for key, each in now.items() if key in then or key not in base]
    yield from case_changes(known, {key: each.case for key, each in then.items()}, Config())
    for key in now.keys() & then.keys():
        before, after = then[key].trials, now[key].trials
        if before != after:
            direction: Direction = "weaker" if after < before else "stronger"
            case = now[key].case
            yield of_case(case, "trials", direction, case.id, f"{before}", f"{after}")


def _is_graded(each: ToolCase) -> bool:
    return not (each.skipped or each.errored)


def check_is_known(config: Config, why_not: str, hint: str) -> str:
    """Return as a note why the changes to a tool's tests are not known; "" if they are.

    Raises CannotConfigure where the gate must decide about them.
    """
    if not why_not:
        return ""
    gate = config.gate
    fails = gate.on_weaker_grading == "fail" or gate.on_changed_grading == "fail"
    if fails and gate.fail_on != "never":
        setting = "on_weaker_grading" if gate.on_weaker_grading == "fail" else "on_changed_grading"
        raise CannotConfigure(f"gate.{setting}: fail: it is not known {why_not}", hint)
    return f"It is not known {why_not}: {hint}."


def check_tracked(config: Config, tool: str, tracked: Sequence[str]) -> str:
    """Return the note about results that git tracks; raises CannotConfigure where they decide."""
    if not tracked:
        return ""
    verb = "is" if len(tracked) == 1 else "are"
    return check_is_known(
        config,
        f"whether {tool} gave these marks: {listed(tracked)} {verb} tracked by git, and a change "
        "can write them",
        f"let {tool} write {plural(len(tracked), 'file')} that git ignores, in the same job",
    )
