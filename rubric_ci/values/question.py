"""The question of a case: all that is asked, by which a case is the same case.

A waiver belongs to it, answers are compared and kept by it, and a change of it is shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.messages import FilePart, MediaPart, Part, Turn
from rubric_ci.values.targets import TargetFacts
from rubric_ci.values.walk import canonical, facts, names

NOT_ASKED: Final = frozenset(
    (
        *("id", "file", "written_id", "references", "note", "conversation_id", "stopped"),
        *("variant", "template", *("inapplicable", "only_shared", "opts_out")),
        *("expected_outcome", "expected_messages", "evaluators", "tags", "trials", "depends_on"),
        *("target", "metadata", "input_messages", "turns"),
    )
)
"""Fields of a case that are not asked, or that have their own line; a new field is asked."""
_ASKED: Final = tuple(name for name in names(EvalCase) if name not in NOT_ASKED)
_SAID: Final = frozenset(("parts", "in_list"))  # of a message
_OF_TURN: Final = frozenset(("parts", "text", "expected_outcome"))
_OF_WORK: Final = frozenset(("keep", "of_target", "sandbox", "container"))
"""Fields of a workspace that say how the work is kept and guarded."""


def question(case: EvalCase, *, files: bool = False, targets: Sequence[TargetFacts] = ()) -> JSON:
    """Return the question of a case: its messages, turns, simulated user, variables, workspace.

    System messages and guidelines are prompts, which a change may edit, and so is a file next to
    written text, unless `files` are asked for. A file without any text next to it is the question
    itself. Images and documents are known by their bytes. Hooks read the metadata. A variable that
    none of the `targets` may read is not asked; without targets, each is.
    """
    messages = [m for m in case.input_messages if m.role != "system" and not m.is_guideline]
    parts = [part for each in messages if each.role == "user" for part in each.parts]
    parts += [part for turn in case.turns for part in turn.parts]
    read = files or not [part for part in parts if not isinstance(part, FilePart | MediaPart)]
    said: list[JSON] = [
        {**facts(each, without=_SAID), "parts": _said(each.parts, read=read)} for each in messages
    ]
    turns: list[JSON] = [
        {**facts(each, without=_OF_TURN), **_turn_json(each, read=read)} for each in case.turns
    ]
    hooked = bool(case.workspace and case.workspace.hooks.every)
    others = [*_ASKED, "metadata"] if hooked else _ASKED
    has_text = messages or turns or case.simulated_user
    if case.vars and targets and has_text and not hooked:
        used = {k: v for k, v in case.vars.items() if any(each.may_read(k) for each in targets)}
        case = replace(case, vars=used)
    asked = {
        name: facts(value, without=_OF_WORK) for name in others if (value := getattr(case, name))
    }
    return {
        **({"input_messages": said} if said else {}),
        **({"turns": turns} if turns else {}),
        **asked,
    }


def question_id(case: EvalCase, target: TargetFacts) -> str:
    """Return 12 hexadecimal digits of a question, by which two reports have the same one."""
    content = canonical(question(case, targets=[target]))
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _turn_json(turn: Turn, *, read: bool) -> dict[str, JSON]:
    return {"parts": _said(turn.parts, read=read)} if turn.parts else {"text": turn.text}


def _said(parts: Iterable[Part], *, read: bool) -> JSON:
    return [_said_in(part, read=read) for part in parts]


def _said_in(part: Part, *, read: bool) -> JSON:
    if isinstance(part, MediaPart):
        return [part.media.kind, part.media.digest]
    if not isinstance(part, FilePart):
        return part.text
    return part.text if read and not part.guideline else "file"
