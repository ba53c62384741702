"""Why a file is kept from agents, by its name and content; tests/security has every kind."""

from pathlib import Path

import pytest

from rubric_ci.parts.agents.grading_files import Graders

EVALS = "evalcases: [{id: a, input: Hi, rubrics: [{json_schema: s.json}]}]\n"
FILES = {
    "evals/a.yaml": EVALS,
    "evals/s.json": "{}",
    "evals/.GIT/config": "",
    "app.py": "",
    "rubric-ci.yaml": "targets: [{name: kept, provider: recorded, answers: k.jsonl}]\n",
    "k.jsonl": "{}",
    "promptfooconfig.yaml": "prompts: [Hi]\nproviders: [echo]\ntests: [{assert: []}]\n",
    "empty.jsonl": "",
    "list.jsonl": "[1]\n",
}
WHY = {
    "evals/a.yaml": "an eval file",
    "evals/s.json": "`evals/a.yaml` names it",
    "evals/.GIT/config": "a file of git or rubric-ci",
    "app.py": "",
    "rubric-ci.yaml": "a file of git or rubric-ci",
    "k.jsonl": "answers of the target `kept`",
    "promptfooconfig.yaml": "an eval file of promptfoo",
    "empty.jsonl": "",
    "list.jsonl": "",
    "missing.yaml": "",
    ".": "",
}


@pytest.mark.parametrize("name", WHY)
def test_why(tmp_path: Path, name: str) -> None:
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    assert Graders(tmp_path, FILES).why(tmp_path / name) == WHY[name]
