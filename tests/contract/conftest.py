"""A fake GitHub to talk to: bare, and behind Prism, which holds both sides to GitHub's contract."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.contract import openapi
from tests.contract.fake_github import GitHub, Pull, serving

PRISM = Path(__file__).parents[1] / "npm/node_modules/@stoplight/prism-cli/dist/index.js"
PREFIXES = {"api.github.com": "", "ghes-3.19": "/api/v3"}  # a contract, and where it is served


@pytest.fixture
def github() -> Iterator[GitHub]:
    """A fake GitHub with pull request 7, without a contract."""
    with serving(GitHub(pulls={7: Pull(7)})) as server:
        yield server


@dataclass(frozen=True)
class Behind:
    """A fake GitHub, the address of the Prism before it, and the contracts that Prism knows."""

    github: GitHub
    address: str
    contracts: Mapping[str, dict[str, Any]]


@pytest.fixture(scope="session")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    if not shutil.which("node") or not PRISM.exists() or not openapi.DESCRIPTIONS.exists():
        pytest.skip("Prism comes with the Node tools of tests/npm, and npm is not installed")
    contracts = {n: openapi.cut(openapi.read(n), prefix) for n, prefix in PREFIXES.items()}
    subset = tmp_path_factory.mktemp("prism") / "subset.json"
    subset.write_text(json.dumps(openapi.together([*contracts.values()])), encoding="utf-8")
    with serving(GitHub()) as github, _prism(subset, github.own_url) as address:
        yield Behind(github, address, contracts)


@pytest.fixture(scope="session", params=PREFIXES)
def contracted(request: pytest.FixtureRequest, behind: Behind) -> GitHub:
    """A fake GitHub behind Prism; what breaks the contract is answered with an error."""
    github, prefix = behind.github, PREFIXES[request.param]
    github.prefix, github.url = prefix, behind.address + prefix
    github.complete = partial(openapi.complete, behind.contracts[request.param])
    return github


@pytest.fixture
def contract(contracted: GitHub) -> GitHub:
    """The fake behind Prism, as new, with pull request 7."""
    contracted.reset()
    contracted.pulls[7] = Pull(7)
    return contracted


@contextmanager
def _prism(subset: Path, upstream: str) -> Iterator[str]:
    """Run Prism on a port that it chooses itself; yield its address."""
    command = ["node", str(PRISM), "proxy", "--errors", str(subset), upstream, "-p", "0"]
    log = subset.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield _address(process, log)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"listening on (http://[\d.]+:\d+)\s", log.read_text()):
            return found[1]
        time.sleep(0.1)
    pytest.fail(f"Prism did not start:\n{log.read_text()}")
