"""Measure this commit against another one and against a floor, and how the cost of a case grows.

`measure.py --history COMMIT` and `measure.py --growth` call it.
"""

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import HERE, TOOLS, Figure, criteria, run, serving, stats

ROOT = HERE.parents[1]
LATENCY = 0.05
IN_FLIGHT = 64
PER_FILE = 10
MOST_GROWTH = 1.15


@dataclass(frozen=True)
class Stage:
    """A command, and what a floor of the same work does."""

    name: str
    arguments: Sequence[str]
    floor: Sequence[str] | None = ()  # of floor.py; None: no floor
    cached: bool = True


RUN = ("run", "evals", "--concurrency", str(IN_FLIGHT))
ONE = ("run", "evals/f0.eval.yaml", "--case", "case-1")
STAGES = (
    Stage("cold", RUN, floor=("--requests",), cached=False),
    Stage("cached", RUN, floor=("--judgements",)),
    Stage("one cached case", ONE, floor=None),
    Stage("validate", ("validate", "evals")),
    Stage("run --list", (*RUN, "--list"), floor=("--judgements",)),
)


def compare(commit: str, cases: int, repeat: int) -> None:
    """Print the processor time of each command: at the other commit, here, and of its floor."""
    sides = {commit: _installed(commit), "here": Path(sys.executable)}
    found: dict[tuple[str, str], list[Figure]] = {}
    with serving(LATENCY) as url:
        folders = {name: _project(f"{number}", cases, url) for number, name in enumerate(sides)}
        for name, python in sides.items():  # once, unmeasured: Python compiles the modules
            _measured(python, STAGES[0], folders[name], url)
        for _ in range(repeat):
            for stage in STAGES:
                for name, python in sides.items():
                    figure = _measured(python, stage, folders[name], url)
                    found.setdefault((stage.name, name), []).append(figure)
                if stage.floor is not None:
                    figure = _floor(stage, folders["here"], cases, url)
                    found.setdefault((stage.name, "floor"), []).append(figure)
    print(f"| {cases:,} cases, CPU s | {commit} | here | floor | here / {commit} | here / floor |")
    print("|---|---|---|---|---|---|")
    for stage in STAGES:
        before, now = _cpu(found[stage.name, commit]), _cpu(found[stage.name, "here"])
        floor = _cpu(found[stage.name, "floor"]) if stage.floor is not None else None
        above = (
            f"{floor:.2f} | {now / before:.2f} | {now / floor:.1f}"
            if floor
            else (f"- | {now / before:.2f} | -")
        )
        print(f"| {stage.name} | {before:.2f} | {now:.2f} | {above} |")
    cold = found["cold", "here"]
    megabytes = max(figure.megabytes for figure in cold + found["cached", "here"])
    bound = -(-cases // IN_FLIGHT) * LATENCY
    print(
        f"\nCold by the clock, least of {repeat}: {min(one.seconds for one in cold):.2f} s; "
        f"{cases:,} replies of {LATENCY * 1000:g} ms with {IN_FLIGHT} in flight take {bound:.2f} s."
        f" Memory: {megabytes:.0f} MB."
    )


def growth(small: int, large: int, repeat: int) -> None:
    """Print the cost per case of both sizes; fail if one rises by more than 15 %."""
    found: dict[tuple[str, int], list[Figure]] = {}
    python = Path(sys.executable)
    with serving(LATENCY) as url:
        folders = {size: _project(f"{size}", size, url) for size in (1, small, large)}
        for _ in range(repeat):
            for stage in STAGES:
                for size, folder in folders.items():
                    figure = _measured(python, stage, folder, url)
                    found.setdefault((stage.name, size), []).append(figure)
    print(f"| CPU ms per case | {small:,} cases | {large:,} cases | ratio | MB of {large:,} |")
    print("|---|---|---|---|---|")
    grown = []
    for stage in STAGES:
        if stage.arguments == ONE:
            continue
        start = _cpu(found[stage.name, 1])
        each = [(_cpu(found[stage.name, size]) - start) / size * 1000 for size in (small, large)]
        megabytes = max(figure.megabytes for figure in found[stage.name, large])
        ratio = each[1] / each[0]
        print(f"| {stage.name} | {each[0]:.3f} | {each[1]:.3f} | {ratio:.2f} | {megabytes:.0f} |")
        grown += [stage.name] if ratio > MOST_GROWTH else []
    if grown:
        raise SystemExit(f"the cost per case rises by more than 15 %: {', '.join(grown)}")


def _cpu(figures: Sequence[Figure]) -> float:
    return statistics.median(figure.cpu_seconds for figure in figures)


def _measured(python: Path, stage: Stage, folder: Path, url: str) -> Figure:
    kept = folder / ".rubric-ci"
    if not stage.cached:
        shutil.rmtree(kept, ignore_errors=True)
    return _figure([str(python), "-m", "rubric_ci", *stage.arguments], folder, url)


def _floor(stage: Stage, folder: Path, cases: int, url: str) -> Figure:
    more = [*(stage.floor or ())]
    if "--requests" in more:
        more += [str(cases), "--url", url, "--in-flight", str(IN_FLIGHT)]
    return _figure([sys.executable, str(HERE / "floor.py"), str(folder), *more], folder, url)


def _figure(command: list[str], folder: Path, url: str) -> Figure:
    before = stats(url)["requests"]
    seconds, cpu, megabytes, code = run(command, folder, url)
    if code:
        output = (folder / "output.txt").read_text(encoding="utf-8")
        raise SystemExit(f"{' '.join(command)} ends with {code}:\n{output[-2000:]}")
    requests = int(stats(url)["requests"] - before)
    return Figure(seconds, None, cpu, megabytes, requests, 0, code)


def _project(name: str, cases: int, url: str) -> Path:
    """Write a suite with recorded answers into a new repository."""
    folder = TOOLS / "work" / f"history-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "evals").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    judge = {
        "model": "openai/gpt-6-luna",
        "api_base": f"{url}/v1",
        "api_key": "${{ OPENAI_API_KEY }}",
    }
    target = {"name": "default", "provider": "recorded", "answers": "answers.jsonl"}
    (folder / "rubric-ci.yaml").write_text(json.dumps({"judge": judge, "targets": [target]}))
    answers = []
    for start in range(0, cases, PER_FILE):
        numbers = range(start + 1, min(start + PER_FILE, cases) + 1)
        text = "evalcases:\n" + "".join(_case(n) for n in numbers)
        (folder / f"evals/f{start // PER_FILE}.eval.yaml").write_text(text)
        answers += [json.dumps({"id": f"case-{n}", "answer": _answer(n)}) for n in numbers]
    (folder / "answers.jsonl").write_text("\n".join(answers) + "\n")
    return folder


def _case(number: int) -> str:
    listed = "".join(
        f"      - id: criterion-{n}\n        expected_outcome: {text}\n"
        for n, text in enumerate(criteria(), 1)
    )
    asked = f"Explain what the number {number} has to do with sorting."
    return f"  - id: case-{number}\n    input: {asked}\n    rubrics:\n{listed}"


def _answer(number: int) -> str:
    return f"The number {number} is one of those that a sorting algorithm may meet. " * 8


def _installed(commit: str) -> Path:
    """Return the Python of an environment with the package at another commit."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run(
        [*git, "rev-parse", "--verify", f"{commit}^{{commit}}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    folder = TOOLS / "history" / name
    python = folder / ".venv/bin/python"
    if not folder.exists():
        subprocess.run([*git, "worktree", "prune"], check=True)
        subprocess.run([*git, "worktree", "add", "--detach", str(folder), name], check=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder / ".venv")], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "-e", f"{folder}[judge]"]
        subprocess.run(pip, check=True)
    return python
