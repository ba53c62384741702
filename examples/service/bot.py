"""A bot for orders behind HTTP: it keeps a conversation by its session, and calls one tool."""

import argparse
import json
import os
import re
import sqlite3
from pathlib import Path
from urllib.request import urlopen

from aiohttp import web

SESSIONS: dict[str, dict[str, str]] = {}


def look_up(order: str) -> str:
    """Return the state of an order: the tool of the bot."""
    if service := os.environ.get("ORDERS"):  # of more/two-services.yaml
        with urlopen(f"{service}/{order}", timeout=5) as reply:  # noqa: S310 - its own service
            return str(reply.read().decode())
    with sqlite3.connect(":memory:") as database:
        script = Path(__file__).with_name("orders.sql").read_text(encoding="utf-8")
        database.executescript(script)
        row = database.execute("SELECT state FROM orders WHERE id = ?", (order,)).fetchone()
    return row[0] if row else "unknown"


def reply_to(message: str, known: dict[str, str]) -> tuple[str, list[dict[str, object]]]:
    """Return the answer, and the calls of tools; `known` is what the session has said before."""
    if found := re.search(r"\bmy name is (\w+)", message, re.IGNORECASE):
        known["name"] = found[1]
        return f"Hello {found[1]}, how can I help?", []
    if found := re.search(r"\b\d{4}\b", message):
        known["order"] = found[0]
    if "refund" in message.lower():
        return "We refund unused parts within 30 days. We never refund worn parts.", []
    if "order" in message.lower() and "order" in known:
        state = look_up(known["order"])
        call = {"name": "look_up", "arguments": {"order": known["order"]}, "output": state}
        return f"Order {known['order']} is {state}, {known.get('name', 'dear customer')}.", [call]
    return "Which order do you mean?", []


async def chat(request: web.Request) -> web.Response:
    """Answer one message of a session."""
    body = await request.json()
    known = SESSIONS.setdefault(body["session"], {})
    text, calls = reply_to(body["message"], known)
    return web.Response(
        text=json.dumps({"reply": text, "steps": calls}), content_type="application/json"
    )


async def health(_: web.Request) -> web.Response:
    """Say that the bot is ready, with all that it needs."""
    return web.Response(text=f"ready, order 4711 is {look_up('4711')}")


def main() -> None:
    """Listen on the port of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    app = web.Application()
    app.add_routes([web.post("/chat", chat), web.get("/health", health)])
    words = parser.parse_args()
    web.run_app(app, host=words.host, port=words.port, print=None)


if __name__ == "__main__":
    main()
