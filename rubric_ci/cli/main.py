"""The command group and `validate`, which runs at every commit and loads no other command."""

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

import click

from rubric_ci import __version__
from rubric_ci.cli import completion, options
from rubric_ci.cli.click_types import Group, option
from rubric_ci.errors import ExitCode, MissingExtra, UserError

SENTENCE: Final = 200  # characters of the first sentence of a command; more than any has
_EPILOG: Final = """\
\b
Examples:
  rubric-ci demo      grade an example, offline
  rubric-ci init      create starter files
  rubric-ci validate  check eval files, offline
  rubric-ci run       grade the cases

\b
Exit codes:
  0  no problems; the gate passes
  1  problems found; the gate fails
  2  the command line, the configuration or an eval file is unusable
  3  a case has no verdict: target, judge, script or budget failed

Every option has an environment variable: RUBRIC_CI_RUN_CONCURRENCY=4 means run --concurrency 4.
"""


COMMANDS: Final = {
    "Start": {"init": "cli.start", "demo": "cli.start"},
    "Every day": {
        "validate": "cli.main",
        "run": "cli.run_and_plan",
        "show": "cli.every_day",
        "generate": "cli.every_day",
        "compare": "cli.every_day",
        "waive": "cli.every_day",
        "probe": "parts.lab.judge",
        "doctor": "cli.every_day",
    },
    "Bring": {"import": "parts.bring.cli", "adopt": "parts.bring.cli"},
    "Trust the judge": {"judge": "parts.lab.judge"},
    "Nights": {"baseline": "parts.lab.nights", "history": "parts.lab.nights"},
    "CI": {"plan": "cli.run_and_plan", "report": "cli.ci", "authorize": "cli.ci"},
    "Other": {"cache": "cli.ci"},
}
"""Headings of `--help` in the order of use: the commands below each, and the module of each."""

_NAMES: Final = {"import": "import_files"}  # a word of the language
_MODULES: Final = {name: module for names in COMMANDS.values() for name, module in names.items()}


class _Commands(Group):
    """Loads commands on demand; turns a UserError into a message and an exit code."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _MODULES and cmd_name not in self.commands:
            module = import_module(f"rubric_ci.{_MODULES[cmd_name]}")
            self.add_command(getattr(module, _NAMES.get(cmd_name, cmd_name)))
        return super().get_command(ctx, cmd_name)

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_MODULES)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading, with the commands of groups as they are typed."""
        for heading, names in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([row for name in names for row in self._rows(ctx, name)])

    def _rows(self, ctx: click.Context, name: str) -> Iterator[tuple[str, str]]:
        command = self.get_command(ctx, name)
        assert command  # noqa: S101 - `name` is in COMMANDS
        inner = command.commands.items() if isinstance(command, click.Group) else ()
        for word, each in inner or (("", command),):
            yield f"{name} {word}".rstrip(), each.get_short_help_str(SENTENCE)

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except UserError as error:
            from rubric_ci.system.actions_runner import can_install, restart

            if isinstance(error, MissingExtra) and can_install(os.environ):
                restart(os.environ)
            from rubric_ci.system.output import wrapped
            from rubric_ci.text.escape import error_text

            click.echo(wrapped(error_text(error), sys.stderr), err=True, nl=False)
            sys.exit(error.exit_code)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("rubric-ci: interrupted", err=True)
            ctx.exit(ExitCode.NO_VERDICT)
        finally:
            sys.stdout.flush()  # here, so that a full disk is still reported


@click.group(
    cls=_Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "RUBRIC_CI",
        "show_default": True,
    },
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="rubric-ci")
def main() -> None:
    """Run rubric-based LLM evals as a merge gate."""


@main.command()
@options.paths
@options.config
@options.policy_from
@option(
    "--format",
    type=click.Choice(["text", "github", "json", "sarif"]),
    default="text",
    help="Output format.",
)
@option("--strict", is_flag=True, help="Exit with 1 also if there are only warnings.")
@option("--only-evals", is_flag=True, help="Ignore files that are not eval files; for hooks.")
@option("--fix", is_flag=True, help="Fix unambiguous problems in place.")
@option("--diff", is_flag=True, help="Show the changes that --fix would make; exit 1 if any.")
@option(
    "--explain",
    metavar="RULE",
    shell_complete=completion.rules,
    help="Explain a rule; `all` explains every rule.",
)
def validate(paths: tuple[str, ...], explain: str | None, **options: Any) -> None:
    """Check eval files, targets and configuration, offline.

    PATHS are files, folders or globs, or `-` for standard input; default: all eval files, the
    configuration and the targets files.
    """
    if explain is not None:
        from rubric_ci.cli.commands.validate import explain as explain_rule

        raise SystemExit(explain_rule(explain))
    from rubric_ci.cli.commands.validate import ValidateSettings
    from rubric_ci.cli.commands.validate import validate as check

    raise SystemExit(check(ValidateSettings(paths, **options)))
