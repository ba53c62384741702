"""`rubric-ci generate rubrics` as a user types it: files, messages, exit codes, commits."""

import json
import stat
from typing import Any

import pytest
from click.testing import Result

from rubric_ci.files.project.loaded_project import load_project, open_project
from rubric_ci.services.drafting.drafting_reply import Kind
from rubric_ci.values.evals import RubricSpec
from tests import platforms
from tests.checkout import Checkout
from tests.generating import AFTER, BLOCK, CONFIG, EVAL, GOOD, ITEMS, Project

SAID = "evals/a.yaml:3: refund: 3 criteria\n1 case got rubrics in 1 file\n"


@pytest.fixture
def project(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(checkout.root)
    made = Project(checkout)
    made.record(refund=GOOD)
    return made


def test_a_case_is_given_rubrics_and_all_else_stays(project: Project) -> None:
    done = project.generate()
    assert (done.exit_code, done.stdout) == (0, SAID)
    assert project.file.read_text() == AFTER


def test_a_second_run_does_nothing(project: Project) -> None:
    project.generate()
    done = project.generate()
    assert (done.exit_code, done.stdout) == (0, "nothing to do: every case has rubrics\n")
    assert project.file.read_text() == AFTER


def test_bytes_mode_and_link_stay(project: Project) -> None:
    real = project.checkout.root / "shared.yaml"
    old = ("\ufeff" + EVAL).replace("\n", "\r\n").encode()
    real.write_bytes(old)
    real.chmod(0o640)
    project.file.unlink()
    platforms.symlink(project.file, "../shared.yaml")
    project.record(refund=GOOD)
    assert project.generate("evals").exit_code == 0
    assert project.file.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert real.read_bytes() == ("\ufeff" + AFTER).replace("\n", "\r\n").encode()


@platforms.MODES
def test_no_draft_is_paid_for_a_file_that_cannot_be_written(project: Project) -> None:
    project.file.chmod(0o444)
    project.checkout.write({"evals/b.yaml": EVAL})
    project.record("checklist", "evals/b.yaml", refund=GOOD)
    done = project.generate()
    assert done.exit_code == 3
    assert done.stdout == (
        "evals/b.yaml:3: refund: 3 criteria\n"
        f"evals/a.yaml:3: refund: left unchanged: no draft: {project.file} is read-only\n"
        "1 case got rubrics in 1 file, 1 left unchanged\n"
    )
    assert "[1/1] evals/b.yaml: refund: draft\n" in done.stderr


def test_a_file_outside_the_repository(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = project.checkout.root.parent / "outside.yaml"
    outside.write_text(EVAL)
    monkeypatch.chdir(project.checkout.root / "evals")
    project.record("checklist", "../../outside.yaml", refund=GOOD)
    assert project.generate("../../outside.yaml").exit_code == 0
    assert outside.read_text() == AFTER
    assert project.file.read_text() == EVAL


def test_a_rule_that_is_switched_off_refuses_no_draft(project: Project) -> None:
    project.checkout.write({"rubric-ci.yaml": CONFIG + "rules: {unknown-key: off}\n"})
    project.file.write_text(f"colour: red\n{EVAL}")
    project.record(refund=GOOD)
    done = project.generate()
    assert (done.exit_code, done.stdout) == (0, SAID.replace(":3:", ":4:"))
    assert project.file.read_text() == f"colour: red\n{AFTER}"


def test_a_target_that_eval_files_define_differently_cannot_draft(project: Project) -> None:
    targets = "targets: [{name: near, model: openai/%s}]\n"
    other = {"evals/b/b.yaml": EVAL, "evals/b/targets.yaml": targets % "b"}
    project.checkout.write(other | {"evals/targets.yaml": targets % "a"})
    done = project.generate("evals", "--target", "near")
    assert done.exit_code == 2
    assert done.stderr == (
        "rubric-ci: the eval files have different targets `near`\n"
        "  run it for the eval files of one folder, or name a model\n"
    )


def test_json_lines(project: Project) -> None:
    project.file.unlink()
    lines = project.checkout.root / "evals/a.jsonl"
    lines.write_text('{"id": "refund", "input": "x", "expected_outcome": "y"}\n')
    project.checkout.write({"rubric-ci.yaml": CONFIG.replace("*.yaml", "*.jsonl")})
    project.record(refund=GOOD)
    assert project.generate().exit_code == 0
    assert json.loads(lines.read_text())["rubrics"][0]["id"] == "limit"


def test_diff_prints_what_git_applies_and_changes_nothing(project: Project) -> None:
    done = project.generate("--diff")
    assert done.exit_code == 1
    assert project.file.read_text() == EVAL
    assert "1 case would get rubrics in 1 file\n" in done.stderr
    patch = project.checkout.root.parent / "patch"
    patch.write_bytes(done.stdout.encode())
    project.checkout.git("apply", str(patch))
    assert project.file.read_text() == AFTER
    done = project.generate("--diff")
    assert (done.exit_code, done.stdout) == (0, "")


def test_a_runner_takes_no_orders_from_a_draft(project: Project) -> None:
    items = [*ITEMS[:2], {**ITEMS[2], "expected_outcome": "::error::Says who pays"}]
    project.record(refund=json.dumps({"rubrics": items}))
    done = project.generate("--diff", GITHUB_ACTIONS="true")
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"


RANGES = [{"score_range": each, "expected_outcome": "so"} for each in ([0, 4], [5, 10])]
LEVELS = [{"level": each, "name": "L", "criteria": "so"} for each in (1, 2)]


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("score-range", {"required_min_score": None, "score_ranges": RANGES}),
        ("levels", {"required_min_level": 2, "levels": LEVELS}),
    ],
)
def test_kinds(project: Project, kind: Kind, part: dict[str, Any]) -> None:
    items = [{k: v for k, v in item.items() if k != "required"} | part for item in ITEMS]
    project.record(kind, refund=json.dumps({"rubrics": items}))
    assert project.generate("--kind", kind).exit_code == 0
    [spec] = load_project((), open_project(None)).files[0].cases[0].evaluators
    assert isinstance(spec, RubricSpec)
    assert {criterion.kind for criterion in spec.rubric} == {kind}


