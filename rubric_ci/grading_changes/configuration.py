"""Changes to the grading in the configuration: gate, judge, rules, targets, `depends_on`."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from rubric_ci.grading_changes.cases import narrowed
from rubric_ci.model.config import Config, MockTarget, RecordedTarget, Target
from rubric_ci.model.grading_changes import Direction, GradingChange
from rubric_ci.policy.changes import policy_changes

LineOf: TypeAlias = Callable[[str], tuple[str, int]]
"""A key such as `gate.fail_on` or `targets.agent.depends_on` to its file and line."""


def config_changes(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    """Yield the settings that grade otherwise, each at its line."""
    for change in policy_changes(head, base):
        if change.kind is None:
            continue
        file, line = line_of(change.key)
        yield GradingChange(
            kind=change.kind,
            direction=change.direction,
            about=change.key,
            file=file,
            line=line,
            before=change.before,
            after=change.after,
        )
    yield from _targets(head, base, line_of)


def _targets(head: Config, base: Config, line_of: LineOf) -> Iterator[GradingChange]:
    for name, then in base.targets.items():
        now = head.targets.get(name)
        if now is None:
            continue
        yield from _provider(name, now, then, line_of)
        if now.depends_on != then.depends_on:
            key = f"targets.{name}.depends_on"
            file, line = line_of(key)
            yield GradingChange(
                kind="depends-on",
                direction=narrowed(then.depends_on, now.depends_on),
                about=key,
                file=file,
                line=line,
                before=_globs(then.depends_on),
                after=_globs(now.depends_on),
            )


def _provider(name: str, now: Target, then: Target, line_of: LineOf) -> Iterator[GradingChange]:
    before, after = answers_of(then), answers_of(now)
    if before == after:
        return
    file, line = line_of(f"targets.{name}")
    yield GradingChange(
        kind="recording",
        direction=answered(then, now),
        about=f"targets.{name}",
        file=file,
        line=line,
        before=before,
        after=after,
    )


def answered(then: Target, now: Target) -> Direction:
    """Return the direction if other answers are graded; those that are written down are weaker."""
    was, is_now = (isinstance(target, RecordedTarget | MockTarget) for target in (then, now))
    if was is is_now:
        return "changed"
    return "weaker" if is_now else "stronger"


def answers_of(target: Target) -> str:
    """Return where the answers come from; recorded and fixed ones with their source."""
    match target:
        case RecordedTarget(answers=path):
            return f"recorded: {path}"
        case MockTarget(response=text):
            return f"fixed: {text}"
        case _:
            return "asked"


def _globs(globs: Sequence[str] | None) -> str:
    return "every file" if globs is None else ", ".join(globs)
