"""A workspace does not show the agent what grades it, whatever kind of file that is."""

import json
from pathlib import Path

import pytest

from tests import platforms
from tests.checkout import Checkout
from tests.invoke import invoke
from tests.sample_project import clean_environment

pytestmark = platforms.SHELL

CONFIG = """\
targets:
  - name: default
    provider: cli
    command_template: >-
      find . -type f -o -type l | sort; cat seen.txt .git/config 2>/dev/null || true
    workspace: {copy: COPY}
    cache: false
"""
SCRIPT = "{name: s, type: code_judge, script: 'true', score_from: exit_status}"
EVALS = f"evalcases: [{{id: a, input: Hi, evaluators: [{SCRIPT}]}}]\n"
APP = {"app.py": "a = 1\n", "config.yaml": "tests: true\n", "notes.json": "[]\n"}


def suite(cases: str) -> dict[str, str]:
    return {"evals/s.eval.yaml": f"evalcases: {cases}\n"}


def case(**keys: str) -> dict[str, str]:
    inside = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return suite(f"[{{id: b, input: Hi, {inside}}}]")


SHOWN = {"skills/a/SKILL.md", "targets.yaml"}  # what does not grade
GRADERS: dict[str, dict[str, str]] = {
    "an eval file": {"x.yaml": EVALS},
    "an eval file in flow style": {"x.yaml": f"{{ {EVALS.strip()} }}\n"},
    "a key with an escape": {
        "x.yaml": '"eval\\u0063ases": [{id: b, input: Hi, rubrics: [Greets]}]\n'
    },
    "a key after a long comment": {"x.yaml": "#" * 2**21 + "\n" + EVALS},
    "in a hidden folder": {".ci/x.yaml": EVALS},
    "broken": {"x.yaml": "evalcases: [\n"},
    "AgentV": {"x.yaml": "tests: [{id: b, input: Hi, assertions: [Greets]}]\n"},
    "Agent Skills": {
        "skills/a/SKILL.md": "---\nname: a\ndescription: Greets.\n---\n",
        "skills/a/evals/evals.json": (
            '{"skill_name": "a", "evals": [{"id": 1, "prompt": "Hi", "expected_output": "Hello"}]}'
        ),
    },
    "promptfoo": {
        "promptfooconfig.yaml": "prompts: [Hi]\nproviders: [echo]\ntests: [{assert: []}]\n"
    },
    "GitHub Models": {"x.prompt.yml": "messages: []\ntestData: [{input: Hi}]\nevaluators: []\n"},
    "JSON Lines": {"x.jsonl": '{"id": "b", "input": "Hi"}\n'},
    "JSON Lines with another first line": {
        "x.jsonl": '{"note": "x"}\n{"id": "b", "input": "Hi"}\n'
    },
    "a sidecar": {"x.jsonl": '{"id": "b", "input": "Hi"}\n', "x.yaml": "rubrics: [Greets]\n"},
    "CSV": suite("cases.csv") | {"cases.csv": "id,input,expected\nb,Hi,Hello\n"},
    "CSV by a glob": suite("'t/*.csv'") | {"evals/t/b.csv": "id,input\nb,Hi\n"},
    "YAML cases": suite("[more.yaml]") | {"more.yaml": "[{id: b, input: Hi}]\n"},
    "JSON cases": suite("more.json") | {"more.json": '[{"id": "b", "input": "Hi"}]\n'},
    "JSON Lines with other keys": suite("more.jsonl")
    | {"more.jsonl": '{"question": "Hi", "expected": "Hello"}\n'},
    "an expected file": case(
        expected_messages="[{role: assistant, content: [{type: file, value: want.md}]}]"
    )
    | {"want.md": "Hello"},
    "an expected file that is given as well": suite(
        "[{id: b, input_messages: [{role: user, content: [{type: file, value: want.md}]}], "
        "expected_messages: [{role: assistant, content: [{type: file, value: want.md}]}]}]"
    )
    | {"want.md": "Hello"},
    "a judge's prompt": case(evaluators="[{name: j, type: llm_judge, prompt: judge.md}]")
    | {"judge.md": "Rate {{ answer }}"},
    "a judge's prompt in a composite": case(
        evaluators="[{name: c, type: composite, aggregator: {type: weighted_average}, "
        "evaluators: [{name: j, type: llm_judge, prompt: judge.md}]}]"
    )
    | {"judge.md": "Rate {{ answer }}"},
    "a script": case(
        evaluators="[{name: j, type: code_judge, script: 'sh ./judge.sh want.txt', cwd: ..}]"
    )
    | {"judge.sh": "exit 0", "want.txt": "Hello"},
    "a script as argv": case(evaluators="[{name: j, type: code_judge, script: [sh, judge.sh]}]")
    | {"evals/judge.sh": "exit 0"},
    "a JSON Schema": case(rubrics="[{json_schema: s.json}]") | {"s.json": '{"type": "object"}'},
    "answers": {
        "targets.yaml": "targets: [{name: kept, provider: recorded, answers: kept.csv.jsonl}]",
        "kept.csv.jsonl": '{"id": "a", "answer": "Hello"}\n',
    },
    "answers of an import": {"x.answers.jsonl": '{"id": "a", "answer": "Hello"}\n'},
    "a recording": {
        "j.jsonl": '{"key": "x", "about": "", "model": "m", "text": "", "finish": ""}\n'
    },
    "labels": {"labels.jsonl": "{}", "waivers.yaml": "waivers: []\n", "calibration.json": "{}"},
}
GIVEN: dict[str, dict[str, str]] = {
    "data": {"data.jsonl": '{"id": "a", "answer": "42"}\n'},
    "other data": {"data.jsonl": '{"key": "a", "reply": "42"}\n'},
    "a table": {"data.csv": "id,input\na,b\n"},
    "a file that a case gives": suite(
        "[{id: b, input_messages: [{role: user, content: [{type: file, value: app.py}]}], "
        "rubrics: [Greets]}]"
    ),
    "a workflow": {".github/workflows/a.yml": "on: push\njobs: {tests: {runs-on: x}}\n"},
}


