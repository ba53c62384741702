"""The program and `validate`, which runs at each commit and starts without the other commands."""

import sys
from typing import Any, Final

import click

from rubric_ci import __version__
from rubric_ci.cli import options
from rubric_ci.cli.options import LINES, Command
from rubric_ci.errors import ExitCode, UserError

_EPILOG: Final = """\
\b
Examples:
  rubric-ci init      begin a project
  rubric-ci validate  check it, offline
  rubric-ci run       grade it

\b
Exit codes:
  0  clean; the gate holds
  1  problems found; the gate fails
  2  the command line, the configuration or an eval file is unusable
  3  some case has no verdict: target, judge, script or budget

Every option has an environment variable: RUBRIC_CI_RUN_CONCURRENCY=4 is --concurrency 4 of run.
"""


class _Commands(click.Group):
    """The one place where a broken setup becomes a message and an exit code."""

    command_class = Command

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            self._load()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        self._load()
        return super().list_commands(ctx)

    def _load(self) -> None:
        """Know every command; `validate` runs at each commit and does without the others."""
        from rubric_ci.cli import generate, judge, report, run

        for module in (generate, run, judge, report):
            for command in module.COMMANDS:
                self.add_command(command)

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except UserError as error:
            from rubric_ci.text.escape import log_line

            click.echo(log_line(f"rubric-ci: {error.message}"), err=True)
            if error.hint:
                click.echo(f"  {log_line(error.hint)}", err=True)
            sys.exit(error.exit_code)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("rubric-ci: interrupted", err=True)
            ctx.exit(ExitCode.NO_VERDICT)
        finally:
            sys.stdout.flush()  # at the very end nobody is left to say that there was no room


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
    """Rubric-based evals in front of a merge."""


@main.command()
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "github", "json", "sarif"]),
    default="text",
    help="For people, for GitHub's annotations, for programs, for code scanning.",
)
@click.option("--only-evals", is_flag=True, help="Leave out files that hold no evals; for hooks.")
@click.option("--fix", is_flag=True, help="Mend what can mean one thing only, in place.")
@click.option("--diff", is_flag=True, help="Show what --fix would change; exit 1 if it would.")
@click.option("--explain", metavar="RULE", help="Print what a rule means; `all` prints every rule.")
@options.color
def validate(paths: tuple[str, ...], explain: str | None, **options: Any) -> None:
    """Check eval files, targets and configuration, offline.

    PATHS are files, folders or globs, and `-` is standard input; without any, all eval files, the
    configuration and the targets.
    """
    if explain is not None:
        from rubric_ci.commands.validate import explain as explain_rule

        raise SystemExit(explain_rule(explain))
    from rubric_ci.commands.validate import ValidateSettings
    from rubric_ci.commands.validate import validate as check

    raise SystemExit(check(ValidateSettings(paths, **options)))
