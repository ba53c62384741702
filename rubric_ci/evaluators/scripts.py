"""Scripts that score: a case and its answer on stdin; a score on stdout, or the exit status."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from rubric_ci.errors import CannotRunScript
from rubric_ci.system.processes import Finished, describe_exit, missing_variables, one_line_tail
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON, MAX_DEPTH, depth
from rubric_ci.values.messages import (
    DataPart,
    FilePart,
    MediaPart,
    Message,
    Part,
    TextPart,
    is_input_file,
)
from rubric_ci.values.results import Answer, Assessment
from rubric_ci.values.trace import FileChange

_SHOWN = 300
_REASON_SHOWN = 2000
_TRACEBACK = (
    "stderr contains a Python traceback. If the script itself failed, "
    "make it print a JSON object with `score` and set `score_from: output`."
)
_SCORE = re.compile(r"""["']score["']\s*:""")  # in an object, of JSON or Python
_BY_STATUS = "set `score_from: exit_status` if the exit status is the score"


def payload(
    case: EvalCase, answer: Answer, config: Mapping[str, JSON], root: Path
) -> dict[str, JSON]:
    """Return the JSON object that every script reads; paths of input files are absolute."""
    parts = (part for each in case.input_messages for part in each.parts)
    files = [p for p in parts if is_input_file(p)]
    return {
        "id": case.own_id,
        "question": case.question,
        "expected_outcome": case.expected_outcome,
        "expected_messages": [message(m) for m in case.expected_messages],
        "reference_answer": case.reference_answer,
        "candidate_answer": answer.said,
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
        "output": answer.said,
        "messages": [dict(m) for m in answer.messages],
        "metadata": dict(case.metadata),
        "workspace_path": answer.folder or None,
        "file_changes": _diff(answer.work.changes) if answer.work else None,
    }


def _diff(changes: Sequence[FileChange]) -> str | None:
    """Return the changes as git prints them; None without any."""
    return "\n".join(map(_file_diff, changes)) or None


def _file_diff(change: FileChange) -> str:
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
        case MediaPart(media):
            kind = "image" if media.is_image else "file"
            return {"type": kind, "value": media.path, "media_type": media.type}
        case DataPart(data):
            return {"type": "data", "value": data}


def read_assessment(finished: Finished) -> Assessment:
    """Return the score that a script printed; raises CannotRunScript without one.

    A script that ends with another status than 0 has no score, even if it printed one.
    """
    _check_ran(finished)
    value = _parse(finished.stdout)
    if finished.status != 0:
        hint = "" if isinstance(value, dict) else f"; {_BY_STATUS}"
        raise CannotRunScript(f"the script failed: {describe_exit(finished)}{hint}")
    if not isinstance(value, dict):
        printed = _quoted(finished.stdout) if finished.stdout.strip() else "nothing"
        raise CannotRunScript(
            f"the script printed {printed}; expected one JSON object with `score` (0..1); "
            f"{_BY_STATUS}{_stderr(finished)}"
        )
    return _from_object(value)


def read_status(finished: Finished) -> Assessment:
    """Return 1.0 for status 0, else 0.0; raises CannotRunScript if the script did not run."""
    _check_ran(finished)
    if finished.status == 0:
        return Assessment(score=1.0, reasoning="exit status 0")
    printed = finished.stderr.strip() or finished.stdout.strip()
    return Assessment(
        score=0.0,
        reasoning=printed[-_REASON_SHOWN:] or f"exit status {finished.status}",
        warnings=(_TRACEBACK,) if "Traceback (most recent call last)" in finished.stderr else (),
    )


def read_either(finished: Finished) -> Assessment:
    """Return the printed score, or the score of the exit status if the script prints another text.

    Raises CannotRunScript for a failure with a complaint, or with a printed object, and for an
    object that is not the whole output.
    """
    _check_ran(finished)
    value = _parse(finished.stdout)
    if isinstance(value, dict) and finished.status == 0:
        return _from_object(value)
    like_json = finished.stdout.lstrip().startswith(("{", "["))
    if finished.status != 0 and (like_json or finished.stderr.strip()):
        raise CannotRunScript(f"the script failed: {describe_exit(finished)}")
    if _has_object(finished.stdout):
        raise CannotRunScript(
            f"the script printed {_quoted(finished.stdout)}, which is not one JSON object; print "
            "the object alone, or a text without one"
        )
    return read_status(finished)


def _has_object(printed: str) -> bool:
    """Return True for a text that begins with a brace, ends with an object, or names a score."""
    text = printed.strip()
    _, _, last = f"\n{text}".rpartition("\n")
    _, brace, rest = text.partition("\n{")
    ends = (last, f"{{{rest}" if brace else "")
    ends_with_one = any(isinstance(_parse(each), dict) for each in ends)
    return text.startswith("{") or ends_with_one or bool(_SCORE.search(text))


def unused_score(finished: Finished) -> tuple[str, ...]:
    """Return a warning if a script that is scored by its status printed a score as well."""
    value = _parse(finished.stdout)
    if not isinstance(value, dict) or "score" not in value:
        return ()
    printed = _quoted(finished.stdout)
    unused = f"the script takes a file, so its exit status is the score, and the printed {printed}"
    return (f"{unused} is not used; set `score_from` to `output` or `exit_status`",)


def _check_ran(finished: Finished) -> None:
    """Raise if the script did not run: exit status 126 or 127 of the shell, or a signal."""
    status = finished.status
    if status == 127:
        raise CannotRunScript(f"the script was not found{_stderr(finished)}")
    if status == 126:
        raise CannotRunScript(f"the script is not executable{_stderr(finished)}")
    if status < 0 or 128 < status < 128 + 65:
        signal = -status if status < 0 else status - 128
        raise CannotRunScript(f"the script was killed by signal {signal}{_stderr(finished)}")


def _parse(printed: str) -> JSON:
    try:
        return json.loads(printed, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _from_object(value: dict[str, JSON]) -> Assessment:
    if depth(value) > MAX_DEPTH:
        raise CannotRunScript(f"the script printed JSON of more than {MAX_DEPTH} levels")
    return Assessment(
        score=_score(value),
        reasoning=_reasoning(value),
        hits=(*_texts(value, "hits"), *_asserted(value, passed=True)),
        misses=(*_texts(value, "misses"), *_asserted(value, passed=False)),
        details=value.get("details"),
    )


def _score(value: dict[str, JSON]) -> float:
    found = _assertions(value)
    if "score" not in value and found:
        return sum(_share(each) for each in found) / len(found)
    if "score" not in value and isinstance(value.get("pass"), bool):
        return float(bool(value["pass"]))
    if "score" not in value:
        raise CannotRunScript(f"the script printed no `score`: {_quoted(json.dumps(value))}")
    return _number(value["score"])


def _share(assertion: dict[str, JSON]) -> float:
    """Return the score of an assertion; without one it is 0 or 1."""
    return _number(assertion.get("score", 1 if _passed(assertion) else 0))


def _number(score: JSON) -> float:
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise CannotRunScript(f"`score` must be a number from 0 to 1, not {_quoted(repr(score))}")
    if not 0 <= score <= 1:
        raise CannotRunScript(f"`score` must be from 0 to 1, not {score}")
    return float(score)


def _assertions(value: dict[str, JSON]) -> list[dict[str, JSON]]:
    """Return the criteria that a script of AgentV prints: `text` and `passed`, or in `checks`."""
    key = "assertions" if value.get("assertions") is not None else "checks"
    found = value.get(key)
    if found is None:
        return []
    items = found if isinstance(found, list) else [found]
    if not all(isinstance(each, dict) and isinstance(_passed(each), bool) for each in items):
        word = "passed" if key == "assertions" else "pass"
        raise CannotRunScript(
            f"`{key}` must be a list of `text` and `{word}`, not {_quoted(json.dumps(found))}"
        )
    return [each for each in items if isinstance(each, dict)]


def _passed(assertion: dict[str, JSON]) -> JSON:
    return assertion.get("passed", assertion.get("pass"))


def _asserted(value: dict[str, JSON], *, passed: bool) -> tuple[str, ...]:
    chosen = (each for each in _assertions(value) if _passed(each) is passed)
    return tuple(str(each.get("text", "")) for each in chosen)


def _reasoning(value: dict[str, JSON]) -> str:
    key = "reasoning" if value.get("reasoning") is not None else "reason"
    reasoning = value.get(key)
    if reasoning is None:
        return ""
    if not isinstance(reasoning, str):
        raise CannotRunScript(f"`{key}` must be a string, not {_quoted(json.dumps(reasoning))}")
    return reasoning


def _texts(value: dict[str, JSON], key: str) -> tuple[str, ...]:
    texts = value.get(key)
    if texts is None:
        return ()
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CannotRunScript(
            f"`{key}` must be a list of strings, not {_quoted(json.dumps(texts))}"
        )
    return tuple(texts)


def _stderr(finished: Finished) -> str:
    tail = one_line_tail(finished.stderr)
    shown = f"; stderr: {_quoted(tail)}" if tail else ""
    return f"{missing_variables(finished)}{shown}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= _SHOWN else f"`{line[:_SHOWN]}…`"