def shown(root: Path, files: dict[str, str], copy: str = ".") -> tuple[list[str], dict[str, str]]:
    """Run a target that lists its workspace; return the list, and what the report has left out."""
    checkout = Checkout.create(root)
    config = CONFIG.replace("COPY", copy)
    checkout.commit({**APP, **files, "rubric-ci.yaml": config, "evals/a.eval.yaml": EVALS})
    done = invoke(root, clean_environment(), "run", "evals/a.eval.yaml", "--verbose")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((root / ".rubric-ci/report.json").read_text())
    left = {each["file"]: each["why"] for each in report["left_out"]}
    assert all(f"  {file}: {why}" in done.stdout for file, why in left.items()), done.stdout
    names = report["cases"][0]["answer"].splitlines()
    return [name.removeprefix("./") for name in names], left


@pytest.mark.parametrize("files", GRADERS.values(), ids=GRADERS)
def test_a_grader_is_left_out_and_listed(tmp_path: Path, files: dict[str, str]) -> None:
    names, left = shown(tmp_path / "r", files)
    assert {*names} == {*APP, *(files.keys() & SHOWN)}
    assert left.keys() == {*files, "rubric-ci.yaml", "evals/a.eval.yaml"} - SHOWN


@pytest.mark.parametrize("files", GIVEN.values(), ids=GIVEN)
def test_what_is_the_applications_stays(tmp_path: Path, files: dict[str, str]) -> None:
    names, left = shown(tmp_path / "r", files)
    assert {*APP, *files} - {"evals/s.eval.yaml"} <= {*names}
    assert left.keys() <= {"evals/a.eval.yaml", "evals/s.eval.yaml", "rubric-ci.yaml"}


def test_a_link_to_a_grader(tmp_path: Path) -> None:
    root = tmp_path / "r"
    (root / "evals").mkdir(parents=True)
    (root / "seen.txt").symlink_to("evals/a.eval.yaml")
    (root / "config").symlink_to(".git/config")
    names, left = shown(root, {})
    assert "evalcases" not in "\n".join(names)
    assert left["evals/a.eval.yaml"] == "an eval file"
    assert left[".git/config"] == "a file of git or rubric-ci"


@pytest.mark.parametrize("copy", [".git", "inner", "./evals/../.git", "deep/inner"])
def test_no_workspace_is_a_copy_of_git(tmp_path: Path, copy: str) -> None:
    checkout = Checkout.create(tmp_path)
    (tmp_path / "inner").symlink_to(".git")
    (tmp_path / "deep").symlink_to(".")
    checkout.write({"rubric-ci.yaml": CONFIG.replace("COPY", copy), "a.eval.yaml": EVALS})
    done = invoke(tmp_path, clean_environment(), "run")
    assert done.returncode in {2, 3}
    assert "repositoryformatversion" not in done.stdout
    assert "`.git`" in done.stdout + done.stderr


def test_a_nested_repository_and_a_submodule(tmp_path: Path) -> None:
    root = tmp_path / "r"
    inner = Checkout.create(tmp_path / "inner")
    inner.commit({"x.yaml": EVALS, "lib.py": ""})
    outer = Checkout.create(root)
    outer.git("submodule", "--quiet", "add", inner.root.as_uri(), "sub")
    names, left = shown(root, {}, copy="sub")
    assert (names, left) == (["lib.py"], {"sub/x.yaml": "an eval file"})


def test_without_git(tmp_path: Path) -> None:
    config = CONFIG.replace("COPY", ".")
    for name, text in {**APP, "rubric-ci.yaml": config, "x.yaml": EVALS}.items():
        (tmp_path / name).write_text(text)
    done = invoke(tmp_path, clean_environment(), "run", "x.yaml")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / ".rubric-ci/report.json").read_text())
    assert report["cases"][0]["answer"].splitlines() == [f"./{name}" for name in sorted(APP)]
