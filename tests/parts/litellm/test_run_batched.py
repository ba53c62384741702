"""`rubric-ci run` in batches over real HTTP, against a scripted provider."""

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread

import pytest

from tests import platforms
from tests.batches import Ending, Fault, Object, Provider, Script, providing, refused, unanswered
from tests.sample_project import Project

CASE = """\
  - {{id: {id}, input: Say hello to {id}, rubrics: [Greets]}}
"""
IDS = ("ann", "bob", "cid", "dan")
RUDE = "cid"  # whose answer does not greet
PRICE = (1000 * 0.1e-6 + 100 * 0.5e-6) / 2  # of one request, in a batch


def judge(body: Object) -> str:
    """Mark what stands in the answer."""
    answer = body["messages"][1]["content"].rpartition("<answer_")[2]
    return marks(satisfied="Hello" in answer.partition("</answer_")[0])


def marks(**mark: object) -> str:
    return json.dumps({"c1": {"evidence": "", "reasoning": "As it is.", **mark}})


class Batched(Project):
    """Cases with recorded answers, and a judge behind batches."""

    def __init__(self, root: Path, provider: Provider) -> None:
        super().__init__(root)
        self.provider = provider
        provider.looks = 0
        cases = "".join(CASE.format(id=name) for name in IDS)
        self.write("evals/a.eval.yaml", f"evalcases:\n{cases}")
        answers = ({"id": i, "answer": "Go away" if i == RUDE else f"Hello {i}"} for i in IDS)
        self.write("answers.jsonl", "".join(f"{json.dumps(answer)}\n" for answer in answers))
        self.configure()

    def configure(self, *targets: Object, **judge: object) -> None:
        endpoint = {"api_base": f"{self.provider.url}/v1", "api_key": "${{ KEY }}"}
        given = {"model": "openai/gpt-6-luna", **endpoint, **judge}
        recorded = {"name": "default", "provider": "recorded", "answers": "answers.jsonl"}
        config = {
            "evals": ["evals/*.eval.yaml"],
            "judge": given,
            "env": {"allow": ["KEY"]},
            "targets": [*({**endpoint, **target} for target in targets), recorded],
        }
        self.write("rubric-ci.yaml", json.dumps(config))

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return super().run(
            *arguments, **{"KEY": "secret", "RUBRIC_CI_BATCH": "true", **environment}
        )

    def verdicts(self) -> dict[str, str]:
        """Return the verdict of each case, or why it has none."""
        cases = self.report()["cases"]
        return {case["id"]: case.get("verdict") or case["reason"] for case in cases}

    def batches(self) -> list[int]:
        """Return how many requests each batch held."""
        return [len(requests) for requests in self.provider.sent]


@pytest.fixture
def batched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Batched]:
    monkeypatch.setattr("rubric_ci.parts.litellm.batch.QUIET", 0.3)
    monkeypatch.setattr("rubric_ci.parts.litellm.batch.FIRST_POLL", 0.02)
    with providing(judge) as provider:
        yield Batched(tmp_path, provider)


def case_of(request: Object) -> str:
    found = re.search(r"Say hello to (\w+)", request["body"]["messages"][1]["content"])
    assert found
    return found[1]


def only(*names: str) -> Callable[[Sequence[Object]], list[Object]]:
    return lambda requests: [request for request in requests if case_of(request) in names]


GOOD = {"ann": "pass", "bob": "pass", "cid": "fail", "dan": "pass"}


def test_verdicts_by_a_batch(batched: Batched) -> None:
    batched.provider.looks = 1
    done = batched.run()
    assert done.returncode == 1
    assert batched.verdicts() == GOOD
    assert batched.batches() == [4]
    totals = batched.report()["totals"]
    assert (totals["calls"], totals["repairs"], totals["unpriced_calls"]) == (4, 0, 0)
    assert totals["cost_usd"] == pytest.approx(4 * PRICE)
    (shown,) = [line for line in done.stderr.splitlines() if line.startswith("about ")]
    assert re.fullmatch(r"about 4 requests to .* tokens, \$0\.000\d", shown)
    begun, *looked = [line for line in done.stderr.splitlines() if line.startswith("batch ")]
    assert begun.startswith("batch batch_1: 4 requests to openai/gpt-6-luna; it may take up to")
    assert looked == ["batch batch_1: in progress", "batch batch_1: completed"]


def test_the_key_and_headers_go_along_and_stay_out_of_sight(batched: Batched) -> None:
    batched.configure(extra_headers={"X-Team": "evals"}, organization="org-1")
    done = batched.run()
    assert batched.verdicts() == GOOD
    steps = [step.partition(" /v1/")[2] for step in batched.provider.journal]
    # Nothing is asked twice.
    assert steps == ["files", "batches", "batches/batch_1", "files/file-2/content"]
    for sent in batched.provider.headers:
        names = {name.lower(): value for name, value in sent.items()}
        assert names["authorization"] == "Bearer secret"
        assert (names["x-team"], names["openai-organization"]) == ("evals", "org-1")
    assert "secret" not in done.stdout + done.stderr + json.dumps(batched.report())


