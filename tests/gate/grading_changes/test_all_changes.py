"""Changes to the grading between a base commit and the working tree of a real repository."""

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

import pytest

from rubric_ci.errors import CannotConfigure
from rubric_ci.files.project.change import BaseOptions, Change
from rubric_ci.files.project.loaded_project import find_evals, load_evals, open_project
from rubric_ci.gate.grading_changes.all_changes import find_grading_changes, place_of
from rubric_ci.values.changes import GradingChange
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout

CONFIG = """\
evals: [evals/*.eval.yaml, evals/*.jsonl]
judge: {model: openai/a, votes: 3, canary: true, evidence: strict}
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
  - {name: agent, provider: cli, command_template: x, depends_on: [src/**, prompts/**]}
gate:
  fail_on: fail
  thresholds: {pass: 0.8, borderline: 0.6}
  max_waivers: 2
  on_weaker_grading: note
  groups: {smoke: {min_pass_rate: 0.9}}
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
      - {id: mood, required_min_level: 3, levels: {1: {criteria: Cold}, 3: {criteria: Warm}}}
  - id: greeting
    input: Say hello
    tags: [smoke]
    rubrics: [Greets]
"""
OTHERS = """\
evalcases:
  - id: other
    input: Hi
    target: agent
    depends_on: [docs/**, app/**]
    expected_messages: [{role: assistant, content: [{type: file, value: reference.md}]}]
    execution:
      evaluators:
        - {name: taste, type: llm_judge, prompt: taste.md}
        - {name: scripted, type: llm_judge, prompt: {script: python prompts/ask.py}}
        - {name: shell, type: code_judge, script: 'bash -c "python tools/linked.py"', cwd: ..}
        - name: both
          type: composite
          aggregator: {type: weighted_average, weights: {one: 2}}
          evaluators:
            - {name: one, type: code_judge, script: python one.py}
            - {name: two, type: code_judge, script: python -m checks.two}
"""
SUITE = "rubrics: [{id: rubric-1, expected_outcome: Greets, required: false}]\n"
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
    "evals/b.eval.yaml": OTHERS,
    "evals/c.jsonl": '{"id": "line", "input": "Hi"}\n',
    "evals/c.yaml": "rubrics: [{id: kind, expected_outcome: Is kind}]\n",
    "evals/reference.md": "Hello\n",
    "evals/taste.md": "Taste {{ answer }}\n",
    "evals/prompts/ask.py": "from prompts.parts import TEXT\n",
    "evals/prompts/parts.py": "TEXT = 'Is it right?'\n",
    "evals/one.py": "print(1)\n",
    "evals/checks/two.py": "from checks.inner import depth\n",
    "evals/checks/inner/depth.py": "LIMIT = 1\n",
    "tools/real.py": "print(1)\n",
    "tools/linked.py": "-> real.py",
    "check.py": "import strict\nprint(1)\n",
    "strict.py": "LIMITS = open('limits.json')\n",
    "limits.json": "{}\n",
    "unused.py": "print(1)\n",
    "labels.jsonl": "{}\n",
    "calibration.json": "{}\n",
    "waivers.yaml": WAIVER,
}
LINK = "-> "
YAML, EVALS = "rubric-ci.yaml", "evals/a.eval.yaml"
TABLE: dict[str, tuple[str, str, str, str]] = {
    "nothing": (YAML, "gate:", "gate:", ""),
    "fail_on": (
        YAML, "fail_on: fail", "fail_on: never",
        "weaker gate gate.fail_on 7: fail → never",
    ),
    "judge's command": (
        YAML, "model: openai/a", "cli: codex, model: a",
        ("changed judge judge.cli 2:  → codex\n"
         "changed judge judge.model 2: openai/a → a\n"
         "changed judge judge.timeout_seconds 2: 60.0 → 300.0"),
    ),
    "recording used": (
        YAML, "{name: agent, provider: cli, command_template: x, ",
        "{name: agent, provider: recorded, answers: a.jsonl, ",
        "weaker recording targets.agent 5: asked → recorded: a.jsonl",
    ),
    "no longer matched": (
        YAML, "evals/*.eval.yaml", "evals/b*.eval.yaml",
        ("weaker case refund 2: graded → no longer matched by `evals`\n"
         "weaker case greeting 17: graded → no longer matched by `evals`"),
    ),
    "criterion removed": (
        EVALS, "      - {id: period, expected_outcome: Names the period}\n", "",
        "weaker criterion refund/period 2: Names the period → ",
    ),
    "weight": (EVALS, "weight: 2", "weight: 1", "weaker weight refund/polite 12: 2 → 1"),
    "ranges": (
        EVALS, "8: Good", "6: Good",
        ("changed scale refund/depth 13: 0-3: Bad; 4-7: Fair; 8-10: Good → 0-3: Bad; 4-5: Fair; "
         "6-10: Good"),
    ),
    "case removed": (
        EVALS, EVAL[EVAL.index("  - id: greeting") :], "",
        "weaker case greeting 17: graded → ",
    ),
    "case added": (
        EVALS, "  - id: greeting", "  - {id: new, input: Hi, rubrics: [A]}\n  - id: greeting",
        "stronger case new 17:  → added",
    ),
    "trials": (EVALS, "pass: 4", "pass: 3", "weaker trials refund 2: 4 of 5 pass → 3 of 5 pass"),
    "reference": (
        EVALS, "expected_outcome: Names the period\n    exec",
        "expected_outcome: Is right\n    exec",
        "changed reference refund: expected_outcome 2: Names the period → Is right",
    ),
    "checklist to scores": (
        EVALS, "{id: period, expected_outcome: Names the period}",
        "{id: period, score_ranges: {0: Wrong, 1: Right}}",
        ("weaker criterion refund/period 11: checklist → score-range\n"
         "weaker required refund/period 11: required → "),
    ),
    "levels below the required one": (
        EVALS, "levels: {1: {criteria: Cold}, 3: {criteria: Warm}}",
        "levels: {3: {criteria: Cold}, 5: {criteria: Warm}}",
        ("weaker required refund/mood 16: at least 3 of 1 to 3 → at least 3 of 3 to 5\n"
         "changed scale refund/mood 16: 1: Cold; 3: Warm → 3: Cold; 5: Warm"),
    ),
    "recording edited": (
        "answers.jsonl", "30 days", "60 days",
        "changed recording answers.jsonl 1: 2 lines → 2 lines: 1 new or edited, 1 of the base gone",
    ),
    "labels": (
        "labels.jsonl", "{}", "[]",
        "changed labels labels.jsonl 1: 1 line → 1 line: 1 new or edited, 1 of the base gone",
    ),
    "calibration": (
        "calibration.json", "{}", "[]",
        ("changed calibration calibration.json 1: 1 line → 1 line: 1 new or edited, 1 of the "
         "base gone"),
    ),
    "another judge of a target": (
        YAML, "{name: agent, ", "{name: j, model: openai/j}\n  - {name: agent, judge_target: j, ",
        ("changed judge targets.j.model 5:  → openai/j\n"
         "changed judge targets.agent.judge_target 6:  → j"),
    ),
    "fixed answer": (
        YAML, "provider: cli, command_template: x, ", "provider: mock, response: ok, ",
        "weaker recording targets.agent 5: asked → fixed: ok",
    ),
    "another target": (
        "evals/b.eval.yaml", "    target: agent\n", "",
        "weaker target other 2: agent (asked) → default (recorded: answers.jsonl)",
    ),
    "question": (
        EVALS, "May I return it?", "Say yes",
        "changed case refund: question 2: May I return it? → Say yes",
    ),
    "rule ignored in a comment": (
        EVALS, "weight: 2}", "weight: 2} # rubric-ci: ignore[gate-kind]",
        "weaker rule gate-kind 12:  → ignored in 1 comment",
    ),
    "trials removed": (
        EVALS, "    trials: {count: 5, pass: 4}\n", "",
        "weaker trials refund 2: 4 of 5 pass → ",
    ),
    "criterion through an anchor": (
        EVALS, "      - {id: period, expected_outcome: Names the period}\n",
        ("      - <<: &period {id: period, expected_outcome: Names the period}\n"
         "        required: false\n"),
        "weaker required refund/period 11: required → ",
    ),
    "rubrics of the suite": (
        EVALS, EVAL[EVAL.index("evalcases") :], SUITE + EVAL.replace("    rubrics: [Greets]\n", ""),
        "weaker required greeting/rubric-1 1: required → ",
    ),
    "criterion of a sidecar": (
        "evals/c.yaml", "Is kind}", "Is kind, required: false}",
        "weaker required line/kind 1: required → ",
    ),
    "rule ignored in a sidecar": (
        "evals/c.yaml", "Is kind}]", "Is kind}] # rubric-ci: ignore[gate-kind]",
        "weaker rule gate-kind 1:  → ignored in 1 comment",
    ),
    "depends_on of a case": (
        "evals/b.eval.yaml", "[docs/**, app/**]", "[docs/**]",
        "weaker depends-on other: depends_on 2: docs/**, app/** → docs/**",
    ),
    "file of the expected answer": (
        "evals/reference.md", "Hello", "Anything",
        "changed reference other: expected_messages 2: Hello\n → Anything\n",
    ),
    "prompt file of a judge": (
        "evals/taste.md", "Taste", "Praise",
        "changed evaluator other/taste: prompt 9: Taste {{ answer }}\n → Praise {{ answer }}\n",
    ),
    "weights of a composite": (
        "evals/b.eval.yaml", "{one: 2}", "{one: 0}",
        "weaker evaluator other/both: aggregator 12: one: 2 → one: 0",
    ),
    "file that an imported module reads": (
        "limits.json", "{}", "[]",
        "changed script limits.json 1: as at the base → edited",
    ),
    "module of a prompt script": (
        "evals/prompts/parts.py", "Is", "Was",
        "changed script evals/prompts/parts.py 1: as at the base → edited",
    ),
    "command of a prompt script": (
        "evals/b.eval.yaml", "{script: python prompts/ask.py}", "{script: echo Praise}",
        ("changed evaluator other/scripted: prompt_script.script 10: python prompts/ask.py → "
         "echo Praise"),
    ),
    "script behind a link": (
        "tools/real.py", "1", "2",
        ("changed script tools/linked.py 1: as at the base → edited\n"
         "changed script tools/real.py 1: as at the base → edited"),
    ),
    "script replaced by a link": (
        "evals/one.py", "print(1)\n", "-> ../unused.py",
        "changed script evals/one.py 1: as at the base → edited",
    ),
    "a file in the folder of a script": (
        "unused.py", "1", "2",
        "changed script unused.py 1: as at the base → edited",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return committed(tmp_path_factory.mktemp("project"), FILES)


def committed(root: Path, files: Mapping[str, str]) -> Checkout:
    """Return a repository with these files; a text that begins with `-> ` is a link."""
    checkout = Checkout.create(root)
    write(checkout, files)
    checkout.commit()
    return checkout


def write(checkout: Checkout, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = checkout.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if text.startswith(LINK):
            platforms.symlink(path, text.removeprefix(LINK))
        else:
            path.write_text(text)


def edited(
    checkout: Checkout, files: Mapping[str, str], file: str, before: str, after: str
) -> tuple[GradingChange, ...]:
    """Return the changes of a project in which a text is replaced once."""
    assert before in files[file]
    write(checkout, {**files, file: files[file].replace(before, after, 1)})
    with chdir(checkout.root):
        return changes_of(checkout)


def changes_of(checkout: Checkout) -> tuple[GradingChange, ...]:
    """Return the changes of the working tree, which is the current folder."""
    options = BaseOptions(changed_since="HEAD", outputs=".rubric-ci")
    change = Change(checkout.root, options, ENVIRONMENT)
    project = open_project(None)
    loaded = load_evals(project, find_evals(project, ()), change)
    assert loaded.invalid == ()
    return find_grading_changes(loaded)


@pytest.fixture
def restored(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """The project as at its base, in the current folder."""
    write(checkout, FILES)
    monkeypatch.chdir(checkout.root)
    return checkout


@pytest.mark.parametrize(("file", "before", "after", "expected"), TABLE.values(), ids=TABLE)
def test_each_kind_of_change(
    checkout: Checkout, file: str, before: str, after: str, expected: str
) -> None:
    shown = [
        f"{each.direction} {each.kind} {each.about} {each.line}: {each.before} → {each.after}"
        for each in edited(checkout, FILES, file, before, after)
    ]
    assert "\n".join(shown) == expected


def test_a_moved_case_is_no_change(restored: Checkout) -> None:
    case = EVAL[EVAL.index("  - id: greeting") :]
    write(restored, {EVALS: EVAL.replace(case, ""), "evals/c.eval.yaml": f"evalcases:\n{case}"})
    found = changes_of(restored)
    Path(restored.root / "evals/c.eval.yaml").unlink()
    assert found == ()


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (EVALS, ["weaker case refund", "weaker case greeting"]),
        ("evals/c.jsonl", ["weaker case line"]),
    ],
)
def test_a_suite_that_is_deleted(restored: Checkout, file: str, expected: list[str]) -> None:
    (restored.root / file).unlink()
    found = [f"{each.direction} {each.kind} {each.about}" for each in changes_of(restored)]
    assert [each for each in found if " case " in each] == expected


def test_a_new_module_that_an_unchanged_script_imports(restored: Checkout) -> None:
    """A script finds modules in its own folder first, whatever was meant by the name."""
    new = restored.root / "evals/checks/inner/__init__.py"
    new.write_text("LIMIT = 9")
    found = changes_of(restored)
    new.unlink()
    assert [(each.kind, each.about) for each in found] == [
        ("script", new.relative_to(restored.root).as_posix())
    ]


@pytest.mark.parametrize(("path", "expected"), [("sub", ["sub"]), ("link", ["link/check.py"])])
def test_a_script_in_a_folder_that_is_one_path(
    path: str, expected: list[str], own: Checkout, tmp_path: Path
) -> None:
    library = Checkout.create(tmp_path / "library")
    library.commit({"check.py": "print(1)\n"})
    own.git("submodule", "--quiet", "add", library.root.as_uri(), "sub")
    platforms.symlink(own.root / "link", "real")
    script = f"{{name: s, type: code_judge, script: python {path}/check.py, cwd: .}}"
    cases = f"evalcases:\n  - {{id: a, input: q, evaluators: [{script}]}}\n"
    own.commit({"rubric-ci.yaml": GATE, "b.yaml": cases, "real/check.py": "print(1)\n"})
    Checkout(own.root / "sub").commit({"check.py": "print(2)\n"})
    write(own, {"real/check.py": "print(2)\n"})
    assert [each.file for each in changes_of(own)] == expected


CUT_SHORT = "the base does not parse: line 1: the file ends in the middle of a value"
ONE_CASE = "evalcases:\n  - {id: a, input: q, rubrics: [Greets]}\n"
OTHER_CASE = ONE_CASE.replace("id: a", "id: c")
GATE = "gate: {fail_on: fail}\n"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """An empty repository, which is the current folder."""
    checkout = Checkout.create(tmp_path / "own")
    monkeypatch.chdir(checkout.root)
    return checkout


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            "evalcases: [\n",
            ONE_CASE,
            [f"changed case b.yaml: not known: {CUT_SHORT} → edited or removed"],
        ),
        (ONE_CASE, "x: 1\n", ["weaker case a: graded → no longer found as an eval file"]),
    ],
)
def test_a_file_that_became_an_eval_file_or_is_none_any_more(
    before: str, after: str, expected: list[str], own: Checkout
) -> None:
    own.commit({"rubric-ci.yaml": GATE, "b.yaml": before, "c.yaml": OTHER_CASE})
    write(own, {"b.yaml": after})
    assert [
        f"{each.direction} {each.kind} {each.about}: {each.before} → {each.after}"
        for each in changes_of(own)
    ] == expected


