"""Files that a library looks for by itself: none of a checkout takes part in a run.

The virtual environment is inside the checkout, where a library that searches the folders above
its own file arrives at what a commit brought. Every file that a dependency of
`requirements/judge.txt` reads by a name of its own is in `BAITS`.
"""

import ctypes
import os
import struct
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import rubric_ci
from tests.captured import captured
from tests.checkout import Checkout
from tests.http_server import QuietHandler, serving
from tests.platforms import INHERITED, symlink

KEY = "key-of-the-repository"
CONFIG = """\
evals: [greeting.eval.yaml]
judge: {model: mistral/mistral-small-latest, api_key: "${{ MISTRAL_API_KEY }}"}
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
"""
EVAL = "evalcases:\n  - {id: greeting, input: Say hello, rubrics: [Greets]}\n"
CASES = {
    "rubric-ci.yaml": CONFIG,
    "greeting.eval.yaml": EVAL,
    "answers.jsonl": '{"id": "greeting", "answer": "Hello"}\n',
    ".gitignore": ".venv\n.rubric-ci\n",
}

CLOSED = "http://127.0.0.1:9"  # a port that nothing listens on
OPENED = 0x20  # IN_OPEN
BAITS = {
    **dict.fromkeys((".env", ".env.local", ".env.production"), "python-dotenv, of litellm"),
    **dict.fromkeys((".netrc", "_netrc"), "aiohttp and requests: credentials and logins"),
    **dict.fromkeys((".aws/config", ".aws/credentials", ".boto", "boto.cfg"), "botocore"),
    **dict.fromkeys(
        (".config/gcloud/application_default_credentials.json", "application_default.json"),
        "google-auth, where it is installed",
    ),
    **dict.fromkeys((".config/litellm/github_copilot/api-key.json",), "litellm"),
    **dict.fromkeys(("litellm_config.yaml", "config.yaml", "proxy_config.yaml"), "litellm"),
    **dict.fromkeys(
        ("model_prices_and_context_window_backup.json", "model_prices_and_context_window.json"),
        "litellm: prices and capabilities of models",
    ),
    **dict.fromkeys((".litellm_cache/cache.db", ".cache/litellm"), "litellm: kept replies"),
    **dict.fromkeys((".config/fsspec/conf.json", ".cache/huggingface/token"), "huggingface-hub"),
    **dict.fromkeys((".oci/config", ".databrickscfg", ".kube/config"), "clients of providers"),
    **dict.fromkeys(
        ("cacert.pem", "ca-bundle.crt", "openssl.cnf", "cert.pem"), "ssl and certifi: whom to trust"
    ),
    **dict.fromkeys((".curlrc", ".wgetrc", "proxy.pac", ".proxyrc"), "proxies"),
    **dict.fromkeys(("resolv.conf", "hosts", ".hosts"), "names of hosts"),
    **dict.fromkeys(("logging.conf", "logging.ini", "sentry.properties"), "logging"),
    **dict.fromkeys(("sitecustomize.py", "usercustomize.py", "evil.pth"), "Python at its start"),
    **dict.fromkeys(
        ("litellm.py", "dotenv.py", "yaml.py", "click.py", "json.py", "ssl.py", "rubric_ci.py"),
        "Python: modules of the working folder",
    ),
    **dict.fromkeys(
        ("evil-1.dist-info/METADATA", "evil-1.dist-info/entry_points.txt"),
        "pydantic: plugins of installed packages",
    ),
    **dict.fromkeys(
        ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pip.conf", "conftest.py"),
        "settings of tools",
    ),
}
"""The files that a dependency, or one that it loads where that is installed, reads by name."""

