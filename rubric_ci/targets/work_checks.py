"""Assertions about a workspace, checked while it exists; commands come last, in file order."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rubric_ci.assertions import folder
from rubric_ci.assertions.folder import check_name
from rubric_ci.assertions.row import FOLDER, Outcome
from rubric_ci.assertions.table import TABLE
from rubric_ci.errors import CannotRunScript
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase, RubricSpec, every_evaluator
from rubric_ci.model.rubric import Assertion
from rubric_ci.model.trace import FileChange, WorkCheck
from rubric_ci.system import processes
from rubric_ci.system.masking import redact
from rubric_ci.system.processes import Command, clean_environment
from rubric_ci.system.scratch import VARIABLE
from rubric_ci.targets.file_changes import entries, text_of

COMMAND_SECONDS: Final = 300.0
_MOST_OUTPUT: Final = 400  # characters, from the end


def assertions_of(case: EvalCase) -> list[Assertion]:
    """Return the assertions of a case about a workspace, each once."""
    specs = (spec for spec in every_evaluator(case.evaluators) if isinstance(spec, RubricSpec))
    found = (c for spec in specs for c in spec.rubric if isinstance(c, Assertion))
    by_name = {check_name(c.key, c.value): c for c in found if TABLE[c.key].of == FOLDER}
    return list(by_name.values())


def check_files(
    case: EvalCase, work: Path, changes: tuple[FileChange, ...]
) -> tuple[WorkCheck, ...]:
    """Return the outcomes of the assertions about files."""
    return tuple(_files(assertions_of(case), work, changes))


def _files(
    assertions: list[Assertion], work: Path, changes: tuple[FileChange, ...]
) -> Iterator[WorkCheck]:
    paths = dict(entries(work)) if assertions else {}
    for each in assertions:
        value = each.value
        match each.key:
            case "exists":
                found = folder.exists(paths, value)
            case "file_contains":
                path = os.path.normpath(value["path"]).replace(os.sep, "/")
                text = text_of(work / path, paths[path]) if path in paths else None
                found = folder.file_contains(text, value)
            case "unchanged":
                found = folder.unchanged([change.path for change in changes], value)
            case _:
                continue
        yield _check(each, found)


async def run_commands(
    case: EvalCase, work: Path, home: Path, context: RunContext
) -> tuple[WorkCheck, ...]:
    """Run the commands that assertions name, without the target's variables and sandbox."""
    commands = [each for each in assertions_of(case) if each.key == "command"]
    return tuple([await _run(each, work, home, context) for each in commands])


async def _run(assertion: Assertion, work: Path, home: Path, context: RunContext) -> WorkCheck:
    environment = {**clean_environment(context.environment), "HOME": str(home), VARIABLE: str(work)}
    command = Command(
        script=str(assertion.value),
        cwd=work,
        environment=environment,
        known=context.environment,
        timeout_seconds=COMMAND_SECONDS,
    )
    name = check_name(assertion.key, assertion.value)
    try:
        finished = await processes.run(command)
    except CannotRunScript as error:
        return WorkCheck(name=name, error=str(error))
    printed = redact(f"{finished.stdout}{finished.stderr}").strip()
    if finished.status in {126, 127}:
        reason = processes.describe_exit(finished)
        return WorkCheck(name=name, error=f"the command could not be run: {reason}")
    return _check(assertion, folder.command(finished.status, printed[-_MOST_OUTPUT:]))


def _check(assertion: Assertion, found: Outcome) -> WorkCheck:
    return WorkCheck(
        name=check_name(assertion.key, assertion.value),
        holds=found.holds,
        found=found.found,
        evidence=found.evidence,
    )
