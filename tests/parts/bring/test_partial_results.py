"""Results of a part of a run have no verdict: exit code 3, and the counts are said."""

import json
import sys

import pytest

from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

SAMPLE = {"id": 1, "scores": {"s": {"value": "C"}}}
LOG = json.dumps({"status": "cancelled", "eval": {"dataset": {"samples": 40}}, "samples": [SAMPLE]})
KILLED = """\
{"version": 2, "status": "started", "eval": {"task": "shop", "task_file": "shop.py", "model":
"openai/local", "dataset": {"samples": 4, "sample_ids": ["a", "b", "c", "d"]}, "config":
{"epochs": 1}}, "plan": {}, "stats": {}, "invalidated": false, "tags": [], "metadata": {}}
"""
"""As Inspect 0.3.285 leaves it, killed before its first sample is written."""
SUITE = """\
<testsuite name="shop" tests="3" errors="1"><error message="set-up failed"/>
<testcase name="a"/></testsuite>
"""
THREE = json.dumps(
    {
        "testCases": [
            {
                "name": "t",
                "input": question,
                "success": question != "Food?",
                "metricsData": [{"name": "R", "success": question != "Food?", "score": 1}],
            }
            for question in ("Pads?", "A bike?", "Food?")
        ]
    }
)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("log.json", LOG, "log.json: the log's status is `cancelled`: 1 of 40 samples"),
        ("log.json", KILLED, "log.json: the log's status is `started`: 0 of 4 samples"),
        ("r.xml", SUITE, "r.xml: shop: error outside of a test: set-up failed"),
    ],
)
def test_a_part_of_a_run_is_undecided(checkout: Checkout, name: str, text: str, said: str) -> None:
    # A gate of some tags is about other cases, and undecided all the same.
    checkout.write({name: text, "rubric-ci.yaml": "gate: {not_tags: [x]}\n"})
    done = invoke(checkout.root, ENVIRONMENT, "adopt", name)
    assert done.returncode == 3, done.stdout
    assert f"  no verdict: {said}\n" in done.stdout
    report = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    assert report["scope"]["narrowed_by"] == ["interrupted"]


def test_a_part_of_a_run_beside_a_whole_one(checkout: Checkout) -> None:
    whole = {"status": "success", "eval": {"dataset": {"samples": 1}}, "samples": [SAMPLE]}
    checkout.write({"a.json": json.dumps(whole), "b.json": KILLED})
    done = invoke(checkout.root, ENVIRONMENT, "adopt", "a.json", "b.json")
    assert done.returncode == 3, done.stdout
    assert "  no verdict: b.json: the log's status is `started`: 0 of 4 samples\n" in done.stdout


def test_a_test_of_another_question_is_no_trial(checkout: Checkout) -> None:
    checkout.write({"r.json": THREE})
    done = invoke(checkout.root, ENVIRONMENT, "adopt", "r.json", "--from", "deepeval")
    assert done.returncode == 1, done.stdout
    assert "judge noise" not in done.stdout


CONFIG = """\
targets:
  - {{name: shop, provider: runner, reads: csv, command_template: '{script}'}}
"""


@platforms.SHELL
@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("kill -9 $$", "exit status -9, no output"),
        ("exit 127", "exit status 127, no output"),
        ("exit 126", "exit status 126, no output"),
        ("exit 137", "exit status 137, no output"),
    ],
)
def test_a_runner_that_was_killed_is_told(checkout: Checkout, ending: str, said: str) -> None:
    write = "import sys; open(sys.argv[1] + '/r.csv', 'w').write('id,passed\\na,yes\\n')\n"
    script = f"{sys.executable} w.py {{RESULTS}}; {ending}; true {{ONLY}}"
    checkout.commit({"w.py": write, "rubric-ci.yaml": CONFIG.format(script=script)})
    done = invoke(checkout.root, ENVIRONMENT, "run", "--target", "shop")
    assert done.returncode == 3, done.stdout + done.stderr
    shown = " ".join(done.stdout.split())
    assert f"no verdict: target shop: the command ended early, after 1 result: {said}" in shown


@platforms.SHELL
def test_a_failing_runner_has_its_verdicts(checkout: Checkout) -> None:
    write = "import sys; open(sys.argv[1] + '/r.csv', 'w').write('id,passed\\na,yes\\n')\n"
    script = f"{sys.executable} w.py {{RESULTS}}; exit 100; true {{ONLY}}"
    checkout.commit({"w.py": write, "rubric-ci.yaml": CONFIG.format(script=script)})
    assert invoke(checkout.root, ENVIRONMENT, "run", "--target", "shop").returncode == 0
