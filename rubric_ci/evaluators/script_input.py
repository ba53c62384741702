"""Input of scripts: one JSON object about a case and its answer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rubric_ci.model.evals import DataPart, EvalCase, FilePart, Message, Part, TextPart
from rubric_ci.model.json_value import JSON
from rubric_ci.model.results import Answer
from rubric_ci.model.trace import FileChange


def payload(
    case: EvalCase, answer: Answer, config: Mapping[str, JSON], root: Path
) -> dict[str, JSON]:
    """Return the JSON object that every script reads; paths of input files are absolute."""
    parts = (part for each in case.input_messages for part in each.parts)
    files = [p for p in parts if isinstance(p, FilePart) and not p.guideline]
    return {
        "id": case.own_id,
        "question": case.question,
        "expected_outcome": case.expected_outcome,
        "expected_messages": [message(m) for m in case.expected_messages],
        "reference_answer": case.reference_answer,
        "candidate_answer": answer.text,
        "output_messages": [dict(m) for m in answer.messages],
        "guideline_files": [str(root / part.path) for part in case.guidelines],
        "input_files": list(dict.fromkeys(str(root / part.path) for part in files)),
        "input_messages": [message(m) for m in case.input_messages],
        "trace_summary": _with_counts(answer.trace_summary),
        "config": dict(config),
        **_as_agentv(case, answer),
    }


def _as_agentv(case: EvalCase, answer: Answer) -> dict[str, JSON]:
    """Return the same under the names that scripts of AgentV 4 and 5 read."""
    return {
        "criteria": case.expected_outcome,
        "input": [message(m) for m in case.input_messages],
        "expected_output": [message(m) for m in case.expected_messages],
        "output": answer.text,
        "messages": [dict(m) for m in answer.messages],
        "metadata": dict(case.metadata),
        "workspace_path": answer.folder or None,
        "file_changes": _diff(answer.work.changes) if answer.work else None,
    }


def _diff(changes: Sequence[FileChange]) -> str | None:
    """Return the changes as git prints them; None without any."""
    return "\n".join(map(_of_file, changes)) or None


def _of_file(change: FileChange) -> str:
    old, new = f"a/{change.path}", f"b/{change.path}"
    kinds = {"added": "new file mode 100644\n", "deleted": "deleted file mode 100644\n"}
    lines = change.diff.splitlines(keepends=True)[2:]
    before = "/dev/null" if change.kind == "added" else old
    after = "/dev/null" if change.kind == "deleted" else new
    shown = f"--- {before}\n+++ {after}\n{''.join(lines)}" if lines else ""
    return f"diff --git {old} {new}\n{kinds.get(change.kind, '')}{shown}".rstrip("\n")


def message(written: Message) -> dict[str, JSON]:
    """Return a message in the form of eval files: a string stays a string, a list a list."""
    shape: dict[str, JSON] = {"role": written.role, "content": _content(written)}
    if written.name:
        shape["name"] = written.name
    if written.tool_calls:
        shape["tool_calls"] = [dict(call) for call in written.tool_calls]
    return shape


def _with_counts(summary: Mapping[str, JSON] | None) -> JSON:
    """Return a summary with all counts that AgentV's SDK requires; None without a summary."""
    if summary is None:
        return None
    given = summary.get("tool_calls_by_name")
    counts = given if isinstance(given, dict) else {}
    numbers = [count for count in counts.values() if isinstance(count, int)]
    return {
        "event_count": sum(numbers),
        "tool_names": sorted(counts),
        "tool_calls_by_name": counts,
        "error_count": 0,
        **summary,
    }


def _content(written: Message) -> JSON:
    match written.parts:
        case ():
            return ""
        case (TextPart(text),) if not written.in_list:
            return text
        case (DataPart(data),):
            return data
        case parts:
            return [_part(part) for part in parts]


def _part(part: Part) -> JSON:
    match part:
        case TextPart(text):
            return {"type": "text", "value": text}
        case FilePart(path=path, text=text):
            return {"type": "file", "value": path, "text": text}
        case DataPart(data):
            return {"type": "data", "value": data}
