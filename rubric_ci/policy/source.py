"""Where the policy of a command comes from: the base on a pull request in CI, or a file.

NOTE: `validate` imports this on pull requests, so it needs neither the classes of a run nor git
code for the other events.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rubric_ci.errors import CannotReadFile, CannotReadPolicy, CannotUseGit
from rubric_ci.git import base_revision, plumbing
from rubric_ci.git.snapshot import open_commit
from rubric_ci.github.actions import Event, read_event
from rubric_ci.model.defaults import EVENTS_WITH_BASE, WAIVERS
from rubric_ci.model.git_changes import Base, FoundBase, NoBase, Trigger
from rubric_ci.model.references import Lookup
from rubric_ci.project import discovery
from rubric_ci.project.file_names import CALIBRATION
from rubric_ci.project.project import Policy, Project

if TYPE_CHECKING:
    from rubric_ci.model.config import Config

OWN: Final = "set `--policy-from head` to use the policy of the checkout itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneFile:
    """Implements `RepositoryFiles` with one configuration, and the policy files in its folder."""

    root: Path
    file: Path

    def read(self, name: str) -> bytes | None:
        """Return the bytes of one of the three files; there is no other."""
        if name == self.file.as_posix():
            return discovery.read_bytes(self.file, self.root)
        neighbour = self.file.with_name(name)
        if name in {CALIBRATION, WAIVERS} and neighbour.is_file():
            return discovery.read_bytes(neighbour, self.root)
        return None

    def lookup(self, name: str) -> Lookup:
        """Return what resolves references from the root; a configuration has none."""
        return discovery.lookup(self.root, self.root / name)


def find_policy(project: Project, policy_from: str, changed_since: str = "") -> Project | None:
    """Return the project whose policy a command follows; None: the checkout's own.

    Raises CannotReadPolicy if the base or the file cannot be read.
    """
    match policy_from:
        case "head":
            return None
        case "" | "base":
            base = find_base(project.root, changed_since, required=policy_from == "base")
            return None if base is None else _of_base(project, base)
        case _:
            return _of_file(project, Path(policy_from))


def under(project: Project, policy: Project) -> Project:
    """Return the project under a policy."""
    return Project(project.files, project.named_config, Policy(project=policy, govern=_govern))


def _govern(head: "Config", base: "Config", configured: bool) -> "Config":
    from rubric_ci.policy.settings import governed  # imports the classes of a run

    return governed(head, base, configured=configured)


def _of_base(project: Project, base: Base) -> Project:
    repository = plumbing.open_repository(project.root, os.environ)
    files = open_commit(repository, base.commit)
    origin = f"{base.origin} ({base.commit[:10]})"
    return Project(files, project.named_config, origin=origin)


def _of_file(project: Project, file: Path) -> Project:
    try:
        discovery.read_bytes(file, project.root)
    except CannotReadFile as error:
        raise CannotReadPolicy(
            f"--policy-from: {error.message}", "expected base, head or a configuration file"
        ) from None
    files = OneFile(root=project.root, file=file)
    return Project(files, file.as_posix(), origin=file.as_posix())


def find_base(root: Path, changed_since: str, *, required: bool) -> Base | None:
    """Return the base whose policy holds; None: no base is known, and none is required.

    Raises CannotReadPolicy if it cannot be read.
    """
    event = read_event(os.environ) if os.environ.get("GITHUB_ACTIONS") == "true" else None
    named = "" if changed_since == "auto" else changed_since
    if not (required or _has_base(event, named)):
        return None
    try:
        found = _read_base(root, event, named)
    except CannotUseGit as error:
        found = NoBase(reason=error.message)
    if isinstance(found, NoBase):
        raise CannotReadPolicy(
            f"the policy of the base cannot be read: {found.reason}",
            f"judge, gate and rules come from the base commit; {OWN}",
        )
    return found


def _has_base(event: Event | None, named: str) -> bool:
    """Return True for events before a merge; what is on the default branch is merged already."""
    if event is None:
        return False
    merged = os.environ.get("GITHUB_REF") == f"refs/heads/{event.default_branch}"
    return event.name in EVENTS_WITH_BASE or bool(named and not merged)


def _read_base(root: Path, event: Event | None, named: str) -> FoundBase:
    repository = plumbing.open_repository(root, os.environ)
    if event is None or event.name not in EVENTS_WITH_BASE:
        return (
            base_revision.since(repository, named)
            if named
            else base_revision.of_checkout(repository)
        )
    trigger = Trigger(
        event=event.name,
        sha=os.environ.get("GITHUB_SHA", ""),
        base_sha=event.base_sha,
        head_sha=event.head_sha,
    )
    return base_revision.of_policy(repository, trigger)
