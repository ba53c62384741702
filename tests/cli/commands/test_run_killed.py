"""A run that is killed at any moment leaves whole files, and loses at most what was under way."""

import json
import sys
from pathlib import Path

import pytest

from rubric_ci.models.llm.cache_and_recording import Cache
from tests import platforms
from tests.aimock import Aimock, says
from tests.captured import captured
from tests.sample_project import Project, clean_environment

pytestmark = [pytest.mark.deep, pytest.mark.slow, pytest.mark.timeout(500)]

KILLS = 50
CASES = 400
CONCURRENCY = 4
CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: {model}, api_base: "{base}", api_key: none, timeout_seconds: 60}}
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
"""
MARKS = '{"c1": {"evidence": "", "reasoning": "It does.", "satisfied": true}}'


@pytest.fixture
def project(tmp_path: Path, aimock: Aimock) -> Project:
    project = Project(tmp_path)
    names = [f"case-{n}" for n in range(CASES)]
    cases = "".join(f"  - {{id: {name}, input: Hi, rubrics: [Greets]}}\n" for name in names)
    project.write("evals/a.eval.yaml", f"evalcases:\n{cases}")
    answers = (json.dumps({"id": name, "answer": f"Hello from {name}"}) for name in names)
    project.write("answers.jsonl", "\n".join(answers))
    endpoint = aimock.endpoint("openai")
    base = endpoint.options["api_base"]
    project.write("rubric-ci.yaml", CONFIG.format(model=endpoint.model, base=base))
    return project


@platforms.SIGNALS
def test_fifty_kills(project: Project, aimock: Aimock) -> None:
    aimock.script(says(MARKS))
    command = [
        sys.executable,
        "-m",
        "tests.fork_and_kill",
        str(project.root),
        aimock.url,
        str(KILLS),
        "0.1",
        str(CASES // 2),
        "4",
    ]
    killed = captured(
        command, env=clean_environment(), timeout=400, check=True, cwd=Path(__file__).parents[3]
    )
    ended, lost = map(int, killed.stdout.split())
    kept = kept_judgements(project)
    print(
        f"{ended} of {KILLS} runs ended unkilled, one lost {lost} at most; {kept} of {CASES} kept"
    )
    assert ended < KILLS / 2
    assert lost <= CONCURRENCY
    assert kept > 0
    check_report(project)

    aimock.script(says(MARKS))
    assert project.run().returncode == 0
    report = project.report()
    assert report["totals"]["passed"] == CASES
    assert report["totals"]["cache_hits"] == kept
    assert len(aimock.requests()) == CASES - kept


def kept_judgements(project: Project) -> int:
    """Count the entries of the cache; every one of them reads back whole."""
    folder = project.root / ".rubric-ci/cache"
    entries = list(folder.glob("??/*.json"))
    assert all(Cache(folder).get(path.stem) == MARKS for path in entries)
    return len(entries)


def check_report(project: Project) -> None:
    """The report is that of a run that ended: of the first one, with one case, or a later one."""
    assert len(project.report()["cases"]) in (1, CASES)
