"""A model server that takes a fixed time for every reply, in a separate process.

It speaks OpenAI's chat format, whole or streamed, and answers in the form that each tool's prompt
asks for. `GET /stats` tells when it was first asked for one, how many it gave and how many were in
flight at once.

    python server.py PORT SECONDS
"""

import asyncio
import json
import re
import sys
import time
from typing import Any

STATS: dict[str, float] = {"requests": 0, "in_flight": 0, "most_in_flight": 0, "first": 0}
ROUNDED = {"satisfied": True, "score": 9, "level": 3}


async def main(port: int, seconds: float) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await exchange(reader, writer, seconds):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", port, backlog=1024)
    async with server:
        await server.serve_forever()


async def exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float
) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"(?i)^content-length: *(\d+)", head, re.MULTILINE)
    body = await reader.readexactly(int(length[1])) if length else b""
    if head.startswith("GET /stats"):
        writer.write(response(json.dumps(STATS).encode()))
    elif head.startswith("GET"):
        writer.write(response(b'{"object": "list", "data": []}'))
    else:
        writer.write(await completion(json.loads(body), seconds))
    await writer.drain()
    return "connection: close" not in head.lower()


async def completion(request: dict[str, Any], seconds: float) -> bytes:
    STATS["first"] = STATS["first"] or time.time()
    STATS["requests"] += 1
    STATS["in_flight"] += 1
    STATS["most_in_flight"] = max(STATS["most_in_flight"], STATS["in_flight"])
    await asyncio.sleep(seconds)
    STATS["in_flight"] -= 1
    text = reply(request)
    return streamed(text) if request.get("stream") else response(whole(text))


def reply(request: dict[str, Any]) -> str:
    """Say what the asking tool can use: ours by alias, the others a mark under several names.

    A prompt with `BREAK` has the answer `BROKEN`, which meets no checklist criterion.
    """
    prompt = json.dumps(request["messages"])
    good = {**ROUNDED, "satisfied": "BROKEN" not in prompt}
    ours = sorted(set(re.findall(r'(c\d+): \\+"(\w+)\\+" is ', prompt)))
    if ours:
        marks = {a: {"evidence": "", "reasoning": "fine", name: good[name]} for a, name in ours}
        return json.dumps(marks)
    if "BREAK" in prompt:
        return "BROKEN"
    ids = re.findall(r"criterion-\d", prompt)
    checks = [{"id": i, "satisfied": True, "reasoning": "fine"} for i in dict.fromkeys(ids)]
    return json.dumps(
        {"pass": True, "score": 1, "reason": "fine", "checks": checks, "overall_reasoning": "fine"}
    )


def whole(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    facts = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-6-luna"}
    return json.dumps({**facts, "choices": [choice], "usage": usage}).encode()


def streamed(text: str) -> bytes:
    facts = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-6-luna"}
    first = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    chunks = [{"choices": [first]}, {"choices": [last]}, {"choices": [], "usage": usage}]
    lines = [json.dumps({**facts, **chunk}) for chunk in chunks] + ["[DONE]"]
    return response("".join(f"data: {line}\n\n" for line in lines).encode(), "text/event-stream")


def response(body: bytes, kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
