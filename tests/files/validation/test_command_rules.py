"""What the text of a command starts, and what is missing on a machine."""

from collections.abc import Sequence

import pytest
import yaml

from rubric_ci.files.validation.command_rules import (
    Started,
    read_command,
    script_problems,
    target_command_problems,
)
from rubric_ci.values.references import Machine
from tests.files.shown import placed


@pytest.mark.parametrize(
    ("command", "program", "script"),
    [
        pytest.param("python judges/style.py --strict", "python", "judges/style.py", id="script"),
        pytest.param(["bun", "run", "../a b.ts"], "bun", "../a b.ts", id="words"),
        pytest.param("uv run --with pyyaml check.py", "uv", "check.py", id="after-options"),
        pytest.param("./check.sh x.py", "./check.sh", "", id="a-program-s-own-arguments"),
        pytest.param("'./my judge' x", "./my judge", "", id="quoted"),
        pytest.param("python -m py_compile {code_file}", "python", "", id="module"),
        pytest.param("python -c 'x.py'", "python", "", id="code"),
        pytest.param("python {code_file}", "python", "", id="placeholder"),
        pytest.param("node $HOME/x.js", "node", "", id="variable"),
        pytest.param("deno run https://deno.land/x.ts", "deno", "", id="address"),
        pytest.param("A=1 B=2 node x.js", "node", "x.js", id="assignments"),
        pytest.param("PATH=bin:$PATH node x.js", "", "", id="own-path"),
        pytest.param("node x.js|tee y.js", "node", "x.js", id="pipe"),
        pytest.param("cd x && node y.js", "", "", id="another-folder"),
        pytest.param("$JUDGE x.py", "", "", id="program-in-a-variable"),
        pytest.param("echo 'open", "", "", id="open-quote"),
        pytest.param("mypy --strict x.py", "mypy", "", id="a-tool"),
        pytest.param("python3.12 a#b.py", "python3.12", "a#b.py", id="hash"),
        pytest.param([], "", "", id="nothing"),
    ],
)
def test_read_command(command: str | Sequence[str], program: str, script: str) -> None:
    assert read_command(command) == Started(program, script)


WINDOWS = Started("python", "checks/a.py")


@pytest.mark.parametrize(
    ("command", "found"),
    [
        pytest.param("echo hello", Started(), id="builtin"),
        pytest.param("COPY a b", Started(), id="builtin-in-capitals"),
        pytest.param("cd x && node y.js", Started(), id="of-every-shell"),
        pytest.param(["echo", "hello"], Started("echo"), id="without-a-shell"),
        pytest.param(r"python checks\a.py", WINDOWS, id="backslashes"),
        pytest.param(["python", r"checks\a.py"], WINDOWS, id="words-with-backslashes"),
    ],
)
def test_a_command_of_windows(command: str | Sequence[str], found: Started) -> None:
    assert read_command(command, "win32") == found


MACHINE = Machine(
    has_folder=lambda folder: folder in {".", "../tools"},
    has_file=lambda folder, path: (folder, path) in {(".", "a.py"), ("../tools", "./gate")},
    has_program=lambda name: name == "python",
)

EVALS = """\
execution:
  evaluators:
    - {type: code_judge, script: python a.py}
    - {type: code_judge, script: python gone.py}
evalcases:
  - evaluators:
      - {type: code_judge, script: [bun, run, a.py]}
      - {type: llm_judge, prompt: {script: ./prompt, cwd: ../tools}}
      - type: composite
        evaluators: [{type: code_judge, script: python a.py, cwd: ../none}]
        aggregator: {type: code_judge, path: ./gate, cwd: ../tools}
  - execution: {evaluators: [{type: code_judge, script: 3}, {type: code_judge}, 7]}
  - text
"""


def test_scripts_of_an_eval_file() -> None:
    assert (
        placed(script_problems(yaml.safe_load(EVALS), MACHINE))
        == """\
execution.evaluators.1.script: script-missing: there is no script `gone.py`
evalcases.0.evaluators.0.script: program-missing: `bun` is not on the PATH of this machine
evalcases.0.evaluators.1.prompt.script: script-missing: there is no script `./prompt` in `../tools`
evalcases.0.evaluators.2.evaluators.0.cwd: folder-missing: there is no folder `../none`"""
    )


HOOKED = """\
workspace: {hooks: {before_all: {command: [python, a.py]}, before_each: {command: [bun]}}}
evalcases:
  - workspace: {hooks: {after_each: {command: [python, gone.py], cwd: ../tools}}}
  - workspace: {hooks: {after_each: 3}}
"""


def test_commands_around_a_workspace() -> None:
    found = script_problems(yaml.safe_load(HOOKED), MACHINE)
    hooks = ("workspace", "hooks")
    assert [(p.rule.id, p.path) for p in found] == [
        ("program-missing", (*hooks, "before_each", "command")),
        ("script-missing", ("evalcases", 0, *hooks, "after_each", "command")),
    ]


TARGETS = """\
targets:
  - {commandTemplate: 'bun run a.py {PROMPT}', cwd: ../tools, healthcheck: {commandTemplate: uv}}
  - {command_template: python gone.py, cwd: '${{ FOLDER }}'}
  - {command: "python gone.py {PROMPT}"}
  - {model: openai/a}
"""


def test_commands_of_targets() -> None:
    found = target_command_problems(yaml.safe_load(TARGETS), MACHINE)
    assert [(p.rule.id, p.path) for p in found] == [
        ("program-missing", ("targets", 0, "commandTemplate")),
        ("script-missing", ("targets", 0, "commandTemplate")),
        ("program-missing", ("targets", 0, "healthcheck", "commandTemplate")),
        ("script-missing", ("targets", 2, "command")),
    ]


@pytest.mark.parametrize("data", [None, [], {"evalcases": 3, "targets": 3, "execution": []}])
def test_data_of_any_shape(data: object) -> None:
    assert [*script_problems(data, MACHINE), *target_command_problems(data, MACHINE)] == []
