"""Insert rubrics into an eval file, and an entry into `waivers.yaml`; every character is kept.

Each edit is verified: the new text is parsed again, and its data must equal the old data plus what
is inserted, type for type. A case that fails is left unchanged, and its block to paste reported.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from rubric_ci.files.editing import yaml_layout
from rubric_ci.files.editing.yaml_layout import (
    LINE_BREAK,
    Leaf,
    ListLayout,
    MappingNode,
    Node,
    SequenceNode,
    last_line_break,
    layout,
    line_start,
    tail,
)
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.scalars import YAML_COMMENT_IN_TEXT, YAML_ITEM_IN_TEXT
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import WAIVERS
from rubric_ci.values.json_value import JSON

_HARMLESS: Final = (YAML_ITEM_IN_TEXT, YAML_COMMENT_IN_TEXT)  # the data is what the text says
_BLANKS_AND_COMMENTS = re.compile(r"(?:\s|#[^\r\n]*)*")


class Keys(NamedTuple):
    """The keys of a file's cases and of the criteria of a case; other tools have other ones."""

    cases: str = "evalcases"
    criteria: str = "rubrics"


@dataclass(frozen=True, slots=True)
class Splice:
    index: int
    text: str


class CannotPlace(Exception):
    """Rubrics cannot be inserted into a case; the message is the reason."""


def place(
    text: str, root: Node | None, position: int, rubrics: JSON, keys: Keys
) -> tuple[Splice, ...]:
    """Return the insertions that give a case these rubrics."""
    cases = root.get(keys.cases) if isinstance(root, MappingNode) else None
    if not (isinstance(root, MappingNode) and isinstance(cases, SequenceNode)):
        raise CannotPlace(f"`{keys.cases}` comes from an alias or merge key")
    case = cases.items[position]
    if not isinstance(case, MappingNode):
        raise CannotPlace("the case is an alias of another case")
    if case.get(keys.criteria) is not None:
        raise CannotPlace(f"the case has a `{keys.criteria}` key already")
    if case.flow:
        return _into_flow(text, case, keys.criteria, rubrics)
    layout = _list_layout(text, case, root, cases)
    return (_into_block(text, case, yaml_layout.block_lines(keys.criteria, rubrics, layout)),)


def splice(text: str, splices: Iterable[Splice]) -> str:
    parts, done = [], 0
    for part in sorted(splices, key=lambda part: part.index):
        parts += [text[done : part.index], part.text]
        done = part.index
    return "".join([*parts, text[done:]])


def has_certain_data(document: Document) -> bool:
    """Return False for a text with a problem that makes its data uncertain."""
    return all(problem.rule in _HARMLESS for _, problem in document.text_problems)


_Edited = TypeVar("_Edited")


def largest_valid_subset(
    edits: list[_Edited], holds: Callable[[list[_Edited]], bool], attempts: int
) -> list[_Edited]:
    """Return all edits if they hold together, else those that hold, found by halving."""
    valid: list[_Edited] = []
    remaining = [edits] if edits else []
    for _ in range(attempts):
        if not remaining:
            break
        some = remaining.pop()
        if holds([*valid, *some]):
            valid += some
        elif len(some) > 1:
            half = len(some) // 2
            remaining += [some[half:], some[:half]]
    return valid


def _into_block(text: str, case: MappingNode, written: list[str]) -> Splice:
    """Insert lines after the case's last line of content, in the layout of the file."""
    lines = [" " * case.column + line if line else "" for line in written]
    line_break = LINE_BREAK.search(text, _anchor(case).end)
    if line_break:
        newline = line_break.group()
        return Splice(line_break.end(), "".join(line + newline for line in lines))
    newline = last_line_break(text)
    return Splice(len(text), "".join(newline + line for line in lines))


def _anchor(case: MappingNode) -> Node:
    """Return the value after which rubrics are inserted: the last one, or the one before it.

    A block scalar that ends the file without a newline would get a newline as content.
    """
    *earlier, (_, last) = case.pairs
    end = tail(last)
    if end is None or not end.open_ended:
        return last
    if not earlier:
        raise CannotPlace("the case ends in a block scalar without a final newline")
    return earlier[-1][1]


