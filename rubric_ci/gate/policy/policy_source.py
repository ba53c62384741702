"""Where the policy of a command comes from: the base on a pull request in CI, or a file.

NOTE: `validate` imports this on pull requests, so it needs neither the classes of a run nor git
code for the other events.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rubric_ci.errors import CannotReadFile, CannotReadPolicy
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.change import BaseOptions, Change
from rubric_ci.files.project.project import Policy, Project
from rubric_ci.system import file_io
from rubric_ci.text import escape
from rubric_ci.values.changes import NoBase
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import CALIBRATION, WAIVERS
from rubric_ci.values.references import Lookup

if TYPE_CHECKING:
    from rubric_ci.values.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class OneFile:
    """Implements `RepositoryFiles` with one configuration, and the policy files in its folder."""

    root: Path
    file: Path

    def read(self, name: str) -> bytes | None:
        """Return the bytes of one of the three files; there is no other."""
        if name == self.file.as_posix():
            return working_tree.read_bytes(self.file, self.root)
        if name not in {CALIBRATION, WAIVERS}:
            return None
        neighbour = self.file.with_name(name)
        return working_tree.read_bytes(neighbour, self.root) if neighbour.is_file() else None

    def lookup(self, name: str) -> Lookup:
        """Resolve references in the repository; of a file that is elsewhere, in its folder."""
        path = self.root / name
        inside = file_io.is_inside(os.path.realpath(path), os.path.realpath(self.root))
        return working_tree.lookup(self.root if inside else path.parent, path)

    def matching(self, _: str) -> list[str]:
        return []


def find_policy(project: Project, change: Change) -> Project | None:
    """Return the project whose policy a command follows; None: the checkout's own.

    Raises CannotReadPolicy if the base or the file cannot be read.
    """
    match "" if change.proposal else change.options.policy_from:
        case "head":
            return None
        case "" | "base":
            return _of_base(project, change)
        case policy_from:
            return _of_file(project, Path(policy_from))


def under_rules(project: Project, policy_from: str) -> tuple[Project, tuple[str, ...]]:
    """Return the project under the rule switches of its policy, and what to show of them.

    A policy with errors keeps the switches that can be read, so that a change can repair it.
    Raises CannotReadPolicy if the policy cannot be read.
    """
    change = Change(project.root, BaseOptions(policy_from=policy_from))
    policy = find_policy(project, change)
    if policy is None:
        return project, ()
    return under(project, policy), tuple(_notes(project, policy))


def under(project: Project, policy: Project) -> Project:
    return project.at(project.files, Policy(project=policy, govern=_govern))


def _notes(own: Project, policy: Project) -> Iterator[str]:
    from rubric_ci.gate.differences.config_changes import (  # the classes of a run
        change_notes,
        policy_changes,
    )
    from rubric_ci.values.config import Config

    if policy.config_name:
        title = f"Policy (rule switches) is taken from {policy.origin}"
        switches = Config(rules=own.rules), Config(rules=policy.rules)
        yield from change_notes(title, list(policy_changes(*switches)))
    elif own.rules:
        yield f"{policy.origin} has no configuration: this change sets the rules"


def _govern(head: "Config", base: "Config", configured: bool) -> "Config":
    # The classes of a run are imported with these.
    from rubric_ci.gate.policy.governed import governed, with_known_prices
    from rubric_ci.system.model_list import model_info

    found = governed(head, base, configured=configured)
    priced = with_known_prices(found, base, lambda name: "input_cost_per_token" in model_info(name))
    return priced if configured else found


def _of_base(project: Project, change: Change) -> Project | None:
    base = change.policy
    if base is None:
        return None
    if isinstance(base, NoBase):
        raise CannotReadPolicy(
            f"the policy of the base cannot be read: {base.reason}",
            "judge, gate and rules come from the base commit",
        )
    origin = f"{base.origin} ({escape.commit(base.commit)})"
    return project.at(change.at(base).committed, origin=origin)


def _of_file(project: Project, file: Path) -> Project:
    try:
        working_tree.read_bytes(file, project.root)
    except CannotReadFile as error:
        raise CannotReadPolicy(
            f"--policy-from: {error.message}", "expected base, head or a configuration file"
        ) from None
    files = OneFile(root=project.root, file=file)
    return Project(files, file.as_posix(), origin=file.as_posix())
