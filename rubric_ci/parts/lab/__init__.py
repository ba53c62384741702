"""The judge measured, the criteria probed, and runs over nights."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    commands={
        "Every day": {"probe": "options_lab:probe"},
        "Trust the judge": {"judge": "options_lab:judge"},
        "Nights": {"baseline": "options_lab:baseline", "history": "options_lab:history"},
    },
    entries={"issue of a comparison": "issue"},
)
