"""`rubric-ci probe --prompt`: change the rules of prompts, and find changes that no case fails."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from typing import Final

import click

from rubric_ci.errors import CannotFindEvals, ExitCode
from rubric_ci.files.project import discovery
from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.grading.engine import grade, is_failure
from rubric_ci.grading.resolve import Task
from rubric_ci.parts.lab.history.from_report import rate_interval
from rubric_ci.parts.lab.probe.prompt_mutants import (
    FALSE_NOTICE,
    FEWEST,
    FURTHER,
    MISSED,
    MOST,
    Mutant,
    Outcome,
    Tally,
    mutants,
    outcome,
)
from rubric_ci.services.cost.estimate import announce_work, estimate_work, show_spent
from rubric_ci.services.cost.expected_requests import ExpectedWork
from rubric_ci.services.publish.workflow import Workflow, annotate
from rubric_ci.services.run.asking import Key
from rubric_ci.services.run.grade import RunInput
from rubric_ci.services.run.inputs import open_inputs, select
from rubric_ci.services.run.suspect import once
from rubric_ci.system import coroutines, file_io, masking
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.changes import Base
from rubric_ci.values.command_settings import ProbeSettings
from rubric_ci.values.config import LlmTarget, PromptTemplate, Target
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic, Severity, Span
from rubric_ci.values.results import CaseResult, Graded

FILE: Final = "probe-prompt.json"


@dataclass(slots=True, kw_only=True)
class _Tried:
    """A prompt, unchanged or a mutant, and the answers of each case to it."""

    path: str
    mutant: Mutant | None
    tasks: Sequence[Task]
    tallies: dict[Key, Tally] = field(default_factory=dict)
    itself: dict[Key, Tally] = field(default_factory=dict)
    """Further answers to the prompt itself, of the cases that seemed to notice."""

    @property
    def outcome(self) -> Outcome:
        return outcome(list(map(self.decision, self.tallies)))

    def decision(self, key: Key) -> Outcome:
        """Return the decision of a case."""
        tally, itself = self.tallies[key], self.itself.get(key)
        found = tally.decision(len(self.tasks))
        if found != "noticed" or itself is None:
            return found
        return tally.against(itself, len(self.tasks))

    @property
    def unconfirmed(self) -> Task | None:
        """The first case that seems to notice, of which the prompt itself has too few answers."""
        if self.outcome != "noticed":
            return None
        seem = [task for task in self.tasks if self._is_noticed(task.case.key)]
        if any(task.case.key in self.itself for task in seem):
            return None
        return seem[0]

    def _is_noticed(self, key: Key) -> bool:
        return key in self.tallies and self.decision(key) == "noticed"

    def open_tasks(self) -> Iterator[Task]:
        """Yield the tasks whose next answer can decide."""
        if self.mutant is None or self.outcome != "noticed":
            for task in self.tasks:
                if self.tallies.get(task.case.key, Tally()).is_open(len(self.tasks)):
                    yield task

    def count(self, result: CaseResult) -> None:
        """Add the verdict of an answer."""
        self.tallies[result.key] = _with(self.tallies.get(result.key, Tally()), result)


def _with(tally: Tally, result: CaseResult) -> Tally:
    if not isinstance(result, Graded):
        return replace(tally, reason=result.reason or "no verdict")
    if is_failure(result):
        return replace(tally, failed=tally.failed + 1)
    return replace(tally, passed=tally.passed + 1)


def probe_prompt(settings: ProbeSettings) -> ExitCode:
    """Print which mutants of the prompts the cases notice, and write `probe-prompt.json`."""
    inputs = _inputs(settings)
    prompts = list(_prompts(inputs, settings.variants))
    if not prompts:
        return _nothing(settings)
    _show_cost(prompts, inputs)
    controls = [replace(tried[0], mutant=None) for tried in prompts]
    _try(controls, inputs)
    changed: list[_Tried] = []
    for tried, control in zip(prompts, controls, strict=True):
        steady = _steady(control)
        every = (replace(each, tasks=steady, tallies={}, itself={}) for each in tried if steady)
        changed += every
    _try(changed, inputs)
    while seem := [each for each in changed if each.unconfirmed]:
        _ask_the_prompt_itself(seem, inputs)
        _try(changed, inputs)
    show_spent(inputs.context.spent())
    _show(changed, settings)
    tallies = (
        tally
        for each in (*controls, *changed)
        for tally in (*each.tallies.values(), *each.itself.values())
    )
    lost = any(tally.reason for tally in tallies)
    return ExitCode.NO_VERDICT if lost or not changed else ExitCode.OK


def _inputs(settings: ProbeSettings) -> RunInput:
    run = replace(settings.as_run(), reuse_answers=True)
    loaded, selection = select(run, datetime.now(UTC).date(), os.environ)
    loaded.check_valid()
    return open_inputs(loaded, selection, run, None, environment=os.environ, plain=True)


def _prompts(inputs: RunInput, most: int) -> Iterator[list[_Tried]]:
    """Yield the mutants of each prompt that is used, and say how many are left out."""
    users: dict[PromptTemplate, list[Task]] = {}
    for task in inputs.tasks:
        if isinstance(task.target, LlmTarget) and task.target.prompt and task.case.evaluators:
            users.setdefault(task.target.prompt, []).append(once(task))
    for prompt, tasks in users.items():
        file = discovery.read_text(inputs.loaded.root / prompt.path)
        found = mutants(prompt, file, _base_text(prompt.path, inputs.loaded))
        if len(found) > most:
            shown = f"{prompt.path}: {most} of {len(found)} mutants; --variants takes more"
            click.echo(log_line(shown), err=True)
        tried = [_Tried(path=prompt.path, mutant=each, tasks=tasks) for each in found[:most]]
        if tried:
            yield tried


def _base_text(path: str, loaded: LoadedProject) -> str:
    base = loaded.change.selection
    return (loaded.change.at(base).files.text(path) or "") if isinstance(base, Base) else ""


def _nothing(settings: ProbeSettings) -> ExitCode:
    if settings.changed_since:
        click.echo("no rule of a prompt has changed; nothing to probe")
        return ExitCode.OK
    raise CannotFindEvals(
        "no target of these cases has a `prompt` file with a rule that can be changed",
        "a rule is a list item or a sentence such as `Never promise a refund.`",
    )


def _show_cost(prompts: Sequence[Sequence[_Tried]], inputs: RunInput) -> None:
    """Print the requests if each case answers each prompt `FEWEST` times."""
    count = sum(map(len, prompts))
    click.echo(
        f"{numbers.plural(count, 'mutant')} of {numbers.plural(len(prompts), 'prompt')}; if none "
        f"is noticed, {FEWEST} answers of each case, at most {MOST}; for {FEWEST}:",
        err=True,
    )
    controls = [replace(tried[0], mutant=None) for tried in prompts]
    every = [*controls, *(each for tried in prompts for each in tried)]
    tasks = [_asked(each, task) for each in every for task in each.tasks]
    work = ExpectedWork(tasks=tasks, context=inputs.context, trials=FEWEST)
    announce_work([work])
    again = [task for each in controls for task in each.tasks]
    confirming = replace(work, tasks=again, trials=MOST + FURTHER)
    if most := estimate_work([replace(work, trials=MOST), confirming]).total:
        requests = numbers.plural(most.requests, "request")
        click.echo(
            f"at most {requests}, if each case takes {MOST} answers, and {MOST + FURTHER} more of "
            "the prompt itself",
            err=True,
        )


def _asked(tried: _Tried, task: Task) -> Task:
    if tried.mutant is None or not isinstance(task.target, LlmTarget):
        return task
    return replace(task, target=replace(task.target, prompt=tried.mutant.prompt))


def _try(every: Sequence[_Tried], inputs: RunInput) -> None:
    """Answer and grade, one trial of all open cases after the other."""
    for trial in range(MOST):
        pairs = [
            (tried, task)
            for tried in every
            for task in tried.open_tasks()
            if tried.tallies.get(task.case.key, Tally()).answers == trial
        ]
        results = _answered([_asked(tried, task) for tried, task in pairs], trial, inputs)
        for (tried, _), result in zip(pairs, results, strict=True):
            tried.count(result)


def _ask_the_prompt_itself(seem: Sequence[_Tried], inputs: RunInput) -> None:
    """Answer a case that seems to notice with the prompt itself, `FURTHER` times more often.

    The answers by which the case was chosen do not count. Mutants of a prompt share answers.
    """
    cases = [(tried, task) for tried in seem if (task := tried.unconfirmed)]
    wanted = [tried.tallies[task.case.key].answers + FURTHER for tried, task in cases]
    found = [Tally() for _ in cases]
    for number in range(max(wanted)):
        lacking = [n for n, most in enumerate(wanted) if number < most and not found[n].reason]
        tasks = {(cases[n][0].path, cases[n][1].case.key): cases[n][1] for n in lacking}
        results = _answered(list(tasks.values()), MOST + number, inputs)
        known = dict(zip(tasks, results, strict=True))
        for n in lacking:
            found[n] = _with(found[n], known[cases[n][0].path, cases[n][1].case.key])
    for (tried, task), itself in zip(cases, found, strict=True):
        tried.itself[task.case.key] = itself


def _answered(tasks: Sequence[Task], trial: int, inputs: RunInput) -> Sequence[CaseResult]:
    if not tasks:
        return ()
    results = coroutines.run(
        grade(
            tasks,
            replace(inputs.context, trial=trial),
            concurrency=inputs.settings.requests.concurrency,
        )
    )
    if len(results) < len(tasks):
        raise KeyboardInterrupt
    return results


def _steady(control: _Tried) -> list[Task]:
    """Return the tasks that pass with the prompt itself; name the others."""
    steady = []
    for task in control.tasks:
        tally = control.tallies[task.case.key]
        if tally.decision(len(control.tasks)) == "survived":
            steady.append(task)
            continue
        why = tally.reason or f"{_counted(tally)} with {control.path} itself"
        click.echo(log_line(f"left out: {task.case.id}: {why}"), err=True)
    return steady


def _show(changed: Sequence[_Tried], settings: ProbeSettings) -> None:
    hide = masking.redactor()
    discovery.check_place(settings.output_dir)
    path = settings.output_dir / FILE
    file_io.write(path, hide(_to_json(changed)).encode())
    workflow = Workflow.of(os.environ)
    shown = hide("\n".join((*map(_line, changed), _summary(changed))))
    click.echo(workflow.guarded(f"{shown}\n") if workflow else shown, nl=workflow is None)
    annotate(_findings(changed), workflow)
    click.echo(log_line(f"mutants: {path.as_posix()}"), err=True)


def _line(tried: _Tried) -> str:
    line = tried.mutant.line if tried.mutant else 1
    return log_line(f"{tried.path}:{line}: {_change(tried)}: {_result(tried)}")


def _change(tried: _Tried) -> str:
    return (
        f"{tried.mutant.kind}: “{tried.mutant.text or tried.mutant.rule}”" if tried.mutant else ""
    )


def _result(tried: _Tried) -> str:
    found, cases = tried.outcome, len(tried.tasks)
    for key, tally in tried.tallies.items():
        if tried.decision(key) != found:
            continue
        name, itself = key[1], tried.itself.get(key, Tally())
        if found == "no verdict":
            return f"no verdict: {name}: {tally.reason or itself.reason}"
        if found in {"noticed", "undecided"}:
            own = f", {itself.failed} of {itself.answers} with the prompt itself"
            return f"{found}: {name}: {_counted(tally)}{own if itself.answers else ''}"
    return f"survived {numbers.plural(cases, 'case')}"


def _counted(tally: Tally) -> str:
    return f"{tally.failed} of {numbers.plural(tally.failed + tally.passed, 'answer')} failed"


def _summary(changed: Sequence[_Tried]) -> str:
    outcomes = [each.outcome for each in changed]
    decided = [each for each in outcomes if each in {"noticed", "survived"}]
    if not decided:
        return "no mutant was decided"
    least = rate_interval([[float(each == "noticed")] for each in outcomes])
    most = rate_interval([[float(each != "survived")] for each in outcomes])
    open_ones = len(outcomes) - len(decided)
    undecided = f", {open_ones:,} undecided" if open_ones else ""
    return (
        f"{decided.count('noticed')} of {numbers.plural(len(outcomes), 'mutant')} noticed"
        f"{undecided} ({least.low or 0:.2f} to {most.high or 1:.2f}). {_errors(changed)}"
    )


def _varies(target: Target) -> bool:
    """Return True for a model that is asked for another draw each time, by its options."""
    if not isinstance(target, LlmTarget) or target.endpoint.http:
        return False
    temperature = target.endpoint.options.get("temperature", 1)
    named = "seed" in target.endpoint.options
    return not named and isinstance(temperature, int | float) and temperature > 0


def _errors(changed: Sequence[_Tried]) -> str:
    """Return how often a mutant has the wrong outcome, for targets without stored answers."""
    targets = {task.target.name: task.target for each in changed for task in each.tasks}
    if repeating := sorted(name for name, each in targets.items() if not _varies(each)):
        return (
            f"{numbers.listed(repeating)} may repeat an answer (temperature 0 or a seed): how "
            "often a mutant that changes nothing counts as noticed is not known."
        )
    return (
        "A mutant that changes nothing counts as noticed with a probability of at most "
        f"{FALSE_NOTICE:g}; one that fails half of the answers to a case survives with at most "
        f"{MISSED:g}."
    )


def _findings(changed: Sequence[_Tried]) -> Iterator[Diagnostic]:
    for each in changed:
        if each.mutant and each.outcome == "survived":
            line = each.mutant.line
            yield Diagnostic(
                rule="survived",
                severity=Severity.WARNING,
                file=each.path,
                span=Span(line, 1, line, 2),
                message=f"no case fails if this rule is {_change(each)}",
                hint="add a case whose answer depends on the rule, or delete the rule",
            )


def _to_json(changed: Sequence[_Tried]) -> str:
    data: Mapping[str, object] = {
        "version": 1,
        "test": {"false_notice": FALSE_NOTICE, "missed": MISSED, "most_answers": MOST},
        "mutants": [
            {
                "file": each.path,
                "line": each.mutant.line,
                "kind": each.mutant.kind,
                "rule": each.mutant.rule,
                "text": each.mutant.text,
                "outcome": each.outcome,
                "cases": [
                    {"file": key[0], "case": key[1], **asdict(tally)}
                    | ({"itself": asdict(each.itself[key])} if key in each.itself else {})
                    for key, tally in each.tallies.items()
                ],
            }
            for each in changed
            if each.mutant
        ],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
