"""Starts of programs that cost money: announced, held by the caps, and in the totals."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import platforms
from tests.checkout import Checkout
from tests.http_server import QuietHandler, serving
from tests.parts.agents.cli_outputs import CLAUDE, printed
from tests.sample_project import Project

pytestmark = platforms.SHELL

CASES = "evalcases:\n" + "".join(
    f"  - {{id: c{n}, input: Say it, rubrics: [{{contains: ok}}]}}\n" for n in range(3)
)
PROGRAM = """\
#!{python}
import os, sys
sys.stdin.read()
with open({log!r}, "a") as log:
    log.write(" ".join(sys.argv[-2:]) + "\\n")
sys.stdout.write({stdout!r})
"""
FAILED = {**CLAUDE, "is_error": True, "subtype": "error_max_budget_usd", "errors": ["Too dear"]}


class Bench(Project):
    """A project with three cases, and programs that log how often they are started."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.log = root.parent / f"{root.name}.log"
        self.programs = root.parent / f"{root.name}-programs"
        self.programs.mkdir()
        self.write("evals/a.eval.yaml", CASES)

    def target(self, stdout: str = "ok", **keys: object) -> None:
        program = "codex" if keys["provider"] == "codex" else "claude"
        place = self.programs / program
        log = str(self.log)
        place.write_text(PROGRAM.format(python=sys.executable, log=log, stdout=stdout))
        place.chmod(0o755)
        targets = [{"name": "default", "cache": False, **keys}]
        self.write("rubric-ci.yaml", json.dumps({"evals": ["evals/*.yaml"], "targets": targets}))

    def started(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def graded(self, *options: str) -> tuple[int, str, str]:
        """Return the status of a run, and what it printed."""
        ran = self.run(
            *options,
            PATH=f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            ANTHROPIC_API_KEY="sk-of-the-agent",
            CODEX_API_KEY="sk-of-the-agent",
        )
        return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "repository"
    root.mkdir()
    return Bench(root)


CLAUDE_CODE = {"provider": "claude-code"}
CODEX = {"provider": "codex"}
COMMAND = {"provider": "cli", "command_template": "claude </dev/null"}
DEAR = {"cost_per_run": 0.25}
OK = json.dumps({**CLAUDE, "result": "ok"})
SAID = printed("codex", "ok")
LESS = "increase the limit, or start `default` less often"


OPEN, MOST, LIMIT = "cost unknown before the answers", "at most $0.7500", "at most $0.6000"
LIMITED = {**CLAUDE_CODE, "max_cost_usd": 0.2}


@pytest.mark.parametrize(
    ("keys", "stdout", "cost", "usage"),
    [
        (CLAUDE_CODE, OK, OPEN, (3, 0.003, 0)),
        ({**CLAUDE_CODE, **DEAR}, OK, MOST, (3, 0.003, 0)),
        (LIMITED, OK, LIMIT, (3, 0.003, 0)),
        ({**LIMITED, **DEAR}, OK, LIMIT, (3, 0.003, 0)),
        (CODEX, SAID, OPEN, (3, 0, 3)),
        ({**CODEX, **DEAR}, SAID, MOST, (3, 0.75, 0)),
        ({**COMMAND, **DEAR}, "ok", MOST, (3, 0.75, 0)),
        (COMMAND, "ok", "", (0, 0, 0)),
        (CLAUDE_CODE, json.dumps(FAILED), OPEN, (3, 0.003, 0)),
    ],
    ids=[
        *("its own figure", "and that of the target", "its own limit", "its limit is lower"),
        *("unknown", "the figure of the target", "a command", "a command that costs nothing"),
        "a failure's own figure",
    ],
)
def test_what_is_announced_is_started_and_reported(
    bench: Bench, keys: Mapping[str, object], stdout: str, cost: str, usage: tuple[int, float, int]
) -> None:
    bench.target(stdout, **keys)
    _, _, said = bench.graded()
    lines = [line for line in said.splitlines() if "starts of" in line]
    assert lines == ([f"target default: 3 starts of its command, {cost}"] if cost else [])
    totals = bench.report()["totals"]
    found = totals["calls"], round(totals["cost_usd"], 6), totals["unpriced_calls"]
    assert (found, len(bench.started())) == (usage, 3)


@pytest.mark.parametrize(
    ("keys", "stdout", "option", "started", "reason"),
    [
        (CLAUDE_CODE, OK, "--max-calls=1", 1, "budget: call limit of 1 reached"),
        ({**COMMAND, **DEAR}, "ok", "--max-calls=2", 2, "budget: call limit of 2 reached"),
        (
            *(CLAUDE_CODE, OK, "--max-cost-usd=0.001", 0),
            f"budget: $0.0000 of $0.001 spent; the next call may cost $0.0100; {LESS}",
        ),
        (
            *({**CODEX, **DEAR}, SAID, "--max-cost-usd=0.6", 2),
            f"budget: $0.5000 of $0.6 spent; the next call may cost $0.2500; {LESS}",
        ),
    ],
)
def test_the_caps_hold(
    bench: Bench, keys: Mapping[str, object], stdout: str, option: str, started: int, reason: str
) -> None:
    bench.target(stdout, **keys)
    status, _, _ = bench.graded(option)
    reasons = {case["reason"] for case in bench.report()["cases"] if case["outcome"] == "errored"}
    assert (status, len(bench.started()), reasons) == (3, started, {reason})


def test_claude_gets_what_is_left_of_the_cap(bench: Bench) -> None:
    bench.target(OK, **CLAUDE_CODE)
    status, _, _ = bench.graded("--max-cost-usd=0.5")
    left = ["--max-budget-usd 0.5", "--max-budget-usd 0.499", "--max-budget-usd 0.498"]
    assert (status, bench.started()) == (0, left)


def test_a_start_without_a_figure_counts_with_its_own_limit(bench: Bench) -> None:
    bench.target("no figure", **CLAUDE_CODE, max_cost_usd=0.25)
    status, _, _ = bench.graded("--max-cost-usd=0.6")
    reasons = [case["reason"] for case in bench.report()["cases"]]
    assert (status, bench.started()) == (3, ["--max-budget-usd 0.25"] * 2)
    assert sorted(reasons) == [
        (
            "budget: $0.5000 of $0.6 spent or reserved for 2 calls of unknown cost; "
            f"the next call may cost $0.2500; {LESS}"
        ),
        *["the target `default` failed: no figure"] * 2,
    ]


def test_an_agent_of_unknown_cost_has_no_cap_in_dollars(bench: Bench) -> None:
    bench.target(SAID, **CODEX)
    status, _, said = bench.graded("--max-cost-usd=5")
    assert (status, bench.started()) == (2, [])
    assert (
        "a start of the target `default` has no known price, so a maximum cost cannot be enforced "
        "set `cost_per_run` of the target, on a pull request in the base branch first, or use "
        "--max-calls"
    ) in " ".join(said.split())


@pytest.mark.parametrize(
    ("before", "after", "started", "status"),
    [(DEAR, {"cost_per_run": 0}, 2, 3), (DEAR, {}, 2, 3), ({}, {"cost_per_run": 0}, 0, 2)],
    ids=["lowered", "removed", "written"],
)
def test_a_change_does_not_set_the_price_of_a_start(
    bench: Bench,
    before: Mapping[str, object],
    after: Mapping[str, object],
    started: int,
    status: int,
) -> None:
    bench.target(SAID, **CODEX, **before)
    base = Checkout(bench.root).commit()
    bench.target(SAID, **CODEX, **after, model="another")  # so that the cases are affected
    policy = ("--policy-from=base", f"--changed-since={base}")
    found, _, said = bench.graded(*policy, "--max-cost-usd=0.6")
    assert (found, len(bench.started())) == (status, started), said


ASKED = "api_key: none, api_base: URL"
PRICED = f"{ASKED}, input_cost_per_token: 0.000001, output_cost_per_token: 0.000001"
TALK = "simulated_user: {persona: Ada, goal: It}, rubrics: [{contains: It}]"


@pytest.mark.parametrize(
    ("judge", "target", "case", "named"),
    [
        (ASKED, PRICED, "input: Hi, rubrics: [Greets]", "the judge openai/judge"),
        (PRICED, ASKED, "input: Hi, rubrics: [Greets]", "openai/answers of the target `default`"),
        (ASKED, PRICED, TALK, "openai/judge, the simulated user,"),
    ],
    ids=["judge", "target", "user"],
)
def test_a_model_without_a_price_is_refused_before_any_request(
    bench: Bench, judge: str, target: str, case: str, named: str
) -> None:
    """Also before the preflight, which asks each model whether it is there."""
    seen: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_error(404)

        def do_POST(self) -> None:
            self.do_GET()

    bench.write("evals/a.eval.yaml", f"evalcases: [{{id: a, {case}}}]\n")
    with serving(Handler) as server:
        config = (
            f"judge: {{model: openai/judge, {judge}}}\n"
            f"targets: [{{name: default, model: openai/answers, {target}}}]\n"
        )
        bench.write("rubric-ci.yaml", config.replace("URL", f'"{server.url}/v1"'))
        status, _, said = bench.graded("--max-cost-usd=1")
    assert (status, seen) == (2, []), said
    assert said.endswith(
        f"rubric-ci: {named} has no known price, so a maximum cost cannot be enforced\n"
        "  set input_cost_per_token and output_cost_per_token of the model, or use --max-calls\n"
    )


@pytest.mark.parametrize(
    ("keys", "announced"),
    [
        (CLAUDE_CODE, "about $0.0030 as in the last run"),
        ({**CODEX, **DEAR}, "about $0.7500 as in the last run"),
        (CODEX, "cost unknown before the answers"),
    ],
    ids=["its own figure", "the target's", "unknown"],
)
def test_a_second_run_knows(bench: Bench, keys: Mapping[str, object], announced: str) -> None:
    bench.target(OK if keys is CLAUDE_CODE else SAID, **keys)
    bench.graded()
    _, _, said = bench.graded()
    assert f"target default: 3 starts of its command, {announced}\n" in said
