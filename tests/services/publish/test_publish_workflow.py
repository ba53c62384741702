"""What a command may tell to the workflow run around it."""

from pathlib import Path

import pytest

from rubric_ci.errors import CannotWriteFile
from rubric_ci.services.publish_workflow import Workflow

JOB = {"GITHUB_ACTIONS": "true"}


@pytest.mark.parametrize("environment", [{}, {"GITHUB_ACTIONS": ""}, {"GITHUB_OUTPUT": "a"}])
@pytest.mark.parametrize("annotations", [None, True, False])
def test_outside_of_github_actions(environment: dict[str, str], annotations: bool | None) -> None:
    assert Workflow.of(environment, annotations) is None


@pytest.mark.parametrize(
    ("annotations", "printed"), [(None, "::error::a\n"), (True, "::error::a\n"), (False, "")]
)
def test_annotations(
    capsys: pytest.CaptureFixture[str], annotations: bool | None, printed: str
) -> None:
    workflow = Workflow.of(JOB, annotations)
    assert workflow is not None
    workflow.annotate("::error::a\n")
    assert capsys.readouterr().out == printed


def test_summary_and_outputs(tmp_path: Path) -> None:
    names = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
    workflow = Workflow.of(JOB | {name: str(tmp_path / name) for name in names})
    assert workflow is not None
    workflow.add_summary("# One")
    workflow.set_outputs({"gate": "pass"})
    summary, outputs = ((tmp_path / name).read_text() for name in names)
    assert summary == "# One\n"
    assert outputs.splitlines()[1] == "pass"


def test_a_step_without_the_runner_s_files_writes_nothing() -> None:
    workflow = Workflow(environment=JOB)
    workflow.add_summary("# One")
    workflow.set_outputs({"gate": "pass"})
    assert workflow.event is None


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    workflow = Workflow(environment={"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "a")})
    with pytest.raises(CannotWriteFile):
        workflow.add_summary("# One")


def test_a_guarded_text_gives_no_commands() -> None:
    first, text, last, *_ = Workflow(environment=JOB).guarded("::error::a\n").split("\n")
    assert (first.startswith("::stop-commands::"), text) == (True, "::error::a")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
