"""`rubric-ci doctor`: check the setup of this machine and repository; no prompt is sent."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join

import click

from rubric_ci.cli.commands.validate import waiver_states
from rubric_ci.errors import CannotFindEvals, ExitCode
from rubric_ci.files.parsing.env_vars import Variables
from rubric_ci.files.project.checker import Checker, open_unchecked
from rubric_ci.files.project.project import Project
from rubric_ci.services.doctor import Check, judge_checks, repository_checks, target_checks
from rubric_ci.system.output import wrapped
from rubric_ci.text import escape, numbers


def doctor(config: Path | None, *, as_json: bool) -> ExitCode:
    """Print a line per check; exit with 1 if something is to be done."""
    checks = tuple(_checks(open_unchecked(config)))
    failed = [check for check in checks if check.ok is False]
    if as_json:
        shown = [check._asdict() for check in checks]
        click.echo(json.dumps({"ok": not failed, "checks": shown}, ensure_ascii=False, indent=2))
    else:
        for check in checks:
            word = "open" if check.ok is None else "ok  " if check.ok else "fix "
            line = escape.log_line(f"{word} {check.about}: {check.said}")
            click.echo(wrapped(line, sys.stdout))
        count = numbers.plural(len(failed), "thing")
        click.echo(f"{count} to do" if failed else "all is well")
    return ExitCode.GATE if failed else ExitCode.OK


def _checks(project: Project) -> Iterator[Check]:
    environment = os.environ
    checker = Checker(project, waiver_states, from_root=True)
    evals = _evals(checker)
    yield from _files(project, checker, evals)
    config = project.policy_for("any")
    variables = Variables(environment=environment, listed=config.env_allow)
    yield from judge_checks(config, variables)
    folders = dict.fromkeys(["", *(dirname(project.name_of(path)) for path in evals)])
    targets = (project.policy_for(join(folder, "any")).targets for folder in folders)
    yield from target_checks(targets, variables)
    yield from repository_checks(project.root, config, environment)


def _evals(checker: Checker) -> list[Path]:
    try:
        return checker.find("")
    except CannotFindEvals:
        return []


def _files(project: Project, checker: Checker, evals: list[Path]) -> Iterator[Check]:
    """Yield the problems of the configuration and the targets files."""
    if not project.config_name:
        yield Check(ok=False, about="rubric-ci.yaml", said="it is missing; run `rubric-ci init`")
    for path in checker.configs(evals):
        found = [each for each in checker.check(path).found if each.severity.value != "notice"]
        for each in found:
            place = f"{each.file}:{each.span.line}"
            said = "; ".join(filter(None, (each.message, each.hint)))
            yield Check(ok=False, about=place, said=said)
        if not found:
            yield Check(ok=True, about=path.as_posix(), said="no problems")
