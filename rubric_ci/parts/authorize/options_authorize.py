"""The command `authorize` with its options."""

from typing import Any

from rubric_ci.cli.click_types import LINES, command, option
from rubric_ci.cli.options import comment_key


@command()
@option(
    "--allow",
    multiple=True,
    type=LINES,
    metavar="LOGIN",
    help="Person who may ask without the right to push to the repository; repeatable.",
)
@option(
    "--label",
    metavar="NAME",
    default="rubric-ci",
    help="Label whose addition is a request, on `pull_request_target`.",
)
@option(
    "--comment/--no-comment",
    default=True,
    help="Answer a person who may ask in the pull request's comment.",
)
@comment_key
def authorize(**options: Any) -> None:
    """Check that a person asked to grade a stranger's commit.

    Reads the event of the workflow run, and everything else from GitHub: who asked, with which
    right, and at which commit. Sets the outputs `sha`, `pull-request`, `case` and `again`; exit
    code 1 if no one with the right asked, or the commit came later. GITHUB_TOKEN must be set.
    """
    from rubric_ci.parts.authorize.authorization import authorize as check
    from rubric_ci.values.command_settings import AuthorizeSettings

    raise SystemExit(check(AuthorizeSettings(**options)))