def test_a_row_that_is_gone_from_a_table(own: Checkout) -> None:
    suite = "rubrics: [Greets]\nevalcases: t.csv\n"
    own.commit({"rubric-ci.yaml": GATE, "b.yaml": suite, "t.csv": "id,input\na,Hi\nb,Ho\n"})
    write(own, {"t.csv": "id,input\na,Hi\n"})
    assert [(c.direction, c.about, c.after) for c in changes_of(own)] == [("weaker", "b", "")]


@pytest.mark.parametrize("name", ["targets.yaml", "evals/targets.yaml"])
def test_a_judge_of_the_root_and_of_one_folder(name: str, own: Checkout) -> None:
    mock = "{name: t, provider: mock, response: x, judge_target: j}"
    text = f"targets: [{mock}, {{name: j, model: openai/a}}]\n"
    own.commit({"rubric-ci.yaml": GATE, "targets.yaml": text, "evals/targets.yaml": text})
    own.commit({"evals/a.yaml": ONE_CASE})
    write(own, {name: text.replace("openai/a", "openai/b")})
    assert [(each.about, each.before, each.after) for each in changes_of(own)] == [
        ("targets.j.model", "openai/a", "openai/b")
    ]


PLACES = {
    "rubric-ci.yaml": "evals: [a.yaml]\ngate:\n  # what fails\n  thresholds:\n    pass: 0.8\n",
    "targets.yaml": (
        "targets:\n- provider: mock\n  name: a\n  response: x\n"
        "- response:\n    y\n  provider: mock\n  name: ab\n"
    ),
}