def test_lines_may_come_in_any_order(batched: Batched) -> None:
    batched.provider.scripts = [
        lambda requests: Ending(output=[batched.provider.line(r) for r in requests[::-1]])
    ]
    batched.run()
    assert batched.verdicts() == GOOD


def test_an_unusable_judgement_is_repaired_in_the_next_batch(batched: Batched) -> None:
    def careless(body: Object) -> str:
        first = len(body["messages"]) == 2
        if first and "Say hello to bob" in body["messages"][1]["content"]:
            return marks(satisfied="yes")
        return judge(body)

    batched.provider.judge = careless
    batched.run()
    assert batched.verdicts() == GOOD
    assert batched.batches() == [4, 1]
    totals = batched.report()["totals"]
    assert (totals["calls"], totals["repairs"]) == (5, 1)
    assert totals["cost_usd"] == pytest.approx(5 * PRICE)
    [[again]] = batched.provider.sent[1:]
    assert '"satisfied" of c1' in again["body"]["messages"][-1]["content"]


def test_garbage_in_three_batches_is_no_verdict(batched: Batched) -> None:
    batched.provider.judge = lambda _: "Lovely!"
    assert batched.run().returncode == 3
    assert "no valid reply in 3 attempts; the last one" in batched.verdicts()["ann"]
    assert batched.batches() == [4, 4, 4]
    totals = batched.report()["totals"]
    assert (totals["calls"], totals["repairs"]) == (12, 8)


def test_what_was_refused_for_now_goes_with_the_next_batch(batched: Batched) -> None:
    provider = batched.provider

    def busy(requests: Sequence[Object]) -> Ending:
        errors = [refused(only("ann")(requests)[0], 429, "slow down")]
        errors += [refused(only("bob")(requests)[0], 500, "oops")]
        output = [provider.line(request) for request in only("cid", "dan")(requests)]
        return Ending(output=output, errors=errors)

    provider.scripts = [busy, provider.whole]
    batched.run()
    assert batched.verdicts() == GOOD
    assert batched.batches() == [4, 2]
    assert batched.report()["totals"]["calls"] == 6


def test_a_missing_line_is_requested_again_and_may_have_been_billed(batched: Batched) -> None:
    provider = batched.provider
    provider.scripts = [
        lambda requests: Ending(output=[provider.line(r) for r in only("ann", "bob")(requests)]),
        lambda requests: Ending(output=[provider.line(r) for r in only("cid")(requests)]),
    ]
    assert batched.run().returncode == 1
    lost = "rubric: openai/gpt-6-luna: batch batch_3: no reply to this request (3 requests)"
    assert batched.verdicts() == {**GOOD, "dan": lost}
    assert batched.batches() == [4, 2, 1]
    totals = batched.report()["totals"]
    assert (totals["calls"], totals["unpriced_calls"]) == (7, 4)


NO_VERDICTS: dict[str, tuple[Callable[[Provider], Script], str]] = {
    "failed": (
        lambda _: (
            lambda _: Ending(status="failed", output=None, failure="Enqueued token limit reached")
        ),
        "batch batch_1 failed: Enqueued token limit reached (1 request)",
    ),
    "cancelled elsewhere": (
        lambda p: (
            lambda rs: Ending(
                status="cancelled", output=[p.line(r) for r in only("bob", "cid")(rs)]
            )
        ),
        "batch batch_1 cancelled, without a reply to this request (1 request)",
    ),
    "expired": (
        lambda p: (
            lambda rs: Ending(
                status="expired",
                output=[p.line(r) for r in only("bob", "cid")(rs)],
                errors=[unanswered(r, "batch_expired", "too late") for r in only("ann", "dan")(rs)],
            )
        ),
        "batch batch_1: too late (1 request)",
    ),
    "a wrong request": (
        lambda p: (
            lambda rs: Ending(
                output=[p.line(r) for r in only("bob", "cid")(rs)],
                errors=[refused(r, 400, "no such model") for r in only("ann", "dan")(rs)],
            )
        ),
        "batch batch_1: HTTP 400: no such model (1 request)",
    ),
    "lines without content": (
        lambda p: lambda rs: Ending(output=[{"custom_id": r["custom_id"]} for r in rs]),
        'batch batch_3: broken reply: {"custom_id": "?"} (3 requests)',
    ),
    "lines of another batch": (
        lambda p: lambda rs: Ending(output=[{"hm": 1}, {**p.line(rs[0]), "custom_id": "x"}]),
        "batch batch_3: no reply to this request (3 requests)",
    ),
    "two replies that differ": (
        lambda p: (
            lambda rs: Ending(
                output=[p.line(r) for r in rs], errors=[refused(r, 500, "or not") for r in rs]
            )
        ),
        "batch batch_3: several replies to this request (3 requests)",
    ),
}


