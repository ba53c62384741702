"""Rubric files: their own problems, and includes in every list of criteria."""

from collections.abc import Mapping

import pytest

from rubric_ci.files.project.loader import Loaded, load
from rubric_ci.files.validation.includes import shared_of
from rubric_ci.files.validation.rubric_files import IncludedSource
from rubric_ci.files.validation.validator import check_rubric
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import MovedSource
from rubric_ci.services.drafting.draft_requests import choose_requests
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.evals import CompositeSpec, RubricSpec
from rubric_ci.values.references import Found, Lookup, NotFound
from rubric_ci.values.rubric import Assertion, ByAnswer, ByMark, Criterion, MarkedAnswer

SAFETY = """\
vars: {product: shoes, words: 3}
sees: [answer, tool_calls]
criteria:
- {id: promise, expected_outcome: "Promises a refund for {{ product }}", penalty: 4}
- {id: ill, expected_outcome: Speaks of an illness, required: false}
- {id: doctor, expected_outcome: Names a doctor, applies_if: {criterion: ill, is: true}}
- {id: depth, score_ranges: {0: thin, 5: deep}, required_min_score: 5, weight: 2}
- Is polite
"""
FILES = {
    "rubrics/safety.rubric.yaml": SAFETY,
    "other.yaml": "criteria: [Is short]\n",
    "none.rubric.yaml": "description: no criteria\n",
    "broken.rubric.yaml": "criteria:\n- {id: a, expected_outcom: x}\n",
    "seeing.yaml": (
        "sees: [answer, tool_calls]\nguidelines: Be kind\n"
        "examples: [{answer: a, marks: {x: true}}]\ncriteria: [{id: x, expected_outcome: y}]\n"
    ),
    "loop.rubric.yaml": "criteria:\n- A\n- include: ../loop.rubric.yaml\n",
}


def within(files: Mapping[str, str]) -> Lookup:
    return lambda name: Found(name, files[name]) if name in files else NotFound("no such file")


find = within(FILES)


def loaded(rubrics: str, more: str = "", lookup: Lookup = find) -> Loaded:
    text = f"evalcases:\n- id: a\n  input: q\n{more}  rubrics:\n{rubrics}"
    return load("evals/a.yaml", text, lookup)


def spec_of(found: Loaded) -> RubricSpec:
    assert found.eval_file is not None, found.diagnostics
    (spec,) = found.eval_file.cases[0].evaluators
    spec = spec.evaluators[0] if isinstance(spec, CompositeSpec) else spec
    assert isinstance(spec, RubricSpec)
    return spec


def criteria(rubrics: str, more: str = "") -> list[Criterion]:
    found = loaded(rubrics, more)
    assert [str(each) for each in found.diagnostics if each.severity.value == "error"] == []
    return [*spec_of(found).rubric]


def test_an_include_is_its_criteria_under_its_name() -> None:
    found = criteria("  - First\n  - include: safety\n  - Last\n")
    assert [each.id for each in found] == [
        "rubric-1",
        *(f"safety/{name}" for name in ("promise", "ill", "doctor", "depth", "rubric-5")),
        "rubric-3",
    ]
    assert [each.span.file for each in found] == ["", *["rubrics/safety.rubric.yaml"] * 5, ""]
    assert [each.span.line for each in found] == [5, 4, 5, 6, 7, 8, 7]
    assert found[1].text == "Promises a refund for shoes"
    assert found[3].applies_if == ByMark(criterion="safety/ill", mark=True)


OPTIONS: dict[str, tuple[str, list[tuple[str, float, bool]]]] = {
    "as and only": ("{include: safety, as: s, only: [promise]}", [("s/promise", 4.0, False)]),
    "except": (
        "{include: safety, except: [ill, doctor, depth]}",
        [("safety/promise", 4.0, False), ("safety/rubric-5", 1.0, True)],
    ),
    "a factor": (
        "{include: safety, weight: 0.5, except: [ill, doctor, depth]}",
        [("safety/promise", 2.0, False), ("safety/rubric-5", 0.5, True)],
    ),
    "no gates": (
        "{include: safety, required: false, except: [ill, doctor, promise]}",
        [("safety/depth", 2.0, False), ("safety/rubric-5", 1.0, False)],
    ),
    "another file": ("{include: other.yaml}", [("other/rubric-1", 1.0, True)]),
}


def is_gate(criterion: Criterion) -> bool:
    return bool(getattr(criterion, "required", getattr(criterion, "required_min_score", None)))


