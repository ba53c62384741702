"""A fake GitHub to talk to: bare, and behind Prism, which holds both sides to GitHub's contract."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.contract import openapi
from tests.contract.fake_github import GitHub, Pull, serving

PRISM = Path(__file__).parents[1] / "npm/node_modules/@stoplight/prism-cli/dist/index.js"


@pytest.fixture
def github() -> Iterator[GitHub]:
    """A fake GitHub with pull request 7, without a contract."""
    with serving(GitHub(pulls={7: Pull(7)})) as server:
        yield server


@pytest.fixture(scope="module", params=["api.github.com", "ghes-3.19"])
def contracted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GitHub]:
    """A fake GitHub behind Prism; what breaks the contract is answered with an error."""
    if not shutil.which("node") or not PRISM.exists() or not openapi.DESCRIPTIONS.exists():
        pytest.skip("Prism comes with the Node tools of tests/npm, and npm is not installed")
    prefix = "/api/v3" if request.param.startswith("ghes") else ""
    description = openapi.read(request.param)
    port = _free_port()
    github = GitHub(
        url=f"http://127.0.0.1:{port}{prefix}",
        prefix=prefix,
        complete=partial(openapi.complete, description),
    )
    subset = tmp_path_factory.mktemp("prism") / "subset.json"
    subset.write_text(json.dumps(openapi.cut(description, prefix)), encoding="utf-8")
    with serving(github) as server, _prism(subset, server.own_url, port):
        yield server


@pytest.fixture
def contract(contracted: GitHub) -> GitHub:
    """The fake behind Prism, as new, with pull request 7."""
    contracted.forget()
    contracted.pulls[7] = Pull(7)
    return contracted


def _prism(subset: Path, upstream: str, port: int) -> "_Running":
    return _Running(
        ["node", str(PRISM), "proxy", "--errors", str(subset), upstream, "-p", str(port)],
        log=subset.with_suffix(".log"),
        url=f"http://127.0.0.1:{port}/",
    )


class _Running:
    """A server process, from the moment it answers until the block ends."""

    def __init__(self, command: list[str], log: Path, url: str) -> None:
        self.command, self.log, self.url = command, log, url

    def __enter__(self) -> None:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            if _answers(self.url):
                return
            time.sleep(0.1)
        self.__exit__()
        pytest.fail(f"Prism did not start:\n{self.log.read_text()}")

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5):
            return True
    except OSError as error:
        return hasattr(error, "code")  # an HTTP error is an answer


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
