"""The gate: which cases make a run red, and pass rates in exact arithmetic.

`docs/gate.md` defines how the settings combine. Errored and skipped cases count neither way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from fractions import Fraction
from math import ceil
from typing import Annotated, Final, Literal, Protocol, TypeAlias, TypeVar

from rubric_ci.values.changes import GradingChange, added_cases
from rubric_ci.values.comparison import Comparison
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.dimensions import dimension, dimensions
from rubric_ci.values.results import CaseResult, own_id, with_verdict
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS, Thresholds
from rubric_ci.values.written_keys import Key

FailOn: TypeAlias = Literal["fail", "borderline", "regression", "never"]
"""The cause that fails the gate: a verdict, or a change for the worse; `regression`: only cases
that the change broke, and failing cases that are new or not comparable."""

OnWeakerGrading: TypeAlias = Literal["note", "fail"]
OnChangedGrading: TypeAlias = Literal["note", "review", "fail"]

EACH: Final = "*"
"""The group that is every tag without a group of its own."""
Floor = TypeVar("Floor", "PassRate", "MinScore")
_ALONE: Final = {"new", "not-comparable", None}  # cases that count by their verdict
_FORBIDDEN: Final = {"fail": {"fail"}, "borderline": {"fail", "borderline"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Gate of the cases, and of the criteria, with one tag."""

    min_pass_rate: Annotated[float | None, Key(0.9, minimum=0, maximum=1)] = None
    """Share of the group's graded cases that must have the verdict `pass`."""
    min_score: Annotated[float | None, Key(0.9, minimum=0, maximum=1)] = None
    """Mean score that the criteria with this tag must have, over the graded cases that have
    one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    fail_on: Annotated[FailOn, Key("borderline")] = "fail"
    """Verdict or change that fails the gate: a case with the verdict `fail`, with `borderline` or
    worse, only what the change broke and new cases that fail (`regression`, with `--against`), or
    nothing (`never`)."""
    thresholds: Annotated[Thresholds, Key({"pass": 0.9, "borderline": 0.7})] = DEFAULT_THRESHOLDS
    """Minimum scores of the verdicts `pass` and `borderline`. A lower score is `fail`."""
    min_pass_rate: Annotated[float | None, Key(0.9, minimum=0, maximum=1)] = None
    """Share of the graded cases that must have the verdict `pass`. With it, single cases no longer
    fail the gate."""
    groups: Annotated[
        Mapping[str, Group], Key({"safety": {"min_pass_rate": 1}, "*": {"min_score": 0.7}})
    ] = field(default_factory=dict)
    """Pass rates of the cases, and scores of the criteria, with a tag, by tag. `*` is every tag
    without a group of its own, so the worst one decides."""
    max_waivers: Annotated[int | None, Key(5, minimum=0)] = None
    """Maximum number of entries in `waivers.yaml`. Above it, the gate fails."""
    on_weaker_grading: Annotated[OnWeakerGrading, Key("fail")] = "note"
    """Action on a pull request that makes the grading weaker, for example lowers a threshold or
    removes a criterion: `note` reports it, `fail` fails the gate."""
    on_changed_grading: Annotated[OnChangedGrading, Key("review")] = "note"
    """Action on a pull request that changes the grading in a way whose effect is not known, for
    example rewords a criterion or edits a script, or that makes it weaker: `note` reports it,
    `review` sets the output `review` to `required`, `fail` fails the gate."""
    better_than: Annotated[str, Key("without-skill")] = ""
    """Target that the first of several targets must be significantly better than, over the cases
    that both answer. Otherwise the gate fails; if no case is graded for both, it is undecided (exit
    code 3)."""
    tags: Annotated[tuple[str, ...], Key(["must"], minItems=1, uniqueItems=True)] = ()
    """Only cases with one of these tags decide. The others are graded and shown, and fail no
    gate."""
    not_tags: Annotated[tuple[str, ...], Key(["flaky"], minItems=1, uniqueItems=True)] = ()
    """Cases with one of these tags do not decide. They are graded and shown, and fail no gate."""
    targets: Annotated[tuple[str, ...], Key(["default"], minItems=1, uniqueItems=True)] = ()
    """Targets whose cases must pass, where a run compares several. Cases of other targets are shown
    and fail no gate."""
    require_rubrics: Annotated[bool, Key(True)] = False
    """Whether a case with nothing to grade is an error, so that the run has no verdict for it,
    instead of being skipped."""
    require_verdict: Annotated[bool, Key(True)] = False
    """Whether a case that is skipped is an error, so that the run has no verdict and exit code 3:
    also one that an offline run cannot grade, as for a pull request of a fork."""
    min_kappa: Annotated[float | None, Key(0.6, minimum=-1, maximum=1)] = None
    """Minimum Cohen's kappa between the judge and people, required of the lower end of its 95 %
    interval. `rubric-ci judge calibrate` fails below it, and `rubric-ci run` requires a calibration
    of every judge."""

    @property
    def rates(self) -> Mapping[str, float]:
        """The minimum pass rates of groups, by tag."""
        found = {tag: of.min_pass_rate for tag, of in self.groups.items()}
        return {tag: rate for tag, rate in found.items() if rate is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate:
    """A minimum share of passing cases, and how many of the run's cases pass."""

    min_pass_rate: float
    group: str = ""  # the tag of its cases; empty: all cases
    passed: int = 0
    counted: int = 0  # graded cases; errored and waived ones count neither way
    errored: int = 0
    waived: int = 0
    new: int = 0  # cases that the change adds, left out: without them the rate is missed
    required: int = 0  # passes that the rate needs
    of_each: bool = False  # of `*`, which is every tag of a case

    @property
    def holds(self) -> bool:
        return self.passed >= self.required

    def covers(self, case: CaseResult) -> bool:
        return not self.group or self.group in case.tags


