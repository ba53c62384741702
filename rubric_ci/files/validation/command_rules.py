"""Rules of commands: their folders, scripts and programs exist on this machine."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from rubric_ci.evaluators.kind import written_evaluators
from rubric_ci.files.validation.agentv import snake_case
from rubric_ci.files.validation.evaluator_rules import scripts_of
from rubric_ci.text.command_lines_and_variables import shell_words
from rubric_ci.values.problems import Path, Problem, Rule, mapping_at, mappings
from rubric_ci.values.references import Machine

FOLDER_MISSING: Final = Rule(
    id="folder-missing",
    switchable=True,
    meaning=(
        "A folder that a script or a command starts in, or that a workspace copies, does not "
        "exist: no case gets an answer or a mark."
    ),
    hint="create the folder, or fix `cwd`: it is relative to the folder of this file",
)
SCRIPT_MISSING: Final = Rule(
    id="script-missing",
    severity="warning",
    switchable=True,
    meaning=(
        "A script that an evaluator or a target starts does not exist. Paths are relative to its "
        "working folder."
    ),
    hint="fix the path, or set `cwd` to the folder that it is relative to",
)
PROGRAM_MISSING: Final = Rule(
    id="program-missing",
    severity="warning",
    switchable=True,
    meaning=(
        "A program that an evaluator or a target starts is not on the PATH of this machine. It is "
        "needed on the machines that run the evals."
    ),
    hint="install it where the evals run; `rules: {program-missing: off}` turns this warning off",
)


class _Command(NamedTuple):
    """A command, its folder, and the paths of both in the file."""

    words: Any
    path: Path
    folder: str
    folder_path: Path


def script_problems(data: Any, machine: Machine) -> Iterator[Problem]:
    """Yield the programs, files and folders that an eval file needs and this machine lacks."""
    for path, owner in ((), data), *mappings(data, "evalcases"):
        if isinstance(owner, dict):
            yield from workspace_problems(owner, path, machine)
            for name, hook in mapping_at(mapping_at(owner, "workspace"), "hooks").items():
                if isinstance(hook, dict):
                    where = (*path, "workspace", "hooks", name)
                    yield from _checked(hook, where, ("command",), machine)
    for path, evaluator in written_evaluators(data):
        for script in scripts_of(evaluator, path):
            yield from _checked(script.data, script.path, (script.key,), machine)


def target_command_problems(data: Any, machine: Machine) -> Iterator[Problem]:
    """Yield the programs and files that the commands of targets lack on this machine."""
    for path, target in mappings(data, "targets"):
        yield from _checked(target, path, ("command_template", "command"), machine)
        check = target.get("healthcheck")
        if isinstance(check, dict):
            yield from _checked(check, (*path, "healthcheck"), ("command_template",), machine)
        yield from workspace_problems(target, path, machine)


def workspace_problems(owner: dict[str, Any], path: Path, machine: Machine) -> Iterator[Problem]:
    """Yield the folder that a workspace copies if it does not exist, and no `setup` makes it."""
    workspace = mapping_at(owner, "workspace")
    folder = workspace.get("copy")
    if isinstance(workspace.get("setup"), list):
        return
    if isinstance(folder, str) and _is_plain(folder) and not machine.has_folder(folder):
        message = f"there is no folder `{folder}`"
        hint = "fix `copy`, which is relative to this file; or let `setup`, a list, make the folder"
        yield Problem(FOLDER_MISSING, (*path, "workspace", "copy"), message, hint)


def _checked(
    owner: dict[str, Any], path: Path, keys: Iterable[str], machine: Machine
) -> Iterator[Problem]:
    """Yield the problems of the command under the first of the keys, in any spelling."""
    spelt = {snake_case(key): key for key in owner if isinstance(key, str)}
    key = next((spelt[key] for key in keys if key in spelt), None)
    folder = owner.get(spelt.get("cwd", "cwd"), ".")
    if key is not None and isinstance(folder, str) and "$" not in folder:
        command = _Command(owner[key], (*path, key), folder, (*path, "cwd"))
        yield from _problems(command, machine)


def _problems(command: _Command, machine: Machine) -> Iterator[Problem]:
    if not machine.has_folder(command.folder):
        message = f"there is no folder `{command.folder}`"
        yield Problem(FOLDER_MISSING, command.folder_path, message)
        return
    words = command.words if isinstance(command.words, str | list) else []
    if not all(isinstance(word, str) for word in words):
        return
    started = read_command(words)
    if not started.program:
        return
    is_path = "/" in started.program
    if is_path and not machine.has_file(command.folder, started.program):
        yield _script_missing(command, started.program)
    elif not is_path and not machine.has_program(started.program):
        message = f"`{started.program}` is not on the PATH of this machine"
        yield Problem(PROGRAM_MISSING, command.path, message)
    if started.script and not machine.has_file(command.folder, started.script):
        yield _script_missing(command, started.script)


def _script_missing(command: _Command, script: str) -> Problem:
    where = "" if command.folder == "." else f" in `{command.folder}`"
    return Problem(SCRIPT_MISSING, command.path, f"there is no script `{script}`{where}")


_OPERATORS: Final = frozenset(";|&<>()")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SCRIPT = re.compile(r"\.(?:py|[cm]?[jt]sx?|rb|pl|php|sh|bash|ps1)$")
_INTERPRETER = re.compile(
    r"(?:python[\d.]*|node|bun|deno|tsx|ts-node|ruby|perl|php|bash|sh|zsh|pwsh|uv)(?:\.exe)?"
)
_CODE_OPTIONS: Final = frozenset({"-c", "-e", "-m", "-p", "--eval", "--print"})
_OF_SHELL: Final = frozenset(
    {"cd", "exit", "export", "source", ".", "set", "unset", "eval", "exec", "command", "type"}
    | {"if", "for", "while", "until", "case", "function", "!", "{", "[[", "time", "trap", "wait"}
    | {"umask", "ulimit", "read", "local", "return", "shift", ":", "alias", "pushd", "popd"}
)
_OF_CMD: Final = frozenset(
    {"assoc", "break", "call", "chdir", "cls", "color", "copy", "date", "del", "dir", "echo"}
    | {"endlocal", "erase", "ftype", "goto", "md", "mkdir", "mklink", "move", "path", "pause"}
    | {"prompt", "rd", "rem", "ren", "rename", "rmdir", "setlocal", "start", "title", "ver"}
    | {"verify", "vol"}
)


class Started(NamedTuple):
    """The program and script that a command starts; empty if the text does not show them."""

    program: str = ""
    script: str = ""


def read_command(command: str | Sequence[str], platform: str = sys.platform) -> Started:
    """Return the first program of a shell command or a list of words."""
    words = _first_command(command, platform) if isinstance(command, str) else list(command)
    if platform == "win32":
        words = [word.replace("\\", "/") for word in words]
    if not words or (isinstance(command, str) and _is_builtin(words[0], platform)):
        return Started()
    program = words[0] if _is_plain(words[0]) else ""
    return Started(program=program, script=_script(words) if program else "")


def _is_builtin(name: str, platform: str) -> bool:
    return name.lower() in _OF_SHELL | _OF_CMD if platform == "win32" else name in _OF_SHELL


def _first_command(line: str, platform: str) -> list[str]:
    """Return the words of the first simple command of a shell line; none if PATH is set."""
    words: list[str] = []
    for token in shell_words(line, escape="" if platform == "win32" else "\\"):
        if set(token) <= _OPERATORS:
            break
        if words or not _ASSIGNMENT.match(token):
            words.append(token)
        elif token.startswith("PATH="):
            return []
    return words


def _script(words: Sequence[str]) -> str:
    if not _INTERPRETER.fullmatch(re.split(r"[/\\]", words[0])[-1]):
        return ""
    for word in words[1:]:
        if word in _CODE_OPTIONS:
            return ""
        if _SCRIPT.search(word) and not word.startswith("-"):
            return word if _is_plain(word) else ""
    return ""


def _is_plain(word: str) -> bool:
    """Return True for a word that neither a shell nor rubric-ci replaces."""
    return bool(word) and "://" not in word and not any(sign in word for sign in "${}*?`~[]")
