"""Measures the HTML report of many cases: bytes, memory and time to write it, time to open it.

Bounds of the same run: the memory of the report itself, and the same page without its script,
where every case is an element.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from statistics import median

from rubric_ci.parts.formats import page
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import JudgeInfo, RunReport, run_verdict, totals
from rubric_ci.values.results import Assessed, BaseResult, CriterionResult, Graded
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.usage import Usage
from tests import chromium

WORDS = ("the", "refund", "of", "an", "order", "is", "due", "within", "thirty", "days", "label")
NODES = """(() => { const walk = document.createTreeWalker(document); let count = 1;
  while (walk.nextNode()) count++; return count })()"""
PAINTED = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


def text(chance: random.Random, words: int) -> str:
    """Return a text of some words."""
    return " ".join(chance.choice(WORDS) for _ in range(words))


def a_criterion(number: int, answer: str, chance: random.Random) -> CriterionResult:
    """Return a criterion that is missed in one case of ten; it quotes the answer."""
    satisfied = chance.random() > 0.1
    start = chance.randrange(len(answer) - 60)
    return CriterionResult(
        id=f"criterion-{number}",
        kind="checklist",
        line=10 + number,
        text=f"Criterion {number}: {WORDS[number % len(WORDS)]} is named and explained.",
        weight=1.0,
        mark=satisfied,
        normalised=float(satisfied),
        gated=False,
        reasoning=text(chance, 25),
        evidence=answer[start : start + 50],
    )


def a_case(number: int, seed: int) -> Graded:
    """Return a case with four criteria and an answer of 200 words; one of ten has changed."""
    chance = random.Random(f"{seed}/{number}")
    answer = text(chance, 200)
    criteria = tuple(a_criterion((number + n) % 40, answer, chance) for n in range(4))
    score = sum(each.normalised for each in criteria) / 4
    verdict: Verdict = "pass" if score >= 0.8 else "borderline" if score >= 0.6 else "fail"
    rubric = Assessed(
        name="rubric", type="rubric", weight=1.0, line=4, score=score, verdict=verdict,
        criteria=criteria, judge="openai/gpt-6-luna", marks=4,
    )  # fmt: skip
    before = BaseResult(outcome="graded", verdict="pass", score=1.0, answer=text(chance, 200))
    return Graded(
        file=f"evals/topic-{number % 50}.eval.yaml",
        line=1 + number,
        id=f"question-{number}",
        verdict=verdict,
        score=score,
        reason=f"{score:.2f} of a needed 0.80",
        question=text(chance, 60),
        expected_outcome=text(chance, 20),
        answer=answer,
        tags=(WORDS[number % 5],),
        evaluators=(rubric,),
        usage=Usage(calls=2, cost_usd=0.002, input_tokens=900, output_tokens=120),
        change="broken" if number % 20 == 0 else "fixed" if number % 20 == 1 else "unchanged",
        before=before if number % 20 < 2 else None,
    )


def a_report(cases: int, seed: int = 0) -> RunReport:
    """Return a report of graded cases."""
    results = tuple(a_case(number, seed) for number in range(cases))
    verdict = run_verdict(results)
    gate = GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=verdict != "fail")
    return RunReport(
        tool="rubric-ci",
        started_at="2026-01-01T00:00:00Z",
        duration_seconds=60.0,
        verdict=verdict,
        gate=gate,
        judge=JudgeInfo(model="openai/gpt-6-luna", prompt_version="1"),
        totals=totals(results),
        cases=results,
    )


def memory(cases: int, path: Path) -> None:
    """Print the bytes of the report, the additional ones while its page is written, the time."""
    tracemalloc.start()
    report = a_report(cases)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    with path.open("w", encoding="utf-8") as file:
        file.writelines(page.pieces(report))
    more = tracemalloc.get_traced_memory()[1] - held
    tracemalloc.stop()
    start = time.process_time()
    for _ in page.pieces(report):
        pass
    print(held, more, time.process_time() - start)


def opened(path: Path, rounds: int, *, script: bool) -> tuple[float, int]:
    """Return the median seconds from the address to the painted page, and its nodes."""
    found = chromium.find()
    assert found, chromium.MISSING
    seconds, nodes = [], 0
    with chromium.running(found) as browser:
        for _ in range(rounds):
            with chromium.tab(browser, script=script) as tab:
                start = time.perf_counter()
                tab.open(path.as_uri())
                tab.get(PAINTED if script else "0")
                seconds.append(time.perf_counter() - start)
                nodes = tab.get(NODES)
    return median(seconds), nodes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="file for the page; default: deleted")
    parser.add_argument("--memory", action="store_true", help="write the page, measure memory")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (given.keep or Path(folder) / "report.html").resolve()
        if given.memory:
            memory(given.cases, path)
            return
        own = [sys.executable, __file__, "--memory", "--keep", path, "--cases", str(given.cases)]
        done = subprocess.run(own, check=True, capture_output=True, text=True)
        held, more, seconds = (float(word) for word in done.stdout.split())
        print(f"page of {given.cases:,} cases: {path.stat().st_size / 1e6:.1f} MB")
        print(f"write: {seconds:.2f} s, {more / held:.2f} x the {held / 1e6:.1f} MB of the report")
        for script, rounds in ((True, given.rounds), (False, 1)):
            wait, nodes = opened(path, rounds, script=script)
            name = "with" if script else "without"
            print(f"open {name} its script: {wait:.2f} s, {nodes:,} nodes")


if __name__ == "__main__":
    main()
