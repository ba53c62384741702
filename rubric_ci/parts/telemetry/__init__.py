"""The results of a run as OpenTelemetry spans."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(entries={"export of a run": "export:export"})
