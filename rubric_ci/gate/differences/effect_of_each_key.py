"""A row for each key: what a change of it means, and how weaker and stronger are told.

The longest pattern that fits a place is its row: `*` is one name, and `**` is any number of
composites around an evaluator. `a|b` at the end are fields that are told as one change. A place
without a row is *changed*.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, Literal, TypeAlias

from rubric_ci.gate.differences import cases, criteria
from rubric_ci.gate.differences.move import (
    CHOSEN,
    DEMAND,
    GLOBS,
    GROUP_RATE,
    KEPT,
    LEFT_OUT,
    MAXIMUM,
    MINIMUM,
    PASS_RATE,
    UNKNOWN,
    Move,
    Order,
    Told,
    narrowed,
    text,
    words,
)
from rubric_ci.values.changes import Direction, GradingChangeKind
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.targets import Target
from rubric_ci.values.walk import Path


def answered_by(move: Move) -> Iterator[Told]:
    before, after = move.before.answered_by, move.after.answered_by
    if before and after:
        yield "changed", before, after


def recording(move: Move) -> Iterator[Told]:
    before, after = move.before.source, move.after.source
    if before != after:
        yield direction_of(move.before, move.after), before, after


def direction_of(then: Target, now: Target) -> Direction:
    """Return the direction if other answers are graded; those that are written down are weaker."""
    if then.is_at_hand is now.is_at_hand:
        return "changed"
    return "weaker" if now.is_at_hand else "stronger"


def compared_targets(move: Move) -> Iterator[Told]:
    """Yield other targets that answer each case; without a list, it is the case's own."""
    then, now = move.base.compare, move.head.compare
    if set(now) != set(then):
        lost = _deciding(then, move.base) - _deciding(now, move.base)
        yield "weaker" if lost else "changed", text(then), text(now)


def _deciding(compare: Sequence[str], base: Config) -> frozenset[str]:
    """Return the targets that decide: the one of a case without a list, else the gate's."""
    if not compare:
        from rubric_ci.grading.resolve import default_target  # with the judge; few change it

        return frozenset((default_target(base),))
    chosen = frozenset(base.gate.targets) if len(compare) > 1 else frozenset()
    return frozenset(compare) & chosen if chosen else frozenset(compare)


def graders(move: Move) -> Iterator[Told]:
    """Yield other graders that decide; none named means all."""
    before, after = set(move.before or ()), set(move.after or ())
    fewer = bool(after) and (not before or bool(before - after))
    yield "weaker" if fewer else "stronger", text(move.before), text(move.after)


def depends_on(move: Move) -> Iterator[Told]:
    """Yield other files that select the cases of a target, unless neither side has written them."""
    then, now = move.above(1)
    if all(side.depends_on == side.assumed_dependencies for side in (then, now)):
        return
    before, after = then.depends_on, now.depends_on
    shown = ["every file" if globs is None else ", ".join(globs) for globs in (before, after)]
    yield narrowed(before, after), shown[0], shown[1]


Effect: TypeAlias = Literal["grades", "asks", "under test", "policy", "none"]
"""`under test`: a change may edit it; `policy`: the base's holds, or decides which cases count;
`none`: no verdict depends on it."""


@dataclass(frozen=True, slots=True)
class Row:
    """The effect of a place: what it is, and how its change is told."""

    pattern: str
    effect: Effect
    kind: GradingChangeKind | None = None  # None: it decides no verdict
    told: Callable[[Move], Iterator[Told]] = UNKNOWN
    named: bool = False  # a change has the name of the field, as `refund: metadata`
    shown: str = ""  # its name, where it is not the field's
    across: bool = False  # also where its owner is a value of another class


def _tested(pattern: str) -> Row:
    return Row(pattern, "under test")


def _none(pattern: str) -> Row:
    return Row(pattern, "none")


