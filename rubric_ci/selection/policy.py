"""Whose policy a command follows: the base's on a pull request in CI, else the checkout's own."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click

from rubric_ci.errors import CannotConfigure, CannotReadFile, CannotReadPolicy, CannotUseGit
from rubric_ci.git import base_revision, plumbing
from rubric_ci.git.snapshot import open_commit
from rubric_ci.github.actions import Event, read_event
from rubric_ci.llm.allowed_hosts import hosts_of
from rubric_ci.model.config import Config, Endpoint
from rubric_ci.model.git_changes import Base, FoundBase, NoBase, Trigger
from rubric_ci.model.hosts import AllowedHosts
from rubric_ci.model.references import Lookup
from rubric_ci.parsing.env_vars import Variables, substitute
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import LoadedProject
from rubric_ci.project.loaded_project import open_project as open_checkout
from rubric_ci.project.policy import CALIBRATION, PolicyChange, endpoints, policy_changes
from rubric_ci.project.project import Project
from rubric_ci.text.escape import log_line
from rubric_ci.validation.output.text import headline

HAS_BASE: Final = frozenset(
    {"pull_request", "pull_request_target", "pull_request_review", "merge_group"}
)
OWN: Final = "set `--policy-from head` to use the judge and the gate of the checkout itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneFile:
    """Implements `RepositoryFiles` with one configuration and the calibration in its folder."""

    root: Path
    file: Path

    def read(self, name: str) -> bytes | None:
        """Return the bytes of one of the two files; there is no other."""
        if name == self.file.as_posix():
            return discovery.read_bytes(self.file)
        calibration = self.file.with_name(CALIBRATION)
        if name == CALIBRATION and calibration.is_file():
            return discovery.read_bytes(calibration)
        return None

    def lookup(self, name: str) -> Lookup:
        """Return what resolves references from the root; a configuration has none."""
        return discovery.lookup(self.root, self.root / name)


def open_project(config: Path | None, policy_from: str = "", changed_since: str = "") -> Project:
    """Open the project under its policy.

    Raises CannotReadPolicy if the policy cannot be read.
    """
    project = open_checkout(config)
    match policy_from:
        case "head":
            return project
        case "" | "base":
            base = _find_base(project.root, changed_since, required=policy_from == "base")
            return project if base is None else _under_base(project, base)
        case _:
            return _under_file(project, Path(policy_from))


def policy_notes(opened: LoadedProject) -> tuple[str, ...]:
    """Return what a report shows of the policy: its origin, and what the change would set."""
    policy = opened.project.policy
    if policy is None:
        return ()
    if not policy.config_name:
        return (f"{policy.origin} has no configuration: this change sets judge, gate and rules",)
    title = f"Policy (judge, gate, rules, calibration) is that of {policy.origin}"
    changes = [*_changes(opened, policy), *_calibration_change(opened.project, policy)]
    shown = (
        f"Policy change, in effect after the merge: {each.key}: {each.before} → {each.after}"
        for each in changes
    )
    return (title, *shown) if changes else ()


def show_policy(opened: LoadedProject) -> None:
    """Print on standard error what `policy_notes` returns, for commands without a report."""
    for note in policy_notes(opened):
        click.echo(log_line(note), err=True)


def allowed_hosts(
    opened: LoadedProject, given: Sequence[str], environment: Mapping[str, str]
) -> AllowedHosts | None:
    """Return the hosts of `--allow-host`, else those of the base's models; None: every host."""
    policy = opened.project.policy
    if given:
        return AllowedHosts(hosts=frozenset(given), providers=False)
    if policy is None or not policy.config_name:
        return None
    configs = [policy.policy_for(name) for name in _served(opened)]
    found = (_hosts(each, config, environment) for config in configs for each in endpoints(config))
    return AllowedHosts(hosts=frozenset[str]().union(*found), providers=True)


def _hosts(endpoint: Endpoint, config: Config, environment: Mapping[str, str]) -> frozenset[str]:
    """Return the hosts of a model; none if its variables are not set, as it cannot be asked."""
    variables = Variables(environment=environment, listed=config.env_allow)
    try:
        return hosts_of(replace(endpoint, options=substitute(endpoint.options, variables)))
    except CannotConfigure:
        return frozenset()


def _served(opened: LoadedProject) -> Iterator[str]:
    """Yield the names of the eval files, after one for the root."""
    yield "any"
    yield from (file.path for file in opened.files)


def _find_base(root: Path, changed_since: str, *, required: bool) -> Base | None:
    """Return the base whose policy holds; None: no base is known, and none is required."""
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
    return event.name in HAS_BASE or bool(named and not merged)


def _read_base(root: Path, event: Event | None, named: str) -> FoundBase:
    repository = plumbing.open_repository(root, os.environ)
    if event is None or event.name not in HAS_BASE:
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


def _under_base(project: Project, base: Base) -> Project:
    repository = plumbing.open_repository(project.root, os.environ)
    files = open_commit(repository, base.commit)
    origin = f"{base.origin} ({base.commit[:10]})"
    return _under(project, Project(files, project.named_config, origin=origin))


def _under_file(project: Project, file: Path) -> Project:
    try:
        discovery.read_bytes(file)
    except CannotReadFile as error:
        raise CannotReadPolicy(
            f"--policy-from: {error.message}", "expected base, head or a configuration file"
        ) from None
    files = OneFile(root=project.root, file=file)
    return _under(project, Project(files, file.as_posix(), origin=file.as_posix()))


def _under(project: Project, policy: Project) -> Project:
    """Return the project under a policy; raises CannotReadPolicy if that has errors."""
    loaded = policy.own_config
    if loaded.config is None:
        raise CannotReadPolicy(
            f"the configuration of {policy.origin} has problems: {headline(loaded.diagnostics[0])}",
            f"fix it there first; {OWN}",
        )
    return Project(project.files, project.named_config, policy)


def _changes(opened: LoadedProject, policy: Project) -> list[PolicyChange]:
    """Return the changes of the files that serve any eval file, each key once."""
    own = Project(opened.project.files, opened.project.named_config)
    found: dict[str, PolicyChange] = {}
    for name in _served(opened):
        for change in policy_changes(own.policy_for(name), policy.policy_for(name)):
            found.setdefault(change.key, change)
    return list(found.values())


def _calibration_change(project: Project, policy: Project) -> list[PolicyChange]:
    then, now = policy.files.read(CALIBRATION), project.files.read(CALIBRATION)
    if then == now:
        return []
    before = "(none)" if then is None else "as in the base"
    after = "(none)" if now is None else "as in this change"
    return [PolicyChange(key=CALIBRATION, before=before, after=after)]
