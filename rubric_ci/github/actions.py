"""The event of a workflow run, from the runner's environment and event file; step outputs."""

import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rubric_ci.errors import CannotConfigure, CannotReadFile, CannotWriteFile
from rubric_ci.system.actions_runner import BASE_COMMIT, HEAD_COMMIT, in_workflow
from rubric_ci.values.changes import Trigger
from rubric_ci.values.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """The run of a `workflow_run` event; trusted, unlike the artifacts of that run."""

    id: int
    head_sha: str
    head_branch: str
    head_owner: str  # of the repository that the branch is in, which may be a fork
    event: str  # that started it
    url: str
    head_repository: str = ""  # owner/name
    conclusion: str = ""  # success, failure, cancelled, …
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The event of a workflow run; "" or None: the event has no such value."""

    name: str  # pull_request, push, merge_group, schedule, workflow_run, …
    repository: str  # owner/name
    api_url: str
    server_url: str
    default_branch: str = ""
    head_sha: str = ""  # of the change: a pull request's own head, not its merge commit
    base_sha: str = ""
    pull_request: int | None = None
    head_branch: str = ""  # of a pull request
    from_fork: bool = False
    actor: str = ""  # who pushed
    run_url: str = ""  # the page of this run
    run_id: int = 0  # 0: not known
    attempt: int = 1
    sha: str = ""  # the commit that the workflow runs on: a pull request's merge commit
    ref: str = ""  # refs/heads/…, refs/pull/…
    finished: FinishedRun | None = None

    @property
    def run(self) -> tuple[int, int] | None:
        """Id and attempt of the run that graded: this one, or the one that is finished."""
        if self.finished:
            return self.finished.id, self.finished.attempt
        return (self.run_id, self.attempt) if self.run_id else None

    @property
    def distrust(self) -> str:
        """Why a report of this event is not trusted, behind "the run"; "" if it is trusted."""
        run = self.finished
        if self.from_fork or (run and run.head_repository != self.repository):
            return "from a fork: the numbers are not verified"
        if run and run.conclusion != "success":
            return f"which ended with {run.conclusion or 'no conclusion'}"
        return ""

    @property
    def without_secrets(self) -> str:
        """That and why GitHub gives a pull request no secrets; "" if it does."""
        dependabot = self.pull_request and self.actor == "dependabot[bot]"
        if not self.from_fork and not dependabot:
            return ""
        why = "comes from a fork" if self.from_fork else "was pushed by Dependabot"
        return f"GitHub gives this run no secrets, because the pull request {why}"

    @property
    def trigger(self) -> Trigger:
        """The commits of the event, to find the base of the checkout with."""
        return Trigger(
            event=self.name,
            sha=self.sha,
            base_sha=self.base_sha,
            head_sha=self.head_sha,
            ref=self.ref,
            default_branch=self.default_branch,
        )

    def blob_of(self, commit: str = "") -> str:
        """Return the URL below which the files of a commit are shown; empty: of the change."""
        sha = commit or (self.finished.head_sha if self.finished else self.head_sha)
        return f"{self.server_url}/{self.repository}/blob/{sha}" if sha else ""


def read_event(environment: Mapping[str, str]) -> Event | None:
    """Return the event, or None outside of a workflow run.

    Raises `CannotReadFile` where the runner names an event file that is not readable JSON.
    """
    if not environment.get("GITHUB_REPOSITORY"):
        return None
    payload = read_payload(environment)
    repository = environment["GITHUB_REPOSITORY"]
    server = environment.get("GITHUB_SERVER_URL") or "https://github.com"
    run = environment.get("GITHUB_RUN_ID", "")
    pull = _object(payload, "pull_request")
    return Event(
        name=environment.get("GITHUB_EVENT_NAME", ""),
        repository=repository,
        api_url=environment.get("GITHUB_API_URL") or "https://api.github.com",
        server_url=server,
        default_branch=_text_at(payload, "repository", "default_branch"),
        head_sha=_commit(payload, HEAD_COMMIT) or environment.get("GITHUB_SHA", ""),
        base_sha=_commit(payload, BASE_COMMIT),
        pull_request=number_of(pull, "number"),
        head_branch=_text_at(pull, "head", "ref"),
        from_fork=bool(pull) and _text_at(pull, "head", "repo", "full_name") != repository,
        actor=environment.get("GITHUB_ACTOR", ""),
        run_id=_count(run, 0),
        attempt=_count(environment.get("GITHUB_RUN_ATTEMPT", ""), 1),
        run_url=f"{server}/{repository}/actions/runs/{run}" if run else "",
        sha=environment.get("GITHUB_SHA", ""),
        ref=environment.get("GITHUB_REF", ""),
        finished=_finished(_object(payload, "workflow_run")),
    )


def _count(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() else otherwise


def refuse_target_event(environment: Mapping[str, str]) -> None:
    """Raise CannotConfigure where the code of a pull request would get the repository's secrets."""
    if in_workflow(environment) and environment.get("GITHUB_EVENT_NAME") == "pull_request_target":
        raise CannotConfigure(
            "`pull_request_target` gives the pull request's own scripts the secrets of this "
            "repository",
            "use `on: pull_request`, or grade with `untrusted` what `authorize` allows "
            "(examples/workflows/evals-strangers.yml)",
        )


