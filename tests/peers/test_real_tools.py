"""The real promptfoo, Inspect, DeepEval and Pydantic Evals, against a local model server.

`make peers` installs them, 2 GB, and runs this; without them the tests are skipped.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.parts.bring.adopted_tools import TOOLS
from tests.checkout import ENVIRONMENT, Checkout
from tests.http_server import Server
from tests.invoke import invoke
from tests.parts.bring.test_adopted_tools import RESULTS, shown
from tests.parts.bring.test_import import VERDICTS, graded
from tests.peers.model import SHORTLY, model_server
from tests.peers.record import FILES
from tests.peers.tools import PROMPTFOO, PYTHON, SUITES, environment, results

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (PROMPTFOO.exists() and PYTHON.exists()), reason="the tools are not here: make peers"
    ),
    pytest.mark.timeout(900),
]

CONFIG = """\
targets:
  - name: promptfoo
    provider: runner
    command_template: promptfoo eval --no-cache -o {RESULTS}/results.json
    reads: promptfoo
    only: --filter-pattern {CASE_REGEX}
    env: [MODEL_URL, PROMPTFOO_CONFIG_DIR, PROMPTFOO_DISABLE_TELEMETRY, PROMPTFOO_DISABLE_UPDATE]
  - name: inspect
    provider: runner
    command_template: >-
      inspect eval inspect_suite.py --model openai/local -M responses_api=false --max-retries 0
      --no-fail-on-error --display none --log-format json --log-dir {RESULTS}
    reads: inspect
    only: --sample-id {CASE_IDS}
    graders: [includes]
    env: [OPENAI_BASE_URL, OPENAI_API_KEY]
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with model_server() as running:
        yield running


@pytest.mark.parametrize("tool", FILES)
def test_what_the_tools_write_today_reads_as_the_kept_results(
    tool: str, tmp_path: Path, server: Server
) -> None:
    kept = (RESULTS / FILES[tool]).read_text("utf-8")
    text = results(tool, tmp_path, server.url)
    assert shown(TOOLS[tool].read(text), tool) == shown(TOOLS[tool].read(kept), tool)


@pytest.fixture
def change(tmp_path: Path) -> Checkout:
    """A prompt that spoils one answer, on top of a commit without it."""
    checkout = Checkout.create(tmp_path / "repository")
    shutil.copytree(SUITES, checkout.root, dirs_exist_ok=True)
    checkout.commit({"rubric-ci.yaml": CONFIG, ".gitignore": ".rubric-ci/\nlogs/\n"})
    checkout.commit({"prompt.txt": f"{SHORTLY}{{{{question}}}}\n"})
    return checkout


@pytest.mark.parametrize("tool", ["promptfoo", "inspect"])
def test_a_break_is_found_confirmed_and_gated(tool: str, change: Checkout, tmp_path: Path) -> None:
    with model_server(numbered=True) as server:
        done = run(change, tmp_path, server, tool)
    assert done.returncode == 1, done.stdout + done.stderr
    found = {case["id"]: case["change"] for case in report(change)["cases"]}
    assert found == {
        "refund": "broken",
        "support": "failing-before",
        "invoice": "unchanged" if tool == "promptfoo" else "failing-before",
        "outage": "not-comparable",
    }
    (broken,) = (case for case in report(change)["cases"] if case["id"] == "refund")
    assert (broken["change_reason"], broken["asked_again"]["here"]["held"]) == ("", 0)
    answers = broken["answer"], broken["before"]["answer"]
    assert [each.partition(" #")[0] for each in answers] == ["Soon.", "Refunds take 30 days."]


def run(
    change: Checkout, home: Path, server: Server, tool: str
) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in ENVIRONMENT.items() if not k.startswith(("GITHUB_", "RUBRIC_CI_"))}
    variables = {**environment(server.url, home), **clean, "HOME": os.environ["HOME"]}
    variables["PATH"] = environment(server.url, home)["PATH"]
    options = ("--target", tool, "--against", "HEAD~1", "--fail-on", "regression")
    return invoke(change.root, variables, "run", *options)


def report(change: Checkout) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((change.root / ".rubric-ci/report.json").read_text())
    return read


VERDICT_OF = {0: "pass", 1: "fail", 2: "errored"}
"""By `failureReason`."""


@pytest.mark.parametrize("file", VERDICTS)
def test_an_imported_file_has_the_verdicts_of_promptfoo(file: str, tmp_path: Path) -> None:
    checkout = Checkout.create(tmp_path / "repository")
    shutil.copytree(SUITES.parent / "imported", checkout.root / "theirs")
    theirs = subprocess.run(
        [PROMPTFOO, "eval", "--no-cache", "-c", file, "-o", "results.json"],
        cwd=checkout.root / "theirs",
        env=environment("http://localhost:9", tmp_path),
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert theirs.returncode == 100, theirs.stderr  # some tests fail
    rows = json.loads((checkout.root / "theirs/results.json").read_text())["results"]["results"]
    names = {row["testIdx"]: row["testCase"]["description"].replace(" ", "-") for row in rows}
    said = {row["testIdx"]: VERDICT_OF[row["failureReason"]] for row in rows}
    found: dict[str, str] = {}
    for index in sorted(names):
        name = names[index] if names[index] not in found else f"{names[index]}-2"
        found[name] = said[index]
    assert found == VERDICTS[file]
    assert graded(checkout, file, {}) == found
