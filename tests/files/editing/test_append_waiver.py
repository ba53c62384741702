"""Entries are appended to `waivers.yaml`, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.editing.insertions import append_waiver
from rubric_ci.files.yaml_text.document import Document

ENTRY = {"case": "refund", "criterion": "period", "reason": "a: b", "until": "2026-06-30"}
WRITTEN = """\
  - case: refund
    criterion: period
    reason: "a: b"
    until: "2026-06-30"
"""
FLAT = "".join(line.removeprefix("  ") for line in WRITTEN.splitlines(keepends=True))
TABLE = {
    "no file": ("", f"waivers:\n{WRITTEN}"),
    "an empty list": ("# ours\nwaivers: []\n", f"# ours\nwaivers:\n{WRITTEN}"),
    "an empty list and a comment about it": (
        "waivers: []\n# once: waivers: []\n",
        f"waivers:\n{WRITTEN}# once: waivers: []\n",
    ),
    "one entry": (f"waivers:\n{WRITTEN}", f"waivers:\n{WRITTEN}{WRITTEN}"),
    "without a final newline": (f"waivers:\n{WRITTEN}".rstrip(), f"waivers:\n{WRITTEN}{WRITTEN}"),
    "windows line ends": (
        f"waivers:\n{WRITTEN}".replace("\n", "\r\n"),
        f"waivers:\n{WRITTEN}{WRITTEN}".replace("\n", "\r\n"),
    ),
    "windows line ends, without a final newline": (
        f"waivers:\n{WRITTEN}".rstrip().replace("\n", "\r\n"),
        f"waivers:\n{WRITTEN}{WRITTEN}".replace("\n", "\r\n"),
    ),
    "lists that are not indented": (f"waivers:\n{FLAT}", f"waivers:\n{FLAT}{FLAT}"),
    "another key first": (f"x-a: 1\nwaivers:\n{WRITTEN}", f"x-a: 1\nwaivers:\n{WRITTEN}{WRITTEN}"),
    "flow": ("waivers: [{case: a}]\n", None),
    "another key comes last": (f"waivers:\n{WRITTEN}x-a: 1\n", None),
}


@pytest.mark.parametrize(("text", "expected"), TABLE.values(), ids=TABLE)
def test_append(text: str, expected: str | None) -> None:
    assert append_waiver(text, ENTRY) == expected


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)


@given(reason=WORDS, owner=WORDS)
def test_what_is_read_back_is_what_was_written(reason: str, owner: str) -> None:
    entry = {"case": "c", "reason": reason, "owner": owner}
    once = append_waiver("", entry)
    assert once is not None
    assert Document("waivers.yaml", once).data == {"waivers": [entry]}
    again = append_waiver(once, entry)
    if again is not None:
        assert again.startswith(once)
        assert Document("waivers.yaml", again).data == {"waivers": [entry, entry]}
