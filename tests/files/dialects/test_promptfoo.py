"""promptfoo's configurations as cases: what of transforms, sets and scenarios is taken over."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.files import dialects
from rubric_ci.files.dialects import promptfoo
from rubric_ci.files.dialects.promptfoo_code import SHIMS
from rubric_ci.files.dialects.translation import Beside
from rubric_ci.files.yaml_text.document import Document
from tests import platforms

SHIM = Path(next(iter(dialects.__path__))) / "shims"
NOT_REPLACED = "is not replaced as in promptfoo: no variable of the test, or not a plain one"
REFUSED: dict[str, tuple[str, list[str]]] = {
    "a transform of another kind": (
        "providers: [{id: 'exec:a', transform: {b: c}}]",
        ["providers.0.transform a `transform` is a text"],
    ),
    "a transform in another language": (
        "defaultTest: {options: {transform: 'file://a.rb'}}",
        ["defaultTest.options.transform `a.rb` is no file of JavaScript, TypeScript or Python"],
    ),
    "a transform of one of several providers": (
        "providers: [{id: 'exec:a', transform: output.b}, 'exec:c']",
        ["providers.0.transform the `transform` of one of several providers has no counterpart"],
    ),
    "a judge of a transformed answer": (
        "tests: [{assert: [{type: llm-rubric, value: Kind, transform: output.a}]}]",
        ["tests.0.assert.0.type `llm-rubric` about the result of a `transform` has no counterpart"],
    ),
    "a transform before a judge": (
        "tests: [{options: {transform: output.a}, assert: [{type: llm-rubric, value: Kind}]}]",
        ["tests.0.assert.0.type `llm-rubric` about the result of a `transform` has no counterpart"],
    ),
    "a vars transform": (
        "tests: [{options: {transformVars: a}, assert: [{type: contains, value: b}]}]",
        ["tests.0.options.transformVars `transformVars` has no counterpart"],
    ),
    "scenarios in a file": (
        "scenarios: file://a.yaml",
        ["scenarios `scenarios` in another file is not imported"],
    ),
    "a scenario without a mapping": (
        "scenarios: [{config: [3], tests: [{vars: {a: b}}]}]",
        ["scenarios.0.config.0 a part of `config` is no mapping"],
    ),
    "a key of a scenario": (
        "scenarios: [{config: [{}], tests: [{}], only: true}]",
        ["scenarios.0.only `only` has no counterpart"],
    ),
    "a key of a set": (
        "tests: [{assert: [{type: assert-set, config: {}, assert: [{type: is-json}]}]}]",
        ["tests.0.assert.0.config `config` has no counterpart"],
    ),
    "one report for all tests that share a part": (
        "defaultTest: {assert: [{type: similar, value: a}]}\ntests: [{}, {}]",
        ["defaultTest.assert.0.type the assertion `similar` has no counterpart"],
    ),
    "a threshold of another kind": (
        "tests: [{threshold: high, assert: [{type: is-json}]}]",
        ["tests.0.threshold a threshold is a number"],
    ),
    "a filter": (
        "tests: [{vars: {w: a}, assert: [{type: not-contains, value: '{{ w | upper }}'}]}]",
        [f"tests.0.assert.0.value `{{{{ w | upper }}}}` {NOT_REPLACED}"],
    ),
    "an index": (
        "tests: [{vars: {u: {t: [a]}}, assert: [{type: contains-any, value: ['{{ u.t[0] }}']}]}]",
        [f"tests.0.assert.0.value `{{{{ u.t[0] }}}}` {NOT_REPLACED}"],
    ),
    "a block": (
        "tests: [{assert: [{type: contains, value: '{% if a %}b{% endif %}'}]}]",
        [f"tests.0.assert.0.value `{{% if a %}}` {NOT_REPLACED}"],
    ),
    "a variable that is not set": (
        "tests: [{assert: [{type: llm-rubric, value: 'Names {{ a }}'}]}]",
        [f"tests.0.assert.0.value `{{{{ a }}}}` {NOT_REPLACED}"],
    ),
    "a filter in code": (
        "tests: [{assert: [{type: javascript, value: \"output === '{{ a | lower }}'\"}]}]",
        [f"tests.0.assert.0.value `{{{{ a | lower }}}}` {NOT_REPLACED}"],
    ),
    "a variable in a variable": (
        "tests: [{vars: {a: 'Hi {{b}}', b: c}, assert: [{type: is-json}]}]",
        ["tests.0.vars.a the variable `a` has a template in its value: the case is not imported"],
    ),
    "a prompt by a function": (
        "tests: [{}]\nprompts: ['file://a.py:ask']",
        ["prompts.0 a prompt that is no text or file of text is not imported, nor its cases"],
    ),
}


def translated(text: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the cases, and each report with its path."""
    data = {"prompts": ["{{q}}"], **Document("", text).data}
    found = promptfoo.translate(data, Beside())
    said = [f"{'.'.join(map(str, path))} {message}" for _, path, message in found.problems]
    return found.data["evalcases"], said


@pytest.mark.parametrize(("text", "reports"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_counterpart_is_reported_once(text: str, reports: list[str]) -> None:
    assert translated(text)[1] == reports


def test_a_check_with_a_template_that_is_left_is_no_criterion() -> None:
    checks = "[{type: not-contains, value: '{{ q | upper }}'}, {type: contains, value: '{{q}}'}]"
    cases, _ = translated(
        f"tests: [{{vars: {{q: a}}, assert: {checks}}}, {{vars: {{q: '{{{{r}}}}'}}}}]"
    )
    assert [case["rubrics"] for case in cases] == [[{"contains": "a"}]]


SCENARIOS = """\
scenarios:
  - config: [{description: One, vars: {a: "1"}}, {vars: {a: "2", b: "3"}}]
    tests:
      - {vars: {b: "4"}, assert: [{type: contains, value: "{{a}}{{b}}"}]}
      - {description: Two, assert: [{type: equals, value: "{{a}}"}]}
"""


def test_a_scenario_is_each_configuration_with_each_test() -> None:
    cases, said = translated(SCENARIOS)
    assert said == []
    assert [(case["id"], case["rubrics"]) for case in cases] == [
        ("one", [{"contains": "14"}]),
        ("two", [{"equals": "1"}]),
        ("test-3", [{"contains": "24"}]),
        ("two-2", [{"equals": "2"}]),
    ]


@platforms.SHELL
def test_typescript_runs_or_says_which_node_it_needs(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("export default (output: string): boolean => output === 'a';\n")
    shim = tmp_path / SHIMS["javascript"]
    shutil.copyfile(SHIM / shim.name, shim)
    checks = [{"name": "typed", "value": "file://a.ts"}]
    given = {"output": "a", "question": "q", "config": {"checks": checks, "vars": {}}}
    done = subprocess.run(
        ["node", shim.name],
        input=json.dumps(given),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    native = subprocess.run(
        ["node", "-p", "process.features.typescript ?? ''"], capture_output=True, check=True
    ).stdout.strip()
    if native:
        assert json.loads(done.stdout)["score"] == 1
    else:
        assert done.returncode == 1
        assert "cannot run TypeScript; use node 22.18 or later, or `npm install tsx`" in done.stderr
