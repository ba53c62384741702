"""Times `rubric-ci history` with 1,000 runs of 500 cases and three trials, as whole processes.

Bounds of the same run: `page` against reading the same rows with plain sqlite3 and json, `add`
against a process that imports click and sqlite3 and reads the report with plain json. Processes
find the bytecode of their modules in a cache, as modules of an installed package do.
"""

import argparse
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from rubric_ci.gate.report import json_format
from rubric_ci.parts.lab.history.database import History
from rubric_ci.parts.lab.history.from_report import record_of
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import JudgeInfo, RunReport, run_verdict, totals
from rubric_ci.values.results import Graded, Trial
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.usage import Usage

FIRST = datetime(2024, 1, 1, 2, 43, tzinfo=UTC)
PLAIN = (
    "import click, json, pathlib, sqlite3, sys; json.loads(pathlib.Path(sys.argv[1]).read_text())"
)
SCORES = {"pass": 1.0, "borderline": 0.7, "fail": 0.2}


def a_case(number: int, chance: random.Random) -> Graded:
    """Return a case that fails in 3 % of its trials, every tenth one in 30 %."""
    often = 0.3 if number % 10 == 0 else 0.03
    words: list[Verdict] = ["fail" if chance.random() < often else "pass" for _ in range(3)]
    verdict = sorted(words)[1]
    return Graded(
        file=f"evals/topic-{number % 20}.eval.yaml",
        line=number,
        id=f"a-question-about-topic-{number}",
        verdict=verdict,
        score=SCORES[verdict],
        reason="because",
        answer="word " * 200,
        question="word " * 40,
        usage=Usage(calls=3, cost_usd=round(0.002 * (1 + chance.random()), 6)),
        trials=tuple(Trial(verdict=w, score=SCORES[w]) for w in words),
    )


def a_report(run: int, cases: int, seed: int = 0) -> RunReport:
    """Return the report of a night."""
    chance = random.Random(f"{seed}/{run}")
    results = tuple(a_case(n, chance) for n in range(cases))
    verdict = run_verdict(results)
    started = (FIRST + timedelta(days=run)).isoformat(timespec="seconds")
    return RunReport(
        tool="rubric-ci",
        started_at=started,
        duration_seconds=60.0,
        verdict=verdict,
        gate=GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=verdict != "fail"),
        judge=JudgeInfo(model="openai/gpt-6-luna", prompt_version=str(1 + run // 400)),
        totals=totals(results),
        cases=results,
        metadata={"run_url": f"https://example.com/actions/runs/{run}", "head_sha": f"{run:040x}"},
    )


def seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median processor time, of this process and of those that it started."""
    times = []
    for _ in range(rounds):
        start = sum(os.times()[:4])
        work()
        times.append(sum(os.times()[:4]) - start)
    return median(times)


def python(bytecode: Path, *arguments: str) -> Callable[[], object]:
    """Return a process of this interpreter that keeps its bytecode in a folder; it ran once."""
    command = [sys.executable, *arguments]
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment = {**inherited, "PYTHONPYCACHEPREFIX": str(bytecode)}

    def start() -> None:
        subprocess.run(command, check=True, capture_output=True, env=environment)

    start()
    return start


def read_rows(database: Path) -> None:
    """Read the rows of a history with nothing but sqlite3 and json."""
    rows = sqlite3.connect(database).execute("SELECT record FROM run").fetchall()
    for (record,) in rows:
        json.loads(record)


def measure(runs: int, cases: int, rounds: int, folder: Path) -> Sequence[tuple[str, float, float]]:
    """Return rows of (what, seconds, bound in seconds)."""
    database, report = folder / "history.sqlite", folder / "report.json"
    History(path=database).add(record_of(a_report(run, cases)) for run in range(runs))
    report.write_text(json_format.render(a_report(runs, cases)), encoding="utf-8")
    page, copy = folder / "history.html", folder / "copy.sqlite"
    command = (folder / "bytecode", "-m", "rubric_ci", "history")
    record = record_of(json_format.read(report.read_text(encoding="utf-8")))
    bound = seconds(lambda: read_rows(database), rounds)
    plain = python(folder / "bytecode", "-c", PLAIN, str(report))
    show = python(*command, "page", "--history", str(database), "--output", str(page))
    add = python(*command, "add", str(report), "--history", str(database))
    rows = [
        ("page, whole process", seconds(show, rounds), bound),
        ("add, whole process", seconds(add, rounds), seconds(plain, rounds)),
    ]
    copy.write_bytes(database.read_bytes())
    moments = iter(range(1, 10**6))

    def insert() -> None:
        moment = replace(record, duration_seconds=float(next(moments)))
        History(path=copy).add([moment])

    rows.append(("add, the transaction alone", seconds(insert, rounds), math.nan))
    print(
        f"database {database.stat().st_size / 1e6:.1f} MB, page {page.stat().st_size / 1e6:.2f} MB"
    )
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="folder for the files; default: deleted")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for what, used, bound in measure(given.runs, given.cases, given.rounds, folder):
            ratio = "" if math.isnan(bound) else f"{used / bound:.2f} x bound of {bound:.3f} s"
            print(f"{what:30} {used:.3f} s  {ratio}")


if __name__ == "__main__":
    main()
