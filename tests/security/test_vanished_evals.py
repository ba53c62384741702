"""A change that hides an eval file from the search: its cases are shown as removed, never lost.

The base's tree is searched with the base's globs, and each of its files is read from git's objects.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.files.project.change import Change
from rubric_ci.files.project.loaded_project import find_evals, load_evals, open_project
from rubric_ci.values.changes import Base
from tests import platforms
from tests.checkout import AT_A_DESK, Checkout
from tests.invoke import invoke

JUDGE = "{name: s, type: code_judge, script: 'grep -qi hello {answer_file}'}"
CONFIG = """\
targets: [{name: default, provider: mock, response: hello}]
gate: {on_weaker_grading: fail}
"""


def suite(name: str) -> str:
    case = f"{{id: {name}, input: Greet, execution: {{evaluators: [{JUDGE}]}}}}"
    return f"evalcases:\n  - {case}\n"


LINES = '{"id": "line", "input": "Greet", "evaluators": [{"name": "s", "type": "code_judge", '
LINES += '"script": "grep -qi hello {answer_file}"}]}\n'
FILES = {
    ".gitignore": ".rubric-ci/\n",
    "rubric-ci.yaml": CONFIG,
    "evals/a.yaml": suite("one"),
    "evals/b.eval.yaml": suite("two"),
    "evals/c.jsonl": LINES,
    "deploy.yaml": 'name: "not an eval \\x41"\n',
}


def graded(checkout: Checkout, *arguments: str) -> tuple[int, list[str], list[str]]:
    """Return exit code, graded cases and grading changes of a run under the base's policy."""
    options = ("--against", "main", "--policy-from", "base")
    done = invoke(checkout.root, AT_A_DESK, "run", *arguments, *options)
    path = checkout.root / ".rubric-ci/report.json"
    if not path.exists():
        return done.returncode, [], [done.stderr]
    report: dict[str, Any] = json.loads(path.read_text())
    shown = [
        f"{each['direction']} {each['kind']} {each['about']}: {each['before']} → {each['after']}"
        for each in report["grading_changes"]
        if each["kind"] == "case"
    ]
    return done.returncode, [case["id"] for case in report["cases"]], shown


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The files on the branch `main`, and the branch `topic` for tests to copy."""
    checkout = Checkout.create(tmp_path_factory.mktemp("committed") / "checkout")
    checkout.commit(FILES)
    checkout.git("switch", "--quiet", "--create", "topic")
    return checkout


@pytest.fixture
def topic(committed: Checkout, tmp_path: Path) -> Checkout:
    return committed.copy(tmp_path / "topic")


HIDING = {
    "a text that is no YAML": (
        {"evals/a.yaml": "[\n"},
        ["weaker case one: graded → no longer found as an eval file"],
    ),
    "no cases any more": (
        {"evals/a.yaml": "description: one\n"},
        ["weaker case one: graded → no longer found as an eval file"],
    ),
    "no case in any line": (
        {"evals/c.jsonl": '{"note": 1}\n'},
        ["weaker case line: graded → no longer found as an eval file"],
    ),
    "a text": ({"evals/a.yaml": None, "evals/a.txt": suite("one")}, ["weaker case one: graded → "]),
    "a folder that is not searched": (
        {"evals/a.yaml": None, ".evals/a.yaml": suite("one")},
        ["weaker case one: graded → "],
    ),
}


def change(checkout: Checkout, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        if text is None:
            (checkout.root / name).unlink()
    checkout.commit({name: text for name, text in files.items() if text is not None})


@platforms.SHELL
@pytest.mark.parametrize("paths", [(), ("evals",), ("evals/",)], ids=["all", "evals", "evals/"])
@pytest.mark.parametrize(("files", "shown"), HIDING.values(), ids=HIDING)
def test_a_file_that_the_search_does_not_find(
    topic: Checkout, files: dict[str, str | None], shown: list[str], paths: tuple[str, ...]
) -> None:
    change(topic, files)
    code, cases, changes = graded(topic, *paths)
    assert "two" in cases
    assert (code, sorted(changes)) == (1, sorted(shown))


@platforms.SHELL
@pytest.mark.parametrize("before", ["", "evals: [evals/*]\n", "evals: ['**/*', '!deploy.yaml']\n"])
def test_globs_that_find_less(checkout: Checkout, before: str) -> None:
    checkout.commit({**FILES, "rubric-ci.yaml": before + CONFIG})
    checkout.git("switch", "--quiet", "--create", "topic")
    change(checkout, {"rubric-ci.yaml": f"evals: [evals/b.eval.yaml]\n{CONFIG}"})
    assert graded(checkout) == (
        1,
        ["two"],
        [
            "weaker case one: graded → no longer matched by `evals`",
            "weaker case line: graded → no longer matched by `evals`",
        ],
    )
    assert graded(checkout, "evals") == (0, ["one", "two", "line"], [])


@platforms.SHELL
@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE", "UTF-32"])
def test_a_file_that_git_checks_out_in_another_encoding(topic: Checkout, encoding: str) -> None:
    topic.write({".gitattributes": f"evals/a.yaml working-tree-encoding={encoding}\n"})
    topic.git("add", ".gitattributes")
    topic.git("commit", "--quiet", "--message", "change")
    (topic.root / "evals/a.yaml").unlink()
    topic.git("checkout", "--", "evals/a.yaml")
    assert b"\0" in (topic.root / "evals/a.yaml").read_bytes()
    code, cases, changes = graded(topic)
    assert (code, cases) == (1, ["two", "line"])
    assert changes == ["weaker case one: graded → no longer found as an eval file"]


def filtered(topic: Checkout, name: str, smudge: str) -> None:
    """Check a file out again through a filter that `git diff` does not show."""
    topic.git("config", "filter.other.smudge", smudge)
    topic.git("config", "filter.other.clean", f"git cat-file blob main:{name}")
    topic.commit({".gitattributes": f"{name} filter=other\n"})
    (topic.root / name).unlink()
    topic.git("checkout", "--", name)
    assert topic.git("diff", "main", "--", name) == ""


@platforms.SHELL
def test_a_filter_that_takes_the_key_away(topic: Checkout) -> None:
    filtered(topic, "evals/a.yaml", "sed s/evalcases/description/")
    lost = "weaker case one: graded → no longer found as an eval file"
    assert graded(topic) == (1, ["two", "line"], [lost])


@platforms.SHELL
@pytest.mark.parametrize("since", [(), ("--changed-since", "main")], ids=["all", "changed"])
def test_a_filter_that_edits_a_case(topic: Checkout, since: tuple[str, ...]) -> None:
    filtered(topic, "evals/b.eval.yaml", "sed s/Greet/Shout/")
    _, cases, changes = graded(topic, *since)
    assert "two" in cases
    assert changes == ["changed case two: question: Greet → Shout"]


@platforms.SHELL
def test_what_paths_leave_out_is_not_removed(topic: Checkout) -> None:
    change(topic, {"rubric-ci.yaml": f"evals: [evals/b.eval.yaml]\n{CONFIG}"})
    assert graded(topic, "evals/b.eval.yaml") == (0, ["two"], [])
    assert graded(topic, "evals/*.eval.yaml") == (0, ["two"], [])


@platforms.SHELL
def test_a_case_that_moved_to_another_file_is_not_removed(topic: Checkout) -> None:
    change(topic, {"evals/a.yaml": "description: moved\n", "evals/d.yaml": suite("one")})
    assert graded(topic) == (0, ["two", "line", "one"], [])


def test_a_file_that_only_a_link_names(checkout: Checkout, monkeypatch: Any) -> None:
    checkout.write({"data/a.txt": suite("one"), "evals/b.eval.yaml": suite("two")})
    platforms.symlink(checkout.root / "evals/a.eval.yaml", "../data/a.txt")
    base = checkout.commit({"rubric-ci.yaml": CONFIG})
    (checkout.root / "evals/a.eval.yaml").unlink()
    monkeypatch.chdir(checkout.root)
    project = open_project(None)
    change = Change(checkout.root, environment=AT_A_DESK)
    loaded = load_evals(project, find_evals(project, ()), change)
    state = loaded.at_base(Base(commit=base, origin="the base"))
    found = sorted((case.file, case.id) for case in state.cases)
    assert found == [("data/a.txt", "one"), ("evals/b.eval.yaml", "two")]
