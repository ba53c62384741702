"""Ask a web address whether it is there; effects."""

import asyncio
from urllib.parse import urlsplit


async def trouble(url: str, timeout_seconds: float) -> str:
    """Return what is wrong with the address, or nothing when it answers with success."""
    if urlsplit(url).scheme not in {"http", "https"}:
        return f"{url} is no http or https address"
    return await asyncio.to_thread(_trouble, url, timeout_seconds)


def _trouble(url: str, timeout_seconds: float) -> str:
    from urllib.error import HTTPError, URLError  # few targets have an address to ask
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=timeout_seconds):  # noqa: S310 - the scheme is checked above
            return ""
    except HTTPError as error:
        return f"{url} answers {error.code} {error.reason}"
    except (URLError, OSError, ValueError) as error:
        return f"{url} does not answer: {getattr(error, 'reason', error)}"
