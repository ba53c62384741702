"""AgentV's checks and rubrics as criteria, each with its share of the weight of its grader.

An `include` in a list of graders stands for the graders of a template.
"""

from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import Any, Final

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.dialects.agentv_evaluators import CHECKS, OPTIONS, check_of
from rubric_ci.parts.bring.translation import Placed, Translation, placed, renamed
from rubric_ci.values.json_value import is_number
from rubric_ci.values.problems import Path

RUBRICS: Final = frozenset(("llm-rubric", "rubrics", "rubric", "llm-grader", "llm-judge"))
_ITEMS: Final = ("criteria", "value", "rubrics")


def is_one_text(grader: dict[str, Any]) -> bool:
    """Return True for a rubric of one text, whose gate is the criterion's."""
    written = next((grader[key] for key in _ITEMS if grader.get(key)), None)
    items = written if isinstance(written, list) else [written]
    only = items[0] if len(items) == 1 else None
    return isinstance(only, str) or (isinstance(only, dict) and "score_ranges" not in only)


def weight_of(grader: Any) -> float:
    weight = grader.get("weight", 1.0) if isinstance(grader, dict) else 1.0
    return float(weight) if is_number(weight) else 1.0


def criteria_of(
    found: Translation, test: dict[str, Any], grader: dict[str, Any], kind: str, place: Path
) -> list[Placed]:
    """Return the criteria of a check or of a rubric, with weights as if the grader had 1."""
    if kind in CHECKS:
        return [(check_of(found, grader, kind, place), place)]
    if kind in RUBRICS or (not kind and "criteria" in grader):
        return _rubric(found, test, grader, place)
    if not kind and ("outcome" in grader or "expected_outcome" in grader):
        own = {key: value for key, value in grader.items() if key != "weight"}
        return [(_criterion(found, own, 1.0, place), place)]
    inverted = "; AgentV inverts by `negate: true`" if kind.removeprefix("not-") in CHECKS else ""
    message = f"the grader `{kind}` has no counterpart{inverted}"
    found.refuse((*place, "type") if kind else place, message)
    return []


def _rubric(
    found: Translation, test: dict[str, Any], grader: dict[str, Any], place: Path
) -> list[Placed]:
    key = next((key for key in _ITEMS if grader.get(key)), "")
    written = grader.get(key)
    if not key:
        return _without_criteria(found, test, grader, place)
    found.refuse_keys(grader, (*OPTIONS, *_ITEMS), place)
    items = placed(written, (*place, key), alone=True)
    if isinstance(written, str) and written.startswith("file://"):
        found.refuse((*place, key), "criteria in another file have no counterpart")
        return []
    share = 1 / (sum(weight_of(item) for item, _ in items) or 1.0)
    criteria: list[Placed] = []
    for item, where in items:
        criterion = _criterion(found, item, share, where)
        if grader.get("required") is True and len(items) == 1:
            criterion["required"] = True
        criteria.append((criterion, where))
    return criteria


def _without_criteria(
    found: Translation, test: dict[str, Any], grader: dict[str, Any], place: Path
) -> list[Placed]:
    """Return the criterion of the test; `llm-rubric` has none, and AgentV skips it."""
    if grader["type"] in {"llm-grader", "llm_grader", "llm-judge", "llm_judge"}:
        if isinstance(test.get("criteria"), str):
            return [({"expected_outcome": test["criteria"], "required": False}, place)]
    elif grader["type"] in {"llm-rubric", "llm_rubric"}:
        found.skip(place, "`llm-rubric` without `value` and `prompt` grades nothing")
        return []
    found.refuse(place, "a grader without criteria has no counterpart")
    return []


_CONTRADICTION: Final = "Makes no claim that contradicts this, or does not mention it: "


def _criterion(found: Translation, item: Any, share: float, place: Path) -> dict[str, Any]:
    if not isinstance(item, dict):
        return {"expected_outcome": item, "weight": round(share, 6), "required": False}
    known = ("id", "outcome", "expected_outcome", "description", "weight", "required", "min_score")
    found.refuse_keys(item, (*known, "score_ranges", "operator"), place)
    text = next((item[key] for key in ("outcome", "expected_outcome") if key in item), None)
    match item.get("operator", "correctness"):
        case "correctness":
            pass
        case "contradiction" if isinstance(text, str):
            text = f"{_CONTRADICTION}{text}"
        case other:
            found.refuse((*place, "operator"), f"`operator: {other}` has no counterpart")
    named = {"id": item["id"]} if item.get("id") and isinstance(item["id"], str) else {}
    texts = {} if text is None else {"expected_outcome": text}
    criterion = {**named, "weight": round(weight_of(item) * share, 6), **texts}
    if "score_ranges" not in item:
        return {**criterion, "required": False}
    ranges = renamed(item["score_ranges"], "outcome", "expected_outcome")
    return {**criterion, "score_ranges": ranges}


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
    file = next((each for each in files if found.beside.read(each) is not None), "")
    chain_text = " → ".join((*chain, file or name))
    if not file:
        found.refuse((*place, "include"), f"`include: {name}` names no file: {files[0]}")
        return
    found.files[found.beside.place(file) or file] = None
    if file in chain or len(chain) >= DEPTH:
        what = "it is a circle" if file in chain else f"AgentV includes {DEPTH} deep at most"
        found.refuse((*place, "include"), f"`include`: {what}: {chain_text}")
        return
    data = Document(file, found.beside.read(file) or "").data
    lists = [data.get(key) for key in keys] if isinstance(data, dict) else []
    graders = next((each for each in lists if isinstance(each, list)), None)
    if graders is None:
        found.refuse((*place, "include"), f"{chain_text} has no list `{keys[0]}`")
        return
    for each in graders:
        yield from included(found, each, place, keys, (*chain, file))


def _candidates(name: str, folder: str) -> tuple[str, ...]:
    """Return the files that an include may mean: a bare name names a template."""
    if not name.startswith(".") and "/" not in name and "\\" not in name:
        return f"{_FOLDER}{name}.yaml", f"{_FOLDER}{name}.yml"
    return (normpath(join(folder, name)),)
