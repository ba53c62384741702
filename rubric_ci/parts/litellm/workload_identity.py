"""Workload identity: the job's identity token exchanged for a short API token, renewed in a run.

Tokens are in this process's memory only: `masking` takes them out of every output.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Final
from urllib.parse import quote
from weakref import WeakKeyDictionary

from rubric_ci.models.llm import direct_http
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.system import output_and_masking
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.hosts import EXCHANGES, IdentitySource, WorkloadIdentity
from rubric_ci.values.json_value import JSON
from rubric_ci.values.targets import Endpoint

EARLY: Final = 60.0  # seconds before its end that a token is renewed
_UNSTATED: Final = 300.0  # seconds that a token lives whose reply does not say
_LARGEST_FILE: Final = 64 * 1024  # bytes of a file with an identity token


@dataclass(slots=True)
class _Held:
    """The token of one identity; renewed by one request at a time."""

    lock: asyncio.Lock
    token: str = ""
    renew_at: float = 0.0  # by time.monotonic


_held: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Held]]" = WeakKeyDictionary()


async def authenticated(endpoint: Endpoint) -> Endpoint:
    """Return an endpoint with a token of its identity as API key; raises RequestError."""
    if endpoint.identity is None:
        return endpoint
    known = _held.setdefault(asyncio.get_running_loop(), {})
    held = known.setdefault(repr(endpoint.identity), _Held(asyncio.Lock()))
    async with held.lock:
        if not held.token or monotonic() >= held.renew_at:
            held.token, held.renew_at = await _exchanged(endpoint.identity)
        token = held.token
    return replace(endpoint, options={**endpoint.options, "api_key": token})


async def _exchanged(identity: WorkloadIdentity) -> tuple[str, float]:
    """Return a token, and when to renew it, by time.monotonic."""
    exchange = EXCHANGES[identity.exchange]
    subject = await _identity_token(identity)
    output_and_masking.hide([subject])
    body: dict[str, JSON] = {**exchange.fixed, exchange.subject: subject, **identity.parameters}
    started = monotonic()
    try:
        reply, _ = await direct_http.post(
            identity.url, dict(exchange.headers), body, form=exchange.form
        )
    except RequestError as error:
        raise _refused(f"the exchange of the identity token failed: {error}", error) from error
    token, lifetime = reply.get("access_token"), reply.get("expires_in", _UNSTATED)
    if not isinstance(token, str) or not token or not isinstance(lifetime, int | float):
        raise _refused("the exchange of the identity token gave no `access_token`")
    output_and_masking.hide([token])
    return token, started + renewed_after(lifetime)


def renewed_after(lifetime: float) -> float:
    """Return the age in seconds at which a token is renewed: early, at most half its life."""
    return lifetime - min(EARLY, lifetime / 2)


async def _identity_token(identity: WorkloadIdentity) -> str:
    source = identity.source
    if source.variable:
        if token := os.environ.get(source.variable, "").strip():
            return token
        raise _refused(f"the variable {source.variable} of the identity token is not set")
    if source.file:
        return _from_file(Path(source.file))
    if source.azure:
        return await _azure_token(source)
    return await _github_token(identity.audience)


def _from_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            token = file.read(_LARGEST_FILE).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(f"cannot read the identity token in {path}") from error
    if not token:
        raise _refused(f"{path} has no identity token")
    return token


async def _github_token(audience: str) -> str:
    url = os.environ.get("ACTIONS_ID_TOKEN_REQUEST_URL")
    key = os.environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    if not url or not key:
        raise _refused(
            "the job has no identity token: give the workflow `permissions: {id-token: write}`, or "
            "set `identity` of the judge's `auth`"
        )
    aimed = f"{url}&audience={quote(audience, safe='')}" if audience else url
    try:
        reply = await direct_http.get(aimed, {"Authorization": f"bearer {key}"})
    except RequestError as error:
        raise _refused(f"GitHub gave no identity token: {error}", error) from error
    return _reply_field(reply, "value", "GitHub")


async def _azure_token(source: IdentitySource) -> str:
    url, key = os.environ.get("SYSTEM_OIDCREQUESTURI"), os.environ.get("SYSTEM_ACCESSTOKEN")
    if not url or not key:
        raise _refused(
            "the step has no identity token: map `SYSTEM_ACCESSTOKEN: $(System.AccessToken)` into "
            "its `env`"
        )
    aimed = f"{url}?api-version=7.1&serviceConnectionId={quote(source.azure, safe='')}"
    try:
        reply, _ = await direct_http.post(aimed, {"Authorization": f"Bearer {key}"}, {})
    except RequestError as error:
        raise _refused(f"Azure DevOps gave no identity token: {error}", error) from error
    return _reply_field(reply, "oidcToken", "Azure DevOps")


def _reply_field(reply: Mapping[str, JSON], name: str, issuer: str) -> str:
    value = reply.get(name)
    if not isinstance(value, str) or not value:
        raise _refused(f"{issuer} gave no identity token: its reply has no `{name}`")
    return value


def _refused(message: str, cause: RequestError | None = None) -> RequestError:
    """Return the error of a request that was not sent for want of a token."""
    return RequestError(
        output_and_masking.redact(message),
        status=cause.status if cause else None,
        retryable=cause.retryable if cause else False,
        retry_after=cause.retry_after if cause else None,
        billed=False,
        reached=False,
    )
