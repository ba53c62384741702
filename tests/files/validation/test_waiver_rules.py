"""Rules of `waivers.yaml`."""

import pytest

from rubric_ci.files.validation.gate_and_waiver_rules import States
from rubric_ci.files.validation.validator import check_waivers
from rubric_ci.files.yaml_text.document import Document
from tests.files.shown import shown

ENTRY = """\
  - case: refund
    criterion: period
    reason: The index is rebuilt
    owner: ana
    until: 2026-06-30
    fingerprint: 0123456789ab
"""
TWO = ENTRY + ENTRY.replace("period", "place")
NONE = States([], None)
TABLE = {
    "in force": (ENTRY, States(["not-run"], None), ""),
    "expired": (
        ENTRY,
        States(["expired"], None),
        "2:5: warning: waiver-expired: the waiver of `refund/period` ended on 2026-06-30",
    ),
    "edited": (
        ENTRY,
        States(["edited"], None),
        (
            "2:5: warning: waiver-edited: the criterion `refund/period` or its question was "
            "edited after it was waived"
        ),
    ),
    "unmatched": (
        ENTRY,
        States(["unmatched"], None),
        (
            "2:5: warning: waiver-unmatched: `refund/period` is not exactly one criterion of the "
            "eval files"
        ),
    ),
    "safety": (
        ENTRY,
        States(["safety"], None),
        "2:5: error: waiver-safety: `refund/period` has the tag `safety`",
    ),
    "limit": (TWO, States(["x", "x"], 1), "8:5: error: waiver-limit: 2 waivers, at most 1 allowed"),
    "repeated": (
        ENTRY + ENTRY,
        NONE,
        "8:5: error: waiver-repeated: `refund/period` is waived twice",
    ),
    "no date": (
        ENTRY.replace("06-30", "06-31"),
        NONE,
        "6:12: error: waiver-date: `2026-06-31` is not a date",
    ),
    "no owner": (
        ENTRY.replace("    owner: ana\n", ""),
        NONE,
        "2:5: error: missing-key: an entry of `waivers` has no `owner`",
    ),
}


@pytest.mark.parametrize(("entries", "states", "expected"), TABLE.values(), ids=TABLE)
def test_waivers(entries: str, states: States, expected: str) -> None:
    found = check_waivers(Document("waivers.yaml", f"waivers:\n{entries}"), lambda: states)
    assert shown(found, severity=True) == expected
