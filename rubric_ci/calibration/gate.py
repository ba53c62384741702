"""Check the judges of a run against `calibration.json` and `gate.min_kappa`."""

import json
from collections.abc import Sequence

from rubric_ci.errors import CannotConfigure
from rubric_ci.model.report import JudgeInfo
from rubric_ci.project.file_names import CALIBRATION
from rubric_ci.project.loaded_project import LoadedProject

NAME = CALIBRATION
HINT = f"`rubric-ci judge calibrate LABELS` measures the judge and writes {NAME}"


def check_calibration(loaded: LoadedProject, judges: Sequence[JudgeInfo]) -> Sequence[str]:
    """Return warnings for judges that are not calibrated; raise if `gate.min_kappa` is set.

    Without `calibration.json` and without `gate.min_kappa` there are no warnings.
    """
    min_kappa = loaded.config.gate.min_kappa
    content = loaded.project.policy_files.read(NAME)
    if not judges or (content is None and min_kappa is None):
        return ()
    if content is None:
        raise CannotConfigure(f"gate.min_kappa is {min_kappa:g}, but there is no {NAME}", HINT)
    from rubric_ci.calibration.calibration import calibration_warnings

    known = _read(content)
    found = [w for judge in judges for w in calibration_warnings(known, judge, min_kappa)]
    if found and min_kappa is not None:
        raise CannotConfigure(f"gate.min_kappa is {min_kappa:g}, but {found[0]}", HINT)
    return tuple(f"{NAME}: {warning}" for warning in found)


def _read(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None
