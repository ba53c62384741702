"""Copies of images: written once, read by their digest, and a sentence where there is none."""

from pathlib import Path

import pytest

from rubric_ci.errors import CannotReadFile, CannotWriteFile
from rubric_ci.services.publish_files import copies_in, keep_copies, shown_again, write_copies
from rubric_ci.values.answers import pictures_of
from rubric_ci.values.media import COPIES
from tests.pictures import media, png

CART = media("out/cart.png", png(4, 3))
(PICTURE,) = pictures_of("answer", [CART])
GONE = (
    f"out/cart.png cannot be shown again: there is no copy `{CART.file}` next to the report or the "
    "labels"
)


def test_a_copy_is_read_again(tmp_path: Path) -> None:
    write_copies({CART.file: CART}, tmp_path, "")
    read = copies_in(tmp_path / "other", tmp_path / COPIES)
    (found,) = shown_again([PICTURE, *pictures_of("question", [CART])], read)
    assert (found, found.read(), found.width) == (CART, png(4, 3), 4)
    keep_copies([PICTURE], read, tmp_path / "labels-media", "")
    assert (tmp_path / "labels-media" / CART.file).read_bytes() == png(4, 3)


@pytest.mark.parametrize("there", [None, png(5, 5)], ids=["no copy", "another picture"])
def test_without_a_copy_it_is_said_when_it_is_shown(tmp_path: Path, there: bytes | None) -> None:
    if there:
        (tmp_path / CART.file).write_bytes(there)
    read = copies_in(tmp_path)
    (lost,) = shown_again([PICTURE], read)
    assert (lost.path, lost.digest, lost.type) == (CART.path, CART.digest, CART.type)
    with pytest.raises(CannotReadFile) as error:
        lost.read()
    assert error.value.message == GONE
    keep_copies([PICTURE], read, tmp_path / "labels-media", "")
    assert not (tmp_path / "labels-media").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    write_copies({CART.file: CART}, tmp_path, "")
    (tmp_path / "labels-media").write_text("a file")
    with pytest.raises(CannotWriteFile, match="cannot write a copy of out/cart") as error:
        keep_copies([PICTURE], copies_in(tmp_path / COPIES), tmp_path / "labels-media", "try again")
    assert error.value.hint == "try again"
