"""A judge over HTTP that reads the answer: a criterion is satisfied if the answer has a word.

The same server answers as other models, where a test gives their answers.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.bodies import chat
from tests.http_server import JsonHandler, serving


@dataclass(slots=True)
class AnswerJudge:
    """The running judge; its attributes are changed between runs."""

    word: str = "hello"
    url: str = ""
    out: bool = False  # an outage: every request fails
    answers: list[str] = field(default_factory=list)  # that it was asked about
    targets: Mapping[str, Callable[[list[str]], str]] = field(default_factory=dict)
    """The answer of a model to the texts of its messages; other models are the judge."""
    asked: list[tuple[str, ...]] = field(default_factory=list)  # of targets: model and texts
    seen: list[str] = field(default_factory=list)  # by the judge: the texts of each request
    models: set[str] = field(default_factory=set)  # as which it was asked

    def reply(self, request: dict[str, Any]) -> str:
        """Answer as a target, or mark every criterion of the request by the word."""
        texts = [str(message["content"]) for message in request["messages"]]
        if answer := self.targets.get(request["model"]):
            self.asked.append((request["model"], *texts))
            return answer(texts)
        self.seen.append("\n".join(texts))
        return self.marks(request)

    def marks(self, request: dict[str, Any]) -> str:
        """Mark every criterion of the request by the word."""
        system, user = (message["content"] for message in request["messages"][:2])
        (fence,) = re.findall(r"<NAME_(\w+)>", system)[:1]
        (answer,) = re.findall(rf"<answer_{fence}>\n(.*?)\n</answer_{fence}>", user, re.DOTALL)
        self.answers.append(answer)
        self.models.add(request["model"])
        satisfied = self.word in answer
        reasoning = "It has the word." if satisfied else "It lacks the word."
        mark = {"evidence": "", "reasoning": reasoning, "satisfied": satisfied}
        aliases = dict.fromkeys(re.findall(r"\bc\d+\b", user.partition("Criteria:\n")[2]))
        return json.dumps(dict.fromkeys(aliases, mark))


@contextmanager
def judging(model: AnswerJudge | None = None) -> Iterator[AnswerJudge]:
    """Run the judge, or another model, in this process, on a free port."""
    judge = model or AnswerJudge()

    class Handler(JsonHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Return the entry of any model."""
            self.send_json(200, {"object": "model"})

        def do_POST(self) -> None:
            request = self.received()
            text = "" if judge.out else judge.reply(request)
            self.send_json(403 if judge.out else 200, chat(text))

    with serving(Handler) as server:
        judge.url = server.url
        yield judge
