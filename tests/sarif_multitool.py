"""The validator of the SARIF format, a Linux program from npm."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

_PROGRAM: Final = Path(__file__).parent.joinpath(
    "npm/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool"
)
# Under Wine the program exists and runs, as the Linux program that it is.
INSTALLED: Final = pytest.mark.skipif(
    sys.platform != "linux" or not _PROGRAM.exists(),
    reason="sarif-multitool is not installed: `make test` does, on Linux",
)


def validate(folder: Path, text: str, *options: str) -> list[dict[str, Any]]:
    """Return what the validator says of a SARIF file; it reads and writes in `folder` only."""
    _PROGRAM.chmod(0o755)  # npm can be configured to run no install scripts
    (folder / "log.sarif").write_text(text, encoding="utf-8")
    subprocess.run(
        [_PROGRAM, "validate", "log.sarif", *options, "--output", "verdict.sarif"],
        cwd=folder,
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        check=True,
        capture_output=True,
    )
    verdict = json.loads((folder / "verdict.sarif").read_text(encoding="utf-8-sig"))
    results: list[dict[str, Any]] = verdict["runs"][0]["results"]
    return results
