"""What becomes of the changed files: nothing, or a commit."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from rubric_ci import branch
from rubric_ci.commands.outcome import tell
from rubric_ci.commands.rewriting import Rewrite
from rubric_ci.git import Repository, open_repository
from rubric_ci.model.settings import GenerateSettings
from rubric_ci.render import commit_message

Publish: TypeAlias = Callable[[Sequence[Rewrite]], None]
"""Carry on with the files that were written."""


def open_publication(settings: GenerateSettings, root: Path, paths: Sequence[str]) -> Publish:
    """Make sure, before anything is spent, that what was asked for can be done."""
    if not (settings.commit or settings.fixup):
        return lambda _: None
    repository = open_repository(root, os.environ)
    branch.check(repository, [*dict.fromkeys(paths)], fixup=settings.fixup)
    return lambda changes: _commit(changes, repository, settings.fixup)


def _commit(changes: Sequence[Rewrite], repository: Repository, fixup: str) -> None:
    added = {change.name: change.added for change in changes if change.added}
    if not added:
        return
    made = branch.commit(repository, [*added], commit_message.message(added), fixup=fixup)
    tell(f"committed {made[:10]} on {branch.current(repository)}")
