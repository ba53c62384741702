"""Append an entry to the text of `waivers.yaml`; every existing character is kept.

The new text is parsed again: its data must equal the old data plus the entry.
"""

from collections.abc import Mapping

from rubric_ci.editing import yaml_writer
from rubric_ci.editing.insert_rubrics import is_same
from rubric_ci.editing.yaml_layout import last_line_break
from rubric_ci.editing.yaml_writer import ListLayout
from rubric_ci.model.defaults import WAIVERS
from rubric_ci.model.json_value import JSON
from rubric_ci.yaml_text.document import Document


def append_waiver(text: str, entry: Mapping[str, JSON]) -> str | None:
    """Return the text with one more entry; None if it cannot be appended safely.

    `text` is a valid file, or empty.
    """
    if not text.strip():
        return f"waivers:\n{waiver_block(entry)}"
    old, newline = Document(WAIVERS, text).data, last_line_break(text)
    start = "" if text.endswith(newline) else newline
    for indent in (2, 0):
        new = text + start + waiver_block(entry, indent).replace("\n", newline)
        if _is_proven(new, old, entry):
            return new
    block = f"waivers:\n{waiver_block(entry).rstrip()}".replace("\n", newline)
    new = text.replace("waivers: []", block, 1)
    return new if _is_proven(new, old, entry) else None


def waiver_block(entry: Mapping[str, JSON], indent: int = 2) -> str:
    """Return an entry as lines of YAML."""
    lines = [line for key, value in entry.items() for line in _lines(key, value)]
    margin = " " * indent
    marked = [f"{margin}- {lines[0]}", *(f"{margin}  {line}" for line in lines[1:])]
    return "".join(f"{line}\n" for line in marked)


def _lines(key: str, value: JSON) -> list[str]:
    return yaml_writer.block_lines(key, value, ListLayout())


def _is_proven(new: str, old: JSON, entry: Mapping[str, JSON]) -> bool:
    parsed = Document(WAIVERS, new)
    wanted = {**old, "waivers": [*old["waivers"], dict(entry)]}
    return parsed.readable and not parsed.text_problems and is_same(parsed.data, wanted)
