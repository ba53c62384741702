"""`action.yml` agrees with its page and with the command line."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from hooks.action import COMMANDS
from rubric_ci.cli.main import main
from tests.hooks import composite, tables

ACTION = composite.read(tables.ROOT)
(STEP,) = ACTION["runs"]["steps"]


def test_the_page_is_current() -> None:
    assert tables.page(ACTION) == tables.PAGE.read_text(encoding="utf-8"), "run `make golden`"


def test_no_input_is_pasted_into_a_script() -> None:
    assert "${{" not in STEP["run"]


def test_every_variable_is_one_that_the_command_line_reads() -> None:
    assert STEP["env"].keys() - tables.OURS <= tables.every_variable().keys()


@pytest.mark.parametrize("name", ACTION["inputs"])
def test_an_input_sets_its_option_wherever_there_is_one(name: str) -> None:
    known = {pair for pair in tables.every_variable().values() if pair[0] in COMMANDS}
    sets = set(tables.options(ACTION, name))
    wanted = {(command, option) for command, option in known if option in {o for _, o in sets}}
    assert wanted == {pair for pair in sets if pair[0]}


def test_no_two_options_share_a_variable() -> None:
    every = list(tables.variables(main, main.make_context("", ["--help"], resilient_parsing=True)))
    names = [name for name, (command, _) in every if command]
    assert sorted(names) == sorted(set(names))


def test_every_command_is_known() -> None:
    commands = {command for command, _ in tables.every_variable().values()}
    assert COMMANDS.keys() <= commands


def test_the_input_names_every_command_in_the_order_of_use() -> None:
    described = ACTION["inputs"]["command"]["description"]
    assert re.findall("`(.+?)`", described) == list(COMMANDS)
    first_page = CliRunner().invoke(main, ["--help-all"], prog_name="rubric-ci").stdout
    assert sorted(COMMANDS, key=lambda name: first_page.index(f"\n  {name} ")) == list(COMMANDS)


def test_every_input_reaches_the_step() -> None:
    values = list(STEP["env"].values())
    assert {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]} <= set(values)


def test_every_output_is_of_the_same_name() -> None:
    for name, about in ACTION["outputs"].items():
        assert about["value"] == f"${{{{ steps.rubric-ci.outputs.{name} }}}}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("verdict=pass\nscore=\n", {"verdict": "pass", "score": ""}),
        ("a<<E\none\n\nx=y\nE\nb=1\n", {"a": "one\n\nx=y", "b": "1"}),
    ],
    ids=["none", "lines", "block"],
)
def test_the_reader_of_outputs(text: str, found: dict[str, str]) -> None:
    assert composite.outputs(text) == found


def test_the_reader_knows_the_context(tmp_path: Path) -> None:
    (tmp_path / "action.yml").write_text(
        """
        inputs: {a: {default: one}, token: {default: "${{ github.token }}"}}
        outputs: {said: {value: "${{ steps.s.outputs.said }}"}, none: {value: "${{ steps.s.no }}"}}
        runs:
          using: composite
          steps:
            - id: s
              shell: bash
              run: echo "said=$A $T $(basename "$GITHUB_ACTION_PATH")" >>"$GITHUB_OUTPUT"; false
              env: {A: "${{ inputs.a }}", T: "${{ inputs.token }}"}
        """
    )
    environ = {"PATH": "/usr/bin:/bin", "GITHUB_TOKEN": "secret"}
    (workspace := tmp_path / "workspace").mkdir()
    ran = composite.run(tmp_path, {"a": "two"}, workspace=workspace, environ=environ)
    assert ran.returncode == 1
    assert ran.outputs == {"said": f"two secret {tmp_path.name}", "none": ""}
