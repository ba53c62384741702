"""A file of another tool with a value of a wrong type, or without it, breaks no dialect."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import pytest

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.dialects import (
    agent_skills,
    agentv,
    agentv_targets,
    github_models,
    openai_evals,
    promptfoo,
)
from rubric_ci.parts.bring.translation import Beside, Translation
from rubric_ci.values.problems import Path
from tests.files.changed import changed
from tests.parts.bring.dialects.test_agentv_graders import SCORED
from tests.parts.bring.dialects.test_table import AGENTV, FIVE, MORE, SKILL
from tests.parts.bring.test_import import CODE, PROMPTFOO

BESIDE = Beside()
PROVIDERS = """\
providers:
  - {id: cli, label: a, command: b, cwd: c, healthcheck: {command: d, cwd: e}, workers: 2}
  - {id: cli, label: a, healthcheck: {url: d}, config: {command: b, runtime: {mode: host}}}
  - {id: openai, label: a, api_format: responses, model: "{{ env.A }}", base_url: b}
  - {"openai:chat:b": {label: a, grader_target: b}}
  - "exec:node a.js"
"""
JUNK: list[Any] = [
    *(None, 3, True, "x", "file://a", [], {}, [1], ["a"], {"a": 1}, 1.5, [{}], [[]]),
    *({"type": None}, "{{ a.b }}"),
]
CALLS = """\
tests:
  - id: a
    input: b
    assert:
      - {type: trajectory:tool-used, value: {name: a, min: 2}}
      - {type: trajectory:tool-sequence, value: {mode: exact, steps: [a, {name: b}]}}
      - {type: trajectory:tool-args-match, value: {name: a, args: {b: [1]}}}
      - {type: execution-metrics, max_tokens: 1, max_tool_calls: 2}
      - {type: field-accuracy, fields: [{path: a, match: exact}]}
      - {type: assert-set, assert: [{type: llm-rubric, value: [{outcome: a}]}]}
      - {type: tool-trajectory, mode: exact, expected: [{tool: a}]}
      - {type: script, command: [a], config: {b: 1}, required: false}
"""
EXPORT = """\
testing_criteria:
  - type: string_check
    operation: eq
    input: "{{ sample.output_text }}"
    reference: "{{ item.x }}"
data_source:
  source: {content: [{item: {x: y, input: a}}]}
  input_messages: {template: [{role: user, content: "{{ item.x }}"}]}
"""
PROMPT = """\
messages: [{role: user, content: a}]
testData: [{input: a, expected: b, tone: c}]
evaluators: [{name: a, string: {equals: "{{expected}}"}}]
"""


def paths(data: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value but the whole."""
    listed = dict(enumerate(data)) if isinstance(data, list) else data
    for step, value in listed.items() if isinstance(listed, dict) else ():
        yield (*path, step)
        yield from paths(value, (*path, step))


def exported(data: Any) -> Translation:
    return openai_evals.translate(data, BESIDE, "a.json")


def prompted(data: Any) -> Translation:
    return github_models.translate(data, BESIDE, "a.prompt.yml")


Dialect: TypeAlias = tuple[str, Callable[[Any], bool], Callable[[Any], Translation]]
DIALECTS: Sequence[Dialect] = (
    *((text, agentv.matches, agentv.translate) for text in (AGENTV, FIVE, MORE, SCORED, CALLS)),
    (SKILL, agent_skills.matches, agent_skills.translate),
    *((text, promptfoo.matches, promptfoo.translate) for text in (CODE, PROMPTFOO)),
    (EXPORT, openai_evals.matches, exported),
    (PROMPT, github_models.matches, prompted),
)


def in_turn(number: int) -> Iterator[Any]:
    """Yield two of the values, and none."""
    yield from (JUNK[number % len(JUNK)], JUNK[(number + 5) % len(JUNK)], ...)


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.deep)], ids=["a few at each", "every"]
)
@pytest.mark.parametrize(("text", "matches", "translate"), DIALECTS)
def test_each_value(
    text: str,
    matches: Callable[[Any], bool],
    translate: Callable[[Any], Translation],
    *,
    every: bool,
) -> None:
    data = Document("", text).data
    assert matches(data)
    for number, path in enumerate(paths(data)):
        for value in (*JUNK, ...) if every else in_turn(number):
            assert not breaks(changed(data, path, value), matches, translate), path
    assert data == Document("", text).data


def breaks(
    made: Any, matches: Callable[[Any], bool], translate: Callable[[Any], Translation]
) -> bool:
    """Return True for data that is of this dialect and gives no list of cases."""
    return matches(made) and not isinstance(translate(made).data.get("evalcases"), list)


def test_each_value_of_providers() -> None:
    data = Document("", PROVIDERS).data
    for path in paths(data):
        for value in (*JUNK, ...):
            made = changed(data, path, value)
            assert isinstance(agentv_targets.translate_providers(made).data["targets"], list), path
