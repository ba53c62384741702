"""What a commit held, found as a working tree finds it."""

import json
import os
from pathlib import Path
from random import Random

import pytest

from rubric_ci.system.git import plumbing
from rubric_ci.system.git.snapshot import Snapshot, follow, without_reports
from rubric_ci.values.references import Found, NotFound
from tests import platforms
from tests.checkout import Checkout
from tests.invoke import invoke

NO_FILE = NotFound("no such file")
FILES = {
    "evals/deep/a.yaml": "a",
    "evals/near.md": "near",
    "evals/deep/both.md": "nearest",
    "both.md": "farthest",
    "prompts/far.md": "\ufefffar",
    "prompts/naïve 日本.md": "naïve",
}


def snapshot(checkout: Checkout, base: str) -> Snapshot:
    repository = checkout.repository
    return Snapshot(
        root=checkout.root,
        entries=plumbing.tree(repository, base),
        changed=frozenset(change.path for change in plumbing.changes(repository, base)),
        read_blob=repository.objects.read,
    )


@pytest.mark.parametrize("edited", [False, True], ids=["unchanged", "changed since"])
@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("both.md", Found("evals/deep/both.md", "nearest")),
        ("near.md", Found("evals/near.md", "near")),
        ("../near.md", Found("evals/near.md", "near")),
        ("prompts/far.md", Found("prompts/far.md", "far")),
        ("prompts/naïve 日本.md", Found("prompts/naïve 日本.md", "naïve")),
        ("./prompts/../both.md", Found("evals/deep/both.md", "nearest")),
        ("/both.md", Found("both.md", "farthest")),
        ("/near.md", NO_FILE),
        ("prompts", NO_FILE),
        ("missing.md", NO_FILE),
        ("../../../outside.md", NO_FILE),
        ("", NO_FILE),
    ],
)
def test_lookup(checkout: Checkout, reference: str, found: object, *, edited: bool) -> None:
    base = checkout.commit(FILES)
    if edited:
        checkout.write(dict.fromkeys(FILES, "later"))
    then = snapshot(checkout, base)
    assert then.lookup("evals/deep/a.yaml")(reference) == found


def test_what_has_been_deleted_and_added_since(checkout: Checkout) -> None:
    base = checkout.commit(FILES)
    (checkout.root / "both.md").unlink()
    checkout.write({"evals/missing.md": "new"})
    then = snapshot(checkout, base)
    assert then.text("both.md") == "farthest"
    assert then.text("evals/missing.md") is None
    assert then.lookup("evals/deep/a.yaml")("missing.md") == NO_FILE


def test_what_git_ignores_was_not_there(checkout: Checkout) -> None:
    base = checkout.commit({".gitignore": "built.md"})
    checkout.write({"built.md": "built"})
    then = snapshot(checkout, base)
    assert then.text("built.md") is None


def test_links_lead_where_they_led(checkout: Checkout) -> None:
    checkout.write({"v1/p.md": "one", "v2/p.md": "two"})
    platforms.symlink(checkout.root / "current", "v1")
    platforms.symlink(checkout.root / "out", "/etc")
    platforms.symlink(checkout.root / "up", "../..")
    base = checkout.commit()
    (checkout.root / "current").unlink()
    platforms.symlink(checkout.root / "current", "v2")
    then = snapshot(checkout, base)
    assert then.lookup("a.yaml")("current/p.md") == Found("v1/p.md", "one")
    assert then.text("current/p.md") == "one"
    assert then.text("out/hostname") is None
    assert then.text("up/x") is None


def test_a_submodule_is_read_while_it_is_unchanged(checkout: Checkout, tmp_path: Path) -> None:
    library = Checkout.create(tmp_path / "library")
    commit = library.commit({"p.md": "one"})
    checkout.git("submodule", "--quiet", "add", library.root.as_uri(), "lib")
    base = checkout.commit()
    then = snapshot(checkout, base)
    assert then.text("lib/p.md") == "one"
    assert then.text("lib/missing.md") is None
    assert then.text("lib") is None
    Checkout(checkout.root / "lib").commit({"p.md": "two"})
    then = snapshot(checkout, base)
    assert then.text("lib/p.md") == f"lib/p.md as of {commit}"


