"""Count the model requests of pull requests, with a warm cache: what does `--against` add?

    python benchmarks/against/measure.py [--cases 2000] [--touched 20]

A model answers and another marks, both by the server of `benchmarks/run`. The default branch fills
the cache; a pull request edits a prompt that `--touched` cases use, and nothing breaks. The exit
code is 1 if the run with `--against` needs more than 1.2 x the requests of the head alone.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

SERVER = Path(__file__).resolve().parents[1] / "run/server.py"
LIMIT = 1.2
CONFIG = """\
judge: {{model: openai/judge, api_base: "{url}/v1", api_key: none}}
targets: [{{name: default, model: openai/target, api_base: "{url}/v1", api_key: none}}]
"""
CASE = """\
  - id: case-{n}
    input:
      - {{role: system, content: [{{type: file, value: /prompts/{prompt}.md}}]}}
      - {{role: user, content: Question {n}}}
    rubrics: [Greets]
"""
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")


def main() -> int:
    """Print the requests of each run; return 1 if the ratio is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--touched", type=int, default=20)
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, str(SERVER), str(port), "0"])
    try:
        url = f"http://127.0.0.1:{port}"
        print("| pull request | head only | `--against` | ratio | allowed |\n|---|--:|--:|--:|--:|")
        with TemporaryDirectory() as folder:
            edit = "Greet in one sentence."
            return measure(Path(folder), url, options.cases, options.touched, edit, LIMIT)
    finally:
        server.terminate()
        server.wait()


def measure(root: Path, url: str, cases: int, touched: int, edit: str, limit: float) -> int:
    """Run the default branch, then the pull request with and without its base."""
    prepare(root, url, cases, touched)
    requests(root, url)
    (root / "prompts/edited.md").write_text(f"{edit}\n")
    head = requests(root, url, "--changed-since", "HEAD", cache=".rubric-ci/other")
    both = requests(root, url, "--changed-since", "HEAD", "--against", "HEAD")
    ratio = both / head
    print(f"| {edit} {touched} of {cases:,} cases | {head} | {both} | {ratio:.2f} | {limit} |")
    return int(ratio > limit)


def prepare(root: Path, url: str, cases: int, touched: int) -> None:
    """Write and commit the repository."""
    for folder in ("prompts", "evals"):
        (root / folder).mkdir()
    (root / ".gitignore").write_text(".rubric-ci/\n")
    (root / "rubric-ci.yaml").write_text(CONFIG.format(url=url))
    for name in ("edited", "other"):
        (root / f"prompts/{name}.md").write_text("Greet.\n")
    texts = (CASE.format(n=n, prompt="edited" if n < touched else "other") for n in range(cases))
    (root / "evals/a.yaml").write_text("evalcases:\n" + "".join(texts))
    subprocess.run([*GIT, "init", "-q"], cwd=root, check=True)
    subprocess.run([*GIT, "add", "-A"], cwd=root, check=True)
    subprocess.run([*GIT, "commit", "-qm", "base"], cwd=root, check=True)


def requests(root: Path, url: str, *arguments: str, cache: str = "") -> int:
    """Run rubric-ci and return how many requests the server got."""
    before = served(url)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GIT_"))}
    environment["RUBRIC_CI_CACHE_DIR"] = cache
    command = [sys.executable, "-m", "rubric_ci", "run", "evals", "--concurrency", "64", *arguments]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(done.stderr[-2000:])
    return served(url) - before


def served(url: str) -> int:
    """Return how many requests the server has answered, once it is up."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"{url}/stats", timeout=5) as reply:
                return int(json.load(reply)["requests"])
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not start")


if __name__ == "__main__":
    sys.exit(main())