@pytest.mark.parametrize(("script", "reason"), NO_VERDICTS.values(), ids=NO_VERDICTS)
def test_no_reply_is_no_verdict(
    batched: Batched, script: Callable[[Provider], Script], reason: str
) -> None:
    batched.provider.scripts = [script(batched.provider)]
    done = batched.run()
    verdicts = batched.verdicts()
    shown = re.sub(r'"\d"', '"?"', verdicts["ann"])
    assert shown == f"rubric: openai/gpt-6-luna: {reason}"
    assert done.returncode == (1 if verdicts["cid"] == "fail" else 3)
    assert all("score" not in c for c in batched.report()["cases"] if c["outcome"] == "errored")


def test_judgements_are_cached(batched: Batched) -> None:
    provider = batched.provider
    provider.scripts = [
        lambda requests: Ending(
            status="expired", output=[provider.line(r) for r in only("ann", "bob", "cid")(requests)]
        ),
        provider.whole,
    ]
    batched.run()
    assert "expired" in batched.verdicts()["dan"]
    batched.run()
    assert batched.verdicts() == GOOD
    assert batched.batches() == [4, 1]


TROUBLES: dict[str, tuple[list[Fault], list[int]]] = {
    "a look that fails": ([Fault(method="GET", path="/batches/", status=502)] * 2, [4]),
    "a look that breaks off": ([Fault(method="GET", path="/batches/", status=0)], [4]),
    "a busy upload": ([Fault(method="POST", path="/files", status=503)], [4]),
    "a beginning that is refused": ([Fault(method="POST", path="/batches", status=429)], [4]),
    "a download that fails": ([Fault(method="GET", path="/content", status=500)], [4]),
}


@pytest.mark.parametrize(("faults", "batches"), TROUBLES.values(), ids=TROUBLES)
def test_a_step_that_fails_is_taken_again(
    batched: Batched, faults: list[Fault], batches: list[int]
) -> None:
    batched.provider.faults = list(faults)
    batched.run()
    assert batched.verdicts() == GOOD
    assert batched.batches() == batches
    assert batched.provider.faults == []


def test_a_beginning_that_was_lost_is_not_begun_again(batched: Batched) -> None:
    batched.provider.faults = [Fault(method="POST", path="/batches", status=0)]
    assert batched.run().returncode == 3
    assert "a batch may have been created all the same, and be billed" in batched.verdicts()["ann"]
    assert batched.report()["totals"]["unpriced_calls"] == 4
    assert batched.provider.journal.count("POST /v1/batches") == 1


def test_a_wrong_key_is_reported_once(batched: Batched) -> None:
    batched.provider.faults = [Fault(method="POST", path="/files", status=401)]
    assert batched.run().returncode == 3
    assert batched.verdicts()["ann"].endswith("batch: HTTP 401: scripted (1 request)")
    assert len(batched.provider.journal) == 1


def test_a_model_without_batches_is_refused_before_any_request(batched: Batched) -> None:
    batched.configure({"name": "writer", "model": "openai/gpt-6.1-sol"}, model="anthropic/claude-x")
    done = batched.run("--target", "writer")
    assert done.returncode == 2
    assert "`anthropic/claude-x` does not support batches" in done.stderr
    assert batched.provider.journal == []


def test_answers_travel_together_and_so_do_their_marks(batched: Batched) -> None:
    def both(body: Object) -> str:
        return judge(body) if "Criteria:" in body["messages"][-1]["content"] else "Hello"

    batched.provider.judge = both
    target = {"name": "writer", "model": "openai/gpt-6.1-sol", "concurrency": 1}
    batched.configure(target)
    assert batched.run("--target", "writer", "--concurrency", "1").returncode == 0
    assert batched.batches() == [4, 4]
    models = [{request["body"]["model"] for request in batch} for batch in batched.provider.sent]
    assert models == [{"gpt-6.1-sol"}, {"gpt-6-luna"}]


