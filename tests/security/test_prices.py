"""Prices that a change writes cannot lift a cap: no value below 0, no text, no infinity."""

import os
from pathlib import Path

import pytest

from tests.invoke import invoke

PRICES = ("-1", "-0.000001", "-.inf", ".nan", "'-1'", "[-1]")
KEYS = ("input_cost_per_token", "output_cost_per_token")
TARGET = (
    "targets:\n  - {{name: default, provider: openai, model: gpt-6-luna, {key}: {price}}}\n",
    "judge: {{model: openai/gpt-6-luna, {key}: {price}}}\n",
)
CASE = """evalcases:
  - id: a
    expected_outcome: b
    input_messages: [{role: user, content: c}]
"""


@pytest.mark.parametrize("command", ["validate", "run"])
@pytest.mark.parametrize("text", TARGET, ids=["target", "judge"])
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("key", KEYS)
def test_a_negative_price(key: str, price: str, text: str, command: str, tmp_path: Path) -> None:
    config = "evals: [a.eval.yaml]\n" + text.format(key=key, price=price)
    (tmp_path / "rubric-ci.yaml").write_text(config)
    (tmp_path / "a.eval.yaml").write_text(CASE)
    done = invoke(tmp_path, {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "sk-x"}, command)
    assert done.returncode == (1 if command == "validate" else 2)
    assert f": model-price: `{key}: " in done.stdout + done.stderr
