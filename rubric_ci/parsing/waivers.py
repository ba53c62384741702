"""Checked data of `waivers.yaml` to waivers."""

from rubric_ci.model.waivers import Waiver
from rubric_ci.yaml_text.document import Document


def read_waivers(document: Document) -> tuple[Waiver, ...]:
    """Return the entries in the order of the file."""
    return tuple(
        Waiver(
            case=entry["case"],
            criterion=entry["criterion"],
            file=entry.get("file", ""),
            reason=entry["reason"],
            owner=entry["owner"],
            until=entry["until"],
            fingerprint=entry["fingerprint"],
            line=document.locate(("waivers", index))[0],
        )
        for index, entry in enumerate(document.data["waivers"])
    )
