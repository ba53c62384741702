"""Fixtures that tests of several folders share."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A test is no step of the workflow that runs it: it has neither its event nor its summary. Before
# the imports below (E402), which copy the environment.
RUNNERS = ("ACTIONS_", "GITHUB_", "RUNNER_", "RUBRIC_CI_")
for name in [name for name in os.environ if name.startswith(RUNNERS) or name in {"CI", "TF_BUILD"}]:
    del os.environ[name]

# The tests start the program hundreds of times. Without its byte code a start compiles every module
# that it imports, a quarter of its processor time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# `python3` is the interpreter of this environment, as where it is activated. The shim of a version
# manager, a shell script, takes seven times its processor time to start.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

from tests import aimock as server  # noqa: E402
from tests import chromium  # noqa: E402
from tests.aimock import Aimock  # noqa: E402
from tests.checkout import Checkout  # noqa: E402

# hooks, which pytest looks for in this module (F401)
from tests.leftovers import pytest_sessionfinish, pytest_sessionstart, pytest_terminal_summary  # noqa: E402, F401

# Tests read and write text as Linux does; without this Windows ends the run while it collects.
if not sys.flags.utf8_mode and sys.platform == "win32":
    pytest.exit("set PYTHONUTF8=1: the tests read and write UTF-8", returncode=2)

# Each run tries the same few examples of a property, as `make mutants` does; `make properties`
# tries many others. None is timed: on a busy machine an example takes as long as it takes.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
for profile in ("default", "ci"):  # hypothesis itself chooses `ci` in a workflow
    settings.register_profile(profile, UNTIMED, max_examples=40, derandomize=True)
settings.register_profile("long", UNTIMED, max_examples=1000)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave modules and tests, which stay to the end, out of every garbage collection.

    Collections are rarer, as in the program: libraries that tests load stay as well, and to look
    through them takes a twentieth of the processor time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first: what the workers of xdist steal from each other is last.

    A file that two workers share starts its servers twice.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_runtest_teardown() -> None:
    """Collect garbage again after `validate`, which stops that for its process."""
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let programs under test be interrupted; a shell's background job ignores SIGINT."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """An empty git repository on the branch `main`."""
    return Checkout.create(tmp_path / "checkout")


@pytest.fixture(scope="session")
def browser() -> Iterator[chromium.Browser]:
    """A headless Chromium; skips where there is none."""
    if (path := chromium.find()) is None:
        pytest.skip(chromium.MISSING)
    with chromium.running(path) as running:
        yield running


@pytest.fixture(scope="session")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    """A scripted model server; skips where Node or the server is missing."""
    if reason := server.missing():
        pytest.skip(reason)
    with server.running(tmp_path_factory.mktemp("aimock")) as running:
        yield running
