"""Recorded targets, a JSON Lines file of `{"id", "answer"}`, `file` if ids repeat; mock targets."""

import json
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TypeAlias

from rubric_ci.errors import CannotAnswer, CannotReadFile
from rubric_ci.files.yaml_text.jsonlines import normalised, read_recording
from rubric_ci.grading.targets import answer_format, conversation
from rubric_ci.system import file_io
from rubric_ci.text import answer_text
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.references import file_text
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Target

_Recordings: TypeAlias = Mapping[tuple[str, str], Answer]
"""By file and id; the file is empty where the recording names none."""


def answer(case: EvalCase, target: Target, context: RunContext) -> Answer:
    """Return the answer recorded for the case; raises CannotAnswer if there is none."""
    known = context.side.recordings  # a file is read once for a side of a run
    if target.answers not in known:
        known[target.answers] = _read_recordings(target.answers, context)
    recordings = known[target.answers]
    name = case.own_id
    found = recordings.get((normalised(case.file), name)) or recordings.get(("", name))
    if found:
        found = answer_format.with_files(found, partial(content, context=context))
        return conversation.recorded(case, found) if case.most_turns else found
    turns: list[JSON] = ["…"] * len(case.turns)
    if case.simulated_user:
        turns.append({"user": "…", "answer": "…"})
    line = {"id": name, "answer": turns or "…"}
    raise CannotAnswer(
        f"{target.answers} has no answer for the case `{name}` of {case.file}; "
        f"add a line {json.dumps(line, ensure_ascii=False)}"
    )


def _read_recordings(name: str, context: RunContext) -> _Recordings:
    try:
        data = content(name, context)
        if data is None:
            raise CannotAnswer(f"there is no file {name} of recorded answers")
        return _parse(name, data)
    except (UnicodeDecodeError, CannotReadFile) as error:
        why = error.reason if isinstance(error, CannotReadFile) else "it is not UTF-8"
        raise CannotAnswer(f"the recorded answers {name} cannot be read: {why}") from None


def content(name: str, context: RunContext) -> bytes | None:
    """Return a file of the side that answers; None: there is none. Raises CannotReadFile."""
    if context.side.read is None:
        return file_io.read_named(context.root / name, context.root)
    return context.side.read(name)


@lru_cache(maxsize=8)
def _parse(name: str, data: bytes) -> _Recordings:
    text = file_text(data)
    recordings: dict[tuple[str, str], Answer] = {}
    lines: dict[tuple[str, str], int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            file, identity, value = read_recording(line)
            key, recorded = (file, identity), answer_format.build(value["answer"], value)
        except (ValueError, CannotAnswer) as error:
            raise CannotAnswer(f"{name}:{number}: {error}") from None
        if key in lines:
            already = f"the case `{key[1]}` has an answer in line {lines[key]} already"
            raise CannotAnswer(f"{name}:{number}: {already}")
        recordings[key], lines[key] = recorded, number
    return recordings


def fixed_answer(case: EvalCase, target: Target, _: RunContext) -> Answer | None:
    """Return the configured response, to each turn of a scripted user.

    A response that is a conversation belongs to the case. None: a simulated user has to be asked.
    """
    if target.did or not case.most_turns or answer_text.read_exchanges(target.response):
        return target.did or Answer(text=target.response)
    if case.simulated_user:
        return None
    return conversation.scripted_conversation(case, [target.response] * len(case.turns))
