"""Whole processes that check eval files: rubric-ci, its peers, and parsing alone.

    .venv/bin/python benchmarks/validate/measure.py [--files 1 25 1000] [--runs 9]

Runs are interleaved and the minimum counts, because the machines that this runs on are shared.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rubric_ci.files.project.working_tree import find_root

ROOT = find_root(Path(__file__).parent)
BIN = Path(sys.executable).parent
FLOOR = """
import sys
from yaml._yaml import CParser
for path in sys.argv[1:]:
    CParser(open(path, "rb").read()).raw_parse()
"""
BASES = ("import click, yaml", "libyaml floor", "check-jsonschema")
CASE = """\
  - id: case-{number}
    expected_outcome: Explains the algorithm number {number}, its cost and where it is of use
    input_messages:
      - role: system
        content: You explain algorithms to people who know how to program.
      - role: user
        content: |
          Explain the algorithm number {number} in your own words.
          Say what it costs, and when another one would be the better choice.
    expected_messages:
      - role: assistant
        content: It divides the input, works on the parts, and puts the results together again.
    rubrics:
      - Names the idea behind the algorithm number {number}
      - id: cost
        expected_outcome: States the cost of the average and of the worst case of number {number}
        weight: 2.0
        required: true
      - id: clarity
        weight: 1.5
        required_min_score: 6
        score_ranges:
          - score_range: [0, 3]
            expected_outcome: Number {number} cannot be followed
          - score_range: [4, 7]
            expected_outcome: Can be followed with effort
          - score_range: [8, 10]
            expected_outcome: Clear at the first reading
      - id: depth
        levels:
          1: Names things of number {number} only
          3: Says how they work
          5: Says why they work
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=[1, 25, 1000])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        tables = {count: table(folder, count, options.runs) for count in options.files}
    finally:
        shutil.rmtree(folder)
    for count, rows in tables.items():
        show(count, rows)
    if options.json:
        options.json.write_text(json.dumps(tables, indent=2))


def table(folder: Path, count: int, runs: int) -> dict[str, dict[str, float]]:
    paths = [str(write(folder, number)) for number in range(count)]
    best: dict[str, dict[str, float]] = {}
    for turn in range(runs):
        for name, (command, cores, limit) in contenders(paths).items():
            if turn < limit:
                once = run(command, cores, folder)
                known = best.setdefault(name, once)
                known["seconds"] = min(known["seconds"], once["seconds"])
                known["cpu"] = min(known["cpu"], once["cpu"])
                known["megabytes"] = max(known["megabytes"], once["megabytes"])
    return best


def contenders(paths: Sequence[str]) -> dict[str, tuple[list[str], int, int]]:
    """Name the command, the cores and the most runs of each."""
    python, many = str(BIN / "python"), len(paths) > 100
    slow = 1 if many else 5
    ours = [str(BIN / "rubric-ci"), "validate", *paths]
    schema = str(ROOT / "schemas/eval.schema.json")
    return {
        "python -c pass": ([python, "-c", "pass"], 1, 99),
        "import click, yaml": ([python, "-c", "import click, yaml"], 1, 99),
        "libyaml floor": ([python, "-c", FLOOR, *paths], 1, 99),
        "rubric-ci, 1 core": (ours, 1, 99),
        "rubric-ci, 2 cores": (ours, 2, 99),
        "check-jsonschema": (
            [str(BIN / "check-jsonschema"), "--schemafile", schema, *paths],
            2,
            slow,
        ),
        "yamllint": ([str(BIN / "yamllint"), "-d", "relaxed", *paths], 2, slow),
    }


def run(command: Sequence[str], cores: int, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    child = os.posix_spawn(
        "/usr/bin/env",
        ["env", "taskset", "-c", ",".join(map(str, range(cores))), *command],
        {"PATH": os.environ["PATH"], "HOME": str(folder)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{command[:3]} failed")
    cpu = used.ru_utime + used.ru_stime
    return {"seconds": seconds, "cpu": cpu, "megabytes": used.ru_maxrss / 1024}


def show(count: int, rows: dict[str, dict[str, float]]) -> None:
    """Print ratios of CPU time, which a busy machine disturbs least; with 2 cores, halve it."""
    bases = [rows[name]["cpu"] for name in BASES]
    print(f"\n## {count} file(s)\n")
    print("| | ms | CPU ms | / import click, yaml | / floor | / check-jsonschema | MB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, row in rows.items():
        ratios = " | ".join(f"{row['cpu'] / base:.2f}" for base in bases)
        wall, cpu = row["seconds"] * 1000, row["cpu"] * 1000
        print(f"| {name} | {wall:.0f} | {cpu:.0f} | {ratios} | {row['megabytes']:.0f} |")


def write(folder: Path, number: int) -> Path:
    path = folder / f"suite-{number:04}.yaml"
    cases = "".join(CASE.format(number=n) for n in range(10))
    path.write_text(f"description: Suite number {number}\nevalcases:\n{cases}")
    return path


if __name__ == "__main__":
    main()
