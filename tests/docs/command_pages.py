"""The pages of `docs/commands/`, one per command; `tests.docs.reference` writes them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from click.testing import CliRunner

from rubric_ci.cli.click_types import Variable, variable
from rubric_ci.cli.main import commands, main

FOLDER: Final = Path(__file__).parents[2] / "docs" / "commands"
MARK: Final = "<!-- made by `make golden`; do not edit -->"
NAMES: Final = [name for names in commands().values() for name in names]
GUIDES: Final = {
    "authorize": ("Pull requests of strangers", "public-repositories.md"),
    "init": ("The first ten minutes", "first-ten-minutes.md"),
    "demo": ("The first ten minutes", "first-ten-minutes.md"),
    "validate": ("Write and validate eval files", "evals.md"),
    "run": ("The gate", "gate.md"),
    "show": ("Reports", "reports.md"),
    "generate": ("Generate rubrics", "generate.md"),
    "compare": ("Find what got worse", "compare.md"),
    "waive": ("Waivers", "gate.md"),
    "probe": ("Test the judge and the criteria", "calibration.md"),
    "doctor": ("Troubleshooting by message", "troubleshooting.md"),
    "import": ("Eval files of other tools", "bring.md"),
    "adopt": ("Add the gate to other eval tools", "adopt.md"),
    "judge": ("Test the judge and the criteria", "calibration.md"),
    "baseline": ("Find what got worse", "compare.md"),
    "history": ("Find what got worse", "compare.md"),
    "plan": ("Sharding", "other-ci.md"),
    "report": ("Reports", "reports.md"),
    "cache": ("What it costs", "cost.md"),
}
"""The page that explains when to use a command, and why."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page, in the order of use."""
    yield "index.md", index()
    root = click.Context(main, info_name="rubric-ci", **main.context_settings)
    for name, after in zip(NAMES, [*NAMES[1:], ""], strict=True):
        command = main.get_command(root, name)
        assert command
        context = click.Context(command, info_name=name, parent=root)
        yield f"{name}.md", page(name, after, context)


def index() -> str:
    """Return the page with the first `--help`."""
    links = " · ".join(f"[`{name}`]({name}.md)" for name in NAMES)
    return "\n".join(
        (
            "# Commands",
            "All commands in the order of use; each has a page with its options.",
            f"\n{links}\n",
            shown(),
            f"Next: [`rubric-ci {NAMES[0]}`]({NAMES[0]}.md).",
            MARK,
            "",
        )
    )


def page(name: str, after: str, context: click.Context) -> str:
    """Return the page of one command: its help, and the help of the commands below it."""
    command = context.command
    title, guide = GUIDES[name]
    summary = f"{command.get_short_help_str(200)} [{title}](../{guide}) explains when to use it.\n"
    lines = [f"# rubric-ci {name}", summary]
    if isinstance(command, click.Group):
        for word, inner in command.commands.items():
            below = click.Context(inner, info_name=word, parent=context)
            lines += [f"## rubric-ci {name} {word}", shown(name, word), *variables(below)]
    else:
        lines += [shown(name), *variables(context)]
    following = f"[`rubric-ci {after}`]({after}.md)" if after else "[all commands](index.md)"
    return "\n".join((*lines, f"Next: {following}.", MARK, ""))


def shown(*words: str) -> str:
    """Return the help of a command as a block."""
    whole = any(each.name == "help_all" for each in find(words).params)
    arguments = [*words, "--help-all" if whole else "--help"]
    done = CliRunner().invoke(main, arguments, prog_name="rubric-ci", terminal_width=88)
    assert done.exit_code == 0
    return f"```text\n$ {' '.join(('rubric-ci', *arguments))}\n{done.output}```\n"


def find(words: tuple[str, ...]) -> click.Command:
    """Return a command by the words that are typed."""
    command: click.Command = main
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found
        command = found
    return command


def variables(context: click.Context) -> Iterator[str]:
    """Yield the table of the variables that have no option."""
    found = [each for each in context.command.params if isinstance(each, Variable)]
    if found:
        yield "Set by an environment variable, and not by an option:\n"
        yield "| variable | meaning | default |\n|---|---|---|"
        for each in found:
            default = "" if each.default in (None, "", False) else f"`{each.default}`".lower()
            choices = each.type.choices if isinstance(each.type, click.Choice) else ()
            values = f" One of {', '.join(f'`{value}`' for value in choices)}." * bool(choices)
            yield f"| `{variable(context, each)}` | {each.help}{values} | {known(default)} |"
        yield ""


def known(default: str) -> str:
    """Return a default as it is written in a workflow; click's mark of none is left out."""
    return "" if "unset" in default else default


def write() -> None:
    """Write every page."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
