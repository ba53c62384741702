"""`rubric-ci judge test` with a judge that is a program, and real git."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubric_ci.cli.main import main

JUDGE = """\
import json, re, sys
prompt = sys.stdin.read()
answer = re.search(r"<answer_(\\w+)>\\n(.*?)\\n</answer_", prompt, re.S)[2]
marks = {}
for alias, name in re.findall(r'"(c\\d+)": .*"(\\w+)": \\.\\.\\.', prompt):
    found = "refund" in answer if name == "present" else False
    marks[alias] = {"evidence": "", "reasoning": "By the word.", name: found}
print("no reply" if "silent" in answer else json.dumps(marks))
"""
RUBRIC = """\
criteria:
- {id: promise, expected_outcome: Promises a refund, penalty: 4}
- {id: short, max_words: 5, required: false}
tests:
- {name: says will, answer: We will refund you, marks: {promise: true, short: true}}
- {answer: Ask the shop, question: "{{ May I }}?", marks: {promise: false}}
"""
WRONG = "- {name: wrong, answer: No refund, marks: {promise: false, short: [true, false]}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "judge.py").write_text(JUDGE, encoding="utf-8")
    line = json.dumps([sys.executable, str(tmp_path / "judge.py")])
    config = f"judge: {{command: {line}}}\n"
    (tmp_path / "rubric-ci.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics/shop.rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    git("init", "-q")
    commit()
    return tmp_path


def git(*words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "-qm", "x")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["judge", "test", *words], prog_name="rubric-ci")


def write(text: str) -> None:
    Path("rubrics/shop.rubric.yaml").write_text(text, encoding="utf-8")


def test_every_mark_is_as_expected(folder: Path) -> None:
    done = run()
    assert (done.stdout, done.exit_code) == ("2 of 2 tests got the marks that they expect\n", 0)


def test_a_mark_that_differs(folder: Path) -> None:
    write(RUBRIC + WRONG)
    done = run("rubrics")
    assert done.stdout == (
        "rubrics/shop.rubric.yaml:7: shop: wrong\n"
        "  promise: expected not present, got present: By the word.\n"
        "2 of 3 tests got the marks that they expect; marks of 1 file differ\n"
    )
    assert done.exit_code == 1


def test_a_workflow_shows_other_marks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(RUBRIC + WRONG)
    summary = folder / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    done = run("rubrics")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == (
        "::error file=rubrics/shop.rubric.yaml,line=7,title=shop%3A wrong::"
        "promise: expected not present, got present: By the word."
    )
    assert summary.read_text(encoding="utf-8").strip() == (
        "## rubric-ci \xb7 tests of rubrics\n\n```\n"
        "rubrics/shop.rubric.yaml:7: shop: wrong\n"
        "  promise: expected not present, got present: By the word.\n"
        "2 of 3 tests got the marks that they expect; marks of 1 file differ\n```"
    )


CONDITIONAL = """\
criteria:
- {id: link, expected_outcome: Gives a link, applies_if: {contains: "https://"}}
- {id: formal, expected_outcome: Is formal, applies_if: {tag: formal}}
tests:
"""


@pytest.mark.parametrize(
    ("marks", "code"),
    [
        ("{link: not_applicable}", 0),
        ("{formal: not_applicable, link: not_applicable}", 0),
        ("{link: true}", 1),
        ("{formal: false}", 1),
    ],
)
def test_no_criterion_applies(folder: Path, marks: str, code: int) -> None:
    write(f"{CONDITIONAL}- {{answer: Ask, marks: {marks}}}\n")
    assert run("rubrics").exit_code == code


def test_no_criterion_applies_to_the_tags(folder: Path) -> None:
    only = CONDITIONAL.replace("- {id: link", "# {id: link")
    write(f"{only}- {{answer: Ask, marks: {{formal: not_applicable}}}}\n")
    assert run("rubrics").output == "1 of 1 test got the marks that they expect\n"


def test_no_verdict(folder: Path) -> None:
    write(RUBRIC + "- {answer: silent, marks: {promise: false}}\n")
    done = run("rubrics/shop.rubric.yaml", "--format", "json")
    last = json.loads(done.stdout)["tests"][-1]
    assert (last["outcome"], last["marks"], done.exit_code) == ("no-verdict", [], 3)


def test_no_verdict_is_shown_in_a_workflow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(RUBRIC + "- {answer: silent, marks: {promise: false}}\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_OUTPUT", str(folder / "outputs"))
    done = run("rubrics")
    [annotation] = [line for line in done.stdout.splitlines() if line.startswith("::error")]
    assert annotation.startswith(
        "::error title=rubric-ci::1 test without marks, the first rubrics/shop.rubric.yaml:7: "
    )
    assert annotation.endswith("(run it again)")
    assert "failure<<" in (folder / "outputs").read_text("utf-8")


def test_junit(folder: Path) -> None:
    write(RUBRIC + WRONG)
    assert 'failures="1" errors="0"' in run("--format", "junit").stdout


def test_only_what_a_change_edits_with_the_tests_of_before(folder: Path) -> None:
    assert run("--changed-since", "HEAD").exit_code == 0
    write(RUBRIC.replace("Promises a refund", "Offers a refund").replace("We will", "We never"))
    found = json.loads(run("--changed-since", "HEAD", "--format", "json").stdout)["tests"]
    assert [(each["name"], each["before_the_change"]) for each in found] == [
        ("shop: says will", False),
        ("shop: test-2", False),
        ("shop: says will (as before the change)", True),
    ]


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ("{answer: a}", "missing-key: an entry of `tests` has no `marks`"),
        ("{answer: a, marks: {promis: true}}", "example-mark: there is no criterion `promis`"),
        ("{answer: a, marks: {promise: [true, 2]}}", "example-mark: `promise` is never marked so"),
        ("{marks: {promise: true}}", "test-answer: a test has either `answer` or `answer_file`"),
        ("{answer_file: gone.md, marks: {promise: true}}", "file-missing: `gone.md`: no such file"),
    ],
    ids=["no marks", "id", "mark", "no answer", "no file"],
)
def test_problems_of_tests(folder: Path, tests: str, expected: str) -> None:
    write(f"{RUBRIC}- {tests}\n")
    done = run()
    assert "rubrics/shop.rubric.yaml:7:" in done.stderr
    assert expected in done.stderr
    assert done.exit_code == 2


CASE = """\
evalcases:
- id: return
  input: May I return it?
  rubrics:
    criteria:
    - {id: promise, expected_outcome: Promises a refund, penalty: 4}
    - {id: formal, expected_outcome: Is formal, applies_if: {tag: formal}}
    tests:
    - {answer: "We will {{ refund }} you", marks: {promise: true}}
    - {answer: Never, marks: {promise: [true, false], formal: not_applicable}}