CASE: Final = (
    *map(
        _none,
        ("id", "written_id", "references", "note", "target", "stopped", "variant", "template"),
    ),
    *map(_none, ("inapplicable", "only_shared", "opts_out")),  # they follow from the evaluators
    _tested("input_messages.*.in_list"),
    Row("file", "policy", "case", cases.moved),
    Row("tags", "policy", "tag", cases.tags),
    Row("depends_on", "policy", "depends-on", cases.depends_on, named=True),
    Row("trials", "grades", "trials", cases.trials),
    Row("input_messages|turns", "asks", "case", cases.asked, named=True, shown="question"),
    Row("vars", "asks", "case", cases.variables, named=True, shown="variables"),
    Row("input_messages.*.parts.*.guideline", "asks", "case", cases.guideline, named=True),
    Row("expected_outcome", "grades", "reference", named=True),
    Row("turns.*.expected_outcome", "grades", "reference", named=True),
    Row("expected_messages", "grades", "reference", cases.reference, named=True),
    Row("*", "asks", "case", named=True),
    _tested("workspace.of_target"),
    Row("workspace.*", "asks", "case", named=True),
    Row("simulated_user.*", "asks", "case", named=True),
    Row("metadata", "grades", "case", named=True),
    Row("conversation_id", "none", "case", named=True),
)
_EVALUATORS: Final = (
    _tested("**.evaluators"),  # their order
    Row("**.evaluators.*", "grades", "evaluator", criteria.part),
    _tested("**.evaluators.*.name|type"),
    _tested("**.evaluators.*.prompt_path"),  # its text is compared
    Row("**.evaluators.*.weight", "grades", "weight", criteria.weight, across=True),
    Row("**.evaluators.*.model", "grades", "judge"),
    *(
        Row(f"**.evaluators.*.{of}depends_on", "policy", "depends-on", GLOBS, named=True)
        for of in ("", "prompt_script.", "aggregator.", "aggregator.prompt_script.")
    ),
    Row(
        "**.evaluators.*.required_min_score",
        "grades",
        "evaluator",
        criteria.minimum_score,
        named=True,
    ),
    Row("**.evaluators.*.aggregator", "grades", "evaluator", criteria.aggregator, named=True),
    Row("**.evaluators.*.*", "grades", "evaluator", criteria.setting, named=True),
    _tested("**.evaluators.*.prompt_script.name|type|weight"),
    *(
        Row(f"**.evaluators.*.{part}", "grades", "evaluator", named=True)
        for part in ("prompt_script.*", "container.*", "config.*")
    ),
)
_CRITERION: Final = "**.evaluators.*.rubric.criteria.*"
_CRITERIA: Final = (
    _tested("**.evaluators.*.rubric.criteria"),  # their order
    Row(_CRITERION, "grades", "criterion", criteria.part),
    _tested(f"{_CRITERION}.id|template"),
    _none(f"{_CRITERION}.applies_if.assertion.tags"),
    Row(f"{_CRITERION}.weight", "grades", "weight", criteria.weight, across=True),
    Row(
        f"{_CRITERION}.required|required_min_score|required_min_level|required_choices|levels",
        "grades",
        "required",
        criteria.required,
        across=True,
    ),
    Row(f"{_CRITERION}.tags", "policy", "tag", criteria.safety, across=True),
    Row(f"{_CRITERION}.fault", "grades", "criterion", criteria.fault),
    Row(f"{_CRITERION}.text", "grades", "criterion", criteria.wording),
    *(
        Row(f"{_CRITERION}.{name}", "grades", "scale", criteria.scaled)
        for name in ("ranges", "levels", "choices")
    ),
    Row(
        f"{_CRITERION}.key|value|negated|ignore_case|exact|field",
        "grades",
        "assertion",
        criteria.rule,
    ),
    Row(f"{_CRITERION}.applies_if", "grades", "condition", criteria.condition),
    Row(f"{_CRITERION}.*", "grades", "criterion", named=True),
)


def _policy(
    kind: GradingChangeKind | None, pattern: str, told: Order = UNKNOWN, shown: str = ""
) -> Row:
    return Row(pattern, "policy", kind, told, shown=shown)


