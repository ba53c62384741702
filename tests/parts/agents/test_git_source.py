"""A git repository as workspace: a repository, a bundle and a URL, and an agent that commits."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from rubric_ci.values.workspace_settings import GitSource
from tests import git_servers
from tests.checkout import Checkout
from tests.parts.agents.bench import Bench, worked
from tests.parts.agents.cli_outputs import printed

LOOKS = """
import subprocess
def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()
Path("seen").write_text("|".join((
    git("log", "--format=%s %an"), git("branch", "--format=%(refname:short)"),
    git("status", "--short", "--untracked-files=no"), " ".join(sorted(os.listdir("."))),
    git("rev-list", "--all", "--objects", "--no-object-names", "--count"), git("remote"),
)))
Path("a").write_text("2\\n")
git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "by the agent")
"""


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with three commits, of which the second is asked for."""
    found = Checkout.create(tmp_path_factory.mktemp("commits") / "origin")
    found.commit({"a": "0\n"})
    found.commit({"a": "1\n", "CLAUDE.md": "obey", "x.eval.yaml": "evalcases: []"})
    found.git("tag", "wanted")
    found.commit({"solution": "later\n"})
    return found.root


@pytest.fixture
def origin(commits: Path, tmp_path: Path) -> Checkout:
    """A copy of the repository."""
    return Checkout(shutil.copytree(commits, tmp_path / "origin"))


@contextmanager
def served(origin: Checkout, kind: str, folder: Path) -> Iterator[dict[str, str]]:
    """Yield where the repository can be fetched from."""
    match kind:
        case "daemon" | "http":
            server = git_servers.daemon if kind == "daemon" else git_servers.http
            with server(origin.root.parent) as url:
                yield {"url": f"{url}/{origin.root.name}"}
        case "bundle":
            origin.git("bundle", "create", "-q", str(folder / "shop.bundle"), "main", "wanted")
            yield {"path": "shop.bundle"}
        case "mirror":
            origin.clone(folder.parent / "mirror", "--mirror")
            yield {"path": "../mirror"}
        case _:
            yield {"path": str(origin.root)}


@pytest.mark.parametrize("kind", ["repository", "mirror", "bundle", "daemon", "http"])
@pytest.mark.parametrize(
    ("history", "seen"),
    [(True, "change A\nchange A|main||.git a|8|"), (False, "Start workspace|main||.git a|3|")],
)
def test_an_agent_works_in_a_commit(
    bench: Bench, origin: Checkout, kind: str, history: bool, seen: str
) -> None:
    target = bench.claude(LOOKS)
    wanted = origin.git("rev-parse", "wanted")
    with served(origin, kind, bench.root) as place:
        source = GitSource(**place, commit=wanted, history=history)
        work = bench.work(worked(target, git=source, keep=("diff", "seen")))
    assert work.files[0].text == seen
    assert [(change.path, change.kind) for change in work.changes] == [
        ("a", "modified"),
        ("seen", "added"),
    ]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"path": "."}, "`git: {path: .}` is this repository; use `copy`"),
        ({"path": "no.bundle"}, "`git: {path: no.bundle}` of the workspace does not exist; fix it"),
        ({"url": "http://127.0.0.1:1/x"}, "the commit 0123456789ab of http://127.0.0.1:1/x cannot"),
    ],
)
def test_a_commit_that_is_not_there(bench: Bench, place: dict[str, Any], message: str) -> None:
    target = bench.program("codex", printed("codex", "ok"))
    source = GitSource(commit="0123456789abcdef0123456789abcdef01234567", **place)
    assert message in bench.refusal(worked(target, git=source))


def test_a_repository_that_an_agent_makes_is_no_work(bench: Bench) -> None:
    body = "import subprocess; subprocess.run(['git', 'init', '-q']); Path('a').touch()"
    target = bench.program("codex", printed("codex", "ok"), body)
    work = bench.work(worked(target))
    assert [change.path for change in work.changes] == ["a"]


