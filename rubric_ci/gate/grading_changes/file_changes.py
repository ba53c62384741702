"""Changes to the grading in other files: scripts, recordings, labels, waivers, tests of criteria.

Which files a script uses is found by `script_files`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from posixpath import normpath, relpath
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.project.links import named_paths
from rubric_ci.files.validation.located_problems import ignored_rules
from rubric_ci.files.validation.rubric_files import open_rubric
from rubric_ci.gate.grading_changes.script_files import CODE, SETTINGS, Line, ScriptFiles
from rubric_ci.text import numbers
from rubric_ci.text.escape import one_line
from rubric_ci.text.globs import matcher
from rubric_ci.text.numbers import shortened
from rubric_ci.values.changes import Direction, GradingChange, GradingChangeKind
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.config import RunnerTarget, Target
from rubric_ci.values.evals import CodeJudgeSpec, EvalCase, RubricSpec, every_evaluator
from rubric_ci.values.rubric import MarkTest
from rubric_ci.values.waivers import Waiver
from rubric_ci.values.workspace_settings import Workspace

ROOT_CODE: Final = (*(f"*{suffix}" for suffix in sorted(filter(None, CODE))), "node_modules/**")
RUN: Final = "command"  # the assertion that runs a command in the workspace

Answered: TypeAlias = tuple[EvalCase, Target | None]
"""A case and the target that answers it; None: it is not known."""


class Script(NamedTuple):
    """A command that decides about an answer or prepares it, and the files around it that count."""

    command: Line
    cwd: str
    home: bool  # its working directory counts where it names no file
    depends_on: tuple[str, ...] | None  # in place of the folders of the files that it names
    tested: tuple[str, ...]  # globs of the files under test
    program: tuple[str, ...]  # paths of the program under test


def script_changes(
    cases: Sequence[Answered], files: ScriptFiles, changed: Set[str], others: Set[str] = frozenset()
) -> Iterator[GradingChange]:
    """Yield the changed files that a verdict depends on.

    A command names or imports them, they are in the folder of a script, or a workspace has them:
    its folder, its repositories. `others` are files that are compared elsewhere.
    """
    used: set[str] = set()
    for script in dict.fromkeys(each for pair in cases for each in _scripts(*pair)):
        tested = matcher(script.tested)
        used |= files.used_by(script.command, script.cwd)
        used |= {path for path in files.below(script.command, script.cwd) if not tested(path)}
        around = _around(script, files)
        left = changed - others - {*script.program}
        used |= {path for path in left if around(path) and not tested(path)}
    for folder, exempt in dict.fromkeys(each for pair in cases for each in _copied(*pair)):
        tested = matcher(exempt)
        below = (path for path in changed if _is_copied(path, folder))
        used |= {path for path in below if path not in others and not tested(path)}
    yield from (edited_file("script", path) for path in sorted(used & changed))


def _around(script: Script, files: ScriptFiles) -> Callable[[str], bool]:
    """Return a predicate of the files that a script may read without being given their names."""
    if script.depends_on is not None:
        return matcher(script.depends_on)
    homes = files.homes(script.command, script.cwd, own=script.home)
    folders = tuple(f"{home}/" for home in homes)
    # Below the root is the program under test: only code in the root can replace what it imports.
    in_root = matcher(ROOT_CODE if "." in homes else ())
    return lambda path: path.startswith(folders) or in_root(path)


def _is_copied(path: str, folder: str) -> bool:
    """Return True for a changed file of the folder, and for the submodule that it is in."""
    return folder == "." or path.startswith(f"{folder}/") or f"{folder}/".startswith(f"{path}/")


def _tested(target: Target | None) -> tuple[str, ...]:
    if target is None or target.depends_on == target.assumed_dependencies:
        return ()
    return target.depends_on or ()


def measure_files(target: Target, files: ScriptFiles, changed: Set[str]) -> Iterator[GradingChange]:
    """Yield the changed files of a target that must be exceeded, whose answers are a measure."""
    globs = list(target.depends_on or ())
    if target.skill:
        globs.append(f"{target.skill.path}/**")
    used = set(filter(matcher(globs), changed))
    if not target.reads:
        used |= files.used_by(target.command_template, target.cwd)
    yield from (edited_file("script", path) for path in sorted(used & changed))


def tool_files(
    target: RunnerTarget, unnamed: Iterable[str], files: ScriptFiles, changed: Set[str]
) -> Iterator[GradingChange]:
    """Yield the changed files that another tool reads, but those under test.

    Its command or its settings name them, or a folder above them; `unnamed` are settings that
    it reads without being given their names.
    """
    settings = frozenset(unnamed)
    home = normpath(target.cwd)
    used = set(files.below(target.command_template, home))
    named = "\n".join((target.command_template, *(relpath(path, home) for path in settings)))
    used |= files.used_by(named, home, CODE | SETTINGS)
    tested = matcher(_tested(target))
    for path in sorted((used | settings) & changed):
        if not tested(path):
            yield edited_file("script", path)


def _workspace(case: EvalCase, target: Target | None) -> Workspace | None:
    return case.workspace or (target.workspace if target else None)


def _scripts(case: EvalCase, target: Target | None) -> Iterator[Script]:
    workspace = _workspace(case, target)
    homes = dict.fromkeys((workspace.copy or ".", ".") if workspace else (".",))
    tested, program = _tested(target), tuple(_program(target))
    for spec in every_evaluator(case.evaluators):
        if isinstance(spec, CodeJudgeSpec):
            yield Script(spec.script, spec.cwd, True, spec.depends_on, tested, program)
        if isinstance(spec, RubricSpec):
            commands = [str(c.value) for c in spec.rubric.assertions if c.key == RUN]
            for home in homes:
                yield from (Script(each, home, False, (), tested, ()) for each in commands)
    if workspace and workspace.setup:
        yield from (Script(workspace.setup, home, False, None, tested, program) for home in homes)
    for hook in workspace.hooks.every if workspace else ():
        yield Script(hook.command, hook.cwd, False, None, tested, program)
    if target and target.reads:
        yield Script(target.command_template, target.cwd, False, (), tested, ())


def _program(target: Target | None) -> Iterator[str]:
    """Yield what may be the program under test or its prompt, which a script may stand next to."""
    if target and not target.reads:
        yield from named_paths(target.command_template, target.cwd)
    if target and target.prompt:
        yield target.prompt.path


def _copied(case: EvalCase, target: Target | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a workspace copies, with the globs of the files under test in it."""
    if workspace := _workspace(case, target):
        sources = (source.path for source in workspace.sources)
        for path in filter(None, (workspace.copy, *sources)):
            yield normpath(path), _tested(target)


