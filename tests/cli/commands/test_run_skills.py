"""An Agent Skill with and without: what each target gets, the difference, and the gate."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.grading import targets
from rubric_ci.grading.targets import answer_cache
from rubric_ci.grading.tasks import with_files_seen
from rubric_ci.values.context import Side
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.rubric import Check, Rubric
from rubric_ci.values.targets import CliTarget, Endpoint, LlmTarget
from rubric_ci.values.workspace_settings import Skill, Workspace
from tests import platforms
from tests.cases import build_case, build_context, span
from tests.checkout import Checkout
from tests.cli.commands.test_run_against import report, run
from tests.invoke import invoke

pytestmark = platforms.SHELL

AGENT = """\
test -e skills/refunds/SKILL.md && echo "Until 1 April." || echo "I do not know."
echo $(find . -type f | LC_ALL=C sort)
"""
CONFIG = """\
compare: [with-skill, without-skill]
targets:
  - name: with-skill
    provider: cli
    command_template: sh agent.sh
    workspace: {copy: shop}
    skill: skills/refunds
  - name: without-skill
    provider: cli
    command_template: sh agent.sh
    workspace: {copy: shop}
gate: {targets: [with-skill], better_than: without-skill}
"""
REFUNDED = "skills/refunds"
SKILL = "---\nname: refunds\ndescription: Answers on refunds\n---\nName 1 April.\n"


def suite(cases: int) -> str:
    listed = "".join(f"  - {{id: c{n}, input: May I return it?}}\n" for n in range(cases))
    return f"rubrics: [{{contains: 1 April}}]\nevalcases:\n{listed}"


FILES = {
    "rubric-ci.yaml": CONFIG,
    "evals/a.eval.yaml": suite(6),
    "shop/agent.sh": AGENT,
    "skills/refunds/SKILL.md": SKILL,
    "skills/refunds/prices.md": "Free.\n",
    "skills/refunds/evals/evals.json": json.dumps({"skill_name": "refunds", "evals": []}),
    ".gitignore": ".rubric-ci/\n",
}
BETTER = "with-skill: mean score +1.000 against without-skill (6 cases): better"


def test_a_skill_that_helps(checkout: Checkout) -> None:
    checkout.commit(FILES)
    assert "unused-setting" not in invoke(checkout.root, {}, "validate").stdout
    done = run(checkout, "--reports", "json,markdown,html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert BETTER in " ".join(done.stdout.split())
    summary = (checkout.root / ".rubric-ci/summary.md").read_text()
    title = f"2 targets side by side · {BETTER}"
    assert f"\n**{title}**\n" in summary
    assert f"<summary>{title}</summary>" in (checkout.root / ".rubric-ci/report.html").read_text()
    found = report(checkout)
    assert found["gate"]["difference"] == {
        "target": "with-skill",
        "than": "without-skill",
        "cases": 6,
        "mean": 1.0,
        "p_value": 0.03125,
        "significant": True,
        "possible": True,
    }
    answers = {case["id"]: case["answer"].splitlines()[1] for case in found["cases"]}
    assert answers["c0 [without-skill]"] == "./agent.sh"
    given = "./agent.sh ./skills/refunds/SKILL.md ./skills/refunds/prices.md"
    assert answers["c0 [with-skill]"] == given


@pytest.mark.parametrize(
    ("cases", "demanded", "heading"),
    [
        (
            5,
            "without-skill",
            "Gate fails: with-skill is not significantly better than without-skill",
        ),
        (6, "with-skill", "Gate fails: without-skill is not significantly better than with-skill"),
    ],
    ids=["too few cases", "it does not help"],
)
def test_a_skill_of_no_effect(cases: int, demanded: str, heading: str, checkout: Checkout) -> None:
    gate = CONFIG.replace("better_than: without-skill", f"better_than: {demanded}")
    checkout.commit({**FILES, "rubric-ci.yaml": gate, "evals/a.eval.yaml": suite(cases)})
    done = run(checkout)
    assert (done.returncode, heading in done.stdout) == (1, True), done.stdout


def test_a_part_of_the_suite_that_cannot_show_it_is_undecided(checkout: Checkout) -> None:
    checkout.commit(FILES)
    done = run(checkout, "--case", "c[0-4]*")
    assert done.returncode == 3, done.stdout
    assert "Gate undecided: 5 cases cannot show a difference from without-skill" in done.stdout
    assert report(checkout)["gate"]["difference"]["possible"] is False


def test_the_gate_names_a_target_that_is_compared(checkout: Checkout) -> None:
    gate = CONFIG.replace("better_than: without-skill", "better_than: other")
    checkout.commit({**FILES, "rubric-ci.yaml": gate})
    done = run(checkout)
    assert done.returncode == 2
    assert "`gate.better_than` is `other`, and none of them answers" in done.stderr


def test_a_skill_that_is_missing(checkout: Checkout) -> None:
    checkout.commit({**FILES, "rubric-ci.yaml": CONFIG.replace("skills/refunds", "skills/returns")})
    done = invoke(checkout.root, {}, "validate")
    assert done.returncode == 1
    assert "rubric-ci.yaml:7:12: file-missing: `skills/returns/SKILL.md`: " in done.stdout


def test_files_that_name_a_target_are_not_compared(checkout: Checkout) -> None:
    named = f"execution: {{target: with-skill}}\n{suite(1)}"
    checkout.commit({**FILES, "evals/a.eval.yaml": named})
    done = run(checkout)
    assert [case["id"] for case in report(checkout)["cases"]] == ["c0"]
    assert done.returncode == 3
    assert "Gate undecided: no case was graded for both without-skill and another" in done.stdout
    assert report(checkout)["gate"]["holds"] is False


def test_a_change_of_the_skill_selects_its_cases(checkout: Checkout) -> None:
    depends = CONFIG.replace("    workspace:", "    depends_on: [shop/**]\n    workspace:")
    checkout.commit({**FILES, "rubric-ci.yaml": depends})
    checkout.commit({"skills/refunds/prices.md": "5 EUR.\n"})
    run(checkout, "--changed-since", "HEAD~1")
    chosen = {case["target"] for case in report(checkout)["cases"]}
    assert chosen == {"with-skill"}


@pytest.mark.parametrize(
    ("file", "shop", "reason"),
    [
        (f"{REFUNDED}/SKILL.md", "shop", f"the case gives it `{REFUNDED}/SKILL.md` of the skill"),
        ("shop/agent.sh", ".", f"its workspace `.` holds the skill `{REFUNDED}`"),
        (
            "shop/agent.sh",
            f"{REFUNDED}/scripts",
            f"its workspace `{REFUNDED}/scripts` is a part of the skill `{REFUNDED}`",
        ),
    ],
)
def test_a_target_that_has_the_skill(file: str, shop: str, reason: str, checkout: Checkout) -> None:
    check = {"type": "contains", "value": "1 April", "text": "Names it"}
    case = {"id": "a", "prompt": "May I?", "files": [file], "assertions": [check]}
    listed = json.dumps({"skill_name": "refunds", "evals": [case]})
    last = "    workspace: {copy: %s}\ngate"
    config = CONFIG.replace(last % "shop", last % shop)
    checkout.commit({**FILES, "rubric-ci.yaml": config, f"{REFUNDED}/evals/evals.json": listed})
    run(checkout, f"{REFUNDED}/evals/evals.json")
    found = {case["id"]: case for case in report(checkout)["cases"]}
    assert found["a [with-skill]"]["outcome"] == "graded"
    said = f"target without-skill is not started: {reason} that it is to lack; "
    assert found["a [without-skill]"]["reason"].startswith(said)


SEEN = [
    ("Writes a file report.csv", "agent", ("answer", "file_changes")),
    ("The folder out has three files", "agent", ("answer", "file_changes")),
    ("Names the refund policy, e.g. 30 days", "agent", ("answer",)),
    ("Writes a file report.csv", "model", ("answer",)),
]


@pytest.mark.parametrize(("criterion", "kind", "seen"), SEEN)
def test_the_judge_of_an_evals_json_sees_files_that_it_is_asked_about(
    criterion: str, kind: str, seen: tuple[str, ...]
) -> None:
    rubric = Rubric((Check(id="a", text=criterion, span=span()),))
    spec = RubricSpec(name="rubric", rubric=rubric, span=span())
    work = CliTarget(name="c", command_template="x", workspace=Workspace())
    model = LlmTarget(name="m", endpoint=Endpoint(model="openai/m"))
    target = work if kind == "agent" else model
    for file, expected in (("skills/a/evals/evals.json", seen), ("a.eval.yaml", ("answer",))):
        case = with_files_seen(build_case(file=file, evaluators=(spec,)), target)
        assert [each.sees for each in case.evaluators if isinstance(each, RubricSpec)] == [expected]


# What a target gets

REFUNDS = Skill(path="skills/refunds", text=SKILL)


def test_a_model_gets_the_text_of_the_skill(tmp_path: Path) -> None:
    heard: list[list[str]] = []

    async def ask(call: ModelCall) -> ModelReply:
        heard.append([f"{m.role}: {m.content}" for m in call.messages])
        return ModelReply(text="ok")

    model: Any = {"name": "m", "endpoint": Endpoint(model="openai/m")}
    case, context = build_case(), build_context(tmp_path, call_model=ask)
    for target in (LlmTarget(**model, skill=REFUNDS), LlmTarget(**model)):
        asyncio.run(targets.answer(case, target, context))
    told = f"system: Follow this skill where it applies.\n\n{SKILL}"
    assert heard == [[told, "user: Say hello"], ["user: Say hello"]]


def test_a_command_gets_the_skill_as_a_guideline(tmp_path: Path) -> None:
    target = CliTarget(name="c", command_template="printf %s {GUIDELINES}", skill=REFUNDS)
    given = asyncio.run(targets.answer(build_case(), target, build_context(tmp_path)))
    assert given.text.startswith("Follow this skill where it applies.\n\n---\nname: refunds")


def test_a_skill_is_part_of_the_key_of_an_answer(tmp_path: Path) -> None:
    context = build_context(tmp_path, side=Side(dependencies=lambda *_: "files"))
    skills = (None, REFUNDS, Skill(path="skills/refunds", text="Other"))
    models = [LlmTarget(name="m", endpoint=Endpoint(model="openai/m"), skill=s) for s in skills]
    assert len({answer_cache.key_of(build_case(), model, context) for model in models}) == 3
    work = CliTarget(name="c", command_template="x", workspace=Workspace())
    works = [work, replace(work, skill=REFUNDS)]
    assert len({answer_cache.key_of(build_case(), work, context) for work in works}) == 2