@pytest.mark.parametrize(("written", "expected"), OPTIONS.values(), ids=OPTIONS)
def test_options(written: str, expected: list[tuple[str, float, bool]]) -> None:
    found = criteria(f"  - {written}\n")
    assert [(each.id, each.weight, is_gate(each)) for each in found] == expected


def test_a_penalty_without_weight_is_still_one() -> None:
    (found,) = criteria("  - {include: safety, only: [promise], weight: 0}\n  - Greets\n")[:1]
    assert (found.weight, getattr(found, "fault", False)) == (0.0, True)


@pytest.mark.parametrize(
    ("include", "case", "text"),
    [
        ("", "", "shoes"),
        ("", "  vars: {product: hats}\n", "hats"),
        (", vars: {product: tea}", "  vars: {product: hats}\n", "tea"),
    ],
    ids=["of the file", "of the case", "of the include"],
)
def test_which_variable_wins(include: str, case: str, text: str) -> None:
    (found,) = criteria(f"  - {{include: safety, only: [promise]{include}}}\n", case)
    assert found.text == f"Promises a refund for {text}"
    assert found.template == "Promises a refund for {{ product }}"


def test_a_request_shows_what_any_file_sees() -> None:
    assert spec_of(loaded("  - include: safety\n")).sees == ("answer", "tool_calls")


def test_a_file_that_is_reached_twice_counts_once() -> None:
    once, twice = "  - include: safety\n", "  - include: safety\n  - include: safety\n"
    assert criteria(twice) == criteria(once)
    ids = [c.id for c in criteria(f"{once}  - {{include: safety, as: again}}\n")]
    assert len(ids) == 10


PLACES: Mapping[str, str] = {
    "suite": "rubrics: [include: other.yaml]\nevalcases:\n- {id: a, input: q}\n",
    "mapping": "evalcases:\n- {id: a, input: q, rubrics: {criteria: [include: other.yaml]}}\n",
    "evaluator": (
        "evalcases:\n- id: a\n  input: q\n  evaluators:\n"
        "  - {name: r, type: rubric, rubrics: [include: other.yaml]}\n"
    ),
    "member": (
        "evalcases:\n- id: a\n  input: q\n  execution:\n    evaluators:\n"
        "    - name: c\n      type: composite\n      evaluators:\n"
        "      - {name: r, type: rubric, rubrics: [include: other.yaml]}\n"
    ),
    "turn": "evalcases:\n- {id: a, turns: [{input: q, rubrics: [include: other.yaml]}, x]}\n",
}


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES)
def test_every_list_of_criteria_includes(text: str) -> None:
    spec = spec_of(load("evals/a.yaml", text, find))
    assert [each.id.removeprefix("turn-1/") for each in spec.rubric] == ["other/rubric-1"]


