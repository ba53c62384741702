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


def records(columns: str, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return a record for each row; a row may end before the last columns, which it then lacks."""
    return [dict(zip(columns.split(), row, strict=False)) for row in rows]


def langfuse_download() -> str:
    """A trace as the page downloads it: one JSON text over many lines."""
    scores = records("id name value stringValue comment", ("s1", "thumb", 1, "up", "Quick!"))
    said = {"role": "assistant", "content": ANSWER}
    observations = records(
        "id type name input output startTime endTime",
        (TOOL, "TOOL", "find", {"order": 7}, RESULT, *TIMES[1:3]),
        (MODEL, "GENERATION", "chat", [*ASKED, *CALLED], said, TIMES[2]),
    )
    observations[1]["usageDetails"] = {"input": 20, "output": 9}
    (trace,) = records(
        "id name timestamp userId input output tags latency scores",
        (TRACE, "work", TIMES[0], "u1", {"messages": ASKED}, ANSWER, [], 1, scores),
    )
    below = {"traceId": TRACE, "parentObservationId": None}
    trace["observations"] = [{**below, **each} for each in observations]
    return json.dumps(trace, indent=2)


def langfuse_rows() -> str:
    """Rows of blob storage: observations with texts, and scores."""
    shared = {"trace_id": TRACE, "user_id": "u1", "trace_name": "work", "level": "DEFAULT"}
    asked, called = json.dumps({"messages": ASKED}), json.dumps([*ASKED, *CALLED])
    observations = records(
        "id type name parent_observation_id input output start_time end_time",
        (ROOT, "AGENT", "work", "", asked, ANSWER, *TIMES[:2]),
        (TOOL, "TOOL", "find", ROOT, '{"order": 7}', RESULT, *TIMES[1:3]),
        (MODEL, "GENERATION", "c", ROOT, called, ANSWER, TIMES[2]),
    )
    observations[2]["usage_details"] = {"input": 20, "output": 9, "total": 29}
    scores = records(
        "id trace_id observation_id name value string_value comment data_type",
        ("s1", TRACE, "", "thumb", 1, "up", "Quick!", "CATEGORICAL"),
    )
    return lines(*({**shared, **each} for each in observations), *scores)


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
    (trace,) = records(
        "id timestamp name userId bookmarked input output metadata tags comments",
        (TRACE, TIMES[0], "work", "u1", False, {"messages": ASKED}, ANSWER, {}, ["beta"], []),
    )
    return json.dumps([{**trace, "Is good": [0.5]}])


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
    shared: dict[str, Any] = {"trace_id": TRACE, "tags": [], "error": None}
    given = {"messages": [[langchain(each) for each in [*ASKED, *CALLED]]]}
    made = {"generations": [[{"text": ANSWER, "message": langchain(CALLED[0], ANSWER)}]]}
    root, tool, model = records(
        "id parent_run_id run_type name inputs outputs start_time end_time",
        (ROOT, None, "chain", "work", {"messages": ASKED}, {"output": ANSWER}, *TIMES[:2]),
        (TOOL, ROOT, "tool", "find", {"order": 7}, {"output": RESULT}, *TIMES[1:3]),
        (MODEL, ROOT, "llm", "ChatOpenAI", given, made, TIMES[2]),
    )
    root["extra"] = {"metadata": {"user_id": "u1"}}
    model |= {"prompt_tokens": 20, "completion_tokens": 9}
    feedback = {"id": "f1", "run_id": ROOT, "key": "thumb", "value": "up", "comment": "Quick!"}
    return lines(*({**shared, **each} for each in (root, tool, model)), feedback)


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
    shared = {"status_code": "OK", "status_message": "", "events": []}
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
    found = {"input.value": '{"order": 7}', "output.value": RESULT}
    context = {each: {"trace_id": TRACE, "span_id": each} for each in (TOOL, MODEL, ROOT)}
    spans = records(
        "name context span_kind parent_id attributes start_time end_time",
        ("find", context[TOOL], "TOOL", ROOT, found, *TIMES[1:3]),
        ("chat", context[MODEL], "LLM", ROOT, flat, *TIMES[2:4]),
        ("work", context[ROOT], "CHAIN", None, {"user.id": "u1"}, *TIMES[:2]),
    )
    result = {"label": "up", "score": 1, "explanation": "Quick!"}
    annotation = {"name": "thumb", "annotator_kind": "HUMAN", "span_id": ROOT, "result": result}
    return lines(*({**shared, **each} for each in spans), annotation)


def phoenix_download() -> str:
    """Spans as the page downloads them: annotations are attributes."""
    spans = [json.loads(each) for each in phoenix_spans().splitlines()[:3]]
    (annotation,) = records(
        "name annotator_kind label score explanation", ("thumb", "HUMAN", "up", 1.0, "Quick!")
    )
    for key, value in annotation.items():
        spans[-1]["attributes"][f"annotations.0.annotation.{key}"] = value
    return lines(*spans)


def phoenix_otlp() -> str:
    """The same spans as *OTLP JSON*: the names of its protocol buffers, unlike OTLP's."""
    names = {str: "string_value", int: "int_value", float: "double_value"}
    found = []
    for start, line in zip((1, 2, 0), phoenix_download().splitlines(), strict=True):
        span = json.loads(line)
        given = {"openinference.span.kind": span["span_kind"], **span["attributes"]}
        listed = [{"key": key, "value": {names[type(each)]: each}} for key, each in given.items()]
        identity = (TRACE, span["context"]["span_id"], span["parent_id"], span["name"])
        columns = "trace_id span_id parent_span_id name start_time_unix_nano end_time_unix_nano"
        times = (int(NANOS[start]), int(NANOS[start + 1]))
        (record,) = records(
            f"{columns} attributes status", (*identity, *times, listed, {"code": 1})
        )
        found.append(record)
    return json.dumps({"resource_spans": [{"scope_spans": [{"spans": found}]}]})


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
    shared = {"root_span_id": TRACE, "project_id": "p", "created": TIMES[0]}
    said = [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}]
    found = {"start": 3.0, "prompt_tokens": 20, "completion_tokens": 9}
    kinds = {ROOT: ("work", "task"), TOOL: ("find", "tool"), MODEL: ("chat", "llm")}
    kinds["e1"] = ("judge", "score")
    spans = records(
        "id span_id span_parents input output metrics metadata",
        ("r1", ROOT, None, ASKED, ANSWER, {"start": 1.0, "end": 2.0}, {"user_id": "u1"}),
        ("r2", TOOL, [ROOT], {"order": 7}, json.loads(RESULT), {"start": 2.0, "end": 3.0}),
        ("r3", MODEL, [ROOT], [*ASKED, *CALLED], said, found),
        ("r4", "e1", [ROOT], "Good?", "Y"),
    )
    for span in spans:
        name, kind = kinds[span["span_id"]]
        span |= {**shared, "span_attributes": {"name": name, "type": kind}}
    comment = {"id": "r5", "origin": {"id": "r1"}, "comment": {"text": "Quick!"}}
    return json.dumps({"events": [*spans, comment]}, indent=1)
