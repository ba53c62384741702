"""The hosts that a request may go to, checked in every library that sends requests.

A model's name and options become an address inside the libraries: litellm takes a part of a Bedrock
ARN for the host. So the address of the finished request is checked, not only its settings.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from rubric_ci.values.hosts import AllowedHosts, host_of

_REGION = "[a-z0-9-]+"
_AWS = r"bedrock(-runtime|-agent-runtime|-agentcore)?|runtime\.sagemaker|sts|oidc|portal\.sso"

_PROVIDERS: Final = frozenset(
    f"{host}:443"
    for host in """
ai-gateway.helicone.ai ai-gateway.vercel.sh api-inference.huggingface.co api-inference.modelscope.cn
api.ai21.com api.aimlapi.com api.aleph-alpha.com api.anthropic.com api.bytez.com api.cerebras.ai
api.clarifai.com api.cloudflare.com api.cohere.ai api.cohere.com api.cometapi.com api.compactif.ai
api.deepinfra.com api.deepseek.com api.endpoints.anyscale.com api.featherless.ai api.fireworks.ai
api.friendli.ai api.galadriel.com api.githubcopilot.com api.groq.com api.hyperbolic.xyz
api.inceptionlabs.ai api.inference.wandb.ai api.lambda.ai api.llama.com api.minimax.io
api.minimaxi.com api.mistral.ai api.moonshot.ai api.morphllm.com api.nlpcloud.io api.nova.amazon.com
api.novita.ai api.openai.com api.perplexity.ai api.poe.com api.publicai.co api.replicate.com
api.sambanova.ai api.scaleway.ai api.studio.nebius.ai api.synthetic.new api.together.ai
api.together.xyz api.v0.dev api.voyageai.com api.x.ai api.z.ai app.empower.dev
ark.cn-beijing.volces.com
chat.maritaca.ai codestral.mistral.ai dashscope-intl.aliyuncs.com dashscope.aliyuncs.com
generativelanguage.googleapis.com huggingface.co gigachat.devices.sberbank.ru
inference.api.nscale.com
inference.baseten.co inference.do-ai.run integrate.api.nvidia.com ai.api.nvidia.com llm.chutes.ai
models.github.ai models.inference.ai.azure.com nano-gpt.com ngw.devices.sberbank.ru
oai.endpoints.kepler.ai.cloud.ovh.net openrouter.ai router.huggingface.co serving.app.predibase.com
aiplatform.googleapis.com iamcredentials.googleapis.com oauth2.googleapis.com sts.googleapis.com
www.googleapis.com auth.openai.com auth.x.ai iam.cloud.ibm.com login.microsoftonline.com
sts.amazonaws.com
""".split()  # noqa: SIM905 - a list would take a line per host
)
_REGIONAL: Final = "|".join(
    (
        rf"(?:{_AWS})\.{_REGION}\.amazonaws\.com(?:\.cn)?:443",
        rf"(bedrock-mantle|aws-external-anthropic)\.{_REGION}\.api\.aws:443",
        rf"{_REGION}-aiplatform\.googleapis\.com:443",
        rf"aiplatform\.{_REGION}\.rep\.googleapis\.com:443",
        rf"inference\.generativeai\.{_REGION}\.oci\.oraclecloud\.com:443",
        r"model-[\w-]+\.api\.baseten\.co:443",
        r"[\w.-]+\.snowflakecomputing\.com:443",
        r"169\.254\.169\.254:80|169\.254\.170\.2:80|metadata\.google\.internal:80",  # logins
    )
)
"""The providers that litellm knows, and where their clients log in.

A provider is missing in both on purpose where anyone may rent a host below its domain.
"""

_SERVER_VARIABLE: Final = re.compile(r"\w*(API_BASE|BASE_URL|API_URL|ENDPOINT(_URL)?|API_HOST)")
_LOGIN_VARIABLES: Final = (
    "ACTIONS_ID_TOKEN_REQUEST_URL",
    "SYSTEM_OIDCREQUESTURI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)

_allowed: ContextVar[AllowedHosts | None] = ContextVar("_allowed", default=None)


class RefusedHost(Exception):
    """A request that was not sent, because its host is not allowed."""


@contextmanager
def limited_to(allowed: AllowedHosts) -> Iterator[None]:
    """Limit the requests of this task, and of tasks that it starts, to allowed hosts."""
    before = _allowed.set(allowed)
    try:
        yield
    finally:
        _allowed.reset(before)


def check(url: str) -> None:
    """Raise RefusedHost if a request must not go to a URL."""
    allowed = _allowed.get()
    if allowed is None:
        return
    if not is_allowed(host_of(url), allowed, os.environ):
        raise RefusedHost(refusal_of(host_of(url)))


def is_allowed(host: str, allowed: AllowedHosts, environment: Mapping[str, str]) -> bool:
    """Return True for a listed host, a provider's, or one that the job's environment names."""
    if allowed.allows(host) or host in _hosts_in(environment, _LOGIN_VARIABLES):
        return bool(host)
    if not (host and allowed.providers):
        return False
    named = [name for name in environment if _SERVER_VARIABLE.fullmatch(name)]
    is_provider = host in _PROVIDERS or bool(re.fullmatch(_REGIONAL, host))
    return is_provider or host in _hosts_in(environment, named)


def refusal_of(host: str) -> str:
    """Return the message for a host that is not allowed; empty: it is not known."""
    if not host:
        return "the host is not known, so nothing was sent; write `api_base` as https://HOST"
    return (
        f"the host {host} is not allowed, and nothing was sent to it; list it in "
        "RUBRIC_CI_ALLOWED_HOSTS, or merge a configuration that uses it"
    )


def _hosts_in(environment: Mapping[str, str], names: "tuple[str, ...] | list[str]") -> set[str]:
    return {host_of(environment[name]) for name in names if name in environment} - {""}
