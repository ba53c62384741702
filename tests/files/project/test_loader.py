"""Eval files to cases: aliases and short forms of the documents' examples, normalised."""

from collections.abc import Mapping
from textwrap import dedent, indent

import pytest

from rubric_ci.files.project.loader import load
from rubric_ci.parts.graders.usage_limits import LatencySpec
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import CodeJudgeSpec, CompositeSpec, EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.values.messages import DataPart, FilePart, Message, TextPart
from rubric_ci.values.references import Found, Lookup, NotFound
from rubric_ci.values.rubric import Check, Level, Levelled, Rubric, Scored, ScoreRange


def files(texts: Mapping[str, str]) -> Lookup:
    return lambda name: Found(name, texts[name]) if name in texts else NotFound("no such file")


def cases(text: str, **texts: str) -> tuple[EvalCase, ...]:
    renamed = {name.replace("__", "/").replace("_md", ".md"): t for name, t in texts.items()}
    loaded = load("evals/suite.yaml", dedent(text), files(renamed))
    assert loaded.diagnostics == ()
    assert loaded.eval_file is not None
    return loaded.eval_file.cases


def rubric(criteria: str) -> Rubric:
    text = "evalcases:\n- id: a\n  input: q\n  rubrics:\n" + indent(dedent(criteria), "  ")
    (case,) = cases(text)
    (spec,) = case.evaluators
    assert isinstance(spec, RubricSpec)
    return spec.rubric


def test_texts_and_objects_without_ranges_and_levels_are_checks() -> None:
    criteria = rubric("""\
      - Names the approach
      - id: headings
        expected_outcome: Has headings
        weight: 1.5
        required: false
      - {id: codes, description: Covers every code, weight: 2}
    """)
    assert [(c.id, c.text, c.weight, c.required) for c in criteria if isinstance(c, Check)] == [
        ("rubric-1", "Names the approach", 1.0, True),
        ("headings", "Has headings", 1.5, False),
        ("codes", "Covers every code", 2.0, True),
    ]


RANGES = (
    ScoreRange(low=0, high=2, text="wrong"),
    ScoreRange(low=3, high=6, text="partly right"),
    ScoreRange(low=7, high=10, text="right"),
)


@pytest.mark.parametrize(
    "written",
    [
        """\
        - score_range: [0, 2]
          expected_outcome: wrong
        - {score_range: [7, 10], description: right}
        - {score_range: [3, 6], expected_outcome: partly right}
        """,
        """\
        0: wrong
        3: partly right
        7: right
        """,
        """\
        7: right
        "3": partly right
        0: wrong
        """,
    ],
    ids=["list in any order", "map of lower bounds", "map in any order"],
)
def test_score_ranges(written: str) -> None:
    block = indent(dedent(written), "    ")
    (scored,) = rubric(f"- required_min_score: 7\n  weight: 2.0\n  score_ranges:\n{block}")
    assert scored == Scored(
        id="rubric-1", weight=2.0, ranges=RANGES, required_min_score=7, span=Span(5, 5, 5, 23)
    )


@pytest.mark.parametrize(
    "written",
    [
        """\
        - {level: 3, name: Good, criteria: thorough}
        - {level: 1, expected_outcome: thin}
        """,
        """\
        3: {name: Good, criteria: thorough}
        1: thin
        """,
    ],
    ids=["list", "map"],
)
def test_levels(written: str) -> None:
    block = indent(dedent(written), "    ")
    (levelled,) = rubric(f"- id: depth\n  required_min_level: 3\n  levels:\n{block}")
    assert levelled == Levelled(
        id="depth",
        levels=(Level(level=1, text="thin"), Level(level=3, name="Good", text="thorough")),
        required_min_level=3,
        span=Span(5, 5, 5, 7),
    )


def test_kinds_mix_in_one_list() -> None:
    kinds = [c.kind for c in rubric("- text\n- {score_ranges: {0: a}}\n- levels: {1: a, 2: b}\n")]
    assert kinds == ["checklist", "score-range", "levels"]


SUITE = """\
    description: Everything that a case can say
    dataset: all
    execution:
      target: usual
      evaluators:
        - {name: fast, type: latency, threshold: 2000}
    rubrics: [Is polite]
    depends_on: [src/**]
    evalcases:
      - id: inherits
        outcome: Greets
        input: Say hello
        expected_output: Hello!
      - id: own
        expected_outcome: Answers
        input_messages:
          - role: system
            content: Be brief
          - role: user
            name: ann
            content:
              - {type: text, value: Read this}
              - {type: file, value: prompts/task.md}
        expected_messages:
          - role: assistant
            tool_calls: [{tool: search, input: {query: x}}]
          - role: assistant
            content: {risk: low, on: 2024-01-01}
        rubrics: [Is right]
        target: older
        tags: [smoke]
        conversation_id: thread
        note: one
        notes: [two, three]
        metadata: {owner: me, since: 2024-01-01, ratio: 1:30}
        depends_on: [prompts/*.md]
        x-anything: [1]
        execution:
          evaluators:
            - name: syntax
              type: code_judge
              script: [python, check.py]
              cwd: ../scripts
              timeout_seconds: 5
              env: [HOME]
              strict: true
              config: {level: 2}
            - {name: free, type: llm_judge, weight: 0.5, prompt: prompts/task.md, model: m}
            - {name: inline, type: llm_judge, prompt: "Score {{ candidate_answer }}"}
            - {name: marks, type: llm_judge, rubrics: [Is short]}
"""


