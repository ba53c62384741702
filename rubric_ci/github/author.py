"""Whether we wrote something on GitHub: anybody can copy a marker, nobody can copy an author."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from github import Github
    from github.NamedUser import NamedUser
    from github.Organization import Organization


def own_login(client: "Github") -> str:
    """Return who the token is, or nothing for an app's, which GitHub does not tell."""
    from github import GithubException

    try:
        return client.get_user().login
    except GithubException as error:
        if error.status not in {403, 404}:
            raise
        return ""


def is_by(user: "NamedUser | Organization | None", login: str) -> bool:
    """Tell whether a user is us; an app writes as a bot, and people cannot.

    GitHub names no user where the account was deleted; PyGithub does not say so.
    """
    if user is None:
        return False
    return user.login == login if login else user.type == "Bot"
