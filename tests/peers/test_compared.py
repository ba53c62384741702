"""Verdict by verdict: files that try each feature, in the real promptfoo and agentv and here.

A verdict is the same, or the import or the run says at its line that it is not.
"""

import json
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.peers.tools import AGENTV, PROMPTFOO, environment

FOLDER = Path(__file__).parent / "compared" / "promptfoo"
FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
LEAST, LEAST_SAME = 290, 0.9
VERDICT_OF = {0: "pass", 1: "fail", 2: "errored"}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

Verdicts = dict[str, list[str]]


def name_of(description: str) -> str:
    """Return the id of a case without its numbers."""
    return re.sub(r"(-\d+)+$", "", "-".join(re.findall(r"\w+", description.lower())))


def theirs(checkout: Checkout, file: str, home: Path) -> Verdicts:
    subprocess.run(
        [PROMPTFOO, "eval", "--no-cache", "-c", f"{file}.yaml", "-o", "results.json"],
        cwd=checkout.root / "theirs",
        env={**environment("http://localhost:9", home), "PEERS_WORD": "peers"},
        capture_output=True,
        timeout=240,
        check=False,
    )
    rows = json.loads((checkout.root / "theirs/results.json").read_text())["results"]["results"]
    found = defaultdict(list)
    for row in rows:
        found[name_of(row["testCase"]["description"])].append(VERDICT_OF[row["failureReason"]])
    return {name: sorted(verdicts) for name, verdicts in found.items()}


def ours(checkout: Checkout, file: str) -> tuple[Verdicts, set[int]]:
    """Return the verdicts, and the lines of the file that the import says something about."""
    done = invoke(
        checkout.root, ENVIRONMENT, "import", f"theirs/{file}.yaml", "--output-dir", "our"
    )
    assert done.returncode in (0, 1), done.stderr
    lines = {int(line) for line in re.findall(rf"(?m)^theirs/{file}\.yaml:(\d+):", done.stdout)}
    if not (checkout.root / f"our/{file}.eval.yaml").exists():
        return {}, lines
    done = invoke(checkout.root, ENVIRONMENT, "run", "our")
    assert done.returncode in (0, 1, 3), done.stderr
    report = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    found = defaultdict(list)
    for case in report["cases"]:
        verdict = case["verdict"] if case["outcome"] == "graded" else case["outcome"]
        found[name_of(re.sub(r" \[.*\]$", "", case["id"]))].append(verdict)
    return {name: sorted(verdicts) for name, verdicts in found.items()}, lines


def is_said(file: str, name: str, lines: set[int]) -> bool:
    """Return True if something is said about a test, or about what all tests share."""
    text = (FOLDER / f"{file}.yaml").read_text("utf-8").splitlines()
    tests = {
        number: name_of(found[1])
        for number, line in enumerate(text, 1)
        if (found := re.search(r"^ *- \{description: ([^,]+),", line))
    }
    return any(tests.get(line, name) == name for line in lines)


COUNTED: Counter[str] = Counter()


@pytest.mark.skipif(not PROMPTFOO.exists(), reason="promptfoo is not here: make peers")
@pytest.mark.parametrize("file", FILES)
def test_no_verdict_differs_without_a_word(file: str, tmp_path: Path) -> None:
    checkout = Checkout.create(tmp_path / "repository")
    shutil.copytree(FOLDER, checkout.root / "theirs")
    expected = theirs(checkout, file, tmp_path)
    got, lines = ours(checkout, file)
    silent = {}
    for name, verdicts in expected.items():
        here = got.get(name, [])
        COUNTED["all"] += len(verdicts)
        COUNTED["same"] += len(verdicts) if here == verdicts else 0
        errored = len(here) == len(verdicts) and "errored" in here  # the run says why
        if here != verdicts and not errored and not is_said(file, name, lines):
            silent[name] = (verdicts, here)
    assert silent == {}


def test_most_verdicts_are_the_same() -> None:
    if COUNTED["all"] < LEAST:
        pytest.skip("only a part of the files was compared")
    assert COUNTED["same"] >= LEAST_SAME * COUNTED["all"], COUNTED


AGENTV_FOLDER = FOLDER.parent / "agentv"
ALIKE = ("checks", "work", "suite", "files", "workspace", "includes")
STRICTER = {
    "required": "the score stays the mean here; the case fails in both",
    "required-missed": "the score stays the mean here; the case fails in both",
    "exact-less": "a call too many is a miss here, which a warning says",
}
WITHOUT_VERDICT = ("empty", "no-cost")
"""AgentV gives 0; here the case is errored, and the run says why."""


@pytest.mark.skipif(not AGENTV.exists(), reason="agentv is not here: make peers")
@pytest.mark.parametrize("file", ALIKE)
def test_scores_are_those_of_agentv(file: str, tmp_path: Path) -> None:
    checkout = Checkout.create(tmp_path / "repository")
    shutil.copytree(AGENTV_FOLDER, checkout.root, dirs_exist_ok=True)
    judge = f"judge: {{command: [node, {checkout.root}/judge.mjs]}}\n"
    (checkout.root / "rubric-ci.yaml").write_text(judge, encoding="utf-8")
    expected = scores_of_agentv(checkout, file, tmp_path)
    done = invoke(checkout.root, ENVIRONMENT, "run", f"evals/{file}.eval.yaml")
    assert done.returncode in (0, 1, 3), done.stderr
    report = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    got = {case["id"]: round(case["score"], 3) for case in report["cases"] if "score" in case}
    assert expected.keys() - got.keys() == expected.keys() & {*WITHOUT_VERDICT}
    compared = expected.keys() - {*WITHOUT_VERDICT, *STRICTER}
    assert {name: got[name] for name in compared} == {name: expected[name] for name in compared}


def scores_of_agentv(checkout: Checkout, file: str, home: Path) -> dict[str, float]:
    judged = ("--grader-target", "grader")
    subprocess.run(
        [AGENTV, "eval", f"evals/{file}.eval.yaml", "--output", "out", *judged],
        cwd=checkout.root,
        env=environment("http://localhost:9", home),
        capture_output=True,
        timeout=240,
        check=False,
    )
    lines = (checkout.root / "out/index.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert not [row for row in rows if row["execution_status"] == "execution_error"]
    return {row["test_id"]: round(row["score"], 3) for row in rows}


def test_what_agentv_would_grade_otherwise_is_refused_at_its_line(tmp_path: Path) -> None:
    checkout = Checkout.create(tmp_path / "repository")
    shutil.copytree(AGENTV_FOLDER, checkout.root, dirs_exist_ok=True)
    text = (AGENTV_FOLDER / "evals/refused.eval.yaml").read_text("utf-8").splitlines()
    done = invoke(checkout.root, ENVIRONMENT, "validate", "evals/refused.eval.yaml")
    said = {int(line) for line in re.findall(r"(?m)^evals/refused\.eval\.yaml:(\d+):", done.stdout)}
    assert said == {number for number, line in enumerate(text, 1) if "id:" in line}
