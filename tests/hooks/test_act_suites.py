"""Two suites of one repository under act: a matrix that calls `gate.yml`, as the page shows it."""

import json
import re
from pathlib import Path

import pytest

from tests.checkout import Checkout
from tests.contract.fake_github import GitHub, Pull, serving
from tests.hooks import runner
from tests.hooks.roles import Role
from tests.sample_project import CONFIG, EVAL

pytestmark = [pytest.mark.deep, pytest.mark.timeout(400), *runner.WITH_ACT]

PAGE = runner.ROOT / "docs/action.md"
NAME = ".github/workflows/gates.yml"


def workflow() -> str:
    """Return the example of the page as a whole workflow."""
    text = PAGE.read_text(encoding="utf-8")
    (jobs,) = re.findall(r"(?s)```yaml\n(jobs:\n  gate:\n    strategy:.*?)```", text)
    return f"name: gates\non: [pull_request]\n{jobs}"


@pytest.fixture
def merged(checkout: Checkout) -> tuple[Checkout, dict[str, object]]:
    """The merge commit of a pull request that breaks the suite `bot`, and its event."""
    checkout.git("remote", "add", "origin", "https://github.com/acme/app.git")
    files = {NAME: workflow(), ".gitignore": ".rubric-ci/\n"}
    for name in ("bot", "web"):
        own = {
            "rubric-ci.yaml": CONFIG,
            "evals/a.eval.yaml": EVAL,
            "answers.jsonl": answer("Hello"),
        }
        files |= {f"packages/{name}/{path}": text for path, text in own.items()}
    checkout.commit(files)
    change = {f"packages/{name}/answers.jsonl": answer(text) for name, text in ANSWERS.items()}
    return checkout, runner.merged(checkout, change, Role())


ANSWERS = {"bot": "Go away", "web": "Hello there"}


def answer(text: str) -> str:
    return json.dumps({"id": "greeting", "answer": text}) + "\n"


def test_each_suite_has_its_own_comment_and_page(
    merged: tuple[Checkout, dict[str, object]], published: Checkout, tmp_path: Path
) -> None:
    checkout, event = merged
    with serving(GitHub(pulls={7: Pull(7)})) as github:
        job = runner.run(
            checkout,
            "gates.yml",
            folder=str(checkout.root / ".github/workflows"),
            event="pull_request",
            payload=event,
            published=published,
            environ={"GITHUB_API_URL": github.url},
            secrets={"GITHUB_TOKEN": "actions"},
        )
    assert not job.succeeded, job.log
    headings = sorted(body.splitlines()[2].partition(":")[0] for body in github.bodies(7))
    assert headings == ["## ✅ packages/web · Gate passes", "## ❌ packages/bot · Gate fails"], (
        job.log
    )
    pages = sorted(path.name for path in checkout.root.parent.rglob("report-packages-*.html"))
    assert {*pages} == {"report-packages-bot.html", "report-packages-web.html"}
