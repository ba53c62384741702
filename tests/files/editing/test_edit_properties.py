"""For every layout, every old character stays, and the data is the old plus the rubrics."""

import json
from typing import Any

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rubric_ci.files.editing.insertions import insert_rubrics
from rubric_ci.files.editing.jsonl import insert_rubrics_into_lines

WORDS = st.sampled_from(["Größe", "refund", "a: b", "x # y", "it's", '"quoted"', "🗼", "no", "\t"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.lists(WORDS).map(
    " ".join
)
CRITERIA = st.fixed_dictionaries(
    {"id": TEXTS, "expected_outcome": TEXTS},
    optional={
        "weight": st.floats(0, 1e20) | st.integers(0, 9),
        "required": st.booleans(),
        "score_ranges": st.lists(
            st.fixed_dictionaries({"score_range": st.just([0, 10]), "expected_outcome": TEXTS}),
            max_size=2,
        ),
    },
)
RUBRICS = st.lists(CRITERIA | TEXTS, min_size=1, max_size=3)

PLAIN = ["word", "two words", "Größe", "http://x/#y", "é\n", "12", "yes", "~", ""]
QUOTED = ["''", "'it''s #'", '"a\\n: \\u00e9"', '"x" # why', "'a\tb'", "[a, b]", "{k: v}", "[] # c"]
HEADERS = ["|", ">", "|-", ">-", "|+", ">+", "|2", ">2-"]
BODIES = [["text"], ["one", "", "two"], ["  more", "less"], ["# no comment"], ["x", "   "], []]
FILLERS = ["", "   ", "# comment", "    # indented comment"]


class Page:
    """Lines of a file in the making, all with drawn endings."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.endings = draw(st.sampled_from([["\n"], ["\r\n"], ["\n", "\r\n"], ["\r"]]))
        self.text = ""

    def line(self, text: str) -> None:
        self.text += text + self.draw(st.sampled_from(self.endings))

    def fillers(self) -> None:
        for filler in self.draw(st.lists(st.sampled_from(FILLERS), max_size=2)):
            self.line(filler)

    def pair(self, lead: str, key: str, indent: int) -> None:
        """Write a pair whose value is a scalar, a block scalar, a list or a mapping."""
        kind = self.draw(st.sampled_from(["plain", "quoted", "block", "list", "mapping", "lines"]))
        head = f"{lead}{self.draw(st.sampled_from([key, repr(key)]))}:"
        pad = " " * indent
        if kind == "plain":
            self.line(f"{head} {self.draw(st.sampled_from(PLAIN)).strip()}")
        elif kind == "quoted":
            self.line(f"{head} {self.draw(st.sampled_from(QUOTED))}")
        elif kind == "lines":
            self.line(f"{head} one")
            self.line(f"{pad}  two")
        elif kind == "block":
            self.line(f"{head} {self.draw(st.sampled_from(HEADERS))}")
            for body in self.draw(st.sampled_from(BODIES)):
                self.line(f"{pad}  {body}" if body else "")
        elif kind == "list":
            self.line(head)
            inner = " " * (indent + self.draw(st.sampled_from([0, 2, 4])))
            for _ in range(self.draw(st.integers(1, 2))):
                self.line(f"{inner}- {self.draw(st.sampled_from(['x', 'role: user', '[y]', '']))}")
        else:
            self.line(head)
            self.pair(f"{pad}  ", "inner", indent + 2)

    def block_case(self, number: int, indent: int) -> None:
        gap = self.draw(st.integers(1, 3))
        inner = indent + 1 + gap
        lead = " " * indent + "-" + " " * gap
        if self.draw(st.booleans()):
            self.line(
                " " * indent + "-" + self.draw(st.sampled_from(["", " # case", f" &case-{number}"]))
            )
            lead = " " * inner
        self.line(f"{lead}id: case-{number}")
        for key in self.draw(st.permutations(["expected_outcome", "note", "x-more"])):
            self.pair(" " * inner, key, inner)
            self.fillers()

    def flow_case(self, number: int, indent: int) -> None:
        lead = " " * indent + "- "
        shape = self.draw(
            st.sampled_from(
                [
                    ["{id: case-N, note: x}"],
                    ["{id: case-N, note: }  # c"],
                    ['{ "id": "case-N", "note": [1, "}"] }'],
                    ["{", "    id: case-N,", "    note: x # c", "  }"],
                    ["{", "    id: case-N, note: x", "  }"],
                    ["{", '    "id": "case-N",', '    "note": {},', "    # c", "  }"],
                ]
            )
        )
        for part in shape:
            self.line(lead + part.replace("N", str(number)))
            lead = " " * indent


@st.composite
def eval_files(draw: st.DrawFn) -> str:
    page = Page(draw)
    bom = draw(st.sampled_from(["", "\ufeff"]))
    for line in draw(st.sampled_from([[], ["---"], ["%YAML 1.1", "---"], ["# top", "target: t"]])):
        page.line(line)
    page.line("evalcases:")
    indent = draw(st.sampled_from([0, 2, 4, 7]))
    for number in range(draw(st.integers(1, 3))):
        page.fillers()
        draw(st.sampled_from([page.block_case, page.block_case, page.flow_case]))(number, indent)
    for line in draw(st.sampled_from([[], ["description: d"], ["..."], ["# end"]])):
        page.line(line)
    text = page.text
    return bom + (text if draw(st.booleans()) else text.rstrip("\r\n"))


def load(text: str) -> Any:
    return yaml.load(text, yaml.CSafeLoader)


def strict(data: Any) -> str:
    """Give equal texts for data that is equal type for type."""
    return json.dumps(data, sort_keys=True, default=str)


def is_subsequence(old: str, new: str) -> bool:
    rest = iter(new)
    return all(character in rest for character in old)


@st.composite
def entangled_files(draw: st.DrawFn) -> str:
    """Cases that are anchored, merged into others, and named by aliases."""
    lines = ["evalcases:"]
    for number in range(draw(st.integers(1, 5))):
        earlier = [f"*case-{n}" for n in range(number)]
        ways = ["own", "merge", "merge list", "rubrics", "flow", "alias", "value"]
        way = draw(st.sampled_from(ways if earlier else ["own", "rubrics", "flow"]))
        other = draw(st.sampled_from(earlier)) if earlier else ""
        anchor, key = f"&case-{number}", f"id: case-{number}"
        lines += {
            "own": [f"  - {anchor}", f"    {key}"],
            "merge": [f"  - {anchor}", f"    <<: {other}", f"    {key}"],
            "merge list": [f"  - {anchor}", f"    {key}", f"    <<: [{', '.join(earlier)}]"],
            "rubrics": [f"  - {anchor}", f"    {key}", "    rubrics: [Says so]"],
            "flow": [f"  - {anchor} {{{key}, note: x}}"],
            "alias": [f"  - {anchor}", f"    {key}", "    note: x", f"  - {other}"],
            "value": [f"  - {anchor}", f"    {key}", f"    metadata: {other}"],
        }[way]
    return "\n".join(lines) + "\n"


@settings(suppress_health_check=list(HealthCheck))
@given(eval_files(), st.data())
def test_yaml(text: str, data: st.DataObject) -> None:
    try:
        before = load(text)
    except yaml.YAMLError:
        assume(False)
    wanted = data.draw(wishes(before))
    edited = insert_rubrics(text, wanted)
    assert edited.refused == {}
    assert is_subsequence(text, edited.text)
    assert strict(load(edited.text)) == strict(with_rubrics(before, wanted))
    again = insert_rubrics(edited.text, wanted)
    assert again.text == edited.text
    assert again.refused.keys() == wanted.keys()


@given(entangled_files(), st.data())
def test_entangled_yaml(text: str, data: st.DataObject) -> None:
    before = load(text)
    wanted = data.draw(wishes(before))
    edited = insert_rubrics(text, wanted)
    served = {n: value for n, value in wanted.items() if n not in edited.refused}
    assert is_subsequence(text, edited.text)
    assert strict(load(edited.text)) == strict(with_rubrics(before, served))
    assert insert_rubrics(edited.text, served).text == edited.text


@given(
    st.lists(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS), min_size=1), min_size=1, max_size=3),
    st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\n\n", "  \n"]),
    st.booleans(),
    st.data(),
)
def test_json_lines(
    cases: list[dict[str, Any]],
    separators: tuple[str, str],
    as_ascii: bool,
    ending: str,
    final: bool,
    data: st.DataObject,
) -> None:
    assume(not any("rubrics" in case for case in cases))
    lines = [json.dumps(c, separators=separators, ensure_ascii=as_ascii) for c in cases]
    text = ending.join(lines) + (ending if final else "")
    wanted = data.draw(wishes({"evalcases": cases}))
    edited = insert_rubrics_into_lines(text, wanted)
    assert edited.refused == {}
    assert is_subsequence(text, edited.text)
    after = [json.loads(line) for line in edited.text.split("\n") if line.strip()]
    assert strict(after) == strict(with_rubrics({"evalcases": cases}, wanted)["evalcases"])
    assert insert_rubrics_into_lines(edited.text, wanted).text == edited.text


def wishes(suite: Any) -> st.SearchStrategy[dict[int, Any]]:
    positions = st.integers(0, len(suite["evalcases"]) - 1)
    return st.dictionaries(positions, RUBRICS, min_size=1)


def with_rubrics(suite: Any, wanted: dict[int, Any]) -> Any:
    cases = enumerate(suite["evalcases"])
    added = [case | {"rubrics": wanted[n]} if n in wanted else case for n, case in cases]
    return suite | {"evalcases": added}
