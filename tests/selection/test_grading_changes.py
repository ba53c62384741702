"""Changes to the grading between a base commit and the working tree of a real repository."""

from pathlib import Path

import pytest

from rubric_ci.git import base_revision
from rubric_ci.git.plumbing import open_repository
from rubric_ci.model.git_changes import Base
from rubric_ci.project.loaded_project import load_project, open_project
from rubric_ci.selection.grading_changes import find_grading_changes
from tests.checkout import ENVIRONMENT, Checkout

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {model: openai/a, votes: 3, evidence: strict}
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
  - {name: agent, provider: cli, command_template: x, depends_on: [src/**, prompts/**]}
gate:
  fail_on: fail
  thresholds: {pass: 0.8, borderline: 0.6}
  max_waivers: 2
  on_weaker_grading: note
rules: {gate-kind: error}
"""
EVAL = """\
evalcases:
  - id: refund
    input: May I return it?
    tags: [safety]
    trials: {count: 5, pass: 4}
    expected_outcome: Names the period
    execution:
      evaluators:
        - {name: lint, type: code_judge, script: python check.py, cwd: ..}
    rubrics:
      - {id: period, expected_outcome: Names the period}
      - {id: polite, expected_outcome: Is polite, required: false, weight: 2}
      - id: depth
        required_min_score: 4
        score_ranges: {0: Bad, 4: Fair, 8: Good}
  - id: greeting
    input: Say hello
    rubrics: [Greets]
"""
WAIVER = """\
waivers:
  - case: greeting
    criterion: rubric-1
    reason: known
    owner: ana
    until: "2026-06-30"
    fingerprint: 0123456789ab
"""
FILES = {
    "rubric-ci.yaml": CONFIG,
    "evals/a.eval.yaml": EVAL,
    "answers.jsonl": '{"id": "refund", "answer": "30 days"}\n{"id": "greeting", "answer": "Hi"}\n',
    "check.py": "print(1)\n",
    "labels.jsonl": "{}\n",
    "calibration.json": "{}\n",
    "waivers.yaml": WAIVER,
}
YAML, EVALS = "rubric-ci.yaml", "evals/a.eval.yaml"
LATE = WAIVER.replace("2026-06-30", "2026-12-31")
TABLE: dict[str, tuple[str, str, str, list[str]]] = {
    "nothing": (YAML, "gate:", "gate:", []),
    "fail_on": (
        YAML, "fail_on: fail", "fail_on: never", ["weaker gate gate.fail_on 7: fail → never"],
    ),
    "stricter fail_on": (
        YAML, "fail_on: fail", "fail_on: borderline",
        ["stronger gate gate.fail_on 7: fail → borderline"],
    ),
    "threshold": (
        YAML, "pass: 0.8", "pass: 0.7", ["weaker gate gate.thresholds.pass 8: 0.8 → 0.7"],
    ),
    "pass rate": (
        YAML, "  max_waivers: 2", "  max_waivers: 2\n  min_pass_rate: 0.9",
        ["weaker gate gate.min_pass_rate 10:  → 0.9"],
    ),
    "more waivers": (
        YAML, "max_waivers: 2", "max_waivers: 5", ["weaker gate gate.max_waivers 9: 2 → 5"],
    ),
    "judge": (YAML, "openai/a", "openai/b", ["changed judge judge.model 2: openai/a → openai/b"]),
    "host": (
        YAML, "votes: 3", "votes: 3, api_base: 'http://x'",
        ["changed judge judge.api_base 2:  → http://x"],
    ),
    "votes": (YAML, "votes: 3", "votes: 1", ["changed judge judge.votes 2: 3 → 1"]),
    "evidence": (
        YAML, "evidence: strict", "evidence: warn",
        ["weaker judge judge.evidence 2: strict → warn"],
    ),
    "rule off": (
        YAML, "gate-kind: error", "gate-kind: off",
        ["weaker rule rules.gate-kind 11: error → off"],
    ),
    "recording used": (
        YAML, "{name: agent, provider: cli, command_template: x, ",
        "{name: agent, provider: recorded, answers: a.jsonl, ",
        ["weaker recording targets.agent 5: asked → recorded: a.jsonl"],
    ),
    "depends_on": (
        YAML, "[src/**, prompts/**]", "[src/**]",
        ["weaker depends-on targets.agent.depends_on 5: src/**, prompts/** → src/**"],
    ),
    "no longer matched": (
        YAML, "evals/*.eval.yaml", "evals/b*.eval.yaml",
        [
            "weaker case refund 2: graded → no longer matched by `evals`",
            "weaker case greeting 16: graded → no longer matched by `evals`",
        ],
    ),
    "criterion removed": (
        EVALS, "      - {id: period, expected_outcome: Names the period}\n", "",
        ["weaker criterion refund/period 2: Names the period → "],
    ),
    "criterion reworded": (
        EVALS, "expected_outcome: Is polite", "expected_outcome: Is warm",
        ["changed criterion refund/polite 12: Is polite → Is warm"],
    ),
    "required dropped": (
        EVALS, "{id: period, ", "{id: period, required: false, ",
        ["weaker required refund/period 11: required → "],
    ),
    "minimum lowered": (
        EVALS, "required_min_score: 4", "required_min_score: 2",
        ["weaker required refund/depth 13: at least 4 → at least 2"],
    ),
    "weight": (EVALS, "weight: 2", "weight: 1", ["changed weight refund/polite 12: 2 → 1"]),
    "weight of 0": (EVALS, "weight: 2", "weight: 0", ["weaker weight refund/polite 12: 2 → 0"]),
    "ranges": (
        EVALS, "8: Good", "6: Good",
        [
            ("changed scale refund/depth 13: 0-3: Bad; 4-7: Fair; 8-10: Good → "
            "0-3: Bad; 4-5: Fair; 6-10: Good")
        ],
    ),
    "case removed": (
        EVALS, EVAL[EVAL.index("  - id: greeting") :], "", ["weaker case greeting 16: graded → "],
    ),
    "case added": (
        EVALS, "  - id: greeting", "  - {id: new, input: Hi, rubrics: [A]}\n  - id: greeting",
        ["stronger case new 16:  → added"],
    ),
    "tag": (EVALS, "tags: [safety]", "tags: [other]", ["weaker tag refund 2: safety → "]),
    "trials": (
        EVALS, "pass: 4", "pass: 3", ["weaker trials refund 2: 4 of 5 pass → 3 of 5 pass"],
    ),
    "reference": (
        EVALS, "expected_outcome: Names the period\n    exec",
        "expected_outcome: Is right\n    exec",
        ["changed reference refund: expected_outcome 2: Names the period → Is right"],
    ),
    "recording edited": (
        "answers.jsonl", "30 days", "60 days",
        [
            ("changed recording answers.jsonl 1: 2 lines → 2 lines: 1 new or edited, "
            "1 of the base gone")
        ],
    ),
    "script": ("check.py", "1", "2", ["changed script check.py 1: as at the base → edited"]),
    "labels": (
        "labels.jsonl", "{}", "[]",
        ["changed labels labels.jsonl 1: 1 line → 1 line: 1 new or edited, 1 of the base gone"],
    ),
    "calibration": (
        "calibration.json", "{}", "[]",
        [
            ("changed calibration calibration.json 1: 1 line → 1 line: 1 new or edited, "
            "1 of the base gone")
        ],
    ),
    "waiver extended": (
        "waivers.yaml", WAIVER, LATE,
        ["weaker waiver greeting/rubric-1 2: waived until 2026-06-30 → waived until 2026-12-31"],
    ),
    "waiver removed": (
        "waivers.yaml", WAIVER, "waivers: []\n",
        ["stronger waiver greeting/rubric-1 2: waived until 2026-06-30 → "],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, Base]:
    checkout = Checkout.create(tmp_path_factory.mktemp("project"))
    for name, text in FILES.items():
        write(checkout, name, text)
    write(checkout, "evals/b.eval.yaml", "evalcases:\n  - {id: b, input: Hi, rubrics: [B]}\n")
    checkout.git("add", "--all")
    checkout.git("commit", "--quiet", "--message=base")
    base = base_revision.since(open_repository(checkout.root, ENVIRONMENT), "HEAD")
    assert isinstance(base, Base)
    return checkout, base


def write(checkout: Checkout, name: str, text: str) -> None:
    path = checkout.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(("file", "before", "after", "expected"), TABLE.values(), ids=TABLE)
def test_each_kind_of_change(
    project: tuple[Checkout, Base],
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    before: str,
    after: str,
    expected: list[str],
) -> None:
    checkout, base = project
    for name, text in FILES.items():
        write(checkout, name, text)
    assert before in FILES[file]
    write(checkout, file, FILES[file].replace(before, after, 1))
    monkeypatch.chdir(checkout.root)
    loaded = load_project((), open_project(None))
    found = find_grading_changes(loaded, base, ".rubric-ci", ENVIRONMENT)
    shown = [
        f"{each.direction} {each.kind} {each.about} {each.line}: {each.before} → {each.after}"
        for each in found
    ]
    assert shown == expected


def test_a_moved_case_is_no_change(
    project: tuple[Checkout, Base], monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, base = project
    for name, text in FILES.items():
        write(checkout, name, text)
    case = EVAL[EVAL.index("  - id: greeting") :]
    write(checkout, EVALS, EVAL.replace(case, ""))
    write(checkout, "evals/c.eval.yaml", f"evalcases:\n{case}")
    monkeypatch.chdir(checkout.root)
    found = find_grading_changes(
        load_project((), open_project(None)), base, ".rubric-ci", ENVIRONMENT
    )
    Path(checkout.root / "evals/c.eval.yaml").unlink()
    assert found == ()
