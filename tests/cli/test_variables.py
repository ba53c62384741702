"""Environment variables that begin as options do: each is one, or is refused."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from rubric_ci.cli import main
from rubric_ci.cli.click_types import PREFIX, SHARED, Option, Variable, variable
from rubric_ci.cli.main import commands
from tests.sample_project import Project


def every_command() -> Iterator[tuple[click.Command, click.Context]]:
    root = click.Context(main.main, info_name="rubric-ci", auto_envvar_prefix="RUBRIC_CI")
    names = [name for places in commands().values() for name in places]
    for name in names:
        command = main.main.get_command(root, name)
        assert command
        context = click.Context(command, root, info_name=name)
        inner = command.commands if isinstance(command, click.Group) else {}
        yield from ((each, click.Context(each, context, info_name=n)) for n, each in inner.items())
        if not inner:
            yield command, context


def shared_variables(command: click.Command, context: click.Context) -> Iterator[str]:
    for each in command.params:
        if isinstance(each, Variable):
            yield variable(context, each)
        elif isinstance(each, Option) and each.variable:
            yield each.variable


def test_the_shared_variables_are_listed() -> None:
    found = {name for each in every_command() for name in shared_variables(*each)}
    assert found == {PREFIX + each for each in SHARED}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RUBRIC_CI_RUN_MAX_COST", "0", "did you mean RUBRIC_CI_RUN_MAX_COST_USD?"),
        ("RUBRIC_CI_RUN_MAX_COSTS_USD", "0", "did you mean RUBRIC_CI_RUN_MAX_COST_USD?"),
        ("RUBRIC_CI_MAX_COST", "0", "did you mean RUBRIC_CI_MAX_COST_USD?"),
        ("RUBRIC_CI_VOTES", "3", "did you mean RUBRIC_CI_RUN_VOTES?"),
        ("RUBRIC_CI_VALIDATE_FORMATS", "github", "did you mean RUBRIC_CI_VALIDATE_FORMAT?"),
        ("RUBRIC_CI_ZEBRA", "1", "unset it, or rename it"),
    ],
)
def test_a_variable_that_is_no_option(project: Project, name: str, value: str, said: str) -> None:
    done = project.run(**{name: value})
    assert done.returncode == 2
    assert f"{name} is no variable of rubric-ci; {said}" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RUBRIC_CI_FAIL_ON", "never"),
        ("RUBRIC_CI_RUN_FAIL_ON", "never"),
        ("RUBRIC_CI_VALIDATE_FORMAT", "github"),
        ("RUBRIC_CI_REPORT_COMMENT_SHA", "x"),
        ("RUBRIC_CI_MAX_CALLS", "0"),
        ("RUBRIC_CI_ZEBRA", ""),
    ],
)
def test_a_variable_of_any_command_is_fine(project: Project, name: str, value: str) -> None:
    project.write("answers.jsonl", '{"id": "greeting", "answer": "Goodbye"}\n')
    done = project.run(**{name: value})
    assert done.returncode == (0 if name.endswith("FAIL_ON") else 1), done.stderr


@pytest.mark.parametrize("name", ["RUBRIC_CI_MAX_CALLS", "RUBRIC_CI_MAX_COST_USD"])
def test_a_cap_without_the_name_of_the_command_is_a_cap(project: Project, name: str) -> None:
    project.write("rubric-ci.yaml", JUDGED)
    project.write("evals/a.eval.yaml", "evalcases: [{id: greeting, input: q, rubrics: [Greets]}]\n")
    done = project.run(**{name: "0"})
    assert done.returncode == 3, done.stderr
    assert project.report()["totals"]["calls"] == 0


JUDGED = """\
evals: [evals/*.eval.yaml]
targets: [{name: default, provider: recorded, answers: answers.jsonl}]
judge: {model: openai/gpt-6-luna, api_base: 'http://127.0.0.1:9', api_key: none}
"""


def test_help_needs_no_right_variables(project: Project) -> None:
    assert project.run("--help", RUBRIC_CI_ZEBRA="1").returncode == 0
