"""Tokens of images and documents: the examples that providers publish."""

from dataclasses import replace

import pytest

from rubric_ci.models.llm.model_info import at_most, estimated
from tests.pictures import media, pdf, png

SHOT = media("a.png", png(1, 1))
BILL = media("a.pdf", pdf(3))


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("openai/gpt-4o-mini", (1024, 1024), 48169),
        ("openai/gpt-6-luna", (1024, 1024), 1332),
        ("openai/gpt-6-luna", (8000, 8000), 13000),
        ("anthropic/claude-sonnet-5-5", (1000, 1000), 1334),
        ("bedrock/eu.anthropic.claude-sonnet-5-5-v1:0", (4000, 4000), 4784),
        ("gemini/gemini-3.8-flash", (4000, 3000), 1120),
    ],
)
def test_an_image(model: str, size: tuple[int, int], tokens: int) -> None:
    shot = replace(SHOT, width=size[0], height=size[1])
    assert estimated([shot], model) == tokens
    assert at_most([shot], model) == 2 * tokens


def test_a_document() -> None:
    unknown = replace(BILL, pages=0)
    assert estimated([BILL], "gemini/gemini-3.8-flash") == 3 * 560
    assert estimated([BILL, unknown], "anthropic/claude-sonnet-5-5") == 4 * 3000
    assert at_most([unknown], "anthropic/claude-sonnet-5-5") == 2 * 600 * 3000
