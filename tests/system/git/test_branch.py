"""Commits and pushes with real git: results, refusals and their reasons."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.errors import CannotCommit, CannotFindRevision
from rubric_ci.system.git import branch
from rubric_ci.system.git.process import Repository
from tests.checkout import Checkout

MESSAGE = "evals: add rubrics to 1 case\n\n- evals/a.yaml: a"


@pytest.fixture
def topic(checkout: Checkout) -> Checkout:
    """A branch `topic` with two commits and one eval file."""
    checkout.commit({"evals/a.yaml": "a\n", "other.txt": "o\n"})
    checkout.git("switch", "--quiet", "--create", "topic")
    checkout.commit({"evals/a.yaml": "b\n"})
    return checkout


@pytest.fixture
def remote(checkout: Checkout, tmp_path: Path) -> Checkout:
    """A bare repository with the branches `main` and `topic`."""
    checkout.commit({"evals/a.yaml": "a\n"})
    checkout.git("branch", "topic")
    return checkout.clone(tmp_path / "remote.git", "--bare")


def test_a_commit_takes_the_named_files_only(topic: Checkout) -> None:
    topic.write({"evals/a.yaml": "c\n", "other.txt": "changed\n", "staged.txt": "s\n"})
    topic.git("add", "staged.txt")
    made = branch.commit(topic.repository, ["evals/a.yaml"], MESSAGE)
    assert topic.git("rev-parse", "topic") == made
    assert topic.git("show", "--name-only", "--format=%B", made).split("\n") == [
        *MESSAGE.split("\n"),
        "",
        "",
        "evals/a.yaml",
    ]
    assert topic.git("status", "--short").split("\n") == ["M other.txt", "A  staged.txt"]
    assert topic.git("log", "-1", "--format=%B") == MESSAGE.strip()


def test_a_folder_of_the_repository_as_root(topic: Checkout) -> None:
    inner = replace(topic.repository, root=topic.root / "evals")
    branch.check(inner, ["a.yaml"])
    topic.write({"evals/a.yaml": "c\n"})
    branch.commit(inner, ["a.yaml"], MESSAGE)
    assert topic.git("show", "--name-only", "--format=") == "evals/a.yaml"


def test_paths_are_no_patterns(topic: Checkout) -> None:
    topic.commit({"evals/[a].yaml": "a\n"})
    topic.write({"evals/[a].yaml": "b\n", "evals/a.yaml": "c\n"})
    branch.commit(topic.repository, ["evals/[a].yaml"], MESSAGE)
    assert topic.git("show", "--name-only", "--format=") == "evals/[a].yaml"


def test_fixup(topic: Checkout) -> None:
    branch.check(topic.repository, ["evals/a.yaml"], fixup="HEAD~1")
    topic.write({"evals/a.yaml": "c\n"})
    branch.commit(topic.repository, ["evals/a.yaml"], MESSAGE, fixup="HEAD~1")
    assert topic.git("log", "-1", "--format=%s") == "fixup! change"
    assert "- evals/a.yaml: a" in topic.git("log", "-1", "--format=%b")


def test_the_bot_commits_where_no_identity_is_configured(topic: Checkout) -> None:
    env = {n: v for n, v in topic.repository.environment.items() if not n.startswith("GIT_AUTHOR")}
    env = {n: v for n, v in env.items() if not n.startswith("GIT_COMMITTER")}
    job = Repository(root=topic.root, environment=env)
    topic.write({"evals/a.yaml": "c\n"})
    branch.commit(job, ["evals/a.yaml"], MESSAGE, as_bot=True)
    assert topic.git("log", "-1", "--format=%an %ae / %cn") == (
        "github-actions[bot] 41898282+github-actions[bot]@users.noreply.github.com"
        " / github-actions[bot]"
    )
    topic.git("config", "user.name", "Someone")
    topic.git("config", "user.email", "someone@example.org")
    topic.write({"evals/a.yaml": "d\n"})
    branch.commit(job, ["evals/a.yaml"], MESSAGE, as_bot=True)
    assert topic.git("log", "-1", "--format=%an %ae") == "Someone someone@example.org"


def detach(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "--detach")


def begin_merge(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "--create", "side", "main")
    checkout.commit({"side.txt": "s\n"})
    checkout.git("switch", "--quiet", "topic")
    checkout.git("merge", "--quiet", "--no-commit", "--no-ff", "side")


def leave_a_conflict(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "--create", "side", "main")
    other = checkout.commit({"evals/a.yaml": "x\n"})
    checkout.git("switch", "--quiet", "topic")
    with pytest.raises(AssertionError):
        checkout.git("cherry-pick", other)


def change(checkout: Checkout) -> None:
    checkout.write({"evals/a.yaml": "x\n"})


def stage(checkout: Checkout) -> None:
    change(checkout)
    checkout.git("add", "evals/a.yaml")


def untrack(checkout: Checkout) -> None:
    checkout.git("rm", "--quiet", "--cached", "evals/a.yaml")
    checkout.git("commit", "--quiet", "--message", "untrack")


def ignore(checkout: Checkout) -> None:
    untrack(checkout)
    checkout.commit({".gitignore": "evals/\n"})


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (detach, "--commit: the checkout is not on a branch (detached HEAD)"),
        (begin_merge, "--commit: a merge is not finished"),
        (leave_a_conflict, "--commit: a cherry-pick is not finished"),
        (change, "--commit: modified or untracked: evals/a.yaml"),
        (stage, "--commit: modified or untracked: evals/a.yaml"),
        (untrack, "--commit: modified or untracked: evals/a.yaml"),
        (ignore, "--commit: modified or untracked: evals/a.yaml"),
    ],
)
def test_refused(topic: Checkout, prepare: Callable[[Checkout], None], message: str) -> None:
    branch.check(topic.repository, ["evals/a.yaml"])
    prepare(topic)
    with pytest.raises(CannotCommit) as refused:
        branch.check(topic.repository, ["evals/a.yaml"])
    assert refused.value.message == message
    assert refused.value.hint


def test_changes_elsewhere_are_no_hindrance(topic: Checkout) -> None:
    topic.write({"other.txt": "changed\n", "new.txt": "n\n"})
    branch.check(topic.repository, ["evals/a.yaml"])
    assert topic.git("status", "--short").split() == ["M", "other.txt", "??", "new.txt"]


def test_the_default_branch_is_refused_where_it_is_known(remote: Checkout, tmp_path: Path) -> None:
    clone = remote.clone(tmp_path / "clone")
    with pytest.raises(CannotCommit, match="`main` is the default branch"):
        branch.check(clone.repository, ["evals/a.yaml"])
    clone.git("switch", "--quiet", "topic")
    branch.check(clone.repository, ["evals/a.yaml"])


def test_a_repository_without_commits(checkout: Checkout) -> None:
    with pytest.raises(CannotCommit, match="no commit yet"):
        branch.check(checkout.repository, [])


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("nowhere", "--fixup: there is no revision `nowhere` here"),
        ("side", "--fixup: `side` is not in the history of this branch"),
    ],
)
def test_fixup_of_what_is_not_there(topic: Checkout, revision: str, message: str) -> None:
    topic.git("switch", "--quiet", "--create", "side", "main")
    topic.commit({"side.txt": "s\n"})
    topic.git("switch", "--quiet", "topic")
    with pytest.raises(CannotFindRevision) as refused:
        branch.check(topic.repository, [], fixup=revision)
    assert refused.value.message == message


def test_a_hook_that_refuses_is_quoted(topic: Checkout) -> None:
    hook = topic.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no rubrics on Sundays >&2\nexit 1\n")
    hook.chmod(0o755)
    topic.write({"evals/a.yaml": "c\n"})
    with pytest.raises(CannotCommit, match="no rubrics on Sundays"):
        branch.commit(topic.repository, ["evals/a.yaml"], MESSAGE)
