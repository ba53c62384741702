"""`rubric-ci validate`: check eval files, targets and configuration, offline.

NOTE: this runs at every commit, so it imports neither the classes of a run nor anything that only
files with problems need.
"""

import gc
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, assert_never

from rubric_ci.errors import CannotFindEvals, CannotReadFile, ExitCode, UserError
from rubric_ci.files.project.checker import Checked, Checker
from rubric_ci.files.project.eval_search import find_rubrics
from rubric_ci.files.project.project import Project, open_checkout
from rubric_ci.files.validation.rubric_files import ENDING
from rubric_ci.system.actions_runner import in_workflow, is_before_merge
from rubric_ci.system.fork_pool import in_parallel, usable_cores
from rubric_ci.system.output_and_masking import use_color

if TYPE_CHECKING:
    from rubric_ci.files.validation.gate_and_waiver_rules import States
    from rubric_ci.files.yaml_text.document import Document
    from rubric_ci.values.diagnostics import Diagnostic

STDIN = "-"
FIXABLE = frozenset(("not-text", "ambiguous-text"))
_MISNAMED = ("rubric_ci.yaml", "rubric_ci.yml", "rubricci.yaml", ".rubric-ci.yaml")
WORTH_FORKING = 64  # files; fewer are checked before a second process has started


class ValidateSettings(NamedTuple):
    paths: tuple[str, ...] = ()
    config: Path | None = None
    policy_from: str = ""
    format: Literal["text", "github", "json", "sarif"] = "text"
    fix: bool = False
    diff: bool = False
    strict: bool = False  # warnings fail
    only_evals: bool = False  # ignore other paths: a hook passes every file


Job: TypeAlias = Callable[[], Checked]


def validate(settings: ValidateSettings) -> ExitCode:
    """Check the files, print the problems, return the exit code."""
    gc.disable()  # nodes and data form no cycles: collection would only cost a fifth of the time
    project, notes = _project_under_policy(settings)
    checker = Checker(project, waiver_states, from_root=settings.format != "text")
    paths, errors = _paths(settings.paths, checker)
    if settings.fix or settings.diff:
        from rubric_ci.files.project.fixer import fix_files

        places = fix_files(paths, project.rules, write=not settings.diff)
        if settings.diff:
            return ExitCode.GATE if places else ExitCode.OK
    jobs = _jobs(paths, settings, checker)
    workers = usable_cores() if len(jobs) >= WORTH_FORKING else 1
    checked = in_parallel(_do, jobs, workers)
    included = {name for each in checked for name in each.included}
    found = [problem for each in checked for problem in each.found]
    if not settings.paths:
        found += checker.unused([path for path in paths if path.name.endswith(ENDING)], included)
    found = list(dict.fromkeys(found))  # each file finds the problems of criteria that it shares
    more = len(included - checker.names_of(paths)) if included else 0
    if jobs or not errors:
        sys.stdout.write(_rendered(settings, found, len(jobs) + more, notes))
        if settings.format == "text" and not settings.fix:
            sys.stdout.write(_fixable(found, project.rules))
            sys.stdout.write(_left_aside(paths, settings, checker))
    if errors:
        raise errors[0] if len(errors) == 1 else _together(errors)
    failing = {"error", "warning"} if settings.strict else {"error"}
    failed = any(problem.severity.value in failing for problem in found)
    return ExitCode.GATE if failed else ExitCode.OK


def _project_under_policy(settings: ValidateSettings) -> "tuple[Project, tuple[str, ...]]":
    """Return the project, and what a report shows of a policy that is not the checkout's own."""
    project = open_checkout(settings.config)
    if not _may_have_base(settings.policy_from):
        return project, ()
    from rubric_ci.gate.policy.policy_source import under_rules

    return under_rules(project, settings.policy_from)


def waiver_states(
    document: "Document", project: "Project", evals: "Callable[[], Iterable[Path]]"
) -> "States":
    from rubric_ci.gate.waivers.matching import find_states

    return find_states(document, project, evals, datetime.now(UTC).date())


def _may_have_base(policy_from: str) -> bool:
    """Return False where the checkout's own rules hold; saves importing git code."""
    if policy_from:
        return policy_from != "head"
    return in_workflow(environ) and is_before_merge(environ.get("GITHUB_EVENT_NAME", ""))


def _do(job: Job) -> Checked:
    return job()


def _together(errors: Sequence[UserError]) -> CannotFindEvals:
    messages = "; ".join(error.message for error in errors)
    hints = "; ".join(dict.fromkeys(filter(None, (error.hint for error in errors))))
    return CannotFindEvals(messages, hints)


