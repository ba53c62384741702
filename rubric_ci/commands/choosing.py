"""Choose what runs: which cases, on which target."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from posixpath import dirname, join, normpath
from typing import Any

from rubric_ci.errors import CannotConfigure, CannotFindEvals, MissingVariable
from rubric_ci.model.config import (
    CliTarget,
    Config,
    Endpoint,
    LlmTarget,
    Target,
)
from rubric_ci.model.evals import EvalCase
from rubric_ci.source.variables import substitute

DEFAULT_TARGET = "default"


def choose_cases(
    cases: Sequence[EvalCase], *, ids: Sequence[str], tags: Sequence[str]
) -> tuple[EvalCase, ...]:
    """Keep the cases that match a glob of `ids` and carry one of `tags`; empty keeps all."""
    for pattern in ids:
        if not any(fnmatchcase(case.id, pattern) for case in cases):
            known = [case.id for case in cases]
            raise CannotFindEvals(f"no case matches --case {pattern}", nearest(pattern, known))
    for tag in tags:
        if not any(tag in case.tags for case in cases):
            known = sorted({known for case in cases for known in case.tags})
            raise CannotFindEvals(f"no case carries --tag {tag}", nearest(tag, known))
    return tuple(
        case
        for case in cases
        if (not ids or any(fnmatchcase(case.id, pattern) for pattern in ids))
        and (not tags or any(tag in case.tags for tag in tags))
    )


def choose_target(case: EvalCase, config: Config, override: str = "") -> Target:
    """Return the target of the command line, else the case's, else `default` or the only one."""
    targets = config.targets
    name = override or case.target or default_target(config)
    if name in targets:
        return _beside(case, targets[name])
    asker = "--target" if override else f"{case.file}:{case.span.line}: case `{case.id}`"
    hint = nearest(name, targets) if targets else "define one under `targets` in rubric-ci.yaml"
    raise CannotConfigure(f"{asker}: there is no target `{name}`", hint)


def default_target(config: Config) -> str:
    """Name the target of cases that name none: `default`, or the only one."""
    return next(iter(config.targets)) if len(config.targets) == 1 else DEFAULT_TARGET


def resolve_target(target: Target, environment: Mapping[str, str]) -> Target:
    """Put the environment's values into a model or a command; raises `MissingVariable`."""
    match target:
        case LlmTarget(name=name, endpoint=endpoint):
            return replace(target, endpoint=resolved(endpoint, f"target `{name}`", environment))
        case CliTarget(name=name):
            written = (target.command_template, target.cwd, target.healthcheck)
            command, cwd, asked = _substituted(written, f"target `{name}`", environment)
            return replace(target, command_template=command, cwd=cwd, healthcheck=asked)
        case _:
            return target


def resolved(endpoint: Endpoint, who: str, environment: Mapping[str, str]) -> Endpoint:
    """Put the environment's values into the options of a model; raises `MissingVariable`."""
    options = _substituted(endpoint.options, who, environment)
    return replace(endpoint, options=options)


def _substituted(value: Any, who: str, environment: Mapping[str, str]) -> Any:
    try:
        return substitute(value, environment)
    except MissingVariable as error:
        raise MissingVariable(f"{who}: {error.message}", error.hint) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant, or which there are."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"known: {', '.join(f'`{name}`' for name in names)}" if names else "none is defined"


def _beside(case: EvalCase, target: Target) -> Target:
    """Return the target in the folder of the case's eval file, if that is where it runs."""
    if not isinstance(target, CliTarget) or not target.beside_evals:
        return target
    folder, asked = dirname(case.file), target.healthcheck
    if asked and "cwd" in asked:
        asked = {**asked, "cwd": _folder(folder, str(asked["cwd"]))}
    return replace(target, cwd=_folder(folder, target.cwd), healthcheck=asked, beside_evals=False)


def _folder(beside: str, folder: str) -> str:
    return folder if folder.startswith("${{") else normpath(join(beside, folder))
