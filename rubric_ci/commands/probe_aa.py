"""`rubric-ci probe --aa`: compare a commit with itself; what is red then is noise."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import click

from rubric_ci.errors import CannotConfigure, CannotUseGit, ExitCode
from rubric_ci.history.from_report import rate_interval
from rubric_ci.model.changes import Base, NoBase
from rubric_ci.model.options import ProbeSettings
from rubric_ci.model.results import CaseResult, Errored, Graded
from rubric_ci.project.loaded_project import LoadedProject
from rubric_ci.run import forecast
from rubric_ci.run.grade import RunInput, expected_work, grade_run, open_sides
from rubric_ci.run.inputs import open_inputs, select
from rubric_ci.run.sides import Sides
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line

HEAD = "HEAD"


def probe_aa(settings: ProbeSettings, rounds: int) -> ExitCode:
    """Compare HEAD with itself `rounds` times, each with new answers and judgements."""
    now = replace(settings.as_run(), changed_since="", against=HEAD, fresh=True)
    loaded, selection = select(now, datetime.now(UTC).date(), os.environ)
    loaded.check_valid()
    _check_clean(loaded)
    inputs = open_inputs(loaded, selection, now, None, environment=os.environ, plain=True)
    inputs = replace(inputs, context=replace(inputs.context, fresh_judgements=True))
    with open_sides(inputs) as sides:
        if not isinstance(sides, Sides):
            raise CannotUseGit(f"{HEAD} has no cases to compare with", "commit the eval files")
        apart = replace(sides, context=inputs.context, apart=True)
        _show_cost(inputs, apart, rounds)
        results = [_round(inputs, apart, n + 1) for n in range(rounds)]
    click.echo(_summary(results))
    lost = any(isinstance(case, Errored) for found in results for case in found)
    return ExitCode.NO_VERDICT if lost else ExitCode.OK


def _check_clean(loaded: LoadedProject) -> None:
    """Raise CannotConfigure if the working tree is not the commit."""
    base = loaded.change.against
    if base is None or isinstance(base, NoBase):
        raise CannotUseGit(
            f"{HEAD} cannot be read{f': {base.reason}' if base else ''}", "commit the eval files"
        )
    changed = sorted(_changes(loaded, base))
    if changed:
        raise CannotConfigure(
            f"the working tree differs from {HEAD}: {numbers.listed(changed)}",
            "commit or stash the changes: a difference would be no noise",
        )


def _changes(loaded: LoadedProject, base: Base) -> frozenset[str]:
    return loaded.change.at(base).difference.changed


def _show_cost(inputs: RunInput, sides: Sides, rounds: int) -> None:
    work = expected_work(inputs, sides)
    times = numbers.plural(rounds, "time")
    click.echo(f"comparing {HEAD} with itself {times}; requests of one time:", err=True)
    for line in forecast.lines(work, sides, forecast.estimate(work, inputs), inputs):
        click.echo(log_line(line), err=True)


def _round(inputs: RunInput, sides: Sides, number: int) -> Sequence[CaseResult]:
    """Grade both sides once and print which cases the gate would call broken."""
    found = grade_run(inputs, sides).outcome.results
    broken = [case.id for case in found if case.change == "broken"]
    state = f"red: {numbers.listed(broken)}" if broken else "green"
    click.echo(log_line(f"{number}: {state}"))
    return found


def _summary(results: Sequence[Sequence[CaseResult]]) -> str:
    red = [any(case.change == "broken" for case in found) for found in results]
    share = rate_interval([[float(each)] for each in red])
    times: Mapping[str, int] = Counter(
        case.id
        for found in results
        for case in found
        if isinstance(case, Graded) and case.change == "broken"
    )
    often = ", ".join(f"{name} ({count})" for name, count in times.items())
    return log_line(
        f"the gate was red {sum(red)} of {len(red)} times without a change ({share.low:.2f} to "
        f"{share.high:.2f}){f': {often}' if often else ''}"
    )
