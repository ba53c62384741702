"""Model names and options that libraries turn into hosts: no name but a provider's is looked up."""

import asyncio
import socket
from importlib.util import find_spec
from typing import Any

import aiohttp
import pytest

from rubric_ci.errors import CannotReachModel
from rubric_ci.models.llm.allowed_hosts import guard
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.http_guard import RefusedHost, limited_to
from rubric_ci.values.hosts import AllowedHosts
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelReply
from rubric_ci.values.targets import Endpoint
from tests.cases import build_call

BASE = AllowedHosts(hosts=frozenset({"judge.example:443"}), providers=True)
KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-job",
    "AWS_BEARER_TOKEN_BEDROCK": "token-of-the-job",
    "AWS_EC2_METADATA_DISABLED": "true",
}
ARN = "arn:aws:bedrock-agentcore"
HOSTILE = (
    *("evil.test/", "evil.test#", "evil.test?"),
    *("x@evil.test/", "evil.test:443/", "x.evil.test/"),
)

Form = tuple[str, dict[str, JSON]]


def forms(host: str) -> dict[str, Form]:
    """Return every form in which litellm takes a part of an address from the configuration."""
    key: dict[str, JSON] = {"api_key": "k"}
    return {
        "agentcore arn": (f"bedrock/agentcore/{ARN}:{host}:1234:runtime/x", {}),
        "bedrock arn": (f"bedrock/converse/arn:aws:bedrock:{host}:1234:inference-profile/x", {}),
        "bedrock invoke arn": (f"bedrock/invoke/arn:aws:bedrock:{host}:1:provisioned-model/x", {}),
        "bedrock agent": (f"bedrock/agent/{host}/x", {"aws_region_name": host}),
        "bedrock region in name": (f"bedrock/{host}/anthropic.claude-v2", {}),
        "bedrock region": ("bedrock/anthropic.claude-v2", {"aws_region_name": host}),
        "bedrock mantle": ("bedrock_mantle/openai.gpt-oss-120b", {"aws_region_name": host}),
        "bedrock endpoint": (
            "bedrock/anthropic.claude-v2",
            {"aws_bedrock_runtime_endpoint": f"https://{host}", "aws_region_name": "us-east-1"},
        ),
        "sts endpoint": (
            "bedrock/anthropic.claude-v2",
            {"aws_sts_endpoint": f"https://{host}", "aws_role_name": "arn:aws:iam::1:role/x"}
            | {"aws_session_name": "x", "aws_region_name": "us-east-1"},
        ),
        "sagemaker region": ("sagemaker_chat/x", {"aws_region_name": host}),
        "vertex location": (
            "vertex_ai/gemini-3.8-flash",
            {"vertex_location": host, "vertex_project": "p"} | key,
        ),
        "vertex endpoint": (
            f"vertex_ai/openai/{host}",
            {"vertex_location": "us-east1", "vertex_project": host} | key,
        ),
        "oci region": (
            "oci/xai.grok-4",
            {"oci_region": host, "oci_compartment_id": "c", "oci_user": "u"}
            | {"oci_fingerprint": "f", "oci_tenancy": "t", "oci_key": "k"},
        ),
        "snowflake account": ("snowflake/mistral-7b", {"account_id": host} | key),
        "snowflake in key": ("snowflake/mistral-7b", {"snowflake_account_id": host} | key),
        "cloudflare account": ("cloudflare/@cf/meta/llama", {"account_id": host} | key),
        "baseten model": (f"baseten/{host}", key),
        "baseten id": (f"baseten/abcd{host}", key),
        "huggingface url": (f"huggingface/https://{host}", key),
        "replicate deployment": (f"replicate/deployments/{host}/x", key),
        "predibase tenant": ("predibase/llama", {"predibase_tenant_id": host} | key),
        "nlp_cloud model": (f"nlp_cloud/{host}", key),
        "fireworks account": (f"fireworks_ai/accounts/{host}/models/x", key),
        "databricks": ("databricks/dbrx", {"api_base": host} | key),
        "azure resource": ("azure/x", {"api_base": f"https://{host}", "api_version": "v1"} | key),
        "azure_ai": ("azure_ai/x", {"api_base": f"https://{host}"} | key),
        "base_url": ("mistral/x", {"base_url": f"https://{host}"} | key),
        "openai": ("openai/gpt-6-luna", {"api_base": f"https://{host}"} | key),
        "aiohttp": ("aiohttp_openai/x", {"api_base": f"https://{host}"} | key),
        "watsonx": ("watsonx/ibm/granite", {"url": f"https://{host}", "project_id": "p"} | key),
        "custom provider": ("x", {"custom_llm_provider": "vllm", "api_base": host} | key),
        "ragflow": (f"ragflow/chat/{host}/x", {"api_base": f"https://{host}"} | key),
        "gigachat": ("gigachat/x", {"auth_url": f"https://{host}", "credentials": "c"}),
        "region": ("bedrock/a.b", {"region_name": host}),
    }


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep the names that any library asks for before it connects; none of them is known."""
    names: list[str] = []

    def unknown(host: Any, *_: Any, **__: Any) -> Any:
        names.append(host.decode() if isinstance(host, bytes) else str(host))
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    return names


def ask(model: str, options: dict[str, JSON], *, guarded: bool = True) -> str:
    """Ask a model; return why there is no reply."""
    endpoint = Endpoint(model=model, options=options, timeout_seconds=60)
    call = build_call(endpoint=endpoint)

    async def asked() -> ModelReply:
        return await (guard(request, BASE) if guarded else request)(call)

    with pytest.raises((CannotReachModel, RequestError)) as caught:
        asyncio.run(asked())
    return str(caught.value)


@pytest.mark.parametrize("form", forms(""))
@pytest.mark.parametrize("host", HOSTILE)
def test_a_form(form: str, host: str, looked_up: list[str]) -> None:
    ask(*forms(host)[form])
    assert [name for name in looked_up if "evil" in name] == []


@pytest.mark.parametrize(
    "form",
    ["agentcore arn", "bedrock endpoint", "azure resource", "azure_ai", "base_url", "openai"],
)
def test_without_the_check_the_host_is_asked(form: str, looked_up: list[str]) -> None:
    ask(*forms("evil.test/")[form], guarded=False)
    assert any("evil.test" in name for name in looked_up)


def test_a_library_that_sends_by_another_way(looked_up: list[str]) -> None:
    """aiohttp is checked where it sends, as httpx and urllib3 are."""
    ask("mistral/m", {"api_key": "k", "base_url": "https://judge.example"})  # guards the libraries
    looked_up.clear()

    async def get(url: str) -> None:
        with limited_to(BASE):
            async with aiohttp.ClientSession() as session, session.get(url):
                pass

    with pytest.raises(RefusedHost, match=r"the host evil\.test:443 is not allowed"):
        asyncio.run(get("https://evil.test/v1"))
    assert looked_up == []
    with pytest.raises(aiohttp.ClientConnectionError):
        asyncio.run(get("https://judge.example/v1"))
    assert looked_up == ["judge.example"]


@pytest.mark.parametrize("name", ["grpc", "websockets", "vertexai", "petals"])
def test_libraries_that_send_unchecked_are_not_installed(name: str) -> None:
    assert find_spec(name) is None


def test_the_message_names_the_host(looked_up: list[str]) -> None:
    said = ask(*forms("evil.test/")["agentcore arn"])
    assert said == (
        "the host bedrock-agentcore.evil.test:443 is not allowed, and nothing was sent to it; list "
        "it in RUBRIC_CI_ALLOWED_HOSTS, or merge a configuration that uses it"
    )
    assert looked_up == []


@pytest.mark.parametrize(
    ("model", "options", "host"),
    [
        (f"bedrock/agentcore/{ARN}:us-east-1:1234:runtime/x", {}, "bedrock-agentcore.us-east-1."),
        ("bedrock/anthropic.claude-v2", {"aws_region_name": "eu-west-1"}, "bedrock-runtime.eu-w"),
        ("mistral/m", {"api_key": "k"}, "api.mistral.ai"),
        ("anthropic/m", {"api_key": "k"}, "api.anthropic.com"),
        ("openai/m", {"api_key": "k", "api_base": "https://judge.example"}, "judge.example"),
    ],
)
def test_an_allowed_host_is_asked(
    model: str, options: dict[str, JSON], host: str, looked_up: list[str]
) -> None:
    ask(model, options)
    assert [name[: len(host)] for name in looked_up][:1] == [host]
