"""The three large providers are asked without litellm, whose import costs seconds."""

import subprocess
import sys

import pytest

from rubric_ci.model.config import Endpoint
from rubric_ci.models.llm.direct import named_provider, provider_of, provider_with_entry
from tests.aimock import Aimock, says

PROBE = """\
import asyncio, json, sys
from rubric_ci.models.llm.client import request
from rubric_ci.model.config import Endpoint
from rubric_ci.model.llm_calls import ChatMessage, ModelCall
endpoint = Endpoint(model=sys.argv[1], options=json.loads(sys.argv[2]))
call = ModelCall(endpoint=endpoint, messages=(ChatMessage(role="user", content="x"),), key="k")
for _ in range(2):
    reply = asyncio.run(request(call))
    print(reply.text, reply.usage.unpriced_calls, "litellm" in sys.modules)
"""


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
def test_no_litellm_is_loaded_and_nothing_stays_open(aimock: Aimock, wire: str) -> None:
    aimock.script(says("Hello."))
    endpoint = aimock.endpoint(wire)
    options = str(dict(endpoint.options)).replace("'", '"')
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBE, endpoint.model, options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("Hello. 0 False\n" * 2, "")


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
