"""A mistyped command: what was probably meant."""

import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import main

OF_JUDGE = "`judge test`, `judge label`, `judge calibrate`, `judge attack`"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("calibrate", "unknown command `calibrate`; did you mean `judge calibrate`?"),
        ("merge", "unknown command `merge`; did you mean `report merge`?"),
        ("keep", "unknown command `keep`; did you mean `baseline keep`?"),
        ("acept", "unknown command `acept`; did you mean `baseline accept`?"),
        ("vaildate", "unknown command `vaildate`; did you mean `validate`?"),
        ("judge-atack", "unknown command `judge-atack`; did you mean `judge attack`?"),
        ("judge-check", f"unknown command `judge-check`; did you mean one of {OF_JUDGE}?"),
        ("judge xyz", f"unknown command `judge xyz`; did you mean one of {OF_JUDGE}?"),
        ("judge lable", "unknown command `judge lable`; did you mean `judge label`?"),
        ("judge merge", "unknown command `judge merge`; did you mean `report merge`?"),
        ("rubrics", "unknown command `rubrics`; did you mean `generate rubrics`?"),
        ("xyz", "unknown command `xyz`; `rubric-ci --help` lists the commands"),
    ],
)
def test_what_was_meant(typed: str, expected: str) -> None:
    done = CliRunner().invoke(main, typed.split(), prog_name="rubric-ci")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == f"Error: {expected}"


def test_an_unknown_option_is_not_a_command() -> None:
    done = CliRunner().invoke(main, ["--judge"], prog_name="rubric-ci")
    assert done.stderr.splitlines()[-1].startswith("Error: No such option")


def test_a_group_started_as_a_module() -> None:
    done = CliRunner().invoke(main, ["judge", "lable"], prog_name="python -m rubric_ci")
    assert done.stderr.endswith("`judge lable`; did you mean `judge label`?\n")
