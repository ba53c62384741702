"""Check and parse texts of the configuration, targets files and eval files."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from rubric_ci.files.dialects import open_config, open_source
from rubric_ci.files.parsing.config import read_config, read_targets
from rubric_ci.files.parsing.eval_file import TargetNames, parse
from rubric_ci.files.validation.config_summary import KnownTargets, summarize_config
from rubric_ci.files.validation.diagnostics import has_errors
from rubric_ci.files.validation.validator import check_config, check_evals, check_prompts, switched
from rubric_ci.model.config import Config, Target
from rubric_ci.model.diagnostics import Diagnostic
from rubric_ci.model.evals import EvalFile
from rubric_ci.model.model_facts import Models
from rubric_ci.model.references import FindFiles, Lookup, NotFound


def no_files(_: str) -> NotFound:
    """Find no file."""
    return NotFound("no such file")


class LoadedConfig(NamedTuple):
    """The configuration, unless there are errors, and every problem."""

    config: Config | None
    diagnostics: tuple[Diagnostic, ...]


def with_mode(config: Config, read_calibration: Callable[[], bytes | None]) -> Config:
    """Return the configuration with the mode of the calibration in place of `judge.mode: auto`."""
    if config.judge is None or config.judge.mode != "auto":
        return config
    judge = replace(config.judge, mode=calibrated_mode(read_calibration()) or "batched")
    return replace(config, judge=judge, auto_mode=True)


def calibrated_mode(calibration: bytes | None) -> Literal["batched", "isolated"] | None:
    """Return the mode that `judge calibrate` chose; None: it did not compare the two."""
    try:
        content = json.loads(calibration or b"null")
    except ValueError:
        return None
    match content:
        case {"version": 3, "split": "test", "modes": {"chosen": "batched"}}:
            return "batched"
        case {"version": 3, "split": "test", "modes": {"chosen": "isolated"}}:
            return "isolated"
        case _:
            return None


class LoadedTargets(NamedTuple):
    """The targets, none if there are errors, and every problem."""

    targets: tuple[Target, ...]
    diagnostics: tuple[Diagnostic, ...]


def load_config(
    path: str,
    text: str,
    rules: Mapping[str, str] | None = None,
    *,
    lookup: Lookup = no_files,
    models: Callable[[], Models] | None = None,
) -> LoadedConfig:
    """Check and parse a configuration; `path` is relative to the repository root.

    `rules` are the severities that hold; None: its own. `lookup` finds prompt files.
    """
    document = open_config(path, text)
    severities = summarize_config(document).rules if rules is None else rules
    found = (*check_config(document, models=models), *check_prompts(document, lookup))
    found = switched(found, document.texts(), severities)
    return LoadedConfig(None if has_errors(found) else read_config(document, lookup), found)


def load_targets(
    path: str,
    text: str,
    rules: Mapping[str, str] | None = None,
    *,
    lookup: Lookup = no_files,
    models: Callable[[], Models] | None = None,
) -> LoadedTargets:
    """Check and parse a targets file; `path` is relative to the repository root.

    `rules` are the configuration's severities.
    """
    document = open_config(path, text)
    found = check_config(document, targets_only=True, models=models)
    found = (*found, *check_prompts(document, lookup))
    found = switched(found, document.texts(), rules or {})
    return LoadedTargets(() if has_errors(found) else read_targets(document, lookup), found)


class Loaded(NamedTuple):
    """The cases, unless there are errors, and every problem."""

    eval_file: EvalFile | None
    diagnostics: tuple[Diagnostic, ...]


def load(
    path: str,
    text: str,
    lookup: Lookup,
    sidecar: str | None = None,
    rules: Mapping[str, str] | None = None,
    *,
    default_evaluator: str = "none",
    find: FindFiles | None = None,
    targets: TargetNames = TargetNames(),  # noqa: B008 - a value
) -> Loaded:
    """Check and parse an eval file.

    `path` is relative to the repository root, with forward slashes. `sidecar` is the text of the
    sidecar of a JSON Lines file, `find` finds the files that `evalcases`
    names; `rules` and `default_evaluator` are the configuration's,
    `targets` answer the cases.
    """
    source = open_source(path, text, sidecar, find)
    found = check_evals(source, lookup, KnownTargets(prompts=None))
    found = switched(found, source.texts(), rules or {})
    if has_errors(found):
        return Loaded(None, found)
    return Loaded(parse(source, lookup, default_evaluator, targets), found)
