"""The page of the action's inputs and outputs, made from `action.yml` by `make golden`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from rubric_ci.cli.click_types import Variable, variable
from rubric_ci.cli.main import main
from tests.hooks import composite

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "action-inputs.md"
OURS = {  # read by hooks/action.py or clients
    *("RUBRIC_CI_COMMAND", "RUBRIC_CI_ENV", "GITHUB_TOKEN"),
    *("RUBRIC_CI_INPUTS", "RUBRIC_CI_WORKING_DIRECTORY"),
}

TEMPLATE = """\
# Inputs and outputs of the action
Every input of the [action](action.md), with the option that it sets, and every output.

<!-- Made by `make golden` from action.yml; do not edit. -->

## Inputs
An option that has an input is set by the input only; set others by their \
[environment variable](configuration.md#environment-variables).

{inputs}

## Outputs
`run`, `report merge`, `compare`, `plan`, `generate rubrics` and `authorize` set outputs, \
also if the gate fails. \
Give the step an `id` and read them in a later step with \
`if: ${{{{ !cancelled() }}}}`.

{outputs}

The step fails if the command's exit code is not 0: 1 the gate fails or a file has problems, \
2 the setup is unusable, 3 some case has no verdict.

Next: [the action](action.md), [workflows that can be called](action.md#call-a-workflow).
"""


def inputs(action: dict[str, Any]) -> str:
    """One row an input: what it is, and which option of which command it sets."""
    rows = (
        f"| `{name}` | {about['description']} | {default(about)} | {sets(action, name)} |"
        for name, about in action["inputs"].items()
    )
    return "\n".join(["| input | meaning | default | sets |", "|---|---|---|---|", *rows])


def outputs(action: dict[str, Any]) -> str:
    """One row an output."""
    rows = (f"| `{name}` | {about['description']} |" for name, about in action["outputs"].items())
    return "\n".join(["| output | meaning |", "|---|---|", *rows])


def default(about: dict[str, Any]) -> str:
    """Say what an input is when nothing is given."""
    if about.get("required"):
        return "required"
    return f"`{about['default']}`" if about["default"] else ""


def sets(action: dict[str, Any], name: str) -> str:
    """Say which options an input becomes: `validate`, `run` `--config`."""
    found: dict[str, list[str]] = {}
    for command, option in options(action, name):
        found.setdefault(option, []).append(f"`{command}`")
    return ", ".join(
        f"{', '.join(commands)} `{option}`".removeprefix("`` ")
        for option, commands in sorted(found.items())
    )


def options(action: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """Each (command, option) that an input sets, as one types them; raises KeyError for no such."""
    known = every_variable()
    (step,) = action["runs"]["steps"]
    for name_of_it, value in step["env"].items():
        if value == f"${{{{ inputs.{name} }}}}" and name_of_it not in OURS:
            yield known[name_of_it]


def every_variable() -> dict[str, tuple[str, str]]:
    """Each environment variable, with the command and the option it sets; "" is every command."""
    return dict(variables(main, main.make_context("", ["--help"], resilient_parsing=True)))


def variables(
    command: click.Command, context: click.Context
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The same for one command and those below it."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner
            yield from variables(inner, click.Context(inner, info_name=name, parent=context))
        return
    words = context.command_path.strip()
    for parameter in command.params:
        if isinstance(parameter, Variable):  # of every command
            name = variable(context, parameter)
            yield name, ("", name)
            continue
        word = max(parameter.opts, key=len)
        yield variable(context, parameter), (words, word if word[0] == "-" else word.upper())


def page(action: dict[str, Any]) -> str:
    """Return the page with both tables."""
    return TEMPLATE.format(inputs=inputs(action), outputs=outputs(action))


if __name__ == "__main__":
    PAGE.write_text(page(composite.read(ROOT)), encoding="utf-8", newline="\n")
