"""Work is labelled, calibrated, probed, judged again and watched wherever an answer is."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests import platforms
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import Checkout
from tests.cli.commands import test_compare
from tests.forked_command import at_a_terminal, press
from tests.sample_project import clean_environment

pytestmark = platforms.TERMINALS

AGENT = """\
echo "total = 2" > fix.py
cat <<END
{"output_messages": [
  {"role": "assistant", "tool_calls": [
    {"tool": "Bash", "input": {"command": "pytest -q"}, "output": "2 passed"}]},
  {"role": "assistant", "content": "I fixed $1"}]}
END
"""
CONFIG = """\
judge: {{model: openai/m, api_key: "${{{{ OPENAI_API_KEY }}}}", api_base: "{url}/v1"}}
targets:
  - name: default
    provider: cli
    command_template: "sh {folder}/agent.sh {{EVAL_ID}}"
    workspace: {{keep: [diff, "*.py"]}}
    depends_on: [agent.sh]
"""
EVALS = """\
evalcases:
  - id: one
    input: Fix one
    rubrics: &rubrics
      sees: [answer, tool_calls, file_changes, files]
      criteria:
        - {id: tested, expected_outcome: Runs the tests}
        - {id: fixed, expected_outcome: Fixes the total}
        - {called: Bash}
        - {exists: fix.py}
  - {id: two, input: Fix two, rubrics: *rubrics}
