"""Files that are small, and large with what their cases take from the suite: a located problem."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.invoke import invoke

LONG = "x" * 600_000
CASE = {"id": "a", "input": "Hi", "rubrics": ["Greets"]}
TWICE = "{{ v }}{{ v }}"
RUBRICS = {"name": "r", "type": "rubric", "rubrics": ["A"] * 500}
JUDGE = {"name": "j", "type": "llm_judge", "prompt": "a/" * 3_000}
TEXT = "the text has more than 1,000,000 characters; shorten it, or its variables"


def suite(**keys: Any) -> dict[str, Any]:
    return {"evalcases": [CASE], **keys}


def cases(count: int, **keys: Any) -> list[dict[str, Any]]:
    return [{"id": f"case {number}", "input": "Hi", **keys} for number in range(count)]


def of_case(value: object, **keys: Any) -> dict[str, Any]:
    """One case whose variable `v` has this value."""
    return suite(evalcases=[{**CASE, "vars": {"v": value}, **keys}])


TOO_MANY = "401 cases with {} entries each are more than 200,000; split the file"
FILES: dict[str, tuple[dict[str, Any], str]] = {
    "an input": (suite(vars={"v": LONG}, evalcases=[{**CASE, "input": TWICE}]), TEXT),
    "a variable of the case": (of_case(LONG, input=TWICE), TEXT),
    "a list as JSON": (of_case(["x" * 900] * 700, input=TWICE), TEXT),
    "a criterion": (of_case(LONG, rubrics=[TWICE]), TEXT),
    "an assertion": (of_case(LONG, rubrics=[{"contains": TWICE}]), TEXT),
    "a criterion of the suite": (
        suite(vars={"v": LONG}, rubrics=[TWICE], evalcases=cases(1)),
        f"`rubrics` of the suite: {TEXT}",
    ),
    "a message of the suite": (
        suite(vars={"v": LONG}, messages=[{"role": "user", "content": TWICE}]),
        f"`messages` of the suite: {TEXT}",
    ),
    "many short texts": (
        suite(vars={"v": "x" * 90_000}, rubrics=["A"], evalcases=cases(800, note="{{ v }}"))
        | {"messages": [{"role": "user", "content": "{{ v }}"}]},
        "the texts of the cases have more than 64,000,000 characters with their variables",
    ),
    "criteria": (
        suite(rubrics=[f"criterion {number}" for number in range(500)], evalcases=cases(401)),
        TOO_MANY.format(500),
    ),
    "criteria of evaluators": (
        suite(execution={"evaluators": [RUBRICS]}, evalcases=cases(401)),
        TOO_MANY.format(501),
    ),
    "messages": (
        suite(messages=[{"role": "user", "content": "Hi"}] * 500, evalcases=cases(401)),
        TOO_MANY.format(500),
    ),
    "variables": (
        suite(vars=dict.fromkeys(map("v{}".format, range(500)), 1), evalcases=cases(401)),
        TOO_MANY.format(500),
    ),
    "path": (suite(evalcases=[{**CASE, "evaluators": [JUDGE]}]), "has more than 4,096 characters"),
    "globs": (
        suite(depends_on=["a"] * 1_001),
        "`depends_on` must have at most 1,000 entries, not 1,001",
    ),
}


@pytest.mark.parametrize(("data", "problem"), FILES.values(), ids=FILES)
def test_a_problem_at_its_place(tmp_path: Path, data: dict[str, Any], problem: str) -> None:
    (tmp_path / "rubric-ci.yaml").write_text(
        "judge: {model: openai/m}\ntargets: [{name: default, provider: mock, response: Hi}]\n"
    )
    (tmp_path / "a.eval.yaml").write_text(json.dumps(data))
    for command in (("validate",), ("run", "--list"), ("run", "--offline")):
        done = invoke(tmp_path, {"PATH": os.environ["PATH"]}, *command)
        assert done.returncode == (1 if command == ("validate",) else 2), done.stdout
        assert "a.eval.yaml:1:" in done.stdout + done.stderr
        assert problem in done.stdout + done.stderr


def test_what_others_do_not_take_is_not_counted(tmp_path: Path) -> None:
    rubrics = [f"criterion {number}" for number in range(500)]
    data = suite(rubrics=rubrics, evalcases=cases(401, rubrics=["Greets"]))
    (tmp_path / "a.eval.yaml").write_text(json.dumps(data))
    done = invoke(tmp_path, {"PATH": os.environ["PATH"]}, "validate")
    assert done.returncode == 0, done.stdout


GLOBS = ["a/" * 3_000, "a" * 5_000, "a" * 300 + "/*", "/".join("a" * 1_500)]


@pytest.mark.parametrize("glob", GLOBS)
def test_a_glob_that_no_file_can_match(tmp_path: Path, glob: str) -> None:
    (tmp_path / "rubric-ci.yaml").write_text(json.dumps({"evals": [glob]}))
    done = invoke(tmp_path, {"PATH": os.environ["PATH"]}, "validate")
    assert done.returncode == 2
    assert "glob" in done.stderr or "no file matches" in done.stderr
