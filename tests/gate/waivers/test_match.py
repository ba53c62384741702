"""Waivers: what a case counts as without its waived criteria, and when one is in force."""

from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

import pytest

from rubric_ci.errors import ExitCode
from rubric_ci.gate.report.decision import Facts, verdict_code
from rubric_ci.gate.waivers.matching import (
    answered_alone,
    answered_by,
    fingerprint_of,
    match_waiver,
)
from rubric_ci.values.evals import CompositeSpec, EvalCase, RubricSpec, WeightedAverage
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.messages import FilePart, MediaPart, Message, SimulatedUser, TextPart, Turn
from rubric_ci.values.results import CriterionResult, Graded
from rubric_ci.values.rubric import Assertion, Check, Level, Levelled, Rubric
from rubric_ci.values.scope import WHOLE
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS
from rubric_ci.values.waivers import Waiver, WaiverResult, with_waivers
from rubric_ci.values.workspace_settings import GitSource, Hook, Hooks, Workspace
from tests.cases import build_case, span, text_message
from tests.pictures import media, png
from tests.sample_reports import a_criterion, a_rubric, graded

GATED = a_criterion("gated")
LOW = a_criterion("low", gated=False, gate="", normalised=0.0, weight=9.0)
MET = a_criterion("met", mark=True, normalised=1.0, gated=False)


def a_case(*criteria: CriterionResult, **facts: Any) -> Graded:
    total = sum(criterion.weight for criterion in criteria)
    score = sum(criterion.weight * criterion.normalised for criterion in criteria) / total
    gates = tuple(criterion.id for criterion in criteria if criterion.gated)
    rubric = a_rubric(*criteria, score=score, gated_by=gates, **facts)
    return graded("c", "fail", evaluators=(rubric,), score=score, gated_by=gates)


COMPOSED = a_case(replace(GATED, id="m/gated"), MET, type="composite")
CASES: dict[str, tuple[Graded, str, str]] = {
    "the only missed gate": (a_case(GATED, MET), "gated", "waived"),
    "another gate is missed": (a_case(GATED, replace(GATED, id="other"), MET), "gated", "fail"),
    "a lost score": (a_case(LOW, MET), "low", "waived"),
    "the rest is borderline": (a_case(GATED, replace(MET, normalised=0.7)), "gated", "borderline"),
    "every criterion": (a_case(GATED), "gated", "waived"),
    "in a composite only the gate": (COMPOSED, "m/gated", "fail"),
}


@pytest.mark.parametrize(("case", "criterion", "status"), CASES.values(), ids=CASES)
def test_what_a_case_counts_as(case: Graded, criterion: str, status: str) -> None:
    found = with_waivers(case, {criterion}, DEFAULT_THRESHOLDS)
    assert (found.waived, found.status, found.verdict) == ((criterion,), status, "fail")


@pytest.mark.parametrize("criterion", ["met", "typo"])
def test_a_criterion_that_is_met_or_unknown_excuses_nothing(criterion: str) -> None:
    found = with_waivers(a_case(GATED, MET), {criterion}, DEFAULT_THRESHOLDS)
    assert (found.waived, found.status, found.verdict) == ((), "fail", "fail")


def test_a_waived_case_is_no_pass_in_a_rate() -> None:
    waived = with_waivers(a_case(GATED, MET), {"gated"}, DEFAULT_THRESHOLDS)
    gate = GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=False)
    assert verdict_code(Facts([waived], gate, WHOLE)) is ExitCode.OK


ENTRY = WaiverResult(
    state="applied", case="c", criterion="gated", file="e.yaml", line=2, reason="r", owner="o",
    until="2026-12-31",
)  # fmt: skip


@pytest.mark.parametrize(
    ("waivers", "most", "passes"),
    [
        ([ENTRY], None, True),
        ([ENTRY], 1, True),
        ([ENTRY, ENTRY], 1, False),
        ([replace(ENTRY, state="unneeded")], None, True),
        ([replace(ENTRY, state="expired")], None, True),
    ],
    ids=["applied", "as many as allowed", "one too many", "not needed", "not in force"],
)
def test_waivers_and_the_gate(waivers: list[WaiverResult], most: int | None, passes: bool) -> None:
    gate = GateInfo(fail_on="fail", passing=0.8, borderline=0.6, max_waivers=most, holds=False)
    found = verdict_code(Facts([], gate, WHOLE, waivers))
    assert found is (ExitCode.OK if passes else ExitCode.GATE)
    never = replace(gate, fail_on="never")
    assert verdict_code(Facts([], never, WHOLE, waivers)) is ExitCode.OK


