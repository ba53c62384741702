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
    UNKNOWN,
    Move,
    Order,
    Told,
    chosen,
    demand,
    globs,
    group_rate,
    kept,
    left_out,
    maximum,
    minimum,
    narrowed,
    pass_rate,
    text,
    words,
)
from rubric_ci.values.changes import Direction, GradingChangeKind
from rubric_ci.values.config import Config, Target
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.walk import ABSENT, Path


def answered_by(move: Move) -> Iterator[Told]:
    """Yield another program or service that answers."""
    if move.before is ABSENT or move.after is ABSENT:
        return
    before, after = move.before.answered_by, move.after.answered_by
    if before and after:
        yield "changed", before, after


def recording(move: Move) -> Iterator[Told]:
    """Yield other answers that are written down, or that are not any more."""
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
    yield narrowed(before, after), _globs(before), _globs(after)


def _globs(globs: Sequence[str] | None) -> str:
    return "every file" if globs is None else ", ".join(globs)


Effect: TypeAlias = Literal["grades", "asks", "under test", "policy", "none"]
"""`under test`: a change may edit it; `policy`: the base's holds, or decides which cases count;
`none`: no verdict depends on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
    return Row(pattern=pattern, effect="under test")


def _none(pattern: str) -> Row:
    return Row(pattern=pattern, effect="none")


CASE: Final = (
    *map(
        _none,
        ("id", "written_id", "references", "note", "target", "stopped", "variant", "template"),
    ),
    *map(_none, ("inapplicable", "only_shared", "opts_out")),  # they follow from the evaluators
    _tested("input_messages.*.in_list"),
    Row(pattern="file", effect="policy", kind="case", told=cases.moved),
    Row(pattern="tags", effect="policy", kind="tag", told=cases.tags),
    Row(
        pattern="depends_on", effect="policy", kind="depends-on", told=cases.depends_on, named=True
    ),
    Row(pattern="trials", effect="grades", kind="trials", told=cases.trials),
    Row(
        pattern="input_messages|turns|vars",
        effect="asks",
        kind="case",
        told=cases.asked,
        named=True,
        shown="question",
    ),
    Row(
        pattern="input_messages.*.parts.*.guideline",
        effect="asks",
        kind="case",
        told=cases.guideline,
        named=True,
    ),
    Row(pattern="expected_outcome", effect="grades", kind="reference", named=True),
    Row(pattern="turns.*.expected_outcome", effect="grades", kind="reference", named=True),
    Row(
        pattern="expected_messages",
        effect="grades",
        kind="reference",
        told=cases.reference,
        named=True,
    ),
    Row(pattern="*", effect="asks", kind="case", named=True),
    _tested("workspace.of_target"),
    Row(pattern="workspace.*", effect="asks", kind="case", named=True),
    Row(pattern="simulated_user.*", effect="asks", kind="case", named=True),
    Row(pattern="metadata", effect="grades", kind="case", named=True),
    Row(pattern="conversation_id", effect="none", kind="case", named=True),
)
_EVALUATORS: Final = (
    _tested("**.evaluators"),  # their order
    Row(pattern="**.evaluators.*", effect="grades", kind="evaluator", told=criteria.part),
    _tested("**.evaluators.*.name|type"),
    _tested("**.evaluators.*.prompt_path"),  # its text is compared
    Row(
        pattern="**.evaluators.*.weight",
        effect="grades",
        kind="weight",
        told=criteria.weight,
        across=True,
    ),
    Row(pattern="**.evaluators.*.model", effect="grades", kind="judge"),
    *(
        Row(
            pattern=f"**.evaluators.*.{of}depends_on",
            effect="policy",
            kind="depends-on",
            told=globs(),
            named=True,
        )
        for of in ("", "prompt_script.", "aggregator.", "aggregator.prompt_script.")
    ),
    Row(
        pattern="**.evaluators.*.required_min_score",
        effect="grades",
        kind="evaluator",
        told=criteria.minimum_score,
        named=True,
    ),
    Row(
        pattern="**.evaluators.*.aggregator",
        effect="grades",
        kind="evaluator",
        told=criteria.aggregator,
        named=True,
    ),
    Row(
        pattern="**.evaluators.*.*",
        effect="grades",
        kind="evaluator",
        told=criteria.setting,
        named=True,
    ),
    _tested("**.evaluators.*.prompt_script.name|type|weight"),
    *(
        Row(pattern=f"**.evaluators.*.{part}", effect="grades", kind="evaluator", named=True)
        for part in ("prompt_script.*", "container.*", "config.*")
    ),
)
_CRITERION: Final = "**.evaluators.*.rubric.criteria.*"
_CRITERIA: Final = (
    _tested("**.evaluators.*.rubric.criteria"),  # their order
    Row(pattern=_CRITERION, effect="grades", kind="criterion", told=criteria.part),
    _tested(f"{_CRITERION}.id|template"),
    _none(f"{_CRITERION}.applies_if.assertion.tags"),
    Row(
        pattern=f"{_CRITERION}.weight",
        effect="grades",
        kind="weight",
        told=criteria.weight,
        across=True,
    ),
    Row(
        pattern=f"{_CRITERION}.required|required_min_score|required_min_level|required_choices|levels",
        effect="grades",
        kind="required",
        told=criteria.required,
        across=True,
    ),
    Row(
        pattern=f"{_CRITERION}.tags", effect="policy", kind="tag", told=criteria.safety, across=True
    ),
    Row(pattern=f"{_CRITERION}.fault", effect="grades", kind="criterion", told=criteria.fault),
    Row(pattern=f"{_CRITERION}.text", effect="grades", kind="criterion", told=criteria.wording),
    *(
        Row(pattern=f"{_CRITERION}.{name}", effect="grades", kind="scale", told=criteria.scaled)
        for name in ("ranges", "levels", "choices")
    ),
    Row(
        pattern=f"{_CRITERION}.key|value|negated|ignore_case|exact|field",
        effect="grades",
        kind="assertion",
        told=criteria.rule,
    ),
    Row(
        pattern=f"{_CRITERION}.applies_if",
        effect="grades",
        kind="condition",
        told=criteria.condition,
    ),
    Row(pattern=f"{_CRITERION}.*", effect="grades", kind="criterion", named=True),
)


def _policy(
    kind: GradingChangeKind | None, pattern: str, told: Order = UNKNOWN, shown: str = ""
) -> Row:
    return Row(pattern=pattern, effect="policy", kind=kind, told=told, shown=shown)


CONFIG: Final = (
    *map(_none, ("evals", "auto_mode", "judges")),
    Row(pattern="compare", effect="grades", kind="configuration", told=compared_targets),
    _policy("gate", "gate.fail_on", words("never", "regression", "fail", "borderline")),
    _policy("gate", "gate.thresholds.passing", minimum(), "gate.thresholds.pass"),
    _policy("gate", "gate.thresholds.borderline", minimum()),
    _policy("gate", "gate.min_kappa", minimum()),
    _policy("gate", "gate.min_pass_rate", pass_rate()),
    _policy("gate", "gate.groups.*.min_pass_rate", group_rate()),
    _policy("gate", "gate.groups.*.min_score", minimum()),
    _policy("gate", "gate.max_waivers", maximum()),
    _policy("gate", "gate.better_than", demand()),
    _policy("gate", "gate.tags", chosen()),
    _policy("gate", "gate.not_tags", left_out()),
    _policy("gate", "gate.targets", chosen()),
    _policy("gate", "gate.on_weaker_grading", words("note", "fail")),
    _policy("gate", "gate.on_changed_grading", words("note", "review", "fail")),
    _policy("gate", "gate.require_rubrics", words(False, True)),
    _policy("gate", "gate.require_verdict", words(False, True)),
    _policy("gate", "gate.*"),
    _policy("gate", "regression.repeated", words("note", "broken")),
    _policy("gate", "regression.*"),
    _policy("criterion", "shared_rubrics.*", kept()),
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
    Row(
        pattern="targets.*.depends_on",
        effect="policy",
        kind="depends-on",
        told=depends_on,
        across=True,
    ),
    Row(pattern="targets.*", effect="grades", kind="target", told=answered_by),
    Row(
        pattern="targets.*.answers|response",
        effect="grades",
        kind="recording",
        told=recording,
        across=True,
    ),
    *(
        _tested(f"targets.*.{part}")
        for part in (
            *("endpoint.model", "endpoint.options.*", "endpoint.identity", "prompt", "skill"),
            *("agent.model", "agent.tools", "concurrency"),
        )
    ),
    Row(pattern="targets.*.graders", effect="grades", kind="target", told=graders),
    *(
        Row(pattern=f"targets.*.{part}", effect="grades", kind="target")
        for part in (
            *("*", "agent.*", "endpoint.*", "endpoint.http.*", "program.*", "workspace.*"),
            *("healthcheck", "did"),
        )
    ),
)
EVERY: Final = {"case": (*CASE, *_EVALUATORS, *_CRITERIA), "config": (*CONFIG, *TARGETS)}


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
            best = max(_names(steps) for steps, _ in fitting)
            return length, [row for steps, row in fitting if _names(steps) == best]
    return len(path), []


def _names(steps: Sequence[str]) -> int:
    """Return how exactly a pattern fits."""
    return sum(step != "*" for step in steps)


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
