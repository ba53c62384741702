"""The base commits of a checkout: which there are, and what it costs to read them; real git."""

import json
import shutil
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.files.project.base_state import state_at
from rubric_ci.files.project.change import BaseOptions, Change
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import WorkingTree
from rubric_ci.values.changes import Base, FoundBase, NoBase
from rubric_ci.values.evals import EvalFile
from tests import platforms
from tests.checkout import AT_A_DESK, Checkout
from tests.invoke import invoke

MOST = 16  # git processes of a run over one eval file

JUDGE = "{name: s, type: code_judge, script: 'grep -qi hello {answer_file}'}"
FILES = {
    ".gitignore": ".rubric-ci/\n",
    "rubric-ci.yaml": (
        "targets: [{name: default, provider: cli, command_template: python3 agent.py,"
        " depends_on: [agent.py]}]\n"
    ),
    "agent.py": "print('hello')\n",
    "evals/a.eval.yaml": (
        f"evalcases:\n  - {{id: one, input: Greet, execution: {{evaluators: [{JUDGE}]}}}}\n"
    ),
}


class History:
    """`main` has moved on since `topic` left it, and GitHub has merged the two."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.start = checkout.commit(FILES)
        checkout.git("switch", "--quiet", "--create", "topic")
        self.head = checkout.commit({"agent.py": "print('hello there')\n"})
        checkout.git("switch", "--quiet", "main")
        self.main = checkout.commit({"other.txt": "moved on"})
        checkout.git("switch", "--quiet", "--detach")
        checkout.git("merge", "--quiet", "--no-edit", "topic")
        self.merge = checkout.git("rev-parse", "HEAD")
        checkout.git("switch", "--quiet", "topic")

    def pull_request(self, event: Path) -> dict[str, str]:
        """Return the environment of a job for the pull request."""
        pull = {"number": 7, "base": {"sha": self.main}, "head": {"sha": self.head}}
        known = {"pull_request": pull, "repository": {"default_branch": "main"}}
        event.write_text(json.dumps(known), encoding="utf-8")
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REF": "refs/pull/7/merge",
            "GITHUB_SHA": self.merge,
        }

    def push(self, event: Path, branch: str) -> dict[str, str]:
        """Return the environment of a job for a push to a branch."""
        known = {"before": self.start, "repository": {"default_branch": "main"}}
        event.write_text(json.dumps(known), encoding="utf-8")
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REF": f"refs/heads/{branch}",
        }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> History:
    return History(Checkout.create(tmp_path_factory.mktemp("made")))


@pytest.fixture
def history(made: History, tmp_path: Path) -> History:
    history = copy(made)
    history.checkout = made.checkout.copy(tmp_path / "checkout")
    return history


def bases(change: Change) -> tuple[FoundBase | None, FoundBase | None, FoundBase | None]:
    return change.policy, change.selection, change.against


def opened(history: History, environment: dict[str, str], **options: Any) -> Change:
    return Change(history.checkout.root, BaseOptions(**options), AT_A_DESK | environment)


def test_without_a_base_git_is_not_asked(tmp_path: Path) -> None:
    assert bases(Change(tmp_path, environment=AT_A_DESK)) == (None, None, None)


def test_a_named_revision_is_the_base_of_the_policy_that_is_asked_for(history: History) -> None:
    since = Base(commit=history.start, origin="the last common commit with `main`")
    found = opened(history, {}, policy_from="base", against="main")
    assert bases(found) == (since, None, since)
    found = opened(history, {}, policy_from="base", changed_since="main", against="HEAD")
    assert (found.policy, found.selection, found.grading) == (since, since, since)
    found = opened(history, {}, policy_from="base", changed_since="auto", against="main")
    assert found.policy == since
    assert opened(history, {}, policy_from="head", against="main").policy is None
    assert opened(history, {}, against="main").policy is None


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({}, "--changed-since"),
        ({"changed_since": "auto"}, "--changed-since"),
        ({"against": "auto"}, "--against"),
    ],
)
def test_a_policy_of_unknown_base(history: History, options: dict[str, str], option: str) -> None:
    assert opened(history, {}, policy_from="base", **options).policy == NoBase(
        reason=f"`origin/HEAD` is not known; name a base with `{option}`"
    )


@pytest.mark.parametrize("since", ["main", "auto"])
def test_an_unknown_base_names_the_option_that_asked_for_it(history: History, since: str) -> None:
    assert opened(history, {}, changed_since=since, against="auto").against == NoBase(
        reason="`origin/HEAD` is not known; name a base with `--against`"
    )


def test_a_pull_request_has_a_policy_and_a_merge_base(history: History, tmp_path: Path) -> None:
    job = history.pull_request(tmp_path / "event.json")
    tip = Base(commit=history.main, origin="the pull request's base branch")
    merged = Base(
        commit=history.start, origin="the last common commit with the pull request's base branch"
    )
    assert bases(opened(history, job, changed_since="auto", against="auto")) == (
        tip,
        merged,
        merged,
    )
    history.checkout.git("checkout", "--quiet", history.merge)
    assert bases(opened(history, job, changed_since="auto", against="auto")) == (tip, tip, tip)


@pytest.mark.parametrize(
    ("branch", "options", "known"),
    [
        ("topic", {}, False),
        ("topic", {"changed_since": "main"}, True),
        ("topic", {"against": "main"}, True),
        ("topic", {"against": "auto"}, False),
        ("main", {"against": "main"}, False),
    ],
)
def test_the_policy_of_a_push_comes_from_a_named_base(
    history: History, tmp_path: Path, branch: str, options: dict[str, str], *, known: bool
) -> None:
    job = history.push(tmp_path / "event.json", branch)
    since = Base(commit=history.start, origin="the last common commit with `main`")
    assert opened(history, job, **options).policy == (since if known else None)


@pytest.mark.parametrize(
    ("job", "options", "known"),
    [
        ({"CI": "true"}, {}, False),
        ({"CI": "true"}, {"changed_since": "main"}, True),
        ({"CI": "1"}, {"against": "main"}, True),
        ({"TF_BUILD": "True"}, {"against": "main"}, True),
        ({"CI": "true"}, {"against": "main", "policy_from": "head"}, False),
        ({"CI": "false"}, {"against": "main"}, False),
        ({"CI": ""}, {"against": "main"}, False),
    ],
)
def test_in_other_ci_systems_a_named_revision_is_the_base_of_the_policy(
    history: History, job: dict[str, str], options: dict[str, str], *, known: bool
) -> None:
    since = Base(commit=history.start, origin="the last common commit with `main`")
    assert opened(history, job, **options).policy == (since if known else None)


def test_a_revision_that_against_names_is_the_base_of_the_policy(history: History) -> None:
    done = invoke(
        history.checkout.root,
        AT_A_DESK,
        *("run", "evals", "--against", "HEAD^", "--policy-from", "base"),
    )
    assert (done.returncode, done.stderr.count("origin/HEAD")) == (0, 0), done.stderr


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that holds one line per git process from now on."""
    log, folder = tmp_path / "git.txt", tmp_path / "bin"
    folder.mkdir()
    program = folder / "git"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >>"{log}"\nexec {shutil.which("git")} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setitem(AT_A_DESK, "PATH", f"{folder}:{AT_A_DESK['PATH']}")
    return log


