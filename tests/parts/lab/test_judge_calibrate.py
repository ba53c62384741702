"""`rubric-ci judge calibrate` over HTTP, and how a run uses the calibration."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rubric_ci.cli.main import main
from rubric_ci.files.project.loader import load
from rubric_ci.parts.lab.attack_corpus import Probe
from rubric_ci.parts.lab.labels import Label, dump
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.references import NotFound
from rubric_ci.values.scoring import MarkValue
from tests.gullible import Gullible, judging

EVALS = """\
rubrics:
  - {id: city, expected_outcome: Names Canberra}
  - id: depth
    score_ranges: {0: thin, 5: deep}
evalcases:
  - {id: a, input: What is the capital of Australia?}
  - {id: b, input: And why?}
"""
ANSWERS = {
    # answer: (the person's marks, the judge's)
    ("a", "Canberra"): ((True, 9), (True, 9)),
    ("a", "Canberra!"): ((True, 6), (True, 8)),
    ("a", "Sydney"): ((False, 0), (True, 2)),
    ("b", "Because"): ((False, 1), (False, 1)),
}


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[Gullible]:
    with judged_in(tmp_path) as running:
        yield running


@contextmanager
def judged_in(folder: Path) -> Iterator[Gullible]:
    """Run the judge; labels and its configuration are in the folder, which is the current one."""
    with pytest.MonkeyPatch.context() as patch, judging(answers()) as running:
        patch.chdir(folder)
        patch.delenv("GITHUB_ACTIONS", raising=False)
        patch.setenv("KEY", "none")
        Path("a.eval.yaml").write_text(EVALS, encoding="utf-8")
        Path("labels.jsonl").write_text(dump(labels()), encoding="utf-8")
        configure(running)
        yield running


@dataclass(frozen=True)
class Calibrated:
    """What one command printed and wrote."""

    result: Result
    file: Path

    def copy(self) -> None:
        """Write the calibration into the current folder."""
        Path("calibration.json").write_bytes(self.file.read_bytes())


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    folder = tmp_path_factory.mktemp("calibrated")
    with judged_in(folder):
        return Calibrated(
            rubric_ci("judge", "calibrate", "labels.jsonl"), folder / "calibration.json"
        )


def probe(evals: str, name: str, answer: str, marks: Mapping[str, MarkValue]) -> Probe:
    eval_file, _ = load("a.eval.yaml", evals, lambda _: NotFound("no such file"))
    assert eval_file
    (case,) = [case for case in eval_file.cases if case.id == name]
    (evaluator,) = case.evaluators
    assert isinstance(evaluator, RubricSpec)
    return Probe(case=case, rubric=evaluator.rubric, answer=answer, marks=marks)


def answers() -> list[Probe]:
    return [
        probe(EVALS, name, answer, dict(zip(("city", "depth"), judge, strict=True)))
        for (name, answer), (_, judge) in ANSWERS.items()
    ]


def labels() -> list[Label]:
    return [
        Label(
            file="a.eval.yaml",
            id=name,
            evaluator="rubric",
            answer=answer,
            marks=dict(zip(("city", "depth"), person, strict=True)),
        )
        for (name, answer), (person, _) in ANSWERS.items()
    ]


def configure(judge: Gullible, **gate: float) -> None:
    model = {"model": "openai/gullible", "api_base": f"{judge.url}/v1", "api_key": "${{ KEY }}"}
    target = {"name": "default", "provider": "mock", "response": "Canberra"}
    config = {"judge": model, "gate": gate, "targets": [target], "env": {"allow": ["KEY"]}}
    Path("rubric-ci.yaml").write_text(json.dumps(config), encoding="utf-8")


def rubric_ci(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, arguments, env=environment)


def calibration(file: Path = Path("calibration.json")) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def report() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(".rubric-ci/report.json").read_text(encoding="utf-8"))
    return found


def notes() -> list[str]:
    return [note for note in report()["notes"] if "calibration" in note]


def test_what_it_prints_and_writes(calibrated: Calibrated) -> None:
    result = calibrated.result
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:6] == [
        "openai/gullible, prompt 1, batched, 1 vote",
        "",
        "criterion           marks  same  kappa           95 %  sens  spec  leniency",
        "a.eval.yaml: city       4  0.75   0.50  -0.89 to 0.87  1.00  0.50     +0.25",
        "a.eval.yaml: depth      4  0.50   0.93   0.16 to 0.99     -     -     +0.10",
        "all                     8  0.62   0.65  -0.09 to 0.93  1.00  0.50     +0.18",
    ]
    assert result.stderr.splitlines()[-1] == f"wrote {calibrated.file}"
    found = calibration(calibrated.file)
    assert found["judge"] == {
        "model": "openai/gullible",
        "prompt_version": "1",
        "mode": "batched",
        "votes": 1,
    }
    assert found["overall"]["n"] == 8
    assert [c["id"] for c in found["criteria"]] == ["city", "depth"]


def test_each_criterion_has_a_name_of_its_own(judge: Gullible) -> None:
    more = """\
  - id: c
    input: And when?
    rubrics: [{id: city, expected_outcome: Names a year}, {id: year, expected_outcome: Names 1913}]
