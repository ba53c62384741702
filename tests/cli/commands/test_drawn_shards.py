"""Drawn suites, split into shards and merged: the report is the one of the whole run."""

import json
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.answer_judge import AnswerJudge, judging
from tests.checkout import start_repository
from tests.invoke import invoke


def run(root: Path, judge: AnswerJudge, *arguments: str) -> dict[str, Any]:
    """Run a command, and return its report with its exit code."""
    own = {"PATH": os.environ["PATH"], "HOME": str(root), "OPENAI_API_KEY": "none"}
    own["OPENAI_BASE_URL"] = f"{judge.url}/v1"
    shutil.rmtree(root / "out", ignore_errors=True)  # an estimate is made from an earlier report
    uncached = ["--reuse", "nothing"] if arguments[0] == "run" else []
    done = invoke(root, own, *arguments, *uncached, "--output-dir", "out")
    found: dict[str, Any] = json.loads((root / "out/report.json").read_text())
    kept = {k: v for k, v in found.items() if k not in {"started_at", "duration_seconds"}}
    kept["cases"] = [_timeless(case) for case in found["cases"]]
    kept["used_by"] = [{**each, "seconds": 0} for each in found["used_by"]]
    return {**kept, "exit": int(done.returncode)}


def _timeless(of: dict[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in of.items() if k != "duration_seconds"}
    return {**kept, "trials": [_timeless(each) for each in of.get("trials", [])]}


def suite(draw: Random, fail_on: str, url: str) -> dict[str, str]:
    """Return the files of a suite; some answers have no word that the judge looks for."""
    config = {
        "judge": {"model": "openai/m", "api_base": f"{url}/v1"},
        "gate": {"fail_on": fail_on},
        "targets": [{"name": "default", "provider": "recorded", "answers": "a.jsonl"}],
    }
    files = {"rubric-ci.yaml": json.dumps(config)}
    answers: list[str] = []
    for file in range(draw.randint(1, 3)):
        cases: list[dict[str, Any]] = []
        for n in range(draw.randint(1, 5)):
            name = f"case-{file}-{n}"
            judged: dict[str, Any] = {"rubrics": ["Greets", "Is kind"][: draw.randint(1, 2)]}
            graded = draw.choice([judged, judged, {"rubrics": [{"contains": "e"}]}])
            cases.append({"id": name, "input": "q", **graded})
            answer = draw.choice(["hello", "hello", "bye"])
            answers.append(json.dumps({"id": name, "answer": answer}))
        files[f"{file}.eval.yaml"] = json.dumps({"evalcases": cases})
    return {**files, "a.jsonl": "\n".join(answers) + "\n"}


@pytest.mark.parametrize("seed", range(10))
def test_merged_shards_are_the_whole_run(seed: int, tmp_path: Path) -> None:
    draw = Random(seed)
    start_repository(tmp_path)
    count, compares = draw.randint(1, 6), draw.random() < 0.5
    baseline = ["--baseline", "reference.json"] if compares else []
    options = [*baseline, *draw.choice([[], ["--trials", "2"], ["--trials", "3"]])]
    fail_on = draw.choice(["fail", "borderline", "regression" if compares else "never"])
    with judging() as judge:
        for name, text in suite(draw, fail_on, judge.url).items():
            (tmp_path / name).write_text(text)
        if compares:
            run(tmp_path, judge, "run", "--trials", "3")
            (tmp_path / "out/report.json").rename(tmp_path / "reference.json")
            judge.word = draw.choice(["hello", "bye"])  # the judge moves, or does not
        whole = run(tmp_path, judge, "run", *options)
        parts = [f"{number}.json" for number in range(1, count + 1)]
        for number, part in enumerate(parts, start=1):
            shard = ("--shard", f"{number}/{count}", "--fail-on", "never")
            run(tmp_path, judge, "run", *shard, *options)
            (tmp_path / "out/report.json").rename(tmp_path / part)
        merged = run(tmp_path, judge, "report", "merge", *parts, *baseline)
    assert merged == whole
