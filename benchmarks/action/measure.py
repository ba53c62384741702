"""What the action costs: its size, its start with uv and with pip, and its first model request.

Whole processes of `hooks/action.py`. *Empty* has no package cache and no environment, *cached* has
the installer's package cache, *kept* finds the environment of an earlier job. The first request is
one of a judge, which this process serves.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
WORDS = [sys.executable, "-I", str(ROOT / "hooks" / "action.py")]
COMMANDS = {"validate": "light", "report comment": "github", "run": "judge"}
ROUNDS = int(os.environ.get("ROUNDS", "3"))
PROJECT = {
    "rubric-ci.yaml": "targets: [{{name: default, provider: mock, response: Hello}}]\n"
    "judge: {{model: openai/judge, api_base: '{judge}', api_key: none}}\n",
    "evals/a.eval.yaml": "evalcases: [{{id: a, input: Hi, rubrics: [Greets]}}]\n",
}


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
    first_request()


def first_request() -> None:
    """Print the size of what `run` installs, and when its first request arrives."""
    judge = Judge()
    cold, kept = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            environ = {
                "RUBRIC_CI_COMMAND": "run",
                "RUNNER_TOOL_CACHE": f"{folder}/tools",
                "HOME": folder,  # with the cache of uv
                "PATH": os.pathsep.join([str(UV.parent), os.defpath]),
            }
            cold.append(judge.time_of(environ))
            size = megabytes(Path(folder, "tools"))
            kept.append(judge.time_of(environ))
    print(f"`run` installs {size:.0f} MB; until its first request, seconds elapsed and of CPU:")
    for name, times in {"nothing cached": cold, "environment kept": kept}.items():
        elapsed, cpu = (median(each) for each in zip(*times, strict=True))
        print(f"{name}: {elapsed:.1f}, {cpu:.1f}")


def megabytes(folder: Path) -> float:
    """Return the size of the files in a folder, without those that Python writes at a start."""
    files = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return sum(path.lstat().st_size for path in files if path.is_file()) / 1e6


class Judge:
    """A server that notes when its first request arrived; it has no reply that can be used."""

    def __init__(self) -> None:
        arrived = self.arrived = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                arrived.append(perf_counter())
                self.send_error(400)

            def log_message(self, *_: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()

    def time_of(self, environ: dict[str, str]) -> tuple[float, float]:
        """Run the action in a project whose judge this is; seconds until its first request."""
        self.arrived.clear()
        with tempfile.TemporaryDirectory() as folder:
            for name, text in PROJECT.items():
                file = Path(folder, name)
                file.parent.mkdir(exist_ok=True)
                file.write_text(text.format(judge=self.url))
            start, before = perf_counter(), cpu_of_children()
            timed(WORDS, environ, folder)
        return self.arrived[0] - start, cpu_of_children() - before


def cpu_of_children() -> float:
    """Return the CPU seconds of the processes that ended."""
    times = os.times()
    return times.children_user + times.children_system


def one(installer: str, command: str) -> tuple[float, float, float]:
    """Start with nothing, then with packages cached, then with the environment kept."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            "RUBRIC_CI_COMMAND": command,
            "RUBRIC_CI_REQUIREMENTS": COMMANDS[command],
            "RUNNER_TOOL_CACHE": f"{folder}/tools",
            "HOME": folder,  # with the caches of uv and pip
            "PATH": os.pathsep.join([str(UV.parent), os.defpath])
            if installer == "uv"
            else os.defpath,
        }
        empty = timed(WORDS, environ)
        shutil.rmtree(f"{folder}/tools")
        return empty, timed(WORDS, environ), timed(WORDS, environ)


def timed(words: list[str], environ: dict[str, str], folder: str = "") -> float:
    """Seconds of a whole process, by default in an empty folder."""
    with tempfile.TemporaryDirectory() as empty:
        start = perf_counter()
        ended = subprocess.run(
            words,
            cwd=folder or empty,
            env=os.environ | environ,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert b"::error title=rubric-ci::" not in ended.stdout, ended.stdout
        return perf_counter() - start


if __name__ == "__main__":
    main()
