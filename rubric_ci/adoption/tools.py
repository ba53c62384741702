"""The tools whose results are read: one row each."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rubric_ci.adoption import (
    agent_skills,
    csv_table,
    deepeval,
    inspect_ai,
    junit,
    promptfoo,
    pydantic_evals,
)
from rubric_ci.adoption.samples import Sample
from rubric_ci.model.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool by the name of `--from`."""

    name: str
    read: Callable[[str], Iterator[Sample]]  # raises Mismatch for what is not its results
    suffixes: tuple[str, ...] = (".json",)
    made_by: str  # how its results come to be, for a message


TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        Tool(name="promptfoo", read=promptfoo.read, made_by="promptfoo eval -o results.json"),
        Tool(name="inspect", read=inspect_ai.read, made_by="inspect log dump LOG > results.json"),
        Tool(name="deepeval", read=deepeval.read, made_by="DEEPEVAL_RESULTS_FOLDER=results"),
        Tool(
            name="pydantic-evals",
            read=pydantic_evals.read,
            made_by="TypeAdapter(EvaluationReport).dump_json(report)",
        ),
        Tool(name="agent-skills", read=agent_skills.read, made_by="a grading of skill-creator"),
        Tool(
            name="junit",
            read=junit.read,
            suffixes=(".xml",),
            made_by="pytest --junitxml results.xml",
        ),
        Tool(
            name="csv",
            read=csv_table.read,
            suffixes=(".csv",),
            made_by="a table with `id` and `passed`",
        ),
    )
}
