"""Changed paths that a case depends on without holding their text.

These are the files that its scripts and its target's command name or get, and those under
`depends_on`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Final

from rubric_ci.files.project.links import ancestors, named_paths
from rubric_ci.text.globs import Comparisons, PathIndex, TooManyComparisons, matcher
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    every_evaluator,
)
from rubric_ci.values.messages import FilePart, MediaPart
from rubric_ci.values.rubric import Assertion
from rubric_ci.values.targets import Target
from rubric_ci.values.workspace_settings import Workspace

_WILD: Final = frozenset("*?[")
_NO_CASE: Final = EvalCase(id="", file="", span=Span(1, 1, 1, 1))


class ChangedPaths:
    def __init__(self, paths: Iterable[str], compared: Collection[str] = ()) -> None:
        """Leave `compared` out, eval files and configuration: their content is compared instead."""
        self._comparisons = Comparisons()
        self._index = PathIndex(paths, self._comparisons)
        self._paths = self._index.paths
        self._others = tuple(path for path in self._paths if path not in compared)
        self._below = defaultdict[str, list[str]](list)  # by their name and every folder above
        for path in self._paths:
            for place in (path, *ancestors(path)):
                self._below[place].append(path)
        self._matching = cache(self._match)

    def reason(self, case: EvalCase, target: Target) -> str:
        """Return the changed files that the case depends on, as a reason; empty: none."""
        always = target.always_selected
        if not self._paths:
            return always
        own = {hit for file in _named(case, target) for hit in self._near(file)}
        try:
            self._comparisons.spend(len(own))
            globs = (
                *case.depends_on,
                *(target.depends_on or ()),
                *(g for s in scripts_of(case) for g in s.depends_on or ()),
            )
            found, known = self._matching(globs)
        except TooManyComparisons as error:
            return f"its `depends_on` is not compared: {error}"
        if own or found or not depends_on_everything(target):
            more = [path for path in own if path not in known]
            return changed(sorted([*found[:2], *more])[:2], len(found) + len(more))
        if always:
            return always
        why = f", and target `{target.name}` depends on every file"
        return changed(self._others) + why if self._others else ""

    def at(self, words: Iterable[str], globs: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the changed paths at or below one of the words, or that match a glob.

        The root, ".", has every path below it. Globs that cannot be tested match every path.
        """
        hits = {hit for word in words for hit in (self._paths if word == "." else self._near(word))}
        try:
            return tuple(sorted(hits.union(self._matching(tuple(globs))[0])))
        except TooManyComparisons:
            return self._paths

    def concerns(self, target: Target) -> bool:
        """Return True if the target depends on a changed file for every case."""
        prompt = [target.prompt.path] if target.prompt else []
        return bool(self.at(prompt) or self.reason(_NO_CASE, target))

    def _near(self, file: str) -> Iterator[str]:
        """Yield the changed paths at or below a file, and the link or submodule that it is in.

        A shell expands a word with wildcards.
        """
        if not _WILD.isdisjoint(file):
            yield from filter(matcher([file]), self._paths)
        yield from self._below.get(file, ())
        yield from (above for above in ancestors(file) if above in self._below.get(above, ()))

    def _match(self, globs: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
        # Many cases have the same globs: the set is made once.
        paths = self._index.matching(globs)
        return paths, frozenset(paths)


def depends_on_everything(target: Target) -> bool:
    return target.depends_on is None


def changed(paths: Collection[str], count: int | None = None) -> str:
    """Return the first paths and the number of the others, of `count`, as a reason."""
    names = [f"`{path}`" for path in islice(paths, 2)]
    total = len(paths) if count is None else count
    if total > 2:
        return f"{names[0]} and {total - 1:,} more files changed"
    return f"{' and '.join(names)} changed" if names else ""


def held_files(case: EvalCase) -> frozenset[str]:
    """Return the files whose text or digest is part of the case."""
    messages = [m.parts for m in (*case.input_messages, *case.expected_messages)]
    parts = [part for each in (*messages, *(t.parts for t in case.turns)) for part in each]
    prompts = [spec for spec in every_evaluator(case.evaluators) if isinstance(spec, LlmJudgeSpec)]
    named = [part.path for part in parts if isinstance(part, FilePart | MediaPart)]
    return frozenset((*named, *(spec.prompt_path for spec in prompts))) - {""}


def _named(case: EvalCase, target: Target) -> Iterator[str]:
    """Yield words that may be paths, relative to the root; others match no changed path."""
    yield from set(case.references) - held_files(case)
    for spec in scripts_of(case):
        yield from named_paths(spec.script, spec.cwd)
    yield from command_files(case, target)


def scripts_of(case: EvalCase) -> Iterator[CodeJudgeSpec]:
    """Yield the evaluators that are scripts, also members of composites."""
    for spec in every_evaluator(case.evaluators):
        if isinstance(spec, CodeJudgeSpec):
            yield spec


def commands_of(spec: EvaluatorSpec) -> Iterator[Assertion]:
    """Yield the assertions of a rubric that run a command in the workspace."""
    assertions = spec.rubric.assertions if isinstance(spec, RubricSpec) else ()
    yield from (each for each in assertions if each.key == "command")


def command_files(case: EvalCase, target: Target) -> Iterator[str]:
    """Yield the files that a target's command may read: the named ones and the workspace."""
    if not target.reads:
        yield from named_paths(target.command_template, target.cwd)
    if case.workspace:
        yield from prepared_from(case.workspace)
    if "{EVAL_FILE}" in target.command_template:
        yield case.file


def prepared_from(workspace: Workspace) -> Iterator[str]:
    """Yield the folders that a workspace copies, and the files that its commands name."""
    yield from copied_by(workspace)
    yield from named_paths(workspace.setup, workspace.copy)
    for hook in workspace.hooks.every:
        yield from named_paths(hook.command, hook.cwd)


def copied_by(workspace: Workspace) -> Iterator[str]:
    return filter(None, (workspace.copy, *(source.path for source in workspace.sources)))
