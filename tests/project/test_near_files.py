"""What a misspelt reference probably means, and what is never suggested."""

from pathlib import Path

import pytest

from rubric_ci.project.near_files import near_file
from tests import platforms

NEAR = {
    "a letter": ("prompts/refnd.md", "prompts/refund.md"),
    "a folder": ("prompt/refund.md", "prompts/refund.md"),
    "both": ("prompt/refnd.md", "prompts/refund.md"),
    "another suffix": ("prompts/refund.txt", "prompts/refund.md"),
    "case": ("Prompts/Refund.md", "prompts/refund.md"),
    "from the root": ("/evals/notess.txt", "/evals/notes.txt"),
    "next to the eval file": ("note.txt", "notes.txt"),
    "above": ("../prompts/refnd.md", "../prompts/refund.md"),
    "nothing close": ("data/table.csv", ""),
    "a folder itself": ("prompt", ""),
    "hidden": (".hiden", ""),
    "outside": ("../../secre.md", ""),
}


@pytest.mark.parametrize(("reference", "meant"), NEAR.values(), ids=NEAR)
def test_near_file(tmp_path: Path, reference: str, meant: str) -> None:
    top = (tmp_path / "repository").resolve()
    (top / "evals").mkdir(parents=True)
    (top / "prompts").mkdir()
    for name in ("prompts/refund.md", "evals/notes.txt", ".hidden", "../secret.md"):
        (top / name).write_text("x", encoding="utf-8")
    if (top / reference).exists():
        pytest.skip("this file system ignores case")
    assert near_file(reference, str(top / "evals"), str(top)) == meant


def test_nothing_is_near_behind_a_link(tmp_path: Path) -> None:
    top = (tmp_path / "repository").resolve()
    (top / "evals").mkdir(parents=True)
    (tmp_path / "secret.md").touch()
    platforms.symlink(top / "out", "..")
    assert near_file("out/secre.md", str(top / "evals"), str(top)) == ""
