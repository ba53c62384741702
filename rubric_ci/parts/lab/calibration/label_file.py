"""The answers that a person labels, drawn at random, and the file of the labels.

Answers are drawn within the judge's passes and within its fails. Only cases whose verdict depends
on one rubric are drawn: a person's marks then give the verdict.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from rubric_ci.errors import InvalidInput
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.loaded_project import show_problems
from rubric_ci.parts.lab.calibration import labels
from rubric_ci.parts.lab.calibration.labels import Draw, Label
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.report import JudgeInfo, RunReport
from rubric_ci.values.results import CaseResult, Graded

ANOTHER: Final = "choose another file with --labels"


def read_labels(path: Path) -> tuple[Label, ...]:
    """Return the labels of a file; show its problems and raise InvalidInput if there are any."""
    found, problems = labels.parse(
        str(path), working_tree.read_text(path, written_by="rubric-ci judge label")
    )
    if problems:
        show_problems(problems)
        raise InvalidInput(f"{path} has problems", "fix or remove those lines")
    return found


def copies_of(path: Path) -> Path:
    """Return the folder with the images of labelled answers, which is committed with the labels."""
    return path.with_name(f"{path.stem}-media")


def write_labels(path: Path, found: Iterable[Label]) -> None:
    """Write the labels, atomically."""
    working_tree.write_text(path, labels.dump(found), "the labels", ANOTHER)


def draw(report: RunReport, passes: int, fails: int, seed: int) -> dict[CaseKey, Draw]:
    """Return the drawn cases with their draws; fewer if there are fewer."""
    found: dict[CaseKey, Draw] = {}
    chance = random.Random(seed)  # noqa: S311 - a reproducible draw
    by_one_rubric = [case for case in report.cases if is_eligible(case)]
    groups: Sequence[tuple[Literal["pass", "fail"], int]] = (("pass", passes), ("fail", fails))
    for judged, wanted in groups:
        keys = [c.key for c in by_one_rubric if judged_as(c) == judged]
        drawn = min(wanted, len(keys))
        kept = Draw(
            judged=judged,
            drawn=drawn,
            of=len(keys),
            seed=seed,
            at=report.started_at[:10],
            judge=judge_text(report.judge),
        )
        found |= dict.fromkeys(chance.sample(keys, drawn), kept)
    return found


def is_eligible(case: CaseResult) -> bool:
    """Return True for a graded case whose verdict depends on one rubric."""
    return case.verdict is not None and len(list(_counted(case))) == 1


def judged_as(case: CaseResult) -> Literal["pass", "fail"]:
    return "pass" if case.verdict == "pass" else "fail"


def judge_text(judge: JudgeInfo | None) -> str:
    """Return the identity of a judge; empty: none."""
    if judge is None:
        return ""
    return f"{judge.model}, prompt {judge.prompt_version}, {judge.mode}, votes {judge.votes}"


def _counted(case: Graded) -> Iterator[str]:
    """Yield the evaluators that count; a second name if one of them is no rubric."""
    for each in case.evaluators:
        if each.weight:
            yield each.name
            if each.type != "rubric":
                yield "not a rubric"
