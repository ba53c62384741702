"""A file of blank lines: deciding whether it holds evals takes linear time."""

import sys
from pathlib import Path

from tests.captured import captured


def test_validate_passes_over_200_000_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "blank.yaml").write_text("\n" * 200_000)  # cubic: years; quadratic: a minute
    (tmp_path / "a.eval.yaml").write_text(
        "evalcases:\n  - id: a\n    input: Hi\n    rubrics: [A]\n"
    )
    done = captured([sys.executable, "-m", "rubric_ci", "validate"], cwd=tmp_path, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
