"""Add the corrected pass rate to the report of a whole suite."""

from collections.abc import Sequence
from dataclasses import replace

from rubric_ci.calibration import labels
from rubric_ci.model.correction import CorrectedPassRate
from rubric_ci.model.report import RunReport
from rubric_ci.project.file_names import LABELS
from rubric_ci.project.loaded_project import LoadedProject


def with_correction(report: RunReport, loaded: LoadedProject) -> RunReport:
    """Add the corrected pass rate, or why it is withheld.

    The labels are those of the policy's commit. A run of some cases, such as that of a pull
    request, is left as it is: the labels vouch for the suite that they were drawn from. Each shard
    carries the labels of its cases, and the merged report is corrected by all of them.
    """
    if not report.scope.without("shard").complete:
        return report
    content = loaded.project.policy_files.read(LABELS)
    if content is None:
        return report
    found, problems = labels.parse(LABELS, content.decode(errors="replace"))
    if problems:
        note = (
            f"{LABELS} has problems: run `rubric-ci judge calibrate {LABELS}` to see them; the "
            "pass rate is not corrected for the judge's errors."
        )
        return replace(report, notes=(*report.notes, note))
    from rubric_ci.calibration.correction import correction_of

    cases = [case for file in loaded.files for case in file.cases]
    return _with(report, correction_of(report, found, cases))


def with_merged_correction(report: RunReport, shards: Sequence[RunReport]) -> RunReport:
    """Correct the pass rate of merged shards by the labels that each shard carries."""
    parts = [shard.corrected_pass_rate for shard in shards if shard.corrected_pass_rate]
    if not (parts and report.scope.complete):
        return replace(report, corrected_pass_rate=None)
    from rubric_ci.calibration.correction import of_suite

    first = next((part for part in parts if part.withheld), parts[0])
    return _with(report, of_suite(first, report))


def _with(report: RunReport, correction: CorrectedPassRate | None) -> RunReport:
    """Add a correction, and a note about it unless the report is of a shard."""
    if correction is None:
        return report
    from rubric_ci.calibration.correction import note_of

    notes = report.notes if report.shard else (*report.notes, note_of(correction))
    return replace(report, corrected_pass_rate=correction, notes=notes)
