"""Files outside of the repository, devices, pipes and links: nothing of them is read or written."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_ci import targets
from rubric_ci.errors import CannotFindEvals, CannotReadFile, CannotWriteFile, NoVerdict
from rubric_ci.llm import recording
from rubric_ci.model.config import CliTarget, RecordedTarget, Target
from rubric_ci.project import discovery
from rubric_ci.system import confined
from tests.cases import build_case, build_context, no_model

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(sys.platform == "win32", reason="links and pipes"),
]
SECRET = '{"id": "a", "answer": "the secret"}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text(SECRET)
    (root / "folder").mkdir()
    (tmp_path / "secret").write_text(SECRET)
    (root / "link").symlink_to("../secret")
    (root / "inner").symlink_to(".git/config")
    (root / "up").symlink_to("..")
    (root / "zero").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe")
    return root


OUTSIDE = "it is outside the repository"
NAMES = {
    "../secret": OUTSIDE,
    "link": OUTSIDE,
    "up/secret": OUTSIDE,
    "zero": OUTSIDE,
    "/etc/passwd": OUTSIDE,
    ".git/config": "it is in `.git`",
    "inner": "it is in `.git`",
    "pipe": "it is not a regular file",
    "folder": "it is not a regular file",
}


@pytest.mark.parametrize("name", NAMES)
def test_recorded_answers(root: Path, name: str) -> None:
    said = refused(RecordedTarget(name="kept", answers=name), root)
    assert said == f"the recorded answers {name} cannot be read: {NAMES[name]}"


@pytest.mark.parametrize("name", ["link", "up/secret", "inner", "pipe"])
def test_a_file_that_was_found(root: Path, name: str) -> None:
    with pytest.raises(CannotReadFile, match=NAMES[name]):
        confined.read_given(root / name, root)


def test_a_user_may_name_a_file_outside(root: Path) -> None:
    assert confined.read_given(root.parent / "secret", root).decode() == SECRET


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("ln -s /etc/passwd {OUTPUT_FILE}", "Too many levels of symbolic links"),
        ("mkfifo {OUTPUT_FILE}", "it is not a regular file"),
        ("mkdir {OUTPUT_FILE}", "it is not a regular file"),
        ("truncate -s 65M {OUTPUT_FILE}", "it has more than 64 MiB"),
    ],
)
def test_the_output_file(root: Path, command: str, reason: str) -> None:
    target = CliTarget(name="t", command_template=command, timeout_seconds=10)
    said = refused(target, root)
    assert said == f"cannot read the {{OUTPUT_FILE}} of the command: {reason}"


def test_an_eval_file_that_leads_out_is_a_diagnostic(root: Path) -> None:
    (root / "a.eval.yaml").symlink_to("../secret")
    done = validate(root, "--format", "json")
    assert done.returncode == 1
    assert "cannot read a.eval.yaml: it is outside the repository" in done.stdout
    assert "the secret" not in done.stdout + done.stderr


def test_fix_writes_through_no_link(root: Path) -> None:
    text = "evalcases:\n  - id: a\n    input: Hi\n    rubric: [A]\n"
    (root.parent / "secret").write_text(text)
    (root / "a.eval.yaml").symlink_to("../secret")
    assert validate(root, "--fix").returncode == 1
    assert (root.parent / "secret").read_text() == text


def test_a_recording_goes_through_no_link(root: Path) -> None:
    with pytest.raises(CannotWriteFile):
        recording.record(no_model, root / "link")
    assert (root.parent / "secret").read_text() == SECRET


def refused(target: Target, root: Path) -> str:
    with pytest.raises(NoVerdict) as caught:
        asyncio.run(targets.answer(build_case(), target, build_context(root)))
    return str(caught.value)


def validate(root: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "rubric_ci", "validate", *options],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("glob", ["../*.yaml", "evals/../../*.yaml", "!../*"])
def test_configured_globs_stay_in_the_repository(root: Path, glob: str) -> None:
    with pytest.raises(CannotFindEvals) as caught:
        discovery.find_evals([], [glob], root)
    assert caught.value.message == f"{glob} under `evals` leaves the repository"
