"""Design pages: the picture is current, each room has a section, and pages stay readable."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import rooms
from tests.docs.rooms import ROOT

MODULE = re.compile(r"`[\w./]+/\w+\.py`")
DESIGN = ROOT / "docs/design.md"
ROOMS = ROOT / "docs/rooms.md"
WORDS = 1_250  # five minutes


def test_the_picture_is_current() -> None:
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.picture(), "run `make golden`"


def test_every_dot_is_right_of_the_diagonal() -> None:
    order = rooms.rooms()
    found = rooms.imports()
    assert len(order) == 12
    assert ("cli", "services") in found
    assert [pair for pair in sorted(found) if order.index(pair[0]) >= order.index(pair[1])] == []


def test_design_is_read_in_five_minutes() -> None:
    assert len(DESIGN.read_text(encoding="utf-8").split()) <= WORDS


@pytest.mark.parametrize("room", rooms.rooms())
def test_a_room_has_a_section_that_names_its_packages(room: str) -> None:
    text = ROOMS.read_text(encoding="utf-8")
    assert f"\n## {room}\n" in text
    assert f"](rooms.md#{room})" in DESIGN.read_text(encoding="utf-8")
    folders = (path for path in (ROOT / "rubric_ci" / room).iterdir() if path.is_dir())
    names = [f"{room}/{path.name}/" for path in folders if (path / "__init__.py").exists()]
    assert [name for name in names if f"`{name}`" not in text] == []


def crowded(text: str) -> Iterator[str]:
    """Yield the sentences outside tables that name more than three modules."""
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    for sentence in re.split(r"(?<=[.:;]) |\n", prose):
        if len(MODULE.findall(sentence)) > 3:
            yield sentence


@pytest.mark.parametrize("page", [DESIGN, ROOMS], ids=lambda page: page.name)
def test_no_sentence_names_more_than_three_modules(page: Path) -> None:
    assert [*crowded(page.read_text(encoding="utf-8"))] == []


def test_a_crowded_sentence_is_found() -> None:
    names = "`a/b.py`, `a/c.py`, `a/d.py`"
    assert [*crowded(f"See {names}. And `a/e.py`.")] == []
    assert [*crowded(f"See {names} and `a/e.py`. Yes.")] == [f"See {names} and `a/e.py`."]
