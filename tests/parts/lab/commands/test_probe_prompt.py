"""`rubric-ci probe --prompt`: rules that a case depends on are noticed, the others survive."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from benchmarks.against.simulate import case

from rubric_ci.grading.resolve import Task
from rubric_ci.parts.lab.commands import probe_prompt
from rubric_ci.parts.lab.probe.prompt_mutants import Tally
from rubric_ci.values.config import Endpoint, LlmTarget
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

PROMPT = """\
You work in a shop.

- Always greet.
- Never use slang.
"""
CONFIG = """\
judge: {{model: openai/judge, api_base: "{url}", api_key: none}}
targets:
  - {{name: default, model: openai/a, prompt: help.md, api_base: "{url}", api_key: none}}
"""
AGAIN = ", 0 of 13 with the prompt itself"
CASES = "".join(f"  - {{id: c{n}, input: Hi {n}, rubrics: [Greets]}}\n" for n in range(2))


def greets(texts: list[str]) -> str:
    return "hello" if "Always greet" in texts[0] else "bye"


@pytest.fixture
def judge(checkout: Checkout) -> Iterator[AnswerJudge]:
    with judging() as running:
        running.targets = {"a": greets}
        checkout.commit(
            {
                "evals/a.yaml": f"evalcases:\n{CASES}",
                "help.md": PROMPT,
                ".gitignore": ".rubric-ci/\n",
                "rubric-ci.yaml": CONFIG.format(url=running.url),
            }
        )
        yield running


def probe(checkout: Checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    return invoke(checkout.root, ENVIRONMENT, "probe", "--prompt", *arguments)


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the messages without those about the literal keys."""
    return [line for line in done.stderr.splitlines() if "literal-secret" not in line]


def written(checkout: Checkout) -> list[dict[str, Any]]:
    data = json.loads((checkout.root / ".rubric-ci/probe-prompt.json").read_text())
    return list(data["mutants"])


def test_noticed_and_surviving_mutants_and_a_second_probe_is_free(
    checkout: Checkout, judge: AnswerJudge
) -> None:
    done = probe(checkout)
    assert sorted(done.stdout.splitlines()[:-1]) == [
        "help.md:3: deleted: “Always greet.”: noticed: c0: 3 of 3 answers failed" + AGAIN,
        "help.md:3: inverted: “Never greet.”: noticed: c0: 3 of 3 answers failed" + AGAIN,
        "help.md:3: weakened: “Sometimes greet.”: noticed: c0: 3 of 3 answers failed" + AGAIN,
        "help.md:4: deleted: “Never use slang.”: survived 2 cases",
        "help.md:4: inverted: “Always use slang.”: survived 2 cases",
        "help.md:4: weakened: “Rarely use slang.”: survived 2 cases",
    ], done.stderr
    assert done.stdout.splitlines()[-1] == (
        "3 of 6 mutants noticed (0.19 to 0.81). A mutant that changes nothing counts as noticed "
        "with a probability of at most 0.05; one that fails half of the answers to a case survives "
        "with at most 0.1."
    )
    assert done.returncode == 0
    assert len(judge.asked) == 2 * (4 + 3 * 3 + 3 * 4) + 13
    assert said(done)[:3] == [
        "6 mutants of 1 prompt; if none is noticed, 4 answers of each case, at most 20; for 4:",
        "target default: 56 requests to openai/a, cost unknown before the answers",
        "about 56 requests to openai/judge, 39,032 + 4,480 tokens, price unknown",
    ]
    survivors = [(each["line"], each["kind"]) for each in written(checkout)[-6:]
                 if each["outcome"] == "survived"]  # fmt: skip
    assert sorted(survivors) == [(4, "deleted"), (4, "inverted"), (4, "weakened")]

    asked = len(judge.asked), len(judge.answers)
    second = probe(checkout)
    assert (second.stdout, len(judge.asked), len(judge.answers)) == (done.stdout, *asked)


def test_only_rules_that_a_change_touches(checkout: Checkout, judge: AnswerJudge) -> None:
    (checkout.root / "help.md").write_text(PROMPT.replace("slang", "emojis"))
    probe(checkout, "--changed-since", "HEAD")
    assert {each["rule"] for each in written(checkout)} == {"Never use emojis."}
    (checkout.root / "help.md").write_text(PROMPT.replace("shop", "bank"))
    done = probe(checkout, "--changed-since", "HEAD")
    assert (done.returncode, done.stdout) == (
        0,
        "no rule of a prompt has changed; nothing to probe\n",
    )


