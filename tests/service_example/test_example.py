"""The bot of `examples/service/`, started on both sides of a change with what it needs."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.checkout import Checkout
from tests.invoke import invoke
from tests.sample_project import clean_environment

pytestmark = platforms.SHELL

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/service"
CONFIG = ("--config", "examples/service/rubric-ci.yaml")


@pytest.fixture
def example(checkout: Checkout) -> Checkout:
    """The example with this Python, which has the requirements of the bot."""
    place = checkout.root / "examples/service"
    shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns(".deps"))
    config = (place / "rubric-ci.yaml").read_text(encoding="utf-8")
    config = re.sub(r"    setup: .*\n", "", config).replace("python3", sys.executable)
    checkout.write({"examples/service/rubric-ci.yaml": config})
    checkout.commit({".gitignore": ".rubric-ci\n"})
    return checkout


def run(example: Checkout, *words: str) -> Any:
    return invoke(example.root, clean_environment(), "run", *CONFIG, *words)


def cases(example: Checkout) -> dict[str, dict[str, Any]]:
    report = json.loads((example.root / ".rubric-ci/report.json").read_text())
    return {case["id"]: case for case in report["cases"]}


def test_the_example_passes(example: Checkout) -> None:
    done = run(example)
    assert done.returncode == 0, done.stdout
    found = cases(example)
    assert {case["verdict"] for case in found.values()} == {"pass"}
    (step,) = found["looks-the-order-up"]["trace"]["steps"]
    assert (step["tool"], step["arguments"]) == ("look_up", {"order": "4711"})


def test_a_change_that_breaks_the_bot_is_red(example: Checkout) -> None:
    bot = (example.root / "examples/service/bot.py").read_text(encoding="utf-8")
    broken = bot.replace("We never refund worn parts.", "Worn parts are fine.")
    example.write({"examples/service/bot.py": broken})
    done = run(example, "--changed-since", "HEAD", "--against", "HEAD")
    assert done.returncode == 1, done.stdout
    case = cases(example)["worn-parts"]
    assert case["change"] == "broken"
    assert case["answer"].endswith("Worn parts are fine.")
    assert case["before"]["answer"].endswith("We never refund worn parts.")
    assert {c["change"] for c in cases(example).values()} == {"broken", "unchanged"}


@pytest.mark.parametrize(
    "name", ["rubric-ci", *(f"more/{p.stem}" for p in EXAMPLE.glob("more/*.yaml"))]
)
def test_its_files_have_no_problems(name: str) -> None:
    file = f"examples/service/{name}.yaml"
    done = invoke(ROOT, clean_environment(), "validate", "--config", file, file)
    assert done.returncode == 0, done.stdout
    assert "error" not in done.stdout
    assert "warning" not in done.stdout
