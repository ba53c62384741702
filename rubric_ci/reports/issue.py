"""One GitHub issue per title that stays open while a comparison fails."""

from collections.abc import Mapping

from rubric_ci.errors import CannotConfigure, CannotReachGitHub, ExitCode
from rubric_ci.github.actions import read_event
from rubric_ci.github.client import build_server
from rubric_ci.github.issues import IssueKey, keep
from rubric_ci.model.report import Comparison, RunReport
from rubric_ci.reports import comparison_text, wording
from rubric_ci.reports.exit_code import exit_code
from rubric_ci.text import escape
from rubric_ci.text.error_text import error_line


def update_issue(
    comparison: Comparison, head: RunReport, title: str, environment: Mapping[str, str]
) -> str:
    """Open, update or close the issue; return one line about it, also if GitHub fails."""
    event = read_event(environment)
    if event is None:
        return "no issue: not a workflow run, so the repository is unknown"
    failing = comparison.regressed or exit_code(head) is ExitCode.GATE
    try:
        key = IssueKey(repository=event.repository, title=title)
        result = keep(build_server(environment), key, _body(comparison, head), red=failing)
    except (CannotReachGitHub, CannotConfigure) as error:
        return f"no issue: {error_line(error)}"
    number = f" #{result.number}" if result.number else ""
    return f"issue{number} {result.done}{f': {result.url}' if result.url else ''}"


def _body(comparison: Comparison, head: RunReport) -> str:
    run = head.metadata.get("run_url", "")
    place = f"[run]({escape.link_target(run)})" if run else "run"
    return f"{comparison_text.markdown(comparison)}\nThe {place}: {wording.headline(head)}\n"
