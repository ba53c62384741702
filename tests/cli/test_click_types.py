"""Options that are given twice, which is a usage error unless they are repeatable, and numbers."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from rubric_ci.cli.click_types import Variable
from rubric_ci.cli.main import main
from tests.cli.test_help import PAGES
from tests.docs.command_pages import find


def commands() -> Iterator[tuple[tuple[str, ...], click.Option]]:
    """Yield the options of every command but help."""
    for words in PAGES:
        command = find(words)
        for option in command.params:
            if isinstance(option, Variable) or not isinstance(option, click.Option):
                continue
            if words and not option.is_eager:
                yield words, option


OPTIONS = [pytest.param(words, o, id=" ".join((*words, o.opts[-1]))) for words, o in commands()]


@pytest.mark.parametrize(("words", "option"), OPTIONS)
def test_an_option_is_repeatable_or_refused(words: tuple[str, ...], option: click.Option) -> None:
    once = [option.opts[-1], *(() if option.is_flag else ("1",))]
    done = CliRunner().invoke(main, [*words, *once, *once, "--help"])
    assert done.exit_code == (0 if option.multiple else 2)
    assert ("is given twice; it has one value" in done.stderr) is not option.multiple
    assert ("repeatable" in (option.help or "")) is option.multiple


FLOATS = [
    pytest.param(words, option, id=" ".join((*words, option.opts[-1])))
    for words, option in commands()
    if isinstance(option.type, click.types.FloatParamType)
]


@pytest.mark.parametrize(("words", "option"), FLOATS)
def test_a_number_is_finite(words: tuple[str, ...], option: click.Option) -> None:
    for number in ("nan", "inf"):
        done = CliRunner().invoke(main, [*words, option.opts[-1], number])
        assert done.exit_code == 2
        problem = f"Error: Invalid value for '{option.opts[-1]}': {number} is not a finite number."
        assert problem in done.stderr or "is not in the range" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--shard", "1/2", "--shard", "2/2"], "--shard is given twice; it has one value"),
        (["-q", "--quiet"], "-q / --quiet is given twice; it has one value"),
        (["--judge=a", "evals", "--judge", "a"], "--judge is given twice; it has one value"),
    ],
    ids=["two values", "a flag", "one value twice"],
)
def test_the_message_names_the_option(arguments: list[str], expected: str) -> None:
    done = CliRunner().invoke(main, ["run", *arguments])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == f"Error: {expected}"


def test_the_command_line_may_override_an_environment_variable() -> None:
    environment = {"RUBRIC_CI_RUN_TARGET": "a"}
    done = CliRunner().invoke(main, ["run", "--target", "b", "--help"], env=environment)
    assert done.exit_code == 0


def test_after_two_dashes_a_word_is_no_option() -> None:
    done = CliRunner().invoke(main, ["run", "--target", "b", "--", "--target"])
    assert "given twice" not in done.stderr


def test_a_setting_of_a_workflow_is_a_variable_and_no_option() -> None:
    done = CliRunner().invoke(main, ["run", "--debug"])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "Error: there is no option --debug; set RUBRIC_CI_DEBUG"
    read = CliRunner().invoke(main, ["run"], env={"RUBRIC_CI_MAX_SECONDS": "soon"})
    assert "`soon` is not a number" in read.stderr
