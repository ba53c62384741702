"""The pass rate that people would give, from the judge's verdicts and a sample of labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum, sqrt
from typing import Final

from rubric_ci.model.correction import Stratum
from rubric_ci.statistics.significance import t_quantile

MANY: Final = 1000  # degrees of freedom; above, Student's t is the normal distribution

FAR: Final = 2  # standard errors


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """A pass rate with its 95 % interval."""

    value: float
    low: float
    high: float


def correct(
    judged: float, cases: int, passes: Stratum, fails: Stratum, *, variance: float | None = None
) -> CorrectedRate:
    """Return the pass rate corrected for the judge's errors, post-stratified.

    With q the judged pass rate over N cases, A = (confirmed passes + ½) / (m₁ + 1) of the m₁
    labelled passes and B = (overturned fails + ½) / (m₀ + 1) of the m₀ labelled fails:
    p = qA + (1 - q)B with the variance
    (A - B)² q(1 - q)/N + q² A(1 - A)/(m₁ + 1) + (1 - q)² B(1 - B)/(m₀ + 1)
    (Lee et al., arXiv:2511.21140, and Chen et al., arXiv:2601.05420, for random draws within the
    judge's verdicts). `variance` replaces q(1 - q)/N where cases are clustered. Labels that were
    chosen by what a person thinks make the result wrong.
    """
    q, a, b = judged, _share(passes), _share(fails)
    value = q * a + (1 - q) * b
    sampling = q * (1 - q) / cases if variance is None else variance
    parts = (
        ((a - b) ** 2 * sampling, cases - 1),
        (q**2 * a * (1 - a) / (passes.labelled + 1), passes.labelled),
        ((1 - q) ** 2 * b * (1 - b) / (fails.labelled + 1), fails.labelled),
    )
    reach = _quantile(parts) * sqrt(fsum(part for part, _ in parts))
    return CorrectedRate(value=value, low=max(0.0, value - reach), high=min(1.0, value + reach))


def why_left(judged: float, variance: float, passes: Stratum, fails: Stratum) -> str:
    """Return why the labels no longer hold for a judged pass rate; "": they do.

    The shares of errors among the judge's passes and fails depend on the pass rate. They hold while
    the judged rate is within two standard errors of the rate in the reports of the draws.
    """
    answers = passes.of + fails.of
    then = passes.of / answers
    if (judged - then) ** 2 <= FAR**2 * (variance + then * (1 - then) / answers):
        return ""
    return (
        f"the judged pass rate was {then:.2f} when the labels were drawn, which differs by more "
        f"than {FAR} standard errors: label answers of this report "
        "(`rubric-ci judge label --sample`)"
    )


def _quantile(parts: Sequence[tuple[float, int]]) -> float:
    """Return the quantile of Student's t with the degrees of freedom of a sum of variances.

    (Σ v)² / Σ v²/f (Satterthwaite, Biometrics Bulletin 2, 1946): few labels widen the interval.
    """
    total = fsum(part for part, _ in parts)
    if not total:
        return 0.0
    freedom = total**2 / fsum(part**2 / max(1, each) for part, each in parts)
    return _t(min(MANY, max(1, int(freedom))))


@cache
def _t(freedom: int) -> float:
    return t_quantile(freedom)


def _share(stratum: Stratum) -> float:
    return (stratum.passes + 0.5) / (stratum.labelled + 1)
