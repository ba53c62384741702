"""Check and parse texts of the configuration, targets files and eval files."""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from rubric_ci.files.parsing.config_parser import read_config, read_targets
from rubric_ci.files.parsing.eval_file import NO_NAMES, TargetNames, parse
from rubric_ci.files.validation.config_summary import KnownTargets, summarize_config
from rubric_ci.files.validation.includes import with_includes
from rubric_ci.files.validation.located_problems import position
from rubric_ci.files.validation.problem_formats import headline
from rubric_ci.files.validation.rubric_files import NOT_SHARED, Shared
from rubric_ci.files.validation.target_rules import TARGET_NAME_DUPLICATE
from rubric_ci.files.validation.validator import (
    Surroundings,
    check_config,
    check_evals,
    check_prompts,
    switched,
)
from rubric_ci.files.yaml_text.source import MovedSource, Source, open_source
from rubric_ci.values.config import Config
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.evals import EvalFile
from rubric_ci.values.model_end_and_parameters import Models
from rubric_ci.values.problems import Path, errors_of
from rubric_ci.values.references import NO_SUCH_FILE, Lookup, NotFound
from rubric_ci.values.targets import Target, UnsupportedTarget


def no_files(_: str) -> NotFound:
    return NotFound(NO_SUCH_FILE)


class LoadedConfig(NamedTuple):
    """The configuration, unless there are errors, and every problem."""

    config: Config | None
    diagnostics: tuple[Diagnostic, ...]


class LoadedTargets(NamedTuple):
    """The targets, and every problem; none if there are errors outside of single targets.

    A target with errors is not started: it stops the cases that use it, and no others.
    """

    targets: tuple[Target, ...]
    diagnostics: tuple[Diagnostic, ...]


def load_config(
    document: Source,
    rules: Mapping[str, str] | None = None,
    *,
    lookup: Lookup = no_files,
    models: Callable[[], Models] | None = None,
) -> LoadedConfig:
    """Check and parse a configuration.

    `rules` are the severities that hold; None: its own. `lookup` finds prompt files.
    """
    severities = summarize_config(document).rules if rules is None else rules
    found = (*check_config(document, models=models), *check_prompts(document, lookup))
    found = switched(found, document.texts(), severities)
    return LoadedConfig(None if errors_of(found) else read_config(document, lookup), found)


def load_targets(
    document: Source,
    rules: Mapping[str, str] | None = None,
    *,
    lookup: Lookup = no_files,
    models: Callable[[], Models] | None = None,
) -> LoadedTargets:
    """Check and parse a targets file; `rules` are the configuration's severities."""
    found = check_config(document, targets_only=True, models=models)
    found = (*found, *check_prompts(document, lookup))
    found = switched(found, document.texts(), rules or {})
    if not (errors := errors_of(found)):
        return LoadedTargets(read_targets(document, lookup), found)
    owners = [_owner(document, each) for each in errors]
    targets = document.data["targets"] if None not in owners else ()
    check = partial(check_config, targets_only=True, models=models)
    alone = []
    for index in range(len(targets)):
        own = [error for error, at in zip(errors, owners, strict=True) if at == index]
        alone.append(_alone(document, index, own, lookup, check))
    return LoadedTargets(tuple(alone), found)


def _owner(document: Source, error: Diagnostic) -> int | None:
    """Return the target that has an error; None: it concerns the whole file."""
    targets = document.data.get("targets") if isinstance(document.data, dict) else None
    known = targets if document.readable and isinstance(targets, list) else []
    starts = [document.locate(("targets", index))[:2] for index in range(len(known))]
    before = bisect_right(starts, (error.span.line, error.span.column))
    if not before or error.rule in _OF_SEVERAL:
        return None
    line, column = starts[before - 1]
    inside = error.span.line == line or error.span.column >= column  # else: a key of the file
    return before - 1 if inside else None


_OF_SEVERAL: Final = frozenset((TARGET_NAME_DUPLICATE.id,))


def _alone(
    document: Source,
    index: int,
    own: list[Diagnostic],
    lookup: Lookup,
    check: Callable[[Source], tuple[Diagnostic, ...]],
) -> Target:
    """Return a target of a file with errors; it is not started if one of them is its own.

    An alias has the errors of the target that it names.
    """
    target = document.data["targets"][index]
    moved: dict[Path, Path] = {("targets", 0): ("targets", index)}
    part = MovedSource(document, {"targets": [target]}, moved)
    found = (*own, *check(part), *check_prompts(part, lookup))
    if not (errors := errors_of(found)):
        return read_targets(part, lookup)[0]
    name = target.get("name") if isinstance(target, dict) else None
    reason = headline(min(errors, key=position))
    return UnsupportedTarget(name=str(name), provider="", reason=reason)


class Loaded(NamedTuple):
    """The cases, unless there are errors, and every problem."""

    eval_file: EvalFile | None
    diagnostics: tuple[Diagnostic, ...]


def load(
    path: str,
    text: str,
    lookup: Lookup,
    sidecar: str | None = None,
    *,
    rules: Mapping[str, str] | None = None,
    default_evaluator: str = "none",
    shared: Shared = NOT_SHARED,
) -> Loaded:
    """Check and parse a text as an eval file without files of cases.

    `path` is relative to the repository root, with forward slashes; `sidecar` is the text of the
    sidecar of a JSON Lines file; `shared` are the criteria that the configuration gives to each
    case.
    """
    source = with_includes(open_source(path, text, sidecar), lookup, shared)
    return load_source(source, lookup, rules or {}, default_evaluator=default_evaluator)


def load_source(
    source: Source,
    lookup: Lookup,
    rules: Mapping[str, str],
    *,
    default_evaluator: str,
    targets: TargetNames = NO_NAMES,
) -> Loaded:
    """Check and parse an eval file; `rules` and `default_evaluator` are the configuration's."""
    found = check_evals(source, Surroundings(lookup, KnownTargets(prompts=None)))
    found = switched(found, source.texts(), rules)
    if errors_of(found):
        return Loaded(None, found)
    return Loaded(parse(source, lookup, default_evaluator, targets), found)
