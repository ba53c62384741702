"""The end of a model, and the parameters that it refuses."""

from collections.abc import Mapping
from datetime import date

import pytest

from rubric_ci.values.json_value import JSON
from rubric_ci.values.model_end_and_parameters import ending, refused_parameters

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("2027-02-21", ""),
        ("2027-02-20", "`m` is switched off on 2027-02-20, in 90 days"),
        ("2026-11-23", "`m` is switched off on 2026-11-23, in 1 day"),
        ("2026-11-22", "`m` was switched off on 2026-11-22"),
        ("2025-01-01T00:00:00Z", "`m` was switched off on 2025-01-01"),
        ("soon", ""),
        (1794787200, ""),
        (None, ""),
    ],
)
def test_ending(end: JSON, expected: str) -> None:
    assert ending("m", end, TODAY) == expected


THINKS = {"supports_reasoning": True}
REASONS = {"supports_reasoning": True, "supports_none_reasoning_effort": True}


@pytest.mark.parametrize(
    ("model", "options", "info", "refused"),
    [
        ("openai/m", {"temperature": 0, "top_p": 0.5, "seed": 1}, REASONS, "temperature top_p"),
        ("openai/m", {"temperature": 1, "top_p": 1, "presence_penalty": 0}, REASONS, ""),
        ("openai/m", {"presence_penalty": 1}, REASONS, "presence_penalty"),
        ("openai/m", {"temperature": 0, "reasoning_effort": "none"}, REASONS, ""),
        ("openai/m", {"temperature": 0, "reasoning_effort": "low"}, REASONS, "temperature"),
        ("openai/m", {"temperature": 0}, {**REASONS, "default_reasoning_effort": "none"}, ""),
        ("openai/m", {"reasoning_effort": "none"}, THINKS, "reasoning_effort"),
        ("openai/m", {"temperature": 0}, {}, ""),
        ("openai/m", {"temperature": 0, "api_base": "http://gateway"}, REASONS, ""),
        (
            "anthropic/m",
            {"temperature": 0, "top_k": 2},
            {"supports_sampling_params": False},
            "temperature top_k",
        ),
        ("anthropic/m", {"temperature": 0}, {}, ""),
        ("gemini/m", {"temperature": 0}, {"supports_sampling_params": False}, ""),
    ],
)
def test_refused_parameters(
    model: str, options: Mapping[str, JSON], info: Mapping[str, JSON], refused: str
) -> None:
    assert " ".join(refused_parameters(model, options, info)) == refused