def test_a_case_inherits_from_its_suite() -> None:
    case, _ = cases(SUITE, prompts__task_md="Do it {{ answer }}")
    assert case.input_messages == (Message(role="user", parts=(TextPart("Say hello"),)),)
    assert case.reference_answer == "Hello!"
    assert case.expected_outcome == "Greets"
    assert case.target == "usual"
    assert case.depends_on == ("src/**",)
    inline, fast = case.evaluators
    assert (inline.name, inline.type, fast.name) == ("rubric", "rubric", "fast")
    assert isinstance(fast, LatencySpec)
    assert fast.threshold_ms == 2000


def test_messages_of_the_suite_come_first() -> None:
    text = """\
        messages:
          - {role: system, content: [{type: file, value: prompts/task.md}]}
        evalcases:
          - {id: a, input: Say hello, rubrics: [Greets]}
          - {id: b, input: [{role: user, content: Bye}], rubrics: [Greets]}
        """
    first, second = cases(text, prompts__task_md="Be brief")
    shared = Message(role="system", parts=(FilePart("prompts/task.md", "Be brief"),), in_list=True)
    said = (TextPart("Say hello"),)
    assert first.input_messages == (shared, Message(role="user", parts=said))
    assert second.input_messages == (shared, Message(role="user", parts=(TextPart("Bye"),)))
    assert second.references == ("prompts/task.md",)


def test_variables_are_replaced_in_texts_of_messages() -> None:
    text = """\
        vars: {shop: Corner, city: Rome}
        messages:
          - {role: system, content: "You sell for {{ shop }}."}
        evalcases:
          - id: a
            vars: {city: Oslo, item: {name: Kettle}}
            input:
              - role: user
                content:
                  - {type: text, value: "{{ item.name }} in {{ city }}?"}
                  - {type: file, value: prompts/task.md}
            expected_output: "Yes, in {{ city }}."
            rubrics: [Greets]
          - {id: b, raw: true, input: "What is {{ x }} in {{ city }}?", rubrics: [Greets]}
        """
    first, second = cases(text, prompts__task_md="{{ kept }}")
    assert [message.text for message in first.input_messages] == [
        "You sell for Corner.",
        "Kettle in Oslo?\n\n{{ kept }}",
    ]
    assert first.reference_answer == "Yes, in Oslo."
    assert first.vars == {"shop": "Corner", "city": "Oslo", "item": {"name": "Kettle"}}
    assert [message.text for message in second.input_messages] == [
        "You sell for Corner.",
        "What is {{ x }} in {{ city }}?",
    ]


ITEMS = ["kettle", "scarf"]
TEMPLATES = {
    "a text with a variable": ("input: 'May I return the {{ item }}?'", True),
    "messages": (
        "input: [{role: user, content: [{type: text, value: 'Return {{ item }}'}]}]",
        True,
    ),
    "turns": ("input: Hi\n    turns: ['Return {{ item }}']", True),
    "a variable alone": ("input: ' {{ item }} '", False),
    "a text without one": ("input: May I return it?", False),
    "a raw text": ("raw: true\n    input: 'May I return the {{ item }}?'", False),
}


@pytest.mark.parametrize(("question", "shared"), TEMPLATES.values(), ids=TEMPLATES)
def test_rows_of_one_template_are_known(question: str, shared: bool) -> None:
    rows = "".join(
        f"  - id: {item}\n    {question}\n    vars: {{item: {item}}}\n" for item in ITEMS
    )
    other = "  - {id: other, input: 'Is {{ item }} sold?', vars: {item: tea}}\n"
    one, two, third = cases(f"rubrics: [Is kind]\nevalcases:\n{rows}{other}")
    assert one.template == two.template != third.template
    assert bool(one.template) == shared


def test_variables_are_not_replaced_in_names_of_a_criterion() -> None:
    text = "evalcases: [{id: a, input: Hi, rubrics: [{id: '{{x}}', tags: ['{{y}}'], contains: b}]}]"
    [case] = cases(text)
    [spec] = case.evaluators
    assert isinstance(spec, RubricSpec)
    [criterion] = spec.rubric
    assert (criterion.id, criterion.tags) == ("{{x}}", ("{{y}}",))


def test_a_case_overrides_its_suite() -> None:
    _, case = cases(SUITE, prompts__task_md="Do it {{ answer }}", **{"../scripts/check.py": ""})
    assert case.question == "[system]\nBe brief\n\n[user]\nRead this\n\nDo it {{ answer }}"
    assert case.input_messages[1].parts[1] == FilePart("prompts/task.md", "Do it {{ answer }}")
    assert case.expected_messages[0].tool_calls == ({"tool": "search", "input": {"query": "x"}},)
    assert case.expected_messages[1].parts == (DataPart({"risk": "low", "on": "2024-01-01"}),)
    assert case.target == "older"
    assert case.tags == ("smoke",)
    assert case.conversation_id == "thread"
    assert case.note == "one\ntwo\nthree"
    assert case.metadata == {"owner": "me", "since": "2024-01-01", "ratio": 90}
    assert case.depends_on == ("src/**", "prompts/*.md")
    assert case.references == ("prompts/task.md", "../scripts/check.py")


