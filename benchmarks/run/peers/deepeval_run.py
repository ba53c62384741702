"""The comparison's work for deepeval: GEval, one metric per criterion, recorded answers."""

import json
import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import GEval
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, SingleTurnParams

work = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
model = LocalModel(model="gpt-6-luna", base_url=work["url"], api_key="none", temperature=0)
parameters = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]
metrics = [
    GEval(name=f"c{n}", evaluation_steps=[text], evaluation_params=parameters, model=model)
    for n, text in enumerate(work["criteria"])
]
evaluate(
    test_cases=[LLMTestCase(input=c["question"], actual_output=c["answer"]) for c in work["cases"]],
    metrics=metrics,
    async_config=AsyncConfig(run_async=True, max_concurrent=work["in_flight"]),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    cache_config=CacheConfig(write_cache=False, use_cache=False),
    error_config=ErrorConfig(ignore_errors=False),
)
