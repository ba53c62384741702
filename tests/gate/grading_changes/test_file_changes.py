"""Which files a script of `code_judge` names, and the changes of files that hold no cases."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.differences.cases import Entries
from rubric_ci.gate.grading_changes.file_changes import (
    CODE,
    ScriptFiles,
    entry_changes,
    ignored_entries,
    lines_of_file,
    script_changes,
    waiver_entries,
)
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.evals import CompositeSpec, WeightedAverage
from rubric_ci.values.waivers import Waiver
from rubric_ci.values.workspace_settings import GitSource, Workspace
from tests.cases import build_case, build_script

FILES = {
    "check.py": "import json\nfrom lib import strict\n",
    "lib/__init__.py": "",
    "lib/strict.py": "from .deep import depth\nopen('limits.json')\n",
    "lib/deep/depth.py": "import check\n",
    "lib/limits.json": "{'other.json'}",
    "lib/other.json": "",
    "other/strict.py": "",
    "judge.mjs": "import { rate } from './web/rate.js'\n",
    "web/rate.js": "require('../data/table.csv')\n",
    "data/table.csv": "",
    "run.sh": ". ./env.sh\npython3 -m tools.main\n",
    "env.sh": "",
    "tools/main/__main__.py": "",
    "README.md": "check.py",
    "Makefile": "test:\n\tpython3 lint.py\n",
    "lint.py": "",
    "app/package.json": '{"scripts": {"test": "node suite.js"}}',
    "app/suite.js": "",
    "app/tests/test_one.py": "",
    "app/tests/data.txt": "",
}
STRICT = ["lib/__init__.py", "lib/deep/depth.py", "lib/limits.json", "lib/strict.py"]


@pytest.mark.parametrize(
    ("script", "cwd", "expected"),
    [
        ("python check.py", ".", ["check.py", *STRICT]),
        (("python", "check.py"), ".", ["check.py", *STRICT]),
        ('bash -c "python check.py"', ".", ["check.py", *STRICT]),
        ("python ../check.py", "other", ["check.py", *STRICT, "other/strict.py"]),
        ("python strict.py", "other", ["other/strict.py"]),
        ("node judge.mjs", ".", ["data/table.csv", "judge.mjs", "web/rate.js"]),
        ("./run.sh", ".", ["env.sh", "run.sh", "tools/main/__main__.py"]),
        ("python -m lib.deep.depth", ".", ["check.py", *STRICT]),
        ("grep -q hello {answer_file}", ".", []),
        ("make -s test", ".", ["Makefile", "lint.py"]),
        ("npm test", "app", ["app/package.json", "app/suite.js"]),
        ("python -m pytest -q", "app", ["app/tests/test_one.py"]),
    ],
)
def test_used_files(script: str | tuple[str, ...], cwd: str, expected: list[str]) -> None:
    files = ScriptFiles(FILES, lambda path: FILES[path].encode())
    assert sorted(files.used_by(script, cwd)) == expected


@pytest.mark.parametrize(
    ("command", "cwd", "expected"),
    [
        ("pytest tests", "app", ["app/tests/data.txt", "app/tests/test_one.py"]),
        ("ls ../lib", "app", [path for path in FILES if path.startswith("lib/")]),
        ("ls . ./ ..", "app", []),
        ("cat app", "lib", []),
    ],
)
def test_files_below_a_named_folder(command: str, cwd: str, expected: list[str]) -> None:
    case = build_case(evaluators=(build_script(command, cwd=cwd, depends_on=()),))
    found = script_changes([(case, None)], ScriptFiles([], lambda _: b""), {*FILES})
    assert [each.about for each in found] == sorted(expected)


def test_a_chain_of_files_ends() -> None:
    chain = {f"m{n}.py": f"import m{n + 1}" for n in range(1000)}
    files = ScriptFiles(chain, lambda path: chain[path].encode())
    assert len(files.used_by("python m0.py", ".")) == 500


@pytest.mark.parametrize(
    "suffix",
    [
        *("", ".bash", ".cjs", ".cts", ".go", ".js", ".jsx", ".lua", ".mjs", ".mts", ".php", ".pl"),
        *(".ps1", ".py", ".pyi", ".rb", ".rs", ".sh", ".ts", ".tsx", ".zsh"),
    ],
)
def test_a_script_of_each_language_is_read(suffix: str) -> None:
    texts = {f"check{suffix}": "limits.json", "limits.json": "", "mod/check.csv": "limits.json"}
    assert suffix in CODE
    files = ScriptFiles(texts, lambda path: texts[path].encode())
    assert files.used_by(f"run check{suffix}", ".") == {f"check{suffix}", "limits.json"}


def test_data_and_missing_files_name_no_others() -> None:
    files = ScriptFiles(["a.csv", "b.py"], {"a.csv": b"b.py"}.get)
    assert files.used_by("cat a.csv", ".") == {"a.csv"}
    assert files.used_by("python b.py", ".") == {"b.py"}


def test_a_script_that_is_no_utf8_is_read() -> None:
    texts = {"check.py": b"\xff limits.json", "limits.json": b""}
    files = ScriptFiles(texts, texts.get)
    assert files.used_by("python check.py", ".") == {"check.py", "limits.json"}


@pytest.mark.parametrize(
    ("command", "path", "used"),
    [
        ("python -m tools", "tools/__init__.py", True),
        ("python -m tools", "tools/__main__.py", True),
        ("node tools", "tools/index.js", True),
        ("rust tools", "tools/mod.rs", True),
        ("python -m tools", "tools/other.py", False),
        ("tools", "tools/index.html", False),
        ("run index", "index.js", True),
        ("run mod", "mod.rs", True),
        ("run sub.mod", "sub/mod.csv", False),
        ("run other", "sub/other.py", False),
        ("run sub other", "sub/other.py", True),
        ("run sub/other.csv", "sub/other.csv", True),
        ("run other.csv", "sub/other.csv", False),
        ("run in sub: other.csv", "sub/other.csv", True),
        ("run in sub: other.test.js", "sub/other.test.js", True),
    ],
)
def test_how_a_file_is_named(command: str, path: str, used: bool) -> None:
    assert (path in ScriptFiles([path], lambda _: b"").used_by(command, ".")) is used


def test_a_script_that_changed() -> None:
    one, two = build_script("python one.py", cwd="a"), build_script("python two.py", cwd="b")
    below = build_script("python one.py", cwd="b/c")
    both = CompositeSpec(name="all", evaluators=(two,), aggregator=WeightedAverage(), span=two.span)
    cases = [(build_case(evaluators=each), None) for each in ((one, below, one), (both,))]
    files = ScriptFiles(["a/one.py", "b/c/one.py", "b/two.py", "d.py"], lambda _: b"")
    changed = {"a/one.py", "b/c/one.py", "b/c/added.py", "b/two.py", "d.py"}
    assert list(script_changes(cases, files, changed)) == [
        edited("script", path, 1, "as at the base", "edited")
        for path in ("a/one.py", "b/c/added.py", "b/c/one.py", "b/two.py")
    ]
    assert not [*script_changes(cases, files, {"d.py"})]
    assert not [*script_changes(cases, files, {"b/c/added.py"}, others={"b/c/added.py"})]
    narrowed = build_case(evaluators=(replace(one, depends_on=("data/**",)),))
    found = script_changes([(narrowed, None)], files, {"a/one.py", "a/two.py", "data/x"})
    assert [each.about for each in found] == ["a/one.py", "data/x"]


ROOT = {"check.py": b"from tools import lib\nopen('data/gold.json')\n", "tools/lib.py": b""}
OF_SCRIPT = (
    *("check.py", "json.py", "lib.js", "node_modules/marker/index.js"),
    *("tools/lib.py", "data/gold.json"),
)
OTHERS = ("src/app.py", "data/other.json", "README.md", "pyproject.toml")


@pytest.mark.parametrize("path", [*OF_SCRIPT, *OTHERS])
@pytest.mark.parametrize("command", ["python check.py", "python -c 'import check'"])
def test_a_script_in_the_root_does_not_stand_for_the_repository(command: str, path: str) -> None:
    case = build_case(evaluators=(build_script(command, cwd="."),))
    texts = {**dict.fromkeys((*OF_SCRIPT, *OTHERS), b""), **ROOT}
    found = script_changes([(case, None)], ScriptFiles(texts, texts.get), {path})
    assert [each.about for each in found] == ([path] if path in OF_SCRIPT else [])


def test_the_repositories_of_a_workspace() -> None:
    sources = (GitSource(path="libs/a.bundle", ref="main"), GitSource(path="libs/b", ref="main"))
    case = build_case(workspace=Workspace(copy="shop", repos=sources))
    changed = {"libs/a.bundle", "libs/b/HEAD", "libs/c", "shop/x", "shop2"}
    found = script_changes([(case, None)], ScriptFiles(changed, lambda _: b""), changed)
    assert [each.about for each in found] == ["libs/a.bundle", "libs/b/HEAD", "shop/x"]


def edited(kind: Any, path: str, line: int, before: str, after: str) -> GradingChange:
    return GradingChange(
        kind=kind, direction="changed", about=path, file=path, line=line, before=before, after=after
    )


def told(kind: Any, file: str, *rows: tuple[Any, ...]) -> list[GradingChange]:
    """Return changes from rows of direction, name, line, before and after."""
    names = ("direction", "about", "line", "before", "after")
    return [GradingChange(kind=kind, file=file, **dict(zip(names, r, strict=True))) for r in rows]


ONE = "a: 1 # rubric-ci: ignore[unknown-key]\n"
TWO = "\nb: 2 # rubric-ci: ignore[yaml-tag, unknown-key]\n"
ONCE, TWICE = "ignored in 1 comment", "ignored in 2 comments"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (ONE, f"x: y\n{ONE}", []),
        ("", ONE, [("weaker", "unknown-key", 1, "", ONCE)]),
        (ONE, "", [("stronger", "unknown-key", 1, ONCE, "")]),
        (
            ONE,
            ONE + TWO,
            [("weaker", "unknown-key", 3, ONCE, TWICE), ("weaker", "yaml-tag", 3, "", ONCE)],
        ),
        (
            ONE + TWO,
            ONE,
            [("stronger", "unknown-key", 1, TWICE, ONCE), ("stronger", "yaml-tag", 3, ONCE, "")],
        ),
    ],
)
def test_ignored_rules(before: str, after: str, expected: list[tuple[Any, ...]]) -> None:
    sides = ({"rule": ignored_entries("a.yaml", text)} for text in (before, after))
    found = sorted(entry_changes(*sides), key=lambda change: change.about)
    assert found == told("rule", "a.yaml", *expected)


def recorded(text: str) -> Entries:
    return {"recording": lines_of_file("a.jsonl", text)}


THOUSAND = "".join(f"{n}\n" for n in range(1000))


@pytest.mark.parametrize(
    ("before", "after", "line", "then", "counts"),
    [
        ("", "a\n", 1, "0 lines", "1 line: 1 new or edited, 0"),
        ("a\nb\n", "a\nc\n", 2, "2 lines", "2 lines: 1 new or edited, 1"),
        ("a\nb\n", "b\na\n", 1, "2 lines", "2 lines: 0 new or edited, 0"),
        ("a\u2028b\n", "a\u2028c\n", 1, "1 line", "1 line: 1 new or edited, 1"),
        ("a\nb\nb\n", "a\n", 1, "3 lines", "1 line: 0 new or edited, 1"),
        ("a\n", f"a\n{THOUSAND}", 2, "1 line", "1,001 lines: 1,000 new or edited, 0"),
        (THOUSAND, "", 1, "1,000 lines", "0 lines: 0 new or edited, 1,000"),
    ],
)
def test_changed_lines(before: str, after: str, line: int, then: str, counts: str) -> None:
    sides = [recorded(text) for text in (before, after, after.replace("\n", "\r\n"))]
    counted = f"{counts} of the base gone"
    assert list(entry_changes(*sides[:2])) == [edited("recording", "a.jsonl", line, then, counted)]
    assert not [*entry_changes(*sides[1:])]


def waiver(until: str = "2026-06-30", **facts: Any) -> Waiver:
    given: dict[str, Any] = {"case": "a", "criterion": "b", "fingerprint": "f", "line": 2} | facts
    return Waiver(reason="known", owner="ana", until=until, **given)


JUNE, JULY = "waived until 2026-06-30", "waived until 2026-07-01"


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ([waiver()], [waiver(line=9)], []),
        ([], [waiver()], [("weaker", "a/b", 2, "", JUNE)]),
        ([waiver(line=4)], [], [("stronger", "a/b", 4, JUNE, "")]),
        ([waiver()], [waiver("2026-07-01", line=9)], [("weaker", "a/b", 9, JUNE, JULY)]),
        ([waiver("2026-07-01")], [waiver(line=9)], [("stronger", "a/b", 9, JULY, JUNE)]),
        (
            [waiver(), waiver(case="z")],
            [waiver(case="c"), waiver(fingerprint="g"), waiver(case="z")],
            [
                ("stronger", "a/b", 2, JUNE, ""),
                ("weaker", "c/b", 2, "", JUNE),
                ("weaker", "a/b", 2, "", JUNE),
            ],
        ),
    ],
)
def test_waivers(base: list[Waiver], head: list[Waiver], expected: list[tuple[Any, ...]]) -> None:
    sides = ({"waiver": waiver_entries(each)} for each in (base, head))
    assert list(entry_changes(*sides)) == told("waiver", "waivers.yaml", *expected)
