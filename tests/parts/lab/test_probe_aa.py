"""`rubric-ci probe --aa`: a steady target is never red, and one that breaks at times is."""

import re
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

CONFIG = """\
judge: {{model: openai/gpt-6-luna, api_base: "{url}", api_key: none}}
targets:
  - {{name: default, model: openai/gpt-6-sol, api_base: "{url}", api_key: none}}
"""
CASES = 4


@pytest.fixture
def judge(checkout: Checkout) -> Iterator[AnswerJudge]:
    with judging() as running:
        lines = (f"  - {{id: c{n}, input: Greet {n}, rubrics: [Greets]}}\n" for n in range(CASES))
        checkout.commit(
            {
                "evals/a.yaml": "evalcases:\n" + "".join(lines),
                ".gitignore": ".rubric-ci/\n",
                "rubric-ci.yaml": CONFIG.format(url=running.url),
            }
        )
        yield running


def aa(
    checkout: Checkout, judge: AnswerJudge, answer: Callable[[str], str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    judge.targets = {"gpt-6-sol": lambda texts: answer(texts[-1])}
    return invoke(checkout.root, ENVIRONMENT, "probe", *arguments)


def test_a_steady_target_is_never_red(checkout: Checkout, judge: AnswerJudge) -> None:
    done = aa(checkout, judge, lambda _: "hello", "--aa", "3")
    assert done.stdout == (
        "1: green\n2: green\n3: green\nthe gate was red 0 of 3 times without a change\n"
    ), done.stderr
    assert done.returncode == 0
    assert len(judge.asked) == 3 * 2 * CASES  # both sides answer by themselves
    assert len(judge.seen) == 3 * 2 * CASES  # and are judged by themselves
    assert "comparing HEAD with itself 3 times; requests of one time:" in done.stderr


def test_a_side_that_is_worse_by_chance_is_red(checkout: Checkout, judge: AnswerJudge) -> None:
    turns = {str(number): iter("HBHHBHBHBHBB") for number in range(CASES)}

    def answer(prompt: str) -> str:
        """Say goodbye as the head, which leads by two answers, each another one."""
        case = re.findall(r"Greet (\d)", prompt)[-1]
        word = "bye" if next(turns[case]) == "H" else "hello"
        return f"{word} {len(judge.asked)}"

    done = aa(checkout, judge, answer, "--aa", "1", "--concurrency", "1")
    assert done.stdout == (
        "1: red: c0, c1, c2, c3\n"
        "the gate was red 1 of 1 times without a change: c0 (1), c1 (1), c2 (1), c3 (1)\n"
    ), done.stderr
    assert done.returncode == 0


def test_a_changed_working_tree_is_no_noise(checkout: Checkout, judge: AnswerJudge) -> None:
    (checkout.root / "evals/a.yaml").write_text("evalcases: [{id: a, input: b, rubrics: [c]}]\n")
    done = aa(checkout, judge, lambda _: "hello", "--aa", "1")
    assert (done.returncode, done.stderr.partition("rubric-ci: ")[2]) == (
        2,
        (
            "the working tree differs from HEAD: evals/a.yaml\n"
            "  commit or stash the changes: a difference would not be noise\n"
        ),
    )
    assert judge.asked == []


def test_a_cap_leaves_no_verdict(checkout: Checkout, judge: AnswerJudge) -> None:
    assert aa(checkout, judge, lambda _: "hello", "--aa", "1", "--max-calls", "3").returncode == 3
