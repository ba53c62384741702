"""Add the corrected pass rate to the report of a whole suite."""

from collections.abc import Sequence
from dataclasses import replace

from rubric_ci.calibration import labels
from rubric_ci.grading.task import Task
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import RunReport
from rubric_ci.project.file_names import LABELS
from rubric_ci.project.loaded_project import LoadedProject


def with_correction(
    report: RunReport, loaded: LoadedProject, tasks: Sequence[Task], settings: RunSettings
) -> RunReport:
    """Add a note with the corrected pass rate, or why it is withheld.

    The labels are those of the policy's commit. A run of some cases, such as that of a pull
    request, is left as it is: the labels vouch for the suite that they were drawn from.
    """
    some = (settings.cases, settings.tags, settings.changed_since, settings.last_failed)
    if any(some) or settings.shard or report.interrupted or report.spared:
        return report
    content = loaded.project.policy_files.read(LABELS)
    if content is None:
        return report
    found, problems = labels.parse(LABELS, content.decode(errors="replace"))
    if problems:
        note: str | None = (
            f"{LABELS} has problems: run `rubric-ci calibrate {LABELS}` to see them; the pass "
            "rate is not corrected for the judge's errors."
        )
    else:
        from rubric_ci.calibration.correction import correction_note

        note = correction_note(report, found, [task.case for task in tasks])
    return replace(report, notes=(*report.notes, note)) if note else report
