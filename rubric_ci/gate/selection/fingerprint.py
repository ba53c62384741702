"""How a case, or what it runs with, differs from the base: by the names that a report gives.

Left out are places, layout, tags, notes, API keys and concurrency, on which no verdict depends.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from rubric_ci.gate.differences.effect_of_each_key import effect_of
from rubric_ci.values.config import JudgeConfig, Target
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, LlmJudgeSpec, asks_judge, every_evaluator
from rubric_ci.values.messages import FilePart, MediaPart
from rubric_ci.values.scoring import Thresholds
from rubric_ci.values.walk import Difference, differences

INCIDENTAL: Final = frozenset(
    ("depends_on", "concurrency", "judge_target", "cache", "identity", "api_key")
)
"""Settings of targets and judges on which no verdict depends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Target, judge and thresholds that a case runs with."""

    target: Target
    judge: JudgeConfig | None
    thresholds: Thresholds
    prompt_version: str


class Edits(NamedTuple):
    """The parts of a case that were edited."""

    keys: tuple[str, ...]  # of an eval file
    files: tuple[str, ...]  # whose text or bytes are part of the case


def edits(case: EvalCase, was: EvalCase) -> Edits:
    """Return the keys and the files on which the verdict of a case depends, and that differ."""
    keys, files = dict[str, None](), dict[str, None]()
    for each in _relevant(case, was):
        if file := _file_of(each):
            files[file] = None
        else:
            keys[_key_of(each)] = None
    return Edits(tuple(keys), tuple(files))


def is_marked_alike(case: EvalCase, was: EvalCase) -> bool:
    """Return True if an answer to the case meets the same demands as before."""
    found = (each for each in _relevant(case, was) if effect_of(each.path) == "grades")
    return all(each.path[0] == "trials" for each in found)


def is_asked_alike(case: EvalCase, was: EvalCase) -> bool:
    """Return True if a program gets the same texts and files for the case as before."""
    found = (each for each in _relevant(case, was) if each.path[0] != "evaluators")
    return all(effect_of(each.path) == "grades" for each in found)


def _relevant(case: EvalCase, was: EvalCase) -> Iterator[Difference]:
    """Yield the differences that can move a verdict."""
    read = case.gives_metadata or was.gives_metadata
    for each in differences(was, case):
        is_relevant = effect_of(each.path) not in {"none", "policy"}
        if is_relevant and (each.path[0] != "metadata" or read):
            yield each


def _file_of(found: Difference) -> str:
    """Return the file that was edited; "": another one is named, or the eval file has the text."""
    name = found.path[-1]
    for then, now in reversed(found.owners):
        match then, now:
            case (FilePart(path=path), FilePart()) if path == now.path and name == "text":
                return path
            case (MediaPart(), MediaPart()) if then.path == now.path and name == "digest":
                return then.path
            case (LlmJudgeSpec(prompt_path=path), LlmJudgeSpec()):
                return path if path == now.prompt_path and name == "prompt" else ""
    return ""


def _key_of(found: Difference) -> str:
    """Return the key of an eval file; inline `rubrics` are an evaluator with that name."""
    first, *rest = found.path
    if first != "evaluators":
        return first
    specs = [
        side[0] for side in (found.owners[0][0].evaluators, found.owners[0][1].evaluators) if side
    ]
    inline = any(spec.name == "rubric" and hasattr(spec, "rubric") for spec in specs)
    return "rubrics" if inline and rest[:1] == ["rubric"] else first


def held_files(case: EvalCase) -> frozenset[str]:
    """Return the files whose text or digest is part of the case."""
    messages = [m.parts for m in (*case.input_messages, *case.expected_messages)]
    parts = [part for each in (*messages, *(t.parts for t in case.turns)) for part in each]
    prompts = [spec for spec in every_evaluator(case.evaluators) if isinstance(spec, LlmJudgeSpec)]
    named = [part.path for part in parts if isinstance(part, FilePart | MediaPart)]
    return frozenset((*named, *(spec.prompt_path for spec in prompts))) - {""}


def is_judged(case: EvalCase) -> bool:
    """Return True if a judge marks the case, or its model plays the user."""
    return case.simulated_user is not None or any(map(asks_judge, every_evaluator(case.evaluators)))


def setup_changes(now: Setup, then: Setup, *, judged: bool) -> tuple[str, ...]:
    """Return the parts of a setup that differ; the judge only if it marks the case."""
    found = dict[str, None]()
    for each in differences(then, now, opened=True):
        if INCIDENTAL.isdisjoint(each.path):
            found[_part_of(each, now.target)] = None
    return tuple(name for name in found if judged or name != "judge")


def _part_of(found: Difference, target: Target) -> str:
    match found.path:
        case ("target", "prompt", _, *_) if path := _prompt_path(found):
            return f"`{path}`"
        case ("target", *_):
            return f"target `{target.name}`"
        case ("prompt_version", *_):
            return "judge"
        case (name, *_):
            return name
    raise AssertionError(found)


def _prompt_path(found: Difference) -> str:
    """Return the path of a prompt file that was edited; "": it is another one, or new."""
    paths: list[Any] = [getattr(each, "path", "") for each in found.owners[2]]
    return paths[0] if paths[0] == paths[1] else ""
