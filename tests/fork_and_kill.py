"""Run `rubric-ci run` many times over, each in a fork that is killed at a random moment.

Forks, because the library that talks to models takes seconds to import: here it is imported once,
and what is killed is the command at work. After every kill, whatever is there must read back whole.
Half of the judgements is removed as soon as there are more than MOST: a run always has work to do.
Usage: FOLDER SERVER TIMES SECONDS MOST SEED; prints how many runs ended before they were killed,
and the most judgements that one kill lost: asked for, as the server saw it, and not kept.
"""

import json
import os
import random
import signal
import sys
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from rubric_ci.cli.main import main as rubric_ci
from tests.aimock import Aimock


def main(folder: str, server: str, times: int, longest: float, most: int, seed: int) -> None:
    """Kill `times` runs, each after at most `longest` seconds."""
    os.chdir(folder)
    os.environ["RUBRIC_CI_CACHE"] = "false"
    command("--case", "case-0")
    del os.environ["RUBRIC_CI_CACHE"]
    chance = random.Random(seed)
    ended, worst, lost = 0, 0, unkept(server)
    for _ in range(times):
        if kept() > most:
            lost += remove_half()
        child = os.fork()
        if child == 0:
            command()
            os._exit(0)
        if chance.random() < 0.6:  # well into its work, however busy the machine is
            wait_for_more(kept())
        time.sleep(chance.random() * longest)
        done, _ = os.waitpid(child, os.WNOHANG)
        if done:
            ended += 1
            continue
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        check()
        before, lost = lost, unkept(server)
        worst = max(worst, lost - before)
    print(ended, worst)


def command(*arguments: str) -> None:
    """Run it here; what it prints goes nowhere."""
    with (
        Path(os.devnull).open("w") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        suppress(SystemExit),
    ):
        rubric_ci(["run", "--concurrency", "4", *arguments], standalone_mode=False)


def unkept(server: str) -> int:
    """Count the requests that the server saw and of which nothing is kept."""
    seen, before = len(Aimock(server).requests()), -1
    while seen != before:  # the server may still be writing down what it was sent
        time.sleep(0.05)
        seen, before = len(Aimock(server).requests()), seen
    return seen - kept()


def kept() -> int:
    """Count the judgements in the cache."""
    return len(judgements())


def remove_half() -> int:
    """Remove every second judgement from the cache; return how many."""
    removed = sorted(judgements())[::2]
    for path in removed:
        path.unlink()
    return len(removed)


def judgements() -> list[Path]:
    """Return the files of the judgements in the cache."""
    return list(Path(".rubric-ci/cache").glob("??/*.json"))


def wait_for_more(than: int) -> None:
    """Wait until a run has kept something new, or is taking too long."""
    deadline = time.monotonic() + 5
    while kept() <= than and time.monotonic() < deadline:
        time.sleep(0.005)


def check() -> None:
    """Read what is there; what was being written has another name."""
    for path in (Path(".rubric-ci/report.json"), *judgements()):
        if path.exists():
            json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    folder, server, times, longest, most, seed = sys.argv[1:]
    main(folder, server, int(times), float(longest), int(most), int(seed))
