"""`rubric-ci run` with a judge behind real HTTP: repairs, outages, caps, votes, cache.

Most of it in this process: the library that talks to models takes seconds to import.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.aimock import Aimock, Reply, fails, says
from tests.invoke import in_a_process
from tests.sample_project import Project, clean_environment

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: {model}, api_base: "{base}", api_key: none, timeout_seconds: 60}}
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
"""
CASE = """\
  - id: {id}
    input: Say hello
    rubrics:
      - {{id: greets, expected_outcome: Greets, weight: {weight}}}
      - {{id: short, expected_outcome: Is short, required: false}}
"""


def marks(*satisfied: bool) -> Reply:
    entries = {
        f"c{n}": {"evidence": "", "reasoning": f"Reason {n}.", "satisfied": mark}
        for n, mark in enumerate(satisfied, 1)
    }
    return says(json.dumps(entries))


class Judged(Project):
    """Cases with two criteria each, a judge on a scripted server."""

    def __init__(self, root: Path, server: Aimock) -> None:
        super().__init__(root)
        self.server = server
        self.cases("greeting")
        self.judge()

    def judge(self, wire: str = "openai", model: str = "") -> None:
        endpoint = self.server.endpoint(wire)
        base = endpoint.options["api_base"]
        self.write("rubric-ci.yaml", CONFIG.format(model=model or endpoint.model, base=base))

    def cases(self, *ids: str, weight: float = 1.0, answer: str = "Hello from {}") -> None:
        cases = "".join(CASE.format(id=name, weight=weight) for name in ids)
        self.write("evals/a.eval.yaml", f"evalcases:\n{cases}")
        answers = (json.dumps({"id": name, "answer": answer.format(name)}) for name in ids)
        self.write("answers.jsonl", "\n".join(answers))

    def results(self) -> list[dict[str, Any]]:
        return list(self.report()["cases"])


@pytest.fixture
def judged(tmp_path: Path, aimock: Aimock) -> Judged:
    return Judged(tmp_path, aimock)


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
def test_an_omitted_mark_is_requested_again(judged: Judged, wire: str) -> None:
    judged.judge(wire)
    judged.server.script(marks(True), marks(True, False))
    done = judged.run("--fail-on", "never")
    assert done.returncode == 0, done.stderr
    totals = judged.report()["totals"]
    assert (totals["calls"], totals["repairs"], totals["errored"]) == (2, 1, 0)
    assert judged.results()[0]["score"] == 0.5
    assert totals["cost_usd"] > 0
    last = judged.server.requests()[-1]["messages"][-1]["content"]
    assert "- c2 (short) is missing" in last


def test_a_busy_server_is_waited_for(judged: Judged) -> None:
    judged.server.script(fails(429), marks(True, True))
    assert judged.run().returncode == 0
    assert judged.report()["totals"]["calls"] == 2


def test_all_calls_are_used_up(judged: Judged) -> None:
    judged.cases("one", "two", "three")
    judged.server.script(marks(True, True))
    assert judged.run("--max-calls", "1", "--concurrency", "1").returncode == 3
    assert len(judged.server.requests()) == 1
    reasons = [case.get("reason") for case in judged.results() if case["outcome"] == "errored"]
    assert reasons == ["rubric: budget: call limit of 1 reached"] * 2
    assert judged.report()["totals"]["passed"] == 1


def test_a_cap_in_dollars_sends_nothing_that_might_not_fit(judged: Judged) -> None:
    judged.server.script(marks(True, True))
    assert judged.run("--max-cost-usd", "0.001").returncode == 3
    assert judged.server.requests() == []
    assert re.fullmatch(
        r"rubric: budget: \$0\.0000 of \$0\.001 spent; the next call may cost \$0\.00\d\d; "
        r"increase the limit, or set `max_tokens` of [\w./-]+ below 4,096",
        judged.results()[0]["reason"],
    )


def test_calls_without_a_price_are_said_before_and_counted(judged: Judged) -> None:
    judged.judge(model="openai/my-own")
    judged.server.script(marks(True, True))
    done = judged.run()
    assert (done.returncode, " tokens, price unknown\n" in done.stderr) == (0, True)
    report = judged.report()
    assert report["forecast"]["cost_usd"] is None
    assert [report["totals"][name] for name in ("cost_usd", "unpriced_calls")] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ((), r"about 2 requests to openai/gpt-6-luna, [\d,]+ \+ 320 tokens, \$0\.00\d\d\n"),
        (("--votes", "3"), r"about 6 requests to .* \+ 960 tokens"),
        (
            ("--votes", "auto"),
            r"about 2 requests .*, \$0\.00\d\d; at most 10 where verdicts are close\n",
        ),
    ],
    ids=["one vote", "three", "auto"],
)
def test_the_estimate_comes_first(judged: Judged, arguments: tuple[str, ...], shown: str) -> None:
    judged.cases("one", "two")
    judged.server.script(marks(True, True))
    assert re.search(shown, judged.run(*arguments).stderr)
    expected = judged.report()["forecast"]
    assert expected["requests"] == (6 if arguments == ("--votes", "3") else 2)
    assert 0 < expected["cost_usd"] < 0.01


