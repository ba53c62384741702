"""Whether a calibration vouches for the judge of a run."""

import json
from collections.abc import Sequence

from rubric_ci.errors import CannotConfigure
from rubric_ci.model.report import JudgeInfo
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import LoadedProject

NAME = "calibration.json"  # at the repository root
HINT = f"`rubric-ci calibrate LABELS` measures the judge and writes {NAME}"


def check_calibration(opened: LoadedProject, judges: Sequence[JudgeInfo]) -> Sequence[str]:
    """Return doubts as notes for the report; raises where `gate.min_kappa` demands there be none.

    Without a calibration and without such a demand there is nothing to say.
    """
    wanted = opened.config.gate.min_kappa
    path = opened.root / NAME
    if not judges or not (path.exists() or wanted is not None):
        return ()
    if not path.exists():
        raise CannotConfigure(f"gate.min_kappa is {wanted:g}, but there is no {NAME}", HINT)
    from rubric_ci.calibration.calibration import calibration_warnings

    known = _read(discovery.read_text(path))
    found = [doubt for judge in judges for doubt in calibration_warnings(known, judge, wanted)]
    if found and wanted is not None:
        raise CannotConfigure(f"gate.min_kappa is {wanted:g}, but {found[0]}", HINT)
    return tuple(f"{NAME}: {doubt}" for doubt in found)


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
