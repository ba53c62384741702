"""A model server whose replies say their tokens: in part cached, and in part reasoning.

Each request has 10,000 tokens of input, 9,000 of them cached, and 500 of output, 300 of them
reasoning. The first reply calls a shell, the next one is an answer.
"""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from tests.real_agents.programs import send_events

COMMAND: Final = {"command": "echo a", "description": "x", "is_background": False}
ENDS: Final = {"input_tokens": 10_000, "output_tokens": 500, "total_tokens": 10_500}
RESPONSES: Final = {
    **ENDS,
    "input_tokens_details": {"cached_tokens": 9_000},
    "output_tokens_details": {"reasoning_tokens": 300},
}
CHAT: Final = {
    "prompt_tokens": 10_000,
    "completion_tokens": 500,
    "total_tokens": 10_500,
    "prompt_tokens_details": {"cached_tokens": 9_000},
    "completion_tokens_details": {"reasoning_tokens": 300},
}
GEMINI: Final = {
    "promptTokenCount": 10_000,
    "cachedContentTokenCount": 9_000,
    "candidatesTokenCount": 200,
    "thoughtsTokenCount": 300,
    "totalTokenCount": 10_500,
}


class TokenServer(BaseHTTPRequestHandler):
    """Answers as OpenAI, Anthropic and Gemini do."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """List no models."""
        self._send(b'{"object": "list", "data": []}', "application/json")

    def do_POST(self) -> None:
        """Call a shell, or answer its result."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "/messages" in self.path:
            self._events(self._anthropic(body), named=True)
        elif self.path.endswith("/responses"):
            self._responses(body)
        elif "enerateContent" in self.path:
            self._events([self._gemini(body)])
        else:
            self._chat(body)

    def _responses(self, body: dict[str, Any]) -> None:
        text = {"type": "output_text", "text": "Done.", "annotations": []}
        item = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
        if "function_call_output" not in json.dumps(body["input"]):
            arguments = json.dumps({"cmd": "echo a"})
            item = {"type": "function_call", "id": "f", "call_id": "c", "name": "exec_command"}
            item["arguments"] = arguments
        done = {"type": "response.output_item.done", "item": item}
        send_events(self, [done], status="completed", usage=RESPONSES)

    def _anthropic(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        done = "tool_result" in json.dumps(body["messages"])
        used = {"input_tokens": 1_000, "cache_read_input_tokens": 9_000, "output_tokens": 1}
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "Done."}
        if not done:
            block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(COMMAND)}
        facts = {"id": "m", "type": "message", "role": "assistant", "model": body["model"]}
        return [
            {"type": "message_start", "message": {**facts, "content": [], "usage": used}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn" if done else "tool_use"},
                "usage": {"output_tokens": 500},
            },
            {"type": "message_stop"},
        ]

    def _gemini(self, body: dict[str, Any]) -> dict[str, Any]:
        done = "functionResponse" in json.dumps(body["contents"])
        call = {"functionCall": {"name": "run_shell_command", "args": COMMAND}}
        content = {"role": "model", "parts": [{"text": "Done."} if done else call]}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": GEMINI}

    def _chat(self, body: dict[str, Any]) -> None:
        done = any(message["role"] == "tool" for message in body["messages"])
        tools = [tool.get("function", tool).get("name") for tool in body.get("tools", ())]
        name = next((name for name in ("bash", "run_shell_command") if name in tools), "")
        call = {"name": name, "arguments": json.dumps(COMMAND)}
        delta: dict[str, Any] = {"role": "assistant", "content": "Done."}
        if name and not done:
            calls = [{"index": 0, "id": "c", "type": "function", "function": call}]
            delta = {"role": "assistant", "content": "", "tool_calls": calls}
        facts = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        end = "tool_calls" if "tool_calls" in delta else "stop"
        self._events(
            [
                {**facts, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {**facts, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
                {**facts, "choices": [], "usage": CHAT},
            ]
        )

    def _events(self, events: list[dict[str, Any]], *, named: bool = False) -> None:
        names = [f"event: {event['type']}\n" if named else "" for event in events]
        pairs = zip(names, events, strict=True)
        text = "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in pairs)
        self._send(text.encode(), "text/event-stream")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
