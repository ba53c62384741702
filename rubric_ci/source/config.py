"""`rubric-ci.yaml` and targets files: their text to a `Config` and targets, or what is wrong."""

from collections.abc import Mapping
from typing import NamedTuple

from rubric_ci.model.config import Config, Target
from rubric_ci.model.diagnostic import Diagnostic
from rubric_ci.source.checking.check import check_config
from rubric_ci.source.checking.diagnosis import has_errors
from rubric_ci.source.checking.facts import read_facts
from rubric_ci.source.checking.switches import switched
from rubric_ci.source.parsing.settings import read_config, read_targets
from rubric_ci.source.text.document import Document


class LoadedConfig(NamedTuple):
    """The configuration, unless there are errors, and every problem."""

    config: Config | None
    diagnostics: tuple[Diagnostic, ...]


class LoadedTargets(NamedTuple):
    """The targets, none if there are errors, and every problem."""

    targets: tuple[Target, ...]
    diagnostics: tuple[Diagnostic, ...]


def load_config(path: str, text: str) -> LoadedConfig:
    """Check and read a configuration; `path` is relative to the repository root."""
    document = Document(path, text)
    found = switched(check_config(document), document.texts(), read_facts(document).rules)
    return LoadedConfig(None if has_errors(found) else read_config(document), found)


def load_targets(path: str, text: str, rules: Mapping[str, str] | None = None) -> LoadedTargets:
    """Check and read a targets file; `path` is relative to the repository root.

    `rules` are the configuration's switches.
    """
    document = Document(path, text)
    found = check_config(document, targets_only=True)
    found = switched(found, document.texts(), rules or {})
    return LoadedTargets(() if has_errors(found) else read_targets(document), found)
