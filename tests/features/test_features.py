"""What a feature costs: some that nobody needs, each a patch that applies and whose tests pass.

A patch holds what a person writes; `make golden` writes the rest. When it does not apply any more,
write the feature again as CONTRIBUTING.md says, and keep `git diff`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MOST = 5  # files of the package
FEATURES = {path.stem: path for path in sorted(HERE.glob("*.diff"))}


def files(feature: str) -> list[str]:
    """Return the files that a feature adds or edits."""
    return re.findall(r"^\+\+\+ b/(.+)$", FEATURES[feature].read_text("utf-8"), re.MULTILINE)


def done(root: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(root)}
    ran = subprocess.run(
        command, check=False, cwd=root, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize(
    ("feature", "touched"), [("assertion", 2), ("format", 3), ("gate-key", 3), ("target", 5)]
)
def test_few_files_are_touched(feature: str, touched: int) -> None:
    assert len([name for name in files(feature) if name.startswith("rubric_ci/")]) == touched
    assert touched <= MOST


@pytest.mark.deep
@pytest.mark.parametrize("feature", FEATURES)
def test_the_feature_works(feature: str, tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    for name in done(ROOT, "git", "ls-files").splitlines():
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
    done(root, "git", "apply", str(FEATURES[feature]))
    done(root, sys.executable, "-m", "tests.golden")
    tests = [name for name in files(feature) if name.startswith("tests/")]
    assert tests
    done(root, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
