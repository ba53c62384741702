"""Post a report on its pull request: a comment and a check run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from rubric_ci.errors import CannotFindPullRequest, ExitCode, UserError
from rubric_ci.gate.report.decision import exit_code
from rubric_ci.github import comments_and_issues
from rubric_ci.github.actions import Event, FinishedRun, read_event
from rubric_ci.github.rest_api import Server, build_server
from rubric_ci.reports import annotations, markdown, summary
from rubric_ci.reports.markdown import Links
from rubric_ci.text import escape
from rubric_ci.values.command_settings import CommentSettings
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import needs_review
from rubric_ci.values.report import RunReport

STALE: Final = "> [!WARNING]\n> A verdict that was shown here before is out of date."
_OWN_RUN: Final = "The pull request's own run says so; it is not verified."
SIZES = (
    markdown.COMMENT_LIMIT,
    30_000,
    6_000,
)  # tried in turn: GitHub sometimes rejects smaller comments too


def post_failure(body: str, settings: CommentSettings, environment: Mapping[str, str]) -> str:
    """Replace the comment by the reason why there is no report; raises as `post` does."""
    target = _target(None, settings, environment)
    place = target.place(settings.key)
    if target.distrust:
        title, _, rest = body.partition("\n\n")
        body = f"{title}\n\n{_OWN_RUN}\n\n{rest}"
    posted = comments_and_issues.post(
        target.server, place, [body], mode=settings.mode, failing=True, renew=_with_warning
    )
    return f"comment on {place.about} {posted.done}"


def _with_warning(before: str, body: str) -> str:
    """Return the reason why there is no report, with a warning if there was a verdict before."""
    if summary.COULD_NOT_START in before and STALE not in before:
        return body
    title, _, rest = body.partition("\n\n")
    return f"{title}\n\n{STALE}\n\n{rest}"


class Posted(NamedTuple):
    """A line about each of comment and check run, and why one is missing."""

    lines: list[str]
    refused: list[UserError]


def post(report: RunReport, settings: CommentSettings, environment: Mapping[str, str]) -> Posted:
    """Write comment and check run, each also if the other fails.

    A key that is given names the suite, instead of the one that was run.
    Raises `CannotReachGitHub`, `CannotFindPullRequest` or `CannotConfigure` if neither is tried.
    """
    suite = settings.key or report.metadata.get("suite", "")
    settings = replace(settings, key=suite)
    report = replace(report, metadata={**report.metadata, "suite": suite})
    target = _target(report, settings, environment)
    posted = Posted([], [])
    wanted = {_post: settings.mode != "off", _check: bool(settings.check)}
    for write in (each for each, asked in wanted.items() if asked):
        try:
            posted.lines.append(write(report, settings, target))
        except UserError as error:
            posted.refused.append(error)
    return posted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """Where to write; taken from the event or the options, never from the report."""

    server: Server
    repository: str
    pull_request: int | None
    source: str  # of the pull request, for a message that there is none
    head_sha: str
    links: Links
    distrust: str  # why the report is not trusted; empty: it is
    run: tuple[int, int] | None  # id and attempt of the run that graded

    def place(self, key: str) -> comments_and_issues.Place:
        """Return where the comment is; raises `CannotFindPullRequest`."""
        if self.pull_request is None:
            hint = "use the step summary, or `rubric-ci report comment --pull-request N`"
            raise CannotFindPullRequest(f"{self.source} no pull request", hint)
        return comments_and_issues.Place(
            repository=self.repository, pull_request=self.pull_request, key=key, run=self.run
        )

    @property
    def disclaimer(self) -> str:
        """One line about a report that is not trusted, for the top of comment and check run."""
        own = "Graded by the pull request's own run"
        return f"{own}, {self.distrust}." if self.distrust else ""


def _target(
    report: RunReport | None, settings: CommentSettings, environment: Mapping[str, str]
) -> _Target:
    event = read_event(environment)
    repository = settings.repository or (event.repository if event else "")
    if not repository:
        command = "rubric-ci report comment --repository owner/name --pull-request N"
        hint = f"run in a workflow, or use `{command}`"
        raise CannotFindPullRequest("the repository to comment on is unknown", hint)
    if event and repository.casefold() != event.repository.casefold():
        message = f"this workflow runs in {event.repository}, not in {repository}"
        raise CannotFindPullRequest(message, "remove `--repository`")
    server = build_server(environment)
    finished = event.finished if event else None
    source = finished or event
    return _Target(
        server=server,
        repository=repository,
        pull_request=_pull_request(report, settings, event, server),
        source=f"the {event.name} event has" if event else "outside a workflow there is",
        head_sha=settings.sha or (source.head_sha if source else ""),
        links=Links(
            blob=event.blob_of(settings.sha) if event else "",
            run=finished.url if finished else event.run_url if event else "",
            page=settings.page,
        ),
        distrust=event.distrust if event else "",
        run=event.run if event else None,
    )


def _pull_request(
    report: RunReport | None, settings: CommentSettings, event: Event | None, server: Server
) -> int | None:
    if event and event.finished:
        if report is not None:
            _check_commit(report, event.finished)
        found = comments_and_issues.pull_request_of(server, event.repository, event.finished)
        if settings.pull_request not in {None, found}:
            message = f"the run belongs to #{found}, not to #{settings.pull_request}"
            raise CannotFindPullRequest(message, "remove `--pull-request`")
        return found
    return settings.pull_request or (event.pull_request if event else None)


def _check_commit(report: RunReport, finished: FinishedRun) -> None:
    graded = report.metadata.get("head_sha", finished.head_sha)
    if graded != finished.head_sha:
        of, run = escape.commit(graded), escape.commit(finished.head_sha)
        message = f"the report is for commit {of}, the run for {run}"
        raise CannotFindPullRequest(message, "pass the report that this run uploaded")


def _post(report: RunReport, settings: CommentSettings, target: _Target) -> str:
    place = target.place(settings.key)
    failing, mode = exit_code(report) is not ExitCode.OK, settings.mode
    if _has_nothing_to_say(report):
        bodies = [f"{escape.one_line(summary.heading(report))}\n"]
        mode = "on-failure" if mode == "update" else mode
    else:
        bodies = [_body(report, target, size, most=markdown.COMMENT_CASES) for size in SIZES]
    posted = comments_and_issues.post(target.server, place, bodies, mode=mode, failing=failing)
    return f"comment on {place.about} {posted.done}{f': {posted.url}' if posted.url else ''}"


def _has_nothing_to_say(report: RunReport) -> bool:
    """Return True if the change affects no case, no grading and no policy: no new comment."""
    content = (report.cases, report.grading_changes, report.waivers, report.removed, report.notes)
    return (
        report.verdict == "nothing-changed"
        and not any(content)
        and exit_code(report) is ExitCode.OK
    )


def _body(report: RunReport, target: _Target, limit: int, most: int | None = None) -> str:
    head = f"> [!WARNING]\n> {target.disclaimer}\n\n" if target.disclaimer else ""
    return head + markdown.render(report, limit=limit - len(head), most=most, links=target.links)


def _check(report: RunReport, settings: CommentSettings, target: _Target) -> str:
    url = comments_and_issues.create_check_run(
        target.server,
        target.repository,
        target.head_sha,
        name=settings.check,
        conclusion=_conclusion(report, target),
        title=escape.one_line(summary.heading(report)),
        summary=_body(report, target, comments_and_issues.SUMMARY_LIMIT),
        annotations=annotations.annotations(report),
    )
    return f"check run {settings.check} created{f': {url}' if url else ''}"


def _conclusion(report: RunReport, target: _Target) -> comments_and_issues.Conclusion:
    """Return the status that matches the exit code.

    `neutral` if no case was graded, if changes to the grading need a review, or if the report is
    not trusted.
    """
    if exit_code(report) is not ExitCode.OK:
        return "failure"
    if needs_review(report.gate, report.grading_changes):
        return "neutral"
    return "success" if report.totals.graded and not target.distrust else "neutral"
