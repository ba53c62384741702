"""The command group and `validate`, which runs at every commit and loads no other command."""

import os
import sys
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final

import click

from rubric_ci import __version__
from rubric_ci.cli import completion_and_hints, options
from rubric_ci.cli.click_types import INPUT_NAMES, Group, help_all, option, shows_all
from rubric_ci.errors import ExitCode, MissingExtra, UserError
from rubric_ci.system.actions_runner import can_install, in_workflow, restart
from rubric_ci.values import parts

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


CORE: Final = {
    "Start": {},
    "Every day": {
        "validate": "cli.main:validate",
        "run": "cli.options_run_and_plan:run",
        "show": "cli.options_generate_show_compare_waive:show",
        "generate": "cli.options_generate_show_compare_waive:generate",
        "compare": "cli.options_generate_show_compare_waive:compare",
        "waive": "cli.options_generate_show_compare_waive:waive",
    },
    "Bring": {},
    "Trust the judge": {},
    "Nights": {},
    "CI": {"plan": "cli.options_run_and_plan:plan", "report": "cli.options_report_cache:report"},
    "Other": {"cache": "cli.options_report_cache:cache"},
}
"""Headings of `--help` in the order of use: the commands below each, and the place of each."""

_FIRST: Final = ("Start", "Every day")
"""The headings of `--help`; `rubric-ci help TOPIC` shows the others, `--help-all` all."""

_CORE: Final = {name: place for places in CORE.values() for name, place in places.items()}


@cache
def commands() -> dict[str, dict[str, str]]:
    """Return the commands by heading; the core's come before the ones of parts."""
    found = {heading: dict(places) for heading, places in CORE.items()}
    for heading, name, place in parts.commands():
        found[heading][name] = place
    return {heading: places for heading, places in found.items() if places}


class _Commands(Group):
    """Loads commands on demand; turns a UserError into a message and an exit code."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands and (place := _place_of(cmd_name)):
            module, _, attribute = place.partition(":")
            self.add_command(getattr(import_module(f"rubric_ci.{module}"), attribute))
        return super().get_command(ctx, cmd_name)

    def list_commands(self, _: click.Context) -> list[str]:
        return [name for places in commands().values() for name in places]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections that a week needs, and one line for each of the others."""
        whole = shows_all(ctx)
        for heading in commands():
            if whole or heading in _FIRST:
                self._format_section(ctx, formatter, heading)
        if not whole:
            with formatter.section("More"):
                others = ((h, names) for h, names in commands().items() if h not in _FIRST)
                rows = [(f"help {_topic(h)}", f"{h}: {', '.join(names)}") for h, names in others]
                formatter.write_dl(rows)

    def _format_section(
        self, ctx: click.Context, formatter: click.HelpFormatter, heading: str
    ) -> None:
        with formatter.section(heading):
            names = commands()[heading]
            formatter.write_dl([row for name in names for row in self._rows(ctx, name)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; `help` shows the help of a heading, or of a command."""
        if args[0] != "help":
            return super().resolve_command(ctx, args)
        topics = {_topic(each): each for each in commands()}
        heading = topics.get(" ".join(args[1:]), "")
        if not heading and args[1:]:
            _refuse_topic(args[1], topics, [*self.list_commands(ctx), *topics], ctx)
            return super().resolve_command(ctx, [*args[1:], "--help"])
        formatter = ctx.make_formatter()
        if heading:
            self._format_section(ctx, formatter, heading)
        else:
            self.format_help(ctx, formatter)
        click.echo(formatter.getvalue(), nl=False)
        return ctx.exit()

    def _rows(self, ctx: click.Context, name: str) -> Iterator[tuple[str, str]]:
        command = self.get_command(ctx, name)
        assert command  # noqa: S101 - `name` is in the table
        inner = command.commands.items() if isinstance(command, click.Group) else ()
        for word, each in inner or (("", command),):
            yield f"{name} {word}".rstrip(), each.get_short_help_str(SENTENCE)

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except UserError as error:
            from rubric_ci.system.output_and_masking import wrapped
            from rubric_ci.text.escape import error_text

            click.echo(wrapped(error_text(error), sys.stderr), err=True, nl=False)
            sys.exit(error.exit_code)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except KeyboardInterrupt:  # which click ends as a failed gate
            click.echo("rubric-ci: interrupted", err=True)
            sys.exit(ExitCode.NO_VERDICT)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UserError as error:
            if isinstance(error, MissingExtra) and can_install(os.environ):
                restart(os.environ)
            _show_failure(error, ctx)
            raise
        except click.UsageError as error:
            found = UserError(error.format_message(), _input_to_fix(error))
            _show_failure(found, ctx, in_options=True)
            raise
        except KeyboardInterrupt:
            click.echo("rubric-ci: interrupted", err=True)
            ctx.exit(ExitCode.NO_VERDICT)
        finally:
            sys.stdout.flush()  # here, so that a full disk is still reported


def _refuse_topic(
    word: str, topics: Collection[str], known: Collection[str], context: click.Context
) -> None:
    """Raise UsageError for a misspelt topic of `help`."""
    from rubric_ci.text.suggestions import nearest

    if word not in known and (meant := nearest(word, known)) in topics:
        raise click.UsageError(f"there is no topic `{word}`; did you mean `{meant}`?", context)


def _topic(heading: str) -> str:
    """Return the word for a heading after `rubric-ci help`."""
    return heading.rpartition(" ")[2].lower()


def _place_of(name: str) -> str:
    """Return the place of a command; no part is imported for one of the core."""
    return _CORE.get(name) or next(
        (places[name] for places in commands().values() if name in places), ""
    )


def _input_to_fix(error: click.UsageError) -> str:
    """Return the input of the action with the wrong value; empty: no input."""
    from json import loads

    parameter = getattr(error, "param", None)
    variables = parameter.envvar if parameter and isinstance(parameter.envvar, list) else ()
    inputs = loads(os.environ.get(INPUT_NAMES) or "{}")
    named = next((inputs[name] for name in variables if name in inputs), "")
    return f"set the input `{named}` of the step" if named else ""


def _show_failure(error: UserError, context: click.Context, *, in_options: bool = False) -> None:
    """Show in a workflow run why a command ends, whichever it is."""
    if in_workflow(os.environ):
        from rubric_ci.services.publish_workflow import publish_failure_of_options, show_failure

        words = os.environ.get("RUBRIC_CI_COMMAND") or context.invoked_subcommand or ""
        if in_options:
            publish_failure_of_options(error, words, os.environ)
        show_failure(error, words, os.environ)


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
@help_all(help="Show every command.")
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
@option("--fix", is_flag=True, help="Quote values in place that are meant as text.")
@option("--diff", is_flag=True, help="Show the changes that --fix would make; exit 1 if any.")
@option(
    "--explain",
    metavar="RULE",
    shell_complete=completion_and_hints.rules,
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
