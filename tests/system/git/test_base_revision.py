"""The base of a change, for every kind of checkout; real git."""

from copy import copy
from pathlib import Path

import pytest

from rubric_ci.errors import CannotFindRevision
from rubric_ci.system.git import base_revision
from rubric_ci.values.changes import Base, FoundBase, NoBase, Trigger
from tests.checkout import Checkout

ZEROS = "0" * 40
ABSENT_ID = "0123456789" * 4


class Remote:
    """`main` has moved on since the pull request's branch left it; GitHub has merged the two."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.start = checkout.commit({"a.txt": "one"})
        checkout.git("switch", "--quiet", "--create", "topic")
        self.first = checkout.commit({"b.txt": "one"})
        self.head = checkout.commit({"b.txt": "two"})
        checkout.git("switch", "--quiet", "main")
        self.main = checkout.commit({"a.txt": "two"})
        checkout.git("switch", "--quiet", "--detach")
        checkout.git("merge", "--quiet", "--no-edit", "topic")
        checkout.git("branch", "merge")
        checkout.git("switch", "--quiet", "main")

    @property
    def pull_request(self) -> Trigger:
        return Trigger(event="pull_request", base_sha=self.main, head_sha=self.head)

    def push(self, before: str, ref: str = "refs/heads/topic") -> Trigger:
        return Trigger(event="push", base_sha=before, ref=ref, default_branch="main")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Remote:
    return Remote(Checkout.create(tmp_path_factory.mktemp("made")))


@pytest.fixture
def remote(made: Remote, tmp_path: Path) -> Remote:
    remote = copy(made)
    remote.checkout = made.checkout.copy(tmp_path / "checkout")
    return remote


def clone(remote: Remote, to: Path, branch: str, *options: str) -> Checkout:
    return remote.checkout.clone(to / "clone", f"--branch={branch}", *options)


def found(checkout: Checkout, trigger: Trigger) -> FoundBase:
    return base_revision.trigger_base(checkout.repository, trigger)


PULL = "the pull request's base branch"
PUSHED = "the branch before the push"
SHALLOW = "is not in this shallow clone; check out with `fetch-depth:"
DEPTH_1 = ("--depth=1",)
NO_BASE_OF_A_PULL = NoBase(reason=f"the pull request's base {SHALLOW} 2`")
# What is cloned and how, what triggers the workflow, and the base: a commit by name, its origin.
CLONES: dict[str, tuple[str, tuple[str, ...], str, NoBase | tuple[str, str]]] = {
    "merge commit": ("merge", ("--depth=2",), "pull", ("main", PULL)),
    "merge commit, full clone": ("merge", (), "pull", ("main", PULL)),
    "own head": ("topic", (), "pull", ("start", f"the last common commit with {PULL}")),
    "merge commit, depth 1": ("merge", DEPTH_1, "pull", NO_BASE_OF_A_PULL),
    "own head, depth 1": ("topic", DEPTH_1, "pull", NO_BASE_OF_A_PULL),
    "pull_request_target without a checkout of the head": (
        *("main", (), "pull"),
        NoBase(reason="the checkout is the base branch, not the pull request"),
    ),
    "push": ("topic", (), "first", ("first", PUSHED)),
    "push, depth 1": ("topic", DEPTH_1, "first", NoBase(reason=f"{PUSHED} {SHALLOW} 0`")),
    "force push over a commit that is gone": (
        *("topic", (), ABSENT_ID),
        NoBase(reason=f"{PUSHED} is not in this clone; was the branch force-pushed?"),
    ),
    "new branch": ("topic", (), ZEROS, ("start", "the last common commit with `origin/main`")),
    "new branch, depth 1": (
        *("topic", DEPTH_1, ZEROS),
        NoBase(
            reason="the push creates a branch, and `origin/main` is not here; "
            "check out with `fetch-depth: 0`"
        ),
    ),
}


@pytest.mark.parametrize(("branch", "options", "trigger", "base"), CLONES.values(), ids=CLONES)
def test_the_base_of_a_clone(
    remote: Remote,
    tmp_path: Path,
    branch: str,
    options: tuple[str, ...],
    trigger: str,
    base: NoBase | tuple[str, str],
) -> None:
    here = clone(remote, tmp_path, branch, *options)
    pushed = remote.push(getattr(remote, trigger, trigger))
    result = found(here, remote.pull_request if trigger == "pull" else pushed)
    if isinstance(base, NoBase):
        assert result == base
    else:
        commit, origin = base
        assert result == Base(commit=getattr(remote, commit), origin=origin)


def test_pull_request_whose_own_head_is_a_merge_of_main(remote: Remote, tmp_path: Path) -> None:
    remote.checkout.git("switch", "--quiet", "topic")
    remote.checkout.git("merge", "--quiet", "--no-edit", "main")
    here = clone(remote, tmp_path, "topic")
    head = here.git("rev-parse", "HEAD")
    trigger = Trigger(event="pull_request", base_sha=remote.main, head_sha=head)
    assert found(here, trigger) == Base(
        commit=remote.main, origin="the last common commit with the pull request's base branch"
    )


def test_force_push_over_a_commit_that_is_still_here(remote: Remote, tmp_path: Path) -> None:
    remote.checkout.git("branch", "kept", remote.head)
    remote.checkout.git("switch", "--quiet", "topic")
    remote.checkout.git("reset", "--quiet", "--hard", remote.first)
    remote.checkout.commit({"b.txt": "three"})
    here = clone(remote, tmp_path, "topic")
    assert found(here, remote.push(remote.head)) == Base(
        commit=remote.head, origin="the branch before the push"
    )


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("refs/heads/main", "the push creates the default branch"),
        ("refs/tags/v1", "`refs/tags/v1` is not a branch, so it has no earlier state"),
    ],
)
def test_a_push_without_a_base(remote: Remote, tmp_path: Path, ref: str, reason: str) -> None:
    here = clone(remote, tmp_path, "main")
    assert found(here, remote.push(ZEROS, ref)) == NoBase(reason=reason)


def test_merge_group(remote: Remote, tmp_path: Path) -> None:
    trigger = Trigger(event="merge_group", base_sha=remote.main)
    here = clone(remote, tmp_path, "merge", "--depth=2")
    assert found(here, trigger) == Base(commit=remote.main, origin="the base of the merge group")
    shallow = remote.checkout.clone(tmp_path / "shallow", "--branch=merge", "--depth=1")
    assert found(shallow, trigger) == NoBase(
        reason="the base of the merge group is not in this shallow clone; "
        "check out with `fetch-depth: 0`"
    )


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch", "release"])
def test_an_event_without_a_change(remote: Remote, event: str) -> None:
    assert found(remote.checkout, Trigger(event=event)) == NoBase(
        reason=f"`{event}` events have no base commit"
    )


def test_a_named_revision_means_the_merge_base(remote: Remote, tmp_path: Path) -> None:
    here = clone(remote, tmp_path, "topic").repository
    assert base_revision.since(here, "origin/main") == Base(
        commit=remote.start, origin="the last common commit with `origin/main`"
    )
    assert base_revision.since(here, "HEAD") == Base(
        commit=remote.head, origin="the last common commit with `HEAD`"
    )
    assert base_revision.default_branch_base(here) == Base(
        commit=remote.start, origin="the last common commit with `origin/HEAD`"
    )


def test_a_named_revision_that_a_shallow_clone_lacks(remote: Remote, tmp_path: Path) -> None:
    here = clone(remote, tmp_path, "topic", "--depth=1")
    assert base_revision.since(here.repository, "origin/main") == NoBase(
        reason="`origin/main` is not in this shallow clone; check out with `fetch-depth: 0`"
    )
    here.git("fetch", "--quiet", "--depth=1", "origin", "main:main")
    assert base_revision.since(here.repository, "main") == NoBase(
        reason="this shallow clone does not reach back to `main`; check out with `fetch-depth: 0`"
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (ZEROS, f"`{ZEROS}` is not a commit: the branch is new"),
        (ABSENT_ID, f"`{ABSENT_ID}` is not in this clone; was the branch force-pushed?"),
    ],
)
def test_a_commit_that_is_gone(remote: Remote, name: str, reason: str) -> None:
    assert base_revision.since(remote.checkout.repository, name) == NoBase(reason=reason)


def test_a_misspelt_revision_is_an_error(remote: Remote) -> None:
    with pytest.raises(CannotFindRevision) as caught:
        base_revision.since(remote.checkout.repository, "mian")
    assert caught.value.message == "--changed-since: there is no revision `mian` here"


def test_a_history_of_its_own(remote: Remote) -> None:
    remote.checkout.git("checkout", "--quiet", "--orphan", "apart")
    remote.checkout.commit()
    assert base_revision.since(remote.checkout.repository, "main") == NoBase(
        reason="HEAD has no history in common with `main`"
    )


def test_a_repository_without_a_commit(checkout: Checkout) -> None:
    assert base_revision.since(checkout.repository, "main") == NoBase(
        reason="the repository has no commit yet"
    )


def test_a_repository_without_a_remote(remote: Remote) -> None:
    assert base_revision.default_branch_base(remote.checkout.repository) == NoBase(
        reason="`origin/HEAD` is not known; name a base with `--changed-since`"
    )


def policy(remote: Remote, checkout: Checkout, sha: str) -> FoundBase:
    trigger = Trigger(event="pull_request", sha=sha, base_sha=remote.main, head_sha=remote.head)
    return base_revision.policy_base(checkout.repository, trigger)


@pytest.mark.parametrize(
    ("branch", "options"),
    [("merge", ("--depth=2",)), ("merge", ()), ("topic", ()), ("main", ("--depth=1",))],
    ids=["merge commit", "full clone", "head commit", "pull_request_target"],
)
def test_the_policy_is_that_of_the_tip_of_the_base_branch(
    remote: Remote, tmp_path: Path, branch: str, options: tuple[str, ...]
) -> None:
    here = clone(remote, tmp_path, branch, *options)
    found = policy(remote, here, remote.checkout.git("rev-parse", branch))
    assert found == Base(commit=remote.main, origin="the pull request's base branch")


def test_a_merge_commit_that_is_not_run_on_names_no_policy(remote: Remote, tmp_path: Path) -> None:
    here = clone(remote, tmp_path, "merge", "--depth=2")
    tree = here.git("rev-parse", "HEAD^{tree}")
    own = here.git("commit-tree", tree, "-p", remote.head, "-p", remote.head, "-m", "merge")
    here.git("switch", "--quiet", "--detach", own)
    found = policy(remote, here, remote.checkout.git("rev-parse", "merge"))
    assert found == Base(commit=remote.main, origin="the pull request's base branch")


def test_a_policy_that_is_not_in_the_clone(remote: Remote, tmp_path: Path) -> None:
    here = clone(remote, tmp_path, "merge", "--depth=1")
    assert policy(remote, here, here.git("rev-parse", "HEAD")) == NoBase(
        reason="the pull request's base branch is not in this shallow clone; check out with "
        "`fetch-depth: 2` (0 with a `ref`)"
    )