CONFIG: Final = (
    *map(_none, ("evals", "judges")),
    Row("compare", "grades", "configuration", compared_targets),
    _policy("gate", "gate.fail_on", words("never", "regression", "fail", "borderline")),
    _policy("gate", "gate.thresholds.passing", MINIMUM, "gate.thresholds.pass"),
    _policy("gate", "gate.thresholds.borderline", MINIMUM),
    _policy("gate", "gate.min_kappa", MINIMUM),
    _policy("gate", "gate.min_pass_rate", PASS_RATE),
    _policy("gate", "gate.groups.*.min_pass_rate", GROUP_RATE),
    _policy("gate", "gate.groups.*.min_score", MINIMUM),
    _policy("gate", "gate.max_waivers", MAXIMUM),
    _policy("gate", "gate.better_than", DEMAND),
    _policy("gate", "gate.tags", CHOSEN),
    _policy("gate", "gate.not_tags", LEFT_OUT),
    _policy("gate", "gate.targets", CHOSEN),
    _policy("gate", "gate.on_weaker_grading", words("note", "fail")),
    _policy("gate", "gate.on_changed_grading", words("note", "review", "fail")),
    _policy("gate", "gate.require_rubrics", words(False, True)),
    _policy("gate", "gate.require_verdict", words(False, True)),
    _policy("gate", "gate.*"),
    _policy("gate", "regression.repeated", words("note", "broken")),
    _policy("gate", "regression.*"),
    _policy("criterion", "shared_rubrics.*", KEPT),
    _policy("rule", "rules.*", words("off", "notice", "warning", "error")),
    _policy(None, "env_allow", shown="env.allow"),
    _policy(None, "untrusted.*"),
    _policy("judge", "judge.evidence", words("warn", "strict")),
    _policy("judge", "judge.canary", words(False, True)),
    _policy("judge", "judge.images", words("off", "auto", "required")),
    _policy("judge", "judge.*"),
    *(_none(f"judge.{each}.command.concurrency") for each in ("endpoint", "others.*")),
    *(
        _policy("judge", f"judge.{each}.{part}")
        for each in ("endpoint", "others.*")
        for part in ("*", "options.*", "command.*", "http.*")
    ),
)
TARGETS: Final = (
    *(_none(f"targets.*.{name}") for name in ("name", "held")),
    _policy("judge", "targets.*.judge_target"),
    Row("targets.*.depends_on", "policy", "depends-on", depends_on, across=True),
    Row("targets.*", "grades", "target", answered_by),
    Row("targets.*", "grades", "recording", recording),
    Row("targets.*.answers|response", "grades", "recording", recording),
    *(
        _tested(f"targets.*.{part}")
        for part in (
            *("endpoint.model", "endpoint.options.*", "endpoint.identity", "prompt", "skill"),
            *("agent.model", "agent.tools", "concurrency"),
        )
    ),
    Row("targets.*.graders", "grades", "target", graders),
    *(
        Row(f"targets.*.{part}", "grades", "target")
        for part in (
            *("*", "agent.*", "endpoint.*", "endpoint.http.*", "program.*", "workspace.*"),
            *("healthcheck", "did"),
        )
    ),
)
ENTRIES: Final = (
    Row("rule.*", "policy", "rule", cases.ignored),
    Row("test.*", "grades", "criterion", cases.lost),
    Row("waiver.*", "policy", "waiver", cases.waived),
    Row("recording.*", "grades", "recording", cases.edited_lines),
    Row("labels.*", "grades", "labels", cases.edited_lines),
    Row("calibration.*", "policy", "calibration", cases.edited_lines),
)
"""Of files that are compared as texts; scripts and what they use are known by their names."""
EVERY: Final = {
    "case": (*CASE, *_EVALUATORS, *_CRITERIA),
    "config": (*CONFIG, *TARGETS),
    "entries": ENTRIES,
}


@cache
def _by_last(root: str) -> dict[str, list[tuple[list[str], Row]]]:
    found: dict[str, list[tuple[list[str], Row]]] = defaultdict(list)
    for row in EVERY[root]:
        *above, last = row.pattern.split(".")
        for name in last.split("|"):
            found[name].append(([*above, name], row))
    return found


def rows_of(root: str, path: Path) -> tuple[int, list[Row]]:
    """Return the rows of a place, and how many steps of its path they are about; or none."""
    index = _by_last(root)
    for length in range(len(path), 0, -1):
        part = path[:length]
        candidates = (*index.get(part[-1], ()), *index.get("*", ()))
        fitting = [each for each in candidates if _fits(each[0], part)]
        if fitting:
            # The more steps of a pattern are no `*`, the more exactly it fits. Two patterns fit the
            # members of a composite alike: their order is a setting that a script may read.
            named = [len(steps) - steps.count("*") for steps, _ in fitting]
            best = max(named)
            return length, [row for (_, row), n in zip(fitting, named, strict=True) if n == best]
    return len(path), []


def effect_of(path: Path) -> Effect:
    """Return what a place of a case is; a place without a row decides."""
    _, rows = rows_of("case", path)
    return rows[0].effect if rows else "grades"


def _fits(steps: Sequence[str], part: Path) -> bool:
    if steps[0] == "**":
        steps = steps[1:]
        above = len(part) - len(steps)
        if above < 0 or above % 2 or set(part[:above:2]) - {"evaluators"}:
            return False
        part = part[above:]
    return len(steps) == len(part) and all(
        step in {"*", name} for step, name in zip(steps, part, strict=True)
    )
