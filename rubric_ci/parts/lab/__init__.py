"""The judge measured, the criteria probed, and runs over nights."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    commands={
        "Every day": {"probe": "options_judge_probe:probe"},
        "Trust the judge": {"judge": "options_judge_probe:judge"},
        "Nights": {
            "baseline": "options_baseline_history:baseline",
            "history": "options_baseline_history:history",
        },
    },
    entries={
        "issue of a comparison": "issue",
        "figures of a probe": "probe.figures:with_figures",
        "criteria that never fail": "probe.probing:never_failing",
    },
)
