"""Changes to how answers come about, between a commit and the working tree of a real repository."""

from itertools import permutations
from typing import Any, get_args

import pytest

from rubric_ci.gate.differences.config_changes import config_changes, setting_changes
from rubric_ci.values.agent_program import HttpRequest
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.targets import (
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    RunnerTarget,
    ServiceTarget,
    Target,
    TargetFacts,
    UnsupportedTarget,
)
from tests.checkout import Checkout
from tests.gate.grading_changes.test_all_changes import committed, edited

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {model: openai/a}
targets:
  - {name: default, model: openai/b, temperature: 0}
  - {name: other, model: openai/c}
  - name: worker
    provider: cli
    command_template: python agent.py {PROMPT_FILE}
    trace: none
    depends_on: [task/app/**]
    workspace: {copy: task, setup: python prepare.py}
  - {name: coder, provider: claude-code, workspace: {copy: other}}
  - name: service
    provider: http
    url: http://127.0.0.1:1/
    body: {q: '{{ input }}'}
    answer: /text
gate: {better_than: other}
compare: [default, other]
"""
EVAL = """\
evalcases:
  - id: fix
    input: Fix it
    target: worker
    conversation_id: first
    rubrics:
      - {id: tests, command: python test_app.py}
      - {id: safe, never_called: [Write, Edit]}
  - id: talk
    turns:
      - {input: Hello, expected_outcome: Greets}
    rubrics: [Is kind]
  - {id: code, input: Go, target: coder, rubrics: [Is right]}
"""
FILES = {
    "rubric-ci.yaml": CONFIG,
    "evals/a.eval.yaml": EVAL,
    "task/app/main.py": "x = 1\n",
    "task/test_app.py": "assert True\n",
    "other/test_app.py": "assert True\n",
    "task/prepare.py": "print(1)\n",
    "agent.py": "print(1)\n",
}
YAML, EVALS = "rubric-ci.yaml", "evals/a.eval.yaml"
TABLE: dict[str, tuple[str, str, str, str]] = {
    "model": (YAML, "openai/b", "openai/z", ""),
    "parameter": (YAML, "temperature: 0", "temperature: 1", ""),
    "model of the measure": (
        YAML, "openai/c", "openai/z",
        "changed target targets.other.model: openai/c → openai/z",
    ),
    "model to command": (
        YAML, "{name: default, model: openai/b, temperature: 0}",
        '{name: default, provider: cli, command_template: "echo GOOD"}',
        "changed target targets.default: model openai/b → command echo GOOD",
    ),
    "command that depends on less": (
        YAML, "    depends_on: [task/app/**]\n", "    depends_on: []\n",
        "weaker depends-on targets.worker.depends_on: task/app/** → ",
    ),
    "file that an agent without `depends_on` gets": (
        "other/test_app.py", "True", "1",
        "changed script other/test_app.py: as at the base → edited",
    ),
    "command": (
        YAML, "agent.py {P", "cheat.py {P",
        ("changed target targets.worker.command_template: python agent.py {PROMPT_FILE} → python "
         "cheat.py {PROMPT_FILE}"),
    ),
    "setup": (
        YAML, "setup: python prepare.py", "setup: echo solved",
        "changed target targets.worker.workspace.setup: python prepare.py → echo solved",
    ),
    "copy": (
        YAML, "copy: task,", "copy: task/app,",
        "changed target targets.worker.workspace.copy: task → task/app",
    ),
    "body": (
        YAML, "{q: '{{ input }}'}", "{q: 'GOOD'}",
        'changed target targets.service.body: {"q": "{{ input }}"} → {"q": "GOOD"}',
    ),
    "compare": (
        YAML, "compare: [default, other]", "compare: [default, other, service]",
        "changed configuration compare: default, other → default, other, service",
    ),
    "test file of a command": (
        "task/test_app.py", "True", "1",
        "changed script task/test_app.py: as at the base → edited",
    ),
    "file of a set-up": (
        "task/prepare.py", "1", "2",
        "changed script task/prepare.py: as at the base → edited",
    ),
    "file under test": ("task/app/main.py", "1", "2", ""),
    "program under test": ("agent.py", "1", "2", ""),
    "conversation": (
        EVALS, "conversation_id: first", "conversation_id: second",
        "changed case fix: conversation_id: first → second",
    ),
    "expected_outcome of a turn": (
        EVALS, "expected_outcome: Greets", "expected_outcome: Answers",
        ("changed reference talk [default]: expected_outcome of turn 1: Greets → Answers\n"
         "changed reference talk [other]: expected_outcome of turn 1: Greets → Answers"),
    ),
    "workspace of a case": (
        EVALS, "    conversation_id", "    workspace: {setup: 'true'}\n    conversation_id",
        "changed case fix: workspace.setup:  → true",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return committed(tmp_path_factory.mktemp("project"), FILES)


@pytest.mark.parametrize(("file", "before", "after", "expected"), TABLE.values(), ids=TABLE)
def test_each_kind_of_change(
    checkout: Checkout, file: str, before: str, after: str, expected: str
) -> None:
    found = [
        f"{each.direction} {each.kind} {each.about}: {each.before} → {each.after}"
        for each in edited(checkout, FILES, file, before, after)
    ]
    assert "\n".join(found) == expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo(TargetFacts):
    """A kind that no table names."""

    name: str
    prefix: str = "Hi"
    depends_on: tuple[str, ...] | None = ()
    judge_target: str = ""

    @property
    def source(self) -> str:
        return f"echo: {self.prefix}"


HTTP = Endpoint(model="http/t", http=HttpRequest())
KINDS: dict[str, Any] = {  # what asks or has the answers, in words
    "model openai/a": LlmTarget(name="t", endpoint=Endpoint(model="openai/a")),
    "service http/t": ServiceTarget(name="t", endpoint=HTTP, depends_on=()),
    "command x": CliTarget(name="t", command_template="x"),
    "command y": RunnerTarget(name="t", command_template="y", reads="csv"),
    "": UnsupportedTarget(name="t", provider="p"),
    "recorded: a.jsonl": RecordedTarget(name="t", answers="a.jsonl"),
    "fixed: ": MockTarget(name="t"),
    "echo: Hi": Echo(name="t"),
}


def told(then: Any, now: Any) -> list[str]:
    base, head = (Config(targets={"t": each}) for each in (then, now))
    found = setting_changes(head, base, lambda _: ("c.yaml", 1))
    return [f"{c.direction} {c.kind} {c.about}: {c.before} → {c.after}" for c in found]


def test_each_kind_has_a_row() -> None:
    assert {type(each) for each in KINDS.values()} == {*get_args(Target), Echo}


@pytest.mark.parametrize(("then", "now"), [*permutations(KINDS, 2)])
def test_a_target_of_another_kind(then: str, now: str) -> None:
    was, has = (each.partition(": ")[1] and each.strip() for each in (then, now))
    direction = "changed" if was and has else "weaker" if has else "stronger"
    line = f"{direction} recording targets.t: {was or 'asked'} → {has or 'asked'}"
    other = [f"changed target targets.t: {then} → {now}"] if then and now else []
    assert told(KINDS[then], KINDS[now]) == ([line] if was or has else other)


def test_a_setting_of_answers_that_are_written_down() -> None:
    found = told(Echo(name="t"), Echo(name="t", prefix="Ho"))
    assert found == ["changed recording targets.t.prefix: Hi → Ho"]


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        ((), ("a",), "weaker"),
        (("a", "b"), ("a",), "weaker"),
        (("a",), ("b",), "weaker"),
        (("a",), ("a", "b"), "stronger"),
        (("a",), (), "stronger"),
    ],
)
def test_graders_of_a_runner(then: tuple[str, ...], now: tuple[str, ...], expected: str) -> None:
    before, after = (
        Config(targets={"t": RunnerTarget(name="t", command_template="x", reads="csv", graders=g)})
        for g in (then, now)
    )
    [change] = config_changes(after, before)
    assert (change.key, change.direction) == ("targets.t.graders", expected)


@pytest.mark.parametrize(
    ("then", "now", "directions"),
    [
        (("a",), ("a", "b"), ["changed"]),
        (("a", "b"), ("a",), ["weaker"]),
        (("a", "b"), ("b", "c"), ["weaker"]),
        (("a", "b"), ("b", "a"), []),
    ],
)
def test_compare(then: tuple[str, ...], now: tuple[str, ...], directions: list[str]) -> None:
    found = setting_changes(Config(compare=now), Config(compare=then), lambda _: ("c.yaml", 1))
    assert [change.direction for change in found] == directions
