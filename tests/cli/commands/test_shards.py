"""`rubric-ci plan`, `run --shard` and `merge` as a workflow chains them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.invoke import invoke
from tests.sample_project import Project

pytestmark = platforms.SHELL

SUITE = """\
execution:
  evaluators:
    - {name: polite, type: code_judge, script: 'grep -qi hello {answer_file}'}
evalcases:
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Seven cases in two files; one of them fails."""
    project = Project(tmp_path)
    names = {"b": ["one", "two", "three"], "a": ["four", "five", "six", "rude"]}
    for file, ids in names.items():
        cases = "".join(f"  - {{id: {name}, input: Say hello}}\n" for name in ids)
        project.write(f"evals/{file}.eval.yaml", SUITE + cases)
    answers = {name: "Hello" for ids in names.values() for name in ids} | {"rude": "Go away"}
    lines = [json.dumps({"id": name, "answer": text}) for name, text in answers.items()]
    project.write("answers.jsonl", "\n".join(lines))
    return tmp_path


def command(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"PATH": os.environ["PATH"], "HOME": str(root), **environment}
    return invoke(root, own, *arguments)


def report(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return loaded


def stable(report: dict[str, Any]) -> dict[str, Any]:
    """All of a report that does not depend on the clock."""
    kept = {k: v for k, v in report.items() if k not in {"started_at", "duration_seconds"}}
    kept["cases"] = [
        {k: v for k, v in case.items() if k != "duration_seconds"} for case in report["cases"]
    ]
    return kept


def test_the_shards_together_are_the_run(project: Path) -> None:
    assert command(project, "run", "--output-dir", "whole").returncode == 1
    codes = [
        command(project, "run", "--shard", f"{n}/3", "--output-dir", f"parts/{n}").returncode
        for n in (1, 2, 3)
    ]
    assert sorted(codes) == [0, 0, 1]
    sizes = [len(report(project / "parts" / str(n))["cases"]) for n in (1, 2, 3)]
    assert sorted(sizes) == [2, 2, 3]
    merged = command(project, "report", "merge", "parts", "--output-dir", "merged")
    assert (merged.returncode, merged.stderr) == (1, "")
    assert stable(report(project / "merged")) == stable(report(project / "whole"))
    assert (project / "merged" / "summary.md").exists()


def test_a_shard_that_is_lost_is_no_pass(project: Path) -> None:
    shards = [f"{n}/4" for n in (1, 2, 3, 4)]
    done = [command(project, "run", "--shard", s, "--output-dir", s) for s in shards]
    kept = [s for s, run in zip(shards, done, strict=True) if run.returncode == 0][:2]
    merged = command(project, "report", "merge", *(f"{s}/report.json" for s in kept))
    assert merged.returncode == 3
    assert report(project / ".rubric-ci")["verdict"] == "error"
    assert "is missing: its cases have no verdict." in merged.stdout


def test_a_gate_that_never_fails_makes_no_pass_of_a_lost_shard(project: Path) -> None:
    shards = [f"{n}/2" for n in (1, 2)]
    done = [command(project, "run", "--shard", s, "--output-dir", s) for s in shards]
    (failing,) = [s for s, run in zip(shards, done, strict=True) if run.returncode == 1]
    merged = command(project, "report", "merge", f"{failing}/report.json", "--fail-on", "never")
    assert (report(project / ".rubric-ci")["verdict"], merged.returncode) == ("fail", 3)


def test_the_merge_is_compared_as_the_shards_are(project: Path) -> None:
    command(project, "run", "--output-dir", "before")
    baseline = ("--baseline", "before/report.json")
    for n in (1, 2):
        command(project, "run", "--shard", f"{n}/2", "--output-dir", f"parts/{n}", *baseline)
    merged = command(project, "report", "merge", "parts")
    assert (merged.returncode, merged.stderr) == (
        2,
        "rubric-ci: the shards were compared with before/report.json\n  pass it as `--baseline`\n",
    )
    assert command(project, "report", "merge", "parts", *baseline).returncode == 1


def test_the_gate_may_be_held_by_the_merge_alone(project: Path) -> None:
    for n in (1, 2):
        arguments = ["--shard", f"{n}/2", "--output-dir", f"parts/{n}", "--fail-on", "never"]
        assert command(project, "run", *arguments).returncode == 0
    for options, status, fail_on in (
        ([], 1, "fail"),
        (["--fail-on", "borderline"], 1, "borderline"),
        (["--fail-on", "never"], 0, "never"),
    ):
        assert command(project, "report", "merge", "parts", *options).returncode == status
        gate = report(project / ".rubric-ci")["gate"]
        assert (gate["fail_on"], gate["holds"]) == (fail_on, status == 0)


def test_a_plan_is_a_matrix(project: Path) -> None:
    output = project / "output"
    planned = command(
        project, "plan", "--cases-per-shard", "3", GITHUB_ACTIONS="true", GITHUB_OUTPUT=str(output)
    )
    assert (planned.returncode, planned.stderr) == (0, "")
    assert json.loads(planned.stdout) == {"shard": ["1/3", "2/3", "3/3"]}
    assert '{"shard": ["1/3", "2/3", "3/3"]}' in output.read_text()


@pytest.mark.parametrize(
    ("arguments", "shards"),
    [
        (["--max-shards", "2", "--cases-per-shard", "1"], ["1/2", "2/2"]),
        ([], ["1/1"]),
        (["--case", "ru*"], ["1/1"]),
    ],
    ids=["no-more-than", "few-cases", "chosen-cases"],
)
def test_plans(arguments: list[str], shards: list[str], project: Path) -> None:
    assert json.loads(command(project, "plan", *arguments).stdout) == {"shard": shards}


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "a/b", "1/", "-1/2"])
def test_invalid_shard(shard: str, project: Path) -> None:
    run = command(project, "run", f"--shard={shard}")
    assert run.returncode == 2
    assert f"invalid shard `{shard}`: expected I/N, such as 2/4" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.json"], "rubric-ci: gone.json does not exist\n  pass the reports of the shards; "),
        (["evals"], "rubric-ci: evals: no report.json found\n  pass the reports of the shards\n"),
        (["answers.jsonl"], "rubric-ci: answers.jsonl: "),
    ],
    ids=["no-file", "no-report-in-a-folder", "no-report"],
)
def test_nothing_to_merge(arguments: list[str], message: str, project: Path) -> None:
    merged = command(project, "report", "merge", *arguments)
    assert merged.returncode == 2
    assert merged.stderr.startswith(message)
