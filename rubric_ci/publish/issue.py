"""One GitHub issue per title that stays open while the gate fails or a comparison is worse."""

from collections.abc import Mapping

from rubric_ci.errors import CannotConfigure, CannotReachGitHub
from rubric_ci.github.actions import read_event
from rubric_ci.github.client import build_server
from rubric_ci.github.issues import IssueKey, keep_issue
from rubric_ci.publish import issue_text
from rubric_ci.publish.issue_text import Subject
from rubric_ci.text.error_text import error_line


def update_issue(subject: Subject, title: str, environment: Mapping[str, str]) -> str:
    """Open, update or close the issue; return one line about it, also if GitHub fails.

    A run that lacks verdicts and shows neither neither opens nor closes it. The first night that is
    worse than a reference does not open it, the second in a row does.
    """
    event = read_event(environment)
    if event is None:
        return "no issue: not a workflow run, so the repository is unknown"
    if not subject.red and not subject.complete:
        return "issue left as it is: some case has no verdict"
    body = issue_text.render(subject, f"{event.server_url}/{event.repository}")
    try:
        key = IssueKey(repository=event.repository, title=title)
        result = keep_issue(build_server(environment), key, body, red=subject.red)
    except (CannotReachGitHub, CannotConfigure) as error:
        return f"no issue: {error_line(error)}"
    number = f" #{result.number}" if result.number else ""
    line = f"issue{number} {result.done}{f': {result.url}' if result.url else ''}"
    if subject.suspected and not subject.red:
        return f"{line}; suspected: worse in this night, and a second one in a row opens it"
    return line
