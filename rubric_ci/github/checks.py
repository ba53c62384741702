"""A check run on a commit, with its annotations in batches that GitHub accepts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from rubric_ci.github.rest_api import Server, connected, with_retries
from rubric_ci.text import escape
from rubric_ci.values.diagnostics import Annotation

Conclusion: TypeAlias = Literal["success", "failure", "neutral"]

PER_REQUEST = 50
REQUESTS = 10  # for annotations; a report of a fork may hold any number of them
SUMMARY_LIMIT = 65_000  # GitHub accepts 65,535 characters
_LEVELS = {"error": "failure", "warning": "warning", "notice": "notice"}


def create(
    server: Server,
    repository: str,
    head_sha: str,
    *,
    name: str,
    conclusion: Conclusion,
    title: str,
    summary: str,
    annotations: Sequence[Annotation],
) -> str:
    """Create a completed check run with its annotations; return the URL of its page.

    After ten requests the last annotation counts the rest.
    """
    entries = [_entry(annotation) for annotation in _capped(annotations)]
    portions = [entries[at : at + PER_REQUEST] for at in range(0, len(entries), PER_REQUEST)]
    output: dict[str, Any] = {"title": title[:255], "summary": summary}

    def attempt() -> str:
        with connected(server, f"commit {escape.commit(head_sha)} of {repository}") as client:
            check = client.get_repo(repository).create_check_run(
                name=name,
                head_sha=head_sha,
                status="completed",
                conclusion=conclusion,
                output={**output, "annotations": portions[0] if portions else []},
            )
            for portion in portions[1:]:
                check.edit(output={**output, "annotations": portion})
            return check.html_url or ""

    return with_retries(server, attempt, repeatable=False)


def _capped(annotations: Sequence[Annotation]) -> list[Annotation]:
    shown = annotations[: PER_REQUEST * REQUESTS]
    rest = len(annotations) - len(shown) + 1
    if rest == 1:
        return list(shown)
    message = "The report files list all; a check run of rubric-ci shows 500 annotations."
    more = replace(shown[-1], level="notice", title=f"{rest:,} more", message=message)
    return [*shown[:-1], more]


def _entry(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.file,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": _LEVELS[annotation.level],
        "title": annotation.title[:255],
        "message": annotation.message[:4096],
    }
