"""The three large providers are asked without litellm, whose import costs seconds."""

import json
import sys

import pytest

from rubric_ci.models.llm.direct import named_provider, provider_of, provider_with_entry
from rubric_ci.values.targets import Endpoint
from tests.aimock import Aimock, says
from tests.captured import captured

PROBE = """\
import asyncio, json, sys
from rubric_ci.models.llm.client import request
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.llm_calls import ChatMessage, ModelCall
for model, options in json.loads(sys.argv[1]).items():
    endpoint = Endpoint(model=model, options=options)
    call = ModelCall(endpoint=endpoint, messages=(ChatMessage(role="user", content="x"),), key="k")
    for _ in range(2):
        reply = asyncio.run(request(call))
        print(model, reply.text, reply.usage.unpriced_calls, "litellm" in sys.modules)
"""


def test_no_litellm_is_loaded_and_nothing_stays_open(aimock: Aimock) -> None:
    aimock.script(says("Hello."))
    endpoints = [aimock.endpoint(wire) for wire in ("openai", "anthropic", "gemini")]
    options = json.dumps({each.model: {**each.options} for each in endpoints})
    done = captured([sys.executable, "-W", "error", "-c", PROBE, options])
    expected = "".join(f"{each.model} Hello. 0 False\n" * 2 for each in endpoints)
    assert (done.stdout, done.stderr) == (expected, "")


@pytest.mark.parametrize("model", ["mistral/m", "azure/gpt-6-luna", "anthropics/m", "gpt-6-luna"])
def test_other_providers_need_litellm(model: str) -> None:
    endpoint = Endpoint(model=model, options={"api_key": "k"})
    assert named_provider(endpoint) is provider_of(endpoint) is None
    assert provider_with_entry(endpoint) is None


@pytest.mark.parametrize("model", ["anthropic/m", "gemini/m", "openai/m"])
def test_an_entry_is_read_with_a_key_only(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert provider_with_entry(Endpoint(model=model)) is None
    assert provider_with_entry(Endpoint(model=model, options={"api_key": "k"}))
