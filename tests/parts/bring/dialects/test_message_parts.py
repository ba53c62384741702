"""Parts of messages of other tools: what becomes ours, and what has no counterpart."""

from base64 import b64encode
from typing import Any

import pytest

from rubric_ci.parts.bring.dialects.message_parts import NoPart, our_message
from tests.pictures import pdf, png

PNG = b64encode(png(4, 3)).decode()
BILL = pdf(1)
NONE = "has no counterpart"
PDF = b64encode(pdf(1)).decode()
SHOT = {"type": "image", "value": "shots/cart.png"}
HERE = "file://shots/cart.png"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("Hi", {"type": "text", "value": "Hi"}),
        ({"type": "text", "text": "Hi"}, {"type": "text", "value": "Hi"}),
        ({"type": "input_text", "text": "Hi"}, {"type": "text", "value": "Hi"}),
        ({"text": "Hi"}, {"type": "text", "value": "Hi"}),
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{HERE}"}}, SHOT),
        ({"type": "image_url", "image_url": {"url": HERE}}, SHOT),
        ({"type": "input_image", "image_url": HERE}, SHOT),
        ({"type": "image", "source": {"type": "base64", "data": HERE}}, SHOT),
        ({"inline_data": {"mime_type": "image/png", "data": HERE}}, SHOT),
    ],
    ids=["text", "part", "input", "no type", "OpenAI", "bare", "input_image", "source", "inline"],
)
def test_parts(part: Any, expected: dict[str, str]) -> None:
    images: dict[str, bytes] = {}
    content = our_message({"role": "user", "content": [part]}, images)["content"]
    assert (content, images) == ([expected], {})


@pytest.mark.parametrize(
    ("part", "kind", "data"),
    [
        ({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}, "image", png(4, 3)),
        ({"type": "image", "source": {"type": "base64", "data": PNG}}, "image", png(4, 3)),
        ({"type": "document", "source": {"data": PDF}}, "file", pdf(1)),
        (
            {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PDF}"}},
            "file",
            BILL,
        ),
    ],
    ids=["a data URI", "base64", "a document", "a file"],
)
def test_bytes_become_a_file(part: Any, kind: str, data: bytes) -> None:
    images: dict[str, bytes] = {}
    (found,) = our_message({"role": "user", "content": [part]}, images)["content"]
    assert found["type"] == kind
    assert images == {found["value"]: data}
    assert found["value"].startswith("images/")


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (
            {"type": "input_image", "image_url": "https://a.example/b.png"},
            "an image at a URL is not fetched; save it and name its file",
        ),
        ({"type": "input_audio", "data": "x"}, f"a part with `type: input_audio` {NONE}"),
        ({"type": "input_image", "file_id": "f"}, f"a part with `type: input_image` {NONE}"),
        ({"inline_data": {"data": "&&"}}, "an image is neither a file nor base64"),
        ({"inline_data": {"data": "SGk="}}, "an image is not a png, jpeg, gif, webp or PDF"),
        (3, "it is not a part"),
    ],
)
def test_no_counterpart(part: Any, why: str) -> None:
    with pytest.raises(NoPart) as error:
        our_message({"role": "user", "content": [part]}, {})
    assert str(error.value) == why


def test_parts_of_gemini() -> None:
    message = {"role": "model", "parts": [{"text": "Hi"}]}
    expected = {"role": "assistant", "content": [{"type": "text", "value": "Hi"}]}
    assert our_message(message, {}) == expected
