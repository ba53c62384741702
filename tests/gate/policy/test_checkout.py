"""Commands under a policy: its errors, what a report says of it, and the hosts it allows."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.errors import CannotReadPolicy
from rubric_ci.files.project.change import BaseOptions
from rubric_ci.files.project.loaded_project import LoadedProject, load_project
from rubric_ci.files.project.project import Project
from rubric_ci.gate.policy.checkout import (
    allowed_hosts,
    open_under_policy,
    policy_notes,
    show_policy,
)
from rubric_ci.values.hosts import AllowedHosts
from tests.checkout import Checkout

EVALS = "evalcases: [{id: one, input: Hi, rubrics: [{id: a, contains: Hi}]}]\n"
TITLE = "Policy (judge, gate, rules, calibration) is taken from p.yaml"
CHANGE = "Policy change, in effect after the merge: "


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Checkout.create(tmp_path)
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "a.eval.yaml").write_text(EVALS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def under(policy_from: str) -> Project:
    return open_under_policy(None, BaseOptions(policy_from=policy_from))[0]


def loaded(root: Path, own: str = "", policy: str | None = None) -> LoadedProject:
    if own:
        (root / "rubric-ci.yaml").write_text(own)
    if policy is not None:
        (root / "p.yaml").write_text(policy)
    return load_project((), under("head" if policy is None else "p.yaml"))


def test_a_policy_with_errors_is_refused(root: Path) -> None:
    with pytest.raises(CannotReadPolicy) as raised:
        loaded(root, policy="gate: {fail_on: sometimes}\n")
    assert raised.value.message == (
        "the configuration of p.yaml has problems: p.yaml:1:17: unknown-value: `fail_on` must be "
        "one of `fail`, `borderline`, `regression`, `never`, not the text `sometimes`"
    )
    assert raised.value.hint == "merge a repair of that file first, without this check"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    checkout = Checkout.create(tmp_path)
    checkout.commit({"evals/a.eval.yaml": EVALS})
    checkout.git("update-ref", "refs/remotes/origin/main", "HEAD")
    checkout.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    monkeypatch.chdir(tmp_path)
    return checkout


def test_a_base_without_configuration_is_named(base: Checkout) -> None:
    commit = base.git("rev-parse", "HEAD")[:10]
    origin = f"the last common commit with `origin/HEAD` ({commit})"
    note = f"{origin} has no configuration: this change sets judge, gate and rules"
    assert policy_notes(load_project((), under("base"))) == (note,)


@pytest.mark.parametrize(
    ("evals", "hosts"),
    [
        pytest.param(EVALS, {"judge.example:443", "target.example:443"}, id="of-its-folder"),
        pytest.param("evalcases: 1\n", {"judge.example:443"}, id="of-the-root"),
    ],
)
def test_targets_of_an_eval_file_allow_hosts(base: Checkout, evals: str, hosts: set[str]) -> None:
    base.commit({"rubric-ci.yaml": JUDGE, "evals/targets.yaml": TARGETS})
    base.git("update-ref", "refs/remotes/origin/main", "HEAD")
    base.write({"evals/a.eval.yaml": evals})
    found = allowed_hosts(load_project((), under("base")), (), {})
    assert found == AllowedHosts(
        hosts=frozenset(hosts), providers=True, checkout=str(Path.cwd().resolve())
    )


@pytest.mark.parametrize(
    ("own", "policy", "notes"),
    [
        pytest.param("gate: {fail_on: never}\n", None, (), id="own"),
        pytest.param("", "gate: {fail_on: fail}\n", (), id="same"),
        pytest.param(
            "gate: {fail_on: never}\n",
            "gate: {fail_on: borderline}\n",
            (TITLE, f"{CHANGE}gate.fail_on: borderline → never"),
            id="weaker",
        ),
    ],
)
def test_a_report_says_whose_policy_it_is(
    root: Path,
    own: str,
    policy: str | None,
    notes: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = loaded(root, own, policy)
    assert policy_notes(found) == notes
    show_policy(found)
    assert capsys.readouterr().err == "".join(f"{note}\n" for note in notes)


TARGETS = """\
targets: [{name: t, provider: openai, model: m, api_base: "https://target.example/v1"}]
"""
CALIBRATION = f"{CHANGE}calibration.json: "


@pytest.mark.parametrize(
    ("then", "now", "notes"),
    [
        pytest.param("a", "a", (), id="same"),
        pytest.param("", "", (), id="none"),
        pytest.param("a", "b", (f"{CALIBRATION}as in the base → as in this change",), id="other"),
        pytest.param("", "b", (f"{CALIBRATION}(none) → as in this change",), id="new"),
        pytest.param("a", "", (f"{CALIBRATION}as in the base → (none)",), id="removed"),
    ],
)
def test_another_calibration_is_a_change(
    root: Path, then: str, now: str, notes: tuple[str, ...]
) -> None:
    (root / "policy").mkdir()
    (root / "policy" / "p.yaml").write_text("gate: {fail_on: fail}\n")
    for folder, text in ((root / "policy", then), (root, now)):
        if text:
            (folder / "calibration.json").write_text(json.dumps(text))
    found = load_project((), under("policy/p.yaml"))
    assert policy_notes(found)[1:] == notes


JUDGE = "judge: {model: openai/m, api_base: 'https://judge.example/v1'}\n"
FILLED = (
    "judge: {model: openai/m, api_base: 'https://${{ HOST }}/v1', api_key: none}\n"
    "env: {allow: [HOST]}\n"
)


@pytest.mark.parametrize(
    ("policy", "given", "environment", "hosts"),
    [
        pytest.param(None, (), {}, None, id="own"),
        pytest.param(
            None, ("a.example",), {}, AllowedHosts(hosts=frozenset({"a.example"}), providers=False),
            id="given",
        ),
        pytest.param(
            JUDGE, (), {}, AllowedHosts(hosts=frozenset({"judge.example:443"}), providers=True),
            id="judge",
        ),
        pytest.param(
            FILLED, (), {"HOST": "b.example"},
            AllowedHosts(hosts=frozenset({"b.example:443"}), providers=True), id="variable",
        ),
        pytest.param(
            FILLED, (), {}, AllowedHosts(hosts=frozenset(), providers=True), id="not-set",
        ),
    ],
)  # fmt: skip
def test_the_hosts_of_the_policy_are_allowed(
    root: Path,
    policy: str | None,
    given: tuple[str, ...],
    environment: dict[str, str],
    hosts: AllowedHosts | None,
) -> None:
    found = loaded(root, policy=policy)
    if hosts and hosts.providers:
        hosts = replace(hosts, checkout=str(found.project.root))
    assert allowed_hosts(found, given, environment) == hosts
