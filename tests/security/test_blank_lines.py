"""A file of blank lines: deciding whether it holds evals takes linear time."""

import subprocess
import sys
from pathlib import Path


def test_validate_passes_over_200_000_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "blank.yaml").write_text("\n" * 200_000)  # cubic: years; quadratic: a minute
    (tmp_path / "a.eval.yaml").write_text(
        "evalcases:\n  - id: a\n    input: Hi\n    rubrics: [A]\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "rubric_ci", "validate"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
