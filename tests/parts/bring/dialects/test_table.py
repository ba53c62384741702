"""Files of other tools as our cases, and problems at the lines of those files."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.files.project.loader import Loaded, load
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import WorkingTree
from rubric_ci.files.yaml_text.source import dialect_of, open_source
from rubric_ci.values.evals import EvalCase, RubricSpec, TrialRule
from rubric_ci.values.references import Found, NotFound
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.tables import rows

SKILL = """\
{
  "skill_name": "refunds",
  "evals": [
    {
      "id": 1,
      "prompt": "How long?",
      "expected_output": "Names 30 days.",
      "expectations": ["Says 30 days.", "Is polite."],
      "files": ["SKILL.md"]
    },
    {"id": "b", "prompt": "Hi", "expected_output": "Greets."},
    {"prompt": "Hi", "assertions": [{"name": "greets", "description": "Says hello."}]}
  ]
}
"""
AGENTV = """\
name: shop
execution: {target: llm}
assertions:
  - Is polite
tests:
  - id: refund
    criteria: Answers
    input: How long?
    expected_output: 30 days
    assertions:
      - {type: icontains, value: Days, required: true}
      - {type: contains, value: sorry, negate: true}
      - type: rubrics
        weight: 2
        criteria:
          - {id: period, outcome: Names the period, weight: 3, required: true}
          - {id: tone, outcome: Is kind}
      - {type: regex, value: '\\d+ days', flags: i}
      - {type: latency, threshold: 2000}
"""
FIVE = """\
prompts: ["{{ input }}"]
providers: [llm]
tests:
  - id: a
    vars: {input: Say hi, expected_output: Hi}
    assert: [Greets, {type: llm-rubric, value: Is short}]
"""


def lookup(name: str) -> Found | NotFound:
    return Found(name, "# Refunds") if name == "SKILL.md" else NotFound("no such file")


def loaded(text: str, name: str = "evals/evals.json") -> Loaded:
    return load(name, text, lookup)


def cases(text: str, name: str = "evals/evals.json") -> tuple[EvalCase, ...]:
    found = loaded(text, name)
    assert found.eval_file, found.diagnostics
    return found.eval_file.cases


def criteria(case: EvalCase) -> list[tuple[Any, ...]]:
    """Return text or check, weight and gate of each criterion of the rubric."""
    (spec,) = (spec for spec in case.evaluators if isinstance(spec, RubricSpec))
    return [(each.text, each.weight, getattr(each, "required", None)) for each in spec.rubric]


def test_agent_skills() -> None:
    first, second, third = cases(SKILL)
    assert (first.id, second.id, third.id) == ("1", "b", "3")
    assert first.expected_outcome == "Names 30 days."
    assert first.question == "How long?\n\n# Refunds"
    assert criteria(first) == [("Says 30 days.", 1.0, True), ("Is polite.", 1.0, True)]
    assert criteria(second) == [("Greets.", 1.0, True)]
    assert criteria(third) == [("Says hello.", 1.0, True)]
    assert [case.span.line for case in (first, second)] == [5, 11]


SKILLS = """
# names of Claude's documentation
{skill_name: a, cases: [{query: Hi, expected_behavior: [Greets, Asks], command: /hi}]}
=> {id: '1', input: Hi, metadata: {command: /hi}, rubrics: [Greets, Asks]}
# types of assertions and keys that describe
{version: '2', evals: [{prompt: 'Fill {{ name }}', slug: a, tier: 1, assertions: [{description:
    Greets, text: greet, type: must_pass}, {description: Asks, type: should_pass}, {name: plain,
    description: No markup, type: not_contains, value: '**'}, {text: Names a day, type: regex,
    value: '[0-9]+ days'}, {text: Is short, type: output}]}]}
=> {id: '1', input: 'Fill {{ name }}', metadata: {slug: a, tier: 1}, rubrics: [{expected_outcome:
   Greets}, {expected_outcome: Asks, required: false}, {expected_outcome: No markup, contains: '**',
   not: true}, {expected_outcome: Names a day, matches: '[0-9]+ days'}, {expected_outcome: Is
   short}]}
# whether the skill is used
{skill_name: a, evals: [{prompt: Hi, expected_output: Greets., should_trigger: false}, {prompt: b,
    should_trigger: true}]}
