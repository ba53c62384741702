"""Number of attempts, waits between them, and the final error."""

import asyncio
from collections.abc import Sequence

import pytest

from rubric_ci.errors import CannotReachModel, FailureScope, OverBudget
from rubric_ci.models.llm.failures import RequestError, with_retries
from rubric_ci.system.backoff import Backoff
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.usage import Usage
from tests.cases import build_call

OK = ModelReply(text="yes", usage=Usage(calls=1, input_tokens=3))


def run(*outcomes: ModelReply | Exception, chance: float = 1.0) -> tuple[ModelReply, list[float]]:
    """Ask with these outcomes in turn, the last one for ever; return the reply and the waits."""
    left: Sequence[ModelReply | Exception] = outcomes
    waits: list[float] = []

    async def request(_: ModelCall) -> ModelReply:
        nonlocal left
        outcome, left = left[0], left[1:] or left
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def asked() -> ModelReply:
        ask = with_retries(request, sleep=sleep, backoff=Backoff(jitter=lambda: chance))
        return await ask(build_call())

    return asyncio.run(asked()), waits


def test_a_reply_is_handed_on() -> None:
    assert run(OK) == (OK, [])


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529, None])
def test_what_passes_is_sent_again_and_counted(status: int | None) -> None:
    reply, waits = run(RequestError("busy", status=status), OK)
    unknown = int(status in {None, 408})  # it may have been billed; the amount is unknown
    used = Usage(calls=2, input_tokens=3, unpriced_calls=unknown)
    assert reply == ModelReply(text="yes", usage=used)
    assert waits == [0.5]


@pytest.mark.parametrize(
    ("retryable", "reason"), [(True, "m: no connection (5 attempts)"), (False, "m: no connection")]
)
def test_what_was_not_sent_is_no_request(retryable: bool, reason: str) -> None:
    error = RequestError("no connection", retryable=retryable, billed=False, reached=False)
    with pytest.raises(CannotReachModel) as ended:
        run(*[error] * 5)
    assert (str(ended.value), ended.value.usage) == (reason, Usage())


def test_attempts_are_counted_where_none_was_sent() -> None:
    error = RequestError("no connection", retryable=True, billed=False, reached=False)
    last = RequestError("no key", retryable=False, billed=False, reached=False)
    with pytest.raises(CannotReachModel, match=r"^m: no key \(2 attempts\)$"):
        run(error, last)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_does_not_pass_is_sent_once(status: int) -> None:
    with pytest.raises(CannotReachModel, match=r"^m: no \(1 request\)$") as ended:
        run(RequestError("no", status=status))
    assert ended.value.usage == Usage(calls=1)


SCOPES: dict[str, tuple[RequestError, FailureScope]] = {
    **{f"{status}": (RequestError("no", status=status), "account") for status in (401, 402, 403)},
    "404": (RequestError("no", status=404), "account"),
    "400": (RequestError("no", status=400), "request"),
    **{
        f"400: {said}": (RequestError(f"HTTP 400: {said}", status=400), "account")
        for said in (
            "API key not valid. Please pass a valid API key.",
            "Incorrect API key provided: sk***.",
            "Model Not Exist",
            "Invalid model: no-such-model",
            "Invalid model 'no-such-model'. Permitted models can be found in the documentation",
            "no-such-model is not a valid model ID",
            "The provided model identifier is invalid.",
        )
    },
    "a refused output of a model": (RequestError("Invalid model output", status=400), "request"),
    "an answer that quotes it": (RequestError("Model Not Exist", status=422), "request"),
    "405": (RequestError("no", status=405), "request"),
    "503": (RequestError("busy", status=503), "server"),
    "no reply": (RequestError("reset"), "server"),
    "quota": (RequestError("you exceeded your current quota", status=429), "account"),
    "no connection": (RequestError("refused", reached=False), "host"),
    "no key": (RequestError("no key", reached=False, retryable=False), "account"),
}


@pytest.mark.parametrize(("error", "scope"), SCOPES.values(), ids=SCOPES)
def test_what_failed(error: RequestError, scope: FailureScope) -> None:
    assert error.scope == scope
    with pytest.raises(CannotReachModel) as ended:
        run(error)
    assert ended.value.scope == scope


@pytest.mark.parametrize(
    ("status", "billed"),
    [(None, 1), (408, 1), (504, 1), (524, 1), (500, 0), (505, 0), (525, 0), (400, 0)],
)
def test_a_request_without_a_complete_reply_may_be_billed(status: int | None, billed: int) -> None:
    with pytest.raises(CannotReachModel) as ended:
        run(RequestError("no", status=status, retryable=False))
    assert ended.value.usage == Usage(calls=1, unpriced_calls=billed)


def test_a_broken_body_passes_whatever_its_status() -> None:
    assert run(RequestError("broken", status=422, retryable=True), OK)[1] == [0.5]


def test_it_ends_after_five() -> None:
    with pytest.raises(CannotReachModel, match=r"^m: busy \(5 requests\)$") as ended:
        run(RequestError("busy", status=503))
    assert ended.value.usage == Usage(calls=5)


def test_what_was_sent_before_the_budget_ended_counts() -> None:
    cut = Usage(calls=1, unpriced_calls=1)
    slow = RequestError("no reply within 1 s", status=408)
    late = OverBudget("budget: time limit of 2 s reached", cut)
    with pytest.raises(OverBudget) as ended:
        run(slow, RequestError("busy", status=429), late)
    assert str(ended.value) == "budget: time limit of 2 s reached; before that: busy"
    assert ended.value.cap == "budget: time limit of 2 s reached"
    assert ended.value.usage == Usage(calls=3, unpriced_calls=2)


def test_a_budget_that_ended_before_anything_was_sent() -> None:
    with pytest.raises(OverBudget, match=r"^budget: call limit of 0 reached$") as ended:
        run(OverBudget("budget: call limit of 0 reached"))
    assert ended.value.usage == Usage()


@pytest.mark.parametrize(("chance", "waits"), [(1.0, [0.5, 1, 2, 4]), (0.0, [0, 0, 0, 0])])
def test_waits_double_with_full_jitter(chance: float, waits: list[float]) -> None:
    busy = RequestError("busy", status=503)
    assert run(busy, busy, busy, busy, OK, chance=chance)[1] == waits


def test_retry_after_is_waited_in_full() -> None:
    assert run(RequestError("busy", status=429, retry_after=7), OK, chance=0)[1] == [7]
    assert run(RequestError("busy", status=429, retry_after=7), OK, chance=1)[1] == [7.5]


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    with pytest.raises(CannotReachModel) as ended:
        run(RequestError("quota", status=429, retry_after=3600))
    assert str(ended.value) == "m: quota (1 request; the server asks to wait 3600 s)"