def test_a_server_is_asked_once_for_all(bench: Bench, origin: Checkout, tmp_path: Path) -> None:
    target = bench.program("claude-code", printed("claude", "ok"), "Path('a').unlink()")
    asked: list[str] = []
    with git_servers.http(tmp_path, asked) as url:
        source = GitSource(url=f"{url}/origin", commit=origin.git("rev-parse", "wanted"))
        found = bench.answers(worked(target, git=source), 3)
    changes = [each.work.changes for each in found if each.work]
    assert [[(c.path, c.kind) for c in of] for of in changes] == [[("a", "deleted")]] * 3
    assert asked.count("/origin/info/refs") == 1


AROUND = """
import subprocess
def git(*words):
    done = subprocess.run(["git", "-C", "lib/one", *words], capture_output=True, text=True)
    return done.stdout.strip()
Path("seen").write_text("|".join((
    " ".join(sorted(os.listdir("."))), " ".join(sorted(os.listdir("lib/one"))),
    Path("two/a").read_text().strip(), git("branch", "--format=%(refname:short)"),
    git("status", "--short", "--untracked-files=no"),
)))
Path("lib/one/a").write_text("2\\n")
"""


def test_repositories_in_folders_of_a_copy(bench: Bench, origin: Checkout) -> None:
    target = bench.claude(AROUND)
    bench.files(**{"shop/readme": "Shop\n"})
    place = str(origin.root)
    wanted = GitSource(path=place, commit=origin.git("rev-parse", "wanted"), into="lib/one")
    moving = GitSource(path=place, ref="main", into="two", history=False)
    work = bench.work(worked(target, copy="shop", repos=(wanted, moving), keep=("diff", "seen")))
    assert work.files[0].text == "lib readme two|.git a|1|main|"
    assert [change.path for change in work.changes] == ["lib/one/a", "seen"]


@pytest.mark.parametrize(
    ("ref", "into", "message"),
    [
        ("gone", "x", "the commit gone of "),
        ("main", "../x", "`into: ../x` leads out of the workspace; fix the path"),
        ("main", "readme", "`into: readme` is a file of the workspace; fix the path"),
        ("main", "readme/x", "`into: readme/x` is a file of the workspace; fix the path"),
        ("main", "lib", "`into: lib` is the folder of two repositories; fix one"),
    ],
)
def test_a_repository_that_cannot_be_there(
    bench: Bench, origin: Checkout, ref: str, into: str, message: str
) -> None:
    target = bench.program("codex", printed("codex", "ok"))
    bench.files(**{"shop/readme": "Shop\n"})
    first = GitSource(path=str(origin.root), ref="main", into="lib")
    repos = (first, GitSource(path=str(origin.root), ref=ref, into=into))
    assert bench.refusal(worked(target, copy="shop", repos=repos)).startswith(message)


def test_codex_may_write_in_its_folders_of_git(bench: Bench, origin: Checkout) -> None:
    commit = origin.git("rev-parse", "wanted")
    source = GitSource(path=str(origin.root), commit=commit)
    body = "Path('words').write_text(repr(sys.argv))"
    target = bench.program("codex", printed("codex", "ok"), body)
    option = "sandbox_workspace_write.writable_roots="
    for settings, words in (
        ({"git": source}, f'{option}[".git"]'),
        ({"repos": (replace(source, into="a/b"),)}, f'{option}["a/b/.git"]'),
        ({}, None),
    ):
        work = bench.work(worked(target, keep=("words",), **settings))
        (kept,) = work.files
        assert (words in kept.text) if words else (option not in kept.text)


def test_a_submodule_that_grades_is_left_out(bench: Bench, origin: Checkout) -> None:
    entry = f"160000,{origin.git('rev-parse', 'wanted')},.agentv"
    origin.git("update-index", "--add", "--cacheinfo", entry)
    origin.git("commit", "--quiet", "--message", "a submodule")
    looks = """
        Path("seen").write_text(" ".join(sorted(os.listdir("."))))
    """
    target = bench.program("claude-code", printed("claude", "ok"), dedent(looks))
    repos = (GitSource(path=str(origin.root), ref="main"),)
    work = bench.work(worked(target, repos=repos, keep=("diff", "seen")))
    assert work.files[0].text == ".git a solution"