@dataclass(frozen=True, slots=True, kw_only=True)
class MinScore:
    """A minimum score of the criteria with a tag, and the score that they have."""

    min_score: float
    group: str
    score: float | None = None  # None: no graded case has such a criterion
    cases: int = 0
    of_each: bool = False  # of `*`, which is every tag of a criterion

    @property
    def holds(self) -> bool:
        """True if the criteria have the score, or there are none."""
        return self.score is None or self.score >= self.min_score


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDifference:
    """The mean difference in score of two targets, over the cases that both answered."""

    target: str
    than: str
    cases: int
    mean: float
    p_value: float  # paired permutation test
    significant: bool
    possible: bool = True  # False: the run is narrowed to so few cases that none is significant

    @property
    def better(self) -> bool:
        """True if the target is significantly better."""
        return self.significant and self.mean > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInfo:
    """The settings of the gate and whether it passes."""

    fail_on: FailOn
    passing: float
    borderline: float
    rates: tuple[PassRate, ...] = ()
    scores: tuple[MinScore, ...] = ()
    on_weaker_grading: OnWeakerGrading = "note"
    on_changed_grading: OnChangedGrading = "note"
    max_waivers: int | None = None  # entries of `waivers.yaml`; None: no limit
    targets: tuple[str, ...] = ()  # whose cases count; empty: of all
    tags: tuple[str, ...] = ()  # cases with one of them count; empty: all
    not_tags: tuple[str, ...] = ()  # cases with one of them do not count
    better_than: str = ""  # a target that the first of several must be better than; empty: none
    difference: TargetDifference | None = None  # None: no case was answered by several targets
    none_decides: bool = False  # no case of the suite has its tags and targets
    holds: bool  # `gate_passes`, and no verdict that it needs is missing


