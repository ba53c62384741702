"""The hosts that model requests may go to."""

import re
import string
from dataclasses import dataclass
from urllib.parse import urlsplit

_SCHEME = f"{string.ascii_letters}{string.digits}+.-"
_AMBIGUOUS = re.compile(r"[\\\s\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedHosts:
    """Hosts, each with a port or for every port."""

    hosts: frozenset[str]  # "host" or "host:port"
    providers: bool  # a model without a host of its own may be asked at its provider's

    def allows(self, host: str) -> bool:
        """Return True for a listed host; `host` has a port."""
        return host in self.hosts or host.rpartition(":")[0] in self.hosts


def host_of(url: str) -> str:
    """Return `host:port` of a URL, with or without a scheme; empty if it is not certain."""
    if _AMBIGUOUS.search(url):  # clients differ in what they take for the host
        return ""
    try:
        parts = urlsplit(_with_scheme(url))
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        return ""
    return f"{parts.hostname}:{port}" if parts.hostname else ""


def _with_scheme(text: str) -> str:
    """Return the URL in a text, from its scheme on; "https://" is added if there is none."""
    before, separator, _ = text.partition("://")
    start = len(before.rstrip(_SCHEME))
    scheme = before[start:].lstrip("0123456789+.-")
    return text[len(before) - len(scheme) :] if separator and scheme else f"https://{text}"
