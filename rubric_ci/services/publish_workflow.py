"""The workflow run of GitHub Actions around a command, and why the command ended, shown in it."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Final, Self, get_args

import click

from rubric_ci.errors import (
    CannotFindEvals,
    CannotFindPullRequest,
    CannotReadFile,
    CannotReadReport,
    CannotWriteFile,
    ExitCode,
    InvalidInput,
    UserError,
)
from rubric_ci.files.project.suite_name import slug, suite_of
from rubric_ci.files.project.working_tree import read_text, write_text
from rubric_ci.files.validation.problem_formats import annotation
from rubric_ci.gate.report.decision import gate_state
from rubric_ci.github.actions import Event, add_summary, read_event, set_outputs
from rubric_ci.reports import annotations, markdown
from rubric_ci.reports.markdown import Links
from rubric_ci.reports.summary import COULD_NOT_START
from rubric_ci.system import file_io, output_and_masking
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.text import escape
from rubric_ci.text.escape import PER_LEVEL, command, disable_workflow_commands, error_line
from rubric_ci.text.numbers import shortened
from rubric_ci.values import parts
from rubric_ci.values.command_settings import CommentMode, CommentSettings, ReportOptions
from rubric_ci.values.comparison import Comparison
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.formats_and_defaults import FAILURE, OUTPUT_DIR, REPORT_FILES
from rubric_ci.values.gate import needs_review
from rubric_ci.values.json_value import parsed
from rubric_ci.values.problems import errors_of
from rubric_ci.values.report import RunReport

NO_FILES: Final = "paths are named from the folder of the command; is there a step to check out?"
LONGEST: Final = 4_000  # characters of an error in a file, which a fork's run may have written
_WITH_REPORT: Final = frozenset({"run", "report merge"})
_MODES: Final[tuple[CommentMode, ...]] = get_args(CommentMode)
_NO: Final = frozenset({"0", "false", "f", "no", "n", "off"})  # as click reads them


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    environment: Mapping[str, str] = field(repr=False)
    annotations: bool = True  # False: `RUBRIC_CI_ANNOTATIONS=false`

    @classmethod
    def of(cls, environment: Mapping[str, str], annotations: bool | None = None) -> Self | None:
        """Return the workflow run that a command is part of; None outside of GitHub Actions."""
        if not in_workflow(environment):
            return None
        return cls(environment=environment, annotations=annotations is not False)

    @property
    def event(self) -> Event | None:
        """The event that started the run; raises CannotReadFile if it cannot be read."""
        return read_event(self.environment)

    def named(self, path: Path) -> Path:
        """Return a path as later steps name it: from the workspace, where they start."""
        workspace = self.environment.get("GITHUB_WORKSPACE")
        real = path.resolve()
        if not workspace or not real.is_relative_to(top := Path(workspace).resolve()):
            return path
        return real.relative_to(top)

    def annotate(self, commands: str) -> None:
        """Print workflow commands, one a line, unless there are to be no annotations."""
        if self.annotations:
            click.echo(commands, nl=False)

    def guarded(self, text: str) -> str:
        """Return a text of others between markers, so that it gives no commands to the runner."""
        return disable_workflow_commands(text, token_hex(16))

    def add_summary(self, markdown: str) -> None:
        """Append to the step's summary; raises CannotWriteFile."""
        if file := self.environment.get("GITHUB_STEP_SUMMARY"):
            add_summary(file, markdown)

    def set_outputs(self, values: Mapping[str, str]) -> None:
        """Set outputs of the step; raises CannotWriteFile."""
        if file := self.environment.get("GITHUB_OUTPUT"):
            set_outputs(file, values)


def annotate_problems(found: Iterable[Diagnostic], workflow: Workflow | None) -> None:
    """Print an annotation per error of an eval file."""
    annotate(errors_of(found), workflow)


def annotate(found: Iterable[Diagnostic], workflow: Workflow | None) -> None:
    """Print an annotation per diagnostic of one severity, up to GitHub's limit per step."""
    if workflow is None:
        return
    for each in list(found)[:PER_LEVEL]:
        workflow.annotate(f"{annotation(each)}\n")


def publish(
    report: RunReport,
    written: Sequence[Path],
    options: ReportOptions,
    environment: Mapping[str, str],
    *,
    exports: bool = True,
) -> None:
    """Write outputs, summary and annotations, post comment and check run; `exports`: also spans."""
    workflow, comment = Workflow.of(environment, options.annotations), options.comment
    for line in write_step_outputs(report, written, workflow, comment.page):
        click.echo(escape.log_line(line), err=True)
    if workflow:
        workflow.annotate(annotations.render(report))
    elif options.annotations:  # asked for by name
        click.echo(annotations.render(report), nl=False)
    posts = comment.mode != "off" or comment.check
    for line in try_to_post(report, comment, environment) if posts else ():
        click.echo(escape.log_line(line))
    export = parts.offered("export of a run") if exports else None
    for line in export(report, environment) if export else ():
        click.echo(escape.log_line(line), err=True)