class Tagged(Protocol):
    """A case of an eval file, or its result."""

    @property
    def id(self) -> str:
        """The id; of one that several targets answer with the target."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""

    @property
    def target(self) -> str:
        """The name of its target."""


def gating(cases: Sequence[CaseResult], gate: GateConfig | GateInfo) -> Sequence[CaseResult]:
    """Return the cases that the gate is about, which must pass."""
    if not (gate.targets or gate.tags or gate.not_tags):
        return cases
    return [case for case in cases if is_gating(case, gate)]


def is_gating(case: Tagged, gate: GateConfig | GateInfo) -> bool:
    """Return False for a case of other tags, and for the result of another of several targets."""
    if not is_chosen(case.tags, gate):
        return False
    if not gate.targets or case.target in gate.targets:
        return True
    return own_id(case.id, case.target) == case.id


def is_chosen(tags: Sequence[str], gate: GateConfig | GateInfo) -> bool:
    """Return True if the gate is about cases with these tags."""
    if gate.tags and set(tags).isdisjoint(gate.tags):
        return False
    return not gate.not_tags or set(tags).isdisjoint(gate.not_tags)


def required_passes(rate: float, size: int) -> int:
    """Return how many of `size` cases must pass; 0.95 is 19/20, as it is written."""
    return ceil(Fraction(repr(rate)) * size)


def pass_rates(
    cases: Iterable[CaseResult], rates: Iterable[PassRate], changes: Iterable[GradingChange] = ()
) -> tuple[PassRate, ...]:
    """Return the rates with the counts of these cases.

    Cases that a change adds cannot lift a rate before their merge: where it is missed without
    them, they are left out.
    """
    known = [case for case in cases if case.status != "skipped"]
    added = added_cases(changes)
    tags = sorted({tag for case in known for tag in case.tags})
    return tuple(
        _rate_of_known([case for case in known if rate.covers(case)], rate, added)
        for rate in _floor_per_tag(as_written(rates), tags)
    )


def min_scores(cases: Sequence[CaseResult], minimums: Iterable[MinScore]) -> tuple[MinScore, ...]:
    """Return the minimums with the scores of these cases."""
    written = as_written(minimums)
    tags = [each.tag for each in dimensions(cases)] if written else []
    found = [(each, dimension(cases, each.group)) for each in _floor_per_tag(written, tags)]
    return tuple(
        replace(each, score=of.score if of else None, cases=of.cases if of else 0)
        for each, of in found
    )


def as_written(floors: Iterable[Floor]) -> tuple[Floor, ...]:
    """Return floors as the configuration has them: `*` in place of the floor of each tag."""
    found: dict[str, Floor] = {}
    for each in floors:
        name = EACH if each.of_each else each.group
        found.setdefault(name, replace(each, group=name, of_each=False))
    return tuple(found.values())


def _floor_per_tag(floors: Iterable[Floor], tags: Sequence[str]) -> Iterator[Floor]:
    """Yield the floors, with one for each other tag in place of `*`."""
    listed = list(floors)
    named = {each.group for each in listed}
    for each in listed:
        others = [tag for tag in tags if tag not in named] if each.group == EACH else []
        if each.group != EACH:
            yield each
        elif others:
            yield from (replace(each, group=tag, of_each=True) for tag in others)
        else:
            yield replace(each, of_each=True)


def is_better(gate: GateInfo) -> bool:
    """Return False if a target had to be better than another one and is not."""
    found = gate.difference
    return not _demands_better(gate) or found is None or found.better or not found.possible


def is_together_open(gate: GateInfo, comparison: Comparison | None) -> bool:
    """Return True if all cases together are worse, unless the base is worse today as well."""
    together = comparison.together if comparison else None
    return gate.fail_on == "regression" and together is not None and bool(together.problem)


def lacks_difference(cases: Sequence[CaseResult], gate: GateInfo) -> bool:
    """Return True if a target had to be better, and no case, or too few, were graded for both."""
    graded, found = any(case.verdict for case in cases), gate.difference
    return _demands_better(gate) and graded and (found is None or not found.possible)


def _demands_better(gate: GateInfo) -> bool:
    return bool(gate.better_than) and gate.fail_on != "never"


def is_weakened(gate: GateInfo, changes: Sequence[GradingChange]) -> bool:
    """Return True if the change makes the grading weaker and the gate does not allow it."""
    enforced = gate.on_weaker_grading == "fail" and gate.fail_on != "never"
    return enforced and any(change.direction == "weaker" for change in changes)


def is_changed(gate: GateInfo, changes: Sequence[GradingChange]) -> bool:
    """Return True if the change may weaken the grading and the gate does not allow it."""
    return gate.on_changed_grading == "fail" and _may_weaken(gate, changes)


def needs_review(gate: GateInfo, changes: Sequence[GradingChange]) -> bool:
    """Return True if the change may weaken the grading and a person must look at it."""
    return gate.on_changed_grading == "review" and _may_weaken(gate, changes)


def _may_weaken(gate: GateInfo, changes: Sequence[GradingChange]) -> bool:
    return gate.fail_on != "never" and any(each.direction != "stronger" for each in changes)


def too_many_waivers(most: int | None, count: int) -> str:
    """Return how many waivers there are, and how many the gate allows; empty: not too many."""
    if most is None or count <= most:
        return ""
    return f"{count:,} waiver{'' if count == 1 else 's'}, at most {most:,} allowed"


def is_forbidden(case: CaseResult, gate: GateInfo) -> bool:
    """Return True if this case alone makes the gate fail."""
    return gate.fail_on != "never" and _is_bad(case, gate) and is_gating(case, gate)


def _is_bad(case: CaseResult, gate: GateInfo) -> bool:
    """Return True if the gate forbids this result in each case that it is about."""
    if case.score is None:  # its service does not start, and does at the base
        return case.status == "errored" and case.change == "broken"
    if gate.fail_on == "regression":
        if case.change == "broken":
            return case.status != "waived"
        return case.change in _ALONE and case.status == "fail"
    return case.status in _FORBIDDEN[gate.fail_on] and not any(
        rate.covers(case) for rate in gate.rates
    )


def is_held_against(case: CaseResult, gate: GateInfo) -> bool:
    """Return True if the gate fails because of this case, alone or in a pass rate."""
    if is_forbidden(case, gate):
        return True
    missed = [rate for rate in gate.rates if not rate.holds] if gate.fail_on != "never" else []
    return (
        is_gating(case, gate)
        and case.status in {"fail", "borderline"}
        and any(rate.covers(case) for rate in missed)
    )


def _rate_of_known(
    cases: Sequence[CaseResult], rate: PassRate, added: Set[tuple[str, str]]
) -> PassRate:
    old = [case for case in cases if case.key not in added]
    without = _counted(rate, old)
    if without.holds:
        return _counted(rate, cases)
    return replace(without, new=len(cases) - len(old))


def _counted(rate: PassRate, cases: Sequence[CaseResult]) -> PassRate:
    graded = with_verdict(cases)
    counted = [case for case in graded if case.status != "waived"]
    return PassRate(
        min_pass_rate=rate.min_pass_rate,
        group=rate.group,
        of_each=rate.of_each,
        passed=sum(case.status == "pass" for case in counted),
        counted=len(counted),
        errored=len(cases) - len(graded),
        waived=len(graded) - len(counted),
        required=required_passes(rate.min_pass_rate, len(counted)),
    )
