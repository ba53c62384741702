"""Values and defaults of options, apart from the settings, so that `--help` does not load them."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

ReportFormat: TypeAlias = Literal["json", "markdown", "junit", "sarif", "html"]
"""A format as `--reports` takes it."""

REPORT_FORMATS: Final[tuple[ReportFormat, ...]] = get_args(ReportFormat)

REPORT_FILES: Final[Mapping[ReportFormat, str]] = {
    "json": "report.json",
    "markdown": "summary.md",
    "junit": "junit.xml",
    "sarif": "report.sarif",
    "html": "report.html",
}
"""The file of each format in the output folder."""

ADOPTED_TOOLS: Final = (
    *("promptfoo", "inspect", "deepeval", "pydantic-evals", "agent-skills", "junit", "csv"),
)
"""The tools whose results `adopt` reads."""

TRACE_FORMATS: Final = ("otlp", "langfuse", "langsmith", "phoenix", "braintrust")
"""The formats of traces that `import` reads."""

MASKED_KINDS: Final = ("EMAIL", "PHONE")
"""The kinds of personal data that `import --mask` knows."""

# The models that init, docs, examples and tests show: `make golden` writes a change everywhere.
MODEL_JUDGE: Final = "openai/gpt-6-luna"
MODEL_LARGE_JUDGE: Final = "openai/gpt-6.1-sol"
MODEL_OTHER_JUDGE: Final = "openai/gpt-6-sol"
MODEL_TARGET: Final = "anthropic/claude-sonnet-5-5"
MODEL_SMALL_CLAUDE: Final = "anthropic/claude-haiku-5-5"
MODEL_GEMINI: Final = "gemini/gemini-3.8-flash"

CALIBRATION: Final = "calibration.json"  # at the repository root
CACHE_DIR: Final = ".rubric-ci/cache"
CONCURRENCY: Final = 16
LABELS: Final = "labels.jsonl"
OUTPUT_DIR: Final = ".rubric-ci"
REFERENCE: Final = f"{OUTPUT_DIR}/reference"
REPORT: Final = f"{OUTPUT_DIR}/report.json"
FAILURE: Final = "failure.json"  # in place of the report: why a run in a workflow has none
LAST_FAILED: Final = "last-failed.json"  # in the folder of the report
PROBE: Final = "probe.json"  # in the folder of the report
VARIANTS: Final = 10  # of one answer that a criterion must notice
HISTORY: Final = f"{OUTPUT_DIR}/history.jsonl"

WAIVERS: Final = "waivers.yaml"  # at the repository root
