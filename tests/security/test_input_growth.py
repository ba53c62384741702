"""Files that grow: commands take time that is linear in the size of what a repository holds.

A size is doubled, and the processor time of this process is measured. Where it more than doubles,
it is measured again: a busy machine shows growth now and then, and a square shows it each time.
Every key of every schema grows: `schema_walk.py` finds them, with what may stand there.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final

import pytest

from rubric_ci.files.validation.schema import fits, read_schema
from rubric_ci.gate.report import json_format
from rubric_ci.parts.formats import junit, sarif
from rubric_ci.reports import annotations, markdown, terminal
from rubric_ci.values.report import RunReport
from tests.checkout import Checkout
from tests.invoke import invoke
from tests.security.schema_walk import Place, Schema, Walk

pytestmark = pytest.mark.deep

SIZES: Final = (24_000, 48_000)  # characters
LARGER: Final = (96_000, 192_000)  # where the smaller ones differ, as a limit lies between
FACTOR: Final = 2.5
FLOOR: Final = 0.05  # seconds: the start of a command, which has no size
REPEATS: Final = 4

Files = dict[str, str]
CASE: Final = {"id": "a", "input": "Hi", "rubrics": ["Greets"]}
TARGET: Final = {"name": "default", "provider": "mock", "response": "Hi"}


def evals(**suite: Any) -> Files:
    return {"a.eval.yaml": json.dumps({"evalcases": [CASE], **suite})}


def config(**keys: Any) -> Files:
    return {"rubric-ci.yaml": json.dumps({"targets": [TARGET], **keys})}


def evaluator(**keys: Any) -> Files:
    return evals(evalcases=[{**CASE, "evaluators": [{"name": "j", **keys}]}])


def many(size: int, text: str) -> list[str]:
    return [text.format(number) for number in range(size // (len(text) + 4))]


def cases(size: int, **keys: Any) -> list[dict[str, Any]]:
    return [{**CASE, "id": name, **keys} for name in many(size // 10, "case {}")]


def columns(size: int) -> Files:
    names = many(size, "column_{}")
    row = ",".join("x" for _ in names)
    return {
        "a.eval.yaml": "evalcases: c.csv\n",
        "c.csv": f"id,input,{','.join(names)}\na,b,{row}\n",
    }


def products(size: int) -> Iterator[tuple[str, Files]]:
    """Yield files in which a setting of the suite meets each of its cases."""
    own = [{key: each[key] for key in ("id", "input")} for each in cases(size)]
    yield "rubrics", evals(rubrics=many(size, "criterion {}"), evalcases=own)
    yield (
        "messages",
        evals(messages=[{"role": "user", "content": each} for each in many(size, "m {}")])
        | evals(evalcases=cases(size)),
    )
    yield "vars", evals(vars=dict.fromkeys(many(size, "v{}"), "x"), evalcases=cases(size))
    texts = cases(size, input="{{ text }}")
    yield "text", evals(vars={"text": "x" * size}, evalcases=texts)
    yield "targets", evals(targets=many(size, "t{}"), evalcases=cases(size))


INPUTS: dict[str, Callable[[int], Files]] = {
    "columns of a table": columns,
    "rows of a table": lambda n: {
        "a.eval.yaml": "evalcases: c.csv\nrubrics: [Greets]\n",
        "c.csv": "id,input\n" + "".join(f"{name},Hi\n" for name in many(n, "row {}")),
    },
    "a prompt that is a path": lambda n: evaluator(type="llm_judge", prompt="a/" * (n // 2)),
    "a prompt with a variable": lambda n: evaluator(type="llm_judge", prompt="{{ a }}" * (n // 7)),
    "a script of one word": lambda n: evaluator(type="code_judge", script="a" * n),
    "a script of many words": lambda n: evaluator(type="code_judge", script="./a " * (n // 4)),
    "a script of quotes": lambda n: evaluator(type="code_judge", script="'a' " * (n // 4)),
    "a command": lambda n: config(
        targets=[{"name": "default", "provider": "cli", "command_template": "a" * n}]
    ),
    "globs that select": lambda n: evals(depends_on=many(n, "a*{}")),
    "globs of cases": lambda n: evals(
        evalcases=[{**each, "depends_on": [f"a*{each['id']}"]} for each in cases(n)]
    ),
    "globs that find": lambda n: config(evals=["*.eval.yaml", *many(n, "b*{}")]),
    "a long glob": lambda n: config(evals=["a/" * (n // 2)]),
    "unknown rules": lambda n: config(rules=dict.fromkeys(many(n, "rule-{}"), "off")),
    "unknown keys": lambda n: evals(**dict.fromkeys(many(n, "key_{}"), "x")),
    "unknown keys of cases": lambda n: evals(evalcases=cases(n, inputt="x")),
    "names twice": lambda n: evals(evalcases=[CASE] * (n // 50)),
    "files that are missing": lambda n: evals(
        evalcases=[
            {
                "id": "a",
                "rubrics": ["Greets"],
                "input": [
                    {
                        "role": "user",
                        "content": [{"type": "file", "value": name} for name in many(n, "f{}")],
                    }
                ],
            }
        ]
    ),
    "comments": lambda n: {
        "a.eval.yaml": "evalcases:\n"
        + "".join(f"- {json.dumps(each)} # rubric-ci: ignore[x]\n" for each in cases(n))
    },
    "targets": lambda n: config(targets=[{**TARGET, "name": name} for name in many(n // 4, "t{}")]),
    "the same targets": lambda n: config(targets=[TARGET] * (n // 50)),
    "compared texts": lambda n: config(compare=[{"a": name} for name in many(n, "{}")]),
    "waivers": lambda n: {
        "waivers.yaml": json.dumps(
            {
                "waivers": [
                    {"case": each, "until": "2027-01-01", "reason": "x", "owner": "a@example.org"}
                    for each in many(n // 6, "case {}")
                ]
            }
        )
    },
    "lines": lambda n: {"b.jsonl": "".join(json.dumps(each) + "\n" for each in cases(n))},
    **{
        # the default binds the name of this round; mypy cannot infer its type (misc)
        f"cases by {name}": (lambda n, name=name: dict(products(n))[name])  # type: ignore[misc]
        for name in ("rubrics", "messages", "vars", "text", "targets")
    },
}
COMMANDS = {"validate": ("validate",), "run --list": ("run", "--list")}


def seconds(root: Path, files: Files, command: tuple[str, ...]) -> float:
    """Return the processor time of a command in a repository with these files."""
    shutil.rmtree(root, ignore_errors=True)
    checkout = Checkout.create(root)
    checkout.commit({**evals(), **config(judge={"model": "openai/m"}), **files})
    return validated(root, command)


def validated(root: Path, command: tuple[str, ...] = ("validate",)) -> float:
    """Return the processor time of a command in a folder."""
    started = process_time()
    done = invoke(root, {"PATH": os.environ["PATH"]}, *command)
    assert done.returncode in {0, 1, 2}, done.stderr
    return process_time() - started


def growth(measure: Callable[[int], float]) -> float:
    """Return by how much the time grows where the size is doubled, at least."""
    factor = least(measure, SIZES)
    return factor if factor <= FACTOR else least(measure, LARGER)


def least(measure: Callable[[int], float], sizes: tuple[int, int]) -> float:
    """Measure the larger size first: most keys take no time worth a second measurement."""
    found = 99.0
    for _ in range(REPEATS):
        large = measure(sizes[1])
        small = FLOOR if large <= FLOOR * FACTOR else max(measure(sizes[0]), FLOOR)
        found = min(found, large / small)
        if found <= FACTOR:
            break
    return found


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("files", INPUTS.values(), ids=INPUTS)
def test_a_file(tmp_path: Path, files: Callable[[int], Files], command: tuple[str, ...]) -> None:
    assert growth(lambda size: seconds(tmp_path / "r", files(size), command)) <= FACTOR


TEXTS: Final = ("a/", "{{ a }} ", "'a ", "x: a\n")
FILES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "eval": ("a.eval.yaml", {}),
    "config": ("rubric-ci.yaml", {"targets": [TARGET], "judge": {"model": "openai/m"}}),
    "waivers": ("waivers.yaml", {}),
}
WALKS: Final = {name: Walk(read_schema(name)) for name in FILES}
PLACES: Final = {name: tuple(walk.places()) for name, walk in WALKS.items()}


def group(place: Place) -> str:
    """Return the definition that a place is in; a key at the top is its own group."""
    return place.name if place.owner == "top" else place.owner


OWNERS: Final = list(
    dict.fromkeys((name, group(place)) for name, places in PLACES.items() for place in places)
)
NOT_ALONE: Final = {  # they need another key next to them, or two forms of a value to choose from
    *("rubrics", "not", "exact", "ignore_case", "field", "score_ranges", "levels", "sandbox"),
    *("choices", "include"),
    "identity",
}


def values(walk: Walk, schema: Schema) -> dict[str, Callable[[int], Any]]:
    """Return what grows in a place: texts, items and keys where it has them, else a wrong text."""
    node = walk.resolved(schema)
    written = node.get("type", "any")
    kinds = {written} if isinstance(written, str) else set(written)
    grows = kinds & {"string", "any"} and "enum" not in node
    found: dict[str, Callable[[int], Any]] = {
        text: partial(repeated, text) for text in (TEXTS if grows else TEXTS[:1])
    }
    if walk.many(node, 1):
        found["items"] = lambda n: walk.many(node, n // 40)
        found["one item"] = lambda n: walk.many(node, 1) * (n // 40)
    if kinds & {"object", "any"}:
        each = walk.example(node.get("additionalProperties") or {})
        found["keys"] = lambda n: dict.fromkeys(many(n // 4, "k{}"), each)
    if kinds & {"any", "object", "array"}:
        found["nested"] = lambda n: [[[[[[[[{"a": many(n // 4, "x{}")}]]]]]]]]
    return found


def repeated(text: str, size: int) -> str:
    return text * (size // len(text))


def test_the_walk_finds_every_key() -> None:
    names = {place.name.rpartition(".")[2] for places in PLACES.values() for place in places}
    known = {"evalcases", "script", "panel", "command_template", "mcp_servers", "until", "copy"}
    assert known <= names
    assert len(PLACES["eval"]) > 150
    assert len(PLACES["config"]) > 110
    wrong = {
        place.name.rpartition(".")[2]
        for schema, places in PLACES.items()
        for place in places
        if not fits(schema, place.put(WALKS[schema].example(place.schema)))
    }
    assert wrong <= NOT_ALONE


@pytest.mark.parametrize(("schema", "owner"), OWNERS, ids=map("-".join, OWNERS))
def test_every_key(tmp_path: Path, schema: str, owner: str) -> None:
    name, more = FILES[schema]
    walk, files = WALKS[schema], {**evals(), **config(judge={"model": "openai/m"})}

    def measure(document: Callable[[int], Any], command: tuple[str, ...], size: int) -> float:
        for path, text in {**files, name: json.dumps(document(size))}.items():
            (tmp_path / path).write_text(text, encoding="utf-8")
        return validated(tmp_path, command)

    grown = {}
    for place in (place for place in PLACES[schema] if group(place) == owner):
        for kind, value in values(walk, place.schema).items():
            document = partial(_document, place, more, value)
            valid = fits(schema, document(SIZES[0]))  # else no command goes further than `validate`
            further = valid and kind in {TEXTS[1], "items", "keys"}
            for command in COMMANDS if further else ("validate",):
                factor = growth(partial(measure, document, COMMANDS[command]))
                grown[f"{place.name}, {kind}, {command}"] = factor
    assert {kind: factor for kind, factor in grown.items() if factor > FACTOR} == {}


def _document(place: Place, more: dict[str, Any], value: Callable[[int], Any], size: int) -> Any:
    return {**more, **place.put(value(size))}


def large(size: int) -> RunReport:
    """Return a report with many notes and lines."""
    text = Path("tests/golden/mixed.report.json").read_text(encoding="utf-8")
    report = json_format.read(text)
    notes = tuple(many(size * 5, "note {} of <a> `b` @c"))
    return replace(report, notes=notes, grading_changes=report.grading_changes * (size // 200))


RENDERED: dict[str, Callable[[RunReport], object]] = {
    "comment": lambda report: markdown.render(report, limit=65_000, most=25),
    "summary": markdown.render,
    "terminal": lambda report: terminal.render(report, width=100, color=False),
    "junit": junit.render,
    "sarif": sarif.render,
    "annotations": annotations.render,
}


@pytest.mark.parametrize("render", RENDERED.values(), ids=RENDERED)
def test_a_report(render: Callable[[RunReport], object]) -> None:
    reports = {size: large(size) for size in (*SIZES, *LARGER)}

    def measure(size: int) -> float:
        started = process_time()
        render(reports[size])
        return process_time() - started

    assert growth(measure) <= FACTOR


@pytest.mark.parametrize(("power", "seen"), [(1, False), (1.1, False), (1.5, True), (2, True)])
def test_growth_is_seen(power: float, *, seen: bool) -> None:
    assert (growth(lambda size: (size / 24_000) ** power) > FACTOR) is seen
