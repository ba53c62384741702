"""A run of another eval tool: head and base of a change, and suspects run again."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from time import monotonic
from typing import Final

from rubric_ci.errors import CannotConfigure, CannotRunTool
from rubric_ci.files.parsing.env_vars import Variables, substitute
from rubric_ci.files.project.change import AGAINST, BaseOptions, Change
from rubric_ci.files.project.project import Project
from rubric_ci.gate.comparison import rule, verdicts
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.gate.grading_changes.all_changes import check_is_known, find_tool_changes, ordered
from rubric_ci.gate.policy.checkout import open_under_policy
from rubric_ci.gate.report.report_file import without_secrets
from rubric_ci.gate.waivers.matching import waivers_of
from rubric_ci.github.actions import run_metadata
from rubric_ci.grading.resolve import Task
from rubric_ci.parts.bring import adopted_tools as tools
from rubric_ci.parts.bring.adopted_report import (
    Adopted,
    Facts,
    as_cases,
    note,
    report_of,
    results,
    tool_cases,
)
from rubric_ci.parts.bring.adopted_samples import Sample, ToolCase, results_changes
from rubric_ci.parts.bring.adopted_tools import TOOLS, Place, check_tracked
from rubric_ci.services.run.asking import Key, Pair, Request, settle
from rubric_ci.services.run.base_comparison import Outcome, settled_case, with_lone
from rubric_ci.system import output_and_masking
from rubric_ci.system.actions_runner import how_to_set
from rubric_ci.system.git import plumbing
from rubric_ci.system.git.worktree import worktree
from rubric_ci.values.changes import Base, GradingChange, NoBase
from rubric_ci.values.command_settings import RequestOptions, RunSettings
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.report import Against, RemovedCase, RunReport
from rubric_ci.values.results import CaseResult, Errored, both_graded
from rubric_ci.values.targets import RunnerTarget
from rubric_ci.values.waivers import WaiverResult

_MOVED: Final = "its graders have other criteria at the base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    results: Mapping[Key, CaseResult]
    cases: Mapping[Key, EvalCase]  # their questions and graders
    selectors: Mapping[Key, str]  # what the tool chooses a case by
    known: Mapping[Key, ToolCase]  # what a change of the tool's tests shows in


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSides:
    """Base and head, where the tool runs the suspects again; it writes its messages itself."""

    context: Place
    base_context: Place
    about: Adopted
    config: RegressionConfig
    selectors: Mapping[Key, str]
    waivers: Sequence[WaiverResult] = ()
    rows: int
    live: bool = True

    @property
    def can_ask(self) -> bool:
        """False if the tool cannot run some cases only."""
        return bool(self.context.target.only and self.base_context.target.only)

    async def ask(self, requests: Sequence[Request]) -> Sequence[CaseResult | None]:
        """Return one further result per request: one run of the tool per side."""
        head = await self._ran([each for each in requests if not each.is_base], self.context)
        base = await self._ran([each for each in requests if each.is_base], self.base_context)
        return [
            (base if each.is_base else head).get(each.task.case.key)
            or _lost(each.task.case.key, "the tool wrote no result")
            for each in requests
        ]

    async def _ran(self, requests: Sequence[Request], place: Place) -> Mapping[Key, CaseResult]:
        keys = [each.task.case.key for each in requests]
        if not keys:
            return {}
        try:
            found = await tools.whole(place, [self.selectors[key] for key in keys])
        except CannotRunTool as error:
            return {key: _lost(key, error.message) for key in keys}
        return ran(found, self.about, self.waivers).results


def ran(found: Sequence[Sample], about: Adopted, waivers: Sequence[WaiverResult] = ()) -> Ran:
    """Return samples as results by file and id."""
    cases = results(found, about, waivers)
    return Ran(
        results={case.key: case for case in cases},
        cases={case.key: case for case in as_cases(found, about)},
        selectors={each.key: each.selector or each.id for each in found},
        known=tool_cases(found, about),
    )


def _place(
    project: Project, target: RunnerTarget, config: Config, environment: Mapping[str, str]
) -> Place:
    """Return where the tool runs, with the variables that its command may have."""
    advice = partial(how_to_set, environment=environment)
    variables = Variables(environment=environment, listed=config.env_allow, advice=advice)
    texts = (target.command_template, target.only, target.cwd)
    command, only, cwd = (substitute(text, variables) for text in texts)
    target = replace(target, command_template=command, only=only, cwd=cwd)
    return Place(root=project.root, target=target, environment=environment)


def tool_report(
    settings: RunSettings, target: RunnerTarget, environment: Mapping[str, str], now: datetime
) -> RunReport:
    """Run the tool at the head, and for `--against` at the base; return the report.

    Raises CannotRunTool if it wrote no results at the head.
    """
    _check_options(settings, target)
    clock, select, comment = monotonic(), settings.select, settings.report.comment
    options = BaseOptions(policy_from=select.policy_from, against=select.against)
    project, change = open_under_policy(select.config, options)
    config = project.config_for("")
    place = _place(project, target, config, environment)
    about = Adopted(tool=target.reads, least=config.gate.thresholds.passing)
    tracked = tools.committed_results(place)
    forged = check_tracked(config, target.reads, tracked)
    base: Ran | str = f"it did not run at the base without `{AGAINST}`"
    if not select.against:
        _unknown(change, config, target, base)  # raises before the tool runs
    found = asyncio.run(tools.samples(place))
    waivers = waivers_of(project, as_cases(found.samples, about), now.date(), tool=target.reads)
    head = ran(found.samples, about, waivers)
    outcome = Outcome(results=tuple(head.results.values()))
    if select.against:
        sides = ToolSides(
            context=place,
            base_context=place,
            about=about,
            config=config.regression,
            selectors=head.selectors,
            waivers=waivers,
            rows=len(head.results),
        )
        outcome, base = compared(head, sides, change, select.against)
        base = base if not found.missing else "the tool did not finish at the head"
    report_note = note(target.reads, [f"target {target.name}"], target.graders)
    notes = (report_note, forged, _unknown(change, config, target, base), _caps(settings.requests))
    facts = Facts(
        started_at=now.isoformat(timespec="seconds"),
        metadata=run_metadata(environment, comment.page, comment.key),
        seconds=monotonic() - clock,
        notes=tuple(filter(None, notes)),
        missing=tuple(f"target {target.name}: {reason}" for reason in found.missing),
        grading_changes=_grading_changes(project, change, target, tracked, head.known, base),
    )
    report = report_of(outcome.results, config, settings.report.fail_on, waivers, facts)
    report = replace(report, against=outcome.against, removed=outcome.removed)
    return without_secrets(report, output_and_masking.redactor())


def _grading_changes(
    project: Project,
    change: Change,
    target: RunnerTarget,
    tracked: Sequence[str],
    head: Mapping[Key, ToolCase],
    base: Ran | str,
) -> tuple[GradingChange, ...]:
    known = TOOLS[target.reads].settings
    changes = find_tool_changes(project, change, target=target, settings=known, tracked=tracked)
    if isinstance(base, str) or change.grading is None:
        return changes
    return ordered((*changes, *results_changes(head, base.known)))


def _caps(requests: RequestOptions) -> str:
    """Return the note on caps, which hold for rubric-ci's requests only."""
    given = {"--max-calls": requests.max_calls, "--max-cost-usd": requests.max_cost_usd}
    named = [option for option, most in given.items() if most is not None]
    if not named:
        return ""
    return f"{' and '.join(named)} did not limit the tool, which sends its own requests."


