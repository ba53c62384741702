"""Rules of pass rates and of trials."""

from pathlib import Path

import pytest

from rubric_ci.files.project.working_tree import lookup
from rubric_ci.files.validation.gate_and_waiver_rules import Sizes
from rubric_ci.files.validation.validator import Surroundings, check_config, check_evals
from rubric_ci.files.yaml_text.document import Document
from tests.files.shown import shown

ROOT = Path(__file__).parents[3]
SIZES = Sizes(11, {"safety": 3, "one": 1})


RATES = {
    "no failure": (
        "gate: {min_pass_rate: 0.95}\n",
        "1:23: pass-rate-size: of 11 cases at 0.95 none may fail",
    ),
    "one failure": ("gate: {min_pass_rate: 0.9}\n", ""),
    "all must pass, and the file says so": ("gate: {min_pass_rate: 1}\n", ""),
    "a group": (
        "gate: {groups: {safety: {min_pass_rate: 0.7}}}\n",
        "1:41: pass-rate-size: of 3 cases with the tag `safety` at 0.7 none may fail",
    ),
    "a group of one": (
        "gate: {groups: {one: {min_pass_rate: 0.5}}}\n",
        "1:38: pass-rate-size: of the only case with the tag `one` at 0.5 none may fail",
    ),
    "each group": ('gate: {groups: {"*": {min_pass_rate: 0.7}}}\n', ""),
    "a group without cases": (
        "gate: {groups: {safty: {min_pass_rate: 0.7}}}\n",
        "1:24: group-without-cases: no case has the tag `safty`",
    ),
    "not checked": (
        "gate: {fail_on: never, min_pass_rate: 0.9}\n",
        "1:39: unused-pass-rate: `fail_on: never` does not check the pass rate",
    ),
    "above 1": (
        "gate: {min_pass_rate: 95}\n",
        "1:23: out-of-range: `min_pass_rate` must be at most 1, not 95",
    ),
    "an empty group": (
        "gate: {groups: {safety: {}}}\n",
        "1:25: too-few: `safety` must not be empty",
    ),
}


@pytest.mark.parametrize(("text", "expected"), RATES.values(), ids=RATES)
def test_pass_rates(text: str, expected: str) -> None:
    found = check_config(Document("rubric-ci.yaml", text), sizes=lambda: SIZES)
    assert shown(found) == expected


TRIALS = {
    "too many": ("trials: {count: 3, pass: 4}", "1:26: trials-pass: 4 of 3 trials cannot pass"),
    "of a case": ("x-a: 1", ""),
    "enough": ("trials: {count: 5, pass: 4}", ""),
    "all": ("trials: {count: 5}", ""),
}


@pytest.mark.parametrize(("suite", "expected"), TRIALS.values(), ids=TRIALS)
def test_trials(suite: str, expected: str) -> None:
    text = f"{suite}\nevalcases:\n  - id: a\n    input: Hi\n    rubrics: [Greets]\n"
    found = check_evals(Document("a.yaml", text), Surroundings(lookup(ROOT, ROOT / "a.yaml")))
    assert shown(found) == expected
