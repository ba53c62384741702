"""What `run --against` says before and after a run is what it sends."""

import re

import pytest

from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_against import report
from tests.invoke import invoke

CONFIG = """\
judge: {{model: openai/gpt-6-luna, api_base: "{url}", api_key: none}}
targets:
  - {{name: default, model: openai/{model}, api_base: "{url}", api_key: none}}
"""
CASES = 4


@pytest.mark.parametrize(
    ("answer", "shown"),
    [pytest.param("bye", "broken", id="all break"), pytest.param("hello", "unchanged", id="none")],
)
def test_every_request_is_counted(checkout: Checkout, answer: str, shown: str) -> None:
    with judging() as judge:
        judge.targets = {
            "gpt-6-sol": lambda texts: f"hello {texts[-1]} {len(judge.asked)}",
            "gpt-6.1-sol": lambda texts: f"{answer} {texts[-1]} {len(judge.asked)}",
        }
        change_model(checkout, judge)
        done = invoke(checkout.root, ENVIRONMENT, "run", "--against", "main", "--fail-on", "never")
        sent = len(judge.asked) + len(judge.seen)
    cases = report(checkout)["cases"]
    assert {case["change"] for case in cases} == {shown}, done.stderr
    assert report(checkout)["totals"]["calls"] == sent
    said = [
        int(number) for number in re.findall(r"(\d+) (?:more )?requests? (?:to|if) ", done.stderr)
    ]
    assert said[:3] == [CASES, CASES, 2 * CASES]
    further = sent - 4 * CASES
    assert further == 0 if shown == "unchanged" else 0 < further <= said[3]


@pytest.mark.parametrize(("cases", "most"), [(99, 99 * 24), (100, 100 * 26)])
def test_the_bound_has_new_answers_of_the_base(checkout: Checkout, cases: int, most: int) -> None:
    """All cases together are tested from 100 on, and a drop again with new answers of the base."""
    with judging() as judge:
        change_model(checkout, judge, cases)
        done = invoke(checkout.root, ENVIRONMENT, "run", "--against", "main", "--list")
    assert f" up to {most:,} more requests if every case is asked again, " in done.stdout


def change_model(checkout: Checkout, judge: AnswerJudge, cases: int = CASES) -> None:
    """Let the head ask another model."""
    lines = (f"  - {{id: c{n}, input: Greet {n}, rubrics: [Greets]}}\n" for n in range(cases))
    config = {
        name: CONFIG.format(url=judge.url, model=name) for name in ("gpt-6-sol", "gpt-6.1-sol")
    }
    evals = {"evals/a.yaml": "evalcases:\n" + "".join(lines), ".gitignore": ".rubric-ci/\n"}
    checkout.commit({**evals, "rubric-ci.yaml": config["gpt-6-sol"]})
    checkout.git("switch", "--quiet", "--create", "topic")
    checkout.commit({"rubric-ci.yaml": config["gpt-6.1-sol"]})


def test_the_first_night_says_that_it_asks_more_often(checkout: Checkout) -> None:
    with judging() as judge:
        judge.targets = {"gpt-6-sol": lambda _: "hello", "gpt-6.1-sol": lambda _: "hello"}
        change_model(checkout, judge)
        night = ("run", "--baseline", "reference", "--concurrency", "16", "--trials")
        lines = invoke(checkout.root, ENVIRONMENT, *night, "15").stderr.splitlines()
        later = invoke(checkout.root, ENVIRONMENT, *night, "3").stderr
    first = [line for line in lines if ": notice: " not in line]
    assert first[2].startswith("target default: 60 requests to openai/gpt-6.1-sol, ")
    assert first[3].startswith("about 80 requests to openai/gpt-6-luna, ")
    assert first[4].startswith("in all about 140 requests, about $")
    assert first[5].startswith("20 of these requests ask for marks again")
    assert first[6].startswith("every case is answered and judged 15 times, to become the base")
    assert "to become the baseline" not in later
