"""Cases of Agent Skills: what a target without the skill may not get, and what their judge sees."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from posixpath import normpath
from typing import Final

from rubric_ci.values.config import Target, UnsupportedTarget
from rubric_ci.values.evals import EvalCase, EvaluatorSpec, FilePart, RubricSpec
from rubric_ci.values.instructions import Skill
from rubric_ci.values.rubric import Assertion

_ABOUT_FILES: Final = re.compile(
    r"\b(?:files?|folders?|director(?:y|ies))\b|\b[\w-]+\.[a-z][a-z0-9]{1,4}\b", re.IGNORECASE
)


def without_the_skill(case: EvalCase, target: Target, compared: Iterable[Target | None]) -> Target:
    """Return the target, or why it is not asked: what it gets holds the skill it is to lack.

    That concerns cases that several targets answer, of which another one has a skill.
    """
    if not case.written_id or not target.is_asked or target.skill:
        return target
    skills = [each.skill for each in compared if each and each.skill]
    reason = next((why for skill in skills for why in _given(case, target, skill)), "")
    if not reason:
        return target
    return UnsupportedTarget(name=target.name, provider="", reason=reason)


def unless_stopped(case: EvalCase, target: Target) -> Target:
    """Return the target, or why it is not asked: a file of the case is missing."""
    if not case.stopped:
        return target
    return UnsupportedTarget(name=target.name, provider="", reason=case.stopped)


def _given(case: EvalCase, target: Target, skill: Skill) -> Iterator[str]:
    """Yield each way in which a target without the skill gets it."""
    parts = (part for message in case.input_messages for part in message.parts)
    for part in parts:
        if isinstance(part, FilePart) and _is_of(part, skill):
            yield f"the case gives it `{part.path}` of the skill that it is to lack; remove it"
    workspace = case.workspace or target.workspace
    copied = normpath(workspace.copy) if workspace and workspace.copy else ""
    if copied and (holds := _how_it_holds(f"{copied}/", skill)):
        yield (
            f"its workspace `{copied}` {holds} the skill `{skill.path}` that it is to lack; copy a "
            "folder without it"
        )


def _how_it_holds(folder: str, skill: Skill) -> str:
    if folder == "./" or f"{skill.path}/".startswith(folder):
        return "holds"
    return "is a part of" if _is_part(folder, skill) else ""


def _is_of(part: FilePart, skill: Skill) -> bool:
    return _is_part(part.path, skill) or part.text.strip() == skill.text.strip()


def _is_part(path: str, skill: Skill) -> bool:
    """Return True for a path below the skill that is none of its evals and their inputs."""
    return path.startswith(f"{skill.path}/") and not path.startswith(f"{skill.path}/evals/")


def with_files_seen(case: EvalCase, target: Target) -> EvalCase:
    """Return a case of an `evals.json` whose judge sees the changed files, where it is about them.

    The format does not say what a judge sees, and a model has no files to show.
    """
    if not case.file.endswith(".json") or not target.starts_program:
        return case
    if not (target.agent or target.workspace or case.workspace):
        return case
    return replace(case, evaluators=tuple(map(_seeing, case.evaluators)))


def _seeing(spec: EvaluatorSpec) -> EvaluatorSpec:
    if not isinstance(spec, RubricSpec) or spec.is_about_work:
        return spec
    judged = (each for each in spec.rubric if not isinstance(each, Assertion))
    if any(_ABOUT_FILES.search(each.text) for each in judged):
        return replace(spec, sees=("answer", "file_changes"))
    return spec
