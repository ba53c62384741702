"""One conversation as each tool exports it: a question, a call of a tool, the answer, feedback."""

import csv
import json
from io import StringIO
from typing import Any

QUESTION, ANSWER = "When does order 7 arrive?", "It arrives on Friday."
SYSTEM = "You help customers."
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"order": 7}'}}
RESULT = '{"day": "Friday"}'
ASKED: list[dict[str, Any]] = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": QUESTION},
]
CALLED: list[dict[str, Any]] = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": RESULT},
]
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
ROOT, MODEL, TOOL = "00f067aa0ba902b7", "00f067aa0ba902b8", "00f067aa0ba902b9"
TIMES = [f"2026-11-01T10:00:0{second}+00:00" for second in range(4)]
NANOS = [str(1_793_527_200_000_000_000 + second * 10**9) for second in range(4)]


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def parts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages as the GenAI conventions have them."""
    found = []
    for each in messages:
        text = [{"type": "text", "content": each["content"]}] if each["content"] else []
        if each["role"] == "tool":
            text = [{"type": "tool_call_response", "id": "c1", "response": each["content"]}]
        calls = [
            {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"order": 7}}
            for _ in each.get("tool_calls", ())
        ]
        found.append({"role": each["role"], "parts": [*text, *calls]})
    return found


def any_value(value: Any) -> dict[str, Any]:
    match value:
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": list(map(any_value, value))}}
        case dict():
            return {"kvlistValue": {"values": attributes(value)}}
    return {}


def attributes(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in found.items()]


def otlp_span(
    identity: str, parent: str, number: int, found: dict[str, Any], **more: Any
) -> dict[str, Any]:
    span = {
        "traceId": TRACE,
        "spanId": identity,
        "parentSpanId": parent,
        "name": "work",
        "startTimeUnixNano": NANOS[number],
        "endTimeUnixNano": NANOS[number + 1],
        "attributes": attributes(found),
        "status": {},
        **more,
    }
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [span]}]}]}


def otlp_log(identity: str, name: str, found: dict[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = {"traceId": TRACE, "spanId": identity, "eventName": name}
    record |= {"attributes": attributes(found), "body": {}}
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


USAGE = {"gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 9}
EVALUATION = {
    "gen_ai.evaluation.name": "thumb",
    "gen_ai.evaluation.score.label": "up",
    "gen_ai.evaluation.explanation": "Quick!",
}
TOOL_FACTS = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}


def otlp_with_attributes() -> str:
    """Messages as attributes of the span, as JSON; a result of an evaluation as its event."""
    chat = {
        "gen_ai.operation.name": "chat",
        **USAGE,
        "gen_ai.input.messages": json.dumps(parts([*ASKED, *CALLED])),
        "gen_ai.output.messages": json.dumps(parts([{"role": "assistant", "content": ANSWER}])),
    }
    tool = {
        **TOOL_FACTS,
        "gen_ai.tool.call.arguments": '{"order": 7}',
        "gen_ai.tool.call.result": RESULT,
    }
    event = {"name": "gen_ai.evaluation.result", "attributes": attributes(EVALUATION)}
    return lines(
        otlp_span(TOOL, ROOT, 1, tool),
        otlp_span(MODEL, ROOT, 2, chat),
        otlp_span(ROOT, "", 0, {"http.route": "/chat", "user.id": "u1"}, events=[event]),
    )


def otlp_with_events() -> str:
    """Messages in log records of the span, structured; the evaluation is a log record as well."""
    details = {
        "gen_ai.system_instructions": [{"type": "text", "content": SYSTEM}],
        "gen_ai.input.messages": parts([ASKED[1], *CALLED]),
        "gen_ai.output.messages": parts([{"role": "assistant", "content": ANSWER}]),
    }
    return lines(
        otlp_log(MODEL, "gen_ai.client.inference.operation.details", details),
        otlp_log(ROOT, "gen_ai.evaluation.result", EVALUATION),
        otlp_span(TOOL, ROOT, 1, TOOL_FACTS),  # without content
        otlp_span(MODEL, ROOT, 2, {"gen_ai.operation.name": "chat", **USAGE}),
        otlp_span(ROOT, "", 0, {"user.id": "u1"}),
    )


def otlp_with_old_events() -> str:
    """Messages as events of spans, as conventions before 1.37 and Strands Agents have them."""

    def event(name: str, **found: Any) -> dict[str, Any]:
        written = {key: json.dumps(each) for key, each in found.items()}
        return {"name": f"gen_ai.{name}", "attributes": attributes(written)}

    call = [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {"order": 7}}}]
    result = [{"toolResult": {"toolUseId": "c1", "content": [{"text": RESULT}]}}]
    asked = [
        event("system.message", content=[{"text": SYSTEM}]),
        event("user.message", content=[{"text": QUESTION}]),
    ]
    choice = event("choice", message=[{"text": ANSWER}])
    called = [event("assistant.message", content=call), event("tool.message", content=result)]
    done = [
        event("tool.message", content={"order": 7}),
        event("choice", message=[{"text": RESULT}]),
    ]
    chat = {"gen_ai.operation.name": "chat", **USAGE}
    return lines(
        otlp_log(ROOT, "gen_ai.evaluation.result", EVALUATION),
        otlp_span(TOOL, ROOT, 1, TOOL_FACTS, events=done),
        otlp_span(MODEL, ROOT, 2, chat, events=[*asked, *called, choice]),
        otlp_span(ROOT, "", 0, {}, events=[*asked, choice]),
    )


def otlp_with_old_logs() -> str:
    """A log record for each message, with its content in the body."""

    def record(name: str, **found: Any) -> dict[str, Any]:
        export = otlp_log(MODEL, f"gen_ai.{name}", {})
        export["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["body"] = any_value(found)
        return export

    message = {"role": "assistant", "content": ANSWER}
    return lines(
        record("system.message", content=SYSTEM),
        record("user.message", content=QUESTION),
        record("assistant.message", tool_calls=[CALL]),
        record("tool.message", id="c1", content=RESULT),
        record("choice", index=0, finish_reason="stop", message=message),
        otlp_log(ROOT, "gen_ai.evaluation.result", EVALUATION),
        otlp_span(MODEL, ROOT, 2, {"gen_ai.operation.name": "chat", **USAGE}),
        otlp_span(ROOT, "", 0, {}),
    )


def langfuse_download() -> str:
    """A trace as the page downloads it: one JSON text over many lines."""
    trace = {
        "id": TRACE,
        "name": "work",
        "timestamp": TIMES[0],
        "userId": "u1",
        "input": {"messages": ASKED},
        "output": ANSWER,
        "tags": [],
        "latency": 1,
        "scores": [
            {"id": "s1", "name": "thumb", "value": 1, "stringValue": "up", "comment": "Quick!"}
        ],
        "observations": [
            {
                "id": TOOL,
                "traceId": TRACE,
                "type": "TOOL",
                "name": "find",
                "parentObservationId": None,
                "input": {"order": 7},
                "output": RESULT,
                "startTime": TIMES[1],
                "endTime": TIMES[2],
            },
            {
                "id": MODEL,
                "traceId": TRACE,
                "type": "GENERATION",
                "name": "chat",
                "parentObservationId": None,
                "input": [*ASKED, *CALLED],
                "output": {"role": "assistant", "content": ANSWER},
                "startTime": TIMES[2],
                "usageDetails": {"input": 20, "output": 9},
            },
        ],
    }
    return json.dumps(trace, indent=2)


def langfuse_rows() -> str:
    """Rows of blob storage: observations with texts, and scores."""
    row = {"trace_id": TRACE, "user_id": "u1", "trace_name": "work", "level": "DEFAULT"}
    return lines(
        {
            **row,
            "id": ROOT,
            "type": "AGENT",
            "name": "work",
            "parent_observation_id": "",
            "input": json.dumps({"messages": ASKED}),
            "output": ANSWER,
            "start_time": TIMES[0],
            "end_time": TIMES[1],
        },
        {
            **row,
            "id": TOOL,
            "type": "TOOL",
            "name": "find",
            "parent_observation_id": ROOT,
            "input": '{"order": 7}',
            "output": RESULT,
            "start_time": TIMES[1],
            "end_time": TIMES[2],
        },
        {
            **row,
            "id": MODEL,
            "type": "GENERATION",
            "name": "c",
            "parent_observation_id": ROOT,
            "input": json.dumps([*ASKED, *CALLED]),
            "output": ANSWER,
            "start_time": TIMES[2],
            "usage_details": {"input": 20, "output": 9, "total": 29},
        },
        {
            "id": "s1",
            "trace_id": TRACE,
            "observation_id": "",
            "name": "thumb",
            "value": 1,
            "string_value": "up",
            "comment": "Quick!",
            "data_type": "CATEGORICAL",
        },
    )


def langfuse_export() -> str:
    """Observations as the button *Export* of the table gives them, with scores as columns."""
    found = []
    for each in langfuse_rows().splitlines()[:3]:
        row = {camel(key): value for key, value in json.loads(each).items()}
        if row["id"] == MODEL:
            row["input"] = json.loads(row["input"])
        said = {"content": "Quick!", "author_email": None}
        scores = {"thumb": ["up"], "comments": [said]} if row["id"] == ROOT else {"thumb": None}
        found.append({**row, "usageDetails": row.get("usageDetails", {}), "comments": [], **scores})
    return json.dumps(found)


def langfuse_traces() -> str:
    """A trace of the same export, which has no observations."""
    trace = {
        "id": TRACE,
        "timestamp": TIMES[0],
        "name": "work",
        "userId": "u1",
        "bookmarked": False,
    }
    asked = {"input": {"messages": ASKED}, "output": ANSWER, "metadata": {}}
    return json.dumps([{**trace, **asked, "tags": ["beta"], "comments": [], "Is good": [0.5]}])


def camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(each.title() for each in others)


def as_table(text: str) -> str:
    """The rows of an export as CSV, in the way of Langfuse: every value that is no text is JSON."""
    rows = json.loads(text)
    written = StringIO()
    table = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table.writerow(columns)
    for row in rows:
        values = [row.get(key) for key in columns]
        cells = ("" if v is None else v if isinstance(v, str) else json.dumps(v) for v in values)
        table.writerow(cells)
    return written.getvalue()


def langsmith_runs() -> str:
    run: dict[str, Any] = {"trace_id": TRACE, "tags": [], "error": None}
    return lines(
        {
            **run,
            "id": ROOT,
            "parent_run_id": None,
            "run_type": "chain",
            "name": "work",
            "inputs": {"messages": ASKED},
            "outputs": {"output": ANSWER},
            "start_time": TIMES[0],
            "end_time": TIMES[1],
            "extra": {"metadata": {"user_id": "u1"}},
        },
        {
            **run,
            "id": TOOL,
            "parent_run_id": ROOT,
            "run_type": "tool",
            "name": "find",
            "inputs": {"order": 7},
            "outputs": {"output": RESULT},
            "start_time": TIMES[1],
            "end_time": TIMES[2],
        },
        {
            **run,
            "id": MODEL,
            "parent_run_id": ROOT,
            "run_type": "llm",
            "name": "ChatOpenAI",
            "inputs": {"messages": [[langchain(each) for each in [*ASKED, *CALLED]]]},
            "outputs": {
                "generations": [[{"text": ANSWER, "message": langchain(CALLED[0], ANSWER)}]]
            },
            "prompt_tokens": 20,
            "completion_tokens": 9,
            "start_time": TIMES[2],
        },
        {"id": "f1", "run_id": ROOT, "key": "thumb", "value": "up", "comment": "Quick!"},
    )


def langchain(message: dict[str, Any], text: str = "") -> dict[str, Any]:
    """A message as LangChain serializes it."""
    names = {"system": "System", "user": "Human", "assistant": "AI", "tool": "Tool"}
    facts: dict[str, Any] = {"content": text or message["content"] or ""}
    if "tool_calls" in message and not text:
        facts["tool_calls"] = [{"name": "find", "args": {"order": 7}, "id": "c1"}]
    if "tool_call_id" in message:
        facts["tool_call_id"] = "c1"
    name = f"{names[message['role']]}Message"
    of_class = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": of_class, "kwargs": facts}


def phoenix_spans() -> str:
    """Spans as the client has them, with flat attributes, and an annotation."""
    span = {"status_code": "OK", "status_message": "", "events": []}
    flat: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.token_count.prompt": 20}
    flat["llm.token_count.completion"] = 9
    for side, said in (
        ("input", [*ASKED, *CALLED]),
        ("output", [{"role": "assistant", "content": ANSWER}]),
    ):
        for number, each in enumerate(said):
            place = f"llm.{side}_messages.{number}.message"
            flat[f"{place}.role"] = each["role"]
            if each["content"]:
                flat[f"{place}.content"] = each["content"]
            if "tool_call_id" in each:
                flat[f"{place}.tool_call_id"] = "c1"
            for _ in each.get("tool_calls", ()):
                call = f"{place}.tool_calls.0.tool_call"
                flat |= {f"{call}.id": "c1", f"{call}.function.name": "find"}
                flat[f"{call}.function.arguments"] = '{"order": 7}'
    return lines(
        {
            **span,
            "name": "find",
            "context": {"trace_id": TRACE, "span_id": TOOL},
            "span_kind": "TOOL",
            "parent_id": ROOT,
            "attributes": {"input.value": '{"order": 7}', "output.value": RESULT},
            "start_time": TIMES[1],
            "end_time": TIMES[2],
        },
        {
            **span,
            "name": "chat",
            "context": {"trace_id": TRACE, "span_id": MODEL},
            "span_kind": "LLM",
            "parent_id": ROOT,
            "attributes": flat,
            "start_time": TIMES[2],
            "end_time": TIMES[3],
        },
        {
            **span,
            "name": "work",
            "context": {"trace_id": TRACE, "span_id": ROOT},
            "span_kind": "CHAIN",
            "parent_id": None,
            "attributes": {"user.id": "u1"},
            "start_time": TIMES[0],
            "end_time": TIMES[1],
        },
        {
            "name": "thumb",
            "annotator_kind": "HUMAN",
            "span_id": ROOT,
            "result": {"label": "up", "score": 1, "explanation": "Quick!"},
        },
    )


ANNOTATIONS = {
    "annotations.0.annotation.name": "thumb",
    "annotations.0.annotation.annotator_kind": "HUMAN",
    "annotations.0.annotation.label": "up",
    "annotations.0.annotation.score": 1.0,
    "annotations.0.annotation.explanation": "Quick!",
}


def phoenix_download() -> str:
    """Spans as the page downloads them: annotations are attributes."""
    spans = [json.loads(each) for each in phoenix_spans().splitlines()[:3]]
    spans[-1]["attributes"] |= ANNOTATIONS
    return lines(*spans)


def phoenix_otlp() -> str:
    """The same spans as *OTLP JSON*: the names of its protocol buffers, unlike OTLP's."""
    found = []
    for number, line in enumerate(phoenix_download().splitlines()):
        span = json.loads(line)
        given = {"openinference.span.kind": span["span_kind"], **span["attributes"]}
        start = (1, 2, 0)[number]
        found.append(
            {
                "trace_id": TRACE,
                "span_id": span["context"]["span_id"],
                "parent_span_id": span["parent_id"],
                "name": span["name"],
                "start_time_unix_nano": int(NANOS[start]),
                "end_time_unix_nano": int(NANOS[start + 1]),
                "attributes": [
                    {"key": key, "value": {value_key(each): each}} for key, each in given.items()
                ],
                "status": {"code": 1},
            }
        )
    return json.dumps({"resource_spans": [{"scope_spans": [{"spans": found}]}]})


