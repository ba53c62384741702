"""A run in a batch that is killed at each of its steps: the batch is paid for once."""

import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import platforms
from tests.batches import Ending, Fault, providing
from tests.parts.litellm.test_run_batched import GOOD, Batched, judge
from tests.sample_project import clean_environment

pytestmark = [platforms.SIGNALS, pytest.mark.timeout(120)]

RUN = (sys.executable, "-m", "rubric_ci", "run", "--batch")


def start(project: Batched, environment: Mapping[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        RUN,
        cwd=project.root,
        env={**clean_environment(), "KEY": "secret", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed_at(project: Batched, step: int, environment: Mapping[str, str]) -> None:
    """Run, and kill the process before it gets the answer to so many requests."""
    process = start(project, environment)

    def kill(number: int) -> None:
        if number == step:
            process.kill()
            process.wait()

    project.provider.at_step = kill
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    project.provider.at_step = lambda _: None


@pytest.mark.parametrize(
    "step", [1, 2, 3, 4], ids=["its file", "its creation", "its status", "its replies"]
)
def test_it_is_paid_for_once(step: int, tmp_path: Path) -> None:
    with providing(judge) as provider:
        project = Batched(tmp_path, provider)
        killed_at(project, step, {})
        again = start(project, {})
        _, shown = again.communicate()
        assert again.returncode == 1, shown
        assert project.verdicts() == GOOD
        assert project.batches() == [4]
        read = "batch batch_1: begun by a run that was killed; it is read, and not paid again, for "
        assert (f"{read}4 requests" in shown) == (step > 1)
        kept = [path.read_text() for path in tmp_path.glob(".rubric-ci/cache/*/*.batch.json")]
        assert ['"text": "[]"' in text for text in kept] == [True]  # the run has ended


def test_only_what_is_missing_is_sent(tmp_path: Path) -> None:
    with providing(judge) as provider:
        project = Batched(tmp_path, provider)
        killed_at(project, 3, {})
        project.write("evals/b.eval.yaml", "evalcases: [{id: eve, input: Hi, rubrics: [Greets]}]\n")
        answers = (tmp_path / "answers.jsonl").read_text()
        project.write("answers.jsonl", f'{answers}{{"id": "eve", "answer": "Hello"}}\n')
        again = start(project, {})
        _, shown = again.communicate()
        assert again.returncode == 1, shown
        assert project.verdicts() == {**GOOD, "eve": "pass"}
        assert project.batches() == [4, 1]


@pytest.mark.parametrize("fault", ["gone", "failed"])
def test_a_batch_without_replies_is_sent_again(fault: str, tmp_path: Path) -> None:
    with providing(judge) as provider:
        project = Batched(tmp_path, provider)
        if fault == "failed":
            provider.scripts = [lambda _: Ending(status="failed", failure="x"), provider.whole]
        killed_at(project, 3, {})
        if fault == "gone":
            provider.faults.append(Fault(method="GET", path="/batches/batch_1", status=404))
        again = start(project, {})
        _, shown = again.communicate()
        assert again.returncode == 1, shown
        assert project.verdicts() == GOOD
        assert project.batches() == [4, 4]


def test_without_a_cache_nothing_is_kept(tmp_path: Path) -> None:
    with providing(judge) as provider:
        project = Batched(tmp_path, provider)
        killed_at(project, 3, {"RUBRIC_CI_CACHE": "false"})
        again = start(project, {"RUBRIC_CI_CACHE": "false"})
        again.communicate()
        assert project.batches() == [4, 4]
