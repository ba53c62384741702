"""AgentV's graders as ours, with the scores that AgentV computes."""

import json
from typing import Any

import pytest
import yaml

from rubric_ci.parts.bring.dialects.agentv import translate
from rubric_ci.parts.bring.translation import Beside
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.tables import rows


def translated(grader: Any, **test: Any) -> tuple[list[Any], list[Any], list[str]]:
    """Return the criteria, the evaluators and the problems of one grader."""
    found = translate({"tests": [{"id": "a", "input": "Hi", "assert": [grader], **test}]})
    (case,) = found.data["evalcases"]
    listed = case.get("execution", {}).get("evaluators", [])
    rubrics = case.get("rubrics", [c for e in listed for c in e.get("rubrics", ())])
    others = [each for each in listed if each["type"] != "rubric"]
    return rubrics, others, [f"{rule.id}: {message}" for rule, _, message in found.problems]


PROMPT = {"type": "llm-rubric", "prompt": "file://../refusal.md"}
AFTER = "Refuses?\n\nThe question:\n{{ input }}\n\nThe answer:\n{{ output }}\n"


@pytest.mark.parametrize(
    ("text", "prompt", "problems"),
    [
        (
            "Refuses?\n",
            AFTER,
            [
                (
                    "skipped-there: AgentV skips this test: ../refusal.md does not show the "
                    "answer; here it comes at the end"
                )
            ],
        ),
        ("Refuses? {{ output }}", "../refusal.md", []),
        ("Refuses? {{ criteria }}", "../refusal.md", []),
        (" \n", "../refusal.md", []),
        (None, "../refusal.md", []),
    ],
    ids=["no variable", "answer", "other variable", "empty", "no file"],
)
def test_a_prompt_file_without_answer(text: str | None, prompt: str, problems: list[str]) -> None:
    test = {"id": "a", "input": "Hi", "assert": [PROMPT]}
    found = translate({"tests": [test]}, Beside({"../refusal.md": text}.get))
    (judge,) = found.data["evalcases"][0]["execution"]["evaluators"]
    assert judge == {"name": "llm-judge", "type": "llm_judge", "prompt": prompt}
    assert [f"{rule.id}: {message}" for rule, _, message in found.problems] == problems
    assert all(path == ("tests", 0, "assert", 0, "prompt") for _, path, _ in found.problems)


