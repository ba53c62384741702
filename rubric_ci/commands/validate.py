"""`rubric-ci validate`: check eval files, targets and configuration, offline.

NOTE: this runs at every commit, so it imports neither the nouns of a run nor anything that files
without problems do not need.
"""

import gc
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rubric_ci.errors import CannotFindEvals, CannotReadFile, ExitCode, UserError
from rubric_ci.project.checker import Checker
from rubric_ci.system.fork_pool import in_parallel, usable_cores
from rubric_ci.validation.output.text import summary

if TYPE_CHECKING:
    from rubric_ci.model.diagnostics import Diagnostic

STDIN = "-"
WORTH_FORKING = 64  # files; fewer are done before a second process would have begun


class ValidateSettings(NamedTuple):
    """What was asked."""

    paths: tuple[str, ...] = ()
    config: Path | None = None
    style: str = "text"
    color: str = "auto"
    fix: bool = False
    diff: bool = False
    only_evals: bool = False  # leave out paths that do not concern us: a hook gets every file


Job: TypeAlias = Callable[[], "Sequence[Diagnostic]"]


def validate(settings: ValidateSettings) -> ExitCode:
    """Check, print and tell."""
    gc.disable()  # nodes and data form no cycles: collecting only costs, a fifth of the time
    checker = Checker(settings.config, from_root=settings.style != "text")
    if settings.fix or settings.diff:
        from rubric_ci.project.fixer import fix_files

        paths, _ = _paths(settings.paths, checker)
        places = fix_files(paths, write=not settings.diff)
        if settings.diff:
            return ExitCode.GATE if places else ExitCode.OK
    jobs, lost = _jobs(settings, checker)
    workers = usable_cores() if len(jobs) >= WORTH_FORKING else 1
    found = [problem for some in in_parallel(_do, jobs, workers) for problem in some]
    if jobs or not lost:
        sys.stdout.write(_rendered(settings, found, len(jobs)))
    if lost:
        from rubric_ci.text.escape import log_line

        for error in lost:
            hint = f"  {log_line(error.hint)}\n" if error.hint else ""
            sys.stderr.write(f"{log_line(f'rubric-ci: {error.message}')}\n{hint}")
        return ExitCode.USAGE
    errors = any(problem.severity.value == "error" for problem in found)
    return ExitCode.GATE if errors else ExitCode.OK


def _do(job: Job) -> "Sequence[Diagnostic]":
    return job()


def _jobs(settings: ValidateSettings, checker: Checker) -> tuple[list[Job], list[UserError]]:
    """Return one job a file, and what could not be found."""
    paths, lost = _paths(settings.paths, checker)
    if settings.only_evals:
        paths = [path for path in paths if checker.concerns(path)]
    jobs: list[Job] = []
    if STDIN in settings.paths:
        jobs.append(partial(checker.check_stdin, _stdin()))
    if not settings.paths:
        paths = [*checker.configs(paths), *paths]
    jobs.extend(partial(checker.check, path) for path in paths)
    return jobs, lost


def _stdin() -> bytes:
    if sys.stdin is None:  # a shell's <&-
        raise CannotReadFile("there is no standard input to read")
    return sys.stdin.buffer.read()


def _paths(written: Sequence[str], checker: Checker) -> tuple[list[Path], list[UserError]]:
    found: dict[str, Path] = {}
    lost: list[UserError] = []
    for path in written or [""]:
        try:
            for file in _files(path, checker):
                found.setdefault(str(file), file)
        except CannotFindEvals as error:
            lost.append(error)
    return list(found.values()), lost


def _files(written: str, checker: Checker) -> Iterable[Path]:
    if written == STDIN:
        return ()
    path = Path(written)
    if written and path.is_file():
        return (checker.owner_of(path),)
    return checker.find(written)


def _rendered(settings: ValidateSettings, found: "list[Diagnostic]", checked: int) -> str:
    match settings.style:
        case "github":
            from secrets import token_hex

            from rubric_ci.validation.output import github

            return github.render(found, checked, token_hex(16))
        case "json":
            from rubric_ci.validation.output import json

            return json.render(found, checked)
        case "sarif":
            from rubric_ci import __version__
            from rubric_ci.validation.output import sarif
            from rubric_ci.validation.rule_docs import meanings

            return sarif.render(found, __version__, meanings())
        case _ if not found:
            return f"{summary(found, checked)}\n"  # without the rules of escaping: 8 ms
        case _:
            from rubric_ci.validation.output import text

            told = text.render(found, checked, color=_is_colored(settings.color))
            return told if environ.get("GITHUB_ACTIONS") != "true" else _uncommanded(told)


def _uncommanded(text: str) -> str:
    """Keep what eval files say from giving orders to a runner, where a hook runs in a workflow."""
    from secrets import token_hex

    from rubric_ci.text.workflow_commands import disable_workflow_commands

    return disable_workflow_commands(text, token_hex(16))


def _is_colored(word: str) -> bool:
    return word == "always" or (
        word == "auto" and sys.stdout.isatty() and not environ.get("NO_COLOR")
    )


def explain(rule: str) -> ExitCode:
    """Print the page of a rule, or of all of them."""
    from rubric_ci.text.suggestions import did_you_mean
    from rubric_ci.validation.rule_docs import render_rule
    from rubric_ci.validation.rule_ids import RULES

    if rule != "all" and rule not in RULES:
        hint = did_you_mean(rule, RULES) or "`rubric-ci validate --explain all` lists the rules"
        raise UserError(f"there is no rule `{rule}`", hint)
    pages = [render_rule(name) for name in (RULES if rule == "all" else [rule])]
    sys.stdout.write("\n".join(pages))
    return ExitCode.OK
