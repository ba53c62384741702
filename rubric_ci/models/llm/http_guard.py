"""Refuse hosts, redirects and unbounded replies to the libraries that litellm sends with.

litellm and OpenAI's client send with httpx, one provider of litellm with aiohttp alone, the logins
to AWS and Google with urllib3. No library for gRPC or websockets is installed with us. None has an
option for all of its clients. httpx removes only the Authorization header where a redirect leads to
another host; `x-api-key` and the like of other providers would go with it. It unpacks each piece of
a reply whole, through every encoding that the reply names: a few kilobytes become gigabytes before
they can be counted. The body of an error is cut: litellm compares its text with every message that
it knows, which takes minutes for megabytes.

A model's name and options become an address inside the libraries: litellm takes a part of a Bedrock
ARN for the host. So the address of the finished request is checked, not only its settings.
"""

import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from rubric_ci.values.hosts import AllowedHosts, host_of

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from httpx import AsyncClient, Client, Request, Response
    from urllib3 import HTTPConnectionPool

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


MAX_BODY: Final = 8 * 2**20  # bytes of a reply, unpacked
MAX_ERROR: Final = 64 * 2**10  # bytes of the reply of an error; the rest is not read
MAX_FILE: Final = 256 * 2**20  # bytes of the replies of a batch
OFFERED: Final = "gzip"  # as `Accept-Encoding`; zlib unpacks it up to a limit
_BOUNDED: Final = {"stream": True, "follow_redirects": False}
REDIRECTED: Final = "redirects are not followed; check `api_base`"


class RefusedReply(Exception):
    """A reply that is not read."""


def guard(client: "type[AsyncClient]", blocking_client: "type[Client]") -> None:
    """Replace `send` of both kinds of clients by one that refuses."""
    # httpx has no hook that may refuse a reply before it is read
    client.send = _guarded(client.send)  # type: ignore[method-assign]
    blocking_client.send = _guarded_blocking(blocking_client.send)  # type: ignore[method-assign]


def guard_logins(pool: "type[HTTPConnectionPool]") -> None:
    """Let urllib3, with which boto3 and google-auth log in, ask allowed hosts only."""
    send: Any = pool.urlopen

    def guarded(self: "HTTPConnectionPool", method: str, url: str, *rest: Any, **extra: Any) -> Any:
        check(url if "://" in url else f"{self.scheme}://{self.host}:{self.port or ''}")
        return send(self, method, url, *rest, **extra)

    pool.urlopen = guarded  # type: ignore[method-assign] # it has no hook, as httpx


def guard_sessions(session: "type[ClientSession]") -> None:
    """Let aiohttp ask allowed hosts only, and follow no redirect."""
    send: Any = session._request

    async def guarded(self: "ClientSession", method: str, url: Any, **extra: Any) -> Any:
        check(str(self._build_url(url)))
        return await send(self, method, url, **{**extra, "allow_redirects": False})

    # a hook of aiohttp (`TraceConfig`) would have to be given to each session
    session._request = guarded  # type: ignore[method-assign,assignment]


def too_large(limit: int) -> str:
    return f"the response has more than {limit // 2**20} MiB"


def _guarded(send: Any) -> Any:
    async def guarded(
        self: "AsyncClient", request: "Request", *, stream: bool = False, **extra: Any
    ) -> "Response":
        response: Response = await send(self, _checked(request), **extra | _BOUNDED)
        if stream and response.is_success:
            return response
        try:
            body, unpack = _begun(response)
            async for chunk in response.aiter_raw():
                if _is_enough(body, unpack, chunk, response):
                    break
        finally:
            await response.aclose()
        return _with_body(response, body)

    return guarded


def _guarded_blocking(send: Any) -> Any:
    def guarded(
        self: "Client", request: "Request", *, stream: bool = False, **extra: Any
    ) -> "Response":
        response: Response = send(self, _checked(request), **extra | _BOUNDED)
        if stream and response.is_success:
            return response
        try:
            body, unpack = _begun(response)
            for chunk in response.iter_raw():
                if _is_enough(body, unpack, chunk, response):
                    break
        finally:
            response.close()
        return _with_body(response, body)

    return guarded


def _checked(request: "Request") -> "Request":
    """Return a request to an allowed host, with the encodings that are offered."""
    check(str(request.url))
    request.headers["accept-encoding"] = OFFERED
    return request


def _begun(response: "Response") -> tuple[bytearray, Callable[[bytes, int], bytes]]:
    """Return an empty body, and a decompressor with a size limit; raises RefusedReply."""
    if response.is_redirect:
        raise RefusedReply(f"HTTP {response.status_code}: {REDIRECTED}")
    match encoding := response.headers.get("content-encoding", "identity").strip().lower():
        case "identity" | "":
            return bytearray(), lambda chunk, _: chunk
        case "gzip" | "x-gzip":
            return bytearray(), zlib.decompressobj(zlib.MAX_WBITS | 16).decompress
        case _:
            raise RefusedReply(f"the response has the encoding `{encoding}`, which is not offered")


def _is_enough(
    body: bytearray, unpack: Callable[[bytes, int], bytes], chunk: bytes, response: "Response"
) -> bool:
    """Append a piece of the body; return True if the rest is not needed."""
    most = MAX_ERROR if response.is_error else MAX_BODY
    try:
        body += unpack(chunk, most - len(body) + 1)
    except zlib.error as error:
        from httpx import DecodingError

        raise DecodingError(str(error), request=response.request) from error
    if len(body) <= most:
        return False
    if not response.is_error:
        raise RefusedReply(too_large(most))
    del body[most:]
    return True


def _with_body(response: "Response", body: bytearray) -> "Response":
    """Return the response with its unpacked body."""
    from httpx import Response

    packed = {"content-encoding", "content-length", "transfer-encoding"}
    read = Response(
        response.status_code,
        headers=[pair for pair in response.headers.multi_items() if pair[0] not in packed],
        content=bytes(body),
        request=response.request,
        extensions=response.extensions,
    )
    read.elapsed = response.elapsed
    return read