def unknown_files(unread: Mapping[str, str]) -> Iterator[GradingChange]:
    """Yield the eval files of the base that cannot be read, so that their changes are not known."""
    for path, problem in unread.items():
        yield _edited("case", path, 1, f"not known: {problem}", "edited or removed")


def ignore_changes(path: str, before: str, after: str) -> Iterator[GradingChange]:
    then, now = ([each.rule for each in ignored_rules(text)] for text in (before, after))
    lines = {each.rule: each.line for each in (*ignored_rules(before), *ignored_rules(after))}
    for rule in sorted({*then, *now}):
        count = now.count(rule) - then.count(rule)
        if count:
            yield GradingChange(
                kind="rule",
                direction="weaker" if count > 0 else "stronger",
                about=rule,
                file=path,
                line=lines[rule],
                before=_ignored(then.count(rule)),
                after=_ignored(now.count(rule)),
            )


def _ignored(count: int) -> str:
    return f"ignored in {numbers.plural(count, 'comment')}" if count else ""


def line_changes(
    kind: GradingChangeKind, path: str, before: str, after: str
) -> Iterator[GradingChange]:
    """Yield one change of a file whose lines are entries, with the numbers of its lines."""
    then, now = (text.replace("\r\n", "\n").split("\n") for text in (before, after))
    then, now = (lines if lines[-1] else lines[:-1] for lines in (then, now))
    if then == now:
        return
    known = set(then)
    first = next((at for at, line in enumerate(now, 1) if line not in known), 1)
    new, gone = len([line for line in now if line not in known]), len(set(then) - set(now))
    counts = f"{_lines(len(now))}: {new:,} new or edited, {gone:,} of the base gone"
    yield _edited(kind, path, first, _lines(len(then)), counts)


