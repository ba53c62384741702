"""Whether a call of a tool fits `Name` or `Name(glob over its arguments)`.

A glob fits if it fits a text in the arguments, at any depth, or all of them as JSON. A line of a
shell is matched as a whole and by each of its commands: one that fits is a call of it. Where
nothing else may be called, each of them has to fit, each file of a patch, and each entry of a list.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from rubric_ci.models.agents import named
from rubric_ci.text.shell_commands import ShellLine, shell_line
from rubric_ci.values.json_value import JSON
from rubric_ci.values.trace import Step
from rubric_ci.values.walk import text_or_json

_PATTERN: Final = re.compile(r"(?P<tool>[^()\s]+)(?:\((?P<arguments>.*)\))?", re.DOTALL)
_PATCHES: Final = frozenset(("apply_patch", "patch"))
_FILE: Final = re.compile(
    r"^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): *(\S.*)", re.MULTILINE
)
_KEYS: Final = ("path", "move_path")


def is_pattern(text: str) -> bool:
    """Return True if a text is `Name` or `Name(glob)`."""
    return _PATTERN.fullmatch(text.strip()) is not None


def tool_of(pattern: str) -> str:
    parts = _PATTERN.fullmatch(pattern.strip())
    return parts["tool"] if parts else ""


def fits(step: Step, pattern: str, fold: bool) -> bool:
    """Return True if the tool's name fits, with `fold` in any case, and its arguments."""
    wanted = _wanted(step, pattern, fold)
    if not wanted:
        return wanted == ""
    started = [text for each in (*_shell(step).commands, *_files(step)) for text in each]
    return any(
        fits_glob(_in_one_line(text), wanted) for text in (*_texts(step.arguments), *started)
    )


def is_only(step: Step, patterns: list[str], fold: bool) -> bool:
    """Return True if a call is nothing but what the patterns allow."""
    wanted = [found for each in patterns if (found := _wanted(step, each, fold)) is not None]
    if any(not found.strip("*") for found in wanted):
        return True
    text, line = _shell_text(step), _shell(step)
    if files := _files(step):
        return all(_any_fits(each, wanted) for each in files)
    if not text:
        return any(_all_fit(texts, wanted) for texts in _parallel(step.arguments))
    joined = [found for found in wanted if len(shell_line(found).commands) > 1]
    if _all_fit([text], joined):
        return True
    return line.readable and all(_any_fits(each, wanted) for each in line.commands)


def may_start(steps: Sequence[Step], pattern: str, fold: bool) -> Iterator[Step]:
    """Yield the calls of a shell that may start a command that fits, and do not show it."""
    for step in steps:
        wanted, line = _wanted(step, pattern, fold), _shell(step)
        may = not line.readable or _any_fits(line.possible, [wanted or ""])
        if wanted and may and not fits(step, pattern, fold):
            yield step


def is_unread(step: Step, patterns: list[str], fold: bool) -> bool:
    """Return True if a call of a shell may be nothing but what the patterns allow, and more."""
    named = any(_wanted(step, each, fold) is not None for each in patterns)
    return named and not _shell(step).readable


def fits_glob(text: str, pattern: str) -> bool:
    """Return True if a text fits a glob, in which brackets stand for themselves."""
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def _wanted(step: Step, pattern: str, fold: bool) -> str | None:
    """Return the glob of the arguments, "" for any; None: the name of the tool does not fit."""
    parts = _PATTERN.fullmatch(pattern.strip())
    if parts is None:
        return None
    tool, name = (text.casefold() if fold else text for text in (step.tool, parts["tool"]))
    if not fits_glob(tool, name) and step.tool not in named(name):
        return None
    return parts["arguments"] or ""


def _all_fit(texts: Sequence[str], globs: Sequence[str]) -> bool:
    return all(any(fits_glob(_in_one_line(text), glob) for glob in globs) for text in texts)


def _any_fits(texts: Sequence[str], globs: Sequence[str]) -> bool:
    return any(fits_glob(_in_one_line(text), glob) for text in texts for glob in globs)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _shell(step: Step) -> ShellLine:
    """Return the commands of a call of a shell, none of another call."""
    text = _shell_text(step)
    return shell_line(text) if text else ShellLine()


def _shell_text(step: Step) -> str:
    given = step.arguments if isinstance(step.arguments, dict) else {}
    line = given.get("command", given.get("cmd"))
    if isinstance(line, list):
        line = shlex.join(map(str, line))
    return line if step.tool in named("shell") and isinstance(line, str) else ""


def _files(step: Step) -> list[tuple[str, ...]]:
    """Return the files of a patch, none of another call."""
    return patched_files(step.arguments) if step.tool in _PATCHES else []


def _texts(arguments: JSON) -> Iterator[str]:
    """Yield every text in the arguments, each value as JSON, and all of them as JSON."""
    yield text_or_json(arguments)
    for texts in _parallel(arguments):
        yield from texts


def _parallel(arguments: JSON) -> Iterator[list[str]]:
    """Yield the texts of each place in the arguments; the entries of a list are one place.

    The keys of a mapping below the arguments count as well: they may be names of files.
    """
    yield [text_or_json(arguments)]
    places: list[list[JSON]] = [[arguments]]
    while places:
        values = places.pop()
        lists = [each for each in values if isinstance(each, list)]
        mappings = [each for each in values if isinstance(each, dict)]
        if lists:
            places.append([item for each in lists for item in each])
        if mappings and values != [arguments]:
            yield [key for each in mappings for key in each]
        for key in dict.fromkeys(key for each in mappings for key in each):
            inside = [each[key] for each in mappings if key in each]
            yield [text_or_json(value) for value in inside]
            places.append(inside)


def patched_files(arguments: JSON) -> list[tuple[str, ...]]:
    """Return the path of each file that a patch names: as it is written, and in short.

    Codex lists `changes`, each with its path; the others give the patch as a text.
    """
    named = dict.fromkeys(path for path in _paths(arguments) if path.strip())
    return [tuple(dict.fromkeys((path, _short(path)))) for path in named]


def _paths(arguments: JSON) -> Iterator[str]:
    match arguments:
        case str():
            yield from map(str.rstrip, _FILE.findall(arguments))
        case dict():
            for key, value in arguments.items():
                yield from _listed(value) if key == "changes" else _paths(value)


def _listed(changes: Any) -> Iterator[str]:
    """Yield the paths of a list of changes, or of an object whose keys are the paths."""
    each = changes if isinstance(changes, list | dict) else ()
    for change in each:
        if isinstance(change, str):
            yield change
        of = changes[change] if isinstance(changes, dict) else change
        if isinstance(of, dict):
            yield from (of[key] for key in _KEYS if isinstance(of.get(key), str))


def _short(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))
