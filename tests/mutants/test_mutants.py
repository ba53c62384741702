"""Mutants: which changes there are, which a test notices, and the list of those that none can."""

import os
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.captured import captured
from tests.mutants.modules import HELD, PACKAGE
from tests.mutants.mutate import mutants
from tests.mutants.survivors import read_survivors

ROOT: Final = Path(__file__).parents[2]

CHANGES = {
    "a comparison": ("x < 2", ["x < 2 → x <= 2", "2 → 3"]),
    "and": ("x and y", ["x and y → x or y"]),
    "arithmetic": ("x / y", ["x / y → x * y"]),
    "not": ("not x", ["not x → x"]),
    "a condition": ("x if y else z", ["x if y else z → z if y else x"]),
    "a filter": ("[x for x in y if x]", ["for x without if x"]),
    "one of several": ("(x, y)", ["(x, y) without x", "(x, y) without y"]),
    "an entry": ("{x: y, **z}", ["{…} without x", "{…} without **z"]),
    "a key": ("{'a': x}", ["{…} without 'a'", "'a' → 'a!'"]),
    "an argument": ("f(x, y=z)", ["f(…) without y=z"]),
    "a statement": ("f(x)", []),  # it is what is returned
    "a text": ("'a'", []),
}


@pytest.mark.parametrize(("code", "expected"), CHANGES.values(), ids=CHANGES)
def test_changes(code: str, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(f"def g(f, x, y, z):\n    return {code}\n", encoding="utf-8")
    assert [each.key for each in mutants(path)] == [f"g: {change}" for change in expected]


def test_a_mutant_differs_in_one_place_and_leaves_the_others_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("LIMIT = 1\ndef f(x):\n    g(x)\n    return x > 1 or x > 1\n")
    found = mutants(path)
    assert [each.key for each in found] == [
        *("module: 1 → 2", "f: g(x) → pass", "f: x > 1 or x > 1 → x > 1 and x > 1"),
        *("f: x > 1 → x >= 1", "f: 1 → 2", "f: x > 1 → x >= 1 (2)", "f: 1 → 2 (2)"),
    ]
    codes = [each.code(path) for each in (*found, *found)]
    assert codes[: len(found)] == codes[len(found) :]
    assert len({code.co_consts for code in codes}) == len(found)


SAMPLE = """\
LIMIT = 1
UNUSED = 1


def over(x: int) -> bool:
    return not x <= LIMIT
"""
TEST = """\
from sample import over


def test_over() -> None:
    assert (over(2), over(0)) == (True, False)
"""


@pytest.mark.parametrize(
    ("before", "outside"),
    [
        ("pass", ["module: 1 → 2 (2)"]),
        ("run.survives_import = lambda *_: True", ["module: 1 → 2", "module: 1 → 2 (2)"]),
    ],
    ids=["with each import", "in live functions alone"],
)
def test_a_change_that_no_test_notices_survives(
    before: str, outside: list[str], tmp_path: Path
) -> None:
    (tmp_path / "sample.py").write_text(SAMPLE)
    (tmp_path / "test_sample.py").write_text(TEST)
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_collection\n")
    script = (
        f"from pathlib import Path; from tests.mutants import run; {before}; "
        f"print(run.survivors_of(Path({str(tmp_path / 'sample.py')!r}), [{str(tmp_path)!r}]))"
    )
    run = captured(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )
    assert run.stdout == f"{[*outside, 'over: x <= LIMIT → x < LIMIT']}\n", run.stderr


LISTED = [(module, key, why) for module, of in read_survivors().items() for key, why in of.items()]


def test_every_survivor_that_is_listed_exists_and_has_a_reason() -> None:
    modules = read_survivors()
    known = {module: {each.key for each in mutants(PACKAGE / module)} for module in modules}
    assert [place for *place, why in LISTED if not why] == []
    assert [(module, key) for module, key, _ in LISTED if key not in known[module]] == []
    assert {module for module, *_ in LISTED} <= HELD.keys()


@pytest.mark.parametrize("module", HELD)
def test_the_modules_and_their_tests_exist(module: str) -> None:
    assert (PACKAGE / module).is_file()
    assert all((ROOT / "tests" / name).exists() for name in HELD[module].split())
