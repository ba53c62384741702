"""Where `run --against` gets the answers of the base from, for each kind of target."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.grading.engine import blanks
from rubric_ci.models.llm.cache_and_recording import Cache
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_against import (
    CONFIG,
    agent,
    asked,
    cases,
    changes,
    log,
    report,
    run,
)
from tests.forked_command import started
from tests.wait import wait_until

__all__ = ["log"]  # a fixture

MODEL = """\
judge: {{model: openai/judge, api_base: "{url}", api_key: none}}
targets: [{{name: default, model: openai/{name}, api_base: "{url}", api_key: none}}]
"""
PROMPTED = """\
evalcases:
  - id: one
    input_messages:
      - {role: system, content: [{type: file, value: prompts/system.md}]}
      - {role: user, content: Hi}
    rubrics: [Says hello]
"""
INLINE = PROMPTED.replace("[{type: file, value: prompts/system.md}]", "Be warm")
WARM = {"evals/prompts/system.md": "Be warm", "evals/a.yaml": PROMPTED}
BROKEN = ("broken", "")


@pytest.fixture
def judge() -> Iterator[AnswerJudge]:
    with judging() as server:
        server.targets = {
            "a": lambda texts: "hello from a" if "warm" in texts[0] else "bye from a",
            "b": lambda _: "bye from b",
        }
        yield server


@pytest.mark.parametrize(
    ("base", "head", "model", "prompts"),
    [
        pytest.param(
            WARM, {"evals/prompts/system.md": "Be brief"}, "a", ("Be warm", "Be brief"),
            id="a prompt file that changed",
        ),
        pytest.param(
            {"evals/a.yaml": INLINE}, {"evals/a.yaml": INLINE.replace("warm", "brief")}, "a",
            ("Be warm", "Be brief"), id="a system message that changed",
        ),
        pytest.param(
            WARM, {"evals/a.yaml": INLINE.replace("warm", "brief"), "evals/prompts/system.md": ""},
            "a", ("Be warm", "Be brief"), id="a prompt file that is gone",
        ),
        pytest.param(WARM, {}, "b", ("Be warm", "Be warm"), id="another model"),
    ],
)  # fmt: skip
def test_a_model_answers_with_the_prompts_of_the_base(
    checkout: Checkout,
    judge: AnswerJudge,
    base: dict[str, str],
    head: dict[str, str],
    model: str,
    prompts: tuple[str, str],
) -> None:
    first = {"rubric-ci.yaml": MODEL.format(url=judge.url, name="a"), ".gitignore": ".rubric-ci/"}
    checkout.commit(first | base)
    checkout.write({"rubric-ci.yaml": MODEL.format(url=judge.url, name=model)} | head)
    for path in [name for name, text in head.items() if not text]:
        (checkout.root / path).unlink()
    done = run(checkout, "evals", "--against", "HEAD")
    assert (done.returncode, changes(checkout)) == (1, {"one": BROKEN}), done.stderr
    then, now = ("a", prompts[0]), (model, prompts[1])
    messages = [f"Hi{blanks(number)}" for number in range(5)]
    for side in (then, now):
        assert [asked[-1] for asked in judge.asked if asked[:-1] == side] == messages
    assert len(judge.asked) == 10
    before = report(checkout)["cases"][0]["before"]
    shown = (before["answer"], before["source"], before["usage"]["calls"])
    assert shown == ("hello from a", "asked", 10)
    assert checkout.git("worktree", "list").count("\n") == 0


def test_the_judge_sees_one_side_only(checkout: Checkout, judge: AnswerJudge) -> None:
    checkout.commit(WARM | {"rubric-ci.yaml": MODEL.format(url=judge.url, name="a")})
    checkout.write({"evals/prompts/system.md": "Be brief"})
    run(checkout, "evals", "--against", "HEAD")
    sides = [("hello from a" in text, "bye from a" in text) for text in judge.seen]
    assert sorted(sides) == [(False, True)] * 5 + [(True, False)] * 5
    assert not any("It has the word" in text or "It lacks" in text for text in judge.seen)


RECORDED = "targets: [{name: default, provider: recorded, answers: %s}]\n"
HELLO = '{"id": "one", "answer": "hello"}\n'
BYE = '{"id": "one", "answer": "bye"}\n'


@pytest.mark.parametrize(
    "head",
    [
        pytest.param({"answers.jsonl": BYE}, id="edited"),
        pytest.param(
            {"rubric-ci.yaml": RECORDED % "b.jsonl", "b.jsonl": BYE, "answers.jsonl": ""},
            id="in another file, and the first one is gone",
        ),
        pytest.param(
            {"rubric-ci.yaml": "targets: [{name: default, provider: mock, response: bye}]\n"},
            id="not recorded any more",
        ),
    ],
)
def test_recorded_answers_are_those_of_the_base(checkout: Checkout, head: dict[str, str]) -> None:
    base = {"rubric-ci.yaml": RECORDED % "answers.jsonl", "answers.jsonl": HELLO}
    checkout.commit(base | {"evals/a.yaml": cases("one")})
    checkout.write(head)
    for path in [name for name, text in head.items() if not text]:
        (checkout.root / path).unlink()
    run(checkout, "evals", "--against", "HEAD")
    assert changes(checkout)["one"][0] == "broken"
    before = report(checkout)["cases"][0]["before"]
    assert (before["answer"], before["source"], before["verdict"]) == ("hello", "recorded", "pass")


MARKING = """\
import os
marked = [name for name in os.listdir() if name.startswith("marker-")]
print("bye" if marked else "hello", os.getcwd())
open("marker-{side}.txt", "w").close()
"""


def test_commands_of_both_sides_have_own_folders(checkout: Checkout, tmp_path: Path) -> None:
    """Neither side sees what the other writes, and no hook of the user runs."""
    checkout.commit(
        {
            "rubric-ci.yaml": CONFIG.replace("sh agent.sh", "python3 -S agent.py"),
            ".gitignore": ".rubric-ci/\n",
            "evals/a.yaml": cases("one"),
            "agent.py": MARKING.format(side="base"),
        }
    )
    hook = checkout.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    checkout.write({"agent.py": MARKING.format(side="head"), "notes.txt": "not committed"})
    run(checkout, "evals", "--against", "HEAD")
    case: dict[str, Any] = report(checkout)["cases"][0]
    assert case["change"] == "unchanged"
    here, there = case["answer"], case["before"]["answer"]
    assert here == f"hello {checkout.root}"
    assert there.startswith("hello ")
    assert "rubric-ci-base-" in there
    assert not Path(there.removeprefix("hello ")).exists()
    status = checkout.git("status", "--porcelain")
    assert status == "M agent.py\n?? marker-head.txt\n?? notes.txt"
    assert not (tmp_path / "hooked").exists()


def test_two_runs_at_once_share_a_cache(checkout: Checkout, log: Path, tmp_path: Path) -> None:
    """One of the two is killed; the other, and a third one, find whole answers."""
    names = [f"c{number}" for number in range(8)]
    answers, killed = dict.fromkeys(names, "hello"), tmp_path / "killed"
    last = f"while test $1 = c7 && ! test -e '{killed.as_posix()}'; do sleep 0.05; done\n"

    def waiting(side: str) -> dict[str, str]:
        return {name: last + text for name, text in agent(log, side, **answers).items()}

    base = {"rubric-ci.yaml": CONFIG, ".gitignore": "out*\n.rubric-ci/\n"}
    checkout.commit(base | {"evals/a.yaml": cases(*names)} | waiting("base"))
    checkout.write(waiting("head"))
    command = ("run", "evals", "--against", "HEAD", "--reuse", "answers", "--output-dir")
    both = [started(checkout.root, ENVIRONMENT, *command, f"out{number}") for number in range(2)]
    wait_until(lambda: any((checkout.root / ".rubric-ci/cache").rglob("*.json")))
    both[0].kill()
    both[0].communicate(timeout=120)
    killed.touch()
    both[1].communicate(timeout=120)
    assert (both[0].returncode == 0, both[1].returncode) == (False, 0)
    cache = Cache(checkout.root / ".rubric-ci/cache")
    stems = [path.stem for path in cache.folder.rglob("*.answer.json")]
    assert len(stems) == 2 * len(names)
    assert all(cache.get(stem) for stem in stems)
    asked(log)
    assert run(checkout, "evals", "--against", "HEAD", "--reuse", "answers").returncode == 0
    assert asked(log) == []
    assert set(changes(checkout).values()) == {("unchanged", "")}


def prompted(name: str, system: str = "[{type: file, value: prompts/system.md}]") -> str:
    case = PROMPTED.removeprefix("evalcases:\n").replace("id: one", f"id: {name}")
    case = case.replace("content: Hi", f"content: Hi {name}")
    return case.replace("[{type: file, value: prompts/system.md}]", system)


LISTED = """\
evals/a.yaml:2   one    default
evals/a.yaml:7   two    default
evals/a.yaml:12  three  default
3 cases
target default: {head}
base target default: {base}
{judge}
{all}about 1 more if nothing broke, up to 30 more requests if every case is asked again, \
cost unknown
"""
JUDGED = "about {} to openai/judge, {} + {} tokens, price unknown{}"


def test_the_list_counts_both_sides_less_the_caches(checkout: Checkout, judge: AnswerJudge) -> None:
    config = MODEL.format(url=judge.url, name="a")
    base = "evalcases:\n" + prompted("one", "Be warm") + prompted("two")
    checkout.commit(WARM | {"rubric-ci.yaml": config, "evals/a.yaml": base})
    head = base.replace("Be warm", "Be very warm") + prompted("three")
    checkout.write({"evals/a.yaml": head})

    def listed() -> str:
        done = run(checkout, "evals", "--against", "HEAD", "--list", "--reuse", "answers")
        assert done.returncode == 0
        return done.stdout

    asks = "{} to openai/a, cost unknown before the answers"
    none = "0 requests to openai/a, $0; {} in the cache"
    assert listed() == LISTED.format(
        head=asks.format("3 requests"),
        base=asks.format("1 request"),
        judge=JUDGED.format("4 requests", "2,821", "320", ""),
        all="in all about 8 requests, cost unknown\n",
    )
    assert (judge.asked, judge.seen) == ([], [])
    assert not (checkout.root / ".rubric-ci").exists()

    estimated = run(checkout, "evals", "--against", "HEAD").stderr.splitlines()
    assert JUDGED.format("4 requests", "2,821", "320", "") in estimated
    assert (len(judge.asked), len(judge.seen)) == (4, 4)
    cached = "; {} in the cache"
    assert listed() == LISTED.format(
        head=none.format("3 more answers"),
        base=none.format("1 more answer"),
        all="",
        judge=JUDGED.format("0 requests", "0", "0", cached.format("4 more")),
    )
