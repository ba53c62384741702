"""Files that grow: commands take time that is linear in the size of what a repository holds.

A size is doubled, and the processor time of this process is measured. Where it more than doubles,
it is measured again: a busy machine shows growth now and then, and a square shows it each time.
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

from rubric_ci.files.validation.schema import read_schema
from rubric_ci.gate.report import json_format
from rubric_ci.model.report import RunReport
from rubric_ci.reports.render import annotations, junit, markdown, sarif, terminal
from tests.checkout import Checkout
from tests.invoke import invoke

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
    found = 99.0
    for _ in range(REPEATS):
        small, large = (max(measure(size), FLOOR) for size in sizes)
        found = min(found, large / small)
        if found <= FACTOR:
            break
    return found


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("files", INPUTS.values(), ids=INPUTS)
def test_a_file(tmp_path: Path, files: Callable[[int], Files], command: tuple[str, ...]) -> None:
    assert growth(lambda size: seconds(tmp_path / "r", files(size), command)) <= FACTOR


VALUES: dict[str, Callable[[int], Any]] = {
    "path": lambda n: "a/" * (n // 2),
    "braces": lambda n: "{{ a }} " * (n // 8),
    "quotes": lambda n: "'a " * (n // 3),
    "lines": lambda n: "x: a\n" * (n // 5),
    "list": lambda n: many(n, "x{}"),
    "mappings": lambda n: [{"id": name, "name": name} for name in many(n // 3, "x{}")],
    "keys": lambda n: dict.fromkeys(many(n, "k{}"), "x"),
    "nested": lambda n: [[[[[[[[{"a": many(n, "x{}")}]]]]]]]],
}


def keys_of(schema: str) -> list[str]:
    return sorted(read_schema(schema)["properties"].keys() - {"$schema"})


def keys_below(schema: str, name: str) -> list[str]:
    return sorted(read_schema(schema)["$defs"][name]["properties"])


PLACES: dict[str, Callable[[Any], Files]] = {
    **{f"suite: {key}": (lambda v, k=key: evals(**{k: v})) for key in keys_of("eval")},  # type: ignore[misc]
    **{f"configuration: {key}": (lambda v, k=key: config(**{k: v})) for key in keys_of("config")},  # type: ignore[misc]
    **{
        f"case: {key}": (lambda v, k=key: evals(evalcases=[{**CASE, k: v}]))  # type: ignore[misc]
        for key in keys_below("eval", "case")
    },
    **{
        f"criterion: {key}": (lambda v, k=key: evals(rubrics=[{"expected_outcome": "x", k: v}]))  # type: ignore[misc]
        for key in keys_below("eval", "criterionObject")
    },
    **{
        f"evaluator: {key}": (lambda v, k=key, t=kind: evaluator(**{"type": t, k: v}))  # type: ignore[misc]
        for kind, name in (("code_judge", "codeJudge"), ("llm_judge", "llmJudge"))
        for key in keys_below("eval", name)
    },
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_value_of_any_key(tmp_path: Path, place: Callable[[Any], Files]) -> None:
    def measure(value: Callable[[int], Any], size: int) -> float:
        files = {**evals(), **config(judge={"model": "openai/m"}), **place(value(size))}
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return validated(tmp_path)

    grown = {kind: growth(partial(measure, value)) for kind, value in VALUES.items()}
    assert {kind: factor for kind, factor in grown.items() if factor > FACTOR} == {}


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


def test_growth_is_seen() -> None:
    def square(size: int) -> float:
        started, text = process_time(), "a" * (size // 8)
        for _ in text:
            text.count("ab")
            text.count("ba")
        return process_time() - started

    assert growth(square) > FACTOR
