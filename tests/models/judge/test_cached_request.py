"""What a judgement is cached under."""

import hashlib

import pytest

from rubric_ci.models.judge.request import cache_key
from rubric_ci.values.llm_calls import ModelCall
from rubric_ci.values.targets import Endpoint

CALL = ModelCall(
    endpoint=Endpoint(model="openai/m", options={"api_base": "http://127.0.0.1:1"}),
    messages=(),
    key="k",
)


@pytest.mark.parametrize(
    ("trial", "content"),
    [
        pytest.param(0, "k\nhttp://127.0.0.1:1", id="the-first-trial-keeps-the-key-of-old-caches"),
        pytest.param(1, "k\nhttp://127.0.0.1:1\ntrial 1", id="the-second-trial"),
        pytest.param(2, "k\nhttp://127.0.0.1:1\ntrial 2", id="the-third-trial"),
    ],
)
def test_each_trial_has_its_own_key(trial: int, content: str) -> None:
    assert cache_key(CALL, trial) == hashlib.sha256(content.encode()).hexdigest()