CHECK = Check(id="period", text="Names the period", span=span())
RUBRIC = RubricSpec(name="rubric", rubric=Rubric((CHECK,)), span=span())
NESTED = CompositeSpec(
    name="all", evaluators=(replace(RUBRIC, name="m"),), aggregator=WeightedAverage(), span=span()
)
REFUND = build_case(id="refund", file="a.yaml", evaluators=(RUBRIC,))
WAIVER = Waiver(
    case="refund", criterion="period", reason="r", owner="o", until="2026-06-30",
    fingerprint=fingerprint_of(REFUND, CHECK), line=2,
)  # fmt: skip
TODAY = date(2026, 6, 30)
SAFE = replace(RUBRIC, rubric=Rubric((replace(CHECK, tags=("safety",)),)))
OTHER_FILE = replace(WAIVER, file="b.yaml")
TWO_FILES = (REFUND, replace(REFUND, file="b.yaml"))


class Match(NamedTuple):
    state: str
    waiver: Waiver = WAIVER
    cases: tuple[EvalCase, ...] = (REFUND,)
    today: date = TODAY


MATCHES = {
    "on its last day": Match("not-run"),
    "a day later": Match("expired", today=date(2026, 7, 1)),
    "no such case": Match("unmatched", replace(WAIVER, case="other")),
    "no such criterion": Match("unmatched", replace(WAIVER, criterion="x")),
    "two files": Match("unmatched", cases=TWO_FILES),
    "one of two files": Match("not-run", OTHER_FILE, TWO_FILES),
    "another file": Match("unmatched", OTHER_FILE),
    "edited": Match("edited", replace(WAIVER, fingerprint="0" * 12)),
    "a safety case": Match("safety", cases=(replace(REFUND, tags=("safety",)),)),
    "a safety criterion": Match("safety", cases=(replace(REFUND, evaluators=(SAFE,)),)),
    "in a composite": Match(
        "not-run", replace(WAIVER, criterion="m/period"), (replace(REFUND, evaluators=(NESTED,)),)
    ),
}


@pytest.mark.parametrize(
    ("question", "criterion", "stored"),
    [
        ("May I return it?", "Names the period", "57ca7f8b70a3"),
        ("Darf ich es zurückgeben?", "Nennt die Frist, höflich 🎉", "9d804725d3c9"),
        ("\ud800", "Names \udfff", "e569059aa698"),
    ],
    ids=["ascii", "other characters", "half of a surrogate pair"],
)
def test_the_stored_fingerprint_of_a_waiver(question: str, criterion: str, stored: str) -> None:
    """What is in a waivers file must not change with a version of rubric-ci."""
    case = replace(REFUND, input_messages=(text_message(question),))
    assert fingerprint_of(case, replace(CHECK, text=criterion)) == stored


USER = SimulatedUser(persona="A buyer", goal="To return it", end="It is returned")


@pytest.mark.parametrize(
    ("facts", "stored"),
    [
        ({"turns": (Turn(text="And now?"),)}, "36b7b3b643b6"),
        ({"simulated_user": USER}, "0505c5d6fc9e"),
    ],
    ids=["turns", "simulated user"],
)
def test_the_stored_fingerprint_of_a_conversation(facts: dict[str, Any], stored: str) -> None:
    assert fingerprint_of(replace(REFUND, **facts), CHECK) == stored


NAMED = replace(REFUND, id="refund [x]", written_id="refund", target="x")
SERVING = {"a.yaml": ("x",), "b.yaml": ("y",)}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("refund [x]", [NAMED]),
        ("refund [y]", [replace(NAMED, id="refund [y]", target="y", file="b.yaml")]),
        ("refund [z]", []),
        ("other [x]", []),
        ("refund", []),
        ("refund [x", []),
        (" [x]", []),
    ],
)
def test_a_case_that_several_targets_answer(name: str, found: list[EvalCase]) -> None:
    cases = [REFUND, replace(REFUND, id="" if name == " [x]" else "keep")]
    cases += [replace(NAMED, id="refund [y]", target="y", file="b.yaml")]
    assert list(answered_by(name, cases, SERVING.__getitem__)) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [("refund", [replace(NAMED, id="refund", written_id="")]), ("refund [x]", []), ("keep", [])],
)
def test_a_case_of_several_targets_in_a_run_of_one(name: str, found: list[EvalCase]) -> None:
    cases = [NAMED, replace(REFUND, id="keep")]
    assert list(answered_alone(name, cases)) == found


@pytest.mark.parametrize(("state", "waiver", "cases", "today"), MATCHES.values(), ids=MATCHES)
def test_when_a_waiver_is_in_force(
    state: str, waiver: Waiver, cases: tuple[EvalCase, ...], today: date
) -> None:
    assert match_waiver(waiver, cases, today).state == state


LEVELS = Levelled(
    id="l", levels=(Level(level=1, text="bad"), Level(level=2, text="good")), span=span()
)


