"""The hosts that model requests may go to, and where a job's identity is exchanged for a token."""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.written_keys import Key

CREDENTIALS: Final = frozenset(
    (
        *("api_base", "api_key", "aws_access_key_id", "aws_secret_access_key"),
        *("aws_session_token", "azure_ad_token", "base_url", "client_secret", "extra_headers"),
        *("headers", "organization", "url_before", "vertex_credentials"),
    )
)
"""Options of a model that say where it is and who asks, not what it is asked."""
_WEB = re.compile("https?://", re.IGNORECASE)
_AMBIGUOUS = re.compile(r"[\\\s\x00-\x1f\x7f]")

_EXCHANGE: Final = {  # RFC 8693
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    url: str = ""  # empty: the configuration has it
    subject: str  # name of the field with the identity token
    fixed: Mapping[str, JSON]
    headers: Mapping[str, str] = field(default_factory=dict)
    form: bool = False  # sent as a form; else as JSON


EXCHANGES: Final[Mapping[str, Exchange]] = {
    "openai": Exchange(
        url="https://auth.openai.com/oauth/token", subject="subject_token", fixed=_EXCHANGE
    ),
    "anthropic": Exchange(
        url="https://api.anthropic.com/v1/oauth/token",
        subject="assertion",
        fixed={"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer"},  # RFC 7523
        headers={"anthropic-beta": "oauth-2025-04-20,oidc-federation-2026-04-01"},
    ),
    "openrouter": Exchange(
        url="https://openrouter.ai/api/v1/oauth/token",
        subject="subject_token",
        fixed=_EXCHANGE,
        form=True,
    ),
    "": Exchange(subject="subject_token", fixed=_EXCHANGE, form=True),
}
"""By name of the provider; empty: a server of RFC 8693, which the configuration names."""
_OIDC: Final[dict[str, Any]] = {
    "type": ["string", "object"],
    "if": {"type": "string"},
    "then": {"enum": [*filter(None, EXCHANGES)]},
    "else": {"if": {"type": "object"}, "then": {"$ref": "#/$defs/exchange"}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedHosts:
    """Hosts, each with a port or for every port."""

    hosts: frozenset[str]  # "host" or "host:port"
    providers: bool  # a model without `api_base` may be asked at its provider
    checkout: str = ""  # folder of the change, whose files are not started as a judge

    def allows(self, host: str) -> bool:
        """Return True for a listed host; `host` has a port, or is empty: it is not known."""
        return bool(host) and (host in self.hosts or host.rpartition(":")[0] in self.hosts)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentitySource:
    """Where the job's identity token is; without any of these, GitHub's of the workflow."""

    variable: Annotated[str, Key("MODEL_ID_TOKEN", name="env", title="Variable")] = ""
    """Environment variable with the token, as `id_tokens` of GitLab sets it."""
    file: Annotated[str, Key("/var/run/secrets/tokens/model")] = ""
    """File with the token; it is read for each exchange."""
    azure: Annotated[str, Key("11111111-2222-3333-4444-555555555555", title="Azure DevOps")] = ""
    """Id of the service connection of Azure DevOps; the step needs `SYSTEM_ACCESSTOKEN` in its
    `env`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadIdentity:
    """The exchange of an identity token, in place of an API key."""

    exchange: Annotated[
        str,
        Key(
            *("anthropic", {"token_url": "https://login.example/token", "audience": "models"}),
            name="oidc",
            title="Exchange",
            **_OIDC,
        ),
    ]
    """`openai`, `anthropic` or `openrouter`, or an object for any other server of RFC 8693, with
    its `token_url`, the `audience` and the `parameters`."""
    audience: Annotated[str, Key("https://api.openai.com/v1")] = ""
    """Audience of the identity token that GitHub is asked for, as the provider's rule expects it.
    Without it, GitHub's default: the URL of the owner."""
    parameters: Annotated[Mapping[str, str], Key.of("exchange_parameters")] = field(
        default_factory=dict
    )
    token_url: Annotated[str, Key("https://proxy.example/oauth/token")] = ""
    """URL of the exchange, if it is not the provider's."""
    source: Annotated[
        IdentitySource, Key({"env": "MODEL_ID_TOKEN"}, name="identity", title="Identity token")
    ] = field(default_factory=IdentitySource)
    """Where the identity token is. Without it, the token of GitHub's workflow, which needs
    `permissions: {id-token: write}`."""

    @property
    def url(self) -> str:
        """Where the identity token is sent."""
        return self.token_url or EXCHANGES[self.exchange].url


def host_of(url: str) -> str:
    """Return `host:port` of a URL; empty if it is not certain, as without `https://`."""
    if _AMBIGUOUS.search(url) or not _WEB.match(url):  # clients differ in what they take for it
        return ""
    try:
        parts = urlsplit(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        return ""
    return f"{parts.hostname}:{port}" if parts.hostname else ""
