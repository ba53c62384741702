"""`rubric-ci authorize`: check that a person asked to grade a stranger's commit, and print it."""

import os

import click

from rubric_ci.errors import CannotConfigure, ExitCode, UserError
from rubric_ci.github import comments_and_issues
from rubric_ci.github.actions import number_of, read_event, read_payload, set_outputs
from rubric_ci.github.rest_api import Server, build_server
from rubric_ci.parts.authorize.authorization import Authorized, NotAuthorized, Rules
from rubric_ci.parts.authorize.authorization import authorize as decide
from rubric_ci.text import escape
from rubric_ci.text.escape import error_line
from rubric_ci.values.command_settings import AuthorizeSettings


def authorize(settings: AuthorizeSettings) -> ExitCode:
    """Set the outputs of the step; exit 1 with the reason if no one with the right asked for it."""
    environment = os.environ
    event, payload = read_event(environment), read_payload(environment)
    if event is None:
        raise CannotConfigure(
            "this command reads the event of a workflow run", "run it in GitHub Actions"
        )
    server = build_server(environment)
    rules = Rules(repository=event.repository, people=settings.allow, label=settings.label)
    attempt = environment.get("GITHUB_RUN_ATTEMPT", "1")
    try:
        found = decide(server, rules, event.name, payload, int(attempt or 1))
    except NotAuthorized as refused:
        click.echo(escape.log_line(f"not authorized: {refused.message}"))
        _answer(refused, settings, server, event.repository, number_of(payload, "issue", "number"))
        return ExitCode.GATE
    for name, value in outputs(found).items():
        click.echo(escape.log_line(f"{name}={value}"))
    if file := environment.get("GITHUB_OUTPUT"):
        set_outputs(file, outputs(found))
    return ExitCode.OK


def outputs(found: Authorized) -> dict[str, str]:
    """Return the outputs of the step."""
    return {
        "sha": found.sha,
        "pull-request": str(found.pull_request),
        "case": found.case,
        "again": str(found.again).lower(),
        "by": found.by,
    }


def _answer(
    refused: NotAuthorized,
    settings: AuthorizeSettings,
    server: Server,
    repository: str,
    number: int | None,
) -> None:
    """Put the sentence into the one comment, for a person who may ask; no one else changes it."""
    if not refused.answer or number is None or not settings.comment:
        return
    place = comments_and_issues.Place(repository=repository, pull_request=number, key=settings.key)
    try:
        posted = comments_and_issues.post(
            server, place, [f"{refused.answer}\n"], mode="update", failing=True
        )
    except UserError as error:
        click.echo(escape.log_line(f"not posted: {error_line(error)}"))
        return
    click.echo(escape.log_line(f"comment on {place.about} {posted.done}"))
