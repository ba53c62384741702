"""The number of cases of a project, in all and by tag, for the rules of pass rates."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rubric_ci.errors import CannotReadFile
from rubric_ci.project import discovery
from rubric_ci.validation.gate_rules import Sizes
from rubric_ci.yaml_text.source import decode, open_source


def count_cases(paths: Iterable[Path]) -> Sizes:
    """Count the cases of eval files; those that cannot be read have problems of their own."""
    found = [tags for path in paths for tags in _tags_of_cases(path)]
    return Sizes(len(found), Counter(tag for tags in found for tag in tags))


def _tags_of_cases(path: Path) -> Iterator[set[str]]:
    try:
        text = decode(discovery.read_bytes(path))
    except CannotReadFile:
        return
    data: Any = open_source(path.as_posix(), text).data if isinstance(text, str) else None
    cases = data.get("evalcases") if isinstance(data, dict) else None
    for case in cases if isinstance(cases, list) else ():
        tags = case.get("tags") if isinstance(case, dict) else None
        yield {tag for tag in tags if isinstance(tag, str)} if isinstance(tags, list) else set()
