"""`rubric-ci adopt`: the results of another tool as a report, gated, compared and published."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rubric_ci.errors import CannotReadReport, ExitCode
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.files.project import discovery
from rubric_ci.gate.comparison.baseline import open_baseline, with_comparison
from rubric_ci.gate.policy.checkout import open_project
from rubric_ci.gate.report.gate import exit_code
from rubric_ci.gate.report.redaction import without_secrets
from rubric_ci.gate.waivers.file import waivers_of
from rubric_ci.github.actions import run_metadata
from rubric_ci.model.options import AdoptSettings
from rubric_ci.services.adoption.report import Adopted, Facts, as_cases, note, report_of, results
from rubric_ci.services.adoption.samples import Sample, counting
from rubric_ci.services.adoption.tools import TOOLS, Tool
from rubric_ci.services.publish.files import check_folder, write_and_show
from rubric_ci.services.publish.workflow import publish
from rubric_ci.system import masking


def adopt(settings: AdoptSettings) -> ExitCode:
    """Read, gate, compare, write, print and publish."""
    now = datetime.now(UTC)
    options = settings.report
    project = open_project(options.config, options.policy_from)
    config = project.config_for("")
    check_folder(options)
    files = [path.as_posix() for path in settings.results]
    samples = list(_samples(settings))
    about = Adopted(
        tool=settings.tool,
        file=settings.suite or files[0],
        least=config.gate.thresholds.passing,
    )
    waivers = waivers_of(project, as_cases(samples, about), now.date(), tool=settings.tool)
    facts = Facts(
        started_at=now.isoformat(timespec="seconds"),
        metadata=run_metadata(os.environ),
        notes=(note(settings.tool, files, settings.graders),),
    )
    report = report_of(results(samples, about, waivers), config, options.fail_on, waivers, facts)
    report = without_secrets(report, masking.redactor())
    report = with_comparison(report, open_baseline(options), options, os.environ)
    written = write_and_show(report, options)
    publish(report, written, options, os.environ)
    return exit_code(report)


def _samples(settings: AdoptSettings) -> Iterator[Sample]:
    """Yield the samples of all files; raises CannotReadReport for a file without any."""
    tool = TOOLS[settings.tool]
    every = [sample for path in settings.results for sample in _of_file(path, tool, settings)]
    try:
        yield from counting(every, frozenset(settings.graders))
    except Mismatch as error:
        raise CannotReadReport(f"--grader: {error}") from error


def _of_file(path: Path, tool: Tool, settings: AdoptSettings) -> Iterator[Sample]:
    name = path.as_posix()
    hint = f"pass what the tool wrote: {tool.made_by}"
    try:
        found = list(tool.read(discovery.read_text(path, written_by=tool.name)))
    except Mismatch as error:
        raise CannotReadReport(f"{name}: not results of {tool.name}: {error}", hint) from error
    if not found:
        raise CannotReadReport(f"{name}: no case in these results of {tool.name}", hint)
    for sample in found:
        yield replace(sample, suite=settings.suite or sample.suite or name)
