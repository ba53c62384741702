"""Find the eval files that a change cannot affect, so that they need not be parsed.

Parsing ten thousand cases takes seconds; a search of their text for the names of changed files
does not. A file that is left out is unchanged; every other file is compared case by case.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from rubric_ci.files.project.change import Difference
from rubric_ci.files.project.file_kinds import sidecar_name
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import sidecar_of, text_of
from rubric_ci.gate.selection.dependencies import ChangedPaths
from rubric_ci.grading.resolve import default_target
from rubric_ci.values.command_settings import Models, SelectOptions

MANY = 300
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.+@=-]+")
_UNKNOWN = re.compile(r"\\[xuU\r\n]|include[\"']?\s*:")
"""Escapes that can hide a name, and includes of rubric files, which name further files."""
_NAMING = ("script", "command", "depends_on")  # what can name files by their folder, or by globs
_EVALCASES = re.compile(r"^evalcases:[ ]*(?:#.*)?$", re.MULTILINE)
_NEXT_KEY = re.compile(r"^[^\s#-]", re.MULTILINE)
_FIRST = re.compile(r"(?:[ ]*(?:#.*)?\n)*?([ ]*)-( +)\S")


def find_unconcerned(
    project: Project,
    found: Sequence[Path],
    difference: Difference,
    options: SelectOptions,
    models: Models,
) -> Mapping[Path, int]:
    """Return the files that need not be read, and how many cases each holds."""
    if models.targets or options.cases or options.tags or options.places:
        return {}
    names = {path: project.name_of(path) for path in found}
    configured = {name for file in names.values() for name in project.candidates(file)}
    if difference.links_changed or difference.may_be_rewritten:
        return {}
    if project.shared.files:
        return {}  # a rubric file, which names further files, gives criteria to every eval file
    if any(map(difference.may_have_changed, configured)):
        return {}
    compared = {*configured, *names.values(), *map(sidecar_name, names.values())}
    changed = ChangedPaths(sorted(difference.changed_paths), compared)
    concerned = cache(partial(_concerned, project, difference, changed, models.target))
    same = [path for path, name in names.items() if _is_same(path, name, difference)]
    texts = {path: text for path in same if (text := text_of(path, project.root))}
    counts = {
        path: count_cases(names[path], text)
        for path, text in texts.items()
        if not concerned(project.targets_files(names[path]))(text + _suite(path, project.root))
    }
    return {path: count for path, count in counts.items() if count}


def _concerned(
    project: Project,
    difference: Difference,
    changed: ChangedPaths,
    override: str,
    targets_files: tuple[str, ...],
) -> Callable[[str], bool]:
    """Return a predicate that is true for an eval file that the change may affect."""
    config, pictures = project.config_with(targets_files), bool(difference.pictures)
    touched = {
        target.name
        for target in config.targets.values()
        if changed.concerns(target)
        or (target.answers and (pictures or difference.may_have_changed(target.answers)))
    }
    if (override or default_target(config)) in touched:
        return lambda _: True
    return may_mention(difference.names | (set() if override else touched))


def _is_same(path: Path, name: str, difference: Difference) -> bool:
    side = sidecar_name(name)
    used = {name, side} if sidecar_of(path) else {name}
    return used <= difference.entries.keys() and difference.changed.isdisjoint({name, side})


def _suite(path: Path, root: Path) -> str:
    sidecar = sidecar_of(path)
    return text_of(sidecar, root) if sidecar else ""


def may_mention(names: Iterable[str]) -> Callable[[str], bool]:
    """Return a predicate on eval files: may one depend on a file with one of these names.

    It returns True if that is unknown: for names that YAML may fold or escape, for files with
    scripts, globs or includes, and for more than `MANY` names.
    """
    folded = sorted({name.casefold() for name in names})
    if len(folded) > MANY or not all(map(_PLAIN_NAME.fullmatch, folded)):
        return lambda _: True
    words = (*_NAMING, *folded)

    def mentions(text: str) -> bool:
        folded_text = text.casefold()
        return _UNKNOWN.search(text) is not None or any(word in folded_text for word in words)

    return mentions


def count_cases(path: str, text: str) -> int | None:
    if path.endswith(".jsonl"):
        return sum(not line.isspace() for line in text.split("\n") if line)
    text = text.replace("\r\n", "\n")
    starts = list(_EVALCASES.finditer(text))
    if len(starts) != 1 or "\t" in text:
        return None
    rest = text[starts[0].end() + 1 :]
    end = _NEXT_KEY.search(rest)
    cases = rest[: end.start()] if end else rest
    first = _FIRST.match(cases)
    return _count_items(cases, first) if first else None


def _count_items(cases: str, first: "re.Match[str]") -> int | None:
    """Count the items, each of which must have its own `id`."""
    dash = first[1]
    keys = " " * (len(dash) + 1 + len(first[2]))
    _, *items = re.split(rf"^{dash}-(?= )", f"\n{cases}", flags=re.MULTILINE)
    own_id = re.compile(rf"(?:\A +|^{keys})[\"']?id[\"']?:", re.MULTILINE)
    return len(items) if all(len(own_id.findall(item)) == 1 for item in items) else None
