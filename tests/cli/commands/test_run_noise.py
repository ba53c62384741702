"""Judge noise of a run: equal answers and criteria with different marks, without labels."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.answer_judge import AnswerJudge, judging
from tests.sample_project import Project

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: openai/noisy, api_base: '{url}', api_key: none}}
targets:
  - {{name: default, provider: mock, response: Hello}}
"""
EVALS = """\
rubrics:
  - {id: polite, expected_outcome: Is polite, required: false}
  - {id: short, expected_outcome: Is short}
  - {id: greets, contains: Hello}
evalcases:
  - {id: one, input: Say hello}
"""


@pytest.fixture
def judge() -> Iterator[AnswerJudge]:
    """Mark politeness differently in each request, brevity always alike."""
    numbers = count()

    def reply(_: list[str]) -> str:
        mark = {"evidence": "", "reasoning": ""}
        polite = {**mark, "satisfied": next(numbers) % 2 == 0}
        return json.dumps({"c1": polite, "c2": {**mark, "satisfied": True}})

    with judging() as running:
        running.targets = {"noisy": reply}
        yield running


@pytest.fixture
def project(tmp_path: Path, judge: AnswerJudge) -> Project:
    project = Project(tmp_path)
    project.write("rubric-ci.yaml", CONFIG.format(url=judge.url))
    project.write("evals/a.eval.yaml", EVALS)
    return project


def noise(project: Project) -> list[dict[str, Any]]:
    found = project.report()["totals"]["judge_noise"]
    assert {each["file"] for each in found} <= {"evals/a.eval.yaml"}
    return [{key: each[key] for key in ("id", "repeated", "differing")} for each in found]


LINE = (
    "judge noise: polite (evals/a.eval.yaml): 1 of 1 answer got different marks when marked again"
)
BOTH = [
    {"id": "polite", "repeated": 1, "differing": 1},
    {"id": "short", "repeated": 1, "differing": 0},
]


def keep_as_base(project: Project) -> None:
    (project.root / ".rubric-ci/report.json").rename(project.root / "base.json")


def test_trials_with_one_answer(project: Project) -> None:
    ran = project.run("--trials", "3", "--reports", "json,markdown,html")
    assert noise(project) == BOTH
    marks = [trial["marks"] for trial in project.case["trials"]]
    assert marks.count([True, True]) == 2
    assert LINE in " ".join(ran.stdout.split())
    for name in ("summary.md", "report.html"):
        assert "judge noise: polite" in (project.root / ".rubric-ci" / name).read_text()


def test_a_single_request_shows_no_noise(project: Project) -> None:
    ran = project.run()
    assert noise(project) == []
    assert "judge noise" not in ran.stdout


def test_the_same_answer_in_an_earlier_report(project: Project) -> None:
    assert project.run(RUBRIC_CI_CACHE="false").returncode == 0
    keep_as_base(project)
    ran = project.run("--baseline", "base.json", RUBRIC_CI_CACHE="false")
    assert noise(project) == BOTH
    assert LINE in " ".join(ran.stdout.split())


def test_the_same_answer_in_an_earlier_report_after_a_merge(project: Project) -> None:
    for folder in ("base", "part"):
        ran = project.run("--shard", "1/1", "--output-dir", folder, RUBRIC_CI_CACHE="false")
        assert ran.returncode == 0
    merge = ("report", "merge", "part/report.json", "--baseline", "base/report.json")
    merged = project.call(*merge)
    assert LINE in " ".join(merged.stdout.split())
    assert noise(project) == BOTH
    compare = ("compare", ".rubric-ci/report.json", ".rubric-ci/report.json")
    again = project.call(*compare)
    assert again.returncode == 0, again.stderr


def test_a_mark_of_the_cache_is_not_marked_again(project: Project) -> None:
    assert project.run().returncode == 0
    keep_as_base(project)
    project.run("--baseline", "base.json")
    assert noise(project) == []


def test_other_answers_and_criteria_are_no_noise(project: Project, judge: AnswerJudge) -> None:
    assert project.run(RUBRIC_CI_CACHE="false").returncode == 0
    keep_as_base(project)
    project.write("evals/a.eval.yaml", EVALS.replace("Is short", "Is brief"))
    project.run("--baseline", "base.json", RUBRIC_CI_CACHE="false")
    assert noise(project) == []
    project.write("evals/a.eval.yaml", EVALS)
    config = CONFIG.format(url=judge.url).replace("Hello", "Howdy")
    project.write("rubric-ci.yaml", config)
    project.run("--baseline", "base.json", RUBRIC_CI_CACHE="false")
    assert noise(project) == []


def test_votes(project: Project) -> None:
    # Another order of criteria per vote: the judge marks the first one, so both differ.
    config = (project.root / "rubric-ci.yaml").read_text()
    project.write("rubric-ci.yaml", config.replace("api_key", "votes: 3, api_key"))
    project.run()
    (voted,) = project.case["evaluators"]
    differ = {c["id"]: len({str(vote) for vote in c["votes"]}) > 1 for c in voted["criteria"]}
    assert {each["id"]: bool(each["differing"]) for each in noise(project)} == {
        name: differs for name, differs in differ.items() if name != "greets"
    }
    assert any(differ.values())