"""
EVALS = Path("evals/a.eval.yaml")


@pytest.fixture
def case(folder: Path) -> str:
    Path("rubrics/shop.rubric.yaml").unlink()
    EVALS.parent.mkdir()
    EVALS.write_text(CASE, encoding="utf-8")
    commit()
    return CASE


@pytest.mark.parametrize("words", [(), ("evals",), (EVALS.as_posix(),), ("evals/*",)])
def test_the_tests_of_a_case(case: str, words: tuple[str, ...]) -> None:
    done = run(*words)
    assert (done.stdout, done.exit_code) == ("2 of 2 tests got the marks that they expect\n", 0)


def test_a_mark_of_a_case_that_differs(case: str) -> None:
    wrong = case.replace("promise: true", "promise: false, formal: true")
    EVALS.write_text(wrong, encoding="utf-8")
    assert run().stdout == (
        "evals/a.eval.yaml:9: return: test-1\n"
        "  promise: expected not present, got present: By the word.\n"
        "  formal: expected satisfied, got not_applicable: its tag or variable leaves it out\n"
        "1 of 2 tests got the marks that they expect; marks of 1 file differ\n"
    )


def test_the_tests_of_cases_that_a_change_edits(case: str) -> None:
    assert run("--changed-since", "HEAD").stderr == "no tests of rubric files or cases to run\n"
    EVALS.write_text(case.replace("  input: May", "  # moved\n  input: May"), encoding="utf-8")
    assert run("--changed-since", "HEAD").stderr == "no tests of rubric files or cases to run\n"
    edited = case.replace("Promises a", "Offers a").replace("We will", "We never")
    EVALS.write_text(edited, encoding="utf-8")
    found = json.loads(run("--changed-since", "HEAD", "--format", "json").stdout)["tests"]
    assert [(each["name"], each["line"], each["before_the_change"]) for each in found] == [
        ("return: test-1", 9, False),
        ("return: test-2", 10, False),
        ("return: test-1 (as before the change)", 2, True),
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("promise: true", "promis: true", "9:52: example-mark: there is no criterion `promis`"),
        (", marks: {promise: true}", "", "missing-key: an entry of `tests` has no `marks`"),
        ("{promise: true}", "{promise: 3}", "example-mark: `promise` is never marked so"),
    ],
)
def test_problems_of_tests_of_a_case(case: str, before: str, after: str, expected: str) -> None:
    EVALS.write_text(case.replace(before, after), encoding="utf-8")
    done = run()
    assert expected in done.stderr
    assert done.exit_code == 2


@pytest.mark.parametrize("edited", ["guide.md", "answer.md"])
def test_a_file_that_a_rubric_file_reads_changed(edited: str, folder: Path) -> None:
    write(f"guidelines: guide.md\n{RUBRIC}- {{answer_file: answer.md, marks: {{short: true}}}}\n")
    for name in ("guide.md", "answer.md"):
        (folder / "rubrics" / name).write_text("Ask\n", encoding="utf-8")
    commit()
    assert run("--changed-since", "HEAD").output == "no tests of rubric files or cases to run\n"
    (folder / "rubrics" / edited).write_text("Ask the shop\n", encoding="utf-8")
    assert run("--changed-since", "HEAD").stdout.startswith("3 of 3 tests")
