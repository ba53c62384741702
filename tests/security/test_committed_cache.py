"""Forged judgements: a cache folder whose files came with a commit opens no gate."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests import platforms
from tests.aimock import Aimock
from tests.checkout import Checkout
from tests.cli.commands.test_run_judged import Judged, marks
from tests.invoke import invoke

CACHE = ".rubric-ci/cache"
REPORTS = ("--reports", "json,markdown,junit,sarif,html")
Attack = Callable[[Judged], None]


def everywhere(done: CompletedProcess[str], judged: Judged) -> list[str]:
    """Return the output, and the report in every format."""
    files = ("summary.md", "junit.xml", "report.sarif", "report.html")
    return [done.stdout, *((judged.root / ".rubric-ci" / name).read_text() for name in files)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, aimock: Aimock) -> Checkout:
    """A project with judgements that a lenient judge gave, for tests to copy."""
    (root := tmp_path_factory.mktemp("judged") / "project").mkdir()
    judged = Judged(root, aimock)
    judged.server.script(marks(True, True))
    assert judged.run().returncode == 0
    judged.server.script(marks(False, False))
    assert judged.run().returncode == 0, "what this machine judged before is not judged again"
    return Checkout(root)


@pytest.fixture
def forged(project: Checkout, tmp_path: Path, aimock: Aimock) -> Judged:
    """A copy of the project; the judge is strict from now on."""
    judged = Judged(project.copy(tmp_path / "project").root, aimock)
    judged.server.script(marks(False, False))
    return judged


def committed(judged: Judged) -> None:
    Checkout(judged.root).git("add", "--force", ".")


def behind_a_link(judged: Judged) -> None:
    (judged.root / CACHE).rename(judged.root / "innocent")
    platforms.symlink(judged.root / CACHE, "../innocent")
    Checkout(judged.root).git("add", "--force", ".")


def behind_a_link_of_a_parent(judged: Judged) -> None:
    (judged.root / ".rubric-ci").rename(judged.root / "innocent")
    platforms.symlink(judged.root / ".rubric-ci", "innocent")
    Checkout(judged.root).git("add", "--force", ".")


def behind_a_committed_link_to_untracked_files(judged: Judged) -> None:
    (judged.root / CACHE).rename(judged.root / "node_modules")
    (judged.root / ".gitignore").write_text("node_modules\n")
    platforms.symlink(judged.root / CACHE, "../node_modules")
    Checkout(judged.root).git("add", "--force", CACHE)


def behind_a_link_to_a_committed_link(judged: Judged) -> None:
    (judged.root / ".rubric-ci").rename(judged.root / "node_modules")
    platforms.symlink(judged.root / ".rubric-ci", "restored")
    platforms.symlink(judged.root / "restored", "node_modules")
    Checkout(judged.root).git("add", "--force", "restored")


def behind_a_loop_of_links(judged: Judged) -> None:
    shutil.rmtree(judged.root / CACHE)
    platforms.symlink(judged.root / CACHE, "cache")
    Checkout(judged.root).git("add", "--force", CACHE)


def by_another_spelling(judged: Judged) -> None:
    blob = Checkout(judged.root).git("hash-object", "-w", "rubric-ci.yaml")
    entry = f"100644,{blob},.Rubric-CI/Cache/ab/ab.json"
    Checkout(judged.root).git("update-index", "--add", "--cacheinfo", entry)


def in_a_submodule(judged: Judged) -> None:
    inner = Checkout.create(judged.root.parent / "inner")
    shutil.copytree(judged.root / CACHE, inner.root, dirs_exist_ok=True)
    inner.commit()
    shutil.rmtree(judged.root / CACHE)
    checkout = Checkout(judged.root)
    checkout.git("submodule", "--quiet", "add", "--force", inner.root.as_uri(), CACHE)


def above_a_repository_of_its_own(judged: Judged) -> None:
    Checkout(judged.root).git("add", "--force", ".")
    Checkout.create(judged.root / CACHE)


@pytest.mark.parametrize(
    "attack",
    [
        committed,
        behind_a_link,
        behind_a_link_of_a_parent,
        behind_a_committed_link_to_untracked_files,
        behind_a_link_to_a_committed_link,
        behind_a_loop_of_links,
        by_another_spelling,
        in_a_submodule,
        above_a_repository_of_its_own,
    ],
    ids=lambda attack: attack.__name__.replace("_", "-"),
)
def test_the_judge_is_asked(attack: Attack, forged: Judged) -> None:
    attack(forged)
    done = forged.run(*REPORTS, GITHUB_ACTIONS="true")
    assert done.returncode == 1, done.stderr
    assert forged.report()["totals"]["cached_marks"] == 0
    said = "The cache .rubric-ci/cache was not read: git tracks"
    assert [said in text.replace("`", "") for text in everywhere(done, forged)] == [True] * 5
    assert any(note.startswith(said) for note in forged.report()["notes"])
    assert any(line.startswith("::notice") and said in line for line in done.stdout.splitlines())


def test_offline_grades_nothing_of_it(forged: Judged) -> None:
    committed(forged)
    done = forged.run("--offline")
    assert forged.report()["verdict"] == "nothing-graded", done.stdout


def test_git_that_cannot_say_is_not_trusted(forged: Judged) -> None:
    (forged.root / ".git" / "index").write_bytes(b"no index")
    assert forged.run().returncode == 1
    (note,) = forged.report()["notes"]
    assert note.startswith("The cache .rubric-ci/cache was not read: git ls-files failed in ")


def test_a_workspace_without_git_hides_what_is_committed(forged: Judged) -> None:
    """As actions/checkout leaves it where git is not installed."""
    shutil.rmtree(forged.root / ".git")
    assert forged.run().returncode == 0, "no runner, no commit"
    assert forged.run(GITHUB_WORKSPACE=str(forged.root.parent)).returncode == 1
    (note,) = forged.report()["notes"]
    assert note == (
        f"The cache {CACHE} was not read: the workspace has no git, which hides the files of "
        "its commit; check that git can read the checkout, or set RUBRIC_CI_CACHE_DIR to another "
        "folder"
    )


@pytest.mark.parametrize("place", ["untracked", "outside"])
def test_a_cache_of_this_machine_is_read_and_counted(place: str, forged: Judged) -> None:
    forged.server.script(marks(True, True))
    assert forged.run(OPENAI_API_KEY="sk-1234567").returncode == 0
    forged.server.script(marks(False, False))
    folder = forged.root / CACHE
    if place == "outside":
        folder = folder.rename(forged.root.parent / "restored")
    Checkout(forged.root).git("add", "evals", "rubric-ci.yaml", "answers.jsonl")
    around = {"GITHUB_ACTIONS": "true", "OPENAI_API_KEY": "sk-1234567"}
    done = forged.run(*REPORTS, RUBRIC_CI_CACHE_DIR=str(folder), **around)
    assert done.returncode == 0, done.stderr
    totals = forged.report()["totals"]
    assert (totals["marks"], totals["cached_marks"]) == (2, 2)
    texts = everywhere(done, forged)
    assert ["2 of 2 marks from the cache" in text for text in texts] == [True] * 5


def test_marks_that_were_asked_for_are_told_from_cached_ones(forged: Judged) -> None:
    forged.cases("greeting", "farewell")
    assert forged.run("--fail-on", "never").returncode == 0
    totals = forged.report()["totals"]
    assert (totals["marks"], totals["cached_marks"]) == (4, 2)


def test_the_cache_command_says_that_it_is_not_read(forged: Judged) -> None:
    committed(forged)
    done = invoke(forged.root, os.environ, "cache")
    entry = next((forged.root / CACHE).glob("*/*.json")).relative_to(forged.root).as_posix()
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == (
        f"The cache .rubric-ci/cache was not read: git tracks {entry} in it; run "
        "`git rm -r --cached .rubric-ci/cache` and commit, or set RUBRIC_CI_CACHE_DIR to another "
        "folder"
    )


def test_a_baseline_that_is_committed_is_a_baseline_and_no_cache(forged: Judged) -> None:
    (forged.root / ".rubric-ci/report.json").rename(forged.root / "main.json")
    Checkout(forged.root).git("add", "main.json", "evals")
    shutil.rmtree(forged.root / CACHE)
    baseline = ("--baseline", "main.json")
    assert forged.run(*baseline).returncode == 1
    assert forged.report()["notes"] == []
    assert forged.run(*baseline, GITHUB_ACTIONS="true").returncode == 1
    report = forged.report()
    assert [case["change"] for case in report["cases"]] == ["broken"]
    assert (
        "The baseline main.json is tracked by git (main.json): a change can bring its own; keep it "
        "out of the repository, in a cache or an artifact of the default branch"
    ) in report["notes"]
    assert report["totals"]["cached_marks"] == 0


def test_verdicts_from_recordings_say_so_everywhere(forged: Judged) -> None:
    forged.server.script(marks(True, True))
    assert forged.run("--record", "judge.jsonl", RUBRIC_CI_CACHE="false").returncode == 0
    assert forged.report()["scope"]["narrowed_by"] == []
    done = forged.run("--replay", "judge.jsonl", *REPORTS, GITHUB_ACTIONS="true")
    assert done.returncode == 0, done.stderr
    assert forged.report()["scope"]["narrowed_by"] == ["replay"]
    assert json.dumps(forged.report()["totals"]["recorded_answers"]) == "1"
    for said in ("model replies from a recording", "1 of 1 answer recorded"):
        assert [said in text for text in everywhere(done, forged)] == [True] * 5
    said = "model replies from a recording; 1 of 1 answer recorded"
    assert f"::notice title=rubric-ci::{said}" in done.stdout.splitlines()