def test_a_penalty_and_a_condition(project: Project) -> None:
    fault = {"id": "day", "expected_outcome": "Promises a day", "penalty": 2, "required": False}
    post = {**ITEMS[2], "applies_if": "The customer asks about the post"}
    project.record(refund=json.dumps({"rubrics": [ITEMS[0], post, fault]}))
    assert project.generate().exit_code == 0
    assert (
        "      - id: cost\n"
        '        expected_outcome: "Says who pays: us"\n'
        "        applies_if: The customer asks about the post\n"
        "        weight: 1.0\n"
        "        required: false\n"
        "      - id: day\n"
        "        expected_outcome: Promises a day\n"
        "        penalty: 2.0\n"
        "        required: false\n"
    ) in project.file.read_text()


def test_warnings_are_shown(project: Project) -> None:
    items = [*ITEMS[:2], {**ITEMS[2], "expected_outcome": "Has good quality"}]
    project.record(refund=json.dumps({"rubrics": items}))
    done = project.generate()
    assert done.exit_code == 0
    assert "\n  cost: draft-vague: “good” is vague" in done.stdout


def test_a_model_that_is_down_midway(project: Project) -> None:
    project.checkout.write({"evals/b.yaml": EVAL.replace("refund", "other").replace("hours", "o")})
    done = project.generate()
    assert done.exit_code == 3
    assert project.file.read_text() == AFTER
    assert "evals/b.yaml:3: other: left unchanged: no draft: " in done.stdout
    assert "no recorded reply to this request" in done.stdout
    assert done.stdout.endswith("1 case got rubrics in 1 file, 1 left unchanged\n")


def test_an_invalid_file_does_not_hide_the_others(project: Project) -> None:
    project.checkout.write({"evals/b.yaml": "evalcases:\n  - id: b\n    rubric: [x]\n"})
    done = project.generate()
    assert done.exit_code == 2
    assert project.file.read_text() == AFTER
    assert "evals/b.yaml:3:5: unknown-key: " in done.stderr
    assert done.stdout == SAID.replace(
        "1 file\n", "1 file; not changed: 1 eval file with problems\n"
    )


def test_only_an_invalid_file(project: Project) -> None:
    project.file.write_text("evalcases:\n  - id: b\n    rubric: [x]\n")
    done = project.generate()
    expected = (2, "no drafts; not changed: 1 eval file with problems\n")
    assert (done.exit_code, done.stdout) == expected


