"""A report in the current workflow run: outputs, summary, annotations, comment, check run."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from rubric_ci.errors import CannotReadFile, CannotWriteFile
from rubric_ci.model.comparison import Comparison
from rubric_ci.model.defaults import REPORT_FILES
from rubric_ci.model.gate import needs_review
from rubric_ci.model.options import CommentSettings, RunSettings
from rubric_ci.model.report import RunReport, Totals
from rubric_ci.publish.workflow import Workflow
from rubric_ci.render import annotations, markdown
from rubric_ci.render.markdown_case import Links
from rubric_ci.report.gate import gate_state
from rubric_ci.text import escape


def publish(
    report: RunReport,
    written: Sequence[Path],
    settings: RunSettings,
    environment: Mapping[str, str],
) -> None:
    """Write outputs, summary and annotations, then post comment and check run."""
    workflow = Workflow.of(environment, settings.annotations)
    for line in write_step_outputs(report, written, workflow):
        click.echo(escape.log_line(line), err=True)
    if workflow:
        workflow.annotate(annotations.render(report))
    elif settings.annotations:  # asked for by name
        click.echo(annotations.render(report), nl=False)
    for line in _post(report, settings, environment):
        click.echo(escape.log_line(line))


def write_step_outputs(
    report: RunReport, written: Sequence[Path], workflow: Workflow | None
) -> list[str]:
    """Write outputs and summary to the runner's files; return one line per failure.

    Does nothing outside a workflow.
    """
    if workflow is None:
        return []
    return [
        *_problems(lambda: workflow.set_outputs(outputs(report, written))),
        *_problems(lambda: workflow.add_summary(markdown.render(report, links=_links(workflow)))),
    ]


def write_comparison_outputs(compared: RunReport, workflow: Workflow | None) -> list[str]:
    """Write the outputs of `compare`; return one line per failure."""
    values = {"gate": gate_state(compared), "comparison": comparison_word(compared.comparison)}
    return _problems(lambda: workflow.set_outputs(values)) if workflow else []


def write_lines_to_summary(lines: Sequence[str], workflow: Workflow | None) -> list[str]:
    """Add a list of plain lines to the step's summary; return one line per failure."""
    text = "\n".join(f"- {escape.prose(line)}" for line in lines)
    return _problems(lambda: workflow.add_summary(text)) if workflow else []


def comparison_word(comparison: Comparison | None) -> str:
    """Return how a run compares, as `action.yml` names it; empty if it was not compared."""
    if comparison is None or (comparison.source == "commit" and not comparison.commit):
        return ""
    if comparison.judge_moved:
        return "judge-moved"
    if comparison.suspected:
        return "suspected"
    return "worse" if comparison.regressed else "not-worse"


def outputs(report: RunReport, written: Sequence[Path]) -> dict[str, str]:
    """Return the step's outputs, as `action.yml` names them."""
    paths = {path.name: path.as_posix() for path in written}
    totals = report.totals
    return {
        "verdict": report.verdict,
        # With exit code 0, as for a fork: whoever requires a verdict asks for this output.
        "gate": "no-verdict" if report.verdict == "nothing-graded" else gate_state(report),
        "review": "required" if needs_review(report.gate, report.grading_changes) else "none",
        "comparison": comparison_word(report.comparison),
        "score": "" if totals.score is None else f"{totals.score:g}",
        "passed": str(totals.passed),
        "failed": str(totals.failed),
        "errored": str(totals.errored),
        "cost-usd": _cost(totals),
        "report": paths.get(REPORT_FILES["json"], ""),
        "summary": paths.get(REPORT_FILES["markdown"], ""),
    }


def _cost(totals: Totals) -> str:
    """Return US dollars; empty if the cost of some call is unknown."""
    return "" if totals.unpriced_calls else f"{totals.cost_usd:.6f}"


def _problems(write: Callable[[], None]) -> list[str]:
    try:
        write()
    except (CannotWriteFile, CannotReadFile) as error:
        return [f"not written: {error.message}"]
    return []


def _links(workflow: Workflow) -> Links:
    event = workflow.event
    return Links(blob=event.blob_url, run=event.run_url) if event else Links()


def _post(report: RunReport, settings: RunSettings, environment: Mapping[str, str]) -> list[str]:
    if settings.comment == "off" and not settings.check_run:
        return []
    from rubric_ci.publish.comment import try_to_post  # loads PyGithub

    comment = CommentSettings(
        mode=settings.comment, key=settings.comment_key, check=settings.check_run
    )
    return try_to_post(report, comment, environment)
