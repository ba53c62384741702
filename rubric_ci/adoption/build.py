"""The report of adopted results, complete but for a comparison."""

from collections.abc import Sequence
from dataclasses import replace

from rubric_ci import __version__
from rubric_ci.adoption.report import THEIRS, Adopted, results
from rubric_ci.adoption.samples import Sample
from rubric_ci.model.config import Config
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.gate import FailOn, GateInfo
from rubric_ci.model.report import RunReport, run_verdict, totals
from rubric_ci.model.results import CaseResult
from rubric_ci.model.waivers import WaiverResult
from rubric_ci.report.gate import concluded, gate_of
from rubric_ci.text.numbers import listed
from rubric_ci.waivers.report import with_outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts of a report about itself."""

    started_at: str  # RFC 3339
    metadata: dict[str, str]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


def adopted_report(
    samples: Sequence[Sample],
    about: Adopted,
    config: Config,
    fail_on: FailOn | None,
    waivers: Sequence[WaiverResult],
    facts: Facts,
) -> RunReport:
    """Return the report of these samples, with its gate decided."""
    return report_of(results(samples, about, waivers), config, fail_on, waivers, facts)


def report_of(
    cases: Sequence[CaseResult],
    config: Config,
    fail_on: FailOn | None,
    waivers: Sequence[WaiverResult],
    facts: Facts,
) -> RunReport:
    """Return the report of adopted cases."""
    cases = tuple(cases)
    verdict = run_verdict(cases)
    outcomes = with_outcomes(waivers, cases)
    return RunReport(
        tool=f"rubric-ci {__version__}",
        started_at=facts.started_at,
        duration_seconds=round(facts.seconds, 3),
        verdict=verdict,
        gate=concluded(their_gate(config, fail_on), cases, verdict, outcomes),
        totals=totals(cases),
        cases=cases,
        waivers=outcomes,
        notes=facts.notes,
        metadata=facts.metadata,
        regression=config.regression,
    )


def their_gate(config: Config, fail_on: FailOn | None) -> GateInfo:
    """Return the gate without thresholds: the tool decides what passes."""
    gate = gate_of(config.gate, fail_on)
    return replace(gate, passing=THEIRS.passing, borderline=THEIRS.borderline)


def note(tool: str, files: Sequence[str], graders: Sequence[str] = ()) -> str:
    """Return where the marks are from, for the report."""
    only = f"; only {listed(sorted(graders))} decide" if graders else ""
    return f"The marks are those of {tool}, from {listed(files)}{only}."
