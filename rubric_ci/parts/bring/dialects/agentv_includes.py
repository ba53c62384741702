"""AgentV's `include` in a list of graders: the graders of a template, at the place of the entry."""

from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import Any, Final

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.parts.bring.dialects.agentv_rubrics import Placed
from rubric_ci.values.problems import Path

DEPTH: Final = 3
_FOLDER: Final = ".agentv/templates/"


def included(
    found: Translation, entry: Any, place: Path, keys: tuple[str, ...], chain: tuple[str, ...] = ()
) -> Iterator[Placed]:
    """Yield a grader, or the graders of an included template; `keys` name its list."""
    name = entry.get("include") if isinstance(entry, dict) and len(entry) == 1 else None
    if not isinstance(name, str):
        yield entry, place
        return
    files = _candidates(name, dirname(chain[-1]) if chain else "")
    file = next((each for each in files if found.read(each) is not None), "")
    told = " → ".join((*chain, file or name))
    if not file:
        found.refuse((*place, "include"), f"`include: {name}` names no file: {files[0]}")
        return
    found.files[found.place(file) or file] = None
    if file in chain or len(chain) >= DEPTH:
        what = "it is a circle" if file in chain else f"AgentV includes {DEPTH} deep at most"
        found.refuse((*place, "include"), f"`include`: {what}: {told}")
        return
    data = Document(file, found.read(file) or "").data
    lists = [data.get(key) for key in keys] if isinstance(data, dict) else []
    graders = next((each for each in lists if isinstance(each, list)), None)
    if graders is None:
        found.refuse((*place, "include"), f"{told} has no list `{keys[0]}`")
        return
    for each in graders:
        yield from included(found, each, place, keys, (*chain, file))


def _candidates(name: str, folder: str) -> tuple[str, ...]:
    """Return the files that an include may mean: a bare name names a template."""
    if not name.startswith(".") and "/" not in name and "\\" not in name:
        return f"{_FOLDER}{name}.yaml", f"{_FOLDER}{name}.yml"
    return (normpath(join(folder, name)),)
