"""Links on the way of what is written: nothing outside of the repository is created or changed."""

import asyncio
import shutil
from pathlib import Path

import pytest

from rubric_ci.errors import CannotWriteFile
from rubric_ci.gate.report import json_format
from rubric_ci.models.llm import cache_and_recording
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from tests import platforms
from tests.cases import build_call
from tests.checkout import Checkout
from tests.parts.lab.nights import a_night
from tests.security.test_confined_open import EVALS, rubric_ci

CONFIG = """\
judge: {model: openai/m}
targets: [{name: default, provider: mock, response: Hi}]
"""
OUTSIDE = "not written: it is outside the repository\n  remove the link on its way\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    Checkout.create(root)
    shutil.rmtree(root / ".git" / "hooks")
    (root / ".git" / "hooks").mkdir()
    (root / "a.eval.yaml").write_text(EVALS)
    (root / "rubric-ci.yaml").write_text(CONFIG)
    (tmp_path / "outside").mkdir()
    (tmp_path / "kept").write_text("kept")
    platforms.symlink(root / "out", "../outside")
    platforms.symlink(root / "hooks", ".git/hooks")
    platforms.symlink(root / "kept", "../kept")
    return root


WRITTEN = {
    "run --output-dir": (["run", "--offline", "--output-dir", "out"], "out"),
    "run --output-dir below": (["run", "--offline", "--output-dir", "out/deep/er"], "out/deep/er"),
    "run --output-dir up": (["run", "--offline", "--output-dir", "x/../out/y"], "x/../out/y"),
    "run --record": (["run", "--record", "out/deep/judge.jsonl"], "out/deep"),
    "judge attack --record": (["judge", "attack", "--record", "out/judge.jsonl"], "out"),
    "merge's folder": (["report", "merge", ".rubric-ci/report.json", "--output-dir", "out"], "out"),
    "init": (["init", "out/new"], "out/new"),
}


@pytest.mark.parametrize(("arguments", "place"), WRITTEN.values(), ids=WRITTEN)
def test_a_folder_that_leads_out(root: Path, arguments: list[str], place: str) -> None:
    if arguments[:2] == ["report", "merge"]:
        assert rubric_ci(root, "run", "--offline", "--shard", "1/1").exit_code == 0
    done = rubric_ci(root, *arguments)
    assert (done.exit_code, done.stderr.endswith(f"{place}: {OUTSIDE}")) == (2, True), done.stderr
    assert list((root.parent / "outside").iterdir()) == []


def test_the_default_folder_that_leads_out(root: Path) -> None:
    platforms.symlink(root / ".rubric-ci", "../outside")
    done = rubric_ci(root, "run")
    assert (done.exit_code, done.stderr.endswith(f".rubric-ci/cache: {OUTSIDE}")) == (2, True)
    assert list((root.parent / "outside").iterdir()) == []


REPLACED = {
    "outside": ("ln -s ../outside .rubric-ci", "not written: it is outside the repository"),
    "in git": ("ln -s .git .rubric-ci", "not written: it is in `.git`"),
    "to nothing": ("ln -s nowhere .rubric-ci", "cannot write the report: File exists"),
    "to itself": ("ln -s .rubric-ci .rubric-ci", "cannot write the report: File exists"),
    "to a file": ("ln -s a.eval.yaml .rubric-ci", "cannot write the report: File exists"),
    "a file": ("touch .rubric-ci", "cannot write the report: File exists"),
}
SCRIPTED = """\
evalcases:
  - id: a
    input: Hi
    execution:
      evaluators: [{name: s, type: code_judge, script: 'true', score_from: exit_status}]
"""


