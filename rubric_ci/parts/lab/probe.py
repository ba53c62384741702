"""`rubric-ci probe`: mark variants of answers, and say which criteria notice them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import click

from rubric_ci.errors import CannotAnswer, CannotFindEvals, ExitCode
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.loaded_project import LoadedProject, show_problems
from rubric_ci.gate.policy.checkout import show_policy
from rubric_ci.gate.report.report_file import check_ours_if_any, read_report
from rubric_ci.gate.selection.affected_cases import Selection
from rubric_ci.gate.selection.changed_cases import open_selected
from rubric_ci.grading.resolve import choose_target
from rubric_ci.grading.setup import readable_cache
from rubric_ci.grading.targets import recorded
from rubric_ci.parts.lab import probe_figures as figures
from rubric_ci.parts.lab.probe_figures import Measured
from rubric_ci.parts.lab.probing import Subject, measure
from rubric_ci.parts.lab.rejudge import REPLAYED, Judging, open_judging
from rubric_ci.services.publish_files import copies_in, shown_again
from rubric_ci.services.publish_workflow import Workflow, annotate
from rubric_ci.system import file_io, output_and_masking
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.answers import answer_of
from rubric_ci.values.changes import Base
from rubric_ci.values.command_settings import ProbeSettings, ReportOptions
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.formats_and_defaults import PROBE
from rubric_ci.values.media import COPIES
from rubric_ci.values.results import Answer, with_verdict


def probe(settings: ProbeSettings) -> ExitCode:
    """Print the figures of every examined criterion and write `probe.json`."""
    loaded, selection = _opened(settings)
    show_problems(loaded.diagnostics)
    loaded.check_valid()
    show_policy(loaded)
    judging = _judging(loaded, settings)
    cases = [case for case, _ in selection.chosen if not case.most_turns]
    if talks := [case.id for case, _ in selection.chosen if case.most_turns]:
        click.echo(log_line(f"left out, as conversations: {numbers.listed(talks)}"), err=True)
    answers = _answers(cases, loaded, settings, judging.context)
    subjects = list(_subjects(cases, loaded, answers))
    if missing := [case.id for case in cases if not answers.get(case.key)]:
        click.echo(log_line(f"left out, without an answer: {numbers.listed(missing)}"), err=True)
    if not subjects:
        return _nothing(settings, talks)
    found = measure(subjects, judging, settings.variants)
    _show(found, judging, settings)
    if settings.fail_on in {each.word for each in found.criteria if each.required}:
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if found.not_judged else ExitCode.OK


def _opened(settings: ProbeSettings) -> tuple[LoadedProject, Selection]:
    """Return the chosen cases; without an eval file the report says whether a tool judged."""
    try:
        report = ReportOptions(output_dir=settings.output_dir)
        return open_selected(settings.select, settings.models, report)
    except CannotFindEvals:
        check_ours_if_any(settings.report)
        raise


def _judging(loaded: LoadedProject, settings: ProbeSettings) -> Judging:
    requests = settings.requests
    cache, unread = readable_cache(requests, settings.cache, loaded.config, os.environ)
    if unread:
        click.echo(log_line(unread), err=True)
    return open_judging(loaded, settings.models.judge, requests, cache)


def _answers(
    cases: Sequence[EvalCase], loaded: LoadedProject, settings: ProbeSettings, context: RunContext
) -> Mapping[tuple[str, str], Answer]:
    """Return the answers of the report, and recorded ones of cases that it does not have."""
    found: dict[tuple[str, str], Answer] = {}
    for case in cases:
        target = choose_target(case, loaded.config_for(case.file), "")
        if target.answers:
            with suppress(CannotAnswer):  # it is named as left out, unless the report has it
                found[case.key] = recorded.answer(case, target, context)
    if settings.report.exists() or not found:
        graded = with_verdict(read_report(settings.report).cases)
        read = copies_in(settings.report.parent / COPIES)
        found |= {
            each.key: answer_of(each, shown_again(each.media, read))
            for each in graded
            if each.answer
        }
    return found


def _subjects(
    cases: Sequence[EvalCase], loaded: LoadedProject, answers: Mapping[tuple[str, str], Answer]
) -> Iterator[Subject]:
    before = _base_criteria(loaded)
    for case in cases:
        answer = answers.get(case.key)
        for spec in case.rubrics if answer else ():
            criteria = tuple(
                each
                for each in spec.rubric.judged
                if before is None or (case.id, each.id, each.text) not in before
            )
            if criteria and answer:
                yield Subject(case=case, spec=spec, given=answer, criteria=criteria)


def _base_criteria(loaded: LoadedProject) -> frozenset[tuple[str, str, str]] | None:
    """Return the criteria of the base by case, id and text; None: every criterion is examined."""
    base = loaded.change.selection
    if not isinstance(base, Base):
        return None
    return frozenset(
        (case.id, each.id, each.text)
        for case in loaded.at_base(base).cases
        for spec in case.rubrics
        for each in spec.rubric.judged
    )


def _nothing(settings: ProbeSettings, talks: Sequence[str]) -> ExitCode:
    if settings.select.changed_since:
        click.echo("no criterion with an answer has changed; nothing to probe")
        return ExitCode.OK
    if talks:
        raise CannotFindEvals(
            "no case is left: variants are made of one answer, and not of a conversation",
            "choose other cases with PATHS or --case; `rubric-ci judge calibrate` checks the judge",
        )
    raise CannotFindEvals(
        f"{settings.report} has no answer to a case with rubrics of these files",
        "`rubric-ci run` writes the report whose answers are changed",
    )


def _show(found: Measured, judging: Judging, settings: ProbeSettings) -> None:
    hide = output_and_masking.redactor()
    path = settings.output_dir / PROBE
    working_tree.check_place(settings.output_dir)
    content = hide(figures.to_json(found, judging.judge.endpoint.model))
    file_io.write(path, content.encode())
    workflow = Workflow.of(os.environ)
    shown = hide(figures.as_text(found))
    click.echo(workflow.guarded(f"{shown}\n") if workflow else shown, nl=workflow is None)
    annotate(figures.findings(found), workflow)
    if not judging.live:
        click.echo(REPLAYED)
    click.echo(log_line(f"figures: {path.as_posix()}"), err=True)