def write_step_outputs(
    report: RunReport, written: Sequence[Path], workflow: Workflow | None, page: str = ""
) -> list[str]:
    """Write outputs and summary to the runner's files; return one line per failure.

    Does nothing outside a workflow.
    """
    if workflow is None:
        return []

    paths = [workflow.named(path) for path in written]

    def add_summary() -> None:
        event = workflow.event
        links = Links(blob=event.blob_of(), run=event.run_url, page=page) if event else Links()
        workflow.add_summary(markdown.render(report, links=links))

    return [
        *write_problems(lambda: workflow.set_outputs(outputs(report, paths))),
        *write_problems(add_summary),
    ]


def write_comparison_outputs(compared: RunReport, workflow: Workflow | None) -> list[str]:
    """Write the outputs of `compare`; return one line per failure."""
    values = {"gate": gate_state(compared), "comparison": comparison_word(compared.comparison)}
    return write_problems(lambda: workflow.set_outputs(values)) if workflow else []


def comparison_word(comparison: Comparison | None) -> str:
    """Return how a run compares, as `action.yml` names it; empty if it was not compared."""
    if comparison is None or (comparison.source == "commit" and not comparison.commit):
        return ""
    if comparison.judge_moved:
        return "judge-moved"
    if comparison.suspected:
        return "suspected"
    return "worse" if comparison.worse else "not-worse"


def outputs(report: RunReport, written: Sequence[Path]) -> dict[str, str]:
    """Return the step's outputs, as `action.yml` names them."""
    paths = {path.name: path.as_posix() for path in written}
    totals = report.totals
    return {
        "verdict": report.verdict,
        # With exit code 0, as for a fork: a job that requires a verdict reads this output.
        "gate": "no-verdict" if report.verdict == "nothing-graded" else gate_state(report),
        "review": "required" if needs_review(report.gate, report.grading_changes) else "none",
        "comparison": comparison_word(report.comparison),
        "score": "" if totals.score is None else f"{totals.score:g}",
        "passed": str(totals.passed),
        "failed": str(totals.failed),
        "errored": str(totals.errored),
        "cost-usd": "" if totals.unpriced_calls else f"{totals.cost_usd:.6f}",
        "report": paths.get(REPORT_FILES["json"], ""),
        "summary": paths.get(REPORT_FILES["markdown"], ""),
        "page": next((path.as_posix() for path in written if path.suffix == ".html"), ""),
        "suite": slug(report.metadata.get("suite", "")),
    }


def write_problems(write: Callable[[], None]) -> list[str]:
    """Write to a file of the runner; return one line if that fails."""
    try:
        write()
    except (CannotWriteFile, CannotReadFile) as error:
        return [f"not written: {error.message}"]
    return []


def try_to_post(
    report: RunReport, settings: CommentSettings, environment: Mapping[str, str]
) -> list[str]:
    """Post at the end of a run; a failure is one line and does not change the exit code."""
    from rubric_ci.services.publish_comment import post  # loads PyGithub

    workflow = Workflow.of(environment)
    try:
        lines, refused = post(report, settings, environment)
    except UserError as error:
        lines, refused = [], [error]
    return [*lines, *(not_posted(error, workflow) for error in refused)]


def not_posted(error: UserError, workflow: Workflow | None) -> str:
    """Return the line about what is not posted; a workflow also shows it where people look.

    An event without a pull request and a newer push are no failure.
    """
    line = f"not posted: {error_line(error)}"
    if workflow is None or isinstance(error, CannotFindPullRequest):
        return line
    event = workflow.event
    level = "warning"
    if event and event.without_secrets and getattr(error, "status", None) == 403:
        level = "notice"
        line = f"not posted: {event.without_secrets}, and a token that can only read"
    workflow.annotate(f"{command(level, line, {'title': 'rubric-ci'})}\n")
    lines = write_problems(lambda: workflow.add_summary(f"\n{escape.prose(line)}"))
    return "\n".join([line, *lines])


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
        lambda: workflow.set_outputs({"failure": output_and_masking.redact(_one_line(error))}),
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
    from rubric_ci.services.publish_comment import post_failure  # loads PyGithub

    comment = CommentSettings(mode=options.comment.mode, key=suite)
    try:
        line = post_failure(failure_text(error, suite=suite), comment, environment)
    except UserError as refused:
        line = not_posted(refused, workflow)
    click.echo(escape.log_line(line))


def publish_failure_of_options(
    error: UserError, words: str, environment: Mapping[str, str]
) -> None:
    """Write the error of wrong options in place of a report, and into the run's comment.

    Folder, suite and comment are those that the action's inputs name.
    """
    if words not in _WITH_REPORT:
        return
    own = f"RUBRIC_CI_{words.upper().replace(' ', '_')}"
    config = environment.get(f"{own}_CONFIG")
    paths = tuple(filter(None, environment.get(f"{own}_PATHS", "").splitlines()))
    key = environment.get("RUBRIC_CI_COMMENT_KEY", "")
    suite = key or suite_of(Path(config) if config else None, paths)
    asked = environment.get("RUBRIC_CI_COMMENT")
    mode: CommentMode = next((each for each in _MODES if each == asked), "off")
    folder = Path(environment.get(f"{own}_OUTPUT_DIR") or OUTPUT_DIR)
    options = ReportOptions(output_dir=folder, comment=CommentSettings(mode=mode, key=suite))
    publish_failure_of_run(error, options, environment)


def _keep(error: UserError, folder: Path, suite: str) -> None:
    found = {"failure": output_and_masking.redact(_one_line(error)), "suite": suite}
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
