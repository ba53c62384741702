"""A `.git` above the folder of temporary files: any user of the machine can put one there."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.checkout import Checkout
from tests.invoke import invoke
from tests.sample_project import clean_environment

pytestmark = platforms.SHELL

JUDGE = """\
#!{python}
import json
print(json.dumps({{"c1": {{"evidence": "", "reasoning": "So.", "satisfied": {satisfied}}}}}))
"""
EVALS = """\
evalcases:
  - id: greets
    input: Say hello
    rubrics: [{id: greets, expected_outcome: Greets}]
"""
SETTINGS = """\
judge: {command: [my-judge], canary: false}
targets:
  - name: default
    provider: cli
    command_template: "git rev-parse --show-toplevel 2>&1 || true"
    workspace: {copy: .}
"""


def folder(above: Path) -> None:
    (above / ".git").mkdir()


def file(above: Path) -> None:
    (above / ".git").write_text("")


def head(above: Path) -> None:
    folder(above)
    (above / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


def link(above: Path) -> None:
    (above / ".git").symlink_to("nowhere")


def of_another_user(above: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    Checkout.create(above)
    for path in [above / ".git", *(above / ".git").rglob("*")]:
        os.chown(path, 4_321, 4_321)


PLANTED: dict[str, Callable[[Path], None]] = {
    "a folder": folder,
    "a file": file,
    "a head": head,
    "a link": link,
    "of another user": of_another_user,
}


class Bench:
    """A checkout and a folder of temporary files, both below the same folder."""

    def __init__(self, above: Path) -> None:
        self.checkout = Checkout.create(above / "checkout")
        self.checkout.commit({"a.eval.yaml": EVALS, "rubric-ci.yaml": SETTINGS})
        self.temporary, self.programs = above / "tmp", above / "bin"
        self.temporary.mkdir()
        self.programs.mkdir()

    def run(self, *arguments: str, satisfied: bool = True) -> "subprocess.CompletedProcess[str]":
        judge = self.programs / "my-judge"
        judge.write_text(JUDGE.format(python=sys.executable, satisfied=satisfied))
        judge.chmod(0o755)
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        own = {"TMPDIR": str(self.temporary), "PATH": path}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "tempdir", None)  # Python keeps what TMPDIR was
            return invoke(self.checkout.root, clean_environment() | own, *arguments)

    @property
    def report(self) -> dict[str, Any]:
        text = (self.checkout.root / ".rubric-ci/report.json").read_text()
        return dict(json.loads(text))


@pytest.fixture(params=[*PLANTED.values()], ids=[*PLANTED])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    found = Bench(tmp_path)
    request.param(tmp_path)
    return found


def test_cache_history_and_last_failed_stay_on(bench: Bench) -> None:
    first = bench.run("run", satisfied=False)
    assert first.returncode == 1, first.stderr
    assert bench.report["totals"]["cached_marks"] == 0
    again = bench.run("run", "--last-failed", satisfied=False)
    assert again.returncode == 1, again.stderr
    assert bench.report["totals"]["cached_marks"] == 1
    assert bench.report.get("notes", []) == []
    added = bench.run("history", "add", ".rubric-ci/report.json")
    assert added.returncode == 0, added.stderr


def test_a_workspace_is_in_no_repository(bench: Bench) -> None:
    init = f"git init --quiet {bench.temporary}; git rev"
    text = SETTINGS.replace("git rev", init)
    bench.checkout.write({"rubric-ci.yaml": text})
    assert bench.run("run").returncode == 0
    assert "not a git repository" in bench.report["cases"][0]["answer"]


def test_a_repository_of_ours_above_the_temporary_folder_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    Checkout.create(bench.temporary)
    assert bench.run("run").returncode == 3
    said = f"the temporary folder {bench.temporary} is in a repository; set TMPDIR"
    assert said in bench.report["cases"][0]["reason"]


def test_a_committed_cache_below_a_repository_that_git_takes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.run("run").returncode == 0
    bench.checkout.git("add", "--force", ".rubric-ci/cache")
    bench.run("run")
    assert "was not read: git tracks .rubric-ci/cache" in json.dumps(bench.report)
