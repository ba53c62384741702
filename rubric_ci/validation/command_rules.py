"""Rules of commands: their folders, scripts and programs exist on this machine."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from rubric_ci.model.references import Machine
from rubric_ci.model.rules import Rule
from rubric_ci.validation.agentv import snake_case
from rubric_ci.validation.shell_words import read_command
from rubric_ci.yaml_text.problems import Path, Problem

FOLDER_MISSING: Final = Rule(
    id="folder-missing",
    severity="warning",
    switchable=True,
    meaning="The working folder of a script or a command does not exist, so it cannot be started.",
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
    """Yield the programs and files that the scripts of an eval file lack on this machine."""
    owners: list[tuple[Any, Path]] = [(data, ())]
    cases = data.get("evalcases") if isinstance(data, dict) else None
    owners.extend((case, ("evalcases", n)) for n, case in enumerate(_list(cases)))
    for owner, path in owners:
        if isinstance(owner, dict):
            places = ((owner, path), (owner.get("execution"), (*path, "execution")))
            for holder, where in places:
                if isinstance(holder, dict):
                    found = holder.get("evaluators")
                    yield from _evaluators(found, (*where, "evaluators"), machine)


def target_command_problems(data: Any, machine: Machine) -> Iterator[Problem]:
    """Yield the programs and files that the commands of targets lack on this machine."""
    targets = data.get("targets") if isinstance(data, dict) else None
    for index, target in enumerate(_list(targets)):
        if isinstance(target, dict):
            path: Path = ("targets", index)
            yield from _checked(target, path, ("command_template", "command"), machine)
            check = target.get("healthcheck")
            if isinstance(check, dict):
                yield from _checked(check, (*path, "healthcheck"), ("command_template",), machine)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _evaluators(evaluators: Any, path: Path, machine: Machine) -> Iterator[Problem]:
    for index, evaluator in enumerate(_list(evaluators)):
        if not isinstance(evaluator, dict):
            continue
        where: Path = (*path, index)
        match evaluator.get("type"):
            case "code_judge":
                yield from _checked(evaluator, where, ("script",), machine)
            case "llm_judge" if isinstance(evaluator.get("prompt"), dict):
                prompt = evaluator["prompt"]
                yield from _checked(prompt, (*where, "prompt"), ("script",), machine)
            case "composite":
                yield from _evaluators(evaluator.get("evaluators"), (*where, "evaluators"), machine)
                aggregator = evaluator.get("aggregator")
                if isinstance(aggregator, dict) and aggregator.get("type") == "code_judge":
                    yield from _checked(aggregator, (*where, "aggregator"), ("path",), machine)


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
    words = command.words
    if not isinstance(words, str) and not all(isinstance(word, str) for word in _list(words)):
        return
    started = read_command(words if isinstance(words, str) else _list(words))
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
