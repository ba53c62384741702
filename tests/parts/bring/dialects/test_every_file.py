"""Every file of another tool in this repository: cases in are cases out and cases reported."""

import csv
import json
import re
import shutil
from io import StringIO
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.files.yaml_text.document import Document
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

ROOT = Path(__file__).parents[4]
PLACES = (
    "examples/**/*",
    "tests/peers/suites/*",
    "tests/parts/bring/dialects/files/*",
    "tests/evals/invalid/of-*",
)
ENDS = (".yaml", ".yml", ".json", ".csv")
LOST = {
    "tests/parts/bring/dialects/files/agentv.yaml": 1,
    "tests/parts/bring/dialects/files/greet.prompt.yml": 1,
    "tests/parts/bring/dialects/files/openai.json": 1,
    "tests/parts/bring/dialects/files/promptfoo.yaml": 7,
    "tests/parts/bring/dialects/files/table.csv": 1,
}
"""The cases that `import` cannot write; it says so."""


def counted(name: str) -> int | None:
    """Return how many cases a file has, as its own tool counts them; None: it is of no tool."""
    path = ROOT / name
    text = path.read_text("utf-8")
    if path.suffix == ".csv":
        return sum(any(cell.strip() for cell in row) for row in _rows(text)[1:])
    data = Document(name, text).data
    if not isinstance(data, dict) or "evalcases" in data:
        return None
    if "testing_criteria" in data:
        lines = path.with_suffix(".jsonl")
        return len(data["items"]) if "items" in data else len(lines.read_text().splitlines())
    if "prompts" in data and "tests" in data:
        return _promptfoo(data, path.parent)
    lists = [data[key] for key in ("testData", "evals", "tests") if isinstance(data.get(key), list)]
    return next((len(each) for each in lists if any(map(_asks, each))), None)


def _asks(case: Any) -> bool:
    return isinstance(case, dict) and bool(case.keys() & {"prompt", "input"})


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(StringIO(text)))


def _promptfoo(data: dict[str, Any], folder: Path) -> int:
    """Return tests times prompts, as promptfoo runs them; AgentV 5 has the same form."""
    prompts = sum(_prompts(each, folder) for each in data["prompts"])
    tests = data["tests"] if isinstance(data["tests"], list) else [data["tests"]]
    every = chain.from_iterable(_tests(each, folder) for each in tests)
    lists = [
        prod(len(v) for v in each.get("vars", {}).values() if isinstance(v, list)) for each in every
    ]
    return prompts * sum(lists)


def _prompts(prompt: Any, folder: Path) -> int:
    file = str(prompt).removeprefix("file://")
    if not file.endswith(".txt"):
        return 1
    return len(re.split(r"(?m)^---$", (folder / file).read_text()))


def _tests(test: Any, folder: Path) -> list[dict[str, Any]]:
    if isinstance(test, dict):
        return [test]
    path = folder / str(test).removeprefix("file://")
    if path.suffix == ".csv":
        return [{} for row in _rows(path.read_text())[1:] if any(row)]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines() if line]
    return []


def files() -> dict[str, int]:
    """Return the files of other tools, each with its number of cases."""
    found = {path.relative_to(ROOT).as_posix() for place in PLACES for path in ROOT.glob(place)}
    named = sorted(name for name in found if name.endswith(ENDS) and "/." not in name)
    return {name: count for name in named if (count := counted(name)) is not None}


FILES = files()


def test_every_format_has_a_file() -> None:
    assert len(FILES) >= 17
    assert {Path(name).suffix for name in FILES} == {*ENDS}
    assert {*LOST} <= {*FILES}


@pytest.mark.parametrize("name", FILES)
def test_cases_in_are_cases_out_and_cases_reported(name: str, checkout: Checkout) -> None:
    path = ROOT / name
    shutil.copytree(path.parents[1], checkout.root / "theirs")
    file = f"theirs/{path.relative_to(path.parents[1]).as_posix()}"
    done = invoke(checkout.root, ENVIRONMENT, "import", file, "--output-dir", "ours")
    written = list((checkout.root / "ours").glob("*.eval.yaml"))
    cases = [each for path in written for each in yaml.safe_load(path.read_text())["evalcases"]]
    reported = [line for line in done.stdout.splitlines() if line.startswith(file)]
    lost = [line for line in reported if ": warning: " not in line]
    assert done.returncode == bool(lost), done.stdout + done.stderr
    assert all(re.match(r".*?:\d+:\d+: ", line) for line in reported), reported
    assert FILES[name] - len(cases) == LOST.get(name, 0), done.stdout
    assert LOST.get(name, 0) == 0 or reported
    assert len({case["id"] for case in cases}) == len(cases)
