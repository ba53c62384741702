"""act as the runner: workflows of examples/workflows/ run on this machine, without GitHub."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.checkout import ENVIRONMENT, Checkout
from tests.hooks.pins import OURS, PINS, at

ROOT = Path(__file__).parents[2]
ACT = ROOT / ".tools" / "act"
ACTIONS = Path(__file__).parent / "actions"
BIN = Path(sys.executable).parent  # where uv is


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a job did, as act's log has it."""

    succeeded: bool
    log: str  # what the steps printed
    events: tuple[Mapping[str, Any], ...]

    @property
    def outputs(self) -> dict[str, str]:
        """Outputs of the steps, the last of a name that says something."""
        found = [(e["name"], e["arg"]) for e in self.events if e.get("command") == "set-output"]
        return dict(found) | {name: said for name, said in found if said}

    @property
    def annotations(self) -> list[str]:
        """The annotations that steps asked for: `error evals/a.yaml:3`."""
        known = ("error", "warning", "notice")
        asked = (e for e in self.events if e.get("command") in known)
        return [f"{e['command']} {place(e['kvPairs'])}" for e in asked]

    @property
    def summary(self) -> str:
        """What steps wrote into the job's summary."""
        return "".join(e["content"] for e in self.events if e.get("command") == "summary")


def linked(published: Path) -> Path:
    """Return a folder that is the published action, as a link: act copies it twice per step."""
    folder = published.with_name("action")
    if not folder.exists():
        made = Path(tempfile.mkdtemp(dir=published.parent))
        shutil.copy(published / "action.yml", made)
        (made / "hooks").symlink_to(published / "hooks")
        with suppress(OSError):  # another worker was faster
            made.rename(folder)
    return folder


def stand_ins() -> dict[str, Path]:
    """The actions of GitHub's that workflows use, each at its pinned commit, as simple ones."""
    folders = {name: ACTIONS / name.removeprefix("actions/") for name in PINS}
    return {at(name): folder for name, folder in folders.items() if folder.is_dir()}


def place(properties: Mapping[str, str]) -> str:
    """Say where an annotation points."""
    return f"{properties.get('file', '')}:{properties.get('line', '')}"


def run(
    repository: Checkout,
    workflow: str,
    *,
    folder: str = "examples/workflows",
    only: tuple[str, ...] = (),
    event: str,
    payload: Mapping[str, Any],
    published: Checkout,
    environ: Mapping[str, str] = MappingProxyType({}),
    secrets: Mapping[str, str] = MappingProxyType({}),
) -> Job:
    """Run one of our workflows in a repository, which need not hold it, for one event.

    `only` holds act's options that leave jobs out.
    """
    scratch = repository.root.parent
    written = scratch / "event.json"
    written.write_text(json.dumps(payload))
    local = {at(OURS): linked(published.root), **stand_ins()}
    environ = {"KEPT": str(scratch / "kept"), **environ}
    words: list[str | Path] = [
        *(ACT, event, "--json", "--no-cache-server", "--pull=false", "--eventpath", written),
        *("--workflows", str(ROOT / folder / workflow), *only),
        *("--platform", "ubuntu-latest=-self-hosted"),
        *(
            word
            for name, path in local.items()
            for word in ("--local-repository", f"{name}={path}")
        ),
        *(word for name, value in environ.items() for word in ("--env", f"{name}={value}")),
        *(word for name, value in secrets.items() for word in ("--secret", f"{name}={value}")),
    ]
    own = {
        "PATH": os.pathsep.join([str(BIN), ENVIRONMENT["PATH"]]),
        "HOME": str(scratch / "home"),
        # The runner's tools are kept from job to job, as on a runner of one's own.
        "XDG_CACHE_HOME": str(published.root.parent / "runner"),
    }
    ended = subprocess.run(
        words,
        cwd=repository.root,
        env=ENVIRONMENT | own,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    events = tuple(json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{"))
    results = [event["jobResult"] for event in events if "jobResult" in event]
    assert results, ended.stdout + ended.stderr
    return Job(
        succeeded=set(results) == {"success"},
        log="".join(event["msg"] for event in events if event.get("raw_output")),
        events=events,
    )
