"""The command group and `validate`, which runs at every commit and loads no other command."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from rubric_ci import __version__
from rubric_ci.cli import completion, options, report_options
from rubric_ci.cli.command import Command, option
from rubric_ci.errors import ExitCode, UserError

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


def _others() -> Iterator[Iterable[click.Command]]:
    """Import the commands but `validate`, module by module, those of short processes first."""
    from rubric_ci.cli import history

    yield history.COMMANDS
    from rubric_ci.cli import report

    yield report.COMMANDS
    from rubric_ci.cli import generate, judge, run

    yield (*generate.COMMANDS, *judge.COMMANDS, *run.COMMANDS)


class _Commands(click.Group):
    """Loads commands on demand; turns a UserError into a message and an exit code."""

    command_class = Command

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        others = _others() if cmd_name not in self.commands else ()
        for commands in others:
            self._add(commands)
            if cmd_name in self.commands:
                break  # before the next module is imported
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        for commands in _others():
            self._add(commands)
        return super().list_commands(ctx)

    def _add(self, commands: Iterable[click.Command]) -> None:
        for command in commands:
            self.add_command(command)

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except UserError as error:
            from rubric_ci.text.error_text import error_text

            click.echo(error_text(error), err=True, nl=False)
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
@option("--only-evals", is_flag=True, help="Ignore files that are not eval files; for hooks.")
@option("--fix", is_flag=True, help="Fix unambiguous problems in place.")
@option("--diff", is_flag=True, help="Show the changes that --fix would make; exit 1 if any.")
@option(
    "--explain",
    metavar="RULE",
    shell_complete=completion.rules,
    help="Explain a rule; `all` explains every rule.",
)
@report_options.color
def validate(paths: tuple[str, ...], explain: str | None, **options: Any) -> None:
    """Check eval files, targets and configuration, offline.

    PATHS are files, folders or globs, or `-` for standard input; default: all eval files, the
    configuration and the targets files.
    """
    if explain is not None:
        from rubric_ci.commands.validate import explain as explain_rule

        raise SystemExit(explain_rule(explain))
    from rubric_ci.commands.validate import ValidateSettings
    from rubric_ci.commands.validate import validate as check

    raise SystemExit(check(ValidateSettings(paths, **options)))