def test_the_estimate_of_an_llm_judge_leaves_out_what_is_in_the_cache(judged: Judged) -> None:
    judge = "{name: taste, type: llm_judge}"
    one, two, three = (
        f"  - {{id: {name}, input: Hi, expected_outcome: Greets, evaluators: [{judge}]}}\n"
        for name in ("one", "two", "three")
    )
    judged.cases("one", "two", "three")  # their answers
    judged.write("evals/a.eval.yaml", f"evalcases:\n{one}{two}")
    mark = {"score": 0.9, "hits": [], "misses": [], "reasoning": "It greets."}
    judged.server.script(says(json.dumps(mark)))
    done = judged.run()
    assert done.returncode == 0, done.stderr

    def estimated() -> str:
        return judged.run("--list").stdout.splitlines()[-1]

    model = judged.server.endpoint("openai").model
    assert estimated() == f"about 0 requests to {model}, 0 + 0 tokens, $0; 2 more in the cache"
    judged.write("evals/a.eval.yaml", f"evalcases:\n{one}{three}")
    assert re.fullmatch(
        rf"about 1 request to {model}, 100 \+ 20 tokens, .*\$0\.\d+; 1 more in the cache",
        estimated(),
    )


def test_votes_are_counted_and_shown(judged: Judged) -> None:
    judged.server.script(marks(True, True), marks(True, True), marks(False, False))
    assert judged.run("--votes", "3", "--concurrency", "1").returncode == 0
    (case,) = judged.results()
    (evaluator,) = case["evaluators"]
    assert [len(c["votes"]) for c in evaluator["criteria"]] == [3, 3]
    assert evaluator["warnings"] == [
        "greets is flaky: 2 of 3 votes agree",
        "short is flaky: 2 of 3 votes agree",
    ]
    assert judged.report()["judge"]["votes"] == 3
    assert len(judged.server.requests()) == 3


def test_a_cached_judgement_is_not_requested_again(judged: Judged) -> None:
    judged.cases("one", "two")
    judged.server.script(marks(True, False))
    assert judged.run().returncode == 1
    first = judged.results()
    judged.server.script(fails(500))
    assert judged.run().returncode == 1
    assert judged.server.requests() == []
    totals = judged.report()["totals"]
    assert (totals["calls"], totals["cost_usd"], totals["cache_hits"]) == (0, 0, 2)
    assert [case["score"] for case in judged.results()] == [case["score"] for case in first]


def test_equal_requests_in_flight_are_sent_once(judged: Judged) -> None:
    judged.cases("one", "two", "three", answer="Hello")
    judged.server.script(marks(True, True))
    judged.run("--votes", "3")
    assert len(judged.server.requests()) == 3  # one for each vote
    totals = judged.report()["totals"]
    assert (totals["calls"], totals["cache_hits"], totals["passed"]) == (3, 6, 3)


def test_equal_answers_of_several_trials_are_judged_one_by_one(judged: Judged) -> None:
    judged.server.script(marks(True, True), marks(False, False), marks(True, True))
    judged.run("--trials", "3")
    assert len(judged.server.requests()) == 3
    (case,) = judged.results()
    assert sorted(trial["verdict"] for trial in case["trials"]) == ["fail", "pass", "pass"]
    judged.server.script(fails(500))
    judged.run("--trials", "3")  # each trial has its own cached judgement
    (again,) = judged.results()
    assert (again["trials"], again["usage"]["calls"]) == (case["trials"], 0)


def test_a_failed_request_is_sent_again_by_the_next_case(judged: Judged) -> None:
    judged.cases("one", "two", answer="Hello")
    judged.server.script(fails(400), marks(True, True))
    assert judged.run().returncode == 3
    assert sorted(case["outcome"] for case in judged.results()) == ["errored", "graded"]


def test_new_weights_ask_nothing(judged: Judged) -> None:
    judged.server.script(marks(True, False))
    judged.run()
    judged.cases("greeting", weight=9)
    judged.server.script(fails(500))
    assert judged.run().returncode == 0
    assert (judged.results()[0]["score"], judged.results()[0]["verdict"]) == (0.9, "pass")


def test_more_votes_ask_only_for_the_missing_ones(judged: Judged) -> None:
    judged.server.script(marks(True, True))
    judged.run()
    judged.run("--votes", "3")
    assert len(judged.server.requests()) == 3


def test_without_the_cache_it_asks_again(judged: Judged) -> None:
    judged.server.script(marks(True, True))
    judged.run()
    judged.run(RUBRIC_CI_CACHE="false")
    assert len(judged.server.requests()) == 2


def test_cached_judgements_need_no_library(judged: Judged) -> None:
    judged.server.script(marks(True, True))
    judged.run()
    around = clean_environment() | {"PYTHONPROFILEIMPORTTIME": "1"}
    done = in_a_process(judged.root, around, "run", "--max-cost-usd", "1")
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "rubric_ci.models.llm.client" in loaded
    assert loaded & {"litellm", "openai", "httpx", "aiohttp"} == set()


