"""act as the runner: workflows of examples/workflows/ run on this machine, without GitHub."""

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from rubric_ci import __version__
from rubric_ci.system.git.plumbing import checkout_commit
from tests import platforms
from tests.captured import captured
from tests.checkout import ENVIRONMENT, Checkout
from tests.hooks import roles
from tests.hooks.pins import OURS, PINS, at

ROOT = Path(__file__).parents[2]
ACT = ROOT / ".tools" / "act"
WITH_ACT = (
    pytest.mark.slow,
    pytest.mark.skipif(not ACT.exists(), reason="act is not here; `make act` builds it with Go"),
)
ACTIONS = Path(__file__).parent / "actions"
BIN = platforms.SCRIPTS  # where uv is


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
    def ran(self) -> list[str]:
        """The steps that ran, by job: name of the action, and the exit code of what failed."""
        found: dict[str, list[str]] = {}
        for event in self.events:
            if event.get("stage") != "Main" or len(event.get("stepID", ())) > 1:
                continue
            steps = found.setdefault(f"{event['job'].rpartition('/')[2].strip()}:", [])
            if "stepResult" in event:
                steps.append(event["step"].partition("@")[0].removeprefix("actions/"))
            elif ended := re.fullmatch(r"exit status (\d+)", event["msg"]):
                steps[-1] += f"={ended[1]}"
        return [" ".join([job, *steps]) for job, steps in found.items()]

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


def merged(checkout: Checkout, files: Mapping[str, str], role: roles.Role) -> dict[str, Any]:
    """Commit on the branch `topic`, merge it as GitHub does, and return the event."""
    main = checkout.git("rev-parse", "main")
    new = () if checkout.git("branch", "--list", "topic") else ("-b",)
    checkout.git("checkout", "--quiet", *new, "topic")
    head = checkout.commit(dict(files))
    checkout.git("checkout", "--quiet", "--detach", main)
    checkout.git("merge", "--quiet", "--no-ff", "--message=merge", "topic")
    return roles.payload(role, main, head, "")


def linked(published: Path) -> Path:
    """Return a folder with the published action, as a link, and the workflows that others call.

    NOTE: act copies it twice per step.
    """
    folder = published.with_name("action")
    if not folder.exists():
        made = Path(tempfile.mkdtemp(dir=published.parent))
        shutil.copy(published / "action.yml", made)
        platforms.symlink(made / "hooks", published / "hooks")
        shutil.copytree(published / ".github/workflows", made / ".github/workflows")
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


def listed(repository: Checkout, event: str) -> set[str]:
    """Return the files of the workflows of a repository that an event starts."""
    words = [str(ACT), event, "--list", "--no-cache-server"]
    said = captured(
        words,
        cwd=repository.root,
        env=ENVIRONMENT | {"XDG_CACHE_HOME": str(repository.root.parent)},
        check=True,
    )
    return set(re.findall(r"[\w-]+\.yml", said.stdout))


def run(
    repository: Checkout,
    workflow: str,
    *,
    folder: str = "examples/workflows",
    scratch: Path | None = None,
    only: tuple[str, ...] = (),
    event: str,
    payload: Mapping[str, Any],
    published: Checkout,
    environ: Mapping[str, str] = MappingProxyType({}),
    secrets: Mapping[str, str] = MappingProxyType({}),
) -> Job:
    """Run one of our workflows in a repository, which need not hold it, for one event.

    `only` holds act's options that leave jobs out; `scratch` is where runs keep what they share.
    """
    scratch = scratch or repository.root.parent
    written = scratch / "event.json"
    written.write_text(json.dumps(payload))
    ours = linked(published.root)
    pins = (
        f"v{__version__}",
        checkout_commit(ENVIRONMENT),
    )  # of the examples, and of `init` in a checkout
    local = {at(OURS): ours, **{f"{OURS}@{pin}": ours for pin in pins}, **stand_ins()}
    environ = {"KEPT": str(scratch / "kept"), "GITHUB_RUN_ID": str(time.time_ns()), **environ}
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
    ended = captured(words, cwd=repository.root, env=ENVIRONMENT | own, timeout=240)
    events = tuple(json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{"))
    results = [event["jobResult"] for event in events if "jobResult" in event]
    assert results or not ended.returncode, ended.stdout + ended.stderr
    return Job(
        succeeded=set(results) <= {"success"},  # empty: every job was skipped
        log="".join(event["msg"] for event in events if event.get("raw_output")),
        events=events,
    )