def _list_layout(
    text: str, case: MappingNode, suite: MappingNode, cases: SequenceNode
) -> ListLayout:
    """Return the layout of lists: of the case itself, else of another case, else of the suite."""
    others = [other for other in cases.items if isinstance(other, MappingNode)]
    for owner in (case, *others, suite):
        for _, value in owner.pairs:
            if isinstance(value, SequenceNode) and not value.flow and text[value.start] == "-":
                first = value.items[0]
                inline = LINE_BREAK.search(text, value.start, first.start) is None
                item = max(first.column - value.column, 2) if inline else 2
                return ListLayout(value.column - owner.column, item)
    return ListLayout()


def _into_flow(text: str, case: MappingNode, name: str, rubrics: JSON) -> tuple[Splice, ...]:
    """Insert a pair after the last one, on its own lines if the last one has its own line."""
    as_json = all(isinstance(key, Leaf) and key.quoted for key, _ in case.pairs)
    key, write = (f'"{name}"', yaml_layout.flow_json) if as_json else (name, yaml_layout.flow)
    last_key, last = case.pairs[-1]
    indent = text[line_start(text, last_key.start) : last_key.start]
    if not indent.strip():
        step = "\t" if indent.endswith("\t") else "  "
        items = ",\n".join(f"{step}{write(item)}" for item in rubrics).split("\n")
        lines = [indent + line for line in (f"{key}: [", *items, "]")]
        in_lines = _own_lines(text, last, lines)
        if in_lines:
            return in_lines
    comma = " , " if last.start == last.end and text[last.end - 1] != " " else ", "
    return (Splice(last.end, f"{comma}{key}: {write(rubrics)}"),)


def _own_lines(text: str, last: Node, lines: list[str]) -> tuple[Splice, ...]:
    """Insert lines after the line of the last pair; none if the closing brace is on it."""
    after = _after_blanks_and_comments(text, last.end)
    comma = text.startswith(",", after)
    brace = _after_blanks_and_comments(text, after + 1) if comma else after
    found = LINE_BREAK.search(text, after if comma else last.end)
    if not found or brace < found.end():
        return ()
    new = found.group().join(lines) + ("," if comma else "") + found.group()
    return (*(() if comma else (Splice(last.end, ","),)), Splice(found.end(), new))


def _after_blanks_and_comments(text: str, index: int) -> int:
    found = _BLANKS_AND_COMMENTS.match(text, index)
    return found.end() if found else index


