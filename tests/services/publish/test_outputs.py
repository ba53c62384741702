"""Step summary and outputs after a run."""

from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.services.publish_workflow import (
    Workflow,
    outputs,
    write_comparison_outputs,
    write_step_outputs,
)
from rubric_ci.values.report import RunReport
from tests.compared import compared
from tests.sample_reports import a_report, errored, graded, skipped

ROOT = Path(__file__).parents[3]
FILES = [Path("out/report.json"), Path("out/summary.md"), Path("out/junit.xml")]
RED = a_report(graded("a"), graded("b", "pass"), graded("c", "borderline", score=0.7), errored("d"))


def test_outputs() -> None:
    assert outputs(RED, FILES) == {
        "verdict": "fail",
        "gate": "fail",
        "review": "none",
        "comparison": "",
        "score": "0.566667",
        "page": "",
        "suite": "",
        "passed": "1",
        "failed": "1",
        "errored": "1",
        "cost-usd": "0.000000",
        "report": "out/report.json",
        "summary": "out/summary.md",
    }


@pytest.mark.parametrize(
    ("report", "name", "value"),
    [
        pytest.param(a_report(), "score", "", id="nothing was graded"),
        pytest.param(a_report(), "gate", "pass", id="nothing was affected"),
        pytest.param(a_report(skipped("a")), "gate", "no-verdict", id="all cases were skipped"),
        pytest.param(a_report(skipped("a"), graded("b", "pass")), "gate", "pass", id="one counts"),
        pytest.param(
            replace(RED, totals=replace(RED.totals, calls=2, unpriced_calls=1, cost_usd=0.5)),
            "cost-usd", "", id="a price is not known",
        ),
        pytest.param(
            replace(RED, totals=replace(RED.totals, calls=2, cost_usd=0.00012)),
            "cost-usd", "0.000120", id="small change",
        ),
    ],
)  # fmt: skip
def test_what_is_not_known_is_empty(report: RunReport, name: str, value: str) -> None:
    assert outputs(report, FILES)[name] == value


@pytest.mark.parametrize(
    ("head", "gate", "word"),
    [
        pytest.param(a_report(graded("a", "pass")), "pass", "not-worse", id="neither"),
        pytest.param(a_report(graded("a", "borderline")), "pass", "worse", id="worse only"),
        pytest.param(a_report(graded("a")), "fail", "worse", id="both"),
        pytest.param(a_report(errored("a")), "no-verdict", "not-worse", id="an outage"),
    ],
)
def test_gate_and_comparison_differ(tmp_path: Path, head: RunReport, gate: str, word: str) -> None:
    seen = compared(head, a_report(graded("a", "pass")))
    assert write_comparison_outputs(seen, None) == []
    file = tmp_path / "output"
    step = Workflow(environment={"GITHUB_OUTPUT": str(file)})
    assert write_comparison_outputs(seen, step) == []
    written = [line for line in file.read_text().splitlines() if "end-" not in line]
    assert written == [gate, word]
    found = outputs(seen, FILES)
    assert (found["gate"], found["comparison"]) == (gate, word)


def test_a_format_that_was_not_requested_is_empty() -> None:
    assert outputs(RED, FILES[:1])["summary"] == ""


def test_the_outputs_are_those_of_the_action() -> None:
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    names = [f"steps.rubric-ci.outputs.{name} " for name in outputs(RED, FILES)]
    assert [name for name in names if name not in action] == []


def test_summary_and_outputs_are_written(tmp_path: Path) -> None:
    around = {
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_SHA": "c" * 40,
    }
    assert write_step_outputs(RED, FILES, Workflow(environment=around)) == []
    assert "verdict<<end-" in (tmp_path / "output").read_text()
    summary = (tmp_path / "summary").read_text()
    assert summary.startswith(
        "## ❌ Gate fails: 1 of 3 graded cases fails (fail\\_on: fail) · 1 case errored\n"
    )
    assert f"https://github.com/acme/app/blob/{'c' * 40}/e.yaml#L3" in summary


def test_the_summary_links_the_page(tmp_path: Path) -> None:
    around = {
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_RUN_ID": "12",
    }
    write_step_outputs(RED, FILES, Workflow(environment=around), page="report.html")
    assert (
        (tmp_path / "summary")
        .read_text()
        .endswith(
            " · [Every answer, mark and quote](https://github.com/acme/app/actions/runs/12#artifacts)"
            ": artifact `report.html`</sub>\n"
        )
    )


def test_outside_of_a_workflow_nothing_is_written() -> None:
    assert write_step_outputs(RED, FILES, None) == []


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "no" / "output"
    step = Workflow(environment={"GITHUB_OUTPUT": str(path)})
    message = write_step_outputs(RED, FILES, step)
    assert message == [f"not written: {path}: No such file or directory"]


def test_outputs_that_fail_do_not_take_the_summary_along(tmp_path: Path) -> None:
    around = {
        "GITHUB_OUTPUT": str(tmp_path / "no" / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    assert len(write_step_outputs(RED, FILES, Workflow(environment=around))) == 1
    assert (tmp_path / "summary").exists()
