"""A program that runs to its end, with what it prints."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def captured(
    words: Sequence[str | Path], *, check: bool = False, timeout: float = 90, **options: Any
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, capture_output=True, encoding="utf-8", check=check, timeout=timeout, **options
    )
