"""The bot of `examples/service/`, started on both sides of a change with what it needs."""

import json
import os
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


@pytest.fixture
def example(checkout: Checkout) -> Checkout:
    """The example with this Python, which has the requirements of the bot."""
    place = checkout.root / "examples/service"
    shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns(".deps"))
    for name in ("rubric-ci.yaml", "more/two-services.yaml", "more/start.sh"):
        text = (place / name).read_text(encoding="utf-8")
        text = re.sub(r"    setup: .*\n", "", text).replace("python3", sys.executable)
        checkout.write({f"examples/service/{name}": text})
    checkout.commit({".gitignore": ".rubric-ci\n"})
    return checkout


def run(example: Checkout, *words: str, config: str = "rubric-ci.yaml", **environment: str) -> Any:
    named = ("--config", f"examples/service/{config}")
    return invoke(example.root, clean_environment() | environment, "run", *named, *words)


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


def test_two_services_with_a_database_for_each_side(example: Checkout) -> None:
    orders = (example.root / "examples/service/orders.sql").read_text(encoding="utf-8")
    example.write({"examples/service/orders.sql": orders.replace("on its way", "lost")})
    words = ("--changed-since", "HEAD", "--against", "HEAD")
    done = run(example, *words, config="more/two-services.yaml")
    assert done.returncode == 1, done.stdout
    case = cases(example)["looks-the-order-up"]
    assert "- Order 4711 is on its way, dear customer." in done.stdout
    assert "+ Order 4711 is lost, dear customer." in done.stdout
    assert case["change"] == "broken"
    assert {c["change"] for c in cases(example).values()} == {"broken", "unchanged"}
    assert [*example.root.rglob("*.db")] == []
    assert [line for line in processes_below(example.root) if not line.startswith("git ")] == []


SIDES = ("base", "head")
DOCKER = """\
#!/bin/sh
echo "$SIDE $*" >> {log}
case "$*" in *" up "*) exec {python} ../bot.py --port "$PORT" ;; esac
"""


def test_a_project_of_docker_compose_for_each_side(example: Checkout, tmp_path: Path) -> None:
    docker = tmp_path / "bin/docker"
    docker.parent.mkdir()
    docker.write_text(DOCKER.format(python=sys.executable, log=tmp_path / "log"), encoding="utf-8")
    docker.chmod(0o755)
    bot = (example.root / "examples/service/bot.py").read_text(encoding="utf-8")
    example.write({"examples/service/bot.py": bot.replace("never refund", "refund")})
    path = f"{docker.parent}{os.pathsep}{os.environ['PATH']}"
    words = ("--changed-since", "HEAD", "--against", "HEAD")
    done = run(example, *words, config="more/containers.yaml", PATH=path)
    assert done.returncode == 1, done.stdout
    assert cases(example)["worn-parts"]["change"] == "broken"
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    begun, ended = (sorted(x for x in lines if x.endswith(end)) for end in ("--build", "-v"))
    projects = [re.sub(r"\d+", "PORT", line) for line in begun]
    assert projects == [f"{side} compose -p eval-{side}-PORT up --build" for side in SIDES]
    assert '"127.0.0.1:${PORT}:8000"' in (EXAMPLE / "more/compose.yaml").read_text()
    assert ended == [line.replace("up --build", "down -v") for line in begun]


def processes_below(folder: Path) -> list[str]:
    """Return the other processes that work in a folder."""
    places = {*Path("/proc").glob("[0-9]*/cwd")} - {Path(f"/proc/{os.getpid()}/cwd")}
    lines = [(each.parent / "cmdline").read_text() for each in places if is_below(each, folder)]
    return [line.replace("\0", " ") for line in lines]


def is_below(link: Path, folder: Path) -> bool:
    """Return True for a process that works in a folder."""
    try:
        return link.resolve(strict=True).is_relative_to(folder)
    except OSError:
        return False


@pytest.mark.parametrize(
    "name", ["rubric-ci", "more/containers", "more/preview", "more/two-services"]
)
def test_its_files_have_no_problems(name: str) -> None:
    file = f"examples/service/{name}.yaml"
    done = invoke(ROOT, clean_environment(), "validate", "--config", file, file)
    assert done.returncode == 0, done.stdout
    assert "error" not in done.stdout
    assert "warning" not in done.stdout
