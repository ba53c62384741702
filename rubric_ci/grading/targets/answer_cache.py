"""Answers in the cache and in recordings, by a key of everything that determines an answer.

Recorded and fixed answers are not kept: they are at hand. An answer with a secret in it is not
cached either: its redacted form could get another mark. A recording has the answers of all
programs. Its key has no files, so that it replays in another checkout, as recorded replies do.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime

from rubric_ci.errors import CannotAnswer
from rubric_ci.evaluators.judge_choice import judge_of
from rubric_ci.grading.targets import conversation
from rubric_ci.grading.targets.kinds import kind_of
from rubric_ci.grading.targets.workplace import at_work, with_skill
from rubric_ci.models.llm.cache_and_recording import ANSWER
from rubric_ci.models.llm.media import media_facts, read_media
from rubric_ci.system import output_and_masking
from rubric_ci.text.redact import is_secret_name
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import call_key
from rubric_ci.values.question import question
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Target
from rubric_ci.values.trace import FileChange, KeptFile, Work, WorkCheck

VERSION = 4  # of the key and the entry
_FAILED = ("error", "last_event")  # of an answer in a recording


def key_of(case: EvalCase, target: Target, context: RunContext) -> str | None:
    """Return the key of the answer to a case; None: the answer is neither kept nor reused."""
    if varies(case) or (case.workspace and not target.starts_program):
        return None
    target = at_work(case, target)
    question_key = (
        kind_of(target).key(with_skill(case, target), target, context) if target.cache else None
    )
    if question_key is None or context.side.dependencies is None:
        return None
    files = context.side.dependencies(case, target)
    if files is None:
        return None
    given = {
        name: "" if is_secret_name(name) else context.environment.get(name, "")
        for name in (target.program.env if target.program else target.env)
    }
    parts: JSON = [question_key, given]
    facts = {"version": VERSION, "parts": parts, "files": files, "trial": context.trial}
    if user := case.simulated_user:
        played = judge_of(user, context.judge).endpoint
        facts["user"] = [call_key(played, ()), conversation.VERSION]
    return _digest(case, facts) + ANSWER


def varies(case: EvalCase) -> bool:
    """Return True if a script looks at the folder itself, or the folder differs each time."""
    return case.looks_in_workspace or (case.workspace is not None and case.workspace.varies)


def _digest(case: EvalCase, facts: Mapping[str, JSON]) -> str:
    if case.most_turns or case.media:  # another question is in the messages of the facts
        facts = {"question": question(case, files=True), **facts}
    text = json.dumps(facts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def replayed(case: EvalCase, target: Target, context: RunContext) -> Answer | None:
    """Return the recorded answer while replaying; None: nothing is started for this case.

    Raises CannotAnswer for a failure that was recorded, and for a case that the recording lacks.
    """
    if not (context.recording and context.replays and is_started(case, target)):
        return None
    if case.looks_in_workspace:
        raise CannotAnswer(
            "a script looks into the workspace, which a recording does not have; run without "
            "--replay"
        )
    found = answer_from(context.recording.answers.get(recorded_key(case, target, context)))
    if found is None:
        raise CannotAnswer(
            f"no recorded answer of the target `{target.name}` to this case, and --replay starts "
            "nothing; record again with --record: the case or the target changed"
        )
    found = replace(found, answered_at="")  # not from the cache
    if found.error:
        raise CannotAnswer(found.error).after(found)
    return found


def recorded_key(case: EvalCase, target: Target, context: RunContext) -> str:
    """Return the key of an answer in a recording: the question, the target and the trial.

    Values of environment variables, which differ elsewhere, are not part of it.
    """
    working = at_work(case, target)
    question_key = kind_of(target).key(with_skill(case, target), working, context)
    parts = (
        {**question_key, "environment": {}}
        if isinstance(question_key, dict)
        else {"model": question_key}
    )
    place = [case.file, case.own_id, target.name, context.trial, context.side.root is not None]
    return _digest(case, {"parts": parts, "place": place})


def is_started(case: EvalCase, target: Target) -> bool:
    """Return True if a program is started for the answer, or a workspace prepared."""
    return target.starts_program or (target.is_asked and case.workspace is not None)


def find(case: EvalCase, target: Target, context: RunContext) -> Answer | None:
    """Return the cached answer to a case if this side reuses answers; None: there is none."""
    if context.cache is None or not context.side.reuse:
        return None
    key = key_of(case, target, context)
    text = None if key is None else context.cache.get(key)
    return None if text is None else answer_from(json.loads(text))


def keep(case: EvalCase, target: Target, context: RunContext, answer: Answer) -> None:
    """Record the answer of a program, or its failure; cache an answer that has no secret.

    It is not cached where its key is unknown.
    """
    if context.recording and not context.replays and is_started(case, target):
        key, about = recorded_key(case, target, context), f"{case.file}: {case.id}: answer"
        shown = output_and_masking.redacted(answer, kept=("folder", "kind"))
        context.recording.keep_answer(key, about, facts_of(shown))
    if answer.error or context.cache is None or (kept := key_of(case, target, context)) is None:
        return
    if context.side.is_compared and not target.answers_on_both_sides:
        return  # the next run would take it for an answer of the base
    text = json.dumps(facts_of(answer, with_bytes=True), ensure_ascii=False)
    if (
        output_and_masking.redact(text) == text
        and output_and_masking.redact(answer.text) == answer.text
    ):
        context.cache.put(kept, text)


def facts_of(answer: Answer, *, with_bytes: bool = False) -> dict[str, JSON]:
    """Return an answer as recordings keep it; the cache keeps the bytes of its images as well."""
    return {
        **media_facts(answer.media, with_bytes=with_bytes),
        "text": answer.text,
        "messages": answer.messages,
        "trace_summary": answer.trace_summary,
        "duration_seconds": answer.duration_seconds,
        "work": None if answer.work is None else asdict(answer.work),
        "answered_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: text for name in _FAILED if (text := getattr(answer, name))},
    }


def answer_from(facts: JSON) -> Answer | None:
    """Return the answer that `facts_of` wrote; None for anything else."""
    match facts:
        case {
            "text": str(answer),
            "messages": list(messages),
            "trace_summary": dict() | None as summary,
            "duration_seconds": int() | float() | None as seconds,
            "work": dict() | None as work,
            "answered_at": str(time),
        } if time:
            return Answer(
                text=answer,
                messages=tuple(messages),
                trace_summary=summary,
                duration_seconds=seconds,
                answered_at=time,
                work=None if work is None else _work(work),
                media=read_media(facts),
                **{name: facts[name] for name in _FAILED if name in facts},
            )
    return None


def _work(written: Mapping[str, JSON]) -> Work:
    return Work(
        sandbox=written["sandbox"],
        changes=tuple(FileChange(**each) for each in written["changes"]),
        files=tuple(KeptFile(**each) for each in written["files"]),
        notes=tuple(written["notes"]),
        checks=tuple(WorkCheck(**each) for each in written["checks"]),
    )