BROKEN = "broken.rubric.yaml:2:11: criterion-text: unknown key `expected_outcom` in the criterion"
PROBLEMS: dict[str, tuple[str, str]] = {
    "no such file": (
        "  - include: safty\n",
        "evals/a.yaml:5:14: include: `rubrics/safty.rubric.yaml`: no such file",
    ),
    "no criteria": (
        "  - include: none.rubric.yaml\n",
        "evals/a.yaml:5:14: include: `none.rubric.yaml` has no `criteria`",
    ),
    "only and except": (
        "  - {include: safety, only: [ill], except: [ill]}\n",
        "evals/a.yaml:5:36: include: an include has either `only` or `except`, not both",
    ),
    "an unknown id": (
        "  - {include: safety, only: [promises]}\n",
        "evals/a.yaml:5:30: include: the rubric file has no criterion `promises`",
    ),
    "without its parent": (
        "  - {include: safety, only: [doctor]}\n",
        "evals/a.yaml:5:29: include: `doctor` applies by the mark of `ill`, which is left out",
    ),
    "a slip": (
        "  - {include: safety, onyl: [ill]}\n",
        "evals/a.yaml:5:23: unknown-key: unknown key `onyl` in the criterion",
    ),
    "a slip, and a problem of the file": (
        "  - {include: broken.rubric.yaml, onyl: [ill]}\n  - {include: safty, onyl: [ill]}\n",
        (
            f"{BROKEN}\n"
            "evals/a.yaml:5:35: unknown-key: unknown key `onyl` in the criterion\n"
            "evals/a.yaml:6:15: include: `rubrics/safty.rubric.yaml`: no such file\n"
            "evals/a.yaml:6:22: unknown-key: unknown key `onyl` in the criterion"
        ),
    ),
    "a slip, and problems of rules": (
        "  - include: safty\n  - {score_ranges: {1: a}, weigth: 0}\n- {id: a, rubrics: [x]}\n",
        (
            "evals/a.yaml:5:14: include: `rubrics/safty.rubric.yaml`: no such file\n"
            "evals/a.yaml:6:20: score-range-coverage: no range covers 0\n"
            "evals/a.yaml:6:28: unknown-key: unknown key `weigth` in the criterion\n"
            "evals/a.yaml:7:3: missing-key: the case has no `input_messages` or `input`\n"
            "evals/a.yaml:7:8: case-id-duplicate: the id `a` is taken by an earlier case"
        ),
    ),
    "nothing of criteria that are not there": (
        "  - include: safty\n  - {expected_outcome: x, weight: 0}\n",
        "evals/a.yaml:5:14: include: `rubrics/safty.rubric.yaml`: no such file",
    ),
    "parts of another type": (
        (
            "    sees: 5\n    guidelines: [[a]]\n    examples: 5\n"
            "    criteria: [include: seeing.yaml]\n"
        ),
        (
            "evals/a.yaml:5:11: wrong-type: `sees` must be a list, not `5`\n"
            "evals/a.yaml:6:17: wrong-type: `guidelines` must be text, not a list\n"
            "evals/a.yaml:7:15: wrong-type: `examples` must be a list, not `5`"
        ),
    ),
    "a problem of the file": ("  - include: broken.rubric.yaml\n", BROKEN),
    "a circle": (
        "  - include: loop.rubric.yaml\n",
        (
            "loop.rubric.yaml:3:12: include: an included file includes no other: "
            "loop.rubric.yaml → ../loop.rubric.yaml"
        ),
    ),
    "an id twice": (
        "  - {id: other/rubric-1, expected_outcome: x}\n  - include: other.yaml\n",
        (
            "other.yaml:1:12: criterion-id-duplicate: the id `other/rubric-1` is taken by an "
            "earlier criterion"
        ),
    ),
}


def shown(found: tuple[Diagnostic, ...]) -> list[str]:
    return [
        f"{d.file}:{d.span.line}:{d.span.column}: {d.rule}: {d.message}"
        for d in found
        if d.severity.value == "error"
    ]


