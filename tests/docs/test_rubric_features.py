"""The table of rubric features: each of ours has a test, and each other tool its word."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
COLUMNS = ["rubric-ci", "AutoRubric", "AgentV", "promptfoo", "waza", "HealthBench", "test"]


def rows() -> list[list[str]]:
    page = (ROOT / "docs/rubrics.md").read_text(encoding="utf-8")
    table = page.partition("\n## Rubric features of other tools\n")[2].partition("\nNext: ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_feature_of_ours_has_a_test() -> None:
    head, *features = rows()
    assert head[1:] == COLUMNS
    files = (ROOT / "tests").glob("[!n]*/**/test_*.py")  # not `npm`
    defined = {
        name
        for path in files
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = {row[-1].strip("`") for row in features}
    assert len(named) == len(features) >= 12
    assert named - defined == set()
    assert {row[1] for row in features} == {"✓"}


def test_what_others_lack_is_said() -> None:
    for row in rows()[1:]:
        assert [cell for cell in row[2:-1] if not re.match(r"[✓\u2013]|~ \S", cell)] == []
        assert "\u2013" in row or any(cell.startswith("~") for cell in row[2:-1])
