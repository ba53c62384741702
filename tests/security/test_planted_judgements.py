"""Judgements planted for later: entries that a script of an earlier commit left in the cache."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.aimock import Aimock
from tests.checkout import Checkout
from tests.cli.commands.test_run_judged import Judged, marks

CACHE = ".rubric-ci/cache"
KEY = "sk-of-the-repository"
WORKFLOW = {"GITHUB_ACTIONS": "true", "OPENAI_API_KEY": KEY}
CONFIG = """\
judge: {{model: openai/gpt-6.1-sol, api_base: "{base}", api_key: "${{{{ OPENAI_API_KEY }}}}"}}
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
  - {{name: planter, provider: cli, command_template: "{python} plant.py"}}
"""
PLANT = """\
import os, shutil
shutil.copytree("payload", ".rubric-ci/cache", dirs_exist_ok=True)
assert "OPENAI_API_KEY" not in os.environ
print("Hello")
"""
PLANTER = (
    "evalcases:\n- {id: other, input: Hi, execution: {target: planter, evaluators: "
    "[{name: c, type: code_judge, script: 'true', score_from: exit_status}]}}\n"
)


@pytest.fixture
def judged(tmp_path: Path, aimock: Aimock) -> Judged:
    (root := tmp_path / "project").mkdir()
    judged = Judged(root, aimock)
    base = aimock.endpoint("openai").options["api_base"]
    judged.write("rubric-ci.yaml", CONFIG.format(base=base, python=sys.executable))
    judged.write(".gitignore", ".rubric-ci\n")
    return judged


def forged_entries(judged: Judged, **environment: str) -> Path:
    """Return judgements that the author of a pull request made at home, with a lenient judge."""
    home = judged.root.parent / "home"
    shutil.copytree(judged.root, home)
    author = Judged.__new__(Judged)
    author.root, author.server = home, judged.server
    judged.server.script(marks(True, True))
    assert author.run(**environment).returncode == 0
    return home / CACHE


@pytest.mark.parametrize(
    "at_home",
    [{"OPENAI_API_KEY": "sk-of-the-author"}, {**WORKFLOW, "OPENAI_API_KEY": "sk-of-the-author"}],
    ids=["at-home", "like-a-workflow"],
)
def test_a_script_plants_what_the_next_run_reads(at_home: dict[str, str], judged: Judged) -> None:
    payload = forged_entries(judged, **at_home)
    checkout = Checkout(judged.root)
    judged.server.script(marks(False, False))
    shutil.copytree(payload, judged.root / "payload")
    checkout.commit({"plant.py": PLANT, "evals/other.eval.yaml": PLANTER})
    assert judged.run("--case", "other", **WORKFLOW).returncode == 0
    planted = sorted((judged.root / CACHE).glob("*/*.json"))
    assert planted, "the script wrote into the folder that the workflow saves"
    shutil.rmtree(judged.root / "payload")
    (judged.root / "evals/other.eval.yaml").unlink()
    checkout.commit()
    assert judged.run(**WORKFLOW).returncode == 1
    assert judged.report()["totals"]["cached_marks"] == 0
    assert len(judged.server.requests()) > 0


@pytest.mark.parametrize("change", ["text", "key"])
def test_an_entry_that_is_changed_or_renamed_is_not_read(change: str, judged: Judged) -> None:
    judged.server.script(marks(False, False))
    assert judged.run(**WORKFLOW).returncode == 1
    (entry,) = (judged.root / CACHE).glob("*/*.json")
    value = json.loads(entry.read_text())
    if change == "text":
        value["text"] = value["text"].replace("false", "true")
        entry.write_text(json.dumps(value))
    else:
        judged.write("answers.jsonl", '{"id": "greeting", "answer": "Hello, another one"}\n')
        assert judged.run(**WORKFLOW).returncode == 1
        (other,) = set((judged.root / CACHE).glob("*/*.json")) - {entry}
        entry.write_text(other.read_text())
        judged.write("answers.jsonl", '{"id": "greeting", "answer": "Hello from greeting"}\n')
    judged.server.script(marks(False, True))
    judged.run(**WORKFLOW)
    assert judged.report()["totals"]["cached_marks"] == 0


def test_the_same_credential_reads_what_it_kept(judged: Judged) -> None:
    judged.server.script(marks(True, True))
    assert judged.run(**WORKFLOW).returncode == 0
    judged.server.script(marks(False, False))
    assert judged.run(**WORKFLOW).returncode == 0
    assert judged.report()["totals"]["cached_marks"] == 2
    assert judged.run("--list", **WORKFLOW).returncode == 0
    assert judged.run(**{**WORKFLOW, "OPENAI_API_KEY": "sk-new"}).returncode == 1


def test_a_workflow_without_a_credential_trusts_no_earlier_run(judged: Judged) -> None:
    config = (judged.root / "rubric-ci.yaml").read_text()
    judged.write("rubric-ci.yaml", config.replace('"${{ OPENAI_API_KEY }}"', "none"))
    judged.server.script(marks(True, True))
    assert judged.run(GITHUB_ACTIONS="true").returncode == 0
    assert judged.report()["notes"] == []
    judged.server.script(marks(False, False))
    assert judged.run(GITHUB_ACTIONS="true").returncode == 1
    (note,) = judged.report()["notes"]
    assert note == (
        "The cache .rubric-ci/cache was not read: a workflow trusts the entries of earlier runs by "
        "the judge's credential, and this run has none that lasts; set the variable "
        "RUBRIC_CI_CACHE_KEY to a secret"
    )


def test_no_entry_shows_the_credential(judged: Judged) -> None:
    judged.server.script(marks(True, True))
    assert judged.run(**WORKFLOW).returncode == 0
    assert all(KEY not in path.read_text() for path in (judged.root / CACHE).glob("*/*.json"))
