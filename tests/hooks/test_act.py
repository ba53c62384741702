"""The workflows of examples/workflows/, run by act, an independent runner, on this machine."""

from pathlib import Path
from typing import Any

import pytest

from tests.checkout import Checkout
from tests.hooks import runner

pytestmark = [pytest.mark.deep, *runner.WITH_ACT]

BAD = "evalcases:\n  - id: a\n    input: Hi\n    expected_outcome: Greets\n    rubric: [Greets]\n"


def test_validate_annotates(checkout: Checkout, published: Checkout) -> None:
    base = {"sha": checkout.commit({"README.md": "A base.\n"})}
    checkout.commit({"evals/a.eval.yaml": BAD})
    job = runner.run(
        checkout,
        "evals-validate.yml",
        event="pull_request",
        payload={"pull_request": {"number": 1, "base": base}},
        published=published,
    )
    annotations = ["error evals/a.eval.yaml:5", "notice evals/a.eval.yaml:2"]
    assert (job.succeeded, job.annotations) == (False, annotations), job.log


@pytest.mark.parametrize("event", ["push", "pull_request"])
def test_the_project_runs_its_own_action(event: str, published: Checkout, tmp_path: Path) -> None:
    checkout = published.clone(tmp_path / "clone")
    base = {"ref": "main", "sha": checkout.git("rev-parse", "HEAD")}
    checkout.git("checkout", "--quiet", "-b", "topic")
    head = {"ref": "topic", "sha": checkout.commit({"notes.md": "A note.\n"})}
    if event == "pull_request":  # its merge commit is checked out
        checkout.git("checkout", "--quiet", "--detach", "main")
        checkout.git("merge", "--quiet", "--no-ff", "--message", "merge", "topic")
    payloads: dict[str, dict[str, Any]] = {
        "push": {"ref": "refs/heads/main", "before": base["sha"]},
        "pull_request": {"pull_request": {"number": 1, "base": base, "head": head}},
    }
    job = runner.run(
        checkout,
        "ci.yml",
        folder=".github/workflows",
        only=("--job", "evals", "--matrix", "system:ubuntu-latest"),
        event=event,
        payload=payloads[event],
        published=published,
    )
    assert job.succeeded, job.log
    assert job.outputs["verdict"] == "pass"  # of the last step, the example of AgentV
    assert job.outputs["report"] == ".rubric-ci/report.json"
