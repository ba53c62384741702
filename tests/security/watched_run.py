"""Runs of strangers' commits in one process, with every file and process that it opens watched.

`python -m tests.security.watched_run FOLDER COMMIT…` prints one JSON object a commit. An audit hook
cannot be removed, so the runs have a process of their own.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.invoke import invoke

ENVIRONMENT = {**os.environ, "SECRET_OF_THE_JOB": "s3cr3t", "OPENAI_API_KEY": "sk-of-the-job"}


class Watch:
    """What the process does, as its audit events say."""

    def __init__(self) -> None:
        self.events: list[tuple[str, list[Any]]] = []
        self.on = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        match event:
            case "open":
                if isinstance(arguments[0], str | bytes | os.PathLike):
                    self.events.append(("open", [os.fsdecode(arguments[0])]))
            case "subprocess.Popen":
                _, words, folder, environment = arguments
                known = {os.fsdecode(k): os.fsdecode(v) for k, v in (environment or {}).items()}
                named = [os.fsdecode(word) for word in words]
                self.events.append(("start", [named, str(folder), known]))
            case "os.system" | "os.exec" | "os.posix_spawn" | "os.spawn" | "socket.connect":
                self.events.append((event, [repr(arguments[:1])]))


def main(folder: str, *commits: str) -> None:
    """Run each commit and print what happened."""
    watch = Watch()
    sys.addaudithook(watch)
    for commit in commits:
        watch.events, watch.on = [], True
        done = invoke(Path(folder), ENVIRONMENT, "run", "--untrusted", commit, "--reuse", "nothing")
        watch.on = False
        inside = [
            name
            for name, module in sys.modules.items()
            if str(getattr(module, "__file__", None) or "").startswith(folder)
        ]
        said = done.stdout + done.stderr
        print(json.dumps([done.returncode, watch.events, inside, said]))


if __name__ == "__main__":
    main(*sys.argv[1:])
