"""The real Inspect, interrupted and killed: what it leaves is a part of a run, and no verdict.

DeepEval and Pydantic Evals write their results at the end: interrupted, they leave none.
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.peers.model import model_server
from tests.peers.tools import PYTHON, SUITES, environment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="the tools are not here: make peers"),
    pytest.mark.timeout(300),
]

HELD = """\
from inspect_ai.solver import solver


@solver
def held():
    async def solve(state, generate):
        if state.sample_id in ("invoice", "outage"):
            await anyio.sleep(600)
        return state

    return solve


@task
"""
SECONDS = 120


@pytest.mark.parametrize(
    ("ending", "said"),
    [("SIGINT", "`cancelled`: 4 of 4 samples"), ("SIGKILL", "`started`: 0 of 4 samples")],
)
def test_a_log_that_is_not_finished_has_no_verdict(ending: str, said: str, tmp_path: Path) -> None:
    checkout = Checkout.create(tmp_path / "repository")
    shutil.copytree(SUITES, checkout.root, dirs_exist_ok=True)
    suite = checkout.root / "inspect_suite.py"
    text = suite.read_text().replace("@task\n", HELD).replace("solver = [", "solver = [held(), ")
    suite.write_text(text.replace("from pathlib", "import anyio\nfrom pathlib"))
    logs = checkout.root / "logs"
    options = ("-M", "responses_api=false", "--display", "none", "--log-format", "json")
    command = (*("-m", "inspect_ai", "eval", suite.name, "--model", "openai/local"), *options)
    with model_server() as server:
        variables = {**environment(server.url, tmp_path), "INSPECT_LOG_DIR": str(logs)}
        process = subprocess.Popen([PYTHON, *command], cwd=checkout.root, env=variables)
        until = time.monotonic() + SECONDS
        while not list(logs.glob("*.json")) and time.monotonic() < until:
            time.sleep(0.5)
        time.sleep(5)  # the two samples that are not held end
        os.kill(process.pid, signal.Signals[ending])
        process.wait(SECONDS)
    (log,) = logs.glob("*.json")
    done = invoke(checkout.root, ENVIRONMENT, "adopt", f"logs/{log.name}")
    assert done.returncode in {1, 3}, done.stdout  # a sample that failed stays a failure
    assert f"the log's status is {said}" in " ".join(done.stdout.split())
