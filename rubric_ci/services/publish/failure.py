"""Why a command ended without a result, shown in the workflow run and on its pull request."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final

import click

from rubric_ci.errors import CannotFindEvals, CannotReadReport, ExitCode, InvalidInput, UserError
from rubric_ci.files.project.suite_name import suite_of
from rubric_ci.files.project.working_tree import read_text, write_text
from rubric_ci.reports.summary import COULD_NOT_START
from rubric_ci.services.publish.workflow import Workflow, annotate, not_posted, write_problems
from rubric_ci.system import file_io, masking
from rubric_ci.text import escape
from rubric_ci.text.escape import command, error_line
from rubric_ci.text.numbers import shortened
from rubric_ci.values.command_settings import CommentSettings, ReportOptions
from rubric_ci.values.formats_and_defaults import FAILURE, OUTPUT_DIR
from rubric_ci.values.json_value import parsed

NO_FILES: Final = "paths are named from the folder of the command; is there a step to check out?"
LONGEST: Final = 4_000  # characters of an error in a file, which a fork's run may have written
_WITH_REPORT: Final = frozenset({"run", "report merge"})
_NO: Final = frozenset({"0", "false", "f", "no", "n", "off"})  # as click reads them


def show_failure(error: UserError, words: str, environment: Mapping[str, str]) -> None:
    """Show the error that ends a command in its workflow run; `words` are the command's.

    As an annotation, in the summary and as the output `failure`; nothing outside a workflow.
    """
    annotated = environment.get("RUBRIC_CI_ANNOTATIONS", "").lower() not in _NO
    workflow = Workflow.of(environment, annotated)
    if workflow is None or error.exit_code is ExitCode.OK:
        return
    if isinstance(error, CannotFindEvals) and not error.hint:
        error = UserError(error.message, NO_FILES)
    problems = error.problems if isinstance(error, InvalidInput) else ()
    annotate(problems, workflow)
    if not problems:
        workflow.annotate(f"{command('error', error_line(error), {'title': 'rubric-ci'})}\n")
    title = COULD_NOT_START if words == "run" else f"`{words}` could not finish"
    written = (
        lambda: workflow.add_summary(failure_text(error, title)),
        lambda: workflow.set_outputs({"failure": masking.redact(_one_line(error))}),
    )
    for line in chain.from_iterable(map(write_problems, written)):
        click.echo(escape.log_line(line), err=True)


def end(code: ExitCode, error: UserError, words: str, environment: Mapping[str, str]) -> ExitCode:
    """Return the exit code of a command whose output has said why; its workflow shows it too."""
    show_failure(error, words, environment)
    return code


def publish_failure_of_run(
    error: UserError, options: ReportOptions, environment: Mapping[str, str]
) -> None:
    """Write the error in place of a report, and into the run's comment; in a workflow only."""
    workflow = Workflow.of(environment, options.annotations)
    if workflow is None:
        return
    suite = options.comment.key
    _keep(error, options.output_dir, suite)
    if options.comment.mode == "off":
        return
    from rubric_ci.services.publish.comment import post_failure  # loads PyGithub

    comment = CommentSettings(mode=options.comment.mode, key=suite)
    try:
        line = post_failure(failure_text(error, suite=suite), comment, environment)
    except UserError as refused:
        line = not_posted(refused, workflow)
    click.echo(escape.log_line(line))


def keep_failure_of_options(error: UserError, words: str, environment: Mapping[str, str]) -> None:
    """Write the error in place of a report where the options of a run in a workflow are wrong.

    Folder and suite are those that the action's inputs name.
    """
    if words in _WITH_REPORT and Workflow.of(environment) is not None:
        own = f"RUBRIC_CI_{words.upper().replace(' ', '_')}"
        config = environment.get(f"{own}_CONFIG")
        paths = tuple(filter(None, environment.get(f"{own}_PATHS", "").splitlines()))
        key = environment.get("RUBRIC_CI_COMMENT_KEY", "")
        suite = key or suite_of(Path(config) if config else None, paths)
        _keep(error, Path(environment.get(f"{own}_OUTPUT_DIR") or OUTPUT_DIR), suite)


def _keep(error: UserError, folder: Path, suite: str) -> None:
    found = {"failure": masking.redact(_one_line(error)), "suite": suite}
    text = json.dumps(found, ensure_ascii=False)
    with suppress(OSError, UserError):  # the error is shown elsewhere, too
        file_io.create_folder(folder)
        write_text(folder / FAILURE, f"{text}\n")


def failure_text(error: UserError, title: str = COULD_NOT_START, suite: str = "") -> str:
    """Return an error as Markdown, with the places of its problems."""
    title = f"{escape.prose(suite)} · {title}" if suite else title
    found = (f"- {escape.code_span(place)}: {escape.prose(why)}" for place, why in _places(error))
    problems = "\n".join(found)
    parts = [f"## ⚠️ rubric-ci · {title}", escape.prose(error.message), problems]
    return "\n\n".join(part for part in (*parts, escape.prose(error.hint)) if part)


def read_failure(report: Path) -> tuple[str, str]:
    """Return why there is no report at a path, and of which suite; empty: the run wrote neither."""
    file = report.with_name(FAILURE)
    if os.path.lexists(report) or not os.path.lexists(file):
        return "", ""
    data = parsed(read_text(file))
    known = data if isinstance(data, dict) else {}
    failure, suite = known.get("failure"), known.get("suite", "")
    if not isinstance(failure, str) or not failure or not isinstance(suite, str):
        raise CannotReadReport(f"{file.as_posix()} does not say why there is no report")
    return shortened(failure, LONGEST), shortened(suite, LONGEST)


def _one_line(error: UserError) -> str:
    places = "; ".join(": ".join(each) for each in _places(error))
    return error_line(type(error)(": ".join(filter(None, (error.message, places))), error.hint))


def _places(error: UserError) -> Iterator[tuple[str, str]]:
    """Yield the place of each problem that the error is about, and the problem with its fix."""
    for each in error.problems if isinstance(error, InvalidInput) else ():
        place = f"{each.file}:{each.span.line}:{each.span.column}"
        hint = f" ({each.hint})" if each.hint else ""
        yield place, f"{each.message}{hint}"
