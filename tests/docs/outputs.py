"""The outputs that task pages show: their commands run in a checkout with `examples/`.

A block between the two comments begins with `$ COMMAND` lines; `make golden` runs them in turn and
writes below each what it prints, at most LINES of it. A reader can copy every line.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
START: Final = "<!-- output: made by `make golden` -->"
BLOCK: Final = re.compile(
    rf"({re.escape(START)}\n```console\n)(.*?)(```\n<!-- end of output -->)", re.DOTALL
)
LINES: Final = 17
COLUMNS: Final = "96"
# A duration and a commit differ from run to run.
VARIES: Final = (
    (re.compile(r"\b(?:[0-9]+ min [0-9]+|[0-9]+\.[0-9]) s\b"), "1.2 s"),
    (re.compile(r"\b[0-9a-f]{10}\b"), "3f2a91c0de"),
)


def pages() -> dict[str, Path]:
    """Return the pages with a block, by name."""
    found = sorted((ROOT / "docs").glob("*.md"))
    return {page.stem: page for page in found if START in page.read_text(encoding="utf-8")}


def page(text: str) -> str:
    """Return a page with the outputs of its commands."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = _checkout(Path(folder))

        def filled(block: re.Match[str]) -> str:
            commands = re.findall(r"^\$ (?:.*\\\n)*.*", block[2], re.MULTILINE)
            shown = "".join(_shown(command, checkout) for command in commands)
            return f"{block[1]}{shown}{block[3]}"

        return BLOCK.sub(filled, text)


def _checkout(folder: Path) -> Path:
    checkout = folder / "project"
    tracked = subprocess.check_output(["git", "ls-files", "-z", "examples"], cwd=ROOT, text=True)
    for name in tracked.split("\0")[:-1]:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    for command in ("init --quiet --initial-branch main", "add .", "commit --quiet --message base"):
        subprocess.run(["git", *command.split()], cwd=checkout, check=True, env=_environment())
    return checkout


def _shown(command: str, checkout: Path) -> str:
    line = command.removeprefix("$ ")
    output = subprocess.run(
        ["sh", "-c", line],
        cwd=checkout,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout
    for pattern, same in VARIES:
        output = pattern.sub(same, output)
    lines = [each.rstrip() for each in output.rstrip().splitlines()]
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], "…"]
    return "".join(f"{each}\n" for each in (command, *lines))


def _environment() -> dict[str, str]:
    """Return the environment of a person's terminal without keys, and without a CI system."""
    person = {"NAME": "A", "EMAIL": "a@example.com", "DATE": "2026-11-01T12:00:00Z"}
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "COLUMNS": COLUMNS,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{
            f"GIT_{who}_{what}": text
            for who in ("AUTHOR", "COMMITTER")
            for what, text in person.items()
        },
    }


if __name__ == "__main__":
    for path in pages().values():
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
