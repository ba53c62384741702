"""`run --against` with the answers of the default branch in the cache: kept trials of the base."""

from collections.abc import Iterator

import pytest

from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

CONFIG = """\
judge: {{model: openai/judge, api_base: "{url}", api_key: none}}
targets:
  - {{name: default, model: openai/a, prompt: help.md, api_base: "{url}", api_key: none}}
"""
CASES = "evalcases:\n  - {id: c0, input: Hi, rubrics: [Greets]}\n"


class World:
    """A model whose answers vary; since it moved, it greets nobody."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.moved = False

    def answer(self, texts: list[str]) -> str:
        side = "base" if "Always greet" in texts[0] else "head"
        self.asked.append(side)
        word = "hello" if side == "base" and not self.moved else "bye"
        return f"{word}, this is answer number {len(self.asked)} to your question"


@pytest.fixture
def world(checkout: Checkout) -> Iterator[tuple[World, AnswerJudge]]:
    found = World()
    with judging() as judge:
        judge.targets = {"a": found.answer}
        checkout.commit(
            {
                "evals/a.yaml": CASES,
                "help.md": "Always greet.\n",
                ".gitignore": ".rubric-ci/\n",
                "rubric-ci.yaml": CONFIG.format(url=judge.url),
            }
        )
        yield found, judge


def compared(checkout: Checkout) -> str:
    done = invoke(
        checkout.root, ENVIRONMENT, "run", "--against", "HEAD", "--fail-on", "regression",
        "--policy-from", "head",
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("moved", [False, True], ids=["the model of then", "a model that moved"])
def test_kept_answers_of_the_base_serve(
    checkout: Checkout, world: tuple[World, AnswerJudge], moved: bool
) -> None:
    model, _ = world
    first = invoke(checkout.root, ENVIRONMENT, "run", "--trials", "15")
    assert first.returncode == 0, first.stderr
    assert model.asked == ["base"] * 15
    model.asked.clear()
    model.moved = moved
    (checkout.root / "help.md").write_text("Be brief.\n")
    shown = compared(checkout)
    assert model.asked == ["head"] * 4 + ["base"] * 6  # of the base none but those of today
    assert ("Gate fails" in shown) is not moved
    assert ("1 broken" in shown) is not moved