def test_evaluators_of_a_case() -> None:
    _, case = cases(SUITE, prompts__task_md="Do it {{ answer }}")
    inline, syntax, free, text, marks = case.evaluators
    assert isinstance(inline, RubricSpec)
    assert [criterion.text for criterion in inline.rubric] == ["Is right"]
    assert syntax == CodeJudgeSpec(
        name="syntax",
        script=("python", "check.py"),
        cwd="scripts",
        timeout_seconds=5.0,
        env=("HOME",),
        config={"strict": True, "level": 2},
        span=Span(40, 17, 40, 23),
    )
    assert free == LlmJudgeSpec(
        name="free",
        weight=0.5,
        prompt="Do it {{ answer }}",
        prompt_path="prompts/task.md",
        model="m",
        span=Span(48, 18, 48, 22),
    )
    assert isinstance(text, LlmJudgeSpec)
    assert text.prompt == "Score {{ candidate_answer }}"
    assert isinstance(marks, RubricSpec)
    assert marks.type == "llm_judge"


def test_the_gate_of_a_composite_has_the_decimals_of_a_score() -> None:
    (case,) = cases("""\
        evalcases:
          - id: a
            input: q
            evaluators:
              - name: whole
                type: composite
                aggregator: {type: weighted_average}
                required_min_score: 0.3333333333
                evaluators: [{name: fast, type: latency, threshold: 9}]
    """)
    (spec,) = case.evaluators
    assert isinstance(spec, CompositeSpec)
    assert spec.required_min_score == round(1 / 3, 6)


def test_a_suite_evaluator_serves_cases_that_have_nothing_else() -> None:
    text = """\
    evaluator: llm_judge
    evalcases:
      - {id: a, input: q}
      - {id: b, input: q, rubrics: [r]}
    """
    assert [e.type for case in cases(text) for e in case.evaluators] == ["llm_judge", "rubric"]


def test_json_lines_with_a_sidecar() -> None:
    lines = '{"id": "a", "input": "q"}\n\n{"id": "b", "input": "q", "rubrics": ["own"]}\n'
    sidecar = "description: d\nexecution: {target: t}\nrubrics: [shared]\n"
    loaded = load("evals/set.jsonl", lines, files({}), sidecar)
    assert loaded.diagnostics == ()
    assert loaded.eval_file is not None
    assert loaded.eval_file.dataset == "set"
    found = [
        (case.id, case.span.line, case.target, criterion.text)
        for case in loaded.eval_file.cases
        for spec in case.evaluators
        if isinstance(spec, RubricSpec)
        for criterion in spec.rubric
    ]
    assert found == [("a", 1, "t", "shared"), ("b", 3, "t", "own")]


SIDECARS = {
    "a broken one with an anchor": (
        '{"id": 5, "input": "q", "rubrics": ["r"]}',
        "x: &a b: c",
        "jsonl: not-text, yaml: yaml-syntax",
    ),
    "one with an alias": (
        '{"id": 5, "input": "q"}',
        "evalcases: [&a {id: *a}]",
        "jsonl: case-empty, jsonl: not-text, yaml: unknown-key, yaml: yaml-alias",
    ),
    "one that is odd, and no lines": (
        *("", "a: b\u2028"),
        "jsonl: yaml-empty, yaml: yaml-line-break",
    ),
}


@pytest.mark.parametrize(("lines", "sidecar", "expected"), SIDECARS.values(), ids=SIDECARS)
def test_a_sidecar_with_faults_of_its_own(lines: str, sidecar: str, expected: str) -> None:
    loaded = load("evals/a.jsonl", lines, files({}), sidecar)
    assert loaded.eval_file is None
    found = (f"{d.file.removeprefix('evals/a.')}: {d.rule}" for d in loaded.diagnostics)
    assert ", ".join(found) == expected


def test_every_problem_is_reported_in_order() -> None:
    text = """\
    evalcases:
      - id: 1
        input: [{role: user, content: [{type: file, value: gone.md}]}]
        rubric: [a]
    """
    loaded = load("a.yaml", dedent(text), files({}))
    assert loaded.eval_file is None
    found = [(d.span.line, d.span.column, d.rule, d.message, d.hint) for d in loaded.diagnostics]
    assert found == [
        (2, 9, "not-text", "`id` must be text; `1` reads as a number", 'quote it: "1"'),
        (
            3,
            56,
            "file-missing",
            "`gone.md`: no such file",
            "paths are resolved from the eval file's folder, then from its parent folders",
        ),
        (4, 5, "unknown-key", "unknown key `rubric` in the case", "did you mean `rubrics`?"),
    ]
