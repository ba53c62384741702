"""Judges over HTTP with one known fault each, and a sound one.

The text of a criterion names a fact in quotation marks. The sound judge looks for a sentence that
states it; white space, letter case and Markdown mean nothing to it.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from tests.bodies import chat
from tests.http_server import JsonHandler, serving

LONG: Final = 150  # characters that the judge of lengths wants
_NEGATIONS: Final = re.compile(r"\b(?:not|never|cannot)\b|n't\b")

Marking = Callable[[str, str], bool]
"""Whether an answer states a fact."""


def sound(answer: str, fact: str) -> bool:
    return any(
        plain(fact) in sentence and not _NEGATIONS.search(sentence)
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", plain(answer))
    )


def always_yes(answer: str, fact: str) -> bool:
    return True


def first_sentence(answer: str, fact: str) -> bool:
    first = re.split(r"(?<=[.!?])\s|\n", answer)[0]
    return sound(first, fact) if plain(fact) in FIRST else sound(first, FIRST[0])


def ignores_numbers(answer: str, fact: str) -> bool:
    return sound(_without_numbers(answer), _without_numbers(fact))


def prefers_length(answer: str, fact: str) -> bool:
    return len(answer) >= LONG


def at_random(answer: str, fact: str) -> bool:
    chance = hashlib.sha256(f"{answer}\n{fact}".encode()).digest()[0] / 256
    return sound(answer, fact) != (chance < 0.2)


FIRST: Final = ("within 30 days",)
"""Facts that stand in a first sentence."""


def plain(text: str) -> str:
    return " ".join(re.sub(r"[*_#]", "", text).split()).casefold()


def _without_numbers(text: str) -> str:
    units = r"\b(?:minutes?|hours?|days?|weeks?|months?|years?|euros|dollars|pounds)\b"
    return re.sub(r"\s+", " ", re.sub(rf"\d+|{units}", "#", text))


@contextmanager
def judging(states: Marking) -> Iterator[str]:
    """Run a judge and yield its address."""

    class Handler(JsonHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.send_json(200, chat(_marks(self.received(), states), "faulty", (10, 5)))

        def do_GET(self) -> None:
            self.send_error(404)

    with serving(Handler) as server:
        yield server.url


def _marks(request: dict[str, Any], states: Marking) -> str:
    system, user = (message["content"] for message in request["messages"][:2])
    (fence,) = re.findall(r"<NAME_(\w+)>", system)[:1]
    answer = re.findall(rf"<answer_{fence}>\n(.*?)\n?</answer_{fence}>", user, re.DOTALL)[0]
    criteria = user.partition("Criteria:\n")[2]
    facts = re.findall(r'^(c\d+): "satisfied" is .*\n +States "(.*)"', criteria, re.MULTILINE)
    banned = re.findall(r'^(c\d+): .*\n +Does not \w+ "?(.*?)"?$', criteria, re.MULTILINE)
    return json.dumps(
        {
            alias: {
                "evidence": _quote(answer, fact),
                "reasoning": "as it is",
                "satisfied": states(answer, fact),
            }
            for alias, fact in facts
        }
        | {
            alias: {
                "evidence": "",
                "reasoning": "as it is",
                "satisfied": states is always_yes or not states(answer, fact),
            }
            for alias, fact in banned
        }
    )


def _quote(answer: str, fact: str) -> str:
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", answer):
        if fact.casefold() in sentence.casefold():
            return sentence.strip()
    return ""
