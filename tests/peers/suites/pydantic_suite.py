"""A suite of Pydantic Evals; prints its report as JSON."""

from dataclasses import dataclass

from pydantic import TypeAdapter
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains, EvaluationReason, Evaluator, EvaluatorContext
from pydantic_evals.reporting import EvaluationReport

ANSWERS = {
    "How long do refunds take?": "Refunds take 30 days.",
    "Which plan has phone support?": "The Business plan has phone support.",
    "Can I pay by invoice?": "I do not know.",
}


@dataclass
class Length(Evaluator[str, str, object]):
    """A score and a label; fails for one answer."""

    def evaluate(self, ctx: EvaluatorContext[str, str, object]) -> dict[str, object]:
        if "know" in ctx.output:
            raise RuntimeError("the judge is not available")
        short = len(ctx.output) < 30
        return {"brevity": 1.0 if short else 0.4, "size": "short" if short else "long"}


@dataclass
class Says(Evaluator[str, str, object]):
    """Whether the answer has the expected text."""

    def evaluate(self, ctx: EvaluatorContext[str, str, object]) -> EvaluationReason:
        found = str(ctx.expected_output) in ctx.output
        return EvaluationReason(value=found, reason=f"looked for {ctx.expected_output}")


def answer(question: str) -> str:
    if question not in ANSWERS:
        raise RuntimeError("the model is not available")
    return ANSWERS[question]


dataset = Dataset[str, str, object](
    name="shop",
    cases=[
        Case(name="refund", inputs="How long do refunds take?", expected_output="30 days"),
        Case(name="support", inputs="Which plan has phone support?", expected_output="Enterprise"),
        Case(name="invoice", inputs="Can I pay by invoice?", expected_output="I"),
        Case(name="outage", inputs="Where are you based?", expected_output="Oslo"),
    ],
    evaluators=[Says(), Length(), Contains(value="a")],
)
report = dataset.evaluate_sync(answer, progress=False)
print(TypeAdapter(EvaluationReport).dump_json(report, indent=1).decode())
