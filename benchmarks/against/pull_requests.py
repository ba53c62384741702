"""A hundred pull requests through the command line, with a scripted target and judge.

    python -m benchmarks.against.pull_requests [--seed 1] [--share 1.0]

Each is a repository whose target prints a line of a file per answer: the draws of its side, in the
noise of `simulate.py`. The judge is the server of `benchmarks/run`, and meets every answer but
`BROKEN`. A row is a kind of change at a size: how many gates fail, in how many the case that broke
is named, and the further requests of a pull request in the median.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.against.simulate import Draw, difficulty, independent, sigmoid

SERVER = Path(__file__).resolve().parents[1] / "run/server.py"
ANSWERS = 21  # of each case and side
CONFIG = """\
judge: {{model: openai/judge, api_base: "{url}/v1", api_key: none}}
targets:
  - name: default
    provider: cli
    command_template: sed -n "$(({{ATTEMPT}} + 1))p" answers/{{EVAL_ID}}.txt
gate: {{fail_on: regression}}
"""
CASE = "  - {{id: c{n}, input: Hello {n}, rubrics: [Greets.]}}\n"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")
COUNTS = {5: 8, 20: 8, 60: 3, 200: 1}  # pull requests of each kind

Make = Callable[[int, Random], Draw]


def quiet(cases: int, random: Random) -> Draw:
    return independent(cases, random)


def one_broken(cases: int, random: Random) -> Draw:
    return independent(cases, random, broken=0)


def all_worse(cases: int, random: Random) -> Draw:
    return independent(cases, random, loss=1.2)


def group_worse(cases: int, random: Random) -> Draw:
    """Return answers of which every fifth case has lost 4 logits."""
    logits = [difficulty(random) for _ in range(cases)]

    def draw(n: int, is_base: bool, _: int) -> bool:
        loss = 0 if is_base or n % 5 else 4
        return random.random() < sigmoid(logits[n] - loss)

    return draw


def deterministic(cases: int, random: Random) -> Draw:
    """Return answers of a program, which are the same each time; the first case broke."""
    passes = [random.random() < 0.9 for _ in range(cases)]

    def draw(n: int, is_base: bool, _: int) -> bool:
        return is_base if n == 0 else passes[n]

    return draw


KINDS: dict[str, Make] = {
    "quiet": quiet,
    "one broken": one_broken,
    "all a little worse": all_worse,
    "one group worse": group_worse,
    "deterministic, one broken": deterministic,
}


def main() -> int:
    """Print a row per kind and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, str(SERVER), str(port), "0"])
    random = Random(options.seed)
    print("| change | cases | pull requests | red | case named | further requests |")
    print("|:--|--:|--:|--:|--:|--:|")
    try:
        for kind, make in KINDS.items():
            for cases, most in COUNTS.items():
                count = max(1, round(most * options.share))
                found = [_tried(make(cases, random), cases, port) for _ in range(count)]
                red = sum(code == 1 for code, _, _ in found)
                named = sum("c0" in broken for _, broken, _ in found)
                more = median(calls for _, _, calls in found)
                shown = f"{red} | {named} | {more:g}"
                print(f"| {kind} | {cases} | {count} | {shown} |", flush=True)
    finally:
        server.terminate()
        server.wait()
    return 0


def _tried(draw: Draw, cases: int, port: int) -> tuple[int, list[str], int]:
    """Return the exit code, the broken cases and the further requests to the judge."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "answers").mkdir()
        (root / ".gitignore").write_text(".rubric-ci/\n")
        (root / "rubric-ci.yaml").write_text(CONFIG.format(url=f"http://127.0.0.1:{port}"))
        text = "".join(CASE.format(n=n) for n in range(cases))
        (root / "a.eval.yaml").write_text(f"evalcases:\n{text}")
        subprocess.run([*GIT, "init", "-q"], cwd=root, check=True)
        for is_base in (True, False):
            for n in range(cases):
                words = ["Hello" if draw(n, is_base, i) else "BROKEN" for i in range(ANSWERS)]
                (root / f"answers/c{n}.txt").write_text("\n".join(words) + "\n")
            (root / "side.txt").write_text(f"{is_base}\n")
            subprocess.run([*GIT, "add", "-A"], cwd=root, check=True)
            subprocess.run([*GIT, "commit", "-qm", "side"], cwd=root, check=True)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GIT_"))}
        command = [sys.executable, "-m", "rubric_ci", "run", "--against", "HEAD~1"]
        done = subprocess.run(
            [*command, "--concurrency", "16", "--reuse", "nothing"],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in {0, 1, 3}:
            raise SystemExit(done.stderr[-2000:])
        report = json.loads((root / ".rubric-ci/report.json").read_text())
    broken = [case["id"] for case in report["cases"] if case["change"] == "broken"]
    first = sum(1 + (case["before"] is not None) for case in report["cases"])
    return done.returncode, broken, report["totals"]["calls"] - first


if __name__ == "__main__":
    sys.exit(main())
