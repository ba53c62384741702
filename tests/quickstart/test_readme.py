"""The first files and commands of the README, with a server in place of the model."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from tests.answer_judge import AnswerJudge, judging
from tests.invoke import invoke

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
FILES = re.findall(r"^`([^`\n]+)`:\n\n```yaml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^rubric-ci (validate|run)\b(.*)$", README, re.MULTILINE)


class Model(AnswerJudge):
    """Answers a question, and marks answers by criteria of two kinds."""

    def reply(self, request: dict[str, Any]) -> str:
        user = request["messages"][-1]["content"]
        if "Criteria:" not in user:
            return "Paris, on the Seine."
        kinds = re.findall(r'^(c[0-9]+): "(satisfied|score)"', user, re.MULTILINE)
        marks = {"satisfied": True, "score": 9}
        said = {"evidence": "Paris", "reasoning": "Named."}
        return json.dumps({name: {**said, kind: marks[kind]} for name, kind in kinds})


def test_the_first_rubric_is_valid(tmp_path: Path) -> None:
    (rubric,) = re.findall(r"^```yaml\n(rubrics:.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (tmp_path / "a.eval.yaml").write_text(f"{rubric}evalcases: [{{id: a, input: Hi}}]\n")
    assert "no problems" in invoke(tmp_path, {}, "validate", "a.eval.yaml").stdout


def test_the_first_files_run_as_the_readme_says(tmp_path: Path) -> None:
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [name for name, _ in COMMANDS] == ["validate", "run"]
    with judging(Model()) as model:
        environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{model.url}/v1"}
        ends = [
            invoke(tmp_path, environment, name, *shlex.split(rest, comments=True))
            for name, rest in COMMANDS
        ]
    assert [(done.returncode, done.stdout.splitlines()[0]) for done in ends] == [
        (0, "2 files checked: no problems"),
        (0, "Gate passes: the only case passes (fail_on: fail)"),
    ]
