"""From checked data to an `EvalFile`: here all sugar dies.

Aliases become canonical names, strings become messages and criteria, maps become lists, and what
a case inherits from its suite is put into the case. The data has passed every check, so nothing
is checked again.
"""

from typing import Any

from rubric_ci.model.diagnostic import Span
from rubric_ci.model.evals import EvalCase, EvalFile
from rubric_ci.model.references import Lookup
from rubric_ci.source.parsing.evaluators import case_evaluators
from rubric_ci.source.parsing.messages import read_messages
from rubric_ci.source.parsing.used import UsedFiles
from rubric_ci.source.text.opening import Source


def parse(source: Source, lookup: Lookup) -> EvalFile:
    """Return the cases of a checked eval file."""
    suite = source.data
    stem = source.file.rsplit("/", 1)[-1].rsplit(".", 1)[0].removesuffix(".eval")
    return EvalFile(
        path=source.file,
        dataset=suite.get("dataset", stem),
        description=suite.get("description", ""),
        cases=tuple(_case(source, lookup, index) for index in range(len(suite["evalcases"]))),
    )


def _case(source: Source, lookup: Lookup, index: int) -> EvalCase:
    suite, path = source.data, ("evalcases", index)
    case = suite["evalcases"][index]
    files = UsedFiles(lookup)
    question = case.get("input_messages", case.get("input"))
    reference = case.get("expected_messages", case.get("expected_output", []))
    return EvalCase(
        id=case["id"],
        file=source.file,
        span=Span(*source.locate((*path, "id"))),
        expected_outcome=case.get("expected_outcome", case.get("outcome", "")),
        input_messages=read_messages(question, "user", files),
        expected_messages=read_messages(reference, "assistant", files),
        evaluators=case_evaluators(source, path, files),
        target=_target(case) or _target(suite),
        tags=tuple(case.get("tags", ())),
        conversation_id=case.get("conversation_id", ""),
        note=_note(case),
        metadata=case.get("metadata", {}),
        depends_on=(*suite.get("depends_on", ()), *case.get("depends_on", ())),
        references=files.paths(),
    )


def _target(owner: dict[str, Any]) -> str:
    return str(owner.get("execution", {}).get("target", owner.get("target", "")))


def _note(case: dict[str, Any]) -> str:
    notes = case.get("notes", "")
    lines = [
        case.get("description", ""),
        case.get("note", ""),
        *([notes] if isinstance(notes, str) else notes),
    ]
    return "\n".join(line for line in lines if line)
