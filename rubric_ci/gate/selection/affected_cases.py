"""The cases that a change can affect, and why: cases are compared, not files.

A case that was moved, or whose file was reformatted, is the same case. Left out are places, layout,
tags, notes, API keys and concurrency, on which no verdict depends.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from posixpath import dirname
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.project.links import is_named
from rubric_ci.files.yaml_text.jsonlines import normalised
from rubric_ci.gate.differences.effect_of_each_key import effect_of
from rubric_ci.gate.selection.dependencies import ChangedPaths, changed, depends_on_everything
from rubric_ci.grading.resolve import DEFAULT_TARGET
from rubric_ci.text import numbers
from rubric_ci.values.changes import CASE_EDITED, NEW_CASE, GradingChange
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, LlmJudgeSpec, RubricSpec, asks_judge, every_evaluator
from rubric_ci.values.messages import FilePart, MediaPart
from rubric_ci.values.report import ShardInfo
from rubric_ci.values.scope import EVERY_CASE, WHOLE, Scope
from rubric_ci.values.scoring import Thresholds
from rubric_ci.values.targets import Target
from rubric_ci.values.waivers import WaiverResult
from rubric_ci.values.walk import Difference, differences

Place: TypeAlias = tuple[str, str]
"""The folder of the eval file and the target that a case names: they decide what it runs with."""

SHOWN = 5


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The cases of one side of the comparison, base or head, and what they run with."""

    cases: tuple[EvalCase, ...]
    setups: Mapping[Place, Setup | str]  # str: why it is unknown, of the base
    answers: Mapping[str, str] = field(default_factory=dict)  # recordings that differ, by path
    pictures: frozenset[str] = frozenset()  # that differ, and that a recording may name
    unreadable: Mapping[str, str] = field(default_factory=dict)  # eval file to why, as a clause

    def setup(self, at: Place) -> Setup:
        found = self.setups[at]
        assert isinstance(found, Setup), found  # noqa: S101 - the head is complete
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    chosen: tuple[tuple[EvalCase, str], ...]  # each with the reason, one short sentence
    scope: Scope = WHOLE
    notes: tuple[str, ...] = ()  # for the reader of the report
    shard: ShardInfo | None = None  # None: all shards
    rows: int = 0  # cases before sharding, each once per target
    nothing_to_run: str = ""  # why no case that failed runs; empty: some do
    waivers: tuple[WaiverResult, ...] = ()  # entries of `waivers.yaml`, before the run
    grading_changes: tuple[GradingChange, ...] = ()  # since the base
    none_decides: bool = False  # no case of the suite is one that the gate is about
    not_gradable: Mapping[CaseKey, str] = field(default_factory=dict)  # of an untrusted change


def place(case: EvalCase) -> Place:
    return dirname(case.file), case.target


def select_all(cases: Sequence[EvalCase], reason: str) -> Selection:
    """Choose all cases; `reason`: why there is no base to compare with, if there should be one."""
    why = "there is nothing to compare with" if reason else EVERY_CASE
    notes = (f"Every case runs, as {why}: {reason}.",) if reason else ()
    chosen = tuple((case, why) for case in cases)
    return Selection(chosen=chosen, scope=Scope(suite=len(chosen)), notes=notes)


def changed_only(scope: Scope, chosen: int) -> Scope:
    return scope if chosen == scope.suite else scope.narrowed("changed-since")


def select(head: Revision, base: Revision, paths: ChangedPaths) -> Selection:
    before = matched(head.cases, base.cases)
    gone = [f"`{case.id}`" for case in removed_cases(base.cases, before)]
    note = f"Removed since the base: {numbers.listed(gone, SHOWN)}."
    change = _Change(head, base, paths)
    reasons = [(case, change.reason(case, before.get(case.key))) for case in head.cases]
    chosen = tuple((case, why) for case, why in reasons if why)
    return Selection(
        chosen=chosen,
        scope=changed_only(Scope(suite=len(reasons)), len(chosen)),
        notes=(*_unread(head, base), *change.too_wide(chosen), *([note] if gone else [])),
    )


