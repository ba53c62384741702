"""Changes to the grading in other files: scripts, recordings, labels, waivers, tests of criteria.

The files that a script of any language uses are looked for by the names in its command and in its
text, so a file may be found that is not used.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from posixpath import basename, dirname, join, normpath, relpath, splitext
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.errors import CannotReadFile
from rubric_ci.files.project.links import ancestors, named_paths
from rubric_ci.files.validation.located_problems import ignored_rules
from rubric_ci.files.validation.rubric_files import open_rubric
from rubric_ci.gate.differences.case_changes import moves
from rubric_ci.gate.differences.cases import Entries, Entry, line_of
from rubric_ci.gate.selection.dependencies import ChangedPaths, commands_of, copied_by, scripts_of
from rubric_ci.text.escape import one_line
from rubric_ci.text.globs import matcher
from rubric_ci.text.numbers import shortened
from rubric_ci.values.changes import GradingChange, GradingChangeKind
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.evals import EvalCase, every_evaluator
from rubric_ci.values.formats_and_defaults import WAIVERS
from rubric_ci.values.targets import RunnerTarget, Target
from rubric_ci.values.waivers import Waiver
from rubric_ci.values.walk import ABSENT, canonical, differences, facts
from rubric_ci.values.workspace_settings import Workspace

CODE: Final = frozenset(
    (
        *("", ".awk", ".bash", ".cjs", ".cts", ".go", ".jq", ".js", ".jsx", ".lua", ".mjs", ".mts"),
        *(".php", ".pl", ".pm", ".ps1", ".py", ".pyi", ".rb", ".rs", ".sh", ".ts", ".tsx", ".zsh"),
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
_NODE: Final = (*_NPM, *(f"{'../' * n}package.json" for n in range(1, 5)))
_VITEST: Final = ("**/*.spec.*", "**/*.test.*", "jest.config.*", "vitest.config.*", *_NPM)
UNNAMED: Final = {
    "jest": _VITEST,
    "just": ("justfile", "Justfile"),
    "make": ("GNUmakefile", "Makefile", "makefile"),
    "node": _NODE,
    "nox": ("noxfile.py",),
    "npm": _NPM,
    "npx": _NPM,
    "pnpm": _NPM,
    "promptfoo": ("promptfooconfig.*",),
    "pytest": _PYTEST,
    "task": ("Taskfile.*",),
    "tox": ("tox.ini", "pyproject.toml"),
    "unittest": ("**/test*.py",),
    "vitest": _VITEST,
    "yarn": _NPM,
}
"""Files that a program reads although its command line does not name them, as globs."""

MOST: Final = 500  # files per script

_PACKAGES: Final = frozenset(("__init__", "__main__", "index", "mod"))  # named by their folder
_WORD = re.compile(r"\w[\w-]*(?:\.\w+)*")
_PATH = re.compile(r"[\w./-]+")
_WILD: Final = frozenset("*?[")

Read: TypeAlias = Callable[[str], bytes | None]
"""The content of a file by its path from the root; None: there is no such file."""


Line: TypeAlias = str | tuple[str, ...]
"""A command: a line for a shell, or its words."""


class ScriptFiles:
    def __init__(
        self, paths: Iterable[str], read: Read, links: Mapping[str, str] | None = None
    ) -> None:
        """Take the paths, their content, and the places that links lead to."""
        self._read, self._paths, self._links = read, frozenset(paths), links or {}
        self._odd = [path for path in self._paths if not _PATH.fullmatch(path)]
        self._named: dict[str, set[str]] = defaultdict(set)
        for path in self._paths:
            for name in _names(path):
                self._named[name].add(path)

    def named(self, command: Line, cwd: str) -> frozenset[str]:
        """Return the files that the words of a command are, or match as a shell expands them."""
        words = frozenset(named_paths(command, cwd))
        found = words & self._paths
        if globs := [word for word in words if not _WILD.isdisjoint(word)]:
            found = found.union(filter(matcher(globs), self._paths))
        return found

    def used_by(self, command: Line, cwd: str, read: Set[str] = CODE) -> frozenset[str]:
        """Return the files that a command names, and those that these files name in turn.

        `read` has the suffixes of the files whose text is read.
        """
        home, line = normpath(cwd), (command if isinstance(command, str) else "\n".join(command))
        unnamed, named = set(self._unnamed(line, home)), self.named(command, home)
        found = unnamed | named
        waiting = [(home, line), *((home, self._text(path)) for path in sorted(unnamed))]
        waiting += [(dirname(path) or ".", self._text(path)) for path in _readable(named, read)]
        while waiting and len(found) < MOST:
            folder, text = waiting.pop()
            new = set(self._in(text, {folder, home})) - found
            found |= new
            waiting += [(dirname(path) or ".", self._text(path)) for path in _readable(new, read)]
        return frozenset(found)

    def homes(self, command: Line, cwd: str, *, own: bool) -> frozenset[str]:
        """Return the folders of the files that a command names, also through links.

        `own`: of a command that names none, its working directory.
        """
        named = self.named(command, cwd)
        found = {dirname(each) or "." for path in named for each in (path, self._real(path))}
        return frozenset(found or ({normpath(cwd)} if own else ()))

    def _real(self, path: str) -> str:
        for link in (path, *ancestors(path)):
            if link in self._links:
                return f"{self._links[link]}{path[len(link) :]}"
        return path

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
        yield from (path for path in self._odd if basename(path) in text)

    def _text(self, path: str) -> str:
        """Return the text of a path; a submodule, or a link to a folder, has none."""
        try:
            return (self._read(path) or b"").decode("utf-8", "replace")
        except CannotReadFile:
            return ""


def _module(path: str) -> str:
    """Return the path without suffix; of `lib/__init__.py` it is the folder."""
    stem = splitext(path)[0]
    return dirname(stem) if basename(stem) in _PACKAGES and dirname(stem) else stem


def _names(path: str) -> tuple[str, ...]:
    code = splitext(path)[1] in CODE
    return (basename(path), basename(_module(path))) if code else (basename(path),)


def _readable(paths: Iterable[str], suffixes: Set[str]) -> Iterator[str]:
    return (path for path in sorted(paths) if splitext(path)[1] in suffixes)


ROOT_CODE: Final = (*(f"*{suffix}" for suffix in sorted(filter(None, CODE))), "node_modules/**")

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
    used, paths = set[str](), ChangedPaths(changed)
    for script in dict.fromkeys(each for pair in cases for each in _scripts(*pair)):
        tested, around = matcher(script.tested), _around(script, files)
        used |= files.used_by(script.command, script.cwd)
        near = {*paths.at(named_paths(script.command, script.cwd))}
        near |= set(filter(around, changed - others - {*script.program}))
        used |= {path for path in near if not tested(path)}
    for folder, exempt in dict.fromkeys(each for pair in cases for each in _copied(*pair)):
        tested = matcher(exempt)
        used |= {path for path in {*paths.at([folder])} - others if not tested(path)}
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


def _tested(target: Target | None) -> tuple[str, ...]:
    if target is None or target.depends_on == target.assumed_dependencies:
        return ()
    return target.depends_on or ()


def measure_files(target: Target, files: ScriptFiles, changed: Set[str]) -> Iterator[GradingChange]:
    """Yield the changed files of a target that must be exceeded, whose answers are a measure."""
    skill = [target.skill.path] if target.skill else []
    used = {*ChangedPaths(changed).at(skill, target.depends_on or ())}
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
    settings, home = frozenset(unnamed), normpath(target.cwd)
    used = {*ChangedPaths(changed).at(named_paths(target.command_template, home))}
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
    for spec in scripts_of(case):
        yield Script(spec.script, spec.cwd, True, spec.depends_on, tested, program)
    for rule in (each for spec in every_evaluator(case.evaluators) for each in commands_of(spec)):
        yield from (Script(str(rule.value), home, False, (), tested, ()) for home in homes)
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
        yield from ((normpath(path), _tested(target)) for path in copied_by(workspace))


def edited_file(
    kind: GradingChangeKind, path: str, before: str = "as at the base", after: str = "edited"
) -> GradingChange:
    """Return the change of a file that is not read here."""
    return GradingChange(
        kind=kind, direction="changed", about=path, file=path, line=1, before=before, after=after
    )


def entry_changes(then: Entries, now: Entries) -> Iterator[GradingChange]:
    """Yield the entries of files that differ, as the table of effects says."""
    for row, move in moves("entries", differences(then, now)):
        entry = move.before if move.after is ABSENT else move.after
        for direction, before, after in row.told(move):
            assert row.kind is not None  # noqa: S101 - each row of an entry has one
            yield GradingChange(
                kind=row.kind,
                direction=direction,
                about=entry.about,
                file=entry.file,
                line=line_of(move),
                before=before,
                after=after,
            )


def lines_of_file(path: str, text: str) -> dict[str, Entry]:
    return {path: Entry(path, path, 0, text)}


def waiver_entries(waivers: Iterable[Waiver]) -> dict[str, Entry]:
    return {
        str(each.key): Entry(WAIVERS, f"{each.case}/{each.criterion}", each.line, each.until)
        for each in waivers
    }


def ignored_entries(path: str, text: str) -> dict[str, Entry]:
    """Return how many comments of an eval file turn each rule off, at the last of them."""
    found = [*ignored_rules(text)]
    counts = Counter(each.rule for each in found)
    lines = {each.rule: each.line for each in found}
    return {
        f"{path} {rule}": Entry(path, rule, lines[rule], counts[rule]) for rule in sorted(counts)
    }


def file_tests(path: str, text: str) -> dict[str, Entry]:
    """Return the tests of a rubric file; two tests are one if nothing of them differs."""
    document = open_rubric(path, text).document
    data = document.data if isinstance(document.data, dict) else {}
    tests = data.get("tests")
    return {
        f"{path} {canonical(each)}": _test("tests", path, line, answer, each.get("marks"))
        for number, each in enumerate(tests if isinstance(tests, list) else ())
        if isinstance(each, dict)
        for line in (document.locate(("tests", number))[0],)
        for answer in (str(each.get("answer", each.get("answer_file", ""))),)
    }


def case_tests(case: EvalCase, key: CaseKey) -> dict[str, Entry]:
    """Return the tests of a case, or of the one that was there before, under the key it has now."""
    return {
        canonical([*key, test.answer, facts(test.marks)]): _test(
            f"{key[1]}/tests", key[0], test.line, test.answer, test.marks
        )
        for spec in case.rubrics
        for test in spec.tests
    }


def _test(about: str, file: str, line: int, answer: str, marks: Any) -> Entry:
    shown = f"“{shortened(one_line(answer), 60)}”: {json.dumps(marks, ensure_ascii=False)}"
    return Entry(file, about, line, shown)
