"""Completion as a shell asks for it."""

from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import main
from tests import platforms
from tests.captured import captured

EVALS = """\
evalcases:
  - {id: refund-late, tags: [money], input: q, rubrics: [Greets]}
  - {id: refund-early, tags: [money, safety], input: q, rubrics: [Greets]}
  - {id: greeting, input: q, rubrics: [Greets]}
"""
CONFIG = """\
evals: [evals/*.eval.yaml]
targets:
  - {name: default, provider: mock, response: Hi}
  - {name: agent, provider: mock, response: Hi}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/a.eval.yaml").write_text(EVALS)
    (tmp_path / "rubric-ci.yaml").write_text(CONFIG)
    return tmp_path


def environment(*words: str) -> dict[str, str]:
    typed = {"COMP_WORDS": " ".join(["rubric-ci", *words]), "COMP_CWORD": str(len(words))}
    return {**typed, "_RUBRIC_CI_COMPLETE": "bash_complete", "PATH": ""}


def complete(folder: Path, *words: str) -> list[str]:
    with chdir(folder):
        done = CliRunner().invoke(main, [], env=environment(*words), prog_name="rubric-ci")
    assert done.stderr == ""
    return found_in(done.stdout)


def found_in(output: str) -> list[str]:
    return [line.partition(",")[2] for line in output.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("run", "--case", "ref"), ["refund-late", "refund-early"]),
        (("run", "--tag", ""), ["money", "safety"]),
        (("run", "--target", ""), ["default", "agent"]),
        (("generate", "rubrics", "--target", "a"), ["agent"]),
        (("validate", "--explain", "score-range-o"), ["score-range-overlap"]),
        (("run", "--last"), ["--last-failed"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words(project: Path, words: tuple[str, ...], found: list[str]) -> None:
    assert complete(project, *words) == found


def test_the_program_completes(project: Path) -> None:
    done = captured(
        [platforms.SCRIPTS / "rubric-ci"], cwd=project, env=environment("run", "--case", "ref")
    )
    assert (found_in(done.stdout), done.stderr) == (["refund-late", "refund-early"], "")


def test_a_project_that_cannot_be_read_completes_nothing(project: Path) -> None:
    (project / "rubric-ci.yaml").write_text("evals: 3\n")
    assert complete(project, "run", "--case", "") == []
