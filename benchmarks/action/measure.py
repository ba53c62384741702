"""What the action costs: its size, and the time until its first model request.

Whole processes of `hooks/action.py`, with nothing cached and with the environment of an earlier
job. The first request is one of a judge, which this process serves.
"""

import os
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
ROUNDS = int(os.environ.get("ROUNDS", "3"))
PROJECT = {
    "rubric-ci.yaml": "targets: [{{name: default, provider: mock, response: Hello}}]\n"
    "judge: {{model: openai/judge, api_base: '{judge}', api_key: none}}\n",
    "evals/a.eval.yaml": "evalcases: [{{id: a, input: Hi, rubrics: [Greets]}}]\n",
}


def main() -> None:
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
    print(f"load {os.getloadavg()[0]:.1f}")
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
            ended = subprocess.run(
                WORDS,
                cwd=folder,
                env=os.environ | environ,
                capture_output=True,
                timeout=300,
                check=False,
            )
            assert b"::error title=rubric-ci::" not in ended.stdout, ended.stdout
        return self.arrived[0] - start, cpu_of_children() - before


def cpu_of_children() -> float:
    """Return the CPU seconds of the processes that ended."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