def test_rubrics_that_are_empty(project: Project) -> None:
    project.file.write_text(EVAL.replace("  rubrics:\n      - States", "  rubrics: []\n# -"))
    done = project.generate()
    assert done.exit_code == 2
    assert "evals/a.yaml:10:14: " in done.stderr
    assert "`rubrics` must not be empty" in done.stderr
    assert "remove the key and run `rubric-ci generate rubrics` to draft them" in done.stderr


def test_nothing_to_draft_from(project: Project) -> None:
    script = "{name: polite, type: code_judge, script: 'true'}"
    project.file.write_text(f"evalcases:\n  - {{id: a, input: x, evaluators: [{script}]}}\n")
    done = project.generate()
    assert done.exit_code == 0
    assert done.stdout == (
        "evals/a.yaml:2: a: left unchanged: there is no `expected_outcome` to draft from\n"
        "0 cases got rubrics in 0 files, 1 left unchanged\n"
    )


def test_a_case_that_cannot_be_edited_gets_a_block_to_paste(project: Project) -> None:
    case = "{id: refund, input: x, expected_outcome: y}"
    project.file.write_text(f"evalcases:\n  - &a {case}\nx-copy: *a\n")
    project.record(refund=GOOD)
    before = project.file.read_bytes()
    done = project.generate()
    assert done.exit_code == 3
    assert project.file.read_bytes() == before
    assert "refund: left unchanged: something else in the file would change with it" in done.stdout
    assert BLOCK.replace("\n    ", "\n").strip() in done.stdout


def test_case_chooses(project: Project) -> None:
    done = project.generate("--case", "h*")
    assert done.stdout == (
        "evals/a.yaml:7: hours: left unchanged: it has rubrics\n"
        "0 cases got rubrics in 0 files, 1 left unchanged\n"
    )
    assert project.generate("--case", "nothing").exit_code == 2


NO_JUDGE = "".join(line for line in CONFIG.splitlines(True) if not line.startswith("judge: "))


