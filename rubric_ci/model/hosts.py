"""The hosts that model requests may go to."""

import re
from urllib.parse import urlsplit

from rubric_ci.model.dataclass import dataclass

_WEB = re.compile("https?://", re.IGNORECASE)
_AMBIGUOUS = re.compile(r"[\\\s\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedHosts:
    """Hosts, each with a port or for every port."""

    hosts: frozenset[str]  # "host" or "host:port"
    providers: bool  # a model without `api_base` may be asked at its provider

    def allows(self, host: str) -> bool:
        """Return True for a listed host; `host` has a port, or is empty: it is not known."""
        return bool(host) and (host in self.hosts or host.rpartition(":")[0] in self.hosts)


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