def _unknown(change: Change, config: Config, target: RunnerTarget, base: Ran | str) -> str:
    """Return the note on a base without results; a runner that the base lacks is new."""
    if not isinstance(base, str) or change.grading is None:
        return ""
    then = Project(change.at(change.grading).committed).policy_for("any").targets.get(target.name)
    if then is None or then.tool is None:
        return ""
    why_not = f"what the change does to the tests of {target.reads}: {base}"
    return check_is_known(config, why_not, f"run with `{AGAINST} auto`, where the base has results")


_UNSUPPORTED: Final = {
    "select.paths": "PATHS",
    "select.cases": "--case",
    "select.tags": "--tag",
    "select.changed_since": "--changed-since",
    "select.last_failed": "--last-failed",
    "requests.list_only": "--list",
    "max_failures": "--max-failures",
    "select.shard": "--shard",
    "models.judge": "--judge",
    "models.votes": "--votes",
    "requests.offline": "--offline",
    "requests.batch": "--batch",
    "requests.replay": "--replay",
    "requests.record": "--record",
}


def _check_options(settings: RunSettings, target: RunnerTarget) -> None:
    """Raise CannotConfigure for an option that the tool would not follow."""
    named = [option for place, option in _UNSUPPORTED.items() if attrgetter(place)(settings)]
    named += ["--trials"] if settings.trials > 1 else []
    if named:
        raise CannotConfigure(
            f"{named[0]} has no effect on the target {target.name}: {target.reads} chooses its "
            "cases and judges",
            "set it in the configuration of the tool, or in the target's `command_template`",
        )