def _jobs(paths: Sequence[Path], settings: ValidateSettings, checker: Checker) -> list[Job]:
    """Return one job per file, and one for standard input."""
    if settings.only_evals:
        paths = [path for path in paths if checker.concerns(path)]
    jobs: list[Job] = []
    if STDIN in settings.paths:
        jobs.append(partial(checker.check_stdin, _stdin()))
    if not settings.paths:
        paths = [*checker.configs(paths), *paths]
    jobs.extend(partial(checker.check, path) for path in paths)
    return jobs


def _stdin() -> bytes:
    if sys.stdin is None:  # a shell's <&-
        raise CannotReadFile("standard input is closed")
    return sys.stdin.buffer.read()


def _paths(written: Sequence[str], checker: Checker) -> tuple[list[Path], list[UserError]]:
    """Return the files to check, and an error per path that was not found."""
    found: dict[str, Path] = {}
    errors: list[UserError] = []
    for path in written or [""]:
        try:
            for file in _files(path, checker):
                found.setdefault(str(file), file)
        except CannotFindEvals as error:
            errors.append(error)
    return list(found.values()), errors


def _files(written: str, checker: Checker) -> Iterable[Path]:
    if written == STDIN:
        return ()
    path = Path(written)
    if written and path.is_file():
        return (checker.owner_of(path),)
    rubrics = find_rubrics(checker.project, written)
    try:
        return [*checker.find(written), *rubrics]
    except CannotFindEvals:
        if not written or not rubrics:
            raise
        return rubrics


def _rendered(
    settings: ValidateSettings, found: "list[Diagnostic]", checked: int, notes: Sequence[str]
) -> str:
    """Return the problems of `checked` files in a format, after notes on the check itself."""
    if settings.format == "text" and not found and not notes:
        # Without the formats, whose escaping rules take 8 ms to import.
        return f"{checked:,} file{'s' * (checked != 1)} checked: no problems\n"
    from rubric_ci.files.validation import problem_formats
    from rubric_ci.text.escape import disable_workflow_commands

    match settings.format:
        case "github":
            return problem_formats.as_annotations(found, checked, _random_token(), notes)
        case "json":
            return problem_formats.as_json(found, checked, notes)
        case "sarif":
            return problem_formats.as_sarif(found, notes)
        case "text":
            color = use_color(sys.stdout, environ)
            lines = problem_formats.as_text(found, checked, notes, color=color)
            if not in_workflow(environ):
                return lines
            return disable_workflow_commands(lines, _random_token())  # a hook may run in one
        case _:
            assert_never(settings.format)


def _left_aside(paths: Sequence[Path], settings: ValidateSettings, checker: Checker) -> str:
    """Return the files of other tools in the folders that were searched, in one line."""
    if settings.only_evals:
        return ""
    from rubric_ci.files.project.eval_search import left_aside

    project = checker.project
    found = left_aside(settings.paths, project.summary.globs, paths)
    misnamed = (each for each in _MISNAMED if project.root.joinpath(each).is_file())
    if not project.config_name and (name := next(misnamed, "")):
        found += f"\nnot read: {name}: the configuration is rubric-ci.yaml; rename it"
    return f"{found.lstrip()}\n" if found else ""


def _fixable(found: "list[Diagnostic]", rules: Mapping[str, str]) -> str:
    """Return how many places `--fix` would change in the files with problems."""
    if not any(problem.rule in FIXABLE for problem in found):
        return ""
    from rubric_ci.files.project.fixer import count_fixable

    files = dict.fromkeys(problem.file for problem in found if problem.rule in FIXABLE)
    places = count_fixable(map(Path, files), rules)
    return f"{places:,} fixable with --fix\n" if places else ""


def _random_token() -> str:
    from secrets import token_hex

    return token_hex(16)


def explain(rule: str) -> ExitCode:
    """Print the page of a rule, or of all rules."""
    from rubric_ci.files.validation.rules import RULES, render_rule
    from rubric_ci.text.suggestions import did_you_mean, nearest

    if rule != "all" and rule not in RULES:
        hint = did_you_mean(nearest(rule, RULES, most=len(RULES)))
        hint = hint or "`rubric-ci validate --explain all` lists the rules"
        raise UserError(f"unknown rule `{rule}`", hint)
    pages = [render_rule(each) for each in (RULES.values() if rule == "all" else [RULES[rule]])]
    sys.stdout.write("\n".join(pages))
    return ExitCode.OK