def value_key(each: Any) -> str:
    return {str: "string_value", int: "int_value", float: "double_value"}[type(each)]


LABEL = {"name": "tone", "label": "warm", "score": 1, "explanation": "Kind"}
RUN = {
    "example_id": "i1",
    "repetition_number": 1,
    "input": {"question": "Hi?"},
    "reference_output": {"answer": "Hello"},
    "output": "Hey",
    "error": None,
    "latency_ms": 12.5,
    "trace_id": None,
    "prompt_token_count": 3,
    "completion_token_count": 2,
}


def phoenix_experiment() -> str:
    """A run of an experiment, with its annotations."""
    return json.dumps([{**RUN, "annotations": [LABEL]}])


def phoenix_frame() -> str:
    """Rows of a data frame, with columns `attributes.…`."""
    found = []
    for line in phoenix_spans().splitlines():
        span = json.loads(line)
        if "context" not in span:
            found.append(span)
            continue
        context = span.pop("context")
        given = span.pop("attributes")
        chats: dict[str, Any] = {}
        if span["span_kind"] == "LLM":
            given = {key: each for key, each in given.items() if "_messages" not in key}
            chats = {
                "llm.input_messages": [openinference(each) for each in [*ASKED, *CALLED]],
                "llm.output_messages": [openinference({"role": "assistant", "content": ANSWER})],
            }
        columns = {f"attributes.{key}": each for key, each in {**given, **chats}.items()}
        ids = {f"context.{key}": each for key, each in context.items()}
        found.append({**span, **ids, **columns, "attributes.llm.prompts": None})
    return lines(*found)