def compared(head: Ran, sides: ToolSides, change: Change, ref: str) -> tuple[Outcome, Ran | str]:
    """Run the tool at the base and its suspects again on both sides; return how cases differ.

    The second value is the results of the base, or why there are none.
    """
    base = change.against
    if not isinstance(base, Base):
        reason = base.reason if isinstance(base, NoBase) else "not asked for"
        return _incomparable(head, f"no base: {reason}", Against(ref=ref, commit=""))
    against = Against(
        ref=ref,
        commit=base.commit,
        committed_at=plumbing.committed_at(change.repository, base.commit),
        origin=base.origin,
    )
    with ExitStack() as held:
        checkout = held.enter_context(worktree(change.repository, base.commit))
        there = replace(
            sides.context,
            root=checkout.root(),
            target=_target_of_base(change, base, sides.context.target),
        )
        try:
            before = ran(asyncio.run(tools.whole(there)), sides.about)
        except CannotRunTool as error:
            return _incomparable(head, f"no results at the base: {error.message}", against)
        both = {**before.selectors, **head.selectors}
        sides = replace(sides, base_context=there, selectors=both)
        return asyncio.run(_settled(sides, head, before, against)), before


def _target_of_base(change: Change, base: Base, target: RunnerTarget) -> RunnerTarget:
    """Return the runner as the base configures it; the head's, if that has none."""
    then = Project(change.at(base).committed).policy_for("any").targets.get(target.name)
    tool = then.tool if then else None
    return tool if tool and tool.reads == target.reads else target


def _incomparable(head: Ran, reason: str, against: Against) -> tuple[Outcome, str]:
    found = Compared(change="not-comparable", reason=reason)
    changed = tuple(verdicts.changed(case, found) for case in head.results.values())
    return Outcome(results=changed, against=against), reason


async def _settled(sides: ToolSides, head: Ran, base: Ran, against: Against) -> Outcome:
    tasks = {key: Task(case=case, target=sides.context.target) for key, case in head.cases.items()}
    pairs = {
        key: Pair(
            head_task=tasks[key],
            base_task=Task(case=base.cases[key], target=sides.base_context.target),
            head=case,
            base=base.results[key],
        )
        for key, case in head.results.items()
        if key in base.results and _same_ruler(key, head, base)
    }
    both = both_graded((pair.head, pair.base) for pair in pairs.values())
    every = rule.find_together(both)  # both sides ran now: the base need not be asked again
    found = await settle(sides, pairs)
    changed: list[CaseResult] = []
    for key, case in head.results.items():
        if key in found.pairs:
            changed.append(settled_case(key, found))
        elif key in base.results:
            moved = Compared(change="not-comparable", reason=_MOVED)
            changed.append(verdicts.changed(case, moved))
        else:
            changed.append(verdicts.changed(case, Compared(change="new")))
    gone = [key for key in base.results if key not in head.results]
    return Outcome(
        results=await with_lone(sides, tasks, changed),
        against=replace(
            against,
            asked=sum(key in base.results for key in head.results),
            further_trials=found.further,
            together=every,
        ),
        removed=tuple(RemovedCase(file=file, id=name) for file, name in gone),
    )


def _same_ruler(key: Key, head: Ran, base: Ran) -> bool:
    """Return True if question and graders are the same; a case without marks shows no graders."""
    if not both_graded([(head.results[key], base.results[key])]):
        return True
    now, then = head.cases[key], base.cases[key]
    return now.question == then.question and _criteria(now) == _criteria(then)


def _criteria(case: EvalCase) -> list[tuple[str, str]]:
    return [
        (criterion.id, criterion.text)
        for spec in case.evaluators
        for criterion in getattr(spec, "rubric", ())
    ]


def _lost(key: Key, reason: str) -> Errored:
    return Errored(file=key[0], line=1, id=key[1], reason=reason)
