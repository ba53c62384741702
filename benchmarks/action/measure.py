"""Time of the action before rubric-ci itself starts: cold and warm, with uv and with pip.

Whole processes of `hooks/action.py`. *Empty* has no package cache and no environment, *cached* has
the installer's package cache, *kept* finds the environment of an earlier job.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
COMMANDS = {"validate": "light", "report comment": "github", "run": "judge"}
ROUNDS = int(os.environ.get("ROUNDS", "3"))


def main() -> None:
    """Print one row an installer and list, as multiples of a bare interpreter's start."""
    bare = median(timed([sys.executable, "-I", "-c", "pass"], {}) for _ in range(10))
    print(
        f"a bare `python -I -c pass` takes {bare * 1000:.0f} ms here; all else is a multiple of it"
    )
    print("| installer | list | empty | cached | kept |\n|---|---|---|---|---|")
    for installer in ("uv", "pip"):
        for command, listed in COMMANDS.items():
            rounds = [one(installer, command) for _ in range(ROUNDS)]
            cells = " | ".join(
                f"{median(times) / bare:.0f} x" for times in zip(*rounds, strict=True)
            )
            print(f"| {installer} | {listed} | {cells} |", flush=True)


def one(installer: str, command: str) -> tuple[float, float, float]:
    """Start with nothing, then with packages cached, then with the environment kept."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            "RUBRIC_CI_COMMAND": command,
            "RUBRIC_CI_REQUIREMENTS": COMMANDS[command],
            "RUNNER_TOOL_CACHE": f"{folder}/tools",
            "UV_CACHE_DIR": f"{folder}/uv",
            "PIP_CACHE_DIR": f"{folder}/pip",
            "PATH": os.pathsep.join([str(UV.parent), os.defpath])
            if installer == "uv"
            else os.defpath,
        }
        words = [sys.executable, "-I", str(ROOT / "hooks" / "action.py")]
        empty = timed(words, environ)
        shutil.rmtree(f"{folder}/tools")
        return empty, timed(words, environ), timed(words, environ)


def timed(words: list[str], environ: dict[str, str]) -> float:
    """Seconds of a whole process, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        ended = subprocess.run(
            words,
            cwd=folder,
            env=os.environ | environ,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert b"::error title=rubric-ci::" not in ended.stdout, ended.stdout
        return perf_counter() - start


if __name__ == "__main__":
    main()