@platforms.SHELL
@pytest.mark.parametrize("in_ci", [False, True], ids=["at a desk", "on a pull request"])
@pytest.mark.parametrize(
    "options",
    [
        ("--changed-since", "HEAD^"),
        ("--against", "HEAD^"),
        ("--changed-since", "HEAD^", "--against", "HEAD^"),
        ("--changed-since", "HEAD^", "--against", "HEAD^", "--policy-from", "base"),
    ],
    ids=" ".join,
)
def test_git_is_asked_seldom_and_nothing_twice(
    history: History, asked: Path, tmp_path: Path, options: tuple[str, ...], *, in_ci: bool
) -> None:
    history.checkout.git("checkout", "--quiet", history.merge)
    job = history.pull_request(tmp_path / "event.json") if in_ci else {}
    done = invoke(history.checkout.root, AT_A_DESK | job, "run", "evals", *options)
    assert done.returncode == 0, done.stderr
    lines = asked.read_text().splitlines()
    assert len(lines) <= MOST, "\n".join(lines)
    twice = {line for line in lines if lines.count(line) > 1}
    assert twice <= {"ls-files --others --exclude-standard -z"}  # answers depend on it by then


@platforms.SHELL
def test_a_second_commit_costs_little_more(history: History, asked: Path, tmp_path: Path) -> None:
    """The policy's base and the merge base are two where a pull request's own head is out."""
    job = history.pull_request(tmp_path / "event.json")
    options = ("--changed-since", "auto", "--against", "auto")
    done = invoke(history.checkout.root, AT_A_DESK | job, "run", "evals", *options)
    assert done.returncode == 0, done.stderr
    lines = asked.read_text().splitlines()
    assert len(lines) <= MOST + 2, "\n".join(lines)
    assert sum(line.startswith("merge-base") for line in lines) == 1


