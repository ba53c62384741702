"""examples/pytest: eval files and rubrics in tests, without a key or a network."""

import shutil
from pathlib import Path

from tests.parts.pytest import forked
from tests.sample_project import clean_environment

EXAMPLE = Path(__file__).parents[3] / "examples/pytest"


def test_it_passes_where_it_is_copied_to(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    done = forked.run(["--rubric-ci", "-v"], tmp_path, clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
    assert "Gate passes: all 6 cases pass (fail_on: fail)" in done.stdout
