"""Which hosts a finished request may go to."""

from collections.abc import Mapping

import pytest

from rubric_ci.models.llm.http_guard import RefusedHost, check, is_allowed, limited_to
from rubric_ci.values.hosts import AllowedHosts

BASE = AllowedHosts(hosts=frozenset({"judge.example:443"}), providers=True)
GIVEN = AllowedHosts(hosts=frozenset({"judge.example"}), providers=False)
SERVER = {"AZURE_API_BASE": "https://mine.openai.azure.com/x"}
LOGIN = {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://run.actions.example/token?a=b"}


@pytest.mark.parametrize(
    ("host", "allowed", "environment", "expected"),
    [
        ("judge.example:443", BASE, {}, True),
        ("judge.example:8443", BASE, {}, False),
        ("judge.example:8443", GIVEN, {}, True),
        ("api.openai.com:443", BASE, {}, True),
        ("api.openai.com:443", GIVEN, {}, False),
        ("api.openai.com:80", BASE, {}, False),
        ("api.openai.com.evil.test:443", BASE, {}, False),
        ("xapi.openai.com:443", BASE, {}, False),
        ("bedrock-runtime.eu-west-1.amazonaws.com:443", BASE, {}, True),
        ("bedrock-runtime.evil.test:443", BASE, {}, False),
        ("bedrock-runtime.evil.test.amazonaws.com:443", BASE, {}, False),
        ("x.execute-api.eu-west-1.amazonaws.com:443", BASE, {}, False),
        ("evil.openai.azure.com:443", BASE, {}, False),
        ("europe-west4-aiplatform.googleapis.com:443", BASE, {}, True),
        ("169.254.169.254:80", BASE, {}, True),
        ("169.254.169.254:80", GIVEN, {}, False),
        ("mine.openai.azure.com:443", BASE, SERVER, True),
        ("mine.openai.azure.com:443", BASE, {}, False),
        ("mine.openai.azure.com:443", GIVEN, SERVER, False),
        ("run.actions.example:443", GIVEN, LOGIN, True),
        ("run.actions.example:443", BASE, LOGIN, True),
        ("", BASE, {"X_API_BASE": "nonsense"}, False),
    ],
)
def test_host(
    host: str, allowed: AllowedHosts, environment: Mapping[str, str], expected: bool
) -> None:
    assert is_allowed(host, allowed, environment) is expected


def test_the_limit_ends_with_the_request() -> None:
    with limited_to(BASE), pytest.raises(RefusedHost, match=r"the host evil\.test:443 is not"):
        check("https://evil.test/v1")
    check("https://evil.test/v1")
