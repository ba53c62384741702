"""The judge of the base and the attacker's, over HTTP; both keep what they were asked."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.http_server import JsonHandler, serving


@dataclass(slots=True)
class Judge:
    """A running judge: it marks each criterion by a word of the answer, or says yes to all."""

    lenient: bool
    url: str = ""
    keys: list[str] = field(default_factory=list)  # the Authorization header of each request
    texts: list[str] = field(default_factory=list)  # path, headers and body of each request

    def reset(self) -> None:
        """Forget what was asked."""
        self.keys.clear()
        self.texts.clear()

    def reply(self, body: str) -> str:
        """Return one mark per criterion; of a question that is not a judge's, a text."""
        messages = [str(each["content"]) for each in json.loads(body)["messages"]]
        if len(messages) < 2 or "Criteria:\n" not in messages[1]:
            return "hello"
        (fence,) = re.findall(r"<NAME_(\w+)>", messages[0])[:1]
        answer = re.findall(rf"<answer_{fence}>\n(.*?)\n</answer_{fence}>", messages[1], re.DOTALL)
        satisfied = self.lenient or "hello" in answer[0]
        asked = re.findall(r'^(c\d+): "(\w+)"', messages[1], re.MULTILINE)
        best = {"satisfied": True, "score": 10, "level": 3}
        worst = {"satisfied": False, "score": 0, "level": 1}
        marks = best if satisfied else worst
        return json.dumps(
            {alias: {"evidence": "", "reasoning": "r", name: marks[name]} for alias, name in asked}
        )


@contextmanager
def judging(*, lenient: bool) -> Iterator[Judge]:
    """Serve on a free port."""
    judge = Judge(lenient=lenient)

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            """Return the entry of any model."""
            judge.texts.append(f"{self.path}\n{self.headers}")
            self.send_json(200, {"object": "model"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            judge.keys.append(str(self.headers["Authorization"]))
            judge.texts.append(f"{self.path}\n{self.headers}\n{body}")
            message = {"role": "assistant", "content": judge.reply(body)}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            self.send_json(200, {"choices": [choice], "usage": usage})

    with serving(Handler) as server:
        judge.url = server.url
        yield judge
