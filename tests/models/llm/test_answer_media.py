"""Images and documents in answers: how targets name them, and what is refused."""

import json
from base64 import b64encode
from typing import Any

import pytest

from rubric_ci.errors import CannotAnswer, CannotReadFile
from rubric_ci.grading.targets.answer_cache import answer_from, facts_of
from rubric_ci.grading.targets.answer_format import build, with_files
from rubric_ci.values.results import Answer
from tests.pictures import JPEG, pdf, png

FILES = {"out/chart.png": png(4, 3), "notes.txt": b"Hi", "sum.pdf": pdf(1)}
URI = f"data:image/jpeg;base64,{b64encode(JPEG).decode()}"


def given(*parts: dict[str, Any], text: str | None = None) -> Answer:
    messages = [{"role": "assistant", "content": list(parts)}]
    return with_files(build(text, {"output_messages": messages}), FILES.get)


def test_parts_become_names() -> None:
    found = given(
        {"type": "text", "text": "The chart:"},
        {"type": "image", "value": "out/chart.png"},
        {"type": "image_url", "image_url": {"url": URI}},
        {"type": "file", "value": "sum.pdf"},
        {"type": "file", "value": "notes.txt"},
    )
    assert found.text == (
        "The chart:\n\n[image: out/chart.png]\n\n[image: answer-2.jpeg]\n\n[document: sum.pdf]\n\n"
        "notes.txt"
    )
    assert [(each.path, each.type, each.read()) for each in found.media] == [
        ("out/chart.png", "image/png", png(4, 3)),
        ("answer-2.jpeg", "image/jpeg", JPEG),
        ("sum.pdf", "application/pdf", pdf(1)),
    ]
    assert "base64" not in json.dumps(found.messages)


def test_a_text_of_its_own_gets_the_names() -> None:
    found = given({"type": "image", "value": "out/chart.png"}, text="See the chart.")
    assert found.text == "See the chart.\n\n[image: out/chart.png]"


def test_parts_without_images_stay_as_they_are() -> None:
    found = given({"type": "text", "text": "Hi"})
    assert json.loads(found.text) == [{"type": "text", "text": "Hi"}]
    assert found.media == ()


ADDRESS = "https://a.test/b.png"
NOT_FETCHED = "which is not fetched; use a path or a `data:` URI"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("gone.png", "`gone.png` of the answer does not exist"),
        ("notes.txt", "`notes.txt` of the answer is not a png, jpeg, gif, webp or PDF"),
        ("data:image/png;base64,&&", "`answer-1` of the answer has no base64 after `data:`"),
        (ADDRESS, f"`{ADDRESS}` of the answer is a URL, {NOT_FETCHED}"),
    ],
)
def test_refused(source: str, why: str) -> None:
    with pytest.raises(CannotAnswer) as error:
        given({"type": "image", "value": source})
    assert str(error.value) == why


def test_a_cache_keeps_the_bytes_and_a_recording_the_digest() -> None:
    found = given({"type": "image", "value": "out/chart.png"})
    written = [json.dumps(facts_of(found, with_bytes=each)) for each in (True, False)]
    cached, recorded = (answer_from(json.loads(text)) for text in written)
    assert cached
    assert recorded
    assert cached.media == recorded.media == found.media
    assert cached.media[0].read() == png(4, 3)
    with pytest.raises(CannotReadFile, match="a recording has its digest only"):
        recorded.media[0].read()