def test_a_cap_of_mutants_is_named(checkout: Checkout, judge: AnswerJudge) -> None:
    done = probe(checkout, "--variants", "2")
    assert said(done)[0] == "help.md: 2 of 6 mutants; --variants takes more"
    assert [each["kind"] for each in written(checkout)] == ["deleted", "deleted"]


def test_a_case_that_fails_already_is_left_out(checkout: Checkout, judge: AnswerJudge) -> None:
    judge.targets = {"a": lambda texts: "bye" if texts[-1] == "Hi 1" else greets(texts)}
    done = probe(checkout, "--variants", "1")
    assert "left out: c1: 3 of 3 answers failed with help.md itself\n" in done.stderr
    assert {each["case"] for each in written(checkout)[0]["cases"]} == {"c0"}


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [(("--max-calls", "20"), greets), ((), lambda _: "bye")],
    ids=["cap", "no case passes"],
)
def test_no_verdict(
    checkout: Checkout,
    judge: AnswerJudge,
    arguments: tuple[str, ...],
    answer: Callable[[list[str]], str],
) -> None:
    judge.targets = {"a": answer}
    assert probe(checkout, *arguments).returncode == 3


def test_survivors_are_annotations(checkout: Checkout, judge: AnswerJudge) -> None:
    environment = {**ENVIRONMENT, "GITHUB_ACTIONS": "true"}
    done = invoke(checkout.root, environment, "probe", "--prompt", "--policy-from", "head")
    warnings = [line for line in done.stdout.splitlines() if line.startswith("::warning")]
    assert min(warnings) == (
        "::warning file=help.md,line=4,title=survived::no case fails if this rule is deleted: "
        "“Never use slang.”"
    ), done.stderr
    assert len(warnings) == 3


def test_without_a_prompt_file(checkout: Checkout, judge: AnswerJudge) -> None:
    config = CONFIG.format(url=judge.url).replace("prompt: help.md, ", "")
    (checkout.root / "rubric-ci.yaml").write_text(config)
    done = probe(checkout)
    assert (done.returncode, said(done)) == (
        2,
        [
            (
                "rubric-ci: no target of these cases has a `prompt` file with a rule that can be "
                "changed"
            ),
            "  a rule is a list item or a sentence such as `Never promise a refund.`",
        ],
    )
    assert probe(checkout, "--aa", "1").returncode == 2


def test_a_case_that_fails_with_the_prompt_itself_does_not_notice(
    checkout: Checkout, judge: AnswerJudge
) -> None:
    """It passed by chance when the prompt itself was tried first."""
    answered: Counter[str] = Counter()

    def worn(texts: list[str]) -> str:
        answered[texts[-1]] += 1
        return "bye" if texts[-1] == "Hi 1" and answered["Hi 1"] > 4 else "hello"

    judge.targets = {"a": worn}
    done = probe(checkout, "--variants", "1")
    assert done.stdout.splitlines()[0] == (
        "help.md:3: deleted: “Always greet.”: undecided: c1: 3 of 3 answers failed, 13 of 13 with "
        "the prompt itself"
    ), done.stderr
    cases = {each["case"]: each for each in written(checkout)[0]["cases"]}
    assert cases["c0"]["passed"] == 4
    assert cases["c1"]["itself"] == {"failed": 13, "passed": 0, "reason": ""}


def tried(*tallies: Tally, temperature: float = 1.0) -> list[probe_prompt._Tried]:
    endpoint = Endpoint(model="openai/any", options={"temperature": temperature})
    tasks = [Task(case=case(0), target=LlmTarget(name="default", endpoint=endpoint))]
    return [
        probe_prompt._Tried(path="p", mutant=None, tasks=tasks, tallies={("a", "b"): each})
        for each in tallies
    ]


def test_undecided_mutants_are_in_the_share_that_is_printed() -> None:
    tallies = [Tally(failed=20), Tally(passed=20), Tally(failed=2, passed=5), Tally(reason="429")]
    summary = probe_prompt._summary(tried(*tallies))
    assert summary.startswith("1 of 4 mutants noticed, 2 undecided (0.05 to 0.95). A mutant ")


def test_answers_that_repeat_have_no_bound() -> None:
    assert probe_prompt._summary(tried(Tally(failed=20), temperature=0)) == (
        "1 of 1 mutant noticed (0.21 to 1.00). default may repeat an answer (temperature 0 or a "
        "seed): how often a mutant that changes nothing counts as noticed is not known."
    )