def _lines(count: int) -> str:
    return numbers.plural(count, "line")


def edited_file(kind: GradingChangeKind, path: str) -> GradingChange:
    """Return the change of a file that is not read here."""
    return _edited(kind, path, 1, "as at the base", "edited")


def _edited(
    kind: GradingChangeKind, path: str, line: int, before: str, after: str
) -> GradingChange:
    return GradingChange(
        kind=kind, direction="changed", about=path, file=path, line=line, before=before, after=after
    )


def waiver_changes(
    head: Sequence[Waiver], base: Sequence[Waiver], file: str
) -> Iterator[GradingChange]:
    now, then = ({waiver.key: waiver for waiver in side} for side in (head, base))
    for key, known in {**then, **now}.items():
        before, after = then.get(key), now.get(key)
        if _end(before) != _end(after):
            yield GradingChange(
                kind="waiver",
                direction=_moved(before, after),
                about=f"{known.case}/{known.criterion}",
                file=file,
                line=known.line,
                before=_end(before),
                after=_end(after),
            )


def _end(waiver: Waiver | None) -> str:
    return f"waived until {waiver.until}" if waiver else ""


def _moved(before: Waiver | None, after: Waiver | None) -> Direction:
    longer = after is not None and (before is None or after.until > before.until)
    return "weaker" if longer else "stronger"


def lost_tests_of_file(path: str, before: str, after: str) -> Iterator[GradingChange]:
    """Yield the tests that a rubric file has lost; two tests are one if nothing of them differs."""
    then, now = open_rubric(path, before).document, open_rubric(path, after).document
    left = _tests_of_file(now.data)
    for number, each in enumerate(_tests_of_file(then.data)):
        if each not in left:
            line = then.locate(("tests", number))[0]
            answer = str(each.get("answer", each.get("answer_file", "")))
            yield _removed_test("tests", path, line, answer, each.get("marks"))


def _tests_of_file(data: Any) -> list[dict[str, Any]]:
    tests = data.get("tests") if isinstance(data, dict) else None
    return [each for each in tests if isinstance(each, dict)] if isinstance(tests, list) else []


def lost_tests_of_cases(
    cases: Iterable[EvalCase], before: Mapping[CaseKey, EvalCase]
) -> Iterator[GradingChange]:
    for case in cases:
        if (was := before.get(case.key)) and (old := _tests_of_case(was)):
            left = [(each.answer, each.marks) for each in _tests_of_case(case)]
            for each in old:
                if (each.answer, each.marks) not in left:
                    about = f"{case.id}/tests"
                    yield _removed_test(about, case.file, each.line, each.answer, each.marks)


def _tests_of_case(case: EvalCase) -> list[MarkTest]:
    return [each for spec in case.evaluators if isinstance(spec, RubricSpec) for each in spec.tests]


def _removed_test(about: str, file: str, line: int, answer: str, marks: Any) -> GradingChange:
    shown = f"“{shortened(one_line(answer), 60)}”: {json.dumps(marks, ensure_ascii=False)}"
    return GradingChange(
        kind="criterion",
        direction="changed",
        about=about,
        file=file,
        line=line,
        before=shown,
        after="",
    )