=> {id: '1', input: Hi, expected_outcome: Greets., rubrics: [Greets., {skill_used: a, not: true}]}
=> {id: '2', input: b, rubrics: [{skill_used: a}]}
# queries of a named skill
{skill_name: a, queries: [{query: b, should_trigger: false}]}
=> {id: '1', input: b, rubrics: [{skill_used: a, not: true}]}
# a list without a name
[{prompt: Hi, expected_output: Greets.}]
=> {id: '1', input: Hi, expected_outcome: Greets., rubrics: [Greets.]}
# negative expectations
{skill_name: a, evals: [{prompt: Hi, expectations: [Greets], negative_expectations: [Never asks for
    a name, Mentions the price]}]}
=> {id: '1', input: Hi, rubrics: [Greets, Never asks for a name, 'Does not hold: Mentions the
   price']}
# checks without a text
{skill: a, cases: [{prompt: Hi, input: b, checks: [{type: regex, value: '(?i)rate.?limit'}, {type:
    not_contains, value: sudo, name: safe}], assertions: [{text: A, type: qualitative}]}]}
=> {id: '1', input: Hi, rubrics: [{expected_outcome: A}, {matches: '(?i)rate.?limit'}, {contains:
   sudo, not: true}]}
# a prompt by another name
{skill_name: a, evals: [{input: Hi, checks: [{type: regex, value: a}]}]}
=> {id: '1', input: Hi, rubrics: [{matches: a}]}
# braces in a criterion
{skill_name: a, evals: [{prompt: Hi, expectations: ['Writes {{ name }}']}]}
=> {id: '1', input: Hi, rubrics: ['Writes {{ name }}']}
# no name of a skill
{cases: [{prompt: Hi, assertions: [Greets]}]}
=> {id: '1', input: Hi, rubrics: [Greets]}
"""


@pytest.mark.parametrize(("text", "ours"), rows(SKILLS))
def test_agent_skills_become(text: str, ours: list[str]) -> None:
    data = json.dumps(yaml.safe_load(text))
    assert cases(data)
    found = open_source("evals/evals.json", data).data
    assert found["evalcases"] == list(map(yaml.safe_load, ours))
    assert found.get("raw", False) == ("{{" in text)


REPORTED = """
# keys that describe
{evals: [{prompt: Hi, expected_output: Greets, slug: a, tier: 1}]}
=> kept-as-metadata: `slug`, `tier` of the cases: kept as metadata, and not graded
# a script
{evals: [{prompt: Hi, assertions: [{text: a, type: script}]}]}
=> not-supported: `type: script` has no counterpart
# a check
{evals: [{prompt: Hi, assertions: [{text: a, check: {contains_all: [b]}}]}]}
=> not-supported: `check` has no counterpart
# an advice
{evals: [{prompt: Hi, assertions: [{text: a, advisory: true}]}]}
=> not-supported: `advisory` has no counterpart
# keys that may grade or set up
{evals: [{prompt: Hi, expected_output: Greets, expected_files: a, must_have: a, threshold: a,
    context: a, setup: a}]}
=> not-supported: `expected_files` has no counterpart
=> not-supported: `must_have` has no counterpart
=> not-supported: `threshold` has no counterpart
=> not-supported: `context` has no counterpart
=> not-supported: `setup` has no counterpart
# a misspelt key
{evals: [{prompt: Hi, expectation: [Greets]}]}
=> case-empty: the case has neither rubrics nor evaluators nor an `expected_outcome`
=> not-supported: `expectation` has no counterpart, `expectations` has one
# a trigger that is no truth
{skill_name: a, evals: [{prompt: Hi, should_trigger: 'no'}]}
=> case-empty: the case has neither rubrics nor evaluators nor an `expected_outcome`
=> not-supported: `should_trigger` is neither `true` nor `false`
# queries of no skill
[{query: Hi, should_trigger: true}, {query: Hi, should_trigger: true}]
=> case-empty: the case has neither rubrics nor evaluators nor an `expected_outcome`
=> not-supported: `should_trigger` needs `skill_name`, or a `SKILL.md` with a `name` above
=> case-empty: the case has neither rubrics nor evaluators nor an `expected_outcome`
"""


@pytest.mark.parametrize(("text", "problems"), rows(REPORTED))
def test_what_is_reported_about_agent_skills(text: str, problems: list[str]) -> None:
    found = loaded(json.dumps(yaml.safe_load(text)))
    assert [f"{d.rule}: {d.message}" for d in found.diagnostics] == problems
    assert (found.eval_file is None) == any("not-supported" in each for each in problems)


def test_a_list_of_queries_is_about_the_nearest_skill() -> None:
    text = json.dumps([{"query": "Refund?", "should_trigger": True}])
    front = "---\nname: 'refunds'\n---\nname: other\n"
    source = open_source("evals/trigger-eval.json", text, find=lambda name: [Found(name, front)])
    assert source.data["evalcases"] == [
        {"id": "1", "input": "Refund?", "rubrics": [{"skill_used": "refunds"}]}
    ]
    assert source.location(("evalcases", 0, "rubrics", 0), at_key=True).place[:2] == (1, 23)


def test_a_missing_file_stops_its_case_only(repository: Checkout) -> None:
    written = [
        {"prompt": "Read it", "expected_output": "Reads", "files": ["evals/gone.md", "there.md"]},
        {"prompt": "Hi", "assertions": [{"type": "contains", "value": "hello"}]},
    ]
    target = "{name: default, provider: mock, response: hello}"
    repository.commit(
        {
            "evals/evals.json": json.dumps({"skill_name": "a", "evals": written}),
            "there.md": "There.",
            "rubric-ci.yaml": f"judge: {{model: openai/x}}\ntargets: [{target}]\n",
        }
    )
    checked = invoke(repository.root, ENVIRONMENT, "validate", "evals/evals.json")
    assert checked.returncode == 0
    assert checked.stdout.splitlines()[0] == (
        "evals/evals.json:1:91: warning: fixture-missing: `evals/gone.md`: no such file; "
        "add it, or remove it from the case"
    )
    run = invoke(repository.root, {**ENVIRONMENT, "OPENAI_API_KEY": "x"}, "run", "evals/evals.json")
    assert run.returncode == 3, run.stderr
    report = json.loads((repository.root / ".rubric-ci/report.json").read_text("utf-8"))
    assert [(case["outcome"], case["reason"]) for case in report["cases"]] == [
        ("errored", "target default is not started: `evals/gone.md`: no such file"),
        ("graded", "score 1.00 reaches 0.80; no points lost"),
    ]
    assert report["totals"]["calls"] == 0


def test_agentv_4() -> None:
    (case,) = cases(AGENTV, "shop.eval.yaml")
    rubric, latency = case.evaluators
    assert (rubric.weight, latency.weight, latency.type) == (6.0, 1.0, "latency")
    assert criteria(case) == [
        ("Contains `Days`", 1.0, True),
        ("Does not contain `sorry`", 1.0, False),
        ("Names the period", 1.5, False),
        ("Is kind", 0.5, False),
        ("Matches `\\d+ days`", 1.0, False),
        ("Is polite", 1.0, False),
    ]
    assert (case.target, case.expected_outcome, case.reference_answer) == (
        "llm",
        "Answers",
        "30 days",
    )


def test_agentv_5() -> None:
    (case,) = cases(FIVE, "shop.yaml")
    assert (case.question, case.target, case.reference_answer) == ("Say hi", "llm", "Hi")
    assert criteria(case) == [("Greets", 1.0, False), ("Is short", 1.0, False)]


MORE = """\
name: shop
prompts: ["{{ input }}"]
providers: [a, b]
evaluate_options: {repeat: 2, budget_usd: 1}
default_test:
  vars: {tone: kind, shop: {city: Bern}}
  assert: [Is kind]
assert: [{type: llm-rubric}]
tests:
  - id: a
    vars: {input: "Hi from {{ shop.city }}", expected_output: "{{ tone }}"}
    assert: ["Greets {{ shop.city }}"]
  - {id: b, execution: {skip_defaults: true}, vars: {input: Hi, tone: cold}, assert: ["{{ tone }}"]}
"""


def test_variables_defaults_targets_and_trials_of_agentv_5() -> None:
    found = loaded(MORE, "shop.yaml")
    assert found.eval_file
    first, _, second, _ = found.eval_file.cases
    assert (first.id, first.target, first.question, first.reference_answer) == (
        *("a [a]", "a"),
        *("Hi from Bern", "kind"),
    )
    assert first.trials == TrialRule(count=2, passes=1)
    assert criteria(first) == [("Greets Bern", 1.0, False), ("Is kind", 1.0, False)]
    assert criteria(second) == [("cold", 1.0, False)]
    assert [(d.span.line, d.rule, d.message) for d in found.diagnostics if d.rule != "wording"] == [
        (4, "skipped-there", "the limit of the cost of a run is `--max-cost-usd`"),
        (8, "skipped-there", "`llm-rubric` without `value` and `prompt` grades nothing"),
    ]


def test_tests_in_other_files_stand_at_their_lines() -> None:
    files = {
        "more.yaml": "- {id: b, vars: {input: Hi}, assert: [Greets]}\n",
        "lines.jsonl": '{"id": "c", "vars": {"input": "Hi"}, "assert": [{"type": "pi"}]}\n',
    }

    def find(reference: str) -> list[Found | NotFound]:
        name = reference.removeprefix("./")
        return [Found(name, files[name]) if name in files else NotFound("no such file")]

    text = "name: x\ntests: ['file://more.yaml', ./lines.jsonl, gone.yaml, {id: a, input: Hi}]\n"
    source = open_source("a.yaml", text, find=find)
    assert [case["id"] for case in source.data["evalcases"]] == ["b", "c", "a"]
    place = source.location(("evalcases", 0, "rubrics", 0))
    assert (place.file, place.place[:2]) == ("more.yaml", (1, 39))
    assert [(file, problem.line, problem.message) for file, problem in source.text_problems] == [
        ("a.yaml", 2, "`gone.yaml`: no such file"),
        ("lines.jsonl", 1, "the grader `pi` has no counterpart"),
    ]
    assert set(source.texts()) == {"a.yaml", "more.yaml", "lines.jsonl"}


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (
            SKILL.replace('"id": "b",', '"id": "b", "setup": "x",'),
            "evals.json",
            ["11:17 not-supported: `setup` has no counterpart"],
        ),
        (
            SKILL.replace("SKILL.md", "none.md"),
            "evals.json",
            ["9:17 file-missing: `none.md`: no such file"],
        ),
        (
            AGENTV + "      - {type: similar, value: a}\n    workspace: {}\n",
            "a.yaml",
            [
                "20:10 not-supported: the grader `similar` has no counterpart",
                "21:5 not-supported: `workspace` has no counterpart",
            ],
        ),
        (
            AGENTV.replace("target: llm", "threshold: 0.5"),
            "a.yaml",
            ["2:13 not-supported: `gate.thresholds.pass` in rubric-ci.yaml is the limit"],
        ),
        (
            FIVE.replace("providers: [llm]", "providers: [{id: openai}]"),
            "a.yaml",
            ["2:1 not-supported: `providers` has no counterpart unless it lists names of targets"],
        ),
        (
            FIVE.replace("Say hi", "3"),
            "a.yaml",
            ["5:19 not-text: `input` must be text; `3` reads as a number"],
        ),
    ],
    ids=["key", "file", "grader", "threshold", "providers", "type"],
)
def test_a_problem_stands_at_its_line(text: str, name: str, expected: list[str]) -> None:
    found = loaded(text, name)
    assert found.eval_file is None
    assert [f"{d.span.line}:{d.span.column} {d.rule}: {d.message}" for d in found.diagnostics][
        : len(expected)
    ] == expected


@pytest.mark.parametrize(
    "data",
    [
        {"evalcases": [], "tests": [{"id": "a", "input": "b"}]},
        {"tests": [{"vars": {"a": 1}, "assert": []}], "prompts": []},
        {"tests": [{"id": "a", "run": "pytest"}]},
        {"tests": "cases.yaml"},
        {"tests": ["cases.yaml"], "prompts": ["a"], "providers": ["openai:a"]},
        {"tests": "cases.yaml", "prompts": ["a"], "assert": [{"type": "is-json"}]},
        {"tests": ["cases.yaml"], "providers": ["openai:a"], "assert": ["Greets"]},
        {"tests": ["cases.yaml"], "providers": ["llm", "a.js"], "assert": ["Greets"]},
        {"tests": ["cases.yaml"], "providers": ["llm", {"id": "b"}], "assert": ["Greets"]},
        {"tests": ["cases.yaml"], "providers": ["echo"], "assert": ["Greets"]},
        {"tests": ["cases.yaml"], "providers": "file://a.yaml", "assert": ["Greets"]},
        {"tests": ["cases.yaml"], "providers": ["llm"]},
        {"tests": ["cases.yaml"], "providers": [], "assert": ["Greets"]},
        {"tests": [{"id": "a", "input": "hi", "expected": {"contains": ["x"]}}]},
        {"tests": [{"id": "a", "input": {"language": "ts"}}]},
        {"cases": [{"prompt": "a"}]},
        {"evals": [{"name": "a"}]},
        [{"prompt": "a"}],
        "text",
        None,
    ],
)
def test_what_is_no_dialect(data: object) -> None:
    assert dialect_of(data) is None


def test_names_of_targets_next_to_graders_are_no_providers_of_promptfoo() -> None:
    found = dialect_of({"tests": ["a.yaml"], "providers": ["llm-2", "b_c"], "assert": ["Greets"]})
    assert found is not None
    assert found.NAME == "AgentV"


def test_our_own_files_are_as_they_are() -> None:
    source = open_source("a.yaml", "evalcases: [{id: a, input: b}]\n")
    assert source.data == {"evalcases": [{"id": "a", "input": "b"}]}


@pytest.fixture
def repository(checkout: Checkout) -> Checkout:
    checkout.commit(
        {
            "skill/SKILL.md": "# Refunds\n",
            "skill/evals/evals.json": SKILL,
            "shop/suite.yaml": (
                "tests:\n  - {id: a, input: Hi, assertions: "
                "[{type: contains, value: hello}, {type: is-json, negate: true}]}\n"
            ),
            "other/promptfooconfig.yaml": "prompts: [a]\ntests: [{vars: {b: c}}]\n",
            "rubric-ci.yaml": "targets: [{name: default, provider: mock, response: hello}]\n",
        }
    )
    return checkout


def test_a_new_name_of_a_skill_selects_the_queries_about_it(checkout: Checkout) -> None:
    queries = json.dumps([{"query": "Refund?", "should_trigger": True}])
    base = checkout.commit(
        {
            "skills/refunds/SKILL.md": "---\nname: refunds\n---\n",
            "skills/refunds/evals/trigger-eval.json": queries,
            "rubric-ci.yaml": "targets: [{name: default, provider: mock, response: hello}]\n",
        }
    )
    listed = ["run", "skills/refunds/evals/trigger-eval.json", "--changed-since", base, "--list"]
    assert invoke(checkout.root, ENVIRONMENT, *listed).stdout == "0 cases\n"
    checkout.commit({"skills/refunds/SKILL.md": "---\nname: returns\n---\n"})
    assert "the case was edited: rubrics" in invoke(checkout.root, ENVIRONMENT, *listed).stdout


def test_a_search_finds_them_by_their_keys(repository: Checkout) -> None:
    done = invoke(repository.root, ENVIRONMENT, "validate")
    rest = "`rubric-ci import` writes eval files, `adopt` gates results\n"
    not_read = f"not read: 1 file of promptfoo: {rest}"
    assert (done.returncode, done.stdout) == (0, f"3 files checked: no problems\n{not_read}")
    done = invoke(repository.root, ENVIRONMENT, "validate", "shop/suite.yaml")
    assert done.stdout == "1 file checked: no problems\n"
    done = invoke(repository.root, ENVIRONMENT, "run", "--case", "a")
    assert not_read.rstrip() in " ".join(done.stdout.split()), done.stderr
    repository.write({"old/evals.json": "[1]", "a.prompt.yml": "testData: []\nmessages: []\n"})
    done = invoke(repository.root, ENVIRONMENT, "validate", ".")
    assert "not read: 1 file of Agent Skills, 1 file of promptfoo: " in done.stdout


def test_they_are_graded(repository: Checkout) -> None:
    done = invoke(repository.root, ENVIRONMENT, "run", "shop")
    assert done.returncode == 0, done.stdout
    report = json.loads((repository.root / ".rubric-ci/report.json").read_text())
    (case,) = report["cases"]
    assert (case["id"], case["score"], case["file"]) == ("a", 1.0, "shop/suite.yaml")
    assert [each["line"] for each in case["evaluators"][0]["criteria"]] == [2, 2]


@platforms.SHELL
def test_a_script_of_agentv_is_scored_by_its_assertions(repository: Checkout) -> None:
    script = (
        "import json, sys; d = json.load(sys.stdin); print(json.dumps({'assertions': ["
        "{'text': 'greets', 'passed': d['output'] == 'hello'}, "
        "{'text': 'limit', 'passed': d['config']['most'] > 9}]}))"
    )
    grader = {"type": "script", "command": ["python3", "-c", script], "most": 5}
    tests = {"tests": [{"id": "a", "input": "Hi", "assertions": [grader]}]}
    repository.write({"shop/suite.yaml": json.dumps(tests)})
    done = invoke(repository.root, ENVIRONMENT, "run", "shop", "--fail-on", "never")
    assert done.returncode == 0, done.stdout
    report = json.loads((repository.root / ".rubric-ci/report.json").read_text())
    (evaluator,) = report["cases"][0]["evaluators"]
    assert (evaluator["score"], evaluator["hits"], evaluator["misses"]) == (
        0.5,
        ["greets"],
        ["limit"],
    )


def test_a_change_selects_single_cases_of_them(repository: Checkout) -> None:
    path = Path("skill/evals/evals.json")
    repository.write({path.as_posix(): SKILL.replace("Greets.", "Greets back.")})
    options = ("--changed-since", "HEAD", "--list", "--judge", "openai/x")
    done = invoke(repository.root, ENVIRONMENT, "run", *options)
    assert done.stdout.splitlines()[:2] == [
        "skill/evals/evals.json:11  b  default  the case was edited: expected_outcome, rubrics",
        "1 case",
    ]


FOLDER = {
    "skill/evals/evals.json": json.dumps(
        {"evals": [{"id": 1, "prompt": "Fix", "files": ["fixtures/a"], "expected_output": "Ok"}]}
    ),
    "skill/fixtures/a/one.txt": "first\n",
    "skill/fixtures/a/b/two.txt": "second\n",
    "fixtures/a/three.txt": "of another folder\n",
}


def test_a_folder_among_the_files_is_every_file_below_it(repository: Checkout) -> None:
    repository.commit(FOLDER)
    done = invoke(repository.root, ENVIRONMENT, "run", "skill", "--fail-on", "never", "--list")
    assert done.returncode == 0, done.stderr
    found = Project(WorkingTree(root=repository.root)).load("skill/evals/evals.json")
    assert found
    assert found.eval_file, found.diagnostics
    assert found.eval_file.cases[0].question == (
        "Fix\n\nskill/fixtures/a/b/two.txt:\n\nsecond\n\n\nskill/fixtures/a/one.txt:\n\nfirst\n"
    )
    repository.write({"skill/fixtures/a/b/two.txt": "changed\n"})
    options = ("--changed-since", "HEAD", "--list", "--judge", "openai/x")
    done = invoke(repository.root, ENVIRONMENT, "run", *options)
    assert done.stdout.splitlines()[:2] == [
        "skill/evals/evals.json:1  1  default  `skill/fixtures/a/b/two.txt` changed",
        "1 case",
    ]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"skill/fixtures/a/image.png": "\udcff"},
            "a file in the folder `fixtures/a` is not UTF-8 text",
        ),
        (
            {f"skill/fixtures/a/{n}.txt": "a" for n in range(100)},
            "`fixtures/a` has 102 files with 113 characters; at most 100 files",
        ),
        (
            {"skill/fixtures/a/long.txt": "a" * 1_000_000},
            "`fixtures/a` has 3 files with 1,000,013 characters; at most 100 files",
        ),
    ],
    ids=["binary", "many", "long"],
)
def test_a_folder_that_is_not_read_whole_is_refused(
    repository: Checkout, files: dict[str, str], message: str
) -> None:
    repository.commit(FOLDER)
    for name, text in files.items():
        (repository.root / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    done = invoke(repository.root, ENVIRONMENT, "validate", "skill/evals/evals.json")
    assert done.returncode == 1
    assert f"not-supported: {message}" in done.stdout
