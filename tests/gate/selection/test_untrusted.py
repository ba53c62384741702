"""Why a case of a stranger's commit is not graded."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.selection.dependencies import ChangedPaths
from rubric_ci.gate.selection.proposed_cases import TrustedWork, within_caps
from rubric_ci.values.agent_program import AgentProgram, HealthCheck
from rubric_ci.values.config import CliTarget, Endpoint, LlmTarget, MockTarget, RunnerTarget, Target
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
)
from rubric_ci.values.messages import Message, SimulatedUser, TextPart
from rubric_ci.values.prompt_and_skill import Skill
from rubric_ci.values.scope import UntrustedCaps
from rubric_ci.values.workspace_settings import Hook, Hooks, Workspace

SPAN = Span(line=1, column=1, end_line=1, end_column=2)
MODEL = LlmTarget(name="m", endpoint=Endpoint(model="openai/m"))
AGENT = CliTarget(name="a", agent=AgentProgram(name="codex"), depends_on=())
SCRIPT = CodeJudgeSpec(name="s", script=("sh", "a.sh"), cwd=".", span=SPAN)
FILE_SCRIPT = replace(SCRIPT, script=("sh", "a.sh", "{code_file}"))


def case(*specs: EvaluatorSpec, asked: str = "Hi", user: SimulatedUser | None = None) -> EvalCase:
    return EvalCase(
        id="c",
        file="e.yaml",
        span=SPAN,
        input_messages=(Message(role="user", parts=(TextPart(asked),)),),
        simulated_user=user,
        evaluators=specs,
    )


def composite(aggregator: LlmJudgeSpec | CodeJudgeSpec) -> CompositeSpec:
    return CompositeSpec(name="all", evaluators=(), aggregator=aggregator, span=SPAN)


GRADABLE: dict[str, tuple[EvalCase, Target]] = {
    "a new text for a model": (case(asked="Ho"), MODEL),
    "a fixed answer": (case(asked="Ho"), MockTarget(name="f", response="x")),
    "a script of the checkout": (case(SCRIPT, asked="Ho"), MODEL),
    "a file for a script, of the question of the checkout": (case(FILE_SCRIPT), MODEL),
    "an agent that gets what the checkout has": (case(), AGENT),
}
BASE = case(SCRIPT, FILE_SCRIPT)


@pytest.mark.parametrize(("now", "target"), GRADABLE.values(), ids=GRADABLE.keys())
def test_gradable(now: EvalCase, target: Target) -> None:
    assert TrustedWork([BASE], ChangedPaths([])).why_not(now, BASE, target) == ""


RESET = Hook(command=("sh", "reset.sh"), cwd="evals", timeout_seconds=60)
HOOKED = Workspace(hooks=Hooks(before_each=RESET))
PREPARED = replace(BASE, workspace=HOOKED, evaluators=())
SHOP = Workspace(copy="shop", setup="sh ../make.sh")
OTHER = replace(SCRIPT, script=("sh", "b.sh"))
REFUSED: dict[str, tuple[EvalCase, Target, list[str], str]] = {
    "a new text for an agent": (
        case(asked="Ho"),
        AGENT,
        [],
        "target `a` starts a program, which gets no text of the change",
    ),
    "a skill of an agent": (
        case(),
        replace(AGENT, skill=Skill(path="skills/s", text="x")),
        ["skills/s/run.sh"],
        "target `a` starts a program, and `skills/s/run.sh` changed",
    ),
    "a workspace of an agent": (
        case(),
        replace(AGENT, workspace=Workspace(copy="app")),
        ["app/x.py"],
        "target `a` starts a program, and `app/x.py` changed",
    ),
    "a workspace that is the repository": (
        case(),
        replace(AGENT, workspace=Workspace(copy=".")),
        ["x.py"],
        "target `a` starts a program, and `x.py` changed",
    ),
    "a program that depends on every file": (
        case(),
        CliTarget(name="p", command_template="python x.py"),
        ["y.py"],
        "target `p` starts a program, and `y.py` changed, and target `p` depends on every file",
    ),
    "a program of a health check": (
        case(),
        CliTarget(
            name="p",
            command_template="python x.py",
            healthcheck=HealthCheck(type="command", command_template="sh check.sh", cwd="app"),
            depends_on=("x.py",),
        ),
        ["app/check.sh"],
        "target `p` starts a program, and `app/check.sh` changed",
    ),
    "another tool": (
        case(),
        RunnerTarget(name="r", command_template="x", reads="junit"),
        [],
        "target `r` starts another tool, which reads its own files",
    ),
    "a script in a composite": (
        case(composite(OTHER)),
        MODEL,
        [],
        "the script of `s` is not one of the checkout",
    ),
    "a script that prints the prompt of a judge": (
        case(LlmJudgeSpec(name="j", prompt_script=OTHER, span=SPAN)),
        MODEL,
        [],
        "the script of `s` is not one of the checkout",
    ),
    "a file for a script": (
        case(FILE_SCRIPT, asked="Ho"),
        MODEL,
        [],
        "the script of `s` gets the answer as a file, which it may run",
    ),
    "a workspace, which is prepared for the answer of a model as well": (
        replace(case(), workspace=Workspace(copy="shop", setup="touch pwned")),
        MODEL,
        [],
        "its `workspace` is not one of the checkout",
    ),
    "a workspace whose folder is edited": (
        replace(case(), workspace=SHOP),
        MODEL,
        ["shop/a.txt"],
        "`shop/a.txt` changed, on which its `workspace` depends",
    ),
    "a workspace whose hook is edited": (
        replace(case(), workspace=HOOKED),
        MODEL,
        ["evals/reset.sh"],
        "`evals/reset.sh` changed, on which its `workspace` depends",
    ),
    "a workspace whose set-up is edited": (
        replace(case(), workspace=SHOP),
        MODEL,
        ["make.sh"],
        "`make.sh` changed, on which its `workspace` depends",
    ),
    "a model that plays the user": (
        case(user=SimulatedUser(persona="p", goal="g", model="openai/eve")),
        MODEL,
        [],
        "its simulated user is `openai/eve`, which the checkout does not ask",
    ),
}


@pytest.mark.parametrize(("now", "target", "paths", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(now: EvalCase, target: Target, paths: list[str], reason: str) -> None:
    known = [BASE, *(replace(BASE, id="works", workspace=each) for each in (SHOP, HOOKED))]
    assert TrustedWork(known, ChangedPaths(paths)).why_not(now, BASE, target) == reason


def test_a_new_case_of_an_agent_is_refused() -> None:
    why = TrustedWork([], ChangedPaths([])).why_not(case(), None, AGENT)
    assert why == "target `a` starts a program, which gets no text of the change"


@pytest.mark.parametrize(
    ("was", "now", "gradable"),
    [
        (PREPARED, {}, True),
        (PREPARED, {"input_messages": case(asked="Ho").input_messages}, False),
        (PREPARED, {"metadata": {"id": "$(sh)"}}, False),
        (None, {"id": "$(sh)"}, False),
        (None, {"workspace": SHOP}, True),
    ],
    ids=["the same", "another question", "other metadata", "a new case", "without hooks"],
)
def test_hooks_get_no_text_of_the_change(
    was: EvalCase | None, now: dict[str, Any], gradable: bool
) -> None:
    known = [PREPARED, replace(PREPARED, id="works", workspace=SHOP)]
    why = TrustedWork(known, ChangedPaths([])).why_not(replace(PREPARED, **now), was, MODEL)
    refused = "its `workspace` has `hooks`, programs which get no text of the change"
    assert why == ("" if gradable else refused)


def test_a_long_prompt_counts_for_each_case() -> None:
    cases = [replace(case(), id=name) for name in "ab"]
    caps = UntrustedCaps(max_characters=3_000)
    found = within_caps(cases, lambda _: "x" * 2_000, caps)
    reason = "more than 3,000 characters (`untrusted.max_characters`)"
    assert found == {("e.yaml", "b"): reason}