def test_variables_in_the_name_of_a_judge_are_expanded_everywhere(judged: Judged) -> None:
    provider, _, name = judged.server.endpoint("openai").model.partition("/")
    judged.judge(model=f"'{provider}/${{{{ OPENAI_JUDGE }}}}'")
    judged.server.script(marks(True, False))
    judged.run("--record", "kept.jsonl", OPENAI_JUDGE=name)
    [result] = judged.results()
    assert result["outcome"] == "graded"
    assert [each["judge"] for each in result["evaluators"]] == [f"{provider}/{name}"]
    assert judged.run("--replay", "kept.jsonl", OPENAI_JUDGE=name).returncode == 1
    assert judged.report()["judge"]["model"] == f"{provider}/{name}"
    unset = judged.run("--replay", "kept.jsonl")
    assert unset.returncode == 2
    assert "the environment variable OPENAI_JUDGE is not set" in unset.stderr


def test_a_recording_replays_without_the_server(judged: Judged) -> None:
    judged.server.script(says("Hm."), marks(True, False))
    judged.run()  # into the cache, which a recording must not rely on
    judged.server.script(says("Hm."), marks(True, False))
    assert judged.run("--record", "kept.jsonl").returncode == 1
    judged.server.script(fails(500))
    assert judged.run("--replay", "kept.jsonl").returncode == 1
    assert judged.report()["forecast"] is None
    assert judged.server.requests() == []
    assert judged.results()[0]["score"] == 0.5
    judged.cases("greeting", "other")
    assert judged.run("--replay", "kept.jsonl", "--fail-on", "never").returncode == 3
    missing = "no recorded reply to this request (evals/a.eval.yaml: other: rubric)"
    assert missing in judged.results()[1]["reason"]


OWN = "{name: strict, type: llm_judge, model: openai/gpt-6.1-sol, rubrics: [Greets, Is short]}"


def own_judge(judged: Judged, evaluator: str) -> None:
    """Let a second evaluator of the case, which brings its own judge along, mark it too."""
    case = CASE.format(id="greeting", weight=1)
    text = f"evalcases:\n{case}    execution: {{evaluators: [{evaluator}]}}\n"
    judged.write("evals/a.eval.yaml", text)


def test_an_evaluator_may_bring_its_own_judge(judged: Judged) -> None:
    own_judge(judged, f"{{name: both, type: composite, evaluators: [{OWN}]}}")
    judged.server.script(marks(True, True))
    done = judged.run()
    assert done.returncode == 0, done.stderr
    models = sorted(body["model"] for body in judged.server.requests())
    assert models == ["gpt-6-luna", "gpt-6.1-sol"]
    assert "about 1 request to openai/gpt-6.1-sol, " in done.stderr
    assert "about 1 request to openai/gpt-6-luna, " in done.stderr


def test_the_judge_of_the_command_line_marks_everything(judged: Judged) -> None:
    own_judge(judged, OWN)
    judged.server.script(marks(True, True))
    server = {"OPENAI_BASE_URL": f"{judged.server.url}/v1", "OPENAI_API_KEY": "none"}
    done = judged.run("--judge", "openai/gpt-6-sol", **server)
    assert done.returncode == 0, done.stderr
    assert {body["model"] for body in judged.server.requests()} == {"gpt-6-sol"}
    assert judged.report()["judge"]["model"] == "openai/gpt-6-sol"
    (case,) = judged.results()
    assert case["evaluators"][0]["judge"] == "openai/gpt-6-sol"


def test_the_report_names_who_marked(judged: Judged) -> None:
    own_judge(judged, OWN)
    judged.server.script(marks(False, True))
    done = judged.run("--reports", "json,markdown,html,junit")
    (result,) = judged.results()
    judges = [evaluator["judge"] for evaluator in result["evaluators"]]
    assert judges == ["openai/gpt-6-luna", "openai/gpt-6.1-sol"]
    place = "evals/a.eval.yaml:2 · target default"
    assert f"  {place} · strict judged by openai/gpt-6.1-sol\n" in done.stdout
    folder = judged.root / ".rubric-ci"
    assert "strict judged by openai/gpt-6.1-sol\n" in (folder / "summary.md").read_text()
    assert (
        "llm_judge, weight 1, judged by openai/gpt-6.1-sol<" in (folder / "report.html").read_text()
    )
    junit = (folder / "junit.xml").read_text()
    assert '<property name="judge.strict" value="openai/gpt-6.1-sol"/>' in junit


def test_a_judge_that_gave_nothing_is_named(judged: Judged) -> None:
    judged.server.script(fails(401))
    judged.run()
    ((evaluator,),) = [case["evaluators"] for case in judged.results()]
    assert (evaluator["outcome"], evaluator["judge"]) == ("unassessed", "openai/gpt-6-luna")
