"""Globs over paths of a repository with forward slashes; `**` crosses folders, `!` excludes."""

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

Matches: TypeAlias = Callable[[str], bool]

_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]/]*\]|[^*?[]+|\[")


def matcher(globs: Iterable[str]) -> Matches:
    """Return a predicate on paths; the last glob that fits a path decides.

    A glob without wildcards in its last part names a file, or a folder and all below it.
    """
    rules = [(not glob.startswith("!"), _compile(glob.removeprefix("!"))) for glob in globs]

    def matches(path: str) -> bool:
        return next((adds for adds, pattern in reversed(rules) if pattern.fullmatch(path)), False)

    return matches


def _compile(glob: str) -> re.Pattern[str]:
    plain = glob.removeprefix("./").rstrip("/")
    folder = plain.removesuffix("/**")  # the folder itself as well: a submodule is one path
    whole = folder != plain or not re.search(r"[*?[]", plain.rsplit("/", 1)[-1])
    return re.compile(
        "".join(map(_translate, _TOKEN.findall(folder))) + ("(?:/.*)?" if whole else ""), re.DOTALL
    )


def _translate(token: str) -> str:
    wildcards = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token.startswith("[") and len(token) > 1:
        return _character(token[1:-1])
    return wildcards.get(token, re.escape(token))


def _character(inside: str) -> str:
    """Return `[a-z]` or `[!a-z]` as a pattern; a range without members matches nothing."""
    negated, members = ("^", inside[1:]) if inside.startswith("!") else ("", inside)
    literal = re.sub(r"[^\w-]", r"\\\g<0>", members)
    try:
        re.compile(pattern := f"(?!/)[{negated}{literal}]")
    except re.error:
        return "(?!)"
    return pattern
