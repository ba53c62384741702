"""Insert rubrics into the text of an eval file; every existing character is kept.

Each edit is verified: the new text is parsed again, and its data must equal the old data plus the
rubrics, type for type. A case that fails is left unchanged and reported with the block to paste.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rubric_ci.editing import yaml_writer
from rubric_ci.editing.insertion_point import CannotPlace, Splice, place, splice
from rubric_ci.editing.yaml_layout import layout
from rubric_ci.editing.yaml_writer import ListLayout
from rubric_ci.model.json_value import JSON
from rubric_ci.yaml_text.document import Document

_ODD_BREAKS = re.compile("[\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRejected:
    """Why a case is left unchanged."""

    reason: str
    block: str  # the rubrics as YAML, to paste by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The text with the inserted rubrics, and the cases that are left unchanged."""

    text: str
    refused: Mapping[int, EditRejected] = field(default_factory=dict)  # by position in `evalcases`


@dataclass(frozen=True, slots=True)
class _Edit:
    rubrics: JSON
    splices: tuple[Splice, ...]


def insert_rubrics(text: str, rubrics: Mapping[int, JSON]) -> Edited:
    """Insert each value as the `rubrics` of the case at its position in `evalcases`.

    The text must be valid. Cases that share content through an anchor may be valid only together:
    all are tried at once and, if that fails, in halves until no more can be added.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(mark)
    if "evalcases" not in Document("", body).data:
        reason = "the file is written for another tool, whose keys are not edited"
        blocks = {n: EditRejected(reason=reason, block=rubrics_block(rubrics[n])) for n in rubrics}
        return Edited(text=text, refused=blocks)
    edits, unplaced = _edits(body, rubrics)
    new, unproven = _insert_valid(body, edits)
    reasons = unplaced | unproven
    refused = {
        n: EditRejected(reason=reasons[n], block=rubrics_block(rubrics[n]))
        for n in rubrics
        if n in reasons
    }
    return Edited(text=mark + new, refused=refused)


def rubrics_block(rubrics: JSON) -> str:
    """Return rubrics as a block of YAML, to paste by hand."""
    return "".join(
        line + "\n" for line in yaml_writer.block_lines("rubrics", rubrics, ListLayout())
    )


def is_same(one: JSON, other: JSON) -> bool:
    """Compare type for type: True is not 1, and 1 is not 1.0."""
    if type(one) is not type(other):
        return False
    match one:
        case dict():
            return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
        case list():
            return len(one) == len(other) and all(map(is_same, one, other))
        case _:
            return bool(one == other)


def _edits(body: str, rubrics: Mapping[int, JSON]) -> tuple[dict[int, _Edit], dict[int, str]]:
    """Return the edit for each case, or the reason why there is none."""
    if _ODD_BREAKS.search(body):
        return {}, dict.fromkeys(
            rubrics,
            "the file has NEL, LS or PS characters, which YAML counts as line breaks and editors "
            "do not",
        )
    root, cases = layout(body), Document("", body).data["evalcases"]
    edits, reasons = dict[int, _Edit](), dict[int, str]()
    for position, value in rubrics.items():
        try:
            edits[position] = _Edit(value, place(body, root, position, value))
        except CannotPlace as reason:
            reasons[position] = str(reason)
    for position in [n for n in edits if "rubrics" in cases[n]]:
        del edits[position]
        reasons[position] = "the case inherits `rubrics` through a merge key"
    return edits, reasons


def _insert_valid(body: str, edits: Mapping[int, _Edit]) -> tuple[str, dict[int, str]]:
    if not edits:
        return body, {}
    before = Document("", body).data
    accepted, left = dict[int, _Edit](), dict(edits)
    while True:
        accepted, failures = _add(body, before, accepted, left)
        if not failures or len(failures) == len(left):
            return _attempt(body, before, accepted)[0], failures
        left = {position: left[position] for position in failures}


def _add(
    body: str, before: JSON, accepted: Mapping[int, _Edit], more: Mapping[int, _Edit]
) -> tuple[dict[int, _Edit], dict[int, str]]:
    """Accept all edits, or the valid ones of each half; return reasons for the others."""
    both = {**accepted, **more}
    _, failure = _attempt(body, before, both)
    if not failure:
        return both, {}
    if len(more) == 1:
        return dict(accepted), dict.fromkeys(more, failure)
    positions = sorted(more)
    half = len(positions) // 2
    first, failures = _add(body, before, accepted, {n: more[n] for n in positions[:half]})
    second, other_failures = _add(body, before, first, {n: more[n] for n in positions[half:]})
    return second, failures | other_failures


def _attempt(body: str, before: JSON, edits: Mapping[int, _Edit]) -> tuple[str, str]:
    """Return the new text and the reason why it is invalid, or ""."""
    new = splice(body, [part for edit in edits.values() for part in edit.splices])
    document = Document("", new)
    if document.text_problems:
        return new, "with the rubrics inserted, the file would no longer be valid YAML"
    return new, _difference(_with_rubrics(before, edits), document.data)


def _with_rubrics(before: JSON, edits: Mapping[int, _Edit]) -> JSON:
    cases = [
        case | {"rubrics": edits[position].rubrics} if position in edits else case
        for position, case in enumerate(before["evalcases"])
    ]
    return before | {"evalcases": cases}


def _difference(expected: JSON, after: JSON) -> str:
    """Return the difference from the expected data, or ""."""
    if is_same(expected, after):
        return ""
    pairs = enumerate(zip(expected["evalcases"], after["evalcases"], strict=False))
    changed = next((n for n, (old, new) in pairs if not is_same(old, new)), None)
    changes = "something else in the file" if changed is None else _name(expected, changed)
    return f"{changes} would change with it: they share content through an anchor"


def _name(suite: JSON, position: int) -> str:
    return f"case `{suite['evalcases'][position].get('id')}` (number {position + 1})"