GRADERS = """
# a tool
{type: 'trajectory:tool-used', value: find}
=> [{never_called: find, not: true, ignore_case: true, required: false}]
# no tool
{type: 'trajectory:tool-used', value: [find], negate: true}
=> [{never_called: find, ignore_case: true, required: false}]
# a tool, inverted
{type: 'not-trajectory:tool-used', value: find}
=> [{never_called: find, ignore_case: true, required: false}]
# a required tool
{type: 'trajectory:tool-used', value: {name: find, min: 1}, required: true}
=> [{never_called: find, not: true, ignore_case: true, required: true}]
# an order
{type: 'trajectory:tool-sequence', value: {steps: [a, {name: b}]}}
=> [{calls_in_order: [a, b], ignore_case: true, required: false}]
# an exact order
{type: 'trajectory:tool-sequence', value: {mode: exact, steps: [a]}}
=> [{calls_exactly: [a], ignore_case: true, required: false}]
# arguments
{type: 'trajectory:tool-args-match', value: {name: find, args: {of: [{id: 3}]}}}
=> [{called_with: {name: find, arguments: {type: object, required: [of], properties: {of: {type:
   array, prefixItems: [{type: object, required: [id], properties: {id: {const: 3}}}], minItems: 1,
   maxItems: 1}}}}, ignore_case: true, required: false}]
# exact arguments
{type: 'trajectory:tool-args-match', value: {name: a, args: {b: 1}, mode: exact}}
=> [{called_with: {name: a, arguments: {const: {b: 1}}}, ignore_case: true, required: false}]
# a prompt
{type: llm-rubric, prompt: Is kind}
=> [{expected_outcome: Is kind, required: false}]
# a contradiction
{type: llm-rubric, value: [{outcome: Blue, operator: contradiction}]}
=> [{weight: 1.0, expected_outcome: 'Makes no claim that contradicts this, or does not mention it:
   Blue', required: false}]
# a set
{type: assert-set, weight: 3, threshold: 0.5, assert: [Kind, {type: contains, value: a, weight: 2}]}
=> [{expected_outcome: Kind, required: false}, {contains: a, required: false, weight: 2.0}]
# a skill
{type: skill-used, value: csv}
=> [{skill_used: csv, required: false}]
# no skill of a list
{type: not-skill-used, value: [csv]}
=> [{skill_used: csv, not: true, required: false}]
# a trigger
{type: skill-trigger, skill: csv}
=> [{skill_used: csv, required: false}]
# no trigger
{type: skill-trigger, skill: csv, should_trigger: false}
=> [{skill_used: csv, not: true, required: false}]
# a pattern of skills
{type: skill_used, value: {pattern: csv*}}
=> [{skill_used: csv*, ignore_case: true, required: false}]
# none of two tools
{type: 'not-trajectory:tool-used', value: [a, b]}
=> [{never_called: [a, b], ignore_case: true, required: false}]
# several calls
{type: 'trajectory:tool-used', value: {name: find, min: 2}, metric: search}
=> []
=> [{name: search, type: tool_trajectory, mode: any_order, minimums: {find: 2}}]
# a limit of calls and one of tokens
{type: execution-metrics, max_tool_calls: 3, max_tokens: 9, weight: 4}
=> [{max_calls: 3, weight: 2.0, required: false}]
=> [{name: token-usage, type: token_usage, weight: 2.0, max_total: 9}]
# a prompt of a program
{type: llm-rubric, prompt: {command: [node, p.js]}}
=> []
=> [{name: llm-judge, type: llm_judge, prompt: {script: [node, p.js]}}]
# a prompt of a program with settings
{type: llm-rubric, prompt: {command: p.sh, config: {strict: true}}}
=> []
=> [{name: llm-judge, type: llm_judge, prompt: {script: p.sh, config: {strict: true}}}]
# fields
{type: field-accuracy, fields: [{path: a, match: exact}]}
=> []
=> [{name: field-accuracy, type: field_accuracy, fields: [{path: a, match: exact}]}]
# calls in order
{type: tool_trajectory, mode: in_order, expected: [{tool: a}]}
=> []
=> [{name: tool-trajectory, type: tool_trajectory, mode: in_order, expected: [{tool: a}]}]
# weights of an aggregator
{type: composite, aggregator: {type: weighted_average, weights: {long: 3}}, assertions: [{type:
    latency, threshold: 5}, {type: latency, threshold: 9, name: long}]}
=> []
=> [{name: latency, type: latency, threshold: 5, weight: 0.25}, {name: long, type: latency,
   threshold: 9, weight: 0.75}]
# how arguments are compared
{type: tool-trajectory, mode: in_order, args_match: ignore, expected: [{tool: a, args: {b: 1}},
    {tool: a, args: {b: 1}, args_match: superset}, {tool: a, args: {b: 1}, args_match: exact}]}
=> []
=> [{name: tool-trajectory, type: tool_trajectory, mode: in_order, expected: [{tool: a, args: any},
   {tool: a, args: {b: 1}}, {tool: a, args: {b: 1}, args_match: exact}]}]
# a required program
{type: code-grader, command: [a], required: true, weight: 2}
=> []
=> [{name: code-grader, type: composite, required_min_score: 0.8, evaluators: [{name: code-judge,
   type: code_judge, script: [a], score_from: output_or_exit_status}], weight: 2.0}]
# a required rubric
{type: rubric, required: 0.5, rubrics: [{outcome: A, weight: 3}, {outcome: B}]}
=> []
=> [{name: rubric, type: composite, required_min_score: 0.5, evaluators: [{name: rubric, type:
   rubric, rubrics: [{expected_outcome: A, weight: 0.75, required: false}, {expected_outcome: B,
   weight: 0.25, required: false}]}]}]
"""


@pytest.mark.parametrize(("grader", "ours"), rows(GRADERS))
def test_a_grader_becomes(grader: str, ours: list[str]) -> None:
    criteria, *evaluators = map(yaml.safe_load, ours)
    assert translated(yaml.safe_load(grader)) == (criteria, *(evaluators or [[]]), [])