class _Change:
    """Both revisions; values that many cases share are compared once."""

    def __init__(self, head: Revision, base: Revision, paths: ChangedPaths) -> None:
        self.head, self.base, self.paths = head, base, paths
        self.setup = cache(self._setup)
        self.answers = cache(_by_case)

    def reason(self, case: EvalCase, was: EvalCase | None) -> str:
        """Return why a case must run; empty: nothing that it depends on has changed."""
        if case.file in self.base.unreadable and (was is None or _edits(case, was)):
            return self.base.unreadable[case.file]
        if was is None:
            return NEW_CASE
        reasons = (
            *_edits(case, was),
            self.setup(place(case), place(was), is_judged(case)),
            self._answer(case, was),
            self.paths.reason(case, self.head.setup(place(case)).target),
        )
        return "; ".join(filter(None, reasons))

    def too_wide(self, chosen: Sequence[tuple[EvalCase, str]]) -> Iterator[str]:
        """Yield how to narrow targets that depend on every file."""
        targets = {t.name: t for t in (self.head.setup(place(c)).target for c, _ in chosen)}
        for name, target in sorted(targets.items()):
            if depends_on_everything(target):
                what = "its service is deployed and its cases always run"
                if not target.always_selected:
                    what = "it depends on every file of the repository"
                yield (
                    f"Target `{name}` has no `depends_on`, so {what}: list the files that it uses "
                    "there, and fewer cases run."
                )

    def _setup(self, now_at: Place, then_at: Place, judged: bool) -> str:
        now, then = self.head.setup(now_at), self.base.setups[then_at]
        if isinstance(then, str):
            return then
        if now.target.name != then.target.name:
            return f"its target is `{now.target.name}`, was `{then.target.name}`"
        names = setup_changes(now, then, judged=judged)
        return f"{' and '.join(names)} changed" if names else ""

    def _answer(self, case: EvalCase, was: EvalCase) -> str:
        path = self.head.setup(place(case)).target.answers
        if path not in self.head.answers:
            return ""
        now = _line(self.answers(self.head.answers[path]), case)
        then = _line(self.answers(self.base.answers.get(path, "")), was)
        if now != then:
            return f"its answer in `{path}` changed"
        return changed([each for each in self.head.pictures if is_named(each, now)])


def matched(head: Sequence[EvalCase], base: Sequence[EvalCase]) -> dict[CaseKey, EvalCase]:
    """Return each head case's counterpart in the base, also where it was moved.

    A case that one target answered is the one of that target where several do now.
    """
    there = {case.key: case for case in base}
    here = {case.key for case in head}
    moved: dict[str, list[EvalCase]] = defaultdict(list)
    for was in base:
        if was.key not in here:
            moved[was.own_id].append(was)
    found = {c.key: _earlier(c, there.get(c.key), moved.get(c.own_id, [])) for c in head}
    return {key: was for key, was in found.items() if was is not None}


def _earlier(case: EvalCase, same: EvalCase | None, moved: list[EvalCase]) -> EvalCase | None:
    went = [was for was in moved if was.id == case.id or _only_one_has_several(case, was)]
    if same is case or not went:
        return same
    known = [was for was in (same, *went) if was is not None]
    alike = [was for was in known if not _edits(case, was)]
    return next((was for was in alike if was.target == case.target), (alike or known)[0])


def _only_one_has_several(case: EvalCase, was: EvalCase) -> bool:
    """Return True if the same target answers both, and others one of them as well."""
    then, now = was.target or DEFAULT_TARGET, case.target or DEFAULT_TARGET
    return then == now and bool(was.written_id) != bool(case.written_id)


def _edits(case: EvalCase, was: EvalCase) -> list[str]:
    if case is was:
        return []
    found = edits(case, was)
    edited = [f"{CASE_EDITED}: {', '.join(found.keys)}"] if found.keys else []
    return edited + ([changed(found.files)] if found.files else [])


def _by_case(text: str) -> dict[CaseKey, str]:
    """Index the lines of recorded answers; an invalid file counts for every case."""
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        recorded = [(json.loads(line), line) for line in lines]
        return {(normalised(r.get("file", "")), r["id"]): line for r, line in recorded}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {("", ""): text}


def _line(answers: Mapping[CaseKey, str], case: EvalCase) -> str:
    keys = ((normalised(case.file), case.own_id), ("", case.own_id), ("", ""))
    return next((answers[key] for key in keys if key in answers), "")


def _unread(head: Revision, base: Revision) -> Iterator[str]:
    for file in sorted({case.file for case in head.cases} & base.unreadable.keys()):
        yield (
            f"`{file}` cannot be compared with the base, so its cases run: {base.unreadable[file]}."
        )


def removed_cases(base: Sequence[EvalCase], before: Mapping[CaseKey, EvalCase]) -> list[EvalCase]:
    """Return the cases of the base that are no counterpart of a case of the head."""
    kept = {id(case) for case in before.values()}
    return [case for case in base if id(case) not in kept]


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
    inline = any(spec.name == "rubric" and isinstance(spec, RubricSpec) for spec in specs)
    return "rubrics" if inline and rest[:1] == ["rubric"] else first


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
        case (name, *_):
            return name
    raise AssertionError(found)


def _prompt_path(found: Difference) -> str:
    """Return the path of a prompt file that was edited; "": it is another one, or new."""
    paths: list[Any] = [getattr(each, "path", "") for each in found.owners[2]]
    return paths[0] if paths[0] == paths[1] else ""
