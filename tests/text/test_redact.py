"""Which values are secret, and texts without them."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.text.redact import environment_secrets, is_secret_name, redactor

AWKWARD = "a\"b\\c'd<e>&f/g h+ü"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("DEPLOY_TOKEN", True),
        ("CLIENT_SECRET", True),
        ("DB_PASSWORD", True),
        ("TOKEN", True),
        ("apikey", True),
        ("X-Api-Key", True),
        ("Authorization", True),
        ("vertex_credentials", True),
        ("MONKEY", False),
        ("max_tokens", False),
        ("KEYBOARD", False),
        ("TOKEN_FILE", False),
        ("RUBRIC_CI_COMMENT_KEY", False),
        ("PATH", False),
    ],
)
def test_is_secret_name(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@pytest.mark.parametrize(
    ("environment", "secrets"),
    [
        ({"A_KEY": "123456", "B": "654321"}, ["123456"]),
        ({"DB": "postgres://app:hunter22@db/app"}, ["hunter22"]),
        ({"DB": "postgres://app@db:5432/app"}, []),
        ({"PROXY": "http://:secret@proxy:3128"}, ["secret"]),
    ],
    ids=["by-name", "in-an-address", "address-without-password", "no-user"],
)
def test_environment_secrets(environment: dict[str, str], secrets: list[str]) -> None:
    assert list(environment_secrets(environment)) == secrets


@pytest.mark.parametrize(
    ("secrets", "text", "redacted"),
    [
        (["s3cret"], "a s3cret b s3cret", "a *** b ***"),
        (["abcde"], "abcde", "abcde"),
        (["", "1", "true"], "1 true", "1 true"),
        ([" s3cret\n"], "[s3cret]", "[***]"),
        (["line one\nline two"], "line two, line one", "***, ***"),
        (["line one\nx"], "line one x", "***"),
        (["abcdef", "abcdefgh"], "abcdefgh abcdef", "*** ***"),
        ([AWKWARD], json.dumps({"k": AWKWARD}), '{"k": "***"}'),
        ([AWKWARD], json.dumps({"k": AWKWARD}, ensure_ascii=False), '{"k": "***"}'),
        ([AWKWARD], f"?k={quote(AWKWARD, safe='')}", "?k=***"),
        ([AWKWARD], f"?k={quote(AWKWARD).lower()}", "?k=***"),
        ([AWKWARD], f"?k={quote_plus(AWKWARD)}", "?k=***"),
        ([AWKWARD], f"KeyError({AWKWARD!r})", "KeyError('***')"),
        ([AWKWARD], "<b>a&quot;b\\c&#x27;d&lt;e&gt;&amp;f/g h+ü", "<b>***"),
        ([AWKWARD], "'a\"b\\c'\"'\"'d<e>&f/g h+ü'", "'***'"),
    ],
)
def test_redactor(secrets: list[str], text: str, redacted: str) -> None:
    assert redactor(secrets)(text) == redacted


@given(st.binary(max_size=5), st.text(min_size=8, max_size=40), st.binary(max_size=5))
def test_base64_at_every_offset(before: bytes, secret: str, after: bytes) -> None:
    data = before + secret.encode("utf-8", "surrogatepass") + after
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(data).decode()
        assert "***" in redactor([secret])(text)
