"""The common form of every tool's results: answers to cases, with the marks that they have.

JSON of other tools is read key by key; what is missing or of another type raises with its path. A
tool's tests are known by its results only: without results of the base, a change that deletes one
cannot be told.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from itertools import count
from math import isfinite
from typing import Any, Final

from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.gate.differences.case_changes import case_changes, of_case, removed_case
from rubric_ci.values.changes import Direction, GradingChange
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import is_number
from rubric_ci.values.scoring import weighted_mean

MOST_ID: Final = 80  # characters of an id that is made from a question


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The mark of one grader: an assertion, a metric or a scorer."""

    name: str
    passed: bool | None  # None: a score without a verdict, for the pass threshold of the gate
    score: float | None = None  # 0..1; None: by `passed`
    weight: float = 1.0
    text: str = ""  # what it demands
    reason: str = ""
    error: str = ""  # why it has no mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """An answer to a case.

    Trials of one case are runs that the tool repeated: they have one suite, id, question, target
    and `part`. Other samples with one suite and id are different tests (see `distinct`).
    """

    id: str
    suite: str = ""  # the eval file, as the results name it; empty: the reader sets it
    checks: tuple[Check, ...] = ()
    passed: bool | None = None  # the tool's own verdict; None: every check that counts passes
    score: float | None = None  # the tool's own; None: the weighted mean of the checks
    error: str = ""  # why there is no verdict
    skipped: str = ""  # why there was nothing to grade
    question: str = ""
    expected: str = ""
    answer: str = ""
    target: str = ""
    tags: tuple[str, ...] = ()
    seconds: float | None = None
    details: Mapping[str, Any] | None = None
    selector: str = ""  # what the tool chooses the case by; empty: its id
    part: str = ""  # what else tells tests of one id apart: a task, a test suite, the checks
    is_run: bool = False  # the tool repeats its cases, and this is an epoch, a repetition or a run

    @property
    def key(self) -> CaseKey:
        """The eval file and the id."""
        return self.suite, self.id


@dataclass(frozen=True, slots=True)
class Data:
    """A value and its path from the root."""

    value: Any
    path: str = ""

    def at(self, key: str) -> "Data":
        """Return the value of a key; None where there is no such key."""
        found = self.value.get(key) if isinstance(self.value, dict) else None
        return Data(found, f"{self.path}.{key}".lstrip("."))

    def get(self, key: str) -> Any:
        return self.at(key).value

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text; `default` where it is missing or null."""
        return str(self._typed(key, str, "a text", default))

    def flag(self, key: str) -> bool:
        return bool(self._typed(key, bool, "true or false", None))

    def number(self, key: str) -> float | None:
        """Return a number, None where it is missing or null."""
        found = self.at(key)
        if found.value is None:
            return None
        if not is_number(found.value):
            raise Mismatch(f"{found.path} must be a number")
        try:
            return float(found.value)
        except OverflowError:
            raise Mismatch(f"{found.path} is too large") from None

    def items(self, key: str, *, required: bool = False) -> Iterator["Data"]:
        """Yield the items of a list; none where it is missing or null."""
        found = self.at(key)
        if found.value is None and not required:
            return
        if not isinstance(found.value, list):
            raise Mismatch(f"{found.path} must be a list")
        for index, item in enumerate(found.value):
            yield Data(item, f"{found.path}.{index}")

    def entries(self, key: str) -> Iterator[tuple[str, "Data"]]:
        """Yield the entries of a mapping; none where it is missing or null."""
        found = self.at(key)
        if found.value is not None and not isinstance(found.value, dict):
            raise Mismatch(f"{found.path} must be a mapping")
        for name in found.value or {}:
            yield name, found.at(name)

    def _typed(self, key: str, kind: type, named: str, default: object) -> object:
        found = self.at(key)
        if found.value is None and default is not None:
            return default
        if not isinstance(found.value, kind):
            raise Mismatch(f"{found.path} must be {named}")
        return found.value