def test_the_fingerprint_is_that_of_text_and_scale() -> None:
    same = replace(CHECK, id="other", weight=3.0, required=False, span=span(9))
    assert fingerprint_of(REFUND, same) == fingerprint_of(REFUND, CHECK)
    assert fingerprint_of(REFUND, replace(CHECK, text="Names it")) != WAIVER.fingerprint
    moved = replace(LEVELS, levels=(Level(level=1, text="bad"), Level(level=3, text="good")))
    assert fingerprint_of(REFUND, moved) != fingerprint_of(REFUND, LEVELS)


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"weight": 2.0, "required": False}, True),
        ({"value": "60 days"}, False),
        ({"key": "equals"}, False),
        ({"negated": True}, False),
        ({"ignore_case": True}, False),
        ({"field": "days"}, False),
    ],
)
def test_the_fingerprint_is_that_of_the_rule(changes: dict[str, Any], same: bool) -> None:
    says = Assertion(id="a", text="Names it", key="contains", value="30 days", span=span())
    case = build_case(id="a")
    assert (fingerprint_of(case, says) == fingerprint_of(case, replace(says, **changes))) is same


QUESTION = text_message("May I return it?")


@pytest.mark.parametrize(
    ("messages", "same"),
    [
        ((QUESTION,), True),
        ((text_message("Be brief", "system"), QUESTION), True),
        ((text_message("May I keep it?"),), False),
        ((text_message("May I return it?", "assistant"),), False),
        ((QUESTION, text_message("Now?")), False),
        ((Message(role="user", parts=(FilePart(path="q.md", text="May I return it?"),)),), True),
        ((Message(role="user", parts=(FilePart(path="q.md", text="May I keep it?"),)),), False),
    ],
    ids=["same", "prompt", "another", "role", "further", "in a file", "file edited"],
)
def test_the_fingerprint_is_that_of_the_question(messages: tuple[Message, ...], same: bool) -> None:
    case = replace(REFUND, input_messages=messages)
    then = replace(REFUND, input_messages=(QUESTION,))
    assert (fingerprint_of(case, CHECK) == fingerprint_of(then, CHECK)) is same


def test_cases_that_exchange_their_questions_do_not_exchange_their_waiver() -> None:
    other = replace(REFUND, id="greeting", input_messages=(text_message("Say hello"),))
    first = replace(REFUND, input_messages=(QUESTION,))
    waiver = replace(WAIVER, fingerprint=fingerprint_of(first, CHECK))
    exchanged = [
        replace(first, input_messages=other.input_messages),
        replace(other, input_messages=first.input_messages),
    ]
    assert match_waiver(waiver, [first, other], TODAY).state == "not-run"
    assert match_waiver(waiver, exchanged, TODAY).state == "edited"


def test_a_waiver_belongs_to_the_workspace_of_a_case() -> None:
    hook = Hook(command=("touch", "done"), timeout_seconds=60)
    every = [
        Workspace(of_target=False),
        Workspace(of_target=False, copy="app"),
        Workspace(of_target=False, copy="easy"),
        Workspace(of_target=False, copy="app", setup="touch done"),
        Workspace(of_target=False, copy="app", hooks=Hooks(before_all=hook)),
        Workspace(of_target=False, copy="app", hooks=Hooks(after_each=hook)),
        Workspace(of_target=False, copy="app", hooks=Hooks(before_all=replace(hook, cwd="x"))),
        Workspace(of_target=False, git=GitSource(url="https://a.example/b", commit="1" * 40)),
        Workspace(of_target=False, git=GitSource(url="https://a.example/b", commit="2" * 40)),
        Workspace(of_target=False, git=GitSource(path="b.bundle", commit="1" * 40)),
        Workspace(of_target=False, repos=(GitSource(path="b.bundle", ref="main", into="x"),)),
        Workspace(of_target=False, repos=(GitSource(path="b.bundle", ref="main", into="y"),)),
        None,
    ]
    prints = [fingerprint_of(build_case(workspace=each), CHECK) for each in every]
    assert len(set(prints)) == len(every)
    edited = [fingerprint_of(build_case(workspace=w, metadata={"n": 1}), CHECK) for w in every]
    hooked = [w is not None and bool(w.hooks.every) for w in every]
    assert [now != was for now, was in zip(edited, prints, strict=True)] == hooked
    kept = Workspace(of_target=False, copy="app", keep=("diff", "*.md"))
    assert fingerprint_of(build_case(workspace=kept), CHECK) == prints[1]


def test_a_waiver_belongs_to_the_bytes_of_an_image() -> None:
    parts = [MediaPart(media=media("a.png", png(8, height))) for height in (6, 7)]
    messages = [Message(role="user", parts=(each, TextPart("What is wrong?"))) for each in parts]
    prints = [fingerprint_of(build_case(input_messages=(each,)), CHECK) for each in messages]
    assert len(set(prints)) == 2


def test_a_waiver_belongs_to_the_variables_of_a_case_without_messages() -> None:
    criterion = Assertion(id="a", text="", key="contains", value="x", span=span())
    prints = {
        fingerprint_of(build_case(input_messages=(), vars={"q": text}), criterion)
        for text in ("one", "two")
    }
    assert len(prints) == 2
