"""Images and documents in replies: the forms that are read, and what is refused."""

from base64 import b64encode

import pytest

from rubric_ci.errors import CannotReadFile
from rubric_ci.models.llm.media import media_facts, read_media, reply_media
from rubric_ci.models.llm.retry import RequestError
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import with_names
from tests.pictures import JPEG, pdf, png

PNG = b64encode(png(4, 3)).decode()
URI = f"data:image/jpeg;base64,{b64encode(JPEG).decode()}"
FORMS = 'use base64, a `data:` URI, or an object {"name", "data"} with one of them'
NOT_FETCHED = f"which is not fetched; {FORMS}"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (PNG, ["answer-1.png"]),
        ([PNG, f"{PNG[:20]}\n{PNG[20:]}"], ["answer-1.png", "answer-2.png"]),
        ([URI, {"b64_json": PNG}], ["answer-1.jpeg", "answer-2.png"]),
        ({"name": "out/bars.png", "data": PNG}, ["out/bars.png"]),
        ([{"filename": "a.jpg", "image_url": {"url": URI}}], ["a.jpg"]),
        ([{"path": "sum.pdf", "base64": b64encode(pdf(1)).decode()}], ["sum.pdf"]),
        ([], []),
        (None, []),
    ],
    ids=["one", "list", "forms", "named", "OpenAI's", "document", "empty", "null"],
)
def test_forms(reply: JSON, expected: list[str]) -> None:
    assert [each.path for each in reply_media(reply, "/images")] == expected


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (["http://a.example/b.png"], f"`/images/0` of the answer is a URL, {NOT_FETCHED}"),
        ([PNG, 3], f"`/images/1` of the answer has another form; {FORMS}"),
        ({"size": 3}, f"`/images` of the answer has another form; {FORMS}"),
        (["&&"], "`/images/0` of the answer has no base64"),
        ("data:image/png;base64,&&", "`/images` of the answer has no base64 after `data:`"),
        ("SGVsbG8=", "`/images` of the answer is not a png, jpeg, gif, webp or PDF"),
    ],
    ids=["url", "number", "object", "base64", "uri", "text"],
)
def test_what_is_refused(reply: JSON, message: str) -> None:
    with pytest.raises(RequestError) as error:
        reply_media(reply, "/images")
    assert str(error.value) == message


def test_too_many_bytes() -> None:
    large = b64encode(png(4, 3) + bytes(18 * 2**20)).decode()
    with pytest.raises(RequestError, match="the answer has more than 50 MiB of images"):
        reply_media([large] * 3, "/images")
    with pytest.raises(RequestError, match="`/images` of the answer has more than 20 MiB"):
        reply_media(b64encode(png(4, 3) + bytes(20 * 2**20)).decode(), "/images")


def test_names_in_the_text() -> None:
    media = reply_media([PNG, URI], "/images")
    assert with_names("See [image: answer-2.jpeg].", media) == (
        "See [image: answer-2.jpeg].\n\n[image: answer-1.png]"
    )
    assert with_names("", media[:1]) == "[image: answer-1.png]"


def test_only_bytes_that_were_kept_can_be_shown_again() -> None:
    media = reply_media(PNG, "/images")
    assert read_media(media_facts(media, with_bytes=True))[0].read() == png(4, 3)
    recorded = read_media(media_facts(media, with_bytes=False))
    assert recorded == media
    with pytest.raises(CannotReadFile, match="a recording has its digest only"):
        recorded[0].read()
