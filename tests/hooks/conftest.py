"""Fixtures of the tests of hooks and action: this repository as users get it, made once."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.hooks import composite

ROOT = Path(__file__).parents[2]
# Each clone would make a pack of files that are none, and to compress them takes half of the time.
AS_ONE_PACK = ("-c", "core.bigFileThreshold=1", "-c", "core.compression=0")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that every worker of this session sees."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def published(shared: Path) -> Checkout:
    """This repository as a hook manager or a runner fetches it: one commit, nothing ignored."""
    return Checkout(once(shared / "published", publish))


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Make a folder that every worker of this session shares."""
    with FileLock(folder.with_suffix(".lock"), timeout=120):
        if not folder.exists():
            make(folder)
    return folder


def publish(folder: Path) -> None:
    """Commit the working tree, with what is not yet committed here."""
    published = Checkout.create(folder)
    listed = Checkout(ROOT).git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    for place in sorted({(folder / name).parent for name in names}):
        place.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(ROOT / name, folder / name)
    published.git(*AS_ONE_PACK, "add", "--all")
    published.commit()


@dataclass(frozen=True, slots=True)
class Step:
    """A step with the published action in a workspace, on a runner that keeps its tool cache."""

    published: Checkout
    checkout: Checkout
    tool_cache: Path

    def run(self, given: Mapping[str, str], **environ: str) -> composite.Ran:
        local = ("GITHUB_", "RUBRIC_CI_")
        around = {
            **{name: value for name, value in ENVIRONMENT.items() if not name.startswith(local)},
            "PATH": os.pathsep.join([str(platforms.SCRIPTS), os.defpath]),
            "RUNNER_TOOL_CACHE": str(self.tool_cache),
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.checkout.root),
            **environ,
        }
        return composite.run(
            self.published.root, given, workspace=self.checkout.root, environ=around
        )


@pytest.fixture
def step(published: Checkout, checkout: Checkout, shared: Path) -> Step:
    return Step(published, checkout, once(shared / "tools", Path.mkdir))
