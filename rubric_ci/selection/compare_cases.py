"""Which cases a change can affect, and why: cases are compared, not files.

A case that has moved, or whose file was laid out anew, is the same case.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from posixpath import normpath
from typing import TypeAlias

from rubric_ci.model.config import RecordedTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.git_changes import CASE_EDITED, NEW_CASE
from rubric_ci.selection import fingerprint
from rubric_ci.selection.dependencies import ChangedPaths, changed, depends_on_everything
from rubric_ci.selection.fingerprint import Parts, Setup

Key: TypeAlias = tuple[str, str]
"""File and id."""

SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The cases as they were, or as they are, and what they run with."""

    cases: tuple[EvalCase, ...]
    setups: Mapping[str, Setup]  # by the target that a case names
    answers: Mapping[str, str] = field(default_factory=dict)  # recordings that differ, by path
    unreadable: Mapping[str, str] = field(default_factory=dict)  # eval file to what is wrong
    no_setup: str = "its target is new"  # why there may be no setup for a case


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to run."""

    chosen: tuple[tuple[EvalCase, str], ...]  # each with the reason, one short sentence
    spared: int = 0
    notes: tuple[str, ...] = ()  # for the reader of the report


def everything(cases: Sequence[EvalCase], reason: str) -> Selection:
    """Choose all cases, where there is nothing to compare them with."""
    why = "there is nothing to compare with"
    note = f"Every case runs, as {why}: {reason}."
    return Selection(chosen=tuple((case, why) for case in cases), notes=(note,))


def select(head: Side, base: Side, paths: ChangedPaths) -> Selection:
    """Choose the cases of `head` that are not in `base` just as they are now."""
    before = _matched(head, base)
    change = _Change(head, base, paths)
    reasons = [(case, change.reason(case, before.get(_key(case)))) for case in head.cases]
    chosen = tuple((case, why) for case, why in reasons if why)
    return Selection(
        chosen=chosen,
        spared=len(reasons) - len(chosen),
        notes=(*_unread(head, base), *change.too_wide(chosen), *_removed(base, before)),
    )


class _Change:
    """Both sides; what many cases share is compared once."""

    def __init__(self, head: Side, base: Side, paths: ChangedPaths) -> None:
        self.head, self.base, self.paths = head, base, paths
        self.setup = cache(self._setup)
        self.answers = cache(_by_case)

    def reason(self, case: EvalCase, was: EvalCase | None) -> str:
        """Say why a case must run; empty: nothing that matters to it has changed."""
        if case.file in self.base.unreadable and (was is None or _edits(case, was)):
            return f"the base does not parse: {self.base.unreadable[case.file]}"
        if was is None:
            return NEW_CASE
        judged = fingerprint.is_judged(case)
        return "; ".join(
            filter(
                None,
                (
                    *_edits(case, was),
                    self.setup(case.target, was.target, judged),
                    self._answer(case, was),
                    self.paths.reason(case, self.head.setups[case.target].target),
                ),
            )
        )

    def too_wide(self, chosen: Sequence[tuple[EvalCase, str]]) -> Iterator[str]:
        """Tell how to narrow a target on which every change tells."""
        targets = [self.head.setups[case.target].target for case, _ in chosen]
        for name in sorted({t.name for t in targets if depends_on_everything(t)}):
            yield (
                f"Target `{name}` has no `depends_on`, so it depends on every file of the "
                "repository: list the files that it uses there, and fewer cases run."
            )

    def _setup(self, name: str, old_name: str, judged: bool) -> str:
        now, then = self.head.setups[name], self.base.setups.get(old_name)
        if then is None:
            return self.base.no_setup
        if now.target.name != then.target.name:
            return f"its target is `{now.target.name}`, was `{then.target.name}`"
        parts = fingerprint.setup(now, judged=judged), fingerprint.setup(then, judged=judged)
        names = _differing(*parts)
        return f"{' and '.join(names)} changed" if names else ""

    def _answer(self, case: EvalCase, was: EvalCase) -> str:
        match self.head.setups[case.target].target:
            case RecordedTarget(answers=path) if path in self.head.answers:
                now = _line(self.answers(self.head.answers[path]), case)
                then = _line(self.answers(self.base.answers.get(path, "")), was)
                return "" if now == then else f"its answer in `{path}` changed"
        return ""


def _key(case: EvalCase) -> Key:
    return case.file, case.id


def _matched(head: Side, base: Side) -> dict[Key, EvalCase]:
    """Find what each case was: at its place, or elsewhere if it has moved."""
    there = {_key(case): case for case in base.cases}
    here = {_key(case) for case in head.cases}
    moved: dict[str, list[EvalCase]] = defaultdict(list)
    for was in base.cases:
        if _key(was) not in here:
            moved[was.id].append(was)
    found = {_key(c): _earlier(c, there.get(_key(c)), moved.get(c.id, [])) for c in head.cases}
    return {key: was for key, was in found.items() if was is not None}


def _earlier(case: EvalCase, same: EvalCase | None, moved: list[EvalCase]) -> EvalCase | None:
    if same is case or not moved:
        return same
    known = [was for was in (same, *moved) if was is not None]
    alike = [was for was in known if not _edits(case, was)]
    return next((was for was in alike if was.target == case.target), (alike or known)[0])


def _edits(case: EvalCase, was: EvalCase) -> list[str]:
    """Name what the case says otherwise now, and its files that do."""
    if case is was:
        return []
    fields = _differing(fingerprint.content(case), fingerprint.content(was))
    now, then = fingerprint.files(case), fingerprint.files(was)
    files = [path for path in now if path in then and now[path] != then[path]]
    edited = [f"{CASE_EDITED}: {', '.join(fields)}"] if fields else []
    return edited + ([changed(files)] if files else [])


def _differing(now: Parts, then: Parts) -> list[str]:
    return [name for name in now if now[name] != then.get(name)]


def _by_case(text: str) -> dict[Key, str]:
    """Index the lines of recorded answers; one that cannot be read is every case's."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        recorded = [(json.loads(line), line) for line in lines]
        return {(_plain(r.get("file", "")), r["id"]): line for r, line in recorded}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {("", ""): text}


def _line(answers: Mapping[Key, str], case: EvalCase) -> str:
    keys = ((_plain(case.file), case.id), ("", case.id), ("", ""))
    return next((answers[key] for key in keys if key in answers), "")


def _plain(file: str) -> str:
    return normpath(file) if file else ""


def _unread(head: Side, base: Side) -> Iterator[str]:
    for file in sorted({case.file for case in head.cases} & base.unreadable.keys()):
        yield (
            f"`{file}` cannot be compared with the base, so its cases run: {base.unreadable[file]}."
        )


def _removed(base: Side, before: Mapping[Key, EvalCase]) -> Iterator[str]:
    kept = {id(case) for case in before.values()}
    gone = [f"`{case.id}`" for case in base.cases if id(case) not in kept]
    if gone:
        more = f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""
        yield f"Removed since the base: {', '.join(gone[:SHOWN])}{more}."
