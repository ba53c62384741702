"""The pull request of a finished workflow run, by GitHub's API alone."""

from rubric_ci.errors import CannotFindPullRequest, PullRequestSuperseded
from rubric_ci.github.actions import FinishedRun
from rubric_ci.github.client import Server, connected, with_retries
from rubric_ci.text import escape


def pull_request_of(server: Server, repository: str, run: FinishedRun) -> int:
    """Return the number of the open pull request whose head is still the run's commit.

    The event of a fork's run has no pull request, and its artifacts are not trusted.
    """
    for name, value in (("owner", run.head_owner), ("branch", run.head_branch)):
        if not value:  # GitHub would list the pull requests of every branch
            message = f"the workflow run {run.id} has no head {name}"
            raise CannotFindPullRequest(message, "check whether the fork was deleted")
    branch = f"{run.head_owner}:{run.head_branch}"

    def attempt() -> list[tuple[int, str]]:
        with connected(server, f"the pull requests of {repository}") as client:
            pulls = client.get_repo(repository).get_pulls(state="open", head=branch)
            return [(pull.number, pull.head.sha) for pull in pulls]

    found = with_retries(server, attempt)
    for number, sha in found:
        if sha == run.head_sha:
            return number
    raise _not_found(repository, branch, run, [number for number, _ in found])


def _not_found(
    repository: str, branch: str, run: FinishedRun, numbers: list[int]
) -> CannotFindPullRequest:
    if numbers:
        shown = ", ".join(f"#{number}" for number in numbers)
        message = (
            f"the head of {shown} is no longer {escape.commit(run.head_sha)}, which the run graded"
        )
        return PullRequestSuperseded(
            message, "nothing to do: the run for the newer push takes over"
        )
    message = f"no open pull request of {repository} has the head {branch}"
    if run.event.startswith("pull_request"):
        return PullRequestSuperseded(message, "nothing to do: it was closed meanwhile")
    return CannotFindPullRequest(message, f"the run was for a {run.event or 'nameless'} event")