@platforms.SHELL
@pytest.mark.parametrize(("script", "said"), REPLACED.values(), ids=REPLACED)
def test_a_folder_that_a_target_replaces_during_the_run(root: Path, script: str, said: str) -> None:
    target = '{name: default, provider: cli, command_template: "sh target.sh"}'
    (root / "rubric-ci.yaml").write_text(f"targets: [{target}]\n")
    (root / "target.sh").write_text(f"rm -rf .rubric-ci; {script}; echo Hi\n")
    (root / "a.eval.yaml").write_text(SCRIPTED)
    done = rubric_ci(root, "run")
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert "1 passed" in done.stdout, "the verdicts are shown"
    assert list((root.parent / "outside").iterdir()) == []


def test_a_folder_in_git(root: Path) -> None:
    done = rubric_ci(root, "run", "--offline", "--output-dir", "hooks")
    assert done.exit_code == 2
    assert "hooks: not written: it is in `.git`" in done.stderr
    assert list((root / ".git" / "hooks").iterdir()) == []


def test_a_folder_outside_that_a_person_names(root: Path) -> None:
    outside = root.parent / "outside"
    done = rubric_ci(root, "run", "--offline", "--output-dir", str(outside))
    assert done.exit_code == 0, done.stderr
    written = sorted(path.name for path in outside.iterdir())
    assert written == ["last-failed.json", "report.json", "summary.md"]


def test_a_report_replaces_a_link(root: Path) -> None:
    (root / ".rubric-ci").mkdir()
    platforms.symlink(root / ".rubric-ci" / "report.json", "../../kept")
    assert rubric_ci(root, "run", "--offline").exit_code == 0
    assert (root.parent / "kept").read_text() == "kept"
    assert not (root / ".rubric-ci" / "report.json").is_symlink()


def test_fix_writes_through_no_link(root: Path) -> None:
    text = "evalcases:\n  - id: a\n    input: Hi\n    rubric: [A]\n"
    (root.parent / "kept").write_text(text)
    platforms.symlink(root / "b.eval.yaml", "../kept")
    assert rubric_ci(root, "validate", "--fix").exit_code == 1
    assert (root.parent / "kept").read_text() == text


def test_a_recording_replaces_a_link(root: Path) -> None:
    cache_and_recording.record(root / "kept", root)
    assert (root.parent / "kept").read_text() == "kept"
    assert not (root / "kept").is_symlink()
    with pytest.raises(CannotWriteFile):
        cache_and_recording.record(root / "out" / "judge.jsonl", root)


def test_a_recording_that_becomes_a_link(root: Path) -> None:
    """A target of the repository runs while replies are recorded."""

    async def model(_: ModelCall) -> ModelReply:
        return ModelReply(text="yes")

    record = cache_and_recording.record(root / "judge.jsonl", root).wrap(model)
    (root / "judge.jsonl").unlink()
    platforms.symlink(root / "judge.jsonl", "../kept")

    async def asked() -> None:
        await record(build_call())

    with pytest.raises(CannotWriteFile, match="cannot write the recording"):
        asyncio.run(asked())
    assert (root.parent / "kept").read_text() == "kept"


HISTORIES = {
    "a link to a file": ("kept", "it is outside the repository"),
    "a link to nothing": ("nothing", "it is outside the repository"),
    "a folder that is a link": ("out/history.jsonl", "it is outside the repository"),
    "a link into git": ("hooks/history.jsonl", "it is in `.git`"),
}


@pytest.mark.parametrize(("place", "reason"), HISTORIES.values(), ids=HISTORIES)
def test_a_history_goes_through_no_link(root: Path, place: str, reason: str) -> None:
    platforms.symlink(root / "nothing", "../outside/new.jsonl")
    (root / "report.json").write_text(json_format.render(a_night(0)), encoding="utf-8")
    done = rubric_ci(root, "history", "add", "--history", place, "report.json")
    assert (done.exit_code, f"{place}: not written: {reason}" in done.stderr) == (2, True)
    assert list((root.parent / "outside").iterdir()) == []
    assert list((root / ".git" / "hooks").iterdir()) == []
    assert (root.parent / "kept").read_text() == "kept"