"""
QUOTES = {"Runs the tests": "pytest -q", "Fixes the total": "total = 2"}


class WorkJudge(AnswerJudge):
    """A judge that reads the work: a criterion is met if what it asks for is somewhere in it."""

    def marks(self, request: dict[str, Any]) -> str:
        """Mark every criterion by a passage of the work."""
        user = str(request["messages"][1]["content"])
        self.answers.append(user)
        found = re.findall(r"^(c\d+): .*\n    (.*)$", user, re.MULTILINE)
        work = user.partition("Tool calls")[2]
        return json.dumps({alias: self._mark(QUOTES[text], work) for alias, text in found})

    def _mark(self, quote: str, work: str) -> dict[str, Any]:
        met = quote in work and self.word != "strict"
        return {"evidence": quote if met else "", "reasoning": "r", "satisfied": met}


def rubric_ci(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return test_compare.rubric_ci(folder, *arguments, OPENAI_API_KEY="none", **environment)


@pytest.fixture
def judge() -> Iterator[AnswerJudge]:
    with judging(WorkJudge()) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, judge: AnswerJudge) -> Path:
    """A project whose agent was graded once."""
    config = CONFIG.format(url=judge.url, folder=tmp_path)
    files = {"agent.sh": AGENT, "rubric-ci.yaml": config, "a.eval.yaml": EVALS}
    Checkout.create(tmp_path).write(files)
    done = rubric_ci(tmp_path, "run")
    assert done.returncode == 0, done.stderr + done.stdout
    return tmp_path


def test_each_trial_keeps_its_work(project: Path) -> None:
    """Also where only the text of an answer is marked."""
    evals = "evalcases: [{id: one, input: Fix one, rubrics: [{contains: fixed}]}]\n"
    (project / "a.eval.yaml").write_text(evals)
    done = rubric_ci(project, "run", "--trials", "2", "--reuse", "nothing")
    assert done.returncode == 0, done.stderr + done.stdout
    (case,) = json.loads((project / ".rubric-ci/report.json").read_text())["cases"]
    for trial in case["trials"]:
        assert [step["tool"] for step in trial["trace"]["steps"]] == ["Bash"]
        assert [change["path"] for change in trial["file_changes"]] == ["fix.py"]


def labelled(folder: Path, keys: str) -> str:
    """Press keys in a labelling session, and return what was shown."""
    terminal = at_a_terminal(
        folder, clean_environment(), "judge", "label", "a.eval.yaml", lines=90, columns=140
    )
    shown = ""
    for key in keys:
        terminal.expect_exact("q quit")
        shown += str(terminal.before)
        press(terminal, key)
    terminal.expect(pexpect.EOF)
    terminal.close()
    return shown.replace("\r", "")


def test_labels_show_the_work_folded_and_keep_it(project: Path) -> None:
    shown = labelled(project, "wyyyy")
    screens = shown.split("(1 of 4)")
    assert "Work: 1 tool call, 1 changed file, 1 kept file" in screens[1]
    assert "w show the work" in screens[1]
    assert "pytest" not in screens[1]
    assert 'Tool calls:\n  1. Bash {"command": "pytest -q"}\n  2 passed' in screens[2]
    assert "+total = 2" in screens[2]
    assert "w fold the work" in screens[2]
    lines = (project / "labels.jsonl").read_text().splitlines()
    labels = [json.loads(line) for line in lines]
    assert [each["trace"]["steps"][0]["tool"] for each in labels] == ["Bash", "Bash"]
    assert [each["file_changes"][0]["path"] for each in labels] == ["fix.py", "fix.py"]


def test_the_judge_is_calibrated_on_work(project: Path, judge: AnswerJudge) -> None:
    labelled(project, "yyyn")
    before = len(judge.answers)
    done = rubric_ci(project, "judge", "calibrate", "labels.jsonl")
    assert done.returncode == 0, done.stderr
    assert len(judge.answers) == before + 2
    found = json.loads((project / "calibration.json").read_text())
    rows = {each["id"]: (each["n"], each["accuracy"]) for each in found["criteria"]}
    assert rows == {"tested": (2, 1.0), "fixed": (2, 0.5)}


@pytest.mark.parametrize(
    ("work", "why"),
    [
        pytest.param(None, "no label is about the work of an agent", id="no-labels"),
        pytest.param(0.4, "its agreement with people about work is too low", id="too-low"),
        pytest.param(0.7, "", id="high-enough"),
    ],
)
def test_a_minimum_of_agreement_holds_for_work(project: Path, work: float | None, why: str) -> None:
    labelled(project, "yyyn")
    assert rubric_ci(project, "judge", "calibrate", "labels.jsonl").returncode == 0
    path = project / "calibration.json"
    found = json.loads(path.read_text())
    assert found["work"]["n"] == 4
    high = {**found["overall"], "kappa": 0.9, "interval": [0.8, 1.0]}
    of_work = work and {**high, "kappa": work, "interval": [work, work]}
    path.write_text(json.dumps({**found, "overall": high, "work": of_work}))
    config = (project / "rubric-ci.yaml").read_text()
    (project / "rubric-ci.yaml").write_text(f"{config}gate: {{min_kappa: 0.6}}\n")
    done = rubric_ci(project, "run")
    assert done.returncode == (2 if why else 0)
    assert not why or f"gate.min_kappa is 0.6, but {why}" in done.stderr


def test_criteria_about_work_are_probed(project: Path) -> None:
    done = rubric_ci(project, "probe")
    assert done.returncode == 0, done.stderr
    found = json.loads((project / ".rubric-ci" / "probe.json").read_text())["criteria"]
    assert {each["id"]: each["word"] for each in found} == {"tested": "sound", "fixed": "sound"}
    assert all(each["noticed"][0] == each["noticed"][1] >= 2 for each in found)


def test_a_judge_that_ignores_the_work_never_fails(project: Path, judge: AnswerJudge) -> None:
    judge.targets = {"m": lambda _: json.dumps(dict.fromkeys(("c1", "c2"), MET))}
    done = rubric_ci(project, "run", RUBRIC_CI_CACHE="false")
    assert done.returncode == 0, done.stderr
    done = rubric_ci(project, "probe", "--fail-on", "never-fails", RUBRIC_CI_CACHE="false")
    assert done.returncode == 1
    found = json.loads((project / ".rubric-ci" / "probe.json").read_text())["criteria"]
    words = {each["id"]: each["word"] for each in found}
    assert words == dict.fromkeys(("tested", "fixed"), "never-fails")


MET = {"evidence": "pytest -q", "reasoning": "r", "satisfied": True}


def test_kept_work_is_watched(project: Path, judge: AnswerJudge) -> None:
    night = ("--trials", "15", "--baseline", ".rubric-ci/reference")
    assert rubric_ci(project, "run", *night).returncode == 0
    assert rubric_ci(project, "baseline", "keep").returncode == 0
    (path,) = (project / ".rubric-ci/reference").rglob("report.json")
    items = json.loads(path.read_text())["sentinel"]["items"]
    assert {each["id"]: each["repeats"] for each in items} == {"one": [True] * 5, "two": [True] * 5}


def test_judgements_of_equal_work_are_cached(project: Path, judge: AnswerJudge) -> None:
    before = len(judge.answers)
    done = rubric_ci(project, "run", "--reuse", "marks")  # the agent is started again
    assert done.returncode == 0
    assert len(judge.answers) == before
    text = (project / "agent.sh").read_text()
    (project / "agent.sh").write_text(text.replace("2 passed", "3 passed"))
    assert rubric_ci(project, "run").returncode == 0
    assert len(judge.answers) == before + 2