def test_commands_keep_their_window_and_their_marks_travel_together(batched: Batched) -> None:
    alone = "mkdir here && sleep 0.3 && rmdir here && echo Hello"  # fails where two run at once
    config = json.loads((batched.root / "rubric-ci.yaml").read_text())
    agent = {"name": "agent", "provider": "cli", "command_template": f"{alone} # {{PROMPT}}"}
    batched.write("rubric-ci.yaml", json.dumps({**config, "targets": [agent]}))
    done = batched.run("--concurrency", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert batched.batches() == [4]


def test_a_batch_is_for_one_model(batched: Batched) -> None:
    own = "{name: own, type: llm_judge, model: openai/gpt-6.1-sol, prompt: 'Good? {{ answer }}'}"
    evaluators = f"    execution: {{evaluators: [{own}]}}\n"
    text = "evalcases:\n  - id: ann\n    input: Say hello to ann\n    rubrics: [Greets]\n"
    batched.write("evals/a.eval.yaml", text + evaluators)

    def both(body: Object) -> str:
        return judge(body) if body["model"] == "gpt-6-luna" else '{"score": 1}'

    batched.provider.judge = both
    assert batched.run().returncode == 0
    models = [{request["body"]["model"] for request in batch} for batch in batched.provider.sent]
    assert sorted(models, key=str) == [{"gpt-6-luna"}, {"gpt-6.1-sol"}]


def test_a_cap_in_dollars_counts_by_the_price_of_batches(batched: Batched) -> None:
    batched.configure(max_tokens=1000)
    assert batched.run("--case", "ann").returncode == 0
    # Enough for the worst of one request in a batch, and too little without.
    capped = ("--case", "ann", "--max-cost-usd", "0.0022")
    assert batched.run(*capped, RUBRIC_CI_CACHE="false").returncode == 0
    assert batched.batches() == [1, 1]


@pytest.mark.parametrize(
    ("prices", "cost", "unpriced"),
    [
        ({"input_cost_per_token": 1, "output_cost_per_token": 1}, 0, 1),
        (
            {
                "input_cost_per_token": 1,
                "output_cost_per_token": 1,
                "input_cost_per_token_batches": 0.01,
                "output_cost_per_token_batches": 0.1,
            },
            20,
            0,
        ),
    ],
    ids=["not for batches", "for batches"],
)
def test_prices_of_ones_own(
    batched: Batched, prices: dict[str, float], cost: float, unpriced: int
) -> None:
    batched.configure(**prices)
    batched.run("--case", "ann")
    totals = batched.report()["totals"]
    assert (totals["cost_usd"], totals["unpriced_calls"]) == (cost, unpriced)


@platforms.SIGNALS
@pytest.mark.parametrize(
    ("stop", "refuses"),
    [(signal.SIGINT, False), (signal.SIGTERM, True)],
    ids=["cancelled", "cannot be cancelled"],
)
def test_an_interrupted_run_reports_the_status_of_the_batch(
    batched: Batched, stop: signal.Signals, refuses: bool
) -> None:
    provider = batched.provider
    provider.looks = 999
    if refuses:
        provider.faults = [Fault(method="POST", path="/cancel", status=500)]

    def send_signal() -> None:
        """Stop the command, which is in this process, once it waits for the batch."""
        while "GET /v1/batches/batch_1" not in provider.journal and not done:
            time.sleep(0.05)
        if not done:
            os.kill(os.getpid(), stop)

    done: list[subprocess.CompletedProcess[str]] = []
    sender = Thread(target=send_signal, daemon=True)
    sender.start()
    done.append(batched.run())
    sender.join()
    message = done[0].stderr
    assert done[0].returncode == 3
    assert provider.journal[-1] == "POST /v1/batches/batch_1/cancel"
    shown = message.splitlines()
    if refuses:
        assert "batch batch_1: cannot be cancelled: HTTP 500: scripted; it continues" in message
        assert f"unless you cancel it at {provider.url}/v1" in message
    else:
        assert (
            "batch batch_1: cancelled; requests that were already processed may be billed" in shown
        )
    report = batched.report()
    assert report["scope"]["narrowed_by"] == ["interrupted"]
    assert {case["reason"] for case in report["cases"]} == {"interrupted before it finished"}


def test_time_that_is_up_ends_the_batch_too(
    batched: Batched, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = batched.provider
    provider.looks = 999
    clock = asyncio.BaseEventLoop.time

    def jumps_after_a_look(loop: asyncio.BaseEventLoop) -> float:
        """Return a time at which the limit is over as soon as the batch was looked at."""
        return clock(loop) + (3600 if "GET /v1/batches/batch_1" in provider.journal else 0)

    monkeypatch.setattr(asyncio.BaseEventLoop, "time", jumps_after_a_look)
    monkeypatch.setattr("rubric_ci.grading.limits.GRACE", 3600)  # the jump is within it
    done = batched.run(RUBRIC_CI_MAX_SECONDS="600")
    assert done.returncode == 3
    assert set(batched.verdicts().values()) == {"rubric: budget: time limit of 600 s reached"}
    assert provider.journal[-1] == "POST /v1/batches/batch_1/cancel"
    assert (
        "batch batch_1: cancelled; requests that were already processed may be billed"
        in done.stderr
    )
    assert batched.report()["totals"]["unpriced_calls"] == 4
