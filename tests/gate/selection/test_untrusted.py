"""Why a case of a stranger's commit is not graded."""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from rubric_ci.gate.selection.dependencies import ChangedPaths
from rubric_ci.gate.selection.proposed_cases import TrustedWork, within_caps
from rubric_ci.values.agent_program import AgentProgram, HealthCheck
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
)
from rubric_ci.values.messages import Message, SimulatedUser, TextPart
from rubric_ci.values.scope import UntrustedCaps
from rubric_ci.values.targets import (
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RunnerTarget,
    Target,
)
from rubric_ci.values.workspace_settings import Hook, Hooks, Skill, Workspace

SPAN = Span(1, 1, 1, 2)
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


@pytest.mark.parametrize(("now", "target"), GRADABLE.values(), ids=GRADABLE)
def test_gradable(now: EvalCase, target: Target) -> None:
    assert TrustedWork([BASE], ChangedPaths([])).why_not(now, BASE, target) == ""


RESET = Hook(command=("sh", "reset.sh"), cwd="evals", timeout_seconds=60)
HOOKED = Workspace(hooks=Hooks(before_each=RESET))
PREPARED = replace(BASE, workspace=HOOKED, evaluators=())
SHOP = Workspace(copy="shop", setup="sh ../make.sh")
OTHER = replace(SCRIPT, script=("sh", "b.sh"))
PROGRAM = CliTarget(name="p", command_template="python x.py")
CHECK = HealthCheck(type="command", command_template="sh check.sh", cwd="app")
PRINTED = LlmJudgeSpec(name="j", prompt_script=OTHER, span=SPAN)
EVE = SimulatedUser(persona="p", goal="g", model="openai/eve")


class Refused(NamedTuple):
    reason: str
    now: EvalCase = case()
    target: Target = MODEL
    paths: tuple[str, ...] = ()


REFUSED = {
    "a new text for an agent": Refused(
        "target `a` starts a program, which gets no text of the change", case(asked="Ho"), AGENT
    ),
    "a skill of an agent": Refused(
        "target `a` starts a program, and `skills/s/run.sh` changed",
        target=replace(AGENT, skill=Skill(path="skills/s", text="x")),
        paths=("skills/s/run.sh",),
    ),
    "a workspace of an agent": Refused(
        "target `a` starts a program, and `app/x.py` changed",
        target=replace(AGENT, workspace=Workspace(copy="app")),
        paths=("app/x.py",),
    ),
    "a workspace that is the repository": Refused(
        "target `a` starts a program, and `x.py` changed",
        target=replace(AGENT, workspace=Workspace(copy=".")),
        paths=("x.py",),
    ),
    "a program that depends on every file": Refused(
        "target `p` starts a program, and `y.py` changed, and target `p` depends on every file",
        target=PROGRAM,
        paths=("y.py",),
    ),
    "a program of a health check": Refused(
        "target `p` starts a program, and `app/check.sh` changed",
        target=replace(PROGRAM, healthcheck=CHECK, depends_on=("x.py",)),
        paths=("app/check.sh",),
    ),
    "another tool": Refused(
        "target `r` starts another tool, which reads its own files",
        target=RunnerTarget(name="r", command_template="x", reads="junit"),
    ),
    "a script in a composite": Refused(
        "the script of `s` is not one of the checkout", case(composite(OTHER))
    ),
    "a script that prints the prompt of a judge": Refused(
        "the script of `s` is not one of the checkout", case(PRINTED)
    ),
    "a file for a script": Refused(
        "the script of `s` gets the answer as a file, which it may run",
        case(FILE_SCRIPT, asked="Ho"),
    ),
    "a workspace, which is prepared for the answer of a model as well": Refused(
        "its `workspace` is not one of the checkout",
        replace(case(), workspace=Workspace(copy="shop", setup="touch pwned")),
    ),
    "a workspace whose folder is edited": Refused(
        "`shop/a.txt` changed, on which its `workspace` depends",
        replace(case(), workspace=SHOP),
        paths=("shop/a.txt",),
    ),
    "a workspace whose hook is edited": Refused(
        "`evals/reset.sh` changed, on which its `workspace` depends",
        replace(case(), workspace=HOOKED),
        paths=("evals/reset.sh",),
    ),
    "a workspace whose set-up is edited": Refused(
        "`make.sh` changed, on which its `workspace` depends",
        replace(case(), workspace=SHOP),
        paths=("make.sh",),
    ),
    "a model that plays the user": Refused(
        "its simulated user is `openai/eve`, which the checkout does not ask", case(user=EVE)
    ),
}


@pytest.mark.parametrize(("reason", "now", "target", "paths"), REFUSED.values(), ids=REFUSED)
def test_refused(reason: str, now: EvalCase, target: Target, paths: tuple[str, ...]) -> None:
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
def test_hooks_get_no_new_text(was: EvalCase | None, now: dict[str, Any], gradable: bool) -> None:
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
