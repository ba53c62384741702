"""What an editor shows in an eval file, by the real YAML language server."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from tests.editors.language_server import LanguageServer, started
from tests.http_server import serving

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schemas" / "eval.schema.json"
SERVER = ROOT / "tests/npm/node_modules/yaml-language-server/bin/yaml-language-server"
PAGE = (ROOT / "docs" / "evals.md").read_text(encoding="utf-8")

pytestmark = [
    pytest.mark.skipif(
        not SERVER.exists(),
        reason="npm is not installed: the language server comes with the Node tools of tests/npm",
    )
]

GOOD = """\
evalcases:
  - id: greeting
    input: Say hello
    expected_outcome: A friendly greeting
    rubrics:
      - Greets the reader
      - id: warmth
        weight: 2
        score_ranges: {0: cold, 5: polite, 8: warm}
      - id: length
        levels: {1: a page, 2: one sentence}
"""
BAD = GOOD.replace("weight: 2", "weight: heavy").replace("rubrics:", "rubric:")
HALF = "evalcases:\n  - id: greeting\n    rubrics:\n      - id: warmth\n        \n"
MODELINE = "# yaml-language-server: $schema=eval.schema.json\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture
def folder(project: Path, tmp_path: Path) -> Path:
    """A folder of this test in the project."""
    made = project / tmp_path.name
    made.mkdir()
    shutil.copy(SCHEMA, made / "eval.schema.json")
    return made


@pytest.fixture(scope="module")
def editor(project: Path) -> Iterator[LanguageServer]:
    with started(SERVER, project) as server:
        yield server


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder over HTTP."""
    with serving(partial(SimpleHTTPRequestHandler, directory=str(folder))) as server:
        yield server.url


def write(folder: Path, text: str) -> Path:
    path = folder / "greeting.eval.yaml"
    path.write_text(text)
    return path


def shown(editor: LanguageServer, path: Path, *, good: bool = False) -> list[str]:
    """Each diagnostic as `line:character text`, lines as an editor counts them."""
    return [
        f"{d['range']['start']['line'] + 1}:{d['range']['start']['character'] + 1} {d['message']}"
        for d in editor.diagnostics(path, good=good)
    ]


def test_a_good_file_is_quiet(editor: LanguageServer, folder: Path) -> None:
    assert shown(editor, write(folder, MODELINE + GOOD), good=True) == []


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        ("weight: 2", "weight: heavy", '9:17 Incorrect type. Expected "number".'),
        ("rubrics:", "rubric:", "6:5 Property rubric is not allowed."),
    ],
    ids=["type", "key"],
)
def test_a_bad_file_is_marked_at_the_place(
    good: str, bad: str, expected: str, editor: LanguageServer, folder: Path
) -> None:
    assert shown(editor, write(folder, MODELINE + GOOD.replace(good, bad))) == [expected]


def test_fields_are_completed_and_explained(editor: LanguageServer, folder: Path) -> None:
    path = write(folder, MODELINE + HALF)
    editor.diagnostics(path, good=False)
    offered = {item["label"]: item for item in editor.completions(path, line=5, character=8)}
    assert {"weight", "required", "score_ranges", "levels"} <= offered.keys()
    assert "0 to 10" in str(offered["score_ranges"]["documentation"])


def test_the_settings_of_the_page_serve_by_file_name(folder: Path) -> None:
    (text,) = re.findall(r'```json\n(\{\n  "yaml.*?)```', PAGE, re.DOTALL)
    ((url, globs),) = json.loads(text)["yaml.schemas"].items()
    assert url.endswith("/schemas/eval.schema.json")
    with (
        served(folder) as address,
        started(SERVER, folder, {f"{address}/eval.schema.json": globs}) as editor,
    ):
        assert shown(editor, write(folder, BAD)) == ["5:5 Property rubric is not allowed."]