def test_the_grading_is_compared_with_the_known_base(history: History, tmp_path: Path) -> None:
    job = history.pull_request(tmp_path / "event.json")
    tip, merged = history.main, history.start
    rows: list[tuple[dict[str, str], dict[str, str], str | None]] = [
        (job, {"changed_since": "auto", "against": "auto"}, tip),
        ({}, {"changed_since": "main", "against": "HEAD"}, merged),
        ({}, {"against": "main"}, merged),
        ({}, {"policy_from": "base", "against": "auto"}, None),
        ({}, {}, None),
    ]
    for environment, options, expected in rows:
        base = opened(history, environment, **options).grading
        assert (base and base.commit) == expected


def test_a_folder_without_a_repository_has_no_base(tmp_path: Path) -> None:
    found = Change(tmp_path, BaseOptions(policy_from="base"), AT_A_DESK).policy
    assert isinstance(found, NoBase)
    assert found.reason.startswith(f"git rev-parse failed in {tmp_path}: not a git repository")


def test_the_base_is_read_once_for_the_same_files(history: History) -> None:
    change = opened(history, {}, against="main")
    assert isinstance(change.against, Base)
    base = change.at(change.against)
    project = Project(WorkingTree(root=history.checkout.root), targets=("default",))
    files: list[EvalFile] = []
    found = state_at(base, project, files, ())
    assert state_at(base, project, files, ()) is found
    assert state_at(base, project, [], ()) is not found
    assert state_at(base, Project(WorkingTree(root=history.checkout.root)), files, ()) is not found
    assert [case.id for case in found.cases] == ["one"]


def test_a_file_of_the_base_that_is_lost_and_does_not_parse(checkout: Checkout) -> None:
    """Its other files have their cases, one for each target that the command line names."""
    both = "".join(f"  - {{name: {name}, provider: mock, response: hi}}\n" for name in "xy")
    config = {"rubric-ci.yaml": f"targets:\n{both}"}
    checkout.commit({**FILES, **config, "evals/b.eval.yaml": "evalcases: [\n"})
    checkout.git("switch", "--quiet", "--create", "topic")
    change = Change(checkout.root, BaseOptions(against="main"), AT_A_DESK)
    assert isinstance(change.against, Base)
    base = change.at(change.against)
    for targets, expected in (((), ["one"]), (("x", "y"), ["one [x]", "one [y]"])):
        project = Project(WorkingTree(root=checkout.root), targets=targets)
        assert [case.id for case in state_at(base, project, [], ()).cases] == expected


@pytest.mark.parametrize(("attributes", "same"), [({}, True), ({".gitattributes": ""}, False)])
def test_files_that_git_may_write_otherwise_are_read_from_its_objects(
    history: History, attributes: dict[str, str], *, same: bool
) -> None:
    history.checkout.write(attributes)
    change = opened(history, {}, against="main")
    assert isinstance(change.against, Base)
    files = change.at(change.against).files
    assert ("evals/a.eval.yaml" not in files.changed) == same
    assert "agent.py" in files.changed
