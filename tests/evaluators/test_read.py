"""Written evaluators to specs: every key of every type, what is assumed, and where it stands."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import pytest

from rubric_ci.files.project.loader import load
from rubric_ci.parts.graders.usage_limits import LatencySpec
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    WeightedAverage,
)
from rubric_ci.values.references import Found, Lookup, NotFound
from rubric_ci.values.rubric import (
    Assertion,
    ByAnswer,
    ByJudge,
    ByMark,
    Check,
    Choice,
    Chosen,
    Criterion,
    Level,
    Levelled,
    Rubric,
    Scored,
    ScoreRange,
)

Expected: TypeAlias = Callable[[Callable[[str], Span]], EvaluatorSpec]
"""The spec, from the place of each word of the text."""

PROMPT = "Is it kind? {{ answer }}"
WEIGH = "Weigh {{ EVALUATOR_RESULTS_JSON }}"
FILES: Mapping[str, str] = {
    "prompts/kind.md": PROMPT,
    "prompts/weigh.md": WEIGH,
    "schemas/object.json": '{"type": "object"}',
    "check.py": "",
}


def lookup() -> Lookup:
    return lambda name: Found(name, FILES[name]) if name in FILES else NotFound("no such file")


def at(text: str) -> Callable[[str], Span]:
    """Return the span of the first place of a word, which is in one line."""

    def span(word: str) -> Span:
        before = text[: text.index(word)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return Span(line, column, line, column + len(word))

    return span


def evaluators(text: str, default: str = "none") -> tuple[EvaluatorSpec, ...]:
    """Return the evaluators of the first case."""
    loaded = load("evals/suite.yaml", text, lookup(), default_evaluator=default)
    assert loaded.diagnostics == ()
    assert loaded.eval_file is not None
    return loaded.eval_file.cases[0].evaluators


CASE = "evalcases:\n- id: case-1\n  expected_outcome: ok\n  input: q\n"

EVERY_KEY = (
    "{name: lint, type: code_judge, script: [make, it], weight: 3, cwd: /tools, env: [HOME], "
    "timeout_seconds: 5, score_from: exit_status, strict: true, config: {level: 2}}"
)
PRINTED = (
    "{name: free, type: llm_judge, prompt: {script: [python, check.py], cwd: .., env: [A], "
    "config: {tone: warm}}}"
)
COMPOSITE = (
    "{name: all, type: composite, weight: 2, evaluators: [{name: fast, type: latency, "
    "threshold: 5}, {name: kind, type: rubric, rubrics: [Is short]}]}"
)


def is_short(span: Callable[[str], Span]) -> Rubric:
    return Rubric((Check(id="rubric-1", text="Is short", span=span("Is short")),))


SPECS: dict[str, tuple[str, Expected]] = {
    "judge": (
        "{name: free, type: llm_judge}",
        lambda span: LlmJudgeSpec(name="free", weight=1.0, span=span("free")),
    ),
    "judge with a prompt": (
        "{name: free, type: llm_judge, weight: 2, prompt: 'Is {{ answer }} good?', model: m}",
        lambda span: LlmJudgeSpec(
            name="free", weight=2.0, prompt="Is {{ answer }} good?", model="m", span=span("free")
        ),
    ),
    "judge with a prompt file": (
        "{name: free, type: llm_judge, prompt: prompts/kind.md}",
        lambda span: LlmJudgeSpec(
            name="free", prompt=PROMPT, prompt_path="prompts/kind.md", span=span("free")
        ),
    ),
    "judge with a script that prints the prompt": (
        PRINTED,
        lambda span: LlmJudgeSpec(
            name="free",
            prompt_script=CodeJudgeSpec(
                name="free",
                script=("python", "check.py"),
                cwd=".",
                env=("A",),
                config={"tone": "warm"},
                span=span("free"),
            ),
            span=span("free"),
        ),
    ),
    "rubric": (
        "{name: marks, type: llm_judge, weight: 2, model: m, rubrics: [Is short]}",
        lambda span: RubricSpec(
            name="marks",
            type="llm_judge",
            weight=2.0,
            model="m",
            rubric=is_short(span),
            span=span("marks"),
        ),
    ),
    "rubric that sees the work": (
        "{name: marks, type: rubric, sees: [answer, files], rubrics: [Is short]}",
        lambda span: RubricSpec(
            name="marks", rubric=is_short(span), sees=("answer", "files"), span=span("marks")
        ),
    ),
    "rubric without a weight": (
        "{name: marks, type: rubric, rubrics: [Is short]}",
        lambda span: RubricSpec(
            name="marks", type="rubric", weight=1.0, rubric=is_short(span), span=span("marks")
        ),
    ),
    "script": (
        "{name: lint, type: code_judge, script: make lint}",
        lambda span: CodeJudgeSpec(
            name="lint", script="make lint", cwd="evals", timeout_seconds=60.0, span=span("lint")
        ),
    ),
    "script with everything": (
        EVERY_KEY,
        lambda span: CodeJudgeSpec(
            name="lint",
            weight=3.0,
            script=("make", "it"),
            cwd="tools",
            timeout_seconds=5.0,
            env=("HOME",),
            config={"strict": True, "level": 2},
            score_from="exit_status",
            span=span("lint"),
        ),
    ),
    "composite": (
        COMPOSITE,
        lambda span: CompositeSpec(
            name="all",
            weight=2.0,
            evaluators=(
                LatencySpec(name="fast", threshold_ms=5, span=span("fast")),
                RubricSpec(name="kind", rubric=is_short(span), span=span("kind")),
            ),
            aggregator=WeightedAverage(weights={}),
            span=span("all"),
        ),
    ),
}


@pytest.mark.parametrize(("written", "expected"), SPECS.values(), ids=SPECS)
def test_an_evaluator(written: str, expected: Expected) -> None:
    text = f"{CASE}  evaluators:\n  - {written}\n"
    assert evaluators(text) == (expected(at(text)),)


SCRIPT = partial(CodeJudgeSpec, name="all", script="python check.py", cwd=".")
JUDGE = partial(LlmJudgeSpec, name="all")
BY_FILE = partial(JUDGE, prompt=WEIGH, prompt_path="prompts/weigh.md")
AGGREGATORS: dict[str, tuple[str, Callable[..., Any]]] = {
    "mean": ("{type: weighted_average}", lambda span: WeightedAverage(weights={})),
    "weights": (
        "{type: weighted_average, weights: {fast: 3}}",
        lambda span: WeightedAverage(weights={"fast": 3.0}),
    ),
    "script": ("{type: code_judge, path: python check.py, cwd: ..}", SCRIPT),
    "judge": (
        "{type: llm_judge, prompt: '{{ EVALUATOR_RESULTS_JSON }}?', model: m}",
        partial(JUDGE, prompt="{{ EVALUATOR_RESULTS_JSON }}?", model="m"),
    ),
    "judge with a prompt file": ("{type: llm_judge, prompt: prompts/weigh.md}", BY_FILE),
}


@pytest.mark.parametrize(("written", "expected"), AGGREGATORS.values(), ids=AGGREGATORS)
def test_the_aggregator_of_a_composite(written: str, expected: Callable[..., Any]) -> None:
    member = "{name: fast, type: latency, threshold: 5}"
    all_of = f"{{name: all, type: composite, evaluators: [{member}], aggregator: {written}}}"
    text = f"{CASE}  evaluators:\n  - {all_of}\n"
    (found,) = evaluators(text)
    assert isinstance(found, CompositeSpec)
    assert found.weight == 1.0
    assert found.aggregator == expected(span=at(text)(written))


NOT_REFUND = partial(
    Assertion, id="", text="Does not contain `refund`", key="contains", value="refund", negated=True
)
WEIGHED: dict[str, Any] = {"weight": 2.0, "tags": ("tone",)}
RANGES = ScoreRange(low=0, high=4, text="thin"), ScoreRange(low=5, high=10, text="deep")
LEVELS = Level(level=1, text="cold"), Level(level=3, name="Good", text="warm")
SEVERITIES = Choice(name="none", score=0.0), Choice(name="a lot", score=1.0, text="Half of it")
OBJECT = partial(
    Assertion, id="a", text="Is an object", key="json_schema", value={"type": "object"}
)
CRITERIA: dict[str, tuple[str, Callable[..., Criterion]]] = {
    "check": (
        "{id: c, expected_outcome: Is kind, weight: 2, required: false, tags: [tone]}",
        partial(Check, id="c", text="Is kind", required=False, **WEIGHED),
    ),
    "check without options": (
        "{id: c, description: Is kind}",
        partial(Check, id="c", text="Is kind", weight=1.0, required=True),
    ),
    "penalty": (
        "{id: f, expected_outcome: Lies, penalty: 3}",
        partial(Check, id="f", text="Lies", weight=3.0, required=False, fault=True),
    ),
    "penalty as a negative weight": (
        "{id: f, expected_outcome: Lies, weight: -3, required: true}",
        partial(Check, id="f", text="Lies", weight=3.0, fault=True),
    ),
    "a condition that the judge decides": (
        "{id: c, expected_outcome: Is kind, applies_if: It is Monday}",
        partial(Check, id="c", text="Is kind", applies_if=ByJudge(text="It is Monday")),
    ),
    "a condition that an assertion decides": (
        "{id: c, expected_outcome: Is kind, applies_if: {contains: refund, not: true}}",
        lambda span: Check(
            id="c", text="Is kind", applies_if=ByAnswer(assertion=NOT_REFUND(span=span)), span=span
        ),
    ),
    "choices": (
        "{id: d, choices: {refund: 1, refuse: 0}, required_choices: [refund]}",
        partial(
            Chosen,
            id="d",
            choices=(Choice(name="refund", score=1.0), Choice(name="refuse", score=0.0)),
            required_choices=("refund",),
        ),
    ),
    "choices that are severities": (
        (
            "{id: d, expected_outcome: Lies, penalty: 2, required: true, choices: "
            "[{choice: none, score: 0}, {choice: a lot, score: 1, criteria: Half of it}]}"
        ),
        partial(
            Chosen, id="d", text="Lies", weight=2.0, choices=SEVERITIES, required=True, fault=True
        ),
    ),
    "score": (
        (
            "{id: s, expected_outcome: Depth, weight: 2, required_min_score: 3, tags: [tone], "
            "score_ranges: {0: thin, 5: deep}}"
        ),
        partial(Scored, id="s", text="Depth", ranges=RANGES, required_min_score=3, **WEIGHED),
    ),
    "level": (
        (
            "{id: l, expected_outcome: Warmth, weight: 2, required_min_level: 3, tags: [tone], "
            "levels: {1: cold, 3: {name: Good, criteria: warm}}}"
        ),
        partial(Levelled, id="l", text="Warmth", levels=LEVELS, required_min_level=3, **WEIGHED),
    ),
    "assertion": (
        "{contains: Hello}",
        partial(Assertion, id="rubric-1", text="Contains `Hello`", key="contains", value="Hello"),
    ),
    "assertion with everything": (
        (
            "{id: a, equals: red, not: true, ignore_case: true, field: shop.item, weight: 2, "
            "required: false, tags: [tone]}"
        ),
        partial(
            Assertion,
            id="a",
            text="Field `shop.item` does not equal `red`",
            required=False,
            key="equals",
            value="red",
            negated=True,
            ignore_case=True,
            field="shop.item",
            **WEIGHED,
        ),
    ),
    "assertion with words of its own": (
        "{id: a, is_json: true, description: Can be parsed}",
        partial(Assertion, id="a", text="Can be parsed", key="is_json", value=True),
    ),
    "assertion by a schema": (
        "{id: a, json_schema: {type: object}, description: Is an object}",
        OBJECT,
    ),
    "assertion by the file of a schema": (
        "{id: a, json_schema: schemas/object.json, description: Is an object}",
        OBJECT,
    ),
}


@pytest.mark.parametrize(("written", "expected"), CRITERIA.values(), ids=CRITERIA)
def test_a_criterion(written: str, expected: Callable[..., Criterion]) -> None:
    text = f"{CASE}  rubrics:\n  - {written}\n"
    (found,) = evaluators(text)
    assert isinstance(found, RubricSpec)
    assert (found.name, found.span) == ("rubric", at(text)("rubrics"))
    assert found.rubric.criteria == (expected(span=found.rubric.criteria[0].span),)


CONDITIONS = """\
vars: {language: de}
evalcases:
- id: case-1
  input: q
  tags: [formal]
  rubrics:
  - {id: refuses, expected_outcome: Refuses}
  - {id: why, expected_outcome: Says why, applies_if: {criterion: refuses, is: true}}
  - {id: polite, expected_outcome: Says Sie, applies_if: {tag: formal}}
  - {id: casual, expected_outcome: Says du, applies_if: {tag: casual}}
  - {id: german, expected_outcome: Is German, applies_if: {var: language, equals: de}}
  - {id: english, expected_outcome: Is English, applies_if: {var: language, equals: en}}
