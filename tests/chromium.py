"""A headless Chromium that tests drive over its DevTools protocol, through two pipes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

UNPACKED: Final = Path(__file__).parent / "npm/node_modules/.chromium"
NAMES: Final = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser", "chrome")
MISSING: Final = "no Chromium: `make tests/npm/node_modules/.ready` unpacks one, with Node on Linux"
_LIBRARIES: Final = str(UNPACKED / "lib")  # after those of the system
_FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions",
    "--remote-debugging-pipe",
)  # fmt: skip
_KEYS: Final = {"Enter": "\r", "Escape": ""}


def find() -> str | None:
    """Return the path of a browser; None if there is none, or no pipes to it (on Windows)."""
    if sys.platform == "win32":
        return None
    own = UNPACKED / "chromium"
    return str(own) if own.exists() else next(filter(None, map(shutil.which, NAMES)), None)


@dataclass(kw_only=True)
class Browser:
    """A running browser; every message is one JSON text that ends with a NUL."""

    to: int
    back: int
    events: list[dict[str, Any]] = field(default_factory=list)
    _last: int = 0
    _rest: bytes = b""

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; events that arrive before it are kept."""
        self._last += 1
        about = {"sessionId": session} if session else {}
        message = {"id": self._last, "method": method, "params": parameters, **about}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while (reply := self._next()).get("id") != self._last:
            self.events.append(reply)
        assert "error" not in reply, f"{method}: {reply['error']}"
        result: dict[str, Any] = reply["result"]
        return result

    def wait(self) -> None:
        """Wait for the next event."""
        self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self.back, 1 << 20)
            assert read, "the browser ended"
            self._rest += read
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message


@dataclass(frozen=True, kw_only=True)
class Page:
    """A tab."""

    browser: Browser
    session: str

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command about this tab."""
        return self.browser.call(method, self.session, **parameters)

    def open(self, address: str) -> None:
        """Load an address, and wait until it is loaded."""
        for each in ("about:blank", address):  # else another fragment alone loads nothing
            before = len(self.seen("Page.loadEventFired"))
            self.call("Page.navigate", url=each)
            while len(self.seen("Page.loadEventFired")) == before:
                self.browser.wait()

    def get(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, after its promise."""
        options = {"returnByValue": True, "awaitPromise": True}
        found = self.call("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"text": _KEYS.get(key, key)} if _KEYS.get(key, key) else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def seen(self, method: str) -> list[dict[str, Any]]:
        """Return the parameters of the events of a kind."""
        events = self.browser.events
        own = (e for e in events if e.get("sessionId") == self.session)
        return [event["params"] for event in own if event.get("method") == method]


@contextmanager
def running(path: str) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it."""
    orders, to = os.pipe()
    back, replies = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        redirected = f'exec "$@" 3<&{orders} 4>&{replies}'
        command = ["bash", "-c", redirected, "bash", path, *_FLAGS, f"--user-data-dir={profile}"]
        libraries = os.pathsep.join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), _LIBRARIES]))
        env = {**os.environ, "LD_LIBRARY_PATH": libraries}
        process = subprocess.Popen(
            command,
            pass_fds=(orders, replies),
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(orders)
        os.close(replies)
        browser = Browser(to=to, back=back)
        try:
            yield browser
            browser.call("Browser.close")
        finally:
            os.close(to)
            os.close(back)
            process.terminate()
            process.wait(20)


@contextmanager
def tab(browser: Browser, *, script: bool = True) -> Iterator[Page]:
    """Open a tab that records its requests, dialogs and messages."""
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    page = Page(browser=browser, session=session)
    for domain in ("Page", "Network", "Runtime", "Log"):
        page.call(f"{domain}.enable")
    page.call("Emulation.setScriptExecutionDisabled", value=not script)
    try:
        yield page
    finally:
        browser.call("Target.closeTarget", targetId=target)