"""
    Path("a.eval.yaml").write_text(EVALS + more, encoding="utf-8")
    marks = {"city": True, "year": True}
    label = replace(labels()[0], id="c", answer="Canberra, 1913", marks=marks)
    Path("labels.jsonl").write_text(dump([*labels(), label]), encoding="utf-8")
    with judging([*answers(), probe(EVALS + more, "c", label.answer, marks)]) as running:
        configure(running)
        lines = rubric_ci("judge", "calibrate", "labels.jsonl").stdout.splitlines()
    assert [line.partition("  ")[0] for line in lines[3:8]] == [
        "a.eval.yaml: a and 1 more: city",
        "a.eval.yaml: depth",
        "a.eval.yaml: c: city",
        "a.eval.yaml: year",
        "all",
    ]
    assert [c["cases"] for c in calibration()["criteria"]] == [["a", "b"], ["a", "b"], ["c"], ["c"]]


def test_the_marks_that_differ(calibrated: Calibrated) -> None:
    said = calibrated.result.stdout
    assert "a.eval.yaml: a: depth: person 6, judge 8: as it is\n" in said
    assert calibration(calibrated.file)["differences"][1] == {
        "file": "a.eval.yaml",
        "case": "a",
        "criterion": "city",
        "person": "not satisfied",
        "judge": "satisfied",
        "reason": "as it is",
    }


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_calibration_of_an_earlier_version(judge: Gullible, version: int) -> None:
    old = {"version": version, "judge": {}, "overall": {"kappa": 0.9}}
    Path("calibration.json").write_text(json.dumps(old), encoding="utf-8")
    why = "it is of an earlier version; run `rubric-ci judge calibrate` again"
    rubric_ci("run", "--case", "a")
    assert notes() == [f"calibration.json: {why}"]
    configure(judge, min_kappa=0.6)
    refused = rubric_ci("run", "--case", "a")
    assert refused.exit_code == 2
    assert f"gate.min_kappa is 0.6, but {why}" in refused.stderr


def test_it_repeats(judge: Gullible, calibrated: Calibrated) -> None:
    rubric_ci("judge", "calibrate", "labels.jsonl")
    assert Path("calibration.json").read_bytes() == calibrated.file.read_bytes()


def test_a_label_that_no_longer_fits_stops_everything(judge: Gullible) -> None:
    Path("a.eval.yaml").write_text(EVALS.replace("id: city", "id: town"), encoding="utf-8")
    result = rubric_ci("judge", "calibrate", "labels.jsonl")
    assert result.exit_code == 2
    assert "labels.jsonl:1:1: label: a.eval.yaml: a: city: there is no such" in result.stderr
    assert not Path("calibration.json").exists()


def test_an_answer_without_a_verdict_is_reported(judge: Gullible) -> None:
    judge.mute = "b"
    result = rubric_ci("judge", "calibrate", "labels.jsonl")
    assert result.exit_code == 3
    assert "1 labelled answers have no verdict and are not counted above" in result.stdout
    assert calibration()["silent"] == 1


def test_a_run_reports_that_the_judge_is_another(judge: Gullible, calibrated: Calibrated) -> None:
    calibrated.copy()
    rubric_ci("run", "--case", "a")
    assert notes() == []
    rubric_ci("run", "--case", "a", "--votes", "3")
    assert notes() == [
        "calibration.json: the judge is not the one that was calibrated: votes was 1 and is 3"
    ]


def test_a_gate_that_demands_a_calibration(judge: Gullible, calibrated: Calibrated) -> None:
    configure(judge, min_kappa=-0.5)
    without = rubric_ci("run")
    assert (without.exit_code, without.stderr.splitlines()[-2]) == (
        2,
        "rubric-ci: gate.min_kappa is -0.5, but there is no calibration.json",
    )
    calibrated.copy()
    assert rubric_ci("run", "--case", "a").exit_code == 0
    configure(judge, min_kappa=0.6)  # which the estimate of 0.65 would meet
    weak = rubric_ci("run")
    assert weak.exit_code == 2
    below = (
        "the lower end of kappa is -0.09 (kappa 0.65, 95 % interval -0.09 to 0.93); "
        "gate.min_kappa requires 0.6"
    )
    assert f"its agreement with people is too low: {below}" in weak.stderr
    again = rubric_ci("judge", "calibrate", "labels.jsonl")
    assert (again.exit_code, again.stderr.splitlines()[-1]) == (1, below)


def test_a_budget_that_is_used_up_writes_nothing(judge: Gullible) -> None:
    Path("calibration.json").write_text("as it was", encoding="utf-8")
    result = rubric_ci(
        "judge", "calibrate", "labels.jsonl", "--max-calls", "3", "--concurrency", "1"
    )
    assert result.exit_code == 3
    assert Path("calibration.json").read_text(encoding="utf-8") == "as it was"
    assert result.stderr.splitlines()[-3:] == [
        "3 model calls, cost unknown, 30 + 15 tokens",
        "budget: call limit of 3 reached: 1 of 4 answers have no verdict",
        "calibration.json was not written because some labelled answers have no verdict",
    ]
    assert "1 labelled answers have no verdict and are not counted above" in result.stdout
    assert "all                     6 " in result.stdout


def test_a_budget_for_nothing(judge: Gullible) -> None:
    result = rubric_ci("judge", "calibrate", "labels.jsonl", RUBRIC_CI_MAX_SECONDS="0")
    assert result.exit_code == 3
    assert "budget: time limit of 0 s reached: 4 of 4 answers have no verdict" in result.stderr
    assert "no labelled answer has a verdict" in result.stderr
    assert not Path("calibration.json").exists()


def test_the_estimate_comes_first(calibrated: Calibrated) -> None:
    shown = calibrated.result.stderr
    assert "about 4 requests to openai/gullible, " in shown
    assert "remembered" not in shown


def test_a_judge_of_an_evaluator_needs_its_own(judge: Gullible, calibrated: Calibrated) -> None:
    calibrated.copy()
    configure(judge, min_kappa=-0.5)
    own = "execution: {evaluators: [{name: tone, type: llm_judge, model: openai/other}]}"
    text = EVALS.replace("input: And why?", f"input: And why?, {own}")
    Path("a.eval.yaml").write_text(text, encoding="utf-8")
    result = rubric_ci("run")
    assert result.exit_code == 2
    assert "model was 'openai/gullible' and is 'openai/other'" in result.stderr
    assert rubric_ci("run", "--case", "a").exit_code == 0
