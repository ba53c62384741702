"""Changes to the grading in other files: scripts, recordings, labels, calibration, waivers.

The names of the files that a script uses are looked for in the text of any language, so a file may
be listed that is not used.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from posixpath import basename, dirname, join, normpath, relpath, splitext
from typing import Final, TypeAlias

from rubric_ci.files.project.links import ancestors
from rubric_ci.files.validation.located_problems import ignored_rules
from rubric_ci.text import numbers
from rubric_ci.text.globs import matcher
from rubric_ci.values.changes import Direction, GradingChange, GradingChangeKind
from rubric_ci.values.config import (
    CliTarget,
    LlmTarget,
    RunnerTarget,
    Target,
    Workspace,
    assumed_dependencies,
)
from rubric_ci.values.evals import CodeJudgeSpec, EvalCase, RubricSpec, every_evaluator
from rubric_ci.values.waivers import Waiver

CODE: Final = frozenset(
    (
        *("", ".bash", ".cjs", ".cts", ".go", ".js", ".jsx", ".lua", ".mjs", ".mts", ".php"),
        *(".pl", ".ps1", ".py", ".pyi", ".rb", ".rs", ".sh", ".ts", ".tsx", ".zsh"),
    )
)
"""Suffixes of files whose text names the files that they use."""
SETTINGS: Final = frozenset((".cfg", ".ini", ".json", ".toml", ".yaml", ".yml"))
"""Suffixes of the settings of other tools, which name files as well."""

_NPM: Final = ("package.json",)
_PYTEST: Final = (
    *("**/test_*.py", "**/*_test.py", "**/conftest.py"),
    *("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"),
)
_VITEST: Final = ("**/*.spec.*", "**/*.test.*", "jest.config.*", "vitest.config.*", *_NPM)
UNNAMED: Final = {
    "jest": _VITEST,
    "just": ("justfile", "Justfile"),
    "make": ("GNUmakefile", "Makefile", "makefile"),
    "nox": ("noxfile.py",),
    "npm": _NPM,
    "npx": _NPM,
    "pnpm": _NPM,
    "promptfoo": ("promptfooconfig.*",),
    "pytest": _PYTEST,
    "task": ("Taskfile.*",),
    "tox": ("tox.ini", "pyproject.toml"),
    "vitest": _VITEST,
    "yarn": _NPM,
}
"""Files that a program reads although its command line does not name them, as globs."""

RUN: Final = "command"  # the assertion that runs a command in the workspace
MOST: Final = 500  # files per script

_PACKAGES: Final = frozenset(("__init__", "__main__", "index", "mod"))  # named by their folder
_WORD = re.compile(r"\w[\w-]*(?:\.\w+)*")
_PATH = re.compile(r"[\w./-]+")

Read: TypeAlias = Callable[[str], bytes | None]
"""The content of a file by its path from the root; None: there is no such file."""


class ScriptFiles:
    """The files of a repository, by the words that may name them."""

    def __init__(self, paths: Iterable[str], read: Read) -> None:
        self._read, self._paths = read, frozenset(paths)
        self._folders = frozenset(each for path in self._paths for each in ancestors(path))
        self._named: dict[str, set[str]] = defaultdict(set)
        for path in self._paths:
            for name in _names(path):
                self._named[name].add(path)

    def used_by(self, command: str, cwd: str, read: Set[str] = CODE) -> frozenset[str]:
        """Return the files that a command names, and those that these files name in turn.

        `read` has the suffixes of the files whose text is read.
        """
        home = normpath(cwd)
        found = set(self._unnamed(command, home))
        waiting = [(home, command), *((home, self._text(path)) for path in sorted(found))]
        while waiting and len(found) < MOST:
            folder, text = waiting.pop()
            new = set(self._in(text, {folder, home})) - found
            found |= new
            texts = (path for path in sorted(new) if splitext(path)[1] in read)
            waiting += [(dirname(path) or ".", self._text(path)) for path in texts]
        return frozenset(found)

    def below(self, command: str, cwd: str) -> frozenset[str]:
        """Return the files below the folders that a command names, except its own folder."""
        home = normpath(cwd)
        named = {normpath(join(home, word)) for word in _PATH.findall(command)} - {".", home}
        folders = tuple(f"{name}/" for name in named & self._folders)
        return frozenset(path for path in self._paths if folders and path.startswith(folders))

    def _unnamed(self, command: str, home: str) -> Iterator[str]:
        """Yield the files that a program reads from its folder without being given their names."""
        words = set(_WORD.findall(command)) & UNNAMED.keys()
        if globs := [glob for word in words for glob in UNNAMED[word]]:
            fits = matcher([normpath(join(home, glob)) for glob in globs])
            yield from filter(fits, self._paths)

    def _in(self, text: str, folders: Set[str]) -> Iterator[str]:
        """Yield the files that a text names; a folder that is not its own is named as well."""
        relative = {normpath(join(at, name)) for at in folders for name in _PATH.findall(text)}
        yield from relative & self._paths
        words = {part for word in _WORD.findall(text) for part in (word, *word.split("."))}
        for word in words & self._named.keys():
            for path in self._named[word]:
                above = dirname(_module(path)) or "."
                if above in folders or basename(above) in words:
                    yield path

    def _text(self, path: str) -> str:
        return (self._read(path) or b"").decode("utf-8", "replace")


def _module(path: str) -> str:
    """Return the path without suffix; of `lib/__init__.py` it is the folder."""
    stem = splitext(path)[0]
    return dirname(stem) if basename(stem) in _PACKAGES and dirname(stem) else stem


def _names(path: str) -> tuple[str, ...]:
    code = splitext(path)[1] in CODE
    return (basename(path), basename(_module(path))) if code else (basename(path),)


Answered: TypeAlias = tuple[EvalCase, Target | None]
"""A case and the target that answers it; None: it is not known."""


def script_changes(
    cases: Sequence[Answered], files: ScriptFiles, changed: Set[str], others: Set[str] = frozenset()
) -> Iterator[GradingChange]:
    """Yield the changed files that a verdict depends on.

    A command names or imports them, or a workspace has them: its folder, its repositories.
    `others` are files that are compared elsewhere.
    """
    known = list(dict.fromkeys(each for pair in cases for each in _commands(*pair)))
    used = {path for command, cwd in known for path in files.used_by(command, cwd)}
    for folder, exempt in dict.fromkeys(each for pair in cases for each in _copied(*pair)):
        tested = matcher(exempt)
        below = (path for path in changed if _is_copied(path, folder))
        used |= {path for path in below if path not in others and not tested(path)}
    for (command, cwd), exempt in dict.fromkeys(each for pair in cases for each in _run(*pair)):
        tested = matcher(exempt)
        used |= {path for path in files.below(command, cwd) & changed if not tested(path)}
    yield from (edited_file("script", path) for path in sorted(used & changed))


def _is_copied(path: str, folder: str) -> bool:
    """Return True for a changed file of the folder, and for the submodule that it is in."""
    return folder == "." or path.startswith(f"{folder}/") or f"{folder}/".startswith(f"{path}/")


def _run(
    case: EvalCase, target: Target | None
) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    """Yield the commands that decide, each with the globs of the files under test."""
    yield from ((command, _tested(target)) for command in _commands(case, target))


def _tested(target: Target | None) -> tuple[str, ...]:
    """Return the written `depends_on` of a target."""
    if target is None or target.depends_on == assumed_dependencies(target):
        return ()
    return target.depends_on or ()


def measure_files(target: Target, files: ScriptFiles, changed: Set[str]) -> Iterator[GradingChange]:
    """Yield the changed files of a target that must be exceeded, whose answers are a measure."""
    globs = list(target.depends_on or ())
    if isinstance(target, CliTarget | LlmTarget) and target.skill:
        globs.append(f"{target.skill.path}/**")
    used = set(filter(matcher(globs), changed))
    if isinstance(target, CliTarget):
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
    own = target.workspace if isinstance(target, CliTarget) else None
    return case.workspace or own


def _commands(case: EvalCase, target: Target | None) -> Iterator[tuple[str, str]]:
    """Yield the commands that decide about an answer, or prepare it, each with its folder."""
    workspace = _workspace(case, target)
    homes = dict.fromkeys((workspace.copy or ".", ".") if workspace else (".",))
    for spec in every_evaluator(case.evaluators):
        if isinstance(spec, CodeJudgeSpec):
            yield _joined(spec.script), spec.cwd
        if isinstance(spec, RubricSpec):
            commands = (c.value for c in spec.rubric.assertions if c.key == RUN)
            yield from ((str(command), home) for command in commands for home in homes)
    if workspace and workspace.setup:
        yield from ((_joined(workspace.setup), home) for home in homes)
    for hook in workspace.hooks.every if workspace else ():
        yield _joined(hook.command), hook.cwd
    if isinstance(target, RunnerTarget):
        yield target.command_template, target.cwd


def _joined(command: str | tuple[str, ...]) -> str:
    return command if isinstance(command, str) else "\n".join(command)


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
    """Yield the rules that comments of an eval file turn off, or not any more."""
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
        kind=kind,
        direction="changed",
        about=path,
        file=path,
        line=line,
        before=before,
        after=after,
    )


def waiver_changes(
    head: Sequence[Waiver], base: Sequence[Waiver], file: str
) -> Iterator[GradingChange]:
    """Yield the waivers that were added, removed, extended or shortened."""
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
