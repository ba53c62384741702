"""The smallest detectable drop in words, with the variances of the history where there is one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from rubric_ci.gate.comparison.reference import Baseline, trials_per_case
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.text.statistics.power import (
    DEFAULT,
    LEAST,
    LOSS,
    POWER,
    Design,
    Variances,
    cases_needed,
    smallest_drop,
)
from rubric_ci.values.option_values import HISTORY

TWO_NIGHTS: Final = (
    "the smallest detectable drop is not stated: "
    "against a pinned reference two nights in a row decide"
)


def show_power(
    clusters: Sequence[str],
    baseline: Baseline | None,
    environment: Mapping[str, str],
    *,
    trials: int,
) -> None:
    """Print the smallest drop that the run detects against its baseline, or against an equal run.

    `clusters` has the cluster of each case; empty: independent. `trials`: of the case
    that has the fewest. Against a pinned reference two nights decide, which is another rule.
    """
    if baseline is not None and baseline.log is not None:
        _say(TWO_NIGHTS)
        return
    _say(sees(_design(clusters, trials, baseline), _variances(environment)))


def show_needed(
    drop: float,
    clusters: Sequence[str],
    baseline: Baseline | None,
    environment: Mapping[str, str],
    *,
    trials: int,
) -> None:
    """Print the cases and trials that detect a drop in a comparison of one run with another."""
    if baseline is not None and baseline.log is not None:
        _say(TWO_NIGHTS)
        return
    for line in needed(drop, _design(clusters, trials, baseline), _variances(environment)):
        _say(line)


def _design(clusters: Sequence[str], trials: int, baseline: Baseline | None) -> Design:
    reference = trials_per_case(baseline.report.cases) if baseline else 0
    return Design(
        cases=len(clusters),
        clusters=len(set(filter(None, clusters))) + clusters.count(""),
        trials=trials,
        reference_trials=reference or trials,
    )


def _variances(environment: Mapping[str, str]) -> Variances:
    path = Path(HISTORY)
    if not path.exists():
        return DEFAULT
    from rubric_ci.parts.lab.history.database import History, why_untrusted
    from rubric_ci.parts.lab.history.trends import LATEST, measure

    if reason := why_untrusted(path, environment):
        _say(f"the history {path.as_posix()} was not read: {reason}")
        return DEFAULT
    return measure([*History(path=path).records(LATEST)])


def _say(line: str) -> None:
    click.echo(log_line(line), err=True)


_TRIALS = (1, 3, 5, 10)


def sees(design: Design, variances: Variances) -> str:
    """Return the smallest drop that a comparison with this design detects."""
    about = f"{_cases(design)} x {numbers.plural(design.trials, 'trial')}"
    if (drop := smallest_drop(design, variances)) is None:
        if design.clusters < LEAST:
            return f"{about}: too few to state a smallest drop; it takes {LEAST} independent cases"
        return f"{about}: too few to detect {_detected(LOSS)} ({_source(variances)})"
    seen = f"a drop of {numbers.points(drop)} is detected with {100 * POWER:g} % probability"
    return f"{about}: {seen} ({_source(variances)})"


def _detected(drop: float) -> str:
    return f"a drop of {numbers.points(drop)} with {100 * POWER:g} % probability"


def needed(drop: float, design: Design, variances: Variances) -> Iterator[str]:
    """Yield the cases and trials that detect a drop, then the smallest drop of the chosen cases."""
    counts = [(trials, cases_needed(drop, trials, variances)) for trials in _TRIALS]
    parts = [
        f"{numbers.plural(cases, 'case')} x {numbers.plural(trials, 'trial')}"
        for trials, cases in counts
        if cases is not None
    ]
    what = f"to detect {_detected(drop)}"
    yield f"{what}: {' or '.join(parts)}" if parts else f"{what}: more than 100,000 cases"
    yield sees(design, variances)


def _cases(design: Design) -> str:
    cases = numbers.plural(design.cases, "case")
    if design.clusters == design.cases:
        return cases
    return f"{cases} in {numbers.plural(design.clusters, 'cluster')}"


def _source(variances: Variances) -> str:
    parts = (
        f"cases {variances.cases:.2g}, target {variances.target:.2g}, judge {variances.judge:.2g}"
    )
    measured = f"of {numbers.plural(variances.runs, 'run')}" if variances.runs else "by default"
    return f"variances {measured}: {parts}"
