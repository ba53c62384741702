"""`rubric-ci adopt`: the results of another tool as a report, gated, compared and published."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rubric_ci.errors import CannotReadReport, CannotUseGit, ExitCode
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.change import BaseOptions, Change
from rubric_ci.gate.comparison.baseline_files import open_baseline, with_comparison
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.gate.grading_changes.all_changes import check_is_known, find_tool_changes, ordered
from rubric_ci.gate.policy.checkout import open_under_policy
from rubric_ci.gate.report.decision import exit_code
from rubric_ci.gate.report.report_file import without_secrets
from rubric_ci.gate.waivers.matching import waivers_of
from rubric_ci.github.actions import run_metadata
from rubric_ci.parts.bring.adopted_report import (
    Adopted,
    Facts,
    as_cases,
    note,
    report_of,
    results,
    tool_cases,
    tool_cases_of,
)
from rubric_ci.parts.bring.adopted_samples import Sample, counting, results_changes
from rubric_ci.parts.bring.adopted_tools import TOOLS, Tool, check_tracked, recognise
from rubric_ci.services.publish_files import check_outputs, write_and_show
from rubric_ci.services.publish_workflow import publish
from rubric_ci.system import output_and_masking
from rubric_ci.system.git.plumbing import first_tracked
from rubric_ci.values.command_settings import AdoptSettings
from rubric_ci.values.config import Config


def adopt(settings: AdoptSettings) -> ExitCode:
    now = datetime.now(UTC)
    settings = settings if settings.tool else replace(settings, tool=_recognised(settings.results))
    options = settings.report
    bases = BaseOptions(policy_from=settings.policy_from)
    project, change = open_under_policy(settings.config, bases)
    config = project.config_for("")
    check_outputs(options)
    files = [path.as_posix() for path in settings.results]
    samples, missing = _samples(settings)
    about = Adopted(tool=settings.tool, least=config.gate.thresholds.passing)
    waivers = waivers_of(project, as_cases(samples, about), now.date(), tool=settings.tool)
    baseline = open_baseline(options.baseline)
    tracked, no_git = _tracked(settings.results)
    said = (
        note(settings.tool, files, settings.graders),
        check_tracked(config, settings.tool, tracked),
        check_is_known(config, no_git, "check that git can read the checkout"),
        _unknown(settings, change, config, baseline),
    )
    tells = baseline and not missing and (baseline.log is None or change.grading is not None)
    known = tool_cases_of(baseline.report) if baseline and tells else None
    facts = Facts(
        started_at=now.isoformat(timespec="seconds"),
        metadata=run_metadata(os.environ),
        notes=tuple(filter(None, said)),
        missing=missing,
        grading_changes=ordered(
            (
                *find_tool_changes(project, change, tracked=tracked),
                *(results_changes(tool_cases(samples, about), known) if known else ()),
            )
        ),
    )
    report = report_of(results(samples, about, waivers), config, options.fail_on, waivers, facts)
    report = without_secrets(report, output_and_masking.redactor())
    report = with_comparison(report, baseline, options.baseline, os.environ)
    written = write_and_show(report, options)
    publish(report, written, options, os.environ)
    return exit_code(report)


def _tracked(results: Sequence[Path]) -> tuple[tuple[str, ...], str]:
    """Return the files of results that git tracks, or why that is not known."""
    try:
        found = [first_tracked(path, os.environ) for path in results]
    except CannotUseGit as error:
        return (), f"whether git tracks the results: {error.message}"
    return tuple(path for path in found if path is not None), ""


def _unknown(
    settings: AdoptSettings, change: Change, config: Config, baseline: Baseline | None
) -> str:
    """Return the note on results that are compared with none of the base."""
    if baseline or change.grading is None:
        return ""
    why_not = f"what the change does to the tests of {settings.tool}: there is no baseline"
    return check_is_known(config, why_not, "pass `--baseline` with a report of the base")


def _recognised(results: Sequence[Path]) -> str:
    """Return the tool that wrote files; raises CannotReadReport where that is not clear."""
    tool = recognise({path.as_posix(): working_tree.read_text(path) for path in results})
    if tool is None:
        named = ", ".join(path.as_posix() for path in results)
        raise CannotReadReport(
            f"{named}: not recognised as the results of one tool", f"use --from: {', '.join(TOOLS)}"
        )
    return tool.name


def _samples(settings: AdoptSettings) -> tuple[Sequence[Sample], tuple[str, ...]]:
    """Return the samples of all files, and why they are of a part of a run.

    Raises CannotReadReport for a file without any.
    """
    tool = TOOLS[settings.tool]
    texts = {
        path.as_posix(): working_tree.read_text(path, written_by=tool.name)
        for path in settings.results
    }
    every = [
        sample for name in texts for sample in _file_samples(name, texts[name], tool, settings)
    ]
    reasons = {name: tool.missing(text) for name, text in texts.items()}
    missing = tuple(f"{name}: {reason}" for name, reason in reasons.items() if reason)
    try:
        return list(counting(every, frozenset(settings.graders))), missing
    except Mismatch as error:
        raise CannotReadReport(f"--grader: {error}") from error


def _file_samples(name: str, text: str, tool: Tool, settings: AdoptSettings) -> Iterator[Sample]:
    hint = f"pass the files that the tool wrote: {tool.made_by}"
    try:
        found = list(tool.read(text))
    except Mismatch as error:
        raise CannotReadReport(f"{name}: not results of {tool.name}: {error}", hint) from error
    if not found and not tool.missing(text):
        raise CannotReadReport(f"{name}: no case in these results of {tool.name}", hint)
    for sample in found:
        yield replace(sample, suite=settings.suite or sample.suite or name)
