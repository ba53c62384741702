"""A panel in the configuration."""

from datetime import date

import pytest

from rubric_ci.files.validation.validator import check_config
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.values.model_end_and_parameters import Models
from tests.files.shown import shown

MODELS = Models(
    info=lambda name: {"deprecation_date": "2026-12-01"} if name == "openai/old" else {},
    today=date(2026, 11, 22),
)


SOON = "model-ends-soon: `openai/old` is switched off on 2026-12-01, in 9 days"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("judge: {panel: [openai/gpt-a, anthropic/claude-b, gemini/c], votes: 3}\n", ""),
        (
            "judge: {panel: [openai/a, anthropic/b, gemini/c, xai/d]}\n",
            "1:16: error: judges: a panel needs an odd number of judges, not 4",
        ),
        (
            "judge: {panel: [openai/a, anthropic/b]}\n",
            "1:16: error: too-few: `panel` must have at least 3 entries, not 2",
        ),
        (
            "judge: {panel: [openai/a, anthropic/b, gemini/c], temperature: 0, margin: 1}\n",
            (
                "1:51: error: judges: `temperature` has no effect together with `panel`\n"
                "1:67: error: judges: `margin` has no effect together with `panel`"
            ),
        ),
    ],
)
def test_several_judges(text: str, expected: str) -> None:
    found = check_config(Document("rubric-ci.yaml", text), models=lambda: MODELS)
    assert shown(found, severity=True) == expected
