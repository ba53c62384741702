"""A server of one tool in the Model Context Protocol: over standard input and output, or HTTP."""

import json
import sys
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

TOOL: Final = {
    "name": "price",
    "description": "The price of an article.",
    "inputSchema": {"type": "object", "properties": {"article": {"type": "string"}}},
}


def reply(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request."""
    match method:
        case "initialize":
            about = {"name": "shop", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            text = f"{params['arguments'].get('article')}: 4"
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return {}


def answer(line: str | bytes) -> str:
    """Return the reply to a message; "" for a notification."""
    asked = json.loads(line)
    if "id" not in asked:
        return ""
    result = reply(asked["method"], asked.get("params", {}))
    return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result})


class OverHttp(BaseHTTPRequestHandler):
    """Answers who sends the header `X-Shop`."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Have no stream."""
        self._send(405, "")

    def do_POST(self) -> None:
        """Answer a message."""
        text = answer(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["X-Shop"] != "tea":
            self._send(403, "")
        else:
            self._send(200 if text else 202, text)

    def _send(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def main() -> None:
    """Answer each line that is a request."""
    for line in sys.stdin:
        if said := answer(line):
            sys.stdout.write(f"{said}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
