"""Reports of nights: cases with so many passing and failing trials, a day apart."""

from dataclasses import replace

from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded, Trial
from tests.sample_reports import a_criterion, a_report, graded

PASS = Trial(verdict="pass", score=1.0)
FAIL = Trial(verdict="fail", score=0.0)


def case(name: str, good: int, bad: int = 0) -> Graded:
    """Return a case with these trials, the good ones first, and their lower median."""
    trials = (*[PASS] * good, *[FAIL] * bad)
    if good > bad:
        return replace(graded(name, "pass"), trials=trials)
    missed = a_criterion("greets", reasoning="It lacks | the word.")
    return replace(graded(name, "fail", missed), trials=trials)


def night(day: int, *cases: CaseResult) -> RunReport:
    """Return the report of a night in January; its commit is the day, forty times."""
    return a_report(
        *cases,
        started_at=f"2026-01-{day:02}T00:00:00+00:00",
        metadata={
            "head_sha": f"{day:x}" * 40,
            "run_url": f"https://github.example/acme/app/actions/runs/{day}",
        },
    )
