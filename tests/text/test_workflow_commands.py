"""Workflow commands as the runner reads them."""

import pytest

from rubric_ci.text import escape


def test_command() -> None:
    properties: dict[str, str | int] = {"file": "a,b.yaml", "line": 3, "title": ""}
    line = escape.command("error", "50% of\nthree: bad", properties)
    assert line == "::error file=a%2Cb.yaml,line=3::50%25 of%0Athree: bad"


def test_command_without_properties() -> None:
    assert escape.command("notice", "hi") == "::notice::hi"


def test_a_message_is_cut_where_the_runner_would_cut_it() -> None:
    data = escape.command("notice", "%" * 5000).removeprefix("::notice::")
    assert data == "%25" * 4095 + "…"


def test_uncommanded() -> None:
    assert (
        escape.disable_workflow_commands("::error::x\n", "t0k")
        == "::stop-commands::t0k\n::error::x\n::t0k::\n"
    )


@pytest.mark.parametrize(
    ("count", "shown", "beyond"),
    [(0, 0, 0), (10, 10, 0), (11, 9, 2), (30, 9, 21)],
    ids=["none", "as many as fit", "one too many", "many"],
)
def test_the_last_place_is_for_the_count_of_the_rest(count: int, shown: int, beyond: int) -> None:
    first, rest = escape.within_cap(range(count))
    assert (len(first), len(rest)) == (shown, beyond)
    assert [*first, *rest] == list(range(count))


@pytest.mark.parametrize(("length", "shown"), [(4096, "a" * 4096), (4097, f"{'a' * 4095}…")])
def test_a_message_is_cut_at_the_limit_of_the_runner(length: int, shown: str) -> None:
    assert escape.command("error", "a" * length) == f"::error::{shown}"
