"""The secrets of this process, and what a runner is asked to mask."""

import subprocess
import sys
from pathlib import Path

import pytest

from rubric_ci.system import masking
from tests.sample_project import clean_environment

MASKS = (
    "from rubric_ci.system import masking; masks = ['100% secret', 'line one\\nline two', 'short'];"
    "masking.mask_on_runner(masks); masking.mask_on_runner(masks)"
)


def test_the_environment_of_the_moment_and_what_was_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_hidden", set())
    assert masking.redact("first-key added-value") == "first-key added-value"
    monkeypatch.setenv("AN_API_KEY", "first-key")
    masking.hide(["added-value"])
    assert masking.redact("first-key added-value") == "*** ***"


@pytest.mark.parametrize(
    ("on_actions", "to_file", "masked"),
    [
        ("true", False, "::add-mask::100%25 secret\n::add-mask::line one\n::add-mask::line two\n"),
        ("true", True, ""),
        ("", False, ""),
    ],
    ids=["runner", "runner-to-a-file", "elsewhere"],
)
def test_mask_on_runner(on_actions: str, to_file: bool, masked: str, tmp_path: Path) -> None:
    path = tmp_path / "stderr"
    with path.open("w") as file:
        done = subprocess.run(
            [sys.executable, "-c", MASKS],
            env=clean_environment() | {"GITHUB_ACTIONS": on_actions},
            stdout=subprocess.PIPE,
            stderr=file if to_file else subprocess.PIPE,
            text=True,
            timeout=60,
            check=True,
        )
    assert done.stdout == ""
    assert (path.read_text() if to_file else done.stderr) == masked
