"""Which rule decides that a case is broken: the source of the comparison and its trials choose.

- `exact`: both sides are graded now; suspects get further trials on both sides and an exact test
  (`verdicts`).
- `budget`: the reference has many trials; only suspects of the head get more, and all of a run's
  false alarms are within a budget (`alarm_budget`).
- `separation`: a report with few trials; every trial is worse than every one before
  (`case_change`).
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, assert_never

from rubric_ci.comparison import alarm_budget
from rubric_ci.model.comparison import Source
from rubric_ci.model.regression_config import RegressionConfig
from rubric_ci.model.results import CaseResult

Rule: TypeAlias = Literal["exact", "budget", "separation"]


def rule_of(source: Source, before: Sequence[CaseResult], config: RegressionConfig) -> Rule:
    """Return the rule; `before` are the cases of the report or reference."""
    match source:
        case "commit":
            return "exact"
        case "reference":
            return "budget"
        case "report":
            return "budget" if alarm_budget.pools_enough(before, config) else "separation"
        case _:
            assert_never(source)
