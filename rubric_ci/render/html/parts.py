"""The style sheets and the script of the page, and the policy that allows nothing else."""

import hashlib
from base64 import b64encode

from rubric_ci.system.resources import read_page_part


def base_style() -> str:
    """Return the colours and the typography, which the history page shares."""
    return read_page_part("base.css")


def style() -> str:
    """Return the style sheet of the report."""
    return base_style() + read_page_part("page.css")


def script() -> str:
    """Return the script of the report."""
    return read_page_part("page.js")


def policy(script: str, style: str) -> str:
    """Return the Content-Security-Policy of a page with this script and style."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
