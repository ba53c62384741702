"""A model server for other eval tools: it answers a small suite, and grades answers."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from tests.http_server import JsonHandler, Server, serving

ANSWERS = {
    "How long do refunds take?": "Refunds take 30 days.",
    "Which plan has phone support?": "The Business plan has phone support.",
    "Can I pay by invoice?": "I do not know.",
}
SHORTLY = "In one word: "
"""A prompt that spoils the answer about refunds: the change of a pull request."""
OUTAGE = "Where are you based?"
"""The question that this server has no answer to: a failure of the service, and no verdict."""


def reply(text: str) -> str | None:
    """Return the reply to the last message of a chat; None: a failure of the server."""
    text = text.strip()
    if text.startswith(SHORTLY):
        return "Soon." if "refund" in text else reply(text.removeprefix(SHORTLY))
    if text in ANSWERS or text == OUTAGE:
        return ANSWERS.get(text)
    good = ANSWERS["How long do refunds take?"] in text or "Business plan" in text
    graded = {
        "pass": good,
        "score": 1.0 if good else 0.2,
        "reason": "It answers." if good else "No.",
    }
    return json.dumps({**graded, "verdict": "yes" if good else "no"}) + (
        "\nGRADE: C" if good else "\nGRADE: I"
    )


@contextmanager
def model_server(
    answers: dict[str, str] | None = None, *, numbered: bool = False
) -> Iterator[Server]:
    """Serve OpenAI's chat format; `answers` replace some of the answers.

    With `numbered`, no two answers are equal, as those of most models.
    """
    numbers = count(1)

    class Handler(JsonHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = self.received()
            content = request["messages"][-1]["content"]
            text = content if isinstance(content, str) else content[-1]["text"]
            said = (answers or {}).get(text) or reply(text)
            if numbered and said and text.strip().removeprefix(SHORTLY) in ANSWERS:
                said = f"{said} #{next(numbers)}"
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = {"id": "1", "object": "chat.completion", "created": 1, "model": "local"}
            failed = {"error": {"message": "the model is not available", "type": "invalid_request"}}
            self.send_json(400, failed) if said is None else self.send_json(
                200, {**body, "choices": [choice], "usage": usage}
            )

    with serving(Handler) as server:
        yield server