@pytest.mark.parametrize(("written", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_problems_are_where_they_can_be_fixed(written: str, expected: str) -> None:
    found = loaded(written)
    assert "\n".join(shown(found.diagnostics)) == expected
    assert found.eval_file is None


def test_a_rubric_file_is_checked_alone() -> None:
    assert check_rubric("rubrics/safety.rubric.yaml", SAFETY, find)[0] == ()
    text = "criterias: [a]\ncriteria:\n- {id: a, matches: '(?=x)'}\n- {id: a, contains: x}\n"
    assert shown(check_rubric("a.rubric.yaml", text, find)[0]) == [
        "a.rubric.yaml:1:1: unknown-key: unknown key `criterias` in the file",
        "a.rubric.yaml:3:20: assertion-value: `matches`: invalid perl operator: (?=",
        "a.rubric.yaml:4:8: criterion-id-duplicate: the id `a` is taken by an earlier criterion",
    ]


def test_an_undefined_variable_of_a_file_is_an_error_of_the_case() -> None:
    files = {"u.rubric.yaml": "criteria: ['Names {{ place }}']\n"}
    found = loaded("  - include: u.rubric.yaml\n", lookup=within(files))
    assert shown(found.diagnostics) == [
        "u.rubric.yaml:1:19: undefined-variable: `{{ place }}` is not a variable of the case"
    ]


def shared(config: str, text: str) -> list[list[str]]:
    given = shared_of(Document("rubric-ci.yaml", config), find)
    assert given.problems == ()
    found = load("evals/a.yaml", text, find, shared=given)
    assert found.eval_file is not None, found.diagnostics
    return [
        [c.id for e in case.evaluators if isinstance(e, RubricSpec) for c in e.rubric]
        for case in found.eval_file.cases
    ]


SUITE = """\
shared_rubrics: [{id: cites, expected_outcome: Cites a source}, Is kind]
rubrics: [Is short]
evalcases:
- {id: own, input: q, rubrics: [Is right]}
- {id: inherits, input: q}
- {id: opts-out, input: q, shared_rubrics: false}
- {id: twice, input: q, rubrics: [include: other.yaml]}
"""


def test_shared_criteria_come_after_those_of_the_case() -> None:
    assert shared("shared_rubrics: [include: other.yaml, Never swears]\n", SUITE) == [
        ["rubric-1", "cites", "shared-2", "other/rubric-1", "config-2"],
        ["rubric-1", "cites", "shared-2", "other/rubric-1", "config-2"],
        ["rubric-1", "other/rubric-1", "config-2"],
        ["other/rubric-1", "cites", "shared-2", "config-2"],
    ]


def test_a_case_with_shared_criteria_alone_is_graded_and_can_be_drafted_for() -> None:
    text = "shared_rubrics: [Is kind]\nevalcases:\n- {id: a, input: q, expected_outcome: x}\n"
    found = load("evals/a.yaml", text, find)
    assert found.eval_file is not None
    (case,) = found.eval_file.cases
    assert ([e.name for e in case.evaluators], case.only_shared) == (["rubric"], True)
    requests, _ = choose_requests([found.eval_file], [])
    assert [each.case.id for each in requests] == ["a"]


def test_shared_criteria_with_one_id_are_an_error() -> None:
    text = "shared_rubrics: [{id: a, contains: x}, {id: a, contains: y}]\n"
    found = load("evals/a.yaml", f"{text}evalcases: [{{id: b, input: q}}]\n", find)
    assert shown(found.diagnostics) == [
        "evals/a.yaml:1:45: criterion-id-duplicate: the id `a` is taken by an earlier criterion"
    ]


def test_problems_of_shared_criteria_are_in_the_configuration() -> None:
    text = "shared_rubrics:\n- Gives a helpful answer # rubric-ci: ignore[wording]\n- '{{ no }}'\n"
    given = shared_of(Document("c.yaml", f"{text}rules: # rubric-ci: ignore[wording]\n"), find)
    found = load(
        "evals/a.yaml", "evalcases: [{id: b, input: q, rubrics: [x]}]\n", find, shared=given
    )
    assert [f"{each.file}:{each.span.line}: {each.rule}" for each in found.diagnostics] == [
        "c.yaml:3: undefined-variable"
    ]


def test_shared_criteria_of_a_configuration_are_checked_there() -> None:
    text = "shared_rubrics:\n- include: gone\n- {id: a, expected_outcom: x}\n"
    found = shared_of(Document("rubric-ci.yaml", text), find).problems
    assert [(p.rule.id, p.path) for p in found] == [
        ("criterion-text", ("shared_rubrics", 1, "expected_outcom")),
        ("include", ("shared_rubrics", 0, "include")),
    ]


BRIEFED = """\
guidelines: A promise binds the shop.
examples:
- {answer: We will pay, marks: {promise: true, ill: false}, why: It will}
- {answer: See a doctor, marks: {ill: true}}
criteria:
- {id: promise, expected_outcome: Promises a refund, penalty: 4}
- {id: ill, expected_outcome: Speaks of an illness}
"""


def test_guidelines_and_examples_come_with_an_include() -> None:
    files = {"rubrics/b.rubric.yaml": BRIEFED}
    spec = spec_of(loaded("  - {include: b, as: s, only: [promise]}\n", lookup=within(files)))
    assert spec.guidelines == ("A promise binds the shop.",)
    assert spec.examples == (
        MarkedAnswer(answer="We will pay", marks={"s/promise": True}, why="It will"),
    )


def test_guidelines_of_included_and_of_shared_files_are_together() -> None:
    shared = "guidelines: Be kind.\ncriteria: [{id: kind, expected_outcome: Is kind}]\n"
    files = {"rubrics/b.rubric.yaml": BRIEFED, "rubrics/k.rubric.yaml": shared}
    for written in ("rubrics: [include: b]", "rubrics: {guidelines: Own, criteria: [include: b]}"):
        text = f"shared_rubrics: [include: k]\nevalcases: [{{id: a, input: q, {written}}}]\n"
        spec = spec_of(load("evals/a.yaml", text, within(files)))
        own = {"Own": ""} if "Own" in written else {}
        assert dict(zip(spec.guidelines, spec.guided_by, strict=True)) == {
            **own,
            "A promise binds the shop.": "rubrics/b.rubric.yaml",
            "Be kind.": "rubrics/k.rubric.yaml",
        }


TOO_LONG = f"[{{answer: {'x' * 8_001}, marks: {{promise: true}}}}]"
TOO_MANY = f"[{', '.join(['{answer: a, marks: {promise: true}}'] * 9)}]"
EXAMPLES: dict[str, tuple[str, str]] = {
    "id": (
        "[{answer: a, marks: {promises: true}}]",
        "example-mark: there is no criterion `promises`",
    ),
    "mark": ("[{answer: a, marks: {promise: 3}}]", "example-mark: `promise` is never marked so"),
    "a fault": (
        "[{answer: a, marks: {promise: cannot_assess}}]",
        "example-mark: `promise` is never marked so",
    ),
    "no marks": ("[{answer: a}]", "missing-key: an entry of `examples` has no `marks`"),
    "none": ("[{answer: a, marks: {}}]", "too-few: `marks` must not be empty"),
    "slip": (
        "[{answer: a, mark: {promise: true}}]",
        "missing-key: unknown key `mark` in an entry of `examples`",
    ),
    "long": (TOO_LONG, "example-size: the examples have 8,001 characters, more than 8,000"),
    "many": (TOO_MANY, "too-few: `examples` must have at most 8 entries, not 9"),
}


@pytest.mark.parametrize(("examples", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_problems_of_examples(examples: str, expected: str) -> None:
    text = f"examples: {examples}\n{BRIEFED[BRIEFED.index('criteria') :]}"
    found = check_rubric("a.rubric.yaml", text, find)[0]
    assert [each.split(": ", 1)[1] for each in shown(found)] == [expected]


NAMING = """\
guidelines: brief.md
criteria:
- {id: a, json_schema: order.json}
- {id: b, expected_outcome: Is kind, applies_if: {json_schema: ../order.json}}
"""


def test_files_are_found_from_the_rubric_file() -> None:
    files = {
        "rubrics/shop/n.rubric.yaml": NAMING,
        "/rubrics/brief.md": "Be brief",
        "/rubrics/shop/order.json": '{"type": "object"}',
        "/rubrics/shop/../order.json": '{"type": "array"}',
    }
    includes = "    criteria: [include: rubrics/shop/n.rubric.yaml]\n    guidelines: Be kind\n"
    found = loaded(includes, lookup=within(files))
    assert found.eval_file is not None, found.diagnostics
    spec = spec_of(found)
    assert spec.guidelines == ("Be kind", "Be brief")
    own, other = spec.rubric
    assert isinstance(own, Assertion)
    assert own.value == {"type": "object"}
    assert isinstance(other.applies_if, ByAnswer)
    assert other.applies_if.assertion.value == {"type": "array"}
    assert {*found.eval_file.cases[0].references} == {*files} - {"rubrics/shop/n.rubric.yaml"}


def test_files_that_a_rubric_file_names_exist() -> None:
    files = {"n.rubric.yaml": NAMING}
    assert shown(check_rubric("n.rubric.yaml", NAMING, within(files))[0]) == [
        "n.rubric.yaml:1:13: file-missing: `brief.md`: no such file",
        "n.rubric.yaml:3:24: file-missing: `order.json`: no such file",
        "n.rubric.yaml:4:64: file-missing: `../order.json`: no such file",
    ]
    assert shown(loaded("  - include: n.rubric.yaml\n", lookup=within(files)).diagnostics) == [
        "evals/a.yaml:5:14: include: `guidelines: brief.md` of n.rubric.yaml: no such file",
        "n.rubric.yaml:3:24: file-missing: `/order.json`: no such file",
        "n.rubric.yaml:4:64: file-missing: `/../order.json`: no such file",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "evalcases: [{id: a, input: q, rubrics: {guidelines: g.md, criteria: [x]}}]\n",
        "evalcases: [{id: a, input: q}]\nrubrics: {guidelines: g.md, criteria: [x]}\n",
        "evalcases: [{id: a, turns: [{input: q, rubrics: {guidelines: g.md, criteria: [x]}}]}]\n",
        (
            "evalcases: [{id: a, input: q, evaluators: "
            "[{name: r, type: rubric, guidelines: g.md, rubrics: [x]}]}]\n"
        ),
    ],
    ids=["case", "suite", "turn", "evaluator"],
)
def test_a_file_of_guidelines_exists(text: str) -> None:
    (found,) = shown(load("evals/a.yaml", text, find).diagnostics)
    assert found.split(": ", 1)[1] == "file-missing: `g.md`: no such file"


def test_a_file_of_another_tool_stays_one_with_shared_criteria() -> None:
    other = MovedSource(Document("a.eval.yaml", "tests: []\n"), {}, {})
    assert IncludedSource(other).of_other_tool
    assert not IncludedSource(other.read).of_other_tool
