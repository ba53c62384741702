"""The smallest detectable drop in words: shown before a run and by `plan --detect`."""

from collections.abc import Iterator

from rubric_ci.statistics.power import LEVEL, POWER, Design, Variances, cases_needed, smallest_drop
from rubric_ci.statistics.significance import least_clusters
from rubric_ci.text import numbers

_TRIALS = (1, 3, 5, 10)


def sees(design: Design, variances: Variances) -> str:
    """Return the smallest drop that a comparison with this design detects."""
    about = f"{_cases(design)} x {numbers.plural(design.trials, 'trial')}"
    if (drop := smallest_drop(design, variances)) is None:
        least = least_clusters(LEVEL)
        why = f"; it takes {least} independent cases" if design.clusters < least else ""
        return f"{about}: too few to detect a drop of the mean score{why}"
    seen = f"a drop of {numbers.points(drop)} is detected with {100 * POWER:g} % probability"
    return f"{about}: {seen} ({_source(variances)})"


def needed(drop: float, design: Design, variances: Variances) -> Iterator[str]:
    """Yield the cases and trials that detect a drop, then the smallest drop of the chosen cases."""
    counts = [(trials, cases_needed(drop, trials, variances)) for trials in _TRIALS]
    parts = [
        f"{numbers.plural(cases, 'case')} x {numbers.plural(trials, 'trial')}"
        for trials, cases in counts
        if cases is not None
    ]
    what = f"to detect a drop of {numbers.points(drop)} with {100 * POWER:g} % probability"
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
