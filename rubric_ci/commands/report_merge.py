"""`rubric-ci report merge`: merge the reports of shards, then write and publish the result."""

import os
from collections.abc import Sequence
from pathlib import Path

from rubric_ci.calibration.whole_suite import with_merged_correction
from rubric_ci.comparison.baseline import find_reports, open_baseline, with_comparison
from rubric_ci.errors import ExitCode
from rubric_ci.model.options import RunSettings
from rubric_ci.publish import delivery
from rubric_ci.publish.files import write_and_show
from rubric_ci.report.exit_code import exit_code
from rubric_ci.report.report_file import read_report
from rubric_ci.report.sharding import merge


def merge_reports(paths: Sequence[Path], settings: RunSettings) -> ExitCode:
    """Read, merge, write, print and publish."""
    shards = [read_report(path) for path in find_reports(paths)]
    report = with_merged_correction(merge(shards, settings.fail_on), shards)
    report = with_comparison(report, open_baseline(settings), settings, os.environ)
    written = write_and_show(report, settings)
    delivery.publish(report, written, settings, os.environ)
    return exit_code(report)
