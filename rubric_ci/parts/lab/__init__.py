"""The judge measured, the criteria probed, and runs over nights."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    commands={
        "Every day": {"probe": "judge:probe"},
        "Trust the judge": {"judge": "judge:judge"},
        "Nights": {"baseline": "nights:baseline", "history": "nights:history"},
    },
    entries={
        "figures of a probe": "probe.figures:with_figures",
        "criteria that never fail": "probe.probing:never_failing",
    },
)
