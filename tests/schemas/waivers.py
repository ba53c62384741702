"""The schema of `waivers.yaml`."""

from rubric_ci.values.waivers import Waiver
from tests.schemas.declared import document, of_class

_EXAMPLE = {
    name: each["examples"][0]
    for name, each in of_class(Waiver)["properties"].items()
    if "examples" in each and name not in {"file", "tool"}
}


def schema() -> str:
    """Return `schemas/waivers.schema.json`."""
    about = (
        "`waivers.yaml` at the repository root: known failures of single criteria that do not fail "
        "the gate until a date."
    )
    entries = {
        "title": "Waivers",
        "description": "Known failures, one entry per criterion.",
        "type": "array",
        "items": {"$ref": "#/$defs/waiver"},
        "examples": [[_EXAMPLE]],
    }
    root = {"required": ["waivers"], "properties": {"waivers": entries}}
    return document(about, "rubric-ci waivers", root, "waivers", Waiver)
