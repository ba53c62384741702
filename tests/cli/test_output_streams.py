"""Output to a closed pipe and to a full disk, in a real shell."""

import re
import sys
from pathlib import Path

import pytest

from tests import platforms
from tests.captured import captured
from tests.forked_command import at_a_terminal
from tests.sample_project import EVAL, Project, clean_environment

pytestmark = platforms.PIPES
UNKNOWN = "colour" * 70
MUCH = "\n".join(  # 130 kB of problems: more than a pipe holds
    [
        "evalcases:",
        *(f"  - {{id: c{n}, input: q, rubrics: [x], {UNKNOWN}: red}}" for n in range(170)),
    ]
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def shell(project: Project, line: str) -> tuple[str, str, str]:
    """Run `rubric-ci …` of a shell's line; return its exit code and what the shell saw."""
    script = f'rubric-ci() {{ "{sys.executable}" -m rubric_ci "$@"; }}\n{line}\necho $code > code'
    done = captured(
        ["bash", "-c", script], cwd=project.root, env=clean_environment(), errors="replace"
    )
    return (project.root / "code").read_text().strip(), done.stdout, done.stderr


@pytest.mark.parametrize(("rule", "code"), [("error", "1"), ("warning", "0")])
def test_a_reader_that_stops_early_changes_nothing(project: Project, rule: str, code: str) -> None:
    project.write("evals/a.eval.yaml", MUCH)
    project.write("rubric-ci.yaml", f"rules: {{unknown-key: {rule}}}\n")
    line = "rubric-ci validate evals | true; code=${PIPESTATUS[0]}"
    seen, stdout, stderr = shell(project, line)
    assert (seen, stdout, stderr) == (code, "", "")


def test_a_run_finishes_although_the_pipe_is_closed(project: Project) -> None:
    project.write("evals/a.eval.yaml", EVAL)
    line = "rubric-ci run 2>&1 | true; code=${PIPESTATUS[0]}"
    assert shell(project, line)[0] == "0"
    assert project.report()["verdict"] == "pass"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", ["validate", "run", "--help", "validate --explain all"])
def test_a_full_disk_is_reported_and_is_not_a_verdict(project: Project, words: str) -> None:
    code, _, stderr = shell(project, f"rubric-ci {words} > /dev/full; code=$?")
    assert code == "2"
    assert stderr.splitlines()[-1] == (
        "rubric-ci: cannot write to standard output: No space left on device"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_behind_stderr_changes_nothing(project: Project) -> None:
    code, stdout, _ = shell(project, "rubric-ci run 2> /dev/full; code=$?")
    assert code == "0"
    assert "Gate passes" in stdout


@pytest.mark.parametrize("words", ["run", "validate evals"])
def test_what_an_encoding_lacks_is_spelled_out(project: Project, words: str) -> None:
    project.write("evals/a.eval.yaml", EVAL.replace("greeting", "日本").replace("input", "入力"))
    project.write("evals/b.eval.yaml", EVAL.replace("greeting", "日本"))
    project.write("answers.jsonl", '{"id": "日本", "answer": "Go away"}\n')
    code, stdout, stderr = shell(
        project, f"export PYTHONIOENCODING=cp1252; rubric-ci {words}; code=$?"
    )
    assert (code, "Traceback" in stderr) == ("1", False)
    assert {"run": r"\u65e5\u672c", "validate evals": r"\u5165\u529b"}[words] in stdout


def test_without_a_standard_input_the_eval_file_is_missing(project: Project) -> None:
    code, _, stderr = shell(project, "rubric-ci validate - <&-; code=$?")
    assert (code, stderr) == ("2", "rubric-ci: standard input is closed\n")


@pytest.mark.parametrize(
    ("value", "colored"), [(None, True), ("", True), ("1", False)], ids=["unset", "empty", "set"]
)
@pytest.mark.parametrize("words", [("run",), ("validate", "evals")], ids=["run", "validate"])
def test_colours_at_a_terminal(
    project: Project, words: tuple[str, ...], value: str | None, colored: bool
) -> None:
    project.write("evals/b.eval.yaml", "evalcases: []\n")
    environment = clean_environment() | ({} if value is None else {"NO_COLOR": value})
    around = {k: v for k, v in environment.items() if k != "NO_COLOR" or value is not None}
    with at_a_terminal(project.root, around, *words) as terminal:
        seen = terminal.read()
    assert (re.search(r"\x1b\[[0-9;]*3[0-7]m", seen) is not None) == colored
