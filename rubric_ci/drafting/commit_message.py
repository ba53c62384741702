"""The message of a commit that adds rubrics, and the pull request that carries it."""

import re
from collections.abc import Callable, Mapping, Sequence

from rubric_ci.text import escape

TRAILER = "Rubric-CI: generate rubrics"
"""Marks a commit as ours, so that no second one is put on top of it."""

NAMED = 12  # cases of a file; of the others the number is given
LONGEST = 60  # characters of a case's id

# GitHub acts on these wherever they stand in a message: [skip ci], #12, GH-12, @someone.
_ACTIVE = re.compile(r"[\[\]#@*]|(?i:\bGH-(?=\d))|(?i:\bskip-checks\b)")


def message(added: Mapping[str, Sequence[str]], digest: str = "") -> str:
    """Return the commit message for the ids of the cases that were given rubrics, by file.

    A digest of the cases lets a later run see that it would only draft them again.
    """
    return (
        f"{subject(added)}\n\n"
        "Drafted from the expected outcomes: review them like any other change.\n\n"
        f"{_listing(added)}\n\n{TRAILER}{digest and ' '}{digest}\n"
    )


def subject(added: Mapping[str, Sequence[str]]) -> str:
    """Return the first line."""
    count = sum(len(ids) for ids in added.values())
    return f"evals: add rubrics to {count} case{'' if count == 1 else 's'}"


def pull_request_body(added: Mapping[str, Sequence[str]]) -> str:
    """Return the description of a pull request that does nothing else."""
    files = "\n".join(
        f"- {escape.code_span(file)}: {_names(ids, escape.code_span)}"
        for file, ids in added.items()
    )
    return (
        "These cases had an expected outcome and no rubrics. The rubrics here are drafts: read "
        "each criterion, drop what is wrong, and merge what should hold.\n\n"
        f"{files}\n\n"
        "This branch is written anew while cases without rubrics are left; commits that others "
        "put on it are kept, and nothing is added on top of them.\n"
    )


def is_ours(text: str) -> bool:
    """Tell whether a commit message is of this module's making."""
    return any(line.startswith(TRAILER) for line in text.splitlines())


def digest(text: str) -> str:
    """Return the digest in a message of ours; empty: there is none."""
    ours = [line for line in text.splitlines() if line.startswith(TRAILER)]
    return ours[-1].removeprefix(TRAILER).strip() if ours else ""


def _listing(added: Mapping[str, Sequence[str]]) -> str:
    return "\n".join(f"- {_inert(file)}: {_names(ids, _inert)}" for file, ids in added.items())


def _names(ids: Sequence[str], show: Callable[[str], str]) -> str:
    named = ", ".join(show(name[:LONGEST]) for name in ids[:NAMED])
    more = len(ids) - NAMED
    return f"{named} and {more} more" if more > 0 else named


def _inert(text: str) -> str:
    return _ACTIVE.sub("_", escape.one_line(text))