def read_payload(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the event as GitHub sent it, empty outside of a workflow run."""
    path = environment.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        payload = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        hint = "GITHUB_EVENT_PATH must name the event file that the runner writes"
        raise CannotReadFile(f"{path}: cannot read the event ({error})", hint) from error
    return payload if isinstance(payload, dict) else {}


def _commit(payload: Mapping[str, Any], places: Sequence[Sequence[str]]) -> str:
    """Return the first commit that the payload names; zeros do not name one."""
    named = (_text_at(payload, *place) for place in places)
    return next((commit for commit in named if commit.strip("0")), "")


def _finished(run: Mapping[str, Any]) -> FinishedRun | None:
    number = number_of(run, "id")
    if number is None:
        return None
    return FinishedRun(
        id=number,
        head_sha=_text_at(run, "head_sha"),
        head_branch=_text_at(run, "head_branch"),
        head_owner=_text_at(run, "head_repository", "owner", "login"),
        event=_text_at(run, "event"),
        url=_text_at(run, "html_url"),
        head_repository=_text_at(run, "head_repository", "full_name"),
        conclusion=_text_at(run, "conclusion"),
        attempt=number_of(run, "run_attempt") or 1,
    )


def _object(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def _value(payload: Mapping[str, Any], path: Sequence[str]) -> Any:
    for name in path[:-1]:
        payload = _object(payload, name)
    return payload.get(path[-1])


def _text_at(payload: Mapping[str, Any], *path: str) -> str:
    value = _value(payload, path)
    return value if isinstance(value, str) else ""


def number_of(payload: Mapping[str, Any], *path: str) -> int | None:
    """Return a whole number of an event; None: it has none."""
    value = _value(payload, path)
    return value if type(value) is int else None


def add_summary(file: str, markdown: str) -> None:
    """Append to the step's summary, the file of `GITHUB_STEP_SUMMARY`."""
    _append(file, markdown.rstrip("\n") + "\n")


def set_outputs(file: str, values: Mapping[str, str]) -> None:
    """Append to the step's outputs, the file of `GITHUB_OUTPUT`; values may have several lines.

    The delimiter is random, so that no value can end itself and begin another output.
    """
    _append(file, "".join(_output(name, value) for name, value in values.items()))


def _output(name: str, value: str) -> str:
    delimiter = f"end-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(file: str, text: str) -> None:
    try:
        with Path(file).open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as end:
            end.write(text)
    except OSError as error:
        raise CannotWriteFile(
            f"{file}: {error.strerror}", "the runner creates this file"
        ) from error


def run_metadata(environment: Mapping[str, str], page: str = "", suite: str = "") -> dict[str, str]:
    """Return the subject of a workflow run and its URL; empty outside a workflow.

    `page` is the name of its artifact with the HTML report, `suite` the one of several.
    """
    event = read_event(environment)
    if event is None:
        return {}
    known = {
        "event": event.name,
        "repository": event.repository,
        "pull_request": str(event.pull_request or ""),
        "head_sha": event.head_sha,
        "base_ref": environment.get("GITHUB_BASE_REF", ""),
        "run_url": event.run_url,
        "page": page,
        "suite": suite,
    }
    return {name: value for name, value in known.items() if value}