_OURS = Keys()
_ODD_BREAKS = re.compile("[\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRejected:
    """Why a case is left unchanged."""

    reason: str
    block: str  # the rubrics as YAML, to paste by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    text: str  # with the inserted rubrics
    refused: Mapping[int, EditRejected]  # by position in `evalcases`


@dataclass(frozen=True, slots=True)
class _Edit:
    rubrics: JSON
    splices: tuple[Splice, ...]


def insert_rubrics(text: str, rubrics: Mapping[int, JSON], keys: Keys = _OURS) -> Edited:
    """Insert each value as the `rubrics` of the case at its position in `evalcases`.

    The text must be valid. Cases that share content through an anchor may be valid only together:
    all are tried at once and, if that fails, in halves until no more can be added.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(mark)
    edits, unplaced = _edits(body, rubrics, keys)
    new, unproven = _insert_valid(body, edits, keys)
    reasons = unplaced | unproven
    refused = {
        n: EditRejected(reason=reasons[n], block=rubrics_block(rubrics[n], keys.criteria))
        for n in rubrics
        if n in reasons
    }
    return Edited(text=mark + new, refused=refused)


def rubrics_block(rubrics: JSON, key: str = _OURS.criteria) -> str:
    """Return rubrics as a block of YAML, to paste by hand."""
    return "".join(line + "\n" for line in yaml_layout.block_lines(key, rubrics, ListLayout()))


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


def _edits(
    body: str, rubrics: Mapping[int, JSON], keys: Keys
) -> tuple[dict[int, _Edit], dict[int, str]]:
    """Return the edit for each case, or the reason why there is none."""
    if _ODD_BREAKS.search(body):
        return {}, dict.fromkeys(
            rubrics,
            "the file has NEL, LS or PS characters, which YAML counts as line breaks and editors "
            "do not",
        )
    root, cases = layout(body), Document("", body).data[keys.cases]
    edits: dict[int, _Edit] = {}
    reasons: dict[int, str] = {}
    for position, value in rubrics.items():
        try:
            edits[position] = _Edit(value, place(body, root, position, value, keys))
        except CannotPlace as reason:
            reasons[position] = str(reason)
    for position in [n for n in edits if keys.criteria in cases[n]]:
        del edits[position]
        reasons[position] = f"the case inherits `{keys.criteria}` through a merge key"
    return edits, reasons


def _insert_valid(body: str, edits: Mapping[int, _Edit], keys: Keys) -> tuple[str, dict[int, str]]:
    """Return the text with the edits that hold, and why each of the others does not."""
    before = Document("", body).data
    accepted: list[int] = []
    left = sorted(edits)
    reasons: dict[int, str] = {}

    def holds(some: list[int]) -> bool:
        chosen = {position: edits[position] for position in (*accepted, *some)}
        # An edit that fails is the last one at its last attempt, where it was added alone.
        _, reasons[some[-1]] = _attempt(body, before, chosen, keys)
        return not reasons[some[-1]]

    while valid := largest_valid_subset(left, holds, attempts=2 * len(left)):
        accepted += valid
        left = [position for position in left if position not in valid]
    new, _ = _attempt(body, before, {position: edits[position] for position in accepted}, keys)
    return new, {position: reasons[position] for position in left}


def _attempt(body: str, before: JSON, edits: Mapping[int, _Edit], keys: Keys) -> tuple[str, str]:
    """Return the new text and the reason why it is invalid, or ""."""
    new = splice(body, [part for edit in edits.values() for part in edit.splices])
    document = Document("", new)
    if not has_certain_data(document):
        return new, "with the rubrics inserted, the file would no longer be valid YAML"
    return new, _difference(_with_rubrics(before, edits, keys), document.data, keys.cases)


def _with_rubrics(before: JSON, edits: Mapping[int, _Edit], keys: Keys) -> JSON:
    cases = [
        case | {keys.criteria: edits[position].rubrics} if position in edits else case
        for position, case in enumerate(before[keys.cases])
    ]
    return before | {keys.cases: cases}


def _difference(expected: JSON, after: JSON, key: str) -> str:
    """Return the difference from the expected data, or ""."""
    if is_same(expected, after):
        return ""
    same = enumerate(map(is_same, expected[key], after[key]))
    changed = next((n for n, kept in same if not kept), None)
    changes = "something else in the file"
    if changed is not None:
        changes = f"case `{expected[key][changed].get('id')}` (number {changed + 1})"
    return f"{changes} would change with it: they share content through an anchor"


def append_waiver(text: str, entry: Mapping[str, JSON]) -> str | None:
    """Return the text with one more entry; None if it cannot be appended safely.

    `text` is a valid file, or empty.
    """
    if not text.strip():
        return f"waivers:\n{waiver_block(entry)}"
    old, newline = Document(WAIVERS, text).data, last_line_break(text)
    start = "" if text.endswith(newline) else newline
    for indent in (2, 0):
        new = text + start + waiver_block(entry, indent).replace("\n", newline)
        if _is_proven(new, old, entry):
            return new
    block = f"waivers:\n{waiver_block(entry).rstrip()}".replace("\n", newline)
    new = text.replace("waivers: []", block, 1)
    return new if _is_proven(new, old, entry) else None


def waiver_block(entry: Mapping[str, JSON], indent: int = 2) -> str:
    """Return an entry as lines of YAML."""
    layout = ListLayout()
    pairs = (yaml_layout.block_lines(key, value, layout) for key, value in entry.items())
    lines = [line for each in pairs for line in each]
    margin = " " * indent
    marked = [f"{margin}- {lines[0]}", *(f"{margin}  {line}" for line in lines[1:])]
    return "".join(f"{line}\n" for line in marked)


def _is_proven(new: str, old: JSON, entry: Mapping[str, JSON]) -> bool:
    parsed = Document(WAIVERS, new)
    wanted = {**old, "waivers": [*old["waivers"], dict(entry)]}
    return parsed.readable and not parsed.text_problems and is_same(parsed.data, wanted)
