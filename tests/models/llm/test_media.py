"""Images and documents: in requests, with the key of each, and in replies."""

import asyncio
import json
from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.errors import CannotReadFile
from rubric_ci.models.judge.request import takes_media
from rubric_ci.models.llm import anthropic_http, gemini_http, openai_http
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.media import media_facts, read_media, reply_media
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, call_key, message_of
from rubric_ci.values.media import Media, with_names
from rubric_ci.values.targets import Endpoint
from tests.bodies import Body, answering
from tests.cases import build_call
from tests.pictures import JPEG, media, pdf, png

CART = media("shots/cart.png", png(4, 3))
BILL = media("bills/may.pdf", pdf(1))
MESSAGES = (
    ChatMessage(role="system", content="Be brief."),
    message_of("user", [CART, "Above: the cart.", "What is", BILL, "about?"]),
)
SHOWN = b64encode(png(4, 3)).decode()
READ = b64encode(pdf(1)).decode()
MAY = {"filename": "may.pdf", "file_data": f"data:application/pdf;base64,{READ}"}


def call(model: str, **options: str) -> ModelCall:
    return build_call(model, messages=MESSAGES, options=options)


def test_text_of_a_message() -> None:
    assert MESSAGES[1].content == (
        "[image: shots/cart.png]\n\nAbove: the cart.\n\nWhat is\n\n[document: bills/may.pdf]\n\n"
        "about?"
    )
    assert MESSAGES[1].media == (CART, BILL)
    assert message_of("user", ["a", "b"]) == ChatMessage(role="user", content="a\n\nb")


def test_openai() -> None:
    assert openai_http.chat_body(call("openai/gpt-6-luna"))["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{SHOWN}"}},
                {"type": "text", "text": "Above: the cart.\n\nWhat is"},
                {"type": "file", "file": MAY},
                {"type": "text", "text": "about?"},
            ],
        },
    ]


def test_anthropic() -> None:
    body = anthropic_http.body_of(call("anthropic/claude-sonnet-5-5"))
    assert body["system"] == "Be brief."
    assert body["messages"][0]["content"] == [
        {"type": "image", "source": source("image/png", SHOWN)},
        {"type": "text", "text": "Above: the cart.\n\nWhat is"},
        {"type": "document", "source": source("application/pdf", READ)},
        {"type": "text", "text": "about?"},
    ]


def source(kind: str, data: str) -> dict[str, Any]:
    return {"type": "base64", "media_type": kind, "data": data}


def test_gemini() -> None:
    body = gemini_http.body_of(call("gemini/gemini-3.8-flash"))
    assert body["contents"][0]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": SHOWN}},
        {"text": "Above: the cart.\n\nWhat is"},
        {"inlineData": {"mimeType": "application/pdf", "data": READ}},
        {"text": "about?"},
    ]


def test_a_file_that_changed_is_not_sent() -> None:
    changed = replace(CART, read=lambda: png(5, 5))
    asked = replace(call("openai/a"), messages=(message_of("user", [changed]),))
    with pytest.raises(RequestError, match=r"^shots/cart.png has changed") as error:
        openai_http.chat_body(asked)
    assert str(error.value) == "shots/cart.png has changed since the run began"
    assert error.value.scope == "request"  # other requests are sent
    assert error.value.usage.calls == 0


def key(*parts: str | Media) -> str:
    return call_key(Endpoint(model="openai/a"), [message_of("user", parts)])


def test_keys_have_the_digest_and_not_the_name() -> None:
    moved = media("other/place.png", png(4, 3))
    other = media("shots/cart.png", png(4, 3, (0, 0, 0)))
    assert key(CART, "What?") == key(moved, "What?")
    assert len({key(CART, "What?"), key(other, "What?"), key("What?", CART), key("What?")}) == 4
    assert key("What?") == call_key(
        Endpoint(model="openai/a"), [ChatMessage(role="user", content="What?")]
    )


@pytest.mark.parametrize(
    ("model", "options", "image", "document"),
    [
        ("openai/gpt-6-luna", {}, True, True),
        ("openai/gpt-3.5-turbo", {}, False, False),
        ("openai/gpt-3.5-turbo", {"api_base": "http://127.0.0.1:1/v1"}, True, True),
        ("openai/unknown", {}, True, True),
        ("anthropic/claude-sonnet-5-5", {}, True, True),
        ("gemini/gemma-3-27b-it", {}, True, False),
    ],
)
def test_what_models_take(
    model: str, options: dict[str, Any], *, image: bool, document: bool
) -> None:
    endpoint = Endpoint(model=model, options=options)
    assert (takes_media(endpoint, CART), takes_media(endpoint, BILL)) == (image, document)


REPLY = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
    ],
    "usage": {"prompt_tokens": 912, "completion_tokens": 1, "total_tokens": 913},
}


def test_litellm() -> None:
    with answering(Body(content=json.dumps(REPLY).encode())) as server:
        url = f"{server.url}/v1"
        asked = call("mistral/mistral-medium-latest", api_base=url, api_key="k")
        reply = asyncio.run(request(asked))
    (sent,) = map(json.loads, server.requests)
    assert sent["messages"] == openai_http.chat_body(call("openai/a"))["messages"]
    assert reply.usage.input_tokens == 912  # with those of the image, as the provider counts them


REFUSALS = {
    "llama.cpp": (500, "image input is not supported - hint: if this is unexpected, you may need"),
    "OpenAI": (400, "Invalid content type. image_url is only supported by certain models."),
    "vLLM": (400, "smollm2 is not a multimodal model"),
    "OpenRouter": (404, "No endpoints found that support image input"),
}


@pytest.mark.parametrize(("status", "text"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_of_images_is_final(status: int, text: str) -> None:
    body = json.dumps({"error": {"message": text, "code": status}}).encode()
    with answering(Body(content=body, status=status)) as server:
        asked = call("openai/a", api_base=server.url, api_key="k")
        with pytest.raises(RequestError) as error:
            asyncio.run(request(asked))
    assert str(error.value) == (f"the model takes no images or documents: HTTP {status}: {text}")
    assert not error.value.retryable


def test_another_error_of_a_request_with_images_stays_what_it_is() -> None:
    with answering(Body(content=b"{}", status=503)) as server:
        asked = call("openai/a", api_base=server.url, api_key="k")
        with pytest.raises(RequestError, match=r"^HTTP 503") as error:
            asyncio.run(request(asked))
    assert error.value.retryable


def test_images_that_a_model_draws() -> None:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{SHOWN}"}}
    message = {"role": "assistant", "content": "Here.", "images": [image]}
    chat = {**REPLY, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    parts = [{"text": "Here."}, {"inlineData": {"mimeType": "image/png", "data": SHOWN}}]
    drawn = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    replies = {"openai/a": chat, "mistral/a": chat, "gemini/gemini-3.8-flash": drawn}
    for model, reply in replies.items():
        with answering(Body(content=json.dumps(reply).encode())) as server:
            asked = call(model, api_base=server.url, api_key="k")
            found = asyncio.run(request(asked))
            judged = asyncio.run(request(replace(asked, output_schema={"type": "object"})))
        assert (found.text, [each.path for each in found.media]) == ("Here.", ["answer-1.png"])
        assert found.media[0].read() == png(4, 3)
        assert judged.media == ()


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
