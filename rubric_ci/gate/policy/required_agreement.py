"""Check the judges of a run against `calibration.json` and `gate.min_kappa`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rubric_ci.errors import CannotConfigure
from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.text.p_values_and_intervals import PERCENT
from rubric_ci.values.formats_and_defaults import CALIBRATION
from rubric_ci.values.json_value import JSON, parsed
from rubric_ci.values.report import JudgeInfo

NAME = CALIBRATION
HINT = f"`rubric-ci judge calibrate LABELS` measures the judge and writes {NAME}"


NO_WORK = (
    "no label is about the work of an agent, which criteria of this run mark; label such answers "
    "with `rubric-ci judge label`"
)


def check_calibration(
    loaded: LoadedProject, judges: Sequence[JudgeInfo], *, about_work: bool = False
) -> Sequence[str]:
    """Return warnings for judges that are not calibrated; raise if `gate.min_kappa` is set.

    `about_work`: criteria of the run are about work.
    Without `calibration.json` and `gate.min_kappa` there is none.
    """
    min_kappa = loaded.config.gate.min_kappa
    content = loaded.project.policy_files.read(NAME)
    if not judges or (content is None and min_kappa is None):
        return ()
    if content is None:
        raise CannotConfigure(f"gate.min_kappa is {min_kappa:g}, but there is no {NAME}", HINT)
    known = parsed(content)
    found = [w for judge in judges for w in calibration_warnings(known, judge, min_kappa)]
    if not found and about_work:
        found = [*_work_warnings(known, min_kappa)]
    if found and min_kappa is not None:
        raise CannotConfigure(f"gate.min_kappa is {min_kappa:g}, but {found[0]}", HINT)
    return [f"{NAME}: {warning}" for warning in found]


def calibration_warnings(
    calibration: JSON, judge: JudgeInfo, min_kappa: float | None = None
) -> tuple[str, ...]:
    """Return why a calibration does not apply to this judge, or () if it does."""
    if unreadable := _why_unreadable(calibration):
        return (unreadable,)
    was = calibration["judge"]
    differing = [
        f"{name} was {was.get(name)!r} and is {now!r}"
        for name, now in asdict(judge).items()
        if was.get(name) != now
    ]
    if differing:
        return (f"the judge is not the one that was calibrated: {'; '.join(differing)}",)
    overall = calibration["overall"]
    below = below_minimum(overall.get("kappa"), overall.get("interval"), min_kappa)
    return (f"its agreement with people is too low: {below}",) if below else ()


def _work_warnings(calibration: JSON, min_kappa: float | None) -> Iterator[str]:
    work = calibration.get("work")
    if work is None:
        yield NO_WORK
    elif below := below_minimum(work.get("kappa"), work.get("interval"), min_kappa):
        yield f"its agreement with people about work is too low: {below}"


def below_minimum(
    kappa: float | None, interval: Sequence[float] | None, min_kappa: float | None
) -> str:
    """Return why κ does not meet `gate.min_kappa`, or "" if it does.

    The lower end of the interval counts: the estimate alone may be high by chance.
    """
    if min_kappa is None or (kappa is not None and interval and interval[0] >= min_kappa):
        return ""
    if kappa is None or not interval:
        return f"kappa is undefined; gate.min_kappa requires {min_kappa:g}"
    return (
        f"the lower end of kappa is {interval[0]:.2f} (kappa {kappa:.2f}, {PERCENT} interval "
        f"{interval[0]:.2f} to {interval[1]:.2f}); gate.min_kappa requires {min_kappa:g}"
    )


def _why_unreadable(calibration: JSON) -> str:
    match calibration:
        case {"version": 1 | 2 | 3}:
            return "it is of an earlier version; run `rubric-ci judge calibrate` again"
        case {"version": 4, "judge": dict(), "overall": dict()}:
            return ""
        case _:
            return "the calibration cannot be read by this version"
