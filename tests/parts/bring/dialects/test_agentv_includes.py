"""AgentV's `include` in a list of graders: templates by name, by path, in each other."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from rubric_ci.parts.bring.dialects import agentv
from rubric_ci.parts.bring.translation import Beside
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

SUITE = """\
assertions: [{include: suite}]
tests:
- {id: a, input: Hi, criteria: Greets, assertions: [{include: safe}, Names the time]}
- {id: b, input: Hi, criteria: Greets, execution: {skip_defaults: true}, assertions: [Is short]}
"""
FILES = {
    ".agentv/templates/safe.yaml": (
        "assertions: [{type: contains, value: hello}, {include: ../../shared/polite.yml}]"
    ),
    "shared/polite.yml": "assert: [Is polite]",
    ".agentv/templates/suite.yml": "assertions: [Is true]",
}


def translated(files: Mapping[str, str] = FILES) -> tuple[dict[str, Any], list[str]]:
    found = agentv.translate(yaml.safe_load(SUITE), Beside(files.get, place=lambda name: name))
    return found.data, [message for _, _, message in found.problems]


def test_the_graders_of_templates_stand_at_their_place() -> None:
    data, problems = translated()
    cases = {each["id"]: each["rubrics"] for each in data["evalcases"]}
    assert problems == []
    names = [each.get("expected_outcome", each.get("contains")) for each in cases["a"]]
    assert names == ["hello", "Is polite", "Names the time", "Is true"]
    assert [each["expected_outcome"] for each in cases["b"]] == ["Is short"]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            ".agentv/templates/suite.yml",
            None,
            "`include: suite` names no file: .agentv/templates/suite.yaml",
        ),
        ("shared/polite.yml", "assert: 1", " → shared/polite.yml has no list `assertions`"),
        (
            "shared/polite.yml",
            "assert: [{include: safe}]",
            (
                "`include`: it is a circle: .agentv/templates/safe.yaml → shared/polite.yml → "
                ".agentv/templates/safe.yaml"
            ),
        ),
        (
            "shared/polite.yml",
            "assert: [{include: ./x.yml}]",
            (
                "`include`: AgentV includes 3 deep at most: .agentv/templates/safe.yaml → "
                "shared/polite.yml → shared/x.yml → shared/y.yml"
            ),
        ),
    ],
    ids=["missing", "no list", "circle", "depth"],
)
def test_templates_that_cannot_be_included(name: str, text: str | None, problem: str) -> None:
    deep = {"shared/x.yml": "assert: [{include: ./y.yml}]", "shared/y.yml": "assert: []"}
    files = {**FILES, **deep, **({name: text} if text else {})}
    if text is None:
        del files[name]
    _, problems = translated(files)
    assert [each for each in problems if each.endswith(problem)] == problems
    assert problems


def test_an_edit_of_a_template_selects_the_cases_that_include_it(checkout: Checkout) -> None:
    config = "evals: [evals/*.yaml]\ntargets: [{name: default, provider: mock, response: hello}]\n"
    checkout.commit({"rubric-ci.yaml": config, "evals/a.eval.yaml": SUITE, **FILES})
    line = ("run", "--list", "--changed-since", "HEAD")
    assert invoke(checkout.root, ENVIRONMENT, *line).stdout.startswith("0 cases\n")
    checkout.write({"shared/polite.yml": "assert: [Is very polite]"})
    assert "evals/a.eval.yaml:3  a  default  the case was edited: rubrics\n1 case\n" in (
        invoke(checkout.root, ENVIRONMENT, *line).stdout
    )
