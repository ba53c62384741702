"""Workflow commands as the runner reads them."""

from rubric_ci.text import workflow_commands


def test_command() -> None:
    properties: dict[str, str | int] = {"file": "a,b.yaml", "line": 3, "title": ""}
    line = workflow_commands.command("error", "50% of\nthree: bad", properties)
    assert line == "::error file=a%2Cb.yaml,line=3::50%25 of%0Athree: bad"


def test_command_without_properties() -> None:
    assert workflow_commands.command("notice", "hi") == "::notice::hi"


def test_a_message_is_cut_where_the_runner_would_cut_it() -> None:
    data = workflow_commands.command("notice", "%" * 5000).removeprefix("::notice::")
    assert data == "%25" * 4095 + "…"


def test_uncommanded() -> None:
    assert (
        workflow_commands.disable_workflow_commands("::error::x\n", "t0k")
        == "::stop-commands::t0k\n::error::x\n::t0k::\n"
    )
