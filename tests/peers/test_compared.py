"""Verdict by verdict: configurations that try each feature, in the real promptfoo and imported.

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
from tests.peers.tools import PROMPTFOO, environment

FOLDER = Path(__file__).parent / "compared" / "promptfoo"
FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
LEAST, LEAST_SAME = 330, 0.9
VERDICT_OF = {0: "pass", 1: "fail", 2: "errored"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROMPTFOO.exists(), reason="promptfoo is not here: make peers"),
    pytest.mark.timeout(900),
]

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
