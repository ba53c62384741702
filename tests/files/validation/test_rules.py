"""The rules: each is registered, and its examples show what its documentation says."""

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

from rubric_ci import values as model
from rubric_ci.files import validation, yaml_text
from rubric_ci.files.validation.config_summary import KnownTargets, WrittenTarget
from rubric_ci.files.validation.gate_and_waiver_rules import Sizes
from rubric_ci.files.validation.includes import with_includes
from rubric_ci.files.validation.rules import RULES, apply_suppressions, render
from rubric_ci.files.validation.validator import (
    Surroundings,
    check_config,
    check_evals,
    check_prompts,
)
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import open_source
from rubric_ci.parts import bring, graders
from rubric_ci.system.model_list import known_models
from rubric_ci.values.problems import Rule
from rubric_ci.values.references import Found, NotFound
from tests.pictures import media, png

EXAMPLES = [rule for rule in RULES.values() if rule.bad]
CONFIGURED = ("judge:", "targets:", "gate:", "rules:")


def lookup(name: str) -> Found | NotFound:
    texts = {"prompts/task.md": "", "prompts/support.md": "Help.", "prompts/broken.md": "{{ x"}
    if name == "shots/cart.png":
        return NotFound("is an image, not a text", media("shots/cart.png", png(4, 3)))
    return Found(name, texts[name]) if name in texts else NotFound("gone")


def rules_of(text: str) -> list[str]:
    if text.startswith(CONFIGURED):
        document = Document("rubric-ci.yaml", text)
        sizes = Sizes(cases=999, by_tag={})
        found = check_config(document, models=known_models, sizes=lambda: sizes)
        found = (*found, *check_prompts(document, lookup))
        return [problem.rule for problem in found]
    source = open_source(
        "a.jsonl" if text.startswith("{") else "a.yaml", text, find=lambda name: [lookup(name)]
    )
    source = with_includes(source, lookup)
    known = KnownTargets(
        {name: WrittenTarget(".agentv/targets.yaml", name, {}) for name in ("default", "codex")}
    )
    found = check_evals(source, Surroundings(lookup, known))
    return [problem.rule for problem in apply_suppressions(found, source.texts(), {})]


def test_every_rule_is_registered_under_an_id_of_its_own() -> None:
    defined = {
        (name, value)
        for package in (bring, graders, model, validation, yaml_text)
        for module in walk_packages(package.__path__, f"{package.__name__}.")
        for name, value in vars(import_module(module.name)).items()
        if isinstance(value, Rule)
    }
    assert sorted(rule.id for _, rule in defined) == list(RULES)
    assert all(name == rule.id.upper().replace("-", "_") for name, rule in defined)


@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.id)
def test_the_bad_example_breaks_this_rule_alone(rule: Rule) -> None:
    assert set(rules_of(rule.bad)) == {rule.id}


@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.id)
def test_the_good_example_is_clean(rule: Rule) -> None:
    assert rules_of(rule.good) == []


def test_the_documentation_is_current() -> None:
    written = Path(__file__).parents[3] / "docs" / "rules.md"
    assert written.read_text(encoding="utf-8") == render(), "run `make golden`"
