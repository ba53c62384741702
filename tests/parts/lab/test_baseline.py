"""`rubric-ci baseline` as a user types it."""

import subprocess
from dataclasses import replace
from pathlib import Path

from rubric_ci.gate.report import json_format
from rubric_ci.values.report import RunReport
from tests.checkout import Checkout
from tests.invoke import invoke
from tests.nights import case, night
from tests.sample_project import clean_environment

FULL = night(1, case("a", 15), case("b", 0, 15))
WORSE = night(2, case("a", 0, 10), case("b", 0, 3))

NEXT = "2026-01-03T00:00:00+00:00"


def rubric_ci(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return invoke(folder, clean_environment(), *arguments)


def written(folder: Path, name: str, report: RunReport) -> str:
    (folder / name).write_text(json_format.render(report), encoding="utf-8")
    return name


def test_keep_compare_and_accept(tmp_path: Path) -> None:
    first = written(tmp_path, "first.json", FULL)
    done = rubric_ci(tmp_path, "baseline", "keep", first)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "2 of 2 cases: added trials to the baseline\n"
        "night 1 in .rubric-ci/reference/reference.json\n"
    )
    second = written(tmp_path, "second.json", WORSE)
    folder = (".rubric-ci/reference", second)
    assert rubric_ci(tmp_path, "baseline", "keep", second).returncode == 0
    compared = rubric_ci(tmp_path, "compare", *folder)
    assert compared.returncode == 0
    assert "≈ worse tonight: pass 1.00 → fail" in compared.stdout
    second = written(tmp_path, "second.json", replace(WORSE, started_at=NEXT))
    folder = (".rubric-ci/reference", second)
    compared = rubric_ci(tmp_path, "compare", *folder)
    assert compared.returncode == 1
    assert "a broke." in compared.stdout

    reason = ("--reason", "shorter answers are wanted")
    accepted = rubric_ci(tmp_path, "baseline", "accept", second, *reason)
    assert (accepted.returncode, accepted.stderr) == (0, "")
    assert accepted.stdout.splitlines()[0].startswith("e.yaml: a: ▼ broke: pass 1.00 → fail")
    assert accepted.stdout.splitlines()[-1] == (
        "accepted: second.json of 2026-01-03T00:00:00+00:00 (shorter answers are wanted)"
    )
    again = rubric_ci(tmp_path, "compare", *folder)
    assert again.returncode == 0
    shown = (
        "Baseline: commit `2222222222` of 2026-01-03, 0 days old, 3 trials per case "
        "(shorter answers are wanted)"
    )
    assert shown in again.stdout


def test_a_reason_is_required(tmp_path: Path) -> None:
    report = written(tmp_path, "r.json", FULL)
    done = rubric_ci(tmp_path, "baseline", "accept", report)
    assert done.returncode == 2
    assert "Missing option '--reason'" in done.stderr
    assert not (tmp_path / ".rubric-ci").exists()


def test_a_run_is_compared_with_the_nights_before(tmp_path: Path) -> None:
    (tmp_path / "rubric-ci.yaml").write_text(
        "targets: [{name: default, provider: mock, response: hello}]\n"
    )
    script = "{name: s, type: code_judge, script: 'grep -qi hello {answer_file}'}"
    (tmp_path / "a.eval.yaml").write_text(
        f"evalcases: [{{id: greets, input: Say hello, evaluators: [{script}]}}]\n"
    )
    Checkout.create(tmp_path)
    run = ("run", "--baseline", ".rubric-ci/reference")
    for trials in ("15", "3"):
        assert rubric_ci(tmp_path, *run, "--trials", trials).returncode == 0
        assert rubric_ci(tmp_path, "baseline", "keep").returncode == 0
    comparison = json_format.read((tmp_path / ".rubric-ci/report.json").read_text()).comparison
    assert comparison
    assert comparison.reference
    assert (comparison.reference.trials, comparison.reference.reason) == (15, "first run")
    assert not comparison.worse
