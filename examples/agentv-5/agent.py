"""Stands in for an agent: looks orders up, and knows the opening hours."""

import json
import sys
from pathlib import Path

question, answer = map(Path, sys.argv[1:])
asked = question.read_text(encoding="utf-8")
calls = []
if "4711" in asked:
    calls = [
        {"tool": "find_order", "input": {"number": 4711, "detail": True}},
        {"tool": "track", "input": {"parcel": "X1"}},
    ]
    text = "Order 4711 arrives tomorrow."
elif "open" in asked:
    text = "Bike House is open from 9 to 18 on weekdays."
else:
    text = "You can return a bike within 30 days."
message = {"role": "assistant", "content": text, "tool_calls": calls}
answer.write_text(json.dumps({"text": text, "output_messages": [message]}), encoding="utf-8")
