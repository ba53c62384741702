"""Commits and pull requests that rubric-ci created, by git and GitHub's contract."""

import subprocess
from pathlib import Path

import pytest

from rubric_ci.errors import CannotPush
from rubric_ci.github.commits_and_pull_requests import (
    Branch,
    Change,
    Head,
    Proposal,
    add_commit,
    head,
    open_proposal,
    propose,
)
from rubric_ci.github.rest_api import ApiError, Server
from tests.checkout import Checkout
from tests.contract.fake_git import GitData
from tests.contract.fake_github import Fault, GitHub

CHANGE = Change(path="evals/sub/a.yaml", before=b"a\r\n", after="größe\r\n".encode())
PROPOSAL = Proposal(base="main", title="evals: add rubrics to 1 case", body="drafts")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository and its bare clone, with the branches `main` and `topic`."""
    folder = tmp_path_factory.mktemp("made")
    checkout = Checkout.create(folder / "checkout")
    checkout.commit({"evals/sub/a.yaml": "a\r\n", "evals/b.yaml": "b\n", "run": "#!/bin/sh\n"})
    checkout.git("branch", "topic")
    checkout.clone(folder / "remote.git", "--bare")
    return folder


@pytest.fixture
def checkout(made: Path, tmp_path: Path) -> Checkout:
    return Checkout(made / "checkout").copy(tmp_path / "checkout")


@pytest.fixture
def remote(made: Path, tmp_path: Path) -> Checkout:
    """The bare repository, which tests write to."""
    return Checkout(made / "remote.git").copy(tmp_path / "remote.git")


@pytest.fixture
def data(contract: GitHub, remote: Checkout) -> GitData:
    return contract.hold(remote.root)


def branch(github: GitHub, name: str = "topic") -> Branch:
    server = Server(api_url=github.url, token="actions")
    return Branch(server=server, repository="acme/app", name=name)


def test_head(contract: GitHub, remote: Checkout) -> None:
    contract.hold(remote.root, protected=["main"])
    sha = remote.git("rev-parse", "main")
    assert head(branch(contract, "main")) == Head(sha=sha, message="change", protected=True)
    assert head(branch(contract)) == Head(sha=sha, message="change", protected=False)
    assert head(branch(contract, "gone")) is None


def test_add_commit(contract: GitHub, data: GitData, remote: Checkout) -> None:
    before = remote.git("rev-parse", "topic")
    made = add_commit(branch(contract), before, [CHANGE], "message\n\nbody")
    assert remote.git("rev-parse", "topic") == made
    assert remote.git("rev-parse", "topic^") == before
    assert remote.git("diff", "--name-only", before, made) == "evals/sub/a.yaml"
    assert raw(remote, f"{made}:evals/sub/a.yaml") == CHANGE.after
    assert remote.git("log", "-1", "--format=%B", made) == "message\n\nbody"
    assert remote.git("rev-parse", "main") == before


def test_an_executable_stays_one(contract: GitHub, checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit({"a.yaml": "a\n"})
    (checkout.root / "a.yaml").chmod(0o755)
    sha = checkout.commit()
    remote = checkout.clone(tmp_path / "bare.git", "--bare")
    contract.hold(remote.root)
    change = Change(path="a.yaml", before=b"a\n", after=b"b\n")
    made = add_commit(branch(contract, "main"), sha, [change], "m")
    assert remote.git("ls-tree", made).startswith("100755 blob")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(Change(path=CHANGE.path, before=b"x", after=b"y"), id="other-content"),
        pytest.param(Change(path="evals/gone.yaml", before=b"", after=b"y"), id="no-such-file"),
        pytest.param(Change(path="no/a.yaml", before=b"a\r\n", after=b"y"), id="no-such-folder"),
    ],
)
def test_a_file_that_differs_is_a_conflict(
    contract: GitHub, data: GitData, remote: Checkout, change: Change
) -> None:
    before = remote.git("rev-parse", "topic")
    with pytest.raises(CannotPush) as refused:
        add_commit(branch(contract), before, [change], "m")
    assert refused.value.message == (
        f"--pr: {change.path} differs between commit {before[:10]} and this checkout"
    )
    assert remote.git("rev-parse", "topic") == before


def test_a_branch_that_moved_is_left_where_it_is(
    contract: GitHub, data: GitData, checkout: Checkout, remote: Checkout
) -> None:
    before = remote.git("rev-parse", "topic")
    checkout.git("switch", "--quiet", "topic")
    theirs = checkout.commit({"evals/b.yaml": "theirs\n"})
    checkout.git("push", "--quiet", str(remote.root), "topic")
    with pytest.raises(CannotPush) as refused:
        add_commit(branch(contract), before, [CHANGE], "m")
    assert refused.value.message == (
        "--pr: `topic` has newer commits, or its rules reject the commit: "
        "Update is not a fast forward"
    )
    assert remote.git("rev-parse", "topic") == theirs


def test_an_answer_that_got_lost_makes_no_second_commit(github: GitHub, remote: Checkout) -> None:
    github.hold(remote.root)
    before = remote.git("rev-parse", "topic")
    github.faults.append(Fault("PATCH", "/git/refs/", status=502, happens=True))
    made = add_commit(branch(github), before, [CHANGE], "m")
    assert remote.git("rev-parse", "topic") == made
    assert remote.git("rev-list", "--count", f"{before}..topic") == "1"


def test_a_token_that_may_not_write(github: GitHub, remote: Checkout) -> None:
    github.hold(remote.root)
    github.faults.append(Fault("POST", "/git/blobs", status=403, message="not accessible"))
    with pytest.raises(ApiError, match="GitHub denied the request"):
        add_commit(branch(github), remote.git("rev-parse", "topic"), [CHANGE], "m")


def test_one_pull_request_is_kept(contract: GitHub, data: GitData, remote: Checkout) -> None:
    ours = branch(contract, "rubric-ci-rubrics")
    base = remote.git("rev-parse", "main")
    assert open_proposal(ours) == ""
    first = propose(ours, base, [CHANGE], "one", PROPOSAL, seen=None)
    assert (first.done, first.url) == ("created", "https://github.example/acme/app/pull/8")
    other = Change(path="evals/b.yaml", before=b"b\n", after=b"c\n")
    again = Proposal(base="main", title="evals: add rubrics to 2 cases", body="more")
    seen = remote.git("rev-parse", "rubric-ci-rubrics")
    second = propose(ours, base, [CHANGE, other], "two", again, seen=seen)
    assert (second.done, second.url) == ("updated", first.url)
    assert open_proposal(ours) == first.url
    assert remote.git("log", "--format=%s", f"{base}..rubric-ci-rubrics") == "two"
    assert remote.git("rev-parse", "main") == base
    pull = contract.pulls[8]
    assert (pull.title, pull.body, pull.base) == (again.title, "more", "main")


def test_a_pull_request_that_may_not_be_opened(github: GitHub, remote: Checkout) -> None:
    github.hold(remote.root)
    github.proposes = False
    ours = branch(github, "rubric-ci-rubrics")
    with pytest.raises(ApiError, match="GitHub Actions is not permitted to create or approve"):
        propose(ours, remote.git("rev-parse", "main"), [CHANGE], "m", PROPOSAL, seen=None)


@pytest.mark.parametrize("found", [None, "main"])
def test_what_others_put_on_our_branch_meanwhile_stays(
    contract: GitHub, data: GitData, checkout: Checkout, remote: Checkout, found: str | None
) -> None:
    base = remote.git("rev-parse", "main")
    checkout.git("switch", "--quiet", "--create", "rubric-ci-rubrics", "main")
    theirs = checkout.commit({"evals/b.yaml": "theirs\n"})
    checkout.git("push", "--quiet", str(remote.root), "rubric-ci-rubrics")
    seen = remote.git("rev-parse", found) if found else None
    with pytest.raises(CannotPush, match="`rubric-ci-rubrics` has newer commits"):
        propose(branch(contract, "rubric-ci-rubrics"), base, [CHANGE], "m", PROPOSAL, seen=seen)
    assert remote.git("rev-parse", "rubric-ci-rubrics") == theirs


def raw(checkout: Checkout, name: str) -> bytes:
    return subprocess.run(
        ["git", "cat-file", "blob", name], cwd=checkout.root, capture_output=True, check=True
    ).stdout
