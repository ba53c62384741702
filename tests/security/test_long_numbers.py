"""Numbers of thousands of digits, and prefixes without digits: a diagnostic, never a traceback."""

from pathlib import Path
from time import process_time

import pytest

from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

DIGITS = 5_000  # Python converts 4,300
LONG = "1" * DIGITS
BIG = "yaml-number-size: a number of more than 300 digits"
FIELD = "execution: {evaluators: [{name: f, type: field_accuracy, fields: [{path: PATH}]}]}"

NUMBERS = {
    "decimal": (f"metadata: {{n: {LONG}}}", BIG),
    "underscores": (f"metadata: {{n: {'1_' * DIGITS}0}}", BIG),
    "underscores-and-a-fraction": (f"metadata: {{n: {'1_' * DIGITS}0.5}}", BIG),
    "octal": (f"metadata: {{n: {'07_' * DIGITS}}}", BIG),
    "hexadecimal": (f"metadata: {{n: 0x{'f_' * DIGITS}}}", BIG),
    "binary": (f"metadata: {{n: 0b{'1_' * DIGITS}}}", BIG),
    "sexagesimal": (f"metadata: {{n: 1{':59' * DIGITS}}}", BIG),
    "tagged": (f"metadata: {{n: !!float {'1_' * DIGITS}0}}", BIG),
    "no-binary-digit": ("metadata: {n: 0b__}", "case-empty"),
    "no-hexadecimal-digit": ("metadata: {n: -0x_}", "case-empty"),
    "level": (f"rubrics: [{{id: q, levels: {{? {LONG} : a, ? 2 : b}}}}]", "levels"),
    "range": (f"rubrics: [{{id: q, score_ranges: {{? {LONG} : a, ? 0 : b}}}}]", "score"),
    "index-of-a-field": (FIELD.replace("PATH", f'"lines[{LONG}]"'), "the reference answer has no"),
}
FILE = """\
evalcases:
  - id: a
    input: b
    expected_messages: [{{role: assistant, content: {{lines: [1]}}}}]
    {field}
"""


@pytest.mark.parametrize(("field", "said"), NUMBERS.values(), ids=NUMBERS)
def test_a_number_is_a_diagnostic(field: str, said: str, tmp_path: Path) -> None:
    Checkout.create(tmp_path).write({"a.eval.yaml": FILE.format(field=field)})
    done = invoke(tmp_path, ENVIRONMENT, "validate", "a.eval.yaml")
    assert done.returncode == 1
    assert said in done.stdout


@pytest.mark.parametrize("key", ["weight", "prompt"])
@pytest.mark.parametrize("unit", ["0", "07", "1_", "/", "0."])
def test_a_hundred_kilobytes_of_it_take_no_time(unit: str, key: str, tmp_path: Path) -> None:
    field = f"evaluators: [{{name: c, type: llm_judge, {key}: {unit * (100_000 // len(unit))} x}}]"
    Checkout.create(tmp_path).write({"a.eval.yaml": FILE.format(field=field)})
    started = process_time()
    invoke(tmp_path, ENVIRONMENT, "validate", "a.eval.yaml")
    assert process_time() - started < 3