SCRIPTS = {
    ".agentv/assertions/min-words.ts": ".agentv/assertions/min-words.ts",
    ".agentv/assertions/has_link.mjs": "shop/.agentv/assertions/has_link.mjs",
}


def by_name(grader: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """Return the evaluators and the problems of a grader where there are scripts by name."""
    suite = {"tests": [{"id": "a", "input": "Hi", "assert": [grader]}]}
    found = translate(suite, Beside(place=SCRIPTS.get))
    case = found.data["evalcases"][0]
    said = [f"{rule.id}: {message}" for rule, _, message in found.problems]
    return case.get("execution", {}).get("evaluators", []), said


BY_NAME = """
# a script
{type: min-words}
=> {name: min-words, script: [bun, run, .agentv/assertions/min-words.ts]}
# another name and weight
{type: has_link, metric: link, weight: 2}
=> {name: link, script: [bun, run, shop/.agentv/assertions/has_link.mjs], weight: 2.0}
# a setting
{type: min-words, least: 3}
=> ! skipped-there: AgentV does not pass `least` to a script that it finds by name
# an inverted script
{type: min-words, negate: true}
=> ! not-supported: `negate` of a script has no counterpart
# a least score
{type: min-words, required: true, min_score: 2}
=> ! not-supported: the least score of a grader is above 0, and at most 1
# a path
{type: ../min-words}
=> ! not-supported: the grader `../min-words` has no counterpart
"""


@pytest.mark.parametrize(("grader", "results"), rows(BY_NAME))
def test_a_script_by_its_name(grader: str, results: list[str]) -> None:
    evaluators, problems = by_name(yaml.safe_load(grader))
    if results[0].startswith("! "):
        assert problems == [results[0][2:]]
    else:
        own = {"type": "code_judge", "cwd": "/", "score_from": "output_or_exit_status"}
        assert (evaluators, problems) == ([{**own, **yaml.safe_load(results[0])}], [])


REPORTED = """
# two skills
{type: skill-used, value: [a, b]}
=> not-supported: this value of `skill-used`
# most of a skill
{type: skill-used, value: {name: a, max: 2}}
=> not-supported: this value of `skill-used` has no counterpart
# two tools
{type: 'trajectory:tool-used', value: [a, b]}
=> not-supported: this value of `trajectory:tool-used` has no
# most of a tool
{type: 'trajectory:tool-used', value: {name: a, max: 3}}
=> not-supported: this value of `trajectory:tool-used`
# a pattern and the least
{type: 'trajectory:tool-used', value: {name: a*, min: 2}}
=> not-supported: this value of `trajectory:tool-used`
# an inverted type
{type: not-contains, value: a}
=> not-supported: the grader `not-contains` has no counterpart; AgentV inverts by
# a variable
Is {{ kind }}
=> not-supported: `{{ kind }}` is not replaced: no variable of the test
# a script that is not there
{type: min-words}
=> not-supported: the grader `min-words` has no counterpart
# another aggregator
{type: composite, assertions: [a], aggregator: {type: threshold, threshold: 0.5}}
=> not-supported: only the mean of a set has a counterpart
# a subset of arguments
{type: tool-trajectory, mode: in_order, expected: [{tool: a, args: {}, args_match: subset}]}
=> not-supported: arguments are compared as `exact`, `superset` or `ignore` only
# an input of a call
{type: tool-trajectory, mode: in_order, expected: [{tool: a, input: 1}]}
=> skipped-there: AgentV ignores `input` of an expected call
# no expected calls
{type: tool-trajectory, mode: subset, expected: []}
=> not-supported: without `expected` there is nothing to compare
# calls that are not listed
{type: tool-trajectory, mode: exact, expected: [{tool: a}]}
=> skipped-there: AgentV ignores calls that `exact` does not list; here each is a miss
# a flag of a pattern
{type: regex, value: '(?i)yes'}
=> not-supported: `(?i` has another meaning in JavaScript than in RE2
# a required member
{type: composite, assertions: [{type: is-json, required: true}]}
=> skipped-there: AgentV ignores `required` of a member of a set
# nothing to ask
{type: llm-rubric}
=> skipped-there: `llm-rubric` without `value` and `prompt` grades
# no criteria
{type: llm-grader}
=> not-supported: a grader without criteria has no
# criteria in a file
{type: llm-rubric, value: 'file://a.md'}
=> not-supported: criteria in another file have no counterpart
# a target
{type: llm-rubric, value: a, target: gpt}
=> not-supported: `target` has no counterpart
"""


@pytest.mark.parametrize(("grader", "problems"), rows(REPORTED))
def test_what_is_reported(grader: str, problems: list[str]) -> None:
    (found,) = translated(yaml.safe_load(grader))[2]
    assert found.startswith(problems[0])


def test_a_grader_without_criteria_takes_those_of_the_test() -> None:
    written = translated({"type": "llm-grader"}, criteria="Greets")[0]
    assert written == [{"expected_outcome": "Greets", "required": False}]


ANSWERS = {"a": "Refunds take 30 Days.\nINV-1234", "b": '{"total": 42}', "c": "  hello world  "}
SCORED = """\
name: scored
assertions:
  - {type: contains, value: sorry, negate: true, weight: 3}
tests:
  - id: a
    input: Hi
    criteria: x
    assertions:
      - {type: contains, value: days}
      - {type: icontains, value: days, weight: 2}
      - {type: contains-any, value: [x, INV]}
      - {type: contains-all, value: [Refunds, INV, zzz]}
      - {type: regex, value: '^inv-\\d+$', flags: i}
      - {type: regex, value: 'INV-\\d{4}'}
      - {type: starts-with, value: 'Refunds '}
      - {type: ends-with, value: '1234'}
      - {type: is-json}
      - {type: contains, value: zzz, negate: true, weight: 0.5}
  - id: b
    input: Hi
    criteria: x
    assertions:
      - {type: is-json, required: true}
      - {type: equals, value: '{"total": 42}'}
      - {type: equals, value: '{"total":42}'}
      - type: composite
        name: set
        aggregator: {type: weighted_average, weights: {total: 7}}
        weight: 4
        assertions:
          - {name: total, type: contains, value: total, weight: 3}
          - {name: other, type: contains, value: nothing}
  - id: c
    input: Hi
    criteria: x
    assertions:
      - {type: equals, value: hello world}
      - {type: starts-with, value: hello}
      - {type: icontains-all, value: [HELLO, bye]}
"""
AGENTV_4_42 = {"a": 0.7037037037037037, "b": 0.85, "c": 0.8333333333333334}
"""The scores of `agentv eval` 4.42.4 for this file and these answers."""


@platforms.SHELL
def test_scores_are_those_of_agentv(checkout: Checkout) -> None:
    answers = [{"id": key, "answer": answer} for key, answer in ANSWERS.items()]
    recorded = "".join(f"{json.dumps(each)}\n" for each in answers)
    target = {"name": "kept", "provider": "recorded", "answers": "answers.jsonl"}
    checkout.write(
        {
            "scored.eval.yaml": SCORED,
            "answers.jsonl": recorded,
            "rubric-ci.yaml": yaml.safe_dump({"targets": [target]}),
        }
    )
    done = invoke(checkout.root, ENVIRONMENT, "run", "--fail-on", "never")
    assert done.returncode == 0, done.stderr
    report = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    found = {case["id"]: case["score"] for case in report["cases"]}
    assert found == pytest.approx(AGENTV_4_42, abs=1e-6)


def test_criteria_keep_ids_that_no_other_has() -> None:
    first = {"type": "rubrics", "criteria": [{"id": "a", "outcome": "x"}, {"outcome": "y"}]}
    second = {"type": "rubrics", "criteria": [{"id": "b", "outcome": "z"}, {"id": "rubric-1"}]}
    tests = [
        {"id": "one", "input": "Hi", "assertions": [first, second]},
        {"id": "two", "input": "Hi", "assertions": [first, first]},
    ]
    cases = translate({"tests": tests}).data["evalcases"]
    assert [[each.get("id") for each in case["rubrics"]] for case in cases] == [
        ["a", None, "b", None],
        [None, None, None, None],
    ]
