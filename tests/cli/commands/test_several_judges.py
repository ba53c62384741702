"""A panel of judges behind HTTP: `run` and its reports."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.answer_judge import AnswerJudge, judging
from tests.sample_project import Project

CASES = 24
EVALS = "rubrics: [{id: polite, expected_outcome: Is polite}]\nevalcases:\n"
CONFIG = """\
evals: [evals/*.eval.yaml]
judge:
  votes: 1
  %s
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
"""


def satisfied(when: Callable[[int], bool]) -> Callable[[list[str]], str]:
    """Return a judge that marks by the number in the answer."""

    def reply(texts: list[str]) -> str:
        (number,) = re.findall(r"answer number (\d+)", texts[-1])
        return json.dumps({"c1": {"satisfied": when(int(number)), "reasoning": "", "evidence": ""}})

    return reply


@pytest.fixture
def judge() -> Iterator[AnswerJudge]:
    with judging() as running:
        running.targets = {
            "one": satisfied(lambda n: n % 2 == 0),
            "two": satisfied(lambda n: n % 2 == 0 and n != 2),
            "odd": satisfied(lambda n: n % 3 == 0),
            "yes": satisfied(lambda _: True),
        }
        yield running


@pytest.fixture
def project(tmp_path: Path, judge: AnswerJudge) -> Project:
    project = Project(tmp_path)
    cases = "".join(f"  - {{id: c{n}, input: Say hello}}\n" for n in range(CASES))
    project.write("evals/a.eval.yaml", EVALS + cases)
    answers = (json.dumps({"id": f"c{n}", "answer": f"answer number {n}."}) for n in range(CASES))
    project.write("answers.jsonl", "\n".join(answers))
    return project


def configure(project: Project, judge: AnswerJudge, key: str, *models: str, more: str = "") -> None:
    given = ", ".join(
        f"{{model: openai/{model}, api_base: '{judge.url}', api_key: none}}" for model in models
    )
    project.write("rubric-ci.yaml", CONFIG % f"{key}: [{given}]\n  {more}")


def test_the_majority_and_the_marks_of_each_judge(project: Project, judge: AnswerJudge) -> None:
    configure(project, judge, "panel", "one", "two", "odd")
    ran = project.run(RUBRIC_CI_CACHE="false")
    report = project.report()
    assert report["judge"]["model"] == "openai/one + openai/two + openai/odd"
    cases = {case["id"]: case for case in report["cases"]}
    (evaluator,) = cases["c2"]["evaluators"]
    assert evaluator["judge"] == "openai/one + openai/two + openai/odd"
    assert evaluator["criteria"][0]["votes"] == [True, False, False]
    assert evaluator["criteria"][0]["judges"] == ["openai/one", "openai/two", "openai/odd"]
    assert evaluator["warnings"] == ["polite is disputed: 2 of 3 judges agree"]
    assert cases["c2"]["verdict"] == "fail"
    assert cases["c4"]["verdict"] == "pass"
    words = "openai/one satisfied, openai/two not satisfied, openai/odd not satisfied"
    assert f"judges differ: {words}" in " ".join(ran.stdout.split())
    assert report["totals"]["calls"] == 3 * CASES


def test_a_panel_with_one_judge_down_has_a_verdict(project: Project, judge: AnswerJudge) -> None:
    configure(project, judge, "panel", "one", "one", "broken")
    judge.targets = {**judge.targets, "broken": lambda _: "no JSON"}
    assert project.run(RUBRIC_CI_CACHE="false").returncode == 1
    report = project.report()
    assert report["totals"]["errored"] == 0
    said = "The judge `openai/broken` gave no marks in any of 24 panels; "
    assert f"{said}the others are `openai/one`." in report["notes"]
    warning, *_ = report["cases"][0]["evaluators"][0]["warnings"]
    assert warning.startswith(
        "the judge openai/broken gave no marks: openai/broken: no valid reply"
    )
    configure(project, judge, "panel", "one", "broken", "broken")
    assert project.run(RUBRIC_CI_CACHE="false").returncode == 3
    reason = project.report()["cases"][0]["reason"]
    assert "no majority: only 1 of 3 judges gave marks; openai/broken: no valid reply" in reason
