"""Time `run --changed-since` as a whole process: 10,000 cases in 1,000 files against a base."""

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

FILES, CASES = 1000, 10
ROUNDS = int(os.environ.get("ROUNDS", "5"))

CASE = """\
  - id: case-{file}-{case}
    expected_outcome: The answer names the cause of problem {case} and one step that mends it.
    input_messages:
      - role: system
        content:
          - {{type: file, value: prompts/system-{prompt}.md}}
      - role: user
        content: |
          A customer of shop {file} writes: my order {case} has not arrived,
          and the tracking page says nothing. What should I do?
    rubrics:
      - Is polite and takes the problem seriously
      - id: cause
        expected_outcome: Names a cause that fits what the customer wrote
        weight: 2.0
        required: true
      - id: depth
        weight: 1.0
        score_ranges:
          - {{score_range: [0, 4], expected_outcome: Vague}}
          - {{score_range: [5, 10], expected_outcome: Concrete}}
"""


def build(root: Path) -> None:
    git(root, "init", "--quiet", "--initial-branch=main")
    for name, text in {
        "rubric-ci.yaml": "evals: [evals/**/*.yaml]\ntargets:\n"
        "  - {name: default, provider: mock, response: Hi}\n"
        "judge: {model: openai/gpt-6-luna}\n",
        **{f"prompts/system-{n}.md": f"You are clerk {n}.\n" * 20 for n in range(50)},
        **{f"evals/{n % 20}/suite-{n}.yaml": suite(n) for n in range(FILES)},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "base")


def suite(number: int) -> str:
    cases = (CASE.format(file=number, case=n, prompt=number % 50) for n in range(CASES))
    return "evalcases:\n" + "".join(cases)


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True)


def edit(root: Path, count: int, old: str, new: str) -> None:
    for number in range(count):
        path = root / f"evals/{number % 20}/suite-{number}.yaml"
        path.write_text(path.read_text().replace(old, new))


CHANGES = {
    "nothing": lambda _: None,
    "10 files reformatted": lambda root: edit(root, 10, "    rubrics:", "\n    rubrics: # all"),
    "100 files reformatted": lambda root: edit(root, 100, "    rubrics:", "\n    rubrics: # all"),
    "all files reformatted": lambda root: edit(root, FILES, "    rubrics:", "\n    rubrics: # all"),
}


def timed(root: Path, *options: str) -> tuple[float, float]:
    """Return wall and processor seconds of one process."""
    command = [sys.executable, "-m", "rubric_ci", "run", "--changed-since", "HEAD", *options]
    used, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    elapsed = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert "0 of 10,000 cases" in done.stdout, done.stdout
    return elapsed, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime


def row(name: str, times: list[tuple[float, float]]) -> str:
    walls, processor = zip(*times, strict=True)
    median = statistics.median
    return f"| {name} | {median(walls):.2f} | {min(walls):.2f} | {median(processor):.2f} |"


def main() -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        build(root)
        print("| change | wall s, median | fastest | processor s |\n|---|--:|--:|--:|")
        for name, change in CHANGES.items():
            git(root, "checkout", "--quiet", ".")
            change(root)
            print(row(name, [timed(root) for _ in range(ROUNDS)]), flush=True)
        git(root, "checkout", "--quiet", ".")
        everything = [timed(root, "--case", "*") for _ in range(ROUNDS)]
        print(row("nothing, and every file parsed", everything))


if __name__ == "__main__":
    main()
