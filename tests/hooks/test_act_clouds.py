"""Judges in Azure, AWS and Google under act: local servers in place of login actions and models."""

import json
from collections.abc import Iterator

import pytest

from tests.checkout import Checkout
from tests.hooks import runner
from tests.hooks.roles import Role
from tests.http_server import JsonHandler, serving

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600), *runner.WITH_ACT]

MARKS = json.dumps({"c1": {"evidence": "", "reasoning": "So it is.", "satisfied": True}})
REPLIES = {
    "/openai/deployments/": {
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": MARKS}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    },
    "/model/": {
        "output": {"message": {"role": "assistant", "content": [{"text": MARKS}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11},
        "metrics": {"latencyMs": 1},
    },
    ":generateContent": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": MARKS}]}}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11},
    },
    "/identity": {"value": "identity-token-of-the-job"},
    "/sts": {
        "access_token": "google-short-token-1234",
        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "token_type": "Bearer",
        "expires_in": 3600,
    },
}
JUDGES = {
    "azure": (
        (
            'model: azure/gpt-6-luna, api_base: "{url}", api_version: "2024-10-21", '
            'azure_ad_token: "${{{{ AZURE_AD_TOKEN }}}}"'
        ),
        "Bearer azure-session-token-1234",
    ),
    "aws": (
        (
            "model: bedrock/anthropic.claude-sonnet-5-5, aws_region_name: eu-central-1, "
            'aws_bedrock_runtime_endpoint: "{url}"'
        ),
        "AWS4-HMAC-SHA256 Credential=ASIAOFTHISSESSION123/",
    ),
    "google": (
        (
            "model: vertex_ai/gemini-3.8-flash, vertex_project: p, vertex_location: europe-west1, "
            'api_base: "{url}/v1/models/gemini"'
        ),
        "Bearer google-short-token-1234",
    ),
}
SECRETS = (
    *("azure-session-token-1234", "aws-session-secret-1234", "aws-session-token-1234"),
    *("google-short-token-1234", "identity-token-of-the-job"),
)
CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{{judge}, output: prompt}}
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
"""
EVALS = "evalcases:\n  - {id: greeting, input: Say hello, rubrics: [Greets]}\n"


class Cloud:
    """Models and an exchange of tokens; `asked` has path and authorization of each request."""

    url = ""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    state = Cloud()

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            state.asked.append((self.path, self.headers.get("Authorization", "")))
            found = [reply for part, reply in REPLIES.items() if part in self.path]
            self.send_json(200 if found else 404, found[0] if found else {})

    with serving(Handler) as server:
        state.url = server.url
        yield state


@pytest.mark.parametrize("name", JUDGES)
def test_no_stored_key(name: str, cloud: Cloud, checkout: Checkout, published: Checkout) -> None:
    judge, authorization = JUDGES[name]
    answer = json.dumps({"id": "greeting", "answer": "Hello"}) + "\n"
    config = CONFIG.format(judge=judge.format(url=cloud.url))
    base = {"rubric-ci.yaml": config, "evals/a.eval.yaml": EVALS, "answers.jsonl": answer}
    checkout.commit(base)
    change = {"answers.jsonl": answer.replace("Hello", "Hello there")}
    ids = ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_SUBSCRIPTION_ID", "AWS_ROLE")
    variables = (*ids, "GOOGLE_PROVIDER", "GOOGLE_SERVICE_ACCOUNT")
    job = runner.run(
        checkout,
        f"evals-{name}.yml",
        event="pull_request",
        payload=runner.merged(checkout, change, Role()),
        published=published,
        environ={"CLOUD_URL": cloud.url, "GITHUB_REPOSITORY": "acme/app"},
        only=tuple(word for each in variables for word in ("--var", f"{each}=an-id")),
    )
    assert job.succeeded, job.log
    assert job.outputs["verdict"] == "pass"
    _, given = cloud.asked[-1]
    assert given.startswith(authorization), cloud.asked
    assert [secret for secret in SECRETS if secret in job.log + job.summary] == []