def openinference(message: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"message.role": message["role"]}
    if message["content"]:
        facts["message.content"] = message["content"]
    if "tool_call_id" in message:
        facts["message.tool_call_id"] = "c1"
    if "tool_calls" in message:
        call = {"tool_call.id": "c1", "tool_call.function.name": "find"}
        call["tool_call.function.arguments"] = '{"order": 7}'
        facts["message.tool_calls"] = [call]
    return facts


def braintrust_rows() -> str:
    row = {"root_span_id": TRACE, "project_id": "p", "created": TIMES[0]}
    return json.dumps(
        {
            "events": [
                {
                    **row,
                    "id": "r1",
                    "span_id": ROOT,
                    "span_parents": None,
                    "input": ASKED,
                    "output": ANSWER,
                    "span_attributes": {"name": "work", "type": "task"},
                    "metrics": {"start": 1.0, "end": 2.0},
                    "metadata": {"user_id": "u1"},
                },
                {
                    **row,
                    "id": "r2",
                    "span_id": TOOL,
                    "span_parents": [ROOT],
                    "input": {"order": 7},
                    "output": json.loads(RESULT),
                    "span_attributes": {"name": "find", "type": "tool"},
                    "metrics": {"start": 2.0, "end": 3.0},
                },
                {
                    **row,
                    "id": "r3",
                    "span_id": MODEL,
                    "span_parents": [ROOT],
                    "input": [*ASKED, *CALLED],
                    "output": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}],
                    "span_attributes": {"name": "chat", "type": "llm"},
                    "metrics": {"start": 3.0, "prompt_tokens": 20, "completion_tokens": 9},
                },
                {
                    **row,
                    "id": "r4",
                    "span_id": "e1",
                    "span_parents": [ROOT],
                    "input": "Good?",
                    "output": "Y",
                    "span_attributes": {"name": "judge", "type": "score"},
                },
                {"id": "r5", "origin": {"id": "r1"}, "comment": {"text": "Quick!"}},
            ]
        },
        indent=1,
    )
