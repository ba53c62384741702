"""The first ten minutes: starter files, an example to grade offline, and a check of the setup."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    commands={
        "Start": {"init": "options_init_demo_doctor:init", "demo": "options_init_demo_doctor:demo"},
        "Every day": {"doctor": "options_init_demo_doctor:doctor"},
    }
)
