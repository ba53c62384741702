"""The policy of a command: the base's, a file's, or the checkout's own."""

from pathlib import Path

import pytest

from rubric_ci.errors import CannotReadPolicy
from rubric_ci.files.project.change import BaseOptions, Change
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import WorkingTree
from rubric_ci.gate.policy.policy_source import OneFile, find_policy, under, under_rules
from rubric_ci.values.references import Found, NotFound
from tests.checkout import Checkout

STRICT = "rules: {unknown-key: error}\n"
LAX = "rules: {unknown-key: warning}\n"
IN_EFFECT = "Policy change, in effect after the merge: rules.unknown-key: error → warning"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def project(root: Path) -> Project:
    return Project(WorkingTree(root=root), "")


def found(root: Path, policy_from: str) -> Project | None:
    return find_policy(project(root), Change(root, BaseOptions(policy_from=policy_from)))


def test_a_file_brings_its_calibration_and_waivers_only(tmp_path: Path) -> None:
    (folder := tmp_path / "policy").mkdir()
    for name in ("strict.yaml", "calibration.json", "other.yaml"):
        (folder / name).write_text(name)
    files = OneFile(root=tmp_path, file=Path("policy/strict.yaml"))
    names = ("policy/strict.yaml", "calibration.json", "waivers.yaml", "policy/other.yaml")
    assert [files.read(name) for name in names] == [b"strict.yaml", b"calibration.json", None, None]
    (folder / "waivers.yaml").write_text("w")
    assert files.read("waivers.yaml") == b"w"
    assert files.matching("**") == []
    found = files.lookup("policy/strict.yaml")("other.yaml")
    assert found == Found("policy/other.yaml", "other.yaml")


def test_a_file_of_another_folder_includes_what_is_there(tmp_path: Path) -> None:
    (root := tmp_path / "root").mkdir()
    (folder := tmp_path / "policy").mkdir()
    for place in (root, folder, tmp_path):
        (place / "a.rubric.yaml").write_text(place.name)
    lookup = OneFile(root=root, file=folder / "p.yaml").lookup(f"{folder}/p.yaml")
    assert lookup("a.rubric.yaml") == Found("a.rubric.yaml", "policy")
    assert isinstance(lookup("../a.rubric.yaml"), NotFound)


@pytest.mark.parametrize("policy_from", ["", "head"])
def test_outside_a_pull_request_the_checkout_has_its_own(tmp_path: Path, policy_from: str) -> None:
    (tmp_path / "rubric-ci.yaml").write_text(LAX)
    assert found(tmp_path, policy_from) is None
    own, notes = under_rules(project(tmp_path), policy_from)
    assert (own.policy, own.rules, notes) == (None, {"unknown-key": "warning"}, ())


def test_a_file_is_the_policy(tmp_path: Path) -> None:
    (tmp_path / "strict.yaml").write_text(STRICT)
    policy = found(tmp_path, "strict.yaml")
    assert policy
    assert (policy.origin, policy.config_name) == ("strict.yaml", "strict.yaml")
    assert policy.rules == {"unknown-key": "error"}


@pytest.mark.parametrize(
    ("policy_from", "message", "hint"),
    [
        pytest.param(
            "gone.yaml",
            "--policy-from: cannot read gone.yaml: No such file or directory",
            "expected base, head or a configuration file",
            id="file",
        ),
        pytest.param(
            "base",
            "the policy of the base cannot be read: git rev-parse failed in",
            "judge, gate and rules come from the base commit",
            id="base",
        ),
    ],
)
def test_an_unreadable_policy(tmp_path: Path, policy_from: str, message: str, hint: str) -> None:
    with pytest.raises(CannotReadPolicy) as raised:
        found(tmp_path, policy_from)
    assert raised.value.message.startswith(message)
    assert raised.value.hint == hint


@pytest.mark.parametrize(
    ("policy", "own", "rules", "notes"),
    [
        pytest.param(
            STRICT,
            LAX,
            {"unknown-key": "error"},
            ("Policy (rule switches) is taken from p.yaml", IN_EFFECT),
            id="weaker",
        ),
        pytest.param(STRICT, "", {"unknown-key": "error"}, (), id="none"),
        pytest.param(STRICT, STRICT, {"unknown-key": "error"}, (), id="same"),
    ],
)
def test_the_switches_of_the_policy_hold(
    tmp_path: Path, policy: str, own: str, rules: dict[str, str], notes: tuple[str, ...]
) -> None:
    (tmp_path / "p.yaml").write_text(policy)
    if own:
        (tmp_path / "rubric-ci.yaml").write_text(own)
    held, shown = under_rules(project(tmp_path), "p.yaml")
    assert (held.rules, shown) == (rules, notes)


def test_the_gate_is_the_policy_s_and_the_targets_are_the_project_s(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("gate: {fail_on: borderline}\n")
    (tmp_path / "rubric-ci.yaml").write_text("gate: {fail_on: never}\n")
    own = Project(WorkingTree(root=tmp_path), "", targets=("b",))
    policy = found(tmp_path, "p.yaml")
    assert policy
    held = under(own, policy)
    assert (held.targets, held.config_for("").gate.fail_on) == (("b",), "borderline")


def test_a_base_without_configuration_says_that_the_change_rules(checkout: Checkout) -> None:
    base = checkout.commit({"README.md": "x\n"})
    checkout.write({"rubric-ci.yaml": LAX})
    checkout.git("update-ref", "refs/remotes/origin/main", base)
    checkout.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    own = project(checkout.root)
    held, shown = under_rules(own, "base")
    origin = f"the last common commit with `origin/HEAD` ({base[:10]})"
    assert (held.rules, shown) == (
        {"unknown-key": "warning"},
        (f"{origin} has no configuration: this change sets the rules",),
    )