LINKS = {"a": "b", "b": "c/d", "loop": "loop", "one": "two", "two": "one", "abs": "/", "up": ".."}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("x/y", "x/y"),
        ("./x//y/", "x/y"),
        ("a", "c/d"),
        ("a/e", "c/d/e"),
        ("a/../e", "c/e"),  # not ./e: a file system follows the link first
        ("x/../a", "c/d"),
        ("loop", None),
        ("one/x", None),
        ("abs/passwd", None),
        ("up", None),
        ("..", None),
        ("x/../../y", None),
    ],
)
def test_follow(path: str, place: str | None) -> None:
    assert follow(path, LINKS.get) == place


def test_bytes_that_are_no_text_are_like_no_text(checkout: Checkout) -> None:
    (checkout.root / "a.md").write_bytes(b"na\xefve")
    base = checkout.commit()
    then = snapshot(checkout, base)
    assert then.text("a.md") == "na\N{REPLACEMENT CHARACTER}ve"


OWN = '{\n  "version": 1,\n  "tool": "rubric-ci 0.1.0",\n  "cases": []\n}\n'
REPORTS = ("json", "json,markdown", "json,html,junit,sarif")


@pytest.mark.parametrize(
    ("files", "left"),
    [
        (["o/report.json", "o/summary.md", "o/last-failed.json", "o/media/a.png"], []),
        (["o/report.json", "o/own.py", "o/deep/media/a.png"], ["o/own.py", "o/deep/media/a.png"]),
        (["o/summary.md", "a/media/b.png"], ["o/summary.md", "a/media/b.png"]),
        (["o/other/report.json"], ["o/other/report.json"]),
        (["report.json", "summary.md", "a.py"], ["a.py"]),
    ],
)
def test_what_a_run_wrote(files: list[str], left: list[str], tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"score": 1}\n' if "other" in name else OWN)
    assert without_reports(tmp_path, files) == tuple(left)


@pytest.mark.parametrize("seed", range(6))
def test_earlier_runs_select_nothing(seed: int, tmp_path: Path) -> None:
    """A program depends on every file of the repository, and on no report."""
    draw = Random(seed)
    cases = [{"id": name, "input": "q", "rubrics": [{"contains": "hello"}]} for name in "ab"]
    target = {"name": "default", "provider": "cli", "command_template": "echo hello"}
    made = Checkout.create(tmp_path)
    made.commit({"rubric-ci.yaml": json.dumps({"targets": [target]}), "kept/README.md": "x\n"})
    made.commit({"a.eval.yaml": json.dumps({"evalcases": cases})})
    changed = [{**cases[0], "input": "r"}, cases[1]]
    made.commit({"a.eval.yaml": json.dumps({"evalcases": changed})})

    def run(folder: str, *options: str) -> list[str]:
        home = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        done = invoke(tmp_path, home, "run", "--output-dir", folder, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads((tmp_path / folder / "report.json").read_text())
        return [case["id"] for case in found["cases"]]

    folders = ["o1", "out/deep", "kept", ".rubric-ci/two", ".", "kept/in"]
    for folder in draw.sample(folders, draw.randint(1, 4)):
        run(folder, *draw.choice([(), ("--reports", draw.choice(REPORTS))]))
        if draw.random() < 0.5:
            (tmp_path / folder / ".gitignore").unlink(missing_ok=True)  # as earlier versions did
    assert run("last", "--changed-since", "HEAD^") == ["a"]
    assert run("last", "--changed-since", "HEAD^") == ["a"]
    made.commit()
    (tmp_path / "kept/own.py").write_text("1\n")
    assert run("last", "--changed-since", "HEAD^") == ["a", "b"]