@pytest.mark.parametrize(
    ("key", "file", "line"),
    [
        ("gate", "rubric-ci.yaml", 2),
        ("gate.thresholds", "rubric-ci.yaml", 4),
        ("gate.thresholds.pass", "rubric-ci.yaml", 5),
        ("gate.min_kappa", "rubric-ci.yaml", 2),
        ("targets.a", "targets.yaml", 3),
        ("targets.a.response", "targets.yaml", 4),
        ("targets.a.model", "targets.yaml", 3),
        ("targets.ab", "targets.yaml", 8),
        ("targets.ab.response", "targets.yaml", 5),
        ("targets.c", "rubric-ci.yaml", 1),
    ],
)
def test_where_a_setting_is(
    key: str, file: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in PLACES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert place_of(open_project(None), key) == (file, line)


def test_where_a_setting_would_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert place_of(open_project(None), "gate.fail_on") == ("rubric-ci.yaml", 1)


@pytest.mark.parametrize("after", [ONE_CASE, ""])
def test_a_file_of_the_base_that_cannot_be_read(after: str, own: Checkout) -> None:
    """What changed in it is not known: it is told, and a gate that decides about it is refused."""
    own.commit({"rubric-ci.yaml": GATE, "b.yaml": f"{ONE_CASE}x: 1\n", "c.yaml": OTHER_CASE})
    write(own, {"b.yaml": after})
    if not after:
        (own.root / "b.yaml").unlink()
    problem = "the base does not parse: line 3: unknown key `x` in the file"
    assert [
        f"{each.direction} {each.kind} {each.about}: {each.before}" for each in changes_of(own)
    ] == [f"changed case b.yaml: not known: {problem}"]
    write(own, {"rubric-ci.yaml": "gate: {on_weaker_grading: fail}\n"})
    with pytest.raises(
        CannotConfigure, match=f"it is not known how the cases of b.yaml .*{problem}"
    ):
        changes_of(own)
