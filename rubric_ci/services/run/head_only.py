"""Ask the head again, where the other side cannot be asked: its answers are in a report."""

from collections.abc import Mapping, Sequence

from rubric_ci.gate.comparison import rule
from rubric_ci.gate.comparison.compared import counterparts
from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.asking import Key, Request, settle, settle_alone
from rubric_ci.services.run.sides import Grade, again
from rubric_ci.services.run.suspect import Pair
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded, with_verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadOnly:
    """The head of a run, which can be asked again."""

    context: RunContext
    grade: Grade
    rows: int
    config: RegressionConfig
    can_ask: bool = True
    live: bool = True

    async def ask(self, requests: Sequence[Request]) -> Sequence[CaseResult | None]:
        """Return one further result per request, in their order."""
        own = again(self.context)
        contexts = [own.of_trial(each.number) for each in requests]
        return await self.grade([each.task for each in requests], contexts, 1)


async def ask_suspects(
    asker: HeadOnly,
    baseline: RunReport,
    tasks: Mapping[Key, Task],
    cases: Sequence[CaseResult],
) -> tuple[CaseResult, ...]:
    """Return the cases; those that are worse than in a report, and failing new ones, asked again.

    How they differ is said when the report of the run is compared.
    """
    matched = counterparts((case.key for case in cases), baseline.cases)
    before = {key: was for key, each in matched.items() for was in with_verdict([each])}
    suspects: dict[Key, Pair] = {}
    failing: dict[Key, tuple[Task, Graded]] = {}
    for case in with_verdict(cases):
        was, task = before.get(case.key), tasks[case.key]
        if was and rule.is_suspect(case, was):
            suspects[case.key] = Pair(head_task=task, base_task=None, head=case, base=was)
        elif was is None and case.status == "fail":
            failing[case.key] = task, case
    settled = await settle(asker, suspects)
    alone = await settle_alone(asker, failing)
    found: dict[Key, CaseResult] = {key: pair.head for key, pair in settled.pairs.items()}
    for key, reason in settled.errored.items():
        found[key] = found[key].as_errored(reason)
    return tuple({**found, **alone}.get(case.key, case) for case in cases)