@pytest.mark.parametrize(
    ("arguments", "config", "message"),
    [
        (["--target=nobody"], CONFIG, "--target: there is no target `nobody`"),
        (["--target=kept"], CONFIG, "--target: `kept` is not a model and cannot draft"),
        ([], NO_JUDGE, "no model is configured to draft with"),
        (["--diff", "--commit"], CONFIG, "--diff changes no file, so there is nothing to commit"),
        (["nowhere.yaml"], CONFIG, "nowhere.yaml does not exist"),
    ],
)
def test_usage(project: Project, arguments: list[str], config: str, message: str) -> None:
    project.checkout.write({"rubric-ci.yaml": config})
    done = project.generate(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert project.file.read_text() == EVAL


@pytest.mark.parametrize(
    ("keys", "exit_code", "changed"),
    [("a\n", 0, True), ("d\n", 0, False), ("q\n", 0, False), ("?\na\n", 0, True), ("", 3, False)],
)
def test_interactive(project: Project, keys: str, exit_code: int, changed: bool) -> None:
    done = project.generate("--interactive", input=keys)
    assert (project.file.read_text() == AFTER) is changed
    assert done.exit_code == exit_code
    assert "Expected outcome: Offers a refund within 30 days\n" in done.stderr
    assert "Question: " in done.stderr
    assert ("q: stop here and keep what was accepted" in done.stderr) is ("?" in keys)
    assert ("stopped: 0 accepted drafts are kept, 1 not reviewed" in done.stderr) is (
        keys in {"q\n", ""}
    )
    assert BLOCK.replace("\n    ", "\n").strip() in done.stderr


@pytest.mark.parametrize(("keys", "exit_code"), [("a\nq\n", 0), ("a\n", 3)], ids=["q", "Ctrl-C"])
def test_what_was_accepted_before_is_kept(project: Project, keys: str, exit_code: int) -> None:
    second = "  - {id: second, input: And later?, expected_outcome: No refund}\n"
    project.file.write_text(EVAL + second)
    project.record(refund=GOOD, second=GOOD)
    done = project.generate("--interactive", input=keys)
    assert "stopped: 1 accepted draft is kept, 1 not reviewed" in done.stderr
    assert (project.file.read_text(), done.exit_code) == (AFTER + second, exit_code)


def edited(project: Project, script: str, keys: str, *arguments: str) -> Result:
    """Press keys in a session whose editor is a script."""
    editor = project.checkout.root.parent / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    words = (*arguments, "--interactive")
    return project.generate(*words, input=keys, EDITOR=str(editor), VISUAL="")


@platforms.SHELL
def test_interactive_edit(project: Project) -> None:
    done = edited(project, 'printf "rubrics:\\n  - Says yes\\n" >"$1"', "e\na\n")
    assert done.exit_code == 0
    assert "    rubrics:\n      - Says yes\n" in project.file.read_text()
    assert done.stdout == "evals/a.yaml:3: refund: 1 criterion\n1 case got rubrics in 1 file\n"


@platforms.SHELL
@pytest.mark.parametrize(
    ("keys", "exit_code", "changed"),
    [
        pytest.param("e\nd\na\n", 0, True, id="discarded, then the draft is accepted"),
        pytest.param("e\ne\nd\nd\n", 0, False, id="edited twice, discarded, dropped"),
        pytest.param("e\n", 3, False, id="end of the input"),
    ],
)
def test_an_invalid_edit(project: Project, keys: str, exit_code: int, *, changed: bool) -> None:
    done = edited(project, 'echo "rubrics: 3" >"$1"', keys)
    assert (done.exit_code, project.file.read_text() == AFTER) == (exit_code, changed)
    assert "Edit it again, or discard the edit? (e, d) [e]: " in done.stderr


@platforms.SHELL
def test_a_file_that_changed_meanwhile_is_left_alone(project: Project) -> None:
    done = edited(project, f"echo '# theirs' >>'{project.file}'", "e\na\n")
    assert done.exit_code == 3
    assert project.file.read_text() == EVAL + "# theirs\n"
    assert "refund: left unchanged: " in done.stdout
    assert "changed on disk in the meantime" in done.stdout
    assert BLOCK.replace("\n    ", "\n").strip() in done.stdout


def test_commit(project: Project) -> None:
    project.checkout.write({"rubric-ci.yaml": CONFIG + "# a change of mine\n"})
    done = project.generate("--commit")
    assert done.exit_code == 0
    log = project.checkout.git("log", "-1", "--format=%B", "--name-only")
    assert log == (
        "evals: add rubrics to 1 case\n\n"
        "Drafted from the expected outcomes: review them like any other change.\n\n"
        "- evals/a.yaml: refund\n\n"
        "Rubric-CI: generate rubrics\n\n\nevals/a.yaml"
    )
    assert done.stdout.endswith(
        f"committed {project.checkout.git('rev-parse', 'HEAD')[:10]} on topic\n"
    )


def test_fixup(project: Project) -> None:
    assert project.generate("--fixup=HEAD").exit_code == 0
    assert project.checkout.git("log", "-1", "--format=%s") == "fixup! change"


def test_nothing_to_do_makes_no_commit(project: Project) -> None:
    project.generate("--commit")
    head = project.checkout.git("rev-parse", "HEAD")
    done = project.generate("--commit")
    assert (done.exit_code, done.stdout) == (0, "nothing to do: every case has rubrics\n")
    assert project.checkout.git("rev-parse", "HEAD") == head


def test_a_dirty_file_is_refused_before_anything_is_spent(project: Project) -> None:
    project.file.write_text(EVAL + "# mine\n")
    done = project.generate("--commit")
    assert done.exit_code == 2
    assert done.stderr.startswith("rubric-ci: --commit: modified or untracked: evals/a.yaml\n")
    assert project.file.read_text() == EVAL + "# mine\n"


def test_a_failure_midway_commits_what_is_finished(project: Project) -> None:
    project.checkout.commit({"evals/b.yaml": EVAL.replace("refund", "x").replace("hours", "y")})
    done = project.generate("--commit")
    assert done.exit_code == 3
    assert project.checkout.git("show", "--name-only", "--format=") == "evals/a.yaml"


def test_cases_in_files_are_not_edited(project: Project) -> None:
    project.checkout.write({"evals/a.yaml": "evalcases: cases.csv\n"})
    table = "id,input,expected_outcome\nrefund,I want my money back,Explains the refund\n"
    project.checkout.write({"evals/cases.csv": table})
    done = project.generate()
    reason = "files that `evalcases` names are not edited; write its `rubrics` there"
    assert f"evals/cases.csv:2: refund: left unchanged: {reason}\n" in done.stdout + done.stderr
    assert (project.checkout.root / "evals/cases.csv").read_text() == table


SKILL = """\
{
  "skill_name": "refunds",
  "evals": [
    {"id": 1, "prompt": "Can I return it?", "expected_output": "Offers a refund"},
    {
      "id": 2,
      "prompt": "When are you open?",
      "expected_output": "States the hours"
    },
    {"id": 3, "prompt": "Hi", "expectations": ["Greets"]}
  ]
}
"""
TEXTS = '["Names the 30-day limit", "Explains the way back", "Says who pays: us"]'
AGENTV = """\
tests:
  - id: refund  # stable
    input: Can I return it?
    criteria: Offers a refund
"""
GRADER = """\
    assertions:
      - type: rubrics
        criteria:
          - id: limit
            outcome: Names the 30-day limit
            weight: 2.0
            required: true
          - id: way
            outcome: Explains the way back
            weight: 1.0
            required: false
          - id: cost
            outcome: "Says who pays: us"
            weight: 1.0
            required: false
"""


@pytest.mark.parametrize(
    ("name", "text", "ids", "after"),
    [
        (
            "evals.json",
            SKILL,
            ("1", "2"),
            SKILL.replace('a refund"}', f'a refund", "expectations": {TEXTS}}}').replace(
                '"States the hours"\n',
                (
                    '"States the hours",\n      "expectations": [\n'
                    '        "Names the 30-day limit",\n        "Explains the way back",\n'
                    '        "Says who pays: us"\n      ]\n'
                ),
            ),
        ),
        ("shop.yaml", AGENTV, ("refund",), AGENTV + GRADER),
        (
            "five.yaml",
            f"prompts: ['{{{{ input }}}}']\n{AGENTV}",
            ("refund",),
            f"prompts: ['{{{{ input }}}}']\n{AGENTV}"
            + GRADER.replace("assertions", "assert")
            .replace("rubrics\n", "llm-rubric\n")
            .replace("criteria:", "value:"),
        ),
    ],
    ids=["agent skills", "agentv 4", "agentv 5"],
)
def test_a_file_of_another_tool_gets_its_own_keys(
    project: Project, name: str, text: str, ids: tuple[str, ...], after: str
) -> None:
    file = project.checkout.root / name
    file.write_text(text)
    project.record("checklist", name, **dict.fromkeys(ids, GOOD))
    done = project.generate(name)
    assert (done.exit_code, file.read_text()) == (0, after), done.output
    assert project.generate(name).stdout == "nothing to do: every case has rubrics\n"


@platforms.SHELL
@pytest.mark.parametrize(
    ("criterion", "after", "said"),
    [
        ("Says yes", '"expectations": ["Says yes"]', "1 case got rubrics in 1 file"),
        (
            "contains: 30 days",
            None,
            "a file of Agent Skills has texts only; write the criterion as a text",
        ),
    ],
    ids=["text", "assertion"],
)
def test_an_edited_draft_for_agent_skills(
    project: Project, criterion: str, after: str | None, said: str
) -> None:
    name = "evals.json"
    case = '{"id": "refund", "prompt": "Hi", "expected_output": "Yes"}'
    skill = f'{{"skill_name": "shop", "evals": [\n  {case}\n]}}\n'
    file = project.checkout.root / name
    file.write_text(skill)
    project.record("checklist", name, refund=GOOD)
    done = edited(project, f'printf "rubrics:\\n  - {criterion}\\n" >"$1"', "e\na\n", name)
    expected = skill.replace('"Yes"}', f'"Yes", {after}}}') if after else skill
    assert (file.read_text(), said in done.output) == (expected, True), done.output


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("evals.json", '[{"prompt": "Hi", "expected_output": "Greets", "assertions": []}]'),
        ("a.jsonl", '{"id": "1", "input": "Hi", "criteria": "Greets"}\n'),
    ],
)
def test_a_bare_list_of_another_tool_is_left_alone(project: Project, name: str, text: str) -> None:
    file = project.checkout.root / name
    file.write_text(text)
    project.record("checklist", name, **{"1": GOOD})
    done = project.generate(name)
    assert (done.exit_code, file.read_text()) == (3, text)
    assert "the file is a list for another tool, which is not edited" in done.output
