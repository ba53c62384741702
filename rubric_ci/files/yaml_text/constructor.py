"""YAML nodes to JSON data: string keys, no duplicates, no tags, aliases within bounds.

PyYAML's own constructor drops duplicate keys, turns keys into booleans and numbers, and creates
types that JSON does not have.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_ci.files.yaml_text.scalars import (
    CORE_WORDS,
    NUMBER_STARTS,
    WORDS,
    TooManyDigits,
    is_short_decimal,
    resolve,
    resolve_core,
)
from rubric_ci.values.json_value import MAX_DEPTH
from rubric_ci.values.problems import (
    GOOD_FILE,
    MAX_PROBLEMS,
    LocatedProblem,
    Path,
    Rule,
    with_rubrics,
)

MAX_EXPANSION: Final = 200_000  # values that aliases may add to the written ones

_TAGS = "tag:yaml.org,2002:"
_CONTAINER_TAGS = {MappingNode: ("!", f"{_TAGS}map"), SequenceNode: ("!", f"{_TAGS}seq")}


def _expanding() -> str:
    """Return anchors that name the anchor before them nine times each."""
    items = (("a", "1"), ("b", "*a"), ("c", "*b"), ("d", "*c"), ("e", "*d"), ("f", "*e"))
    return "".join(f"x-{name}: &{name} [{', '.join([each] * 9)}]\n" for name, each in items)


YAML_DUPLICATE_KEY: Final = Rule(
    id="yaml-duplicate-key",
    meaning=(
        "YAML does not allow a key to occur twice in a mapping. Most YAML libraries silently keep "
        "the last one, so the other value is lost."
    ),
    hint="remove one of them",
    bad=with_rubrics("- expected_outcome: Greets\n  weight: 1\n  weight: 2"),
    good=with_rubrics("- expected_outcome: Greets\n  weight: 2"),
)
YAML_KEY: Final = Rule(
    id="yaml-key",
    meaning="A key must be plain text; lists and mappings are not supported as keys.",
    hint="quote it, or write it as one word",
    bad=f"{GOOD_FILE}    metadata: {{[a, b]: 1}}\n",
    good=f'{GOOD_FILE}    metadata: {{"a, b": 1}}\n',
)
YAML_MERGE: Final = Rule(
    id="yaml-merge",
    meaning="A merge key `<<` takes a mapping or a list of mappings.",
    bad=f"{GOOD_FILE}    <<: text\n",
    good=f"{GOOD_FILE}    <<: {{note: text}}\n",
)
YAML_ALIAS: Final = Rule(
    id="yaml-alias",
    meaning="An anchor must not contain its own alias: the value would be endless.",
    hint="write the value out",
    bad=f"{GOOD_FILE}    metadata: &all {{again: *all}}\n",
    good=f"{GOOD_FILE}    metadata: {{again: none}}\n",
)
YAML_EXPANSION: Final = Rule(
    id="yaml-expansion",
    meaning="Aliases of aliases can expand a small file to millions of values.",
    hint="write the values out",
    bad=_expanding() + GOOD_FILE,
    good=f"x-a: &a [1, 1]\nx-b: [*a, *a]\n{GOOD_FILE}",
)
YAML_DEPTH: Final = Rule(
    id="yaml-depth",
    meaning="A file may be nested at most 100 levels deep.",
    hint="nest less",
    bad=f"{GOOD_FILE}    metadata: {{deep: {'[' * 100}{']' * 100}}}\n",
    good=f"{GOOD_FILE}    metadata: {{deep: [[]]}}\n",
)
YAML_TAG: Final = Rule(
    id="yaml-tag",
    meaning="Only the YAML tags of JSON types are supported.",
    hint="remove the tag",
    bad=f"{GOOD_FILE}    note: !secret greeting\n",
    good=f"{GOOD_FILE}    note: greeting\n",
)
YAML_NUMBER_SIZE: Final = Rule(
    id="yaml-number-size",
    meaning="A number may have at most 300 digits.",
    hint="quote it, if it is meant as text",
    bad=f"{GOOD_FILE}    metadata: {{big: {'9' * 301}}}\n",
    good=f'{GOOD_FILE}    metadata: {{big: "{"9" * 301}"}}\n',
)


class AmbiguousScalar(NamedTuple):
    """A scalar that YAML versions read differently."""

    kind: str
    node: Any


class DataBuilder:
    """Builds the data of one document; collects problems and ambiguous scalars."""

    def __init__(self, text: str, *, core: bool = False) -> None:
        self._words, self._resolve = (CORE_WORDS, resolve_core) if core else (WORDS, resolve)
        self.text_problems: list[LocatedProblem] = []
        self.ambiguous: list[AmbiguousScalar] = []
        self.dashes = False  # in a plain scalar: it may contain list items
        self._build = self._shared if "&" in text else self._container
        self._built: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        self._extra = 0
        self._open: set[int] = set()

    def value(self, node: Any, depth: int = 0) -> Any:
        """Return the data of a node `depth` levels below the root."""
        return self._scalar(node) if node.__class__ is ScalarNode else self._build(node, depth)

    def _container(self, node: Any, depth: int) -> Any:
        if depth >= MAX_DEPTH:
            self._report(YAML_DEPTH, node, f"nested more than {MAX_DEPTH} levels deep")
            return None
        if node.tag is not None and node.tag not in _CONTAINER_TAGS[node.__class__]:
            self._unknown_tag(node)
        if node.__class__ is MappingNode:
            return self._mapping(node, depth + 1)
        return self._sequence(node, depth + 1)

    def _scalar(self, node: Any) -> Any:
        text = node.value
        if node.tag is not None:
            return self._tagged(node)
        if node.style:
            return text
        if text in self._words:
            return self._words[text]
        if "- " in text:
            self.dashes = True
        if text[0] not in NUMBER_STARTS:
            return text
        return int(text) if is_short_decimal(text) else self._number(node)

    def _number(self, node: Any) -> Any:
        try:
            value, ambiguity = self._resolve(node.value)
        except TooManyDigits:
            self._report(YAML_NUMBER_SIZE, node, "a number of more than 300 digits")
            return 0
        if ambiguity:
            self.ambiguous.append(AmbiguousScalar(ambiguity, node))
        return value

    def _sequence(self, node: Any, depth: int) -> list[Any]:
        scalar, build = self._scalar, self._build
        return [
            scalar(item) if item.__class__ is ScalarNode else build(item, depth)
            for item in node.value
        ]

    def _mapping(self, node: Any, depth: int) -> dict[str, Any]:
        scalar, build = self._scalar, self._build
        data: dict[str, Any] = {}
        merges = []
        for key_node, item in node.value:
            if key_node.__class__ is not ScalarNode:
                self._report(YAML_KEY, key_node, "a key must be plain text")
                continue
            key = key_node.value
            if key == "<<" and not key_node.style:
                merges.append(item)
            elif key in data:
                self._duplicate(key_node, node)
            else:
                data[key] = scalar(item) if item.__class__ is ScalarNode else build(item, depth)
        return self._merged(data, merges, depth) if merges else data

    def _merged(self, data: dict[str, Any], merges: list[Any], depth: int) -> dict[str, Any]:
        for node in merged_nodes(merges):
            if node.__class__ is not MappingNode:
                self._report(YAML_MERGE, node, "`<<` takes a mapping or a list of mappings")
                continue
            for key, item in (self.value(node, depth) or {}).items():
                data.setdefault(key, item)
        return data

    def _shared(self, node: Any, depth: int) -> Any:
        """Build a container once for all its aliases, and count the values that they add."""
        key = id(node)
        if key in self._open:
            self._report(YAML_ALIAS, node, "an anchor that contains its own alias")
            return None
        if key in self._built:
            return self._reuse(key, node)
        self._open.add(key)
        before = len(self._sizes) + self._extra
        built = self._container(node, depth)
        self._open.discard(key)
        self._built[key] = built
        self._sizes[key] = len(self._sizes) + self._extra - before + len(built or ()) + 1
        return built

    def _reuse(self, key: int, node: Any) -> Any:
        self._extra += self._sizes[key]
        if self._extra <= MAX_EXPANSION:
            return self._built[key]
        if self._extra - self._sizes[key] <= MAX_EXPANSION:  # report it once
            message = f"aliases expand to more than {MAX_EXPANSION:,} values"
            self._report(YAML_EXPANSION, node, message)
        self._extra = max(self._extra, MAX_EXPANSION + 1)
        return None

    def _tagged(self, node: Any) -> Any:
        text = node.value
        match node.tag.removeprefix(_TAGS):
            case "str" | "!":
                return text
            case "null" if text in WORDS and WORDS[text] is None:
                return None
            case "bool" if WORDS.get(text) is not None:
                return WORDS[text]
            case "int" | "float" as kind:
                return self._tagged_number(node, kind)
            case _:
                self._unknown_tag(node)
                return text

    def _tagged_number(self, node: Any, kind: str) -> Any:
        value = self._number(node)
        if isinstance(value, str):
            self._report(YAML_TAG, node, f"`{node.value}` is not a plain number")
            return 0
        return float(value) if kind == "float" else value

    def _unknown_tag(self, node: Any) -> None:
        name = node.tag.replace(_TAGS, "!!")
        self._report(YAML_TAG, node, f"the tag `{name}` is not supported")

    def _duplicate(self, key_node: Any, mapping: Any) -> None:
        if len(self.text_problems) > MAX_PROBLEMS:
            return
        same = (key for key, _ in mapping.value if key.value == key_node.value)
        line = next(same).start_mark.line + 1
        message = f"the key `{key_node.value}` occurs twice; the first is on line {line}"
        self._report(YAML_DUPLICATE_KEY, key_node, message)

    def _report(self, rule: Rule, node: Any, message: str) -> None:
        if len(self.text_problems) <= MAX_PROBLEMS:
            self.text_problems.append(LocatedProblem(rule, *place(node), message))


def place(node: Any) -> tuple[int, int, int, int]:
    """Return the place of a node on one line, or of the start of a longer one."""
    start, end = node.start_mark, node.end_mark
    line, column = start.line + 1, start.column + 1
    if end.line == start.line:
        return line, column, line, max(end.column + 1, column + 1)
    if node.__class__ is MappingNode and node.value and not node.flow_style:
        key = node.value[0][0].end_mark
        return line, column, line, key.column + 1 if key.line == start.line else column + 1
    return line, column, line, column + 1


def merged_nodes(merges: list[Any]) -> Iterator[Any]:
    """Yield the nodes that `<<` names, in order of precedence."""
    for merge in merges:
        if merge.__class__ is SequenceNode:
            yield from merge.value
        else:
            yield merge


class OneSource:
    """What holds for a source in the format of rubric-ci, in one file, without YAML nodes."""

    __slots__ = ()

    data: Any
    of_other_tool = False
    in_files = False

    @property
    def rubric_files(self) -> tuple[str, ...]:
        return ()

    @property
    def readable(self) -> bool:
        return self.data is not None

    def paths_of(self, _nodes: Iterable[Any], _leave_out: Any) -> dict[int, Path]:
        """Return no path: ambiguous scalars are not looked for."""
        return {}
