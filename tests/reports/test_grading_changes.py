"""The section about changes to the grading in every format, and its gate."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.errors import ExitCode
from rubric_ci.gate.differences.config_changes import change_note
from rubric_ci.gate.report import consistency, json_format
from rubric_ci.gate.report.decision import concluded, exit_code, gate_of
from rubric_ci.parts.formats import page, sarif
from rubric_ci.reports import annotations, markdown, summary, terminal
from rubric_ci.services.publish_workflow import outputs
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.gate import GateConfig, needs_review
from rubric_ci.values.report import RunReport
from rubric_ci.values.scope import WHOLE
from tests.sample_project import CONFIG, Project
from tests.sample_reports import a_report, graded

CHANGES = (
    GradingChange(
        kind="gate",
        direction="weaker",
        about="gate.fail_on",
        file="rubric-ci.yaml",
        line=7,
        before="fail",
        after="never",
    ),
    GradingChange(
        kind="criterion",
        direction="changed",
        about="refund/period",
        file="e.yaml",
        line=9,
        before="Names the <b>period</b>",
        after="",
    ),
)


def reported(config: GateConfig) -> RunReport:
    report = a_report(graded("a", "pass"), grading_changes=CHANGES)
    gate = concluded(gate_of(config, None), report.cases, report.scope, (), CHANGES)
    return replace(report, gate=gate)


NOTED = reported(GateConfig())


LONG = "Says " + "x" * 150


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (f"{LONG}\nnever", f"{LONG} always", f"…{'x' * 39} never → …{'x' * 39} always"),
        (LONG, f"{LONG} or not", f"…{'x' * 40} → …{'x' * 40} or not"),
        ("Never " + "y" * 200, "Always", f"Never {'y' * 153}… → Always"),
        (LONG, "", f"{LONG} → (none)"),
    ],
    ids=["another end", "a longer end", "another start", "removed"],
)
def test_long_values_are_cut_around_what_differs(before: str, after: str, shown: str) -> None:
    change = replace(CHANGES[1], before=before, after=after)
    assert summary.change_line(change) == f"changed: criterion refund/period: {shown}"


def test_in_markdown() -> None:
    assert (
        "**Changes to the grading: 1 weaker, 1 changed**\n\n"
        "- weaker: gate.fail_on: fail → never · rubric-ci.yaml:7\n"
        "- changed: criterion refund/period: Names the &lt;b&gt;period&lt;/b&gt; → (none) · "
        "e.yaml:9\n"
    ) in markdown.render(NOTED).replace("\\_", "_").replace("\\<", "&lt;").replace("\\>", "&gt;")


def test_at_the_terminal_and_in_html() -> None:
    text = terminal.render(NOTED, width=120, color=False)
    assert "Changes to the grading: 1 weaker, 1 changed\n" in text
    assert "  weaker: gate.fail_on: fail → never · rubric-ci.yaml:7\n" in text
    assert "<h4>Changes to the grading: 1 weaker, 1 changed</h4>" in page.render(NOTED)
    assert "<b>period</b>" not in page.render(NOTED)


def test_weaker_ones_are_annotations() -> None:
    [found] = annotations.annotations(NOTED)
    assert (found.level, found.file, found.line) == ("warning", "rubric-ci.yaml", 7)
    [result] = json.loads(sarif.render(NOTED))["runs"][0]["results"]
    assert result["ruleId"] == "weaker-grading"
    assert json_format.read(json_format.render(NOTED)) == NOTED


@pytest.mark.parametrize(
    ("config", "code"),
    [
        (GateConfig(), ExitCode.OK),
        (GateConfig(on_weaker_grading="fail"), ExitCode.GATE),
        (GateConfig(on_weaker_grading="fail", fail_on="regression"), ExitCode.GATE),
        (GateConfig(on_weaker_grading="fail", fail_on="never"), ExitCode.OK),
        (GateConfig(on_changed_grading="fail"), ExitCode.GATE),
        (GateConfig(on_changed_grading="fail", fail_on="regression"), ExitCode.GATE),
        (GateConfig(on_changed_grading="fail", fail_on="never"), ExitCode.OK),
        (GateConfig(on_changed_grading="review"), ExitCode.OK),
    ],
    ids=[
        *("note", "fail", "regression", "never"),
        *("changed: fail", "changed: regression", "changed: never", "changed: review"),
    ],
)
def test_the_gate(config: GateConfig, code: ExitCode) -> None:
    report = reported(config)
    assert exit_code(report) is code
    assert list(consistency.problems(report)) == []
    assert list(consistency.problems(replace(report, grading_changes=()))) == (
        ["gate.holds is false, its cases give true"] if code is ExitCode.GATE else []
    )


@pytest.mark.parametrize(
    ("config", "levels", "text", "review"),
    [
        (GateConfig(), ["warning weaker"], "fail-on: fail", "none"),
        (
            GateConfig(on_changed_grading="review"), ["warning weaker", "warning changed"],
            "fail-on: fail; review the changes to the grading", "required",
        ),
        (
            GateConfig(on_changed_grading="fail"), ["error weaker", "error changed"],
            "fail-on: fail; the change edits the grading", "none",
        ),
        (
            GateConfig(on_weaker_grading="fail", on_changed_grading="review"),
            ["error weaker", "warning changed"],
            (
                "fail-on: fail; the change makes the grading weaker; review the "
                "changes to the grading"
            ),
            "required",
        ),
        (
            GateConfig(on_changed_grading="review", fail_on="never"),
            ["warning weaker", "warning changed"], "fail-on: never", "none",
        ),
    ],
    ids=["note", "review", "fail", "both", "never"],
)  # fmt: skip
def test_what_is_done(config: GateConfig, levels: list[str], text: str, review: str) -> None:
    report = reported(config)
    found = [f"{a.level} {a.title.partition(' ')[0]}" for a in annotations.annotations(report)]
    assert found == levels
    assert summary.gate_settings(report) == text
    assert outputs(report, [])["review"] == review
    rules = [each["ruleId"] for each in json.loads(sarif.render(report))["runs"][0]["results"]]
    assert rules == [f"{level.split()[1]}-grading" for level in levels]


def test_a_stronger_change_needs_no_review() -> None:
    stronger = (replace(CHANGES[0], direction="stronger"),)
    gate = gate_of(GateConfig(on_changed_grading="fail"), None)
    found = concluded(gate, [graded("a", "pass")], WHOLE, (), stronger)
    assert found.holds
    assert not needs_review(replace(gate, on_changed_grading="review"), stronger)


def test_the_base_decides_whether_weaker_grading_fails(tmp_path: Path) -> None:
    from tests.checkout import Checkout

    project = Project(tmp_path)
    project.write("rubric-ci.yaml", f"{CONFIG}gate: {{on_weaker_grading: fail}}\n")
    checkout = Checkout(tmp_path)
    checkout.git("add", "--all")
    checkout.git("commit", "--quiet", "--message=base")
    project.write(
        "rubric-ci.yaml", f"{CONFIG}gate: {{thresholds: {{pass: 0.5, borderline: 0.5}}}}\n"
    )
    done = project.run("--changed-since", "HEAD", "--policy-from", "base")
    assert done.returncode == 1
    found = [(each["about"], each["direction"]) for each in project.report()["grading_changes"]]
    assert found == [
        ("gate.on_weaker_grading", "weaker"),
        ("gate.thresholds.borderline", "weaker"),
        ("gate.thresholds.pass", "weaker"),
    ]


def test_a_change_of_the_policy_stands_once() -> None:
    (weaker, *_) = reported(GateConfig()).grading_changes
    notes = tuple(
        change_note(key, weaker.before, weaker.after) for key in (weaker.about, "judge.timeout")
    )
    report = replace(reported(GateConfig()), notes=notes)
    for text in (
        markdown.render(report),
        terminal.render(report, width=200, color=False),
        page.render(report),
    ):
        assert "in effect after the merge: judge.timeout" in text
        assert f"in effect after the merge: {weaker.about}" not in text
