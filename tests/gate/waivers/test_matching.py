"""The file of waivers: its entries, those in force on a change, and their states."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.errors import InvalidInput
from rubric_ci.files.project.loaded_project import load_project
from rubric_ci.files.project.project import Policy, Project
from rubric_ci.files.project.working_tree import WorkingTree
from rubric_ci.files.validation.gate_and_waiver_rules import States
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.gate.policy.governed import governed
from rubric_ci.gate.waivers.matching import (
    criteria_of,
    find_states,
    fingerprint_of,
    in_force,
    load_waivers,
    waivers_of,
)
from rubric_ci.values.waivers import Waiver, WaiverResult

TODAY = date(2026, 6, 15)
EVALS = """\
evalcases:
  - id: one
    input: Hello?
    rubrics: [{id: greets, expected_outcome: Greets, required: true}]
"""
CONFIG = "evals: [a.eval.yaml]\ngate: {max_waivers: 3}\n"


def entry(criterion: str = "greets", **changes: str) -> dict[str, str]:
    return {
        "case": "one",
        "criterion": criterion,
        "reason": "later",
        "owner": "ana",
        "until": "2026-06-30",
        "fingerprint": "0123456789ab",
        **changes,
    }


def written(root: Path, *entries: dict[str, str], policy: Project | None = None) -> Project:
    root.mkdir(exist_ok=True)
    files = {"a.eval.yaml": EVALS, "rubric-ci.yaml": CONFIG}
    if entries:
        files["waivers.yaml"] = yaml.safe_dump({"waivers": list(entries)}, sort_keys=False)
    for name, text in files.items():
        (root / name).write_text(text)
    tree = WorkingTree(root=root)
    if policy is None:
        return Project(tree)
    rules = Policy(policy, lambda head, base, own: governed(head, base, configured=own))
    return Project(tree, policy=rules)


def fingerprint(project: Project) -> str:
    [file] = load_project([], project).files
    [case] = file.cases
    [(_, criterion)] = criteria_of(case)
    return fingerprint_of(case, criterion)


def test_the_entries_of_the_file(tmp_path: Path) -> None:
    every = {**entry("a"), "file": "a.eval.yaml"}, {**entry("b"), "tool": "promptfoo"}
    common: dict[str, Any] = {
        "case": "one",
        "reason": "later",
        "owner": "ana",
        "until": "2026-06-30",
        "fingerprint": "0123456789ab",
    }
    assert load_waivers(written(tmp_path, *every).files) == (
        Waiver(criterion="a", file="a.eval.yaml", line=2, **common),
        Waiver(criterion="b", tool="promptfoo", line=9, **common),
    )
    (tmp_path / "waivers.yaml").unlink()
    assert load_waivers(WorkingTree(root=tmp_path)) == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            b"waivers:\n  - {case: one}\n",
            "waivers.yaml has problems: waivers.yaml:2: an entry of `waivers` has no `criterion`",
        ),
        (b"\xff\xfe\xff", "waivers.yaml has problems: waivers.yaml"),
    ],
    ids=["an entry", "not text"],
)
def test_a_file_with_problems(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "waivers.yaml").write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        load_waivers(WorkingTree(root=tmp_path))
    assert str(caught.value.message).startswith(problem)


BASE = (
    entry("kept"),
    entry("removed"),
    entry("longer"),
    entry("shorter"),
    entry("of another question"),
    entry("theirs", tool="promptfoo"),
    entry("moved", tool="promptfoo"),
)
HEAD = (
    entry("new"),
    entry("shorter", until="2026-06-20"),
    entry("longer", until="2026-12-31"),
    entry("kept", reason="other words"),
    entry("of another question", fingerprint="ba9876543210"),
    entry("theirs", tool="promptfoo"),
    entry("moved"),
)


def test_a_change_can_end_a_waiver_and_neither_add_nor_extend_one(tmp_path: Path) -> None:
    base = written(tmp_path / "base", *BASE)
    head = written(tmp_path / "head", *HEAD, policy=base)
    found = [(each.criterion, each.until, each.reason, each.line) for each in in_force(head)]
    assert found == [
        ("kept", "2026-06-30", "other words", 20),
        ("longer", "2026-06-30", "later", 14),
        ("shorter", "2026-06-20", "later", 8),
    ]
    assert [each.criterion for each in in_force(head, "promptfoo")] == ["theirs"]
    assert [each.criterion for each in in_force(base, "promptfoo")] == ["theirs", "moved"]
    alone = [each.criterion for each in in_force(written(tmp_path / "head", *HEAD))]
    assert alone == ["new", "shorter", "longer", "kept", "of another question", "moved"]


def waiver(project: Project, *names: str) -> Project:
    """Return the project with a waiver of each criterion, with the present fingerprint."""
    own = fingerprint(project)
    return written(project.root, *(entry(name, fingerprint=own) for name in names))


def test_what_became_of_each(tmp_path: Path) -> None:
    project = waiver(written(tmp_path), "greets", "gone")
    loaded = load_project([], project)
    common: dict[str, Any] = {"reason": "later", "owner": "ana", "until": "2026-06-30"}
    known = WaiverResult(
        state="not-run", case="one", criterion="greets", file="a.eval.yaml", line=2, **common
    )
    gone = WaiverResult(
        state="unmatched", case="one", criterion="gone", file="a.eval.yaml", line=8, **common
    )
    for complete in (True, False):
        assert waivers_of(project, loaded.cases, TODAY, complete=complete) == (known, gone)
    assert waivers_of(project, [], TODAY) == waivers_of(project, [], TODAY, complete=True)
    other = load_project([], written(tmp_path, entry(case="other")))
    for complete, state in ((True, "unmatched"), (False, "not-run")):
        found = (
            *waivers_of(project, [], TODAY, complete=complete),
            *waivers_of(other.project, other.cases, TODAY, complete=complete),
        )
        assert [(each.state, each.file) for each in found] == [(state, "")] * 2


SEVERAL = (
    CONFIG
    + "targets:\n"
    + "".join(f"  - {{name: {each}, provider: mock, response: Hi}}\n" for each in "abc")
)


@pytest.mark.parametrize(
    ("targets", "states"),
    [
        ((), {"one": "not-run", "one [b]": "not-run", "one [d]": "unmatched"}),
        (("a",), {"one": "not-run", "one [b]": "not-run", "one [d]": "unmatched"}),
        (("a", "b"), {"one": "not-run", "one [c]": "not-run", "one [d]": "unmatched"}),
    ],
)
def test_waivers_of_runs_with_other_targets(
    tmp_path: Path, targets: tuple[str, ...], states: dict[str, str]
) -> None:
    own = fingerprint(written(tmp_path))
    written(tmp_path, *(entry(case=case, fingerprint=own) for case in states))
    (tmp_path / "rubric-ci.yaml").write_text(SEVERAL)
    loaded = load_project([], Project(WorkingTree(root=tmp_path), targets=targets))
    found = waivers_of(loaded.project, loaded.cases, TODAY)
    assert {each.case: each.state for each in found} == states


def test_a_suite_that_several_targets_always_answer_has_no_case_without_one(tmp_path: Path) -> None:
    own = fingerprint(written(tmp_path))
    written(tmp_path, *(entry(case=case, fingerprint=own) for case in ("one", "one [a]")))
    (tmp_path / "rubric-ci.yaml").write_text(SEVERAL)
    (tmp_path / "a.eval.yaml").write_text(f"targets: [a, b]\n{EVALS}")
    for targets in ((), ("a",)):
        loaded = load_project([], Project(WorkingTree(root=tmp_path), targets=targets))
        found = waivers_of(loaded.project, loaded.cases, TODAY)
        assert [each.state for each in found] == ["unmatched", "not-run"]


def test_the_states_that_validate_shows(tmp_path: Path) -> None:
    project = waiver(written(tmp_path), "greets", "gone")
    theirs = entry("greets", tool="promptfoo", fingerprint=fingerprint(project))
    own = [entry(name, fingerprint=fingerprint(project)) for name in ("greets", "gone")]
    project = written(tmp_path, *own, theirs)
    document = Document("waivers.yaml", (tmp_path / "waivers.yaml").read_text())
    (tmp_path / "broken.yaml").write_text("evalcases: [")
    paths = [tmp_path / name for name in ("a.eval.yaml", "broken.yaml")]
    assert find_states(document, project, lambda: paths, TODAY) == States(
        states=["not-run", "unmatched", "not-run"], max_waivers=3
    )
    late = find_states(document, project, lambda: paths, date(2026, 7, 1))
    assert late.states == ["expired", "unmatched", "not-run"]
    (tmp_path / "rubric-ci.yaml").write_text("gate: [")
    alone = Project(WorkingTree(root=tmp_path))
    assert find_states(document, alone, lambda: paths, TODAY).max_waivers is None
