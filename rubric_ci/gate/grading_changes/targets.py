"""Changes to the settings of a target that its answers depend on, compared one by one.

Settings under test are exempt: model, prompt, skill and parameters. A change of another setting is
listed, so a new field of a target is listed until it has a row here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Final

from rubric_ci.gate.policy.settings import judge_targets
from rubric_ci.gate.policy.strength import connection, provider
from rubric_ci.values.changes import Direction, GradingChange
from rubric_ci.values.config import CliTarget, Config, LlmTarget, RunnerTarget, Target

LineOf = Callable[[str], tuple[str, int]]

ELSEWHERE: Final = frozenset(("name", "judge_target", "depends_on", "held", "answers", "response"))
"""Settings with their own row, or that are computed."""
UNDER_TEST: Final = frozenset(
    (
        *("endpoint.model", "endpoint.options", "endpoint.identity", "prompt", "skill"),
        *("agent.model", "agent.tools", "concurrency"),
    )
)
"""Settings that no answer depends on: descriptions and concurrency."""
_WORDS: Final = ("endpoint.http.", "endpoint.")  # left out: a user does not write them
_UNSHOWN: Final = "endpoint.options"  # may hold credentials


def how_changes(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    """Yield the settings of targets that answer otherwise than at the base.

    A target that must be exceeded (`gate.better_than`) is a measure: nothing of it is exempt.
    """
    measures = measures_of(head, base)
    judging = judge_targets(head) | judge_targets(base)
    for name, then in base.targets.items():
        now = head.targets.get(name)
        if now is None and name in measures:
            yield _told(f"targets.{name}", "changed", _asked(then) or "written down", "", line_of)
        if now:
            exempt = ELSEWHERE if name in measures else ELSEWHERE | UNDER_TEST
            yield from _of_target(f"targets.{name}", now, then, exempt, line_of)
            if name not in measures | judging:
                yield from _of_connection(f"targets.{name}", now, then, line_of)


def measures_of(head: Config, base: Config) -> frozenset[str]:
    """Return the names of the targets that must be exceeded; nothing of them is under test."""
    return frozenset((head.gate.better_than, base.gate.better_than)) - {""}


def _of_target(
    owner: str, now: Target, then: Target, exempt: frozenset[str], line_of: LineOf
) -> Iterator[GradingChange]:
    if type(now) is not type(then):
        sides = _asked(then), _asked(now)
        if all(sides):
            yield _told(owner, "changed", *sides, line_of)
        return
    before, after = settings(then, exempt), settings(now, exempt)
    for key in dict.fromkeys((*before, *after)):
        was, now_is = before.get(key, ""), after.get(key, "")
        if was != now_is:
            shown = ("as at the base", "edited") if key.startswith(_UNSHOWN) else (was, now_is)
            direction = _of_graders(then, now) if key == "graders" else "changed"
            yield _told(f"{owner}.{_word(key)}", direction, *shown, line_of)


def _of_connection(
    owner: str, head: Target, base: Target, line_of: LineOf
) -> Iterator[GradingChange]:
    """Yield where another provider is asked; of the same provider it is a setting of the policy."""
    if not (isinstance(head, LlmTarget) and isinstance(base, LlmTarget)):
        return
    now, then = head.endpoint, base.endpoint
    if provider(now) == provider(then):
        return
    before, after = connection(then), connection(now)
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            shown = ("as at the base" if key in before else "", "edited" if key in after else "")
            yield _told(f"{owner}.{key}", "changed", *shown, line_of)


def _of_graders(then: Target, now: Target) -> Direction:
    """Return the direction of the graders that decide; none named means all."""
    assert isinstance(then, RunnerTarget), then  # noqa: S101 - others have no graders
    assert isinstance(now, RunnerTarget), now  # noqa: S101 - both are of one type
    before, after = set(then.graders), set(now.graders)
    narrowed = bool(after) and (not before or bool(before - after))
    return "weaker" if narrowed else "stronger"


def _told(
    key: str, direction: Direction, before: str, after: str, line_of: LineOf
) -> GradingChange:
    file, line = line_of(key)
    return GradingChange(
        kind="target",
        direction=direction,
        about=key,
        file=file,
        line=line,
        before=before,
        after=after,
    )


def _word(key: str) -> str:
    for prefix in _WORDS:
        if key.startswith(prefix):
            return key.removeprefix(prefix)
    return key


def _asked(target: Target) -> str:
    """Return the program or service that answers; "" for recorded answers: another row has them."""
    match target:
        case LlmTarget(endpoint=endpoint):
            return f"{'service' if endpoint.http else 'model'} {endpoint.model}"
        case CliTarget(agent=None) | RunnerTarget():
            return f"command {target.command_template}"
        case CliTarget(agent=agent):
            return f"agent {agent.name}" if agent else ""
        case _:
            return ""


def settings(value: object, exempt: frozenset[str], at: str = "") -> dict[str, str]:
    """Return the settings of a value as texts, also of its parts; unset ones are left out."""
    found: dict[str, str] = {}
    for name in (field.name for field in fields(value)):  # type: ignore[arg-type]
        key, setting = f"{at}{name}", getattr(value, name)
        if key in exempt or setting is None or setting in ("", ()):
            continue
        if is_dataclass(setting):
            found |= settings(setting, exempt, f"{key}.")
        else:
            found[key] = _text(setting)
    return found


def _text(setting: object) -> str:
    if isinstance(setting, Mapping):
        return str(dict(setting))
    if isinstance(setting, tuple):
        return ", ".join(map(str, setting))
    return str(setting)
