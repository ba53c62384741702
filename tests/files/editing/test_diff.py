"""Diffs: what git makes of them is the new text, byte for byte."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.editing.fixes import unified
from tests.checkout import Checkout


@pytest.mark.parametrize("name", ["evals/a.yaml", "evals/größe und mehr.yaml"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a\nb\n", "a\nx\nb\n", id="plain"),
        pytest.param("a\r\nb\r\n", "a\r\nx\r\nb\r\n", id="crlf"),
        pytest.param("a\nb", "a\nb\nx", id="no-final-newline"),
        pytest.param("a\nb", "a\nx\nb", id="insert-before-a-last-line-without-newline"),
        pytest.param("\ufeffa\n", "\ufeffa\nx\n", id="byte-order-mark"),
        pytest.param("a\u2028b\x0c\n", "a\u2028b\x0c\nx\n", id="odd-breaks"),
        pytest.param("a\n" * 30, "a\n" * 10 + "x\n" + "a\n" * 20 + "y\n", id="two-hunks"),
    ],
)
def test_git_applies_it(checkout: Checkout, name: str, before: str, after: str) -> None:
    checkout.git("config", "core.autocrlf", "false")
    checkout.commit({name: before})
    patch = Path(checkout.root.parent / "patch")
    patch.write_bytes(unified(name, before, after).encode())
    checkout.git("apply", "--whitespace=nowarn", str(patch))
    assert (checkout.root / name).read_bytes() == after.encode()


@pytest.mark.parametrize(("name", "written"), [("a.yaml", "a.yaml"), ("a b.yaml", "a b.yaml\t")])
def test_the_name_of_the_file(name: str, written: str) -> None:
    lines = f"--- a/{written}\n+++ b/{written}\n@@ -1 +1 @@\n-x\n+y\n"
    assert unified(name, "x\n", "y\n") == lines


@given(st.text())
def test_no_change_is_no_diff(text: str) -> None:
    assert unified("a", text, text) == ""