"""


def test_tags_and_variables_decide_when_the_file_is_read() -> None:
    (found,) = evaluators(CONDITIONS)
    assert isinstance(found, RubricSpec)
    assert [each.id for each in found.rubric] == ["refuses", "why", "polite", "german"]
    conditions = [each.applies_if for each in found.rubric]
    assert conditions == [None, ByMark(criterion="refuses", mark=True), None, None]


def test_a_case_to_which_nothing_applies_has_no_evaluators() -> None:
    text = f"{CASE}  rubrics: [{{expected_outcome: Is kind, applies_if: {{tag: t}}}}]\n"
    loaded = load("evals/suite.yaml", text, lookup())
    assert loaded.eval_file is not None
    (case,) = loaded.eval_file.cases
    assert (case.evaluators, case.inapplicable) == ((), True)


SEEING = "rubrics: {sees: [answer, files], criteria: [Is short]}\n"
SEEING_LONG = SEEING.replace("short", "long")
SEEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "the answer": (f"{CASE}  rubrics: [Is short]\n", ("answer",)),
    "the answer, as a mapping": (f"{CASE}  rubrics: {{criteria: [Is short]}}\n", ("answer",)),
    "of a case": (f"{CASE}  {SEEING}", ("answer", "files")),
    "of the suite": (f"{SEEING}{CASE}", ("answer", "files")),
    "of the case alone": (f"{SEEING_LONG}{CASE}  rubrics: [Is short]\n", ("answer",)),
}


@pytest.mark.parametrize(("text", "sees"), SEEN.values(), ids=SEEN)
def test_what_the_judge_of_rubrics_sees(text: str, sees: tuple[str, ...]) -> None:
    (found,) = evaluators(text)
    assert isinstance(found, RubricSpec)
    assert (found.name, found.sees) == ("rubric", sees)
    (criterion,) = found.rubric.criteria
    assert (criterion.id, criterion.span) == ("rubric-1", at(text)("Is short"))


def test_rubrics_of_a_turn_are_an_evaluator_of_their_own() -> None:
    text = f"{CASE}  turns:\n  - one\n  - {{input: two, rubrics: [Is short, Is warm]}}\n"
    (found,) = evaluators(text)
    span = at(text)
    assert found == RubricSpec(
        name="turn-2",
        turn=2,
        rubric=Rubric(
            (
                Check(id="turn-2/rubric-1", text="Is short", span=span("Is short")),
                Check(id="turn-2/rubric-2", text="Is warm", span=span("Is warm")),
            )
        ),
        span=span("rubrics"),
    )


FAST = "evaluators: [{name: fast, type: latency, threshold: 5}]\n"
SHORT = CASE.replace("expected_outcome: ok", "note: n")
OUTCOME = CASE.replace("expected_outcome", "outcome")
SUITE_JUDGE = "evaluator: llm_judge\n"
DEFAULT = "llm_judge"

ORIGINS: dict[str, tuple[str, str, str, str]] = {
    "of the case": (f"{CASE}  {FAST}", "none", "fast", "fast"),
    "of its execution": (f"{CASE}  execution:\n    {FAST}", "none", "fast", "fast"),
    "of the suite": (f"execution:\n  {FAST}{CASE}", "none", "fast", "fast"),
    "before the default": (f"execution:\n  {FAST}{CASE}", DEFAULT, "fast", "fast"),
    "the suite's judge": (f"{SUITE_JUDGE}{CASE}", "none", "llm_judge", "llm_judge"),
    "the suite's judge, no outcome": (f"{SUITE_JUDGE}{SHORT}", DEFAULT, "llm_judge", "llm_judge"),
    "the default": (CASE, DEFAULT, "llm_judge", "case-1"),
    "the default, a short key": (OUTCOME, DEFAULT, "llm_judge", "case-1"),
}


@pytest.mark.parametrize(("text", "default", "name", "word"), ORIGINS.values(), ids=ORIGINS)
def test_where_a_case_has_its_evaluator(text: str, default: str, name: str, word: str) -> None:
    (found,) = evaluators(text, default)
    assert (found.name, found.span) == (name, at(text)(word))


NONE: dict[str, tuple[str, str]] = {
    "no default": (CASE, "none"),
    "the default needs an outcome": (SHORT, DEFAULT),
    "the suite has another type": (f"evaluator: rubric\n{CASE}", DEFAULT),
}


@pytest.mark.parametrize(("text", "default"), NONE.values(), ids=NONE)
def test_a_case_without_evaluators_is_not_graded(text: str, default: str) -> None:
    loaded = load(
        "evals/suite.yaml", text, lookup(), rules={"case-empty": "off"}, default_evaluator=default
    )
    assert loaded.eval_file is not None
    assert loaded.eval_file.cases[0].evaluators == ()