ASKED = (
    *("anthropic/claude-sonnet-5-5", "together_ai/llama", "openai/gpt-6-luna"),
    *("gemini/gemini-3.8-flash", "azure/gpt-6.1-sol", "mistral/mistral-small", "ollama/llama3"),
    *("bedrock/anthropic.claude-3-sonnet-20240229-v1:0", "huggingface/meta/x", "databricks/x"),
)
ASK_AND_RUN = """\
import asyncio, sys
from rubric_ci.__main__ import main as rubric_ci
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.llm_calls import ChatMessage, ModelCall

async def main():
    for model in sys.argv[1:]:
        endpoint = Endpoint(model=model, options={"api_base": "http://127.0.0.1:9", "api_key": "k"})
        asked = (ChatMessage(role="user", content="Hello"),)
        try:
            await request(ModelCall(endpoint=endpoint, messages=asked, key="k"))
        except RequestError as error:
            print(model, error, flush=True)

asyncio.run(main())
sys.argv = ["rubric-ci", "run"]
sys.exit(rubric_ci())
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A repository with a virtual environment of its own, which git ignores."""
    checkout = Checkout.create(tmp_path_factory.mktemp("top") / "repository")
    checkout.commit(CASES)
    venv.create(checkout.root / ".venv", symlinks=True)
    installed = next((checkout.root / ".venv").rglob("site-packages"))
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.startswith(("_editable", "rubric_ci", "__pycache__")):
            symlink(installed / package.name, package)
    for source in (package := Path(rubric_ci.__file__).parent, package.with_name("schemas")):
        symlink(installed / source.name, source)
    return checkout


def run_inside(
    checkout: Checkout, script: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script by the interpreter of the environment inside."""
    (home := checkout.root.parent / "home").mkdir(exist_ok=True)
    named = {"PATH": os.environ["PATH"], "HOME": str(home), "HTTPS_PROXY": CLOSED}
    return captured(
        [str(checkout.root / ".venv/bin/python"), str(script), *arguments],
        cwd=checkout.root,
        env=INHERITED | named | environment,
        timeout=120,
    )


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """Serve the attacker's host; yield its URL and what arrives there."""
    arrived: list[str] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            self.body()
            arrived.append(f"{self.path} {dict(self.headers)}")
            self.send_error(400)

    with serving(Handler) as server:
        yield server.url, arrived


def test_no_file_of_the_checkout_is_opened_or_used(checkout: Checkout, tmp_path: Path) -> None:
    """Nor in the mode in which litellm reads `.env`.

    One process asks models of many libraries and runs the command: litellm takes seconds to import.
    """
    (script := tmp_path / "ask_and_run.py").write_text(ASK_AND_RUN)
    with listening() as (url, arrived):
        env = f"MISTRAL_API_BASE={url}\nMISTRAL_AZURE_API_BASE={url}\n"
        checkout.commit(dict.fromkeys(BAITS, "bait = true\n") | {".env": env})
        settle(checkout)
        with opened_files(checkout.root) as opened:
            keys = {"MISTRAL_API_KEY": KEY, "LITELLM_MODE": "DEV"}
            done = run_inside(checkout, script, *ASKED, **keys)
    asked = done.stdout.splitlines()[: len(ASKED)]
    assert [line.split()[0] for line in asked] == list(ASKED), done.stderr
    assert arrived == []
    assert done.returncode == 3, done.stdout + done.stderr
    assert "cannot connect to the HTTP proxy" in done.stderr
    assert set(opened) - CASES.keys() <= {".rubric-ci"}  # our folder, whose remains are removed


def settle(checkout: Checkout) -> None:
    """Make every file older than git's index: git reads one of the same second again."""
    for path in checkout.git("ls-files", "-z").split("\0")[:-1]:
        os.utime(checkout.root / path, (10**9, 10**9))
    checkout.git("update-index", "--refresh")


@contextmanager
def opened_files(root: Path) -> Iterator[list[str]]:
    """Watch the folders of a checkout; yield what any program opens there, once the block ends.

    NOTE: only Linux reports which files were opened; elsewhere the list is empty.
    """
    opened = list[str]()
    if sys.platform != "linux":
        yield opened
        return
    libc = ctypes.CDLL(None)
    watching = libc.inotify_init1(os.O_NONBLOCK)
    folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
    watched = {
        libc.inotify_add_watch(watching, os.fsencode(folder), OPENED): folder
        for folder in folders
        if not {".venv", ".git"} & set(folder.relative_to(root).parts)
    }
    try:
        yield opened
        with suppress(BlockingIOError):
            while events := os.read(watching, 2**16):
                while events:
                    watch, _, _, length = struct.unpack_from("iIII", events)
                    name = os.fsdecode(events[16 : 16 + length].rstrip(b"\0"))
                    opened.append((watched[watch] / name).relative_to(root).as_posix())
                    events = events[16 + length :]
    finally:
        os.close(watching)
