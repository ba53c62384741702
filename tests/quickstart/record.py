"""Record the models of examples/quickstart again: `python tests/quickstart/record.py`.

A prompt that changed asks for another recording. The replies are ours (judge.json), the server,
the wire and the command are real.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests/npm/node_modules/@copilotkit/aimock/dist/cli.js"
EXAMPLE = "examples/quickstart"
RECORDING = f"{EXAMPLE}/judge.replay.jsonl"
DRAFTS = f"{EXAMPLE}/drafts.replay.jsonl"


def main() -> None:
    """Serve the replies, run the example against them, keep what was said."""
    with serving(Path(__file__).with_name("judge.json")) as url:
        record(url)


@contextmanager
def serving(replies: Path) -> Iterator[str]:
    """Serve recorded replies, and yield the URL."""
    port = free_port()
    serve = ["node", str(SERVER), "-p", str(port), "-f", str(replies), "--strict"]
    server = subprocess.Popen(serve, stdout=subprocess.DEVNULL)
    try:
        await_port(port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(timeout=60)


def record(url: str) -> None:
    """Run the example, whose gate fails, as it is meant to, and draft what it lacks."""
    # One case at a time, so that the same replies make the same file.
    command(url, 1, "run", "--concurrency", "1", "--record", RECORDING)
    command(url, 1, "generate", "rubrics", "--diff", "--record", DRAFTS)


def command(url: str, expected: int, *words: str) -> None:
    """Run a command over the example, which is to end with this exit code."""
    line = [sys.executable, "-m", "rubric_ci", *words, "--config", f"{EXAMPLE}/rubric-ci.yaml"]
    environment = {
        **os.environ,
        "OPENAI_API_KEY": "none",
        "OPENAI_API_BASE": url,
        "RUBRIC_CI_CACHE": "false",
    }
    done = subprocess.run(line, cwd=ROOT, env=environment, timeout=120, check=False)
    if done.returncode != expected:
        raise SystemExit(f"{words[0]} ended with {done.returncode}, not {expected}")


def free_port() -> int:
    """Return a port without a server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def await_port(port: int) -> None:
    """Wait until the server listens."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the server of recorded replies does not start")


if __name__ == "__main__":
    main()
