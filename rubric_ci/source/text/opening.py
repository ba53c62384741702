"""A text as what its name says it is: a YAML document, or JSON Lines with a sidecar."""

from typing import TYPE_CHECKING, TypeAlias

from rubric_ci.source.text.document import Document

if TYPE_CHECKING:
    from rubric_ci.source.text.jsonlines import JsonLines

Source: TypeAlias = "Document | JsonLines"


def open_source(path: str, text: str, sidecar: str | None = None) -> Source:
    """Read a text; `sidecar` is the YAML beside a JSON Lines file."""
    if not path.endswith(".jsonl"):
        return Document(path, text)
    from rubric_ci.source.text.jsonlines import JsonLines  # few files are

    beside = None
    if sidecar is not None:
        beside = Document(f"{path.removesuffix('.jsonl')}.yaml", sidecar)
    return JsonLines(path, text, beside)
