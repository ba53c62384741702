"""Types and sizes of images and documents, by their headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.values.media import media_of
from tests.pictures import JPEG, WEBP_EXTENDED, WEBP_LOSSLESS, WEBP_LOSSY, gif, media, pdf, png

KNOWN = {
    "png": (png(40, 30), ("image/png", 40, 30, 0)),
    "gif": (gif(41, 31), ("image/gif", 41, 31, 0)),
    "jpeg": (JPEG, ("image/jpeg", 5, 7, 0)),
    "webp, extended": (WEBP_EXTENDED, ("image/webp", 6, 8, 0)),
    "webp, lossy": (WEBP_LOSSY, ("image/webp", 6, 8, 0)),
    "webp, lossless": (WEBP_LOSSLESS, ("image/webp", 9, 10, 0)),
    "pdf": (pdf(3), ("application/pdf", 0, 0, 3)),
    "png without a header": (png(4, 3)[:10], ("image/png", 0, 0, 0)),
    "jpeg without a frame": (JPEG[:60], ("image/jpeg", 0, 0, 0)),
    "gif without a size": (gif(4, 3)[:8], ("image/gif", 0, 0, 0)),
}


@pytest.mark.parametrize(("data", "facts"), KNOWN.values(), ids=KNOWN)
def test_known(data: bytes, facts: tuple[str, int, int, int]) -> None:
    found = media("a/b", data)
    assert (found.type, found.width, found.height, found.pages) == facts
    assert (found.path, found.size, found.read()) == ("a/b", len(data), data)


OTHER = {
    "text": b"hello",
    "nothing": b"",
    "a sound": b"RIFF\x24\0\0\0WAVEfmt ",
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "bitmap": b"BM" + bytes(60),
}


@pytest.mark.parametrize("data", OTHER.values(), ids=OTHER)
def test_other(data: bytes) -> None:
    assert media_of("a", data, lambda: data) is None


@given(st.sampled_from([JPEG, WEBP_LOSSY, WEBP_LOSSLESS, png(4, 3), gif(4, 3)]), st.data())
def test_broken_files_have_a_size_or_none(data: bytes, draw: st.DataObject) -> None:
    cut = draw.draw(st.integers(3, len(data)))
    noise = draw.draw(st.binary(max_size=40))
    found = media_of("a", data[:cut] + noise, lambda: data)
    assert found is None or (found.width >= 0 and found.height >= 0)


def test_name() -> None:
    assert media("shots/cart.png", png(1, 1)).name == "[image: shots/cart.png]"
    assert media("invoice.pdf", pdf(1)).name == "[document: invoice.pdf]"
