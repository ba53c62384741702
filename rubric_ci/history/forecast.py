"""Print what a run can see, with the variances of the history where there is one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from rubric_ci.comparison.alarm_budget import trials_per_case
from rubric_ci.comparison.reference import Baseline
from rubric_ci.history import power_text
from rubric_ci.history.trust import why_untrusted
from rubric_ci.model.defaults import HISTORY
from rubric_ci.model.options import RunSettings
from rubric_ci.statistics.power import DEFAULT, Design, Variances
from rubric_ci.text.escape import log_line


def show_power(
    clusters: Sequence[str],
    baseline: Baseline | None,
    environment: Mapping[str, str],
    *,
    trials: int,
) -> None:
    """Print the smallest drop that the run can see, compared with its baseline or with its like.

    `clusters` has the cluster of each case; empty: the case is by itself. `trials`: of the case
    that has the fewest.
    """
    reference = trials_per_case(baseline.report.cases) if baseline else 0
    design = _design(clusters, trials, reference or trials)
    _say(power_text.sees(design, _variances(environment)))


def show_needed(
    drop: float, clusters: Sequence[str], settings: RunSettings, environment: Mapping[str, str]
) -> None:
    """Print what it takes to see a drop."""
    variances, trials = _variances(environment), settings.trials
    for line in power_text.needed(drop, _design(clusters, trials, trials), variances):
        _say(line)


def _design(clusters: Sequence[str], trials: int, reference_trials: int) -> Design:
    return Design(
        cases=len(clusters),
        clusters=len(set(filter(None, clusters))) + clusters.count(""),
        trials=trials,
        reference_trials=reference_trials,
    )


def _variances(environment: Mapping[str, str]) -> Variances:
    path = Path(HISTORY)
    if not path.exists():
        return DEFAULT
    if reason := why_untrusted(path, environment):
        _say(f"the history {path.as_posix()} was not read: {reason}")
        return DEFAULT
    from rubric_ci.history.database import History
    from rubric_ci.history.variances import LATEST, measure

    return measure([*History(path=path).records(LATEST)])


def _say(line: str) -> None:
    click.echo(log_line(line), err=True)
