"""The loss of accuracy by one request for all criteria, over scripted judges with a known halo.

Our own machinery asks, parses and counts; only the model is scripted. It reads the criteria in the
order of the request and gives each mark that is right but for its error rate, or, with the
probability of the halo, the mark of the criterion before. Alone in a request, a criterion has none
before it.
"""

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from rubric_ci.models.judge.panel import PanelRequest, decide
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.rubric import Check, Judgement, Mark, Rubric, score
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage

ANSWERS: Final = 2000
CRITERIA: Final = 6
GOOD: Final = 0.85  # share of criteria that an answer meets
ERROR: Final = 0.03  # of a mark on its own
HALOS: Final = (0.0, 0.05, 0.1, 0.2, 0.3)
HERE: Final = Span(1, 1, 1, 1)
RUBRIC: Final = Rubric(
    tuple(
        Check(id=f"c-{n}", text=f"Meets point number {n}", required=n < 2, span=HERE)
        for n in range(CRITERIA)
    )
)
SETTINGS: Final = {
    "batched": JudgeConfig(endpoint=Endpoint(model="scripted")),
    "batched, 3 votes": JudgeConfig(endpoint=Endpoint(model="scripted"), votes=3),
    "isolated": JudgeConfig(endpoint=Endpoint(model="scripted"), mode="isolated"),
}


class Scripted:
    """The judge of one answer: it knows the truth, and its halo."""

    def __init__(self, truth: dict[str, bool], halo: float, draw: Random) -> None:
        self.truth, self.halo, self.draw = truth, halo, draw
        self.characters = 0

    async def __call__(self, call: ModelCall) -> ModelReply:
        prompt = call.messages[1].content
        self.characters += sum(len(message.content) for message in call.messages)
        marks: dict[str, bool] = {}
        for alias, text in re.findall(r"^(c\d+): .*\n    (.*)$", prompt, re.MULTILINE):
            wrong = self.draw.random() < ERROR
            own = self.truth[text] != wrong
            before = [*marks.values()][-1:] if self.draw.random() < self.halo else []
            marks[alias] = before[0] if before else own
        text = json.dumps({alias: {"satisfied": mark} for alias, mark in marks.items()})
        return ModelReply(text=text, usage=Usage(calls=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The marks of a judge, over all answers."""

    wrong: list[int]  # marks of each answer
    verdicts: int  # wrong ones
    calls: int
    characters: int


async def measured(judge: JudgeConfig, halo: float) -> Measured:
    """Return the wrong marks and verdicts, the requests and their characters."""
    draw = Random(7)
    wrong, verdicts, calls, characters = [], 0, 0, 0
    for number in range(ANSWERS):
        truth = {criterion.text: draw.random() < GOOD for criterion in RUBRIC.judged}
        model = Scripted(truth, halo, Random(f"{number} {halo} {judge.mode} {judge.votes}"))
        found = await decide(
            PanelRequest(
                case=EvalCase(id="a", file="a.yaml", span=HERE),
                answer="An answer of a usual length. " * 30,
                rubric=RUBRIC,
                judge=judge,
                context=RunContext(call_model=model, root=Path(), environment={}),
                about="a",
            )
        )
        right = Judgement({c.id: Mark(value=truth[c.text]) for c in RUBRIC.judged})
        wrong.append(sum(found.judgement[c.id].value != truth[c.text] for c in RUBRIC.judged))
        given, meant = (
            score(RUBRIC, each, DEFAULT_THRESHOLDS) for each in (found.judgement, right)
        )
        verdicts += given.verdict != meant.verdict
        calls += found.usage.calls
        characters += model.characters
    return Measured(wrong=wrong, verdicts=verdicts, calls=calls, characters=characters)


async def main() -> None:
    """Print the table of the README."""
    found = {
        halo: {name: await measured(judge, halo) for name, judge in SETTINGS.items()}
        for halo in HALOS
    }
    print("| halo | setting | wrong marks | wrong verdicts | requests | input characters |")
    print("|---|---|---|---|---|---|")
    for halo, settings in found.items():
        for name, each in settings.items():
            marks = sum(each.wrong) / ANSWERS / CRITERIA
            print(
                f"| {halo:.0%} | {name} | {marks:.1%} | {each.verdicts / ANSWERS:.1%} "
                f"| {each.calls / ANSWERS:.0f} | {each.characters / ANSWERS:,.0f} |"
            )


if __name__ == "__main__":
    asyncio.run(main())
