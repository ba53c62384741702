"""A suite of DeepEval: a metric without a model, and one that fails."""

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric, ExactMatchMetric
from deepeval.test_case import LLMTestCase

ANSWERS = {
    "refund": ("How long do refunds take?", "Refunds take 30 days.", "Refunds take 30 days."),
    "invoice": ("Can I pay by invoice?", "I do not know.", "Yes."),
    "outage": ("Where are you based?", "", "Oslo"),
}


class Answered(BaseMetric):
    """Whether there is an answer at all; an error where the service gave none."""

    def __init__(self) -> None:
        self.threshold, self.async_mode = 0.5, False

    @property
    def __name__(self) -> str:
        return "Answered"

    def measure(self, test_case: LLMTestCase, *_: object, **__: object) -> float:
        if not test_case.actual_output:
            raise RuntimeError("the judge is not available")
        self.score, self.success, self.reason = 0.75, True, "There is an answer."
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: object, **__: object) -> float:
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return bool(self.success)


evaluate(
    [
        LLMTestCase(name=name, input=asked, actual_output=said, expected_output=expected)
        for name, (asked, said, expected) in ANSWERS.items()
    ],
    [ExactMatchMetric(), Answered()],
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    cache_config=CacheConfig(write_cache=False),
    error_config=ErrorConfig(ignore_errors=True),
)
