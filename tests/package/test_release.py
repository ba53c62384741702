"""The recipes of a release: check, notes, and pins of examples and docs."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
BY_TAG = re.compile(r"rubric-ci/rubric-ci[\w./-]*@v")
PIN = re.compile(r"\b[0-9a-f]{40}\b(?![\"]? # v\d)")

_spec = importlib.util.spec_from_file_location("release", ROOT / ".ci/release.py")
assert _spec is not None
assert _spec.loader is not None
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that a release changes."""
    for glob in release.PINNED:
        for path in ROOT.glob(glob):
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    return tmp_path


def test_every_pin_becomes_the_released_commit(tree: Path) -> None:
    changed = release.pin("v1.2.3", COMMIT, tree)
    named = {path for path in tree.rglob("*") if path.is_file() and COMMIT in path.read_text()}
    assert {path.relative_to(tree).as_posix() for path in named} == set(changed)
    assert "examples/workflows/evals-gate.yml" in changed
    assert {"README.md", ".github/workflows/gate.yml"} <= {*changed}
    left = [path for path in tree.rglob("*") if path.is_file() and BY_TAG.search(path.read_text())]
    assert left == []
    assert [path for path in sorted(named) if PIN.search(path.read_text())] == []


def test_a_second_release_replaces_the_first(tree: Path) -> None:
    first = release.pin("v1.2.3", COMMIT, tree)
    assert release.pin("v1.3.0", COMMIT[::-1], tree) == first
    assert [path for path in tree.rglob("*") if path.is_file() and COMMIT in path.read_text()] == []


def test_before_a_tag_only_the_called_workflows_are_pinned(tree: Path) -> None:
    changed = release.pin("v1.2.3", COMMIT, tree, release.WORKFLOWS)
    names = ("default-branch", "gate", "generate", "night", "validate")
    assert changed == [f".github/workflows/{name}.yml" for name in names]


CALLS = "gate.yml calls another release; run `make pin-workflows TAG=v1.2.3`"
CHANGELOG = "# Changelog\n\n## 1.2.3 (2026-11-22)\n- One change.\n\n## 1.2.2\n- Older.\n"


@pytest.mark.parametrize(
    ("tag", "version", "problem"),
    [
        ("v1.2.3", "1.2.3", ""),
        ("v1.2.4", "1.2.3", "the tag is v1.2.4, rubric_ci/__init__.py has version 1.2.3"),
        ("v1.2.4", "1.2.4", "CHANGELOG.md has no section `## 1.2.4`"),
    ],
)
def test_a_tag_is_checked(tmp_path: Path, tag: str, version: str, problem: str) -> None:
    (tmp_path / "rubric_ci").mkdir()
    (tmp_path / "rubric_ci/__init__.py").write_text(f'__version__ = "{version}"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    assert release.check(tag, tmp_path) == problem


@pytest.mark.parametrize(
    ("pin", "problem"),
    [
        (f"{COMMIT} # v1.2.3", ""),
        (
            f"{COMMIT} # v1.2.2",
            "gate.yml calls another release; run `make pin-workflows TAG=v1.2.3`",
        ),
        ("v1.2.3", "gate.yml calls another release; run `make pin-workflows TAG=v1.2.3`"),
    ],
)
def test_a_tag_needs_workflows_of_its_release(tmp_path: Path, pin: str, problem: str) -> None:
    (tmp_path / "rubric_ci").mkdir()
    (tmp_path / "rubric_ci/__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / ".github/workflows").mkdir(parents=True)
    text = f"      - uses: rubric-ci/rubric-ci@{pin}\n"
    (tmp_path / ".github/workflows/gate.yml").write_text(text)
    found = release.check("v1.2.3", tmp_path)
    assert found.startswith(problem) if problem else not found


def test_notes_are_the_section_of_the_release(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    assert release.notes("v1.2.3", tmp_path) == "- One change.\n"


def test_a_pin_needs_a_whole_commit() -> None:
    command = [sys.executable, str(ROOT / ".ci/release.py"), "pin", "v1.2.3", "abc"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (
        "release.py check TAG | notes TAG | pin-workflows TAG COMMIT | pin TAG COMMIT"
        in done.stderr
    )
