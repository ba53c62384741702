"""The pictures of the docs show what this commit renders."""

import json

import pytest

from tests.docs.pictures import DIGESTS, IMAGES, Picture, pictures

PICTURES = {each.name: each for each in pictures()}


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_a_picture_is_current(picture: Picture) -> None:
    known = json.loads(DIGESTS.read_text(encoding="utf-8"))
    assert known[picture.name] == picture.digest, (
        f"docs/images/{picture.name} shows an older text: run `make golden` and look at it"
    )


def test_no_digest_is_left_over() -> None:
    assert json.loads(DIGESTS.read_text(encoding="utf-8")).keys() == PICTURES.keys()


def test_every_picture_is_a_picture() -> None:
    starts = {name: (IMAGES / name).read_bytes()[:8] for name in PICTURES}
    assert starts == dict.fromkeys(PICTURES, b"\x89PNG\r\n\x1a\n")
