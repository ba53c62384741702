"""A server of one tool, in the Model Context Protocol over standard input and output."""

import json
import sys
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
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            text = f"{params['arguments'].get('article')}: 4"
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return {}


def main() -> None:
    """Answer each line that is a request."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            result = reply(asked["method"], asked.get("params", {}))
            said = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
            sys.stdout.write(f"{json.dumps(said)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
