"""The skill is made from the pages; its commands and those of AGENTS.md exist."""

import re
import shlex

import click
import pytest

from rubric_ci.cli.main import main
from rubric_ci.files.project.working_tree import lookup
from rubric_ci.files.validation.validator import Surroundings, check_evals
from rubric_ci.files.yaml_text.source import open_source
from tests.docs import skill
from tests.docs.skill import ROOT

SKILL = skill.SKILL.read_text(encoding="utf-8")
AGENTS = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(?:\$ |\| `)?rubric-ci ([^`\n]+)", SKILL, re.MULTILINE)


def test_the_skill_is_current() -> None:
    assert skill.skill(SKILL) == SKILL


@pytest.mark.parametrize("line", COMMANDS)
def test_the_options_of_the_skill_exist(line: str) -> None:
    command: click.Command = main
    context = click.Context(main)
    words = shlex.split(line, comments=True)
    while isinstance(command, click.Group):
        found = command.get_command(context, words.pop(0))
        assert found is not None, line
        command, context = found, click.Context(found, parent=context)
    command.make_context("rubric-ci", words)


def test_the_case_of_the_skill_is_valid() -> None:
    (text,) = re.findall(r"```yaml\n([^`]*evalcases:.*?)```", SKILL, re.DOTALL)
    around = Surroundings(lookup(ROOT, ROOT / "a.eval.yaml"))
    assert check_evals(open_source("a.eval.yaml", text), around) == ()


def test_make_has_the_targets() -> None:
    targets = re.findall(r"^make (\w+)", AGENTS, re.MULTILINE)
    known = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(targets) == 4
    assert set(targets) <= set(known)


@pytest.mark.parametrize("path", sorted({*re.findall(r"`([\w/.-]+/[\w/.-]*)`", AGENTS)}))
def test_the_paths_exist(path: str) -> None:
    assert (ROOT / path).exists()