def text_of(value: Any) -> str:
    """Return a text as it is, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def short(text: str) -> str:
    """Return one line of a text as an id."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_ID else f"{line[: MOST_ID - 1]}…"


def unit(name: str, score: float | None) -> tuple[float | None, str]:
    """Return a score, or why it does not count: one outside of 0..1 has no meaning here."""
    if score is None or (isfinite(score) and 0 <= score <= 1):
        return score, ""
    return None, f"{name}: the score {score:g} is not between 0 and 1"


def counting(samples: Iterable[Sample], graders: Set[str]) -> Iterator[Sample]:
    """Yield the tests apart, with these graders alone; the others are shown with weight 0.

    Raises Mismatch if no sample has a grader of that name.
    """
    every = list(distinct(samples))
    known = {check.name for sample in every for check in sample.checks}
    if unknown := sorted(graders - known):
        raise Mismatch(f"no grader `{unknown[0]}`; there are {', '.join(sorted(known)) or 'none'}")
    for sample in every:
        checks = tuple(
            check if check.name in graders else replace(check, weight=0.0, error="")
            for check in sample.checks
        )
        yield replace(sample, checks=checks, passed=None, score=None) if graders else sample


def distinct(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Yield the samples, each test with its own id; trials keep theirs in common.

    Where the models differ, an id has the model, else tests with one id are numbered.
    """
    every = list(samples)
    targets: dict[CaseKey, set[str]] = defaultdict(set)
    for each in every:
        targets[each.key].add(each.target)
    taken: dict[str, set[str]] = defaultdict(set)  # by suite
    known: dict[tuple[str, ...], str] = {}
    for each in every:
        several = len(targets[each.key]) > 1
        name = f"{each.id} [{each.target}]" if several and each.target else each.id
        test = (*each.key, each.question, each.target, each.part)
        if not (each.is_run and test in known):
            known[test] = free(name, taken[each.suite])
        yield replace(each, id=known[test], selector=each.selector or each.id)


def free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, by a number behind it where it is, and take it."""
    names = (name if number == 1 else f"{name} ({number})" for number in count(1))
    found = next(each for each in names if each not in taken)
    taken.add(found)
    return found


def judged(sample: Sample, least: float) -> Sample:
    """Return the sample with its verdict and score, and a verdict of each check.

    `least` is the score from which a check without a verdict passes. Without a check that counts
    there is no verdict.
    """
    checks = tuple(_judged(check, least) for check in sample.checks)
    counted = [check for check in checks if check.weight > 0]
    passed, score = sample.passed, sample.score
    if passed is None and counted:
        passed = all(check.passed for check in counted)
    if score is None and counted:
        values = (float(bool(c.passed)) if c.score is None else c.score for c in counted)
        score = weighted_mean(zip((check.weight for check in counted), values, strict=True))
    if score is None and passed is not None:
        score = float(passed)
    return replace(sample, checks=checks, passed=passed, score=score)


def _judged(check: Check, least: float) -> Check:
    if check.passed is not None or check.error:
        return check
    return replace(check, passed=check.score is not None and check.score >= least)


def json_data(text: str) -> Data:
    """Return the data of a JSON text; raises Mismatch."""
    try:
        return Data(json.loads(text))  # NaN is the score of a sample that Inspect did not score
    except (ValueError, RecursionError) as error:
        raise Mismatch(f"not JSON ({error})") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCase:
    case: EvalCase  # with its question, its reference and its graders
    trials: int
    skipped: str = ""  # why there was nothing to grade
    errored: bool = False  # then its graders are not known


def results_changes(
    head: Mapping[CaseKey, ToolCase], base: Mapping[CaseKey, ToolCase]
) -> Iterator[GradingChange]:
    """Yield how the cases of a tool differ from the results of the base."""
    then = {key: each for key, each in base.items() if _is_graded(each)}
    now = {key: each for key, each in head.items() if _is_graded(each)}
    yield from (removed_case(then[key].case, "") for key in then if key not in head)
    for key, each in head.items():
        if key in then and each.skipped:
            yield removed_case(then[key].case, f"skipped: {each.skipped}")
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
