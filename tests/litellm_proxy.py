"""LiteLLM's own proxy in front of a scripted model server; `make proxy` installs it."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep
from typing import Any, Final

from rubric_ci.values.targets import Endpoint
from tests.http_server import free_port

COMMAND: Final = Path(__file__).parents[1] / ".tools/litellm-proxy/bin/litellm"
# It starts in 12 s alone; eight other workers on two cores have made it more than 100 s.
START_SECONDS: Final = 250  # less than the timeout of a test

Deployment = dict[str, Any]
"""An entry of `model_list`."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """The running proxy."""

    url: str
    key: str

    def endpoint(self, name: str, *, litellm: bool = False, key: str = "") -> Endpoint:
        """Return a model of the proxy; `litellm` sends through litellm, not directly."""
        options = {"api_base": f"{self.url}/v1", "api_key": key or self.key}
        return Endpoint(
            model=f"openai/{name}", options={**options, **({"n": 1} if litellm else {})}
        )


def deployment(name: str, url: str, model: str = "openai/gpt-6-luna", **more: Any) -> Deployment:
    """Return a deployment of the model group `name`, with a server of OpenAI's chat format."""
    params = {"model": model, "api_base": f"{url}/v1", "api_key": "upstream", **more}
    return {"model_name": name, "litellm_params": params}


def missing() -> str:
    """Return why the proxy cannot be started here; empty: it can."""
    return "" if COMMAND.exists() else "LiteLLM's proxy is not installed: run `make proxy`"


@contextmanager
def running(folder: Path, deployments: Sequence[Deployment], **router: Any) -> Iterator[Proxy]:
    """Start the proxy on a free port, and stop it."""
    key, port = f"sk-{token_hex(16)}", free_port()
    config, log = folder / "proxy.json", folder / "log"
    settings = {
        "model_list": list(deployments),
        "router_settings": {"num_retries": 0, **router},
        "litellm_settings": {"num_retries": 0, "telemetry": False},
        "general_settings": {"master_key": key},
    }
    config.write_text(json.dumps(settings))
    command = [str(COMMAND), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    names = ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS")
    environment = {**os.environ, **dict.fromkeys(names, "True")}
    with (
        log.open("w") as output,
        subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, start_new_session=True
        ) as server,
    ):
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, log, server)
            yield Proxy(url, key)
        finally:
            os.killpg(server.pid, signal.SIGKILL)


def _wait(url: str, log: Path, server: "subprocess.Popen[bytes]") -> None:
    deadline = monotonic() + START_SECONDS
    while monotonic() < deadline and server.poll() is None:
        with suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{url}/health/liveliness", timeout=60).close()
            return
        sleep(0.1)
    raise AssertionError(f"the proxy does not start: {log.read_text()[-2000:]}")
