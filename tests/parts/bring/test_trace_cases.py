"""Personal data and keys: what is recognised by its form, and what only looks alike."""

import pytest

from rubric_ci.parts.bring.trace_cases import KINDS, Masker


def unchanged(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("ada@shop.example", "[EMAIL]"),
        ("Write to ada.b+x@mail.shop.example.", "Write to [EMAIL]."),
        ("<ada_b@shop-1.co.uk>, bob@x.org", "<[EMAIL]>, [EMAIL]"),
        ("@ada said a@b", "@ada said a@b"),
        ("git@github.com:acme/shop", "[EMAIL]:acme/shop"),
        ("+49 30 1234567", "[PHONE]"),
        ("+1 (555) 010-4477, today", "[PHONE], today"),
        ("call 0049 170 1234567", "call [PHONE]"),
        ("030/1234567 or 0170 123 45 67", "[PHONE] or [PHONE]"),
        ("(555) 010-4477", "[PHONE]"),
        ("555.010.4477", "[PHONE]"),
        ("on 2026-11-26 at 10:00:00", "on 2026-11-26 at 10:00:00"),
        ("26.11.2026, 01/02/2026", "26.11.2026, 01/02/2026"),
        ("order 7741200391", "order 7741200391"),
        ("127.0.0.1, 10.12.100.200, v1.20.300", "127.0.0.1, 10.12.100.200, v1.20.300"),
        ("0.25 of 1,000,000 is 250000", "0.25 of 1,000,000 is 250000"),
        ("00f067aa0ba902b7", "00f067aa0ba902b7"),
    ],
)
def test_personal_data_is_replaced_by_its_kind(text: str, masked: str) -> None:
    assert Masker(KINDS, unchanged)(text) == masked


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdefghijklmnop1234",
        "sk-ant-api03-abcdefghijklmnop",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_abcdefghijklmnopqrstuv",
        "glpat-abcdefghijklmnopqrst",
        "xoxb-1234567890-abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "AIza" + "a" * 35,
        "hf_abcdefghijklmnopqrstuvwxyz",
        "lsv2_pt_abcdefghijklmnop1234",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl",
    ],
)
def test_keys_of_known_forms_are_always_masked(key: str) -> None:
    masker = Masker((), unchanged)
    assert masker(f"Use {key}, please") == "Use ***, please"
    assert masker.counts == {"secret": 1}


@pytest.mark.parametrize(
    "text", ["task-list-of-everything", "sk-short", "risk-assessment-report-x"]
)
def test_words_are_no_keys(text: str) -> None:
    assert Masker((), unchanged)(text) == text


def test_what_is_masked_is_counted() -> None:
    masker = Masker(("EMAIL",), lambda text: text.replace("hunter2", "***"))
    assert masker("hunter2 a@b.org c@d.org +49 30 1234567") == "*** [EMAIL] [EMAIL] +49 30 1234567"
    assert masker.counts == {"secret": 1, "EMAIL": 2}
