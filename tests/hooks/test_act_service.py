"""The gate workflow under act with the bot of `examples/service/`, started at base and head."""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkout import Checkout
from tests.contract.fake_github import GitHub, Pull, Token, serving
from tests.hooks import runner
from tests.hooks.roles import Role

pytestmark = [pytest.mark.deep, pytest.mark.timeout(400), *runner.WITH_ACT]

EXAMPLE = Path(__file__).parents[2] / "examples/service"
TOKEN = "the-token-of-the-job"


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub(tokens={TOKEN: Token()}, pulls={7: Pull(7)})) as server:
        yield server


@pytest.fixture
def repository(checkout: Checkout) -> Checkout:
    """The example at the root of a repository, with the Python of the tests."""
    shutil.copytree(
        EXAMPLE, checkout.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".deps", "more")
    )
    config = (EXAMPLE / "rubric-ci.yaml").read_text(encoding="utf-8")
    config = re.sub(r"    (setup|depends_on): .*\n", "", config)
    checkout.write({"rubric-ci.yaml": config.replace("python3", sys.executable)})
    checkout.git("remote", "add", "origin", "https://github.com/acme/app.git")
    checkout.commit({".gitignore": ".rubric-ci/\n"})
    checkout.git("branch", "topic")
    return checkout


def push(repository: Checkout, old: str, new: str) -> dict[str, object]:
    """Commit a change of the bot, merge it as GitHub does, and return the event."""
    bot = repository.git("show", "topic:bot.py")
    assert old in bot
    return runner.merged(repository, {"bot.py": f"{bot.replace(old, new)}\n"}, Role())


def test_a_broken_bot_is_red(repository: Checkout, github: GitHub, published: Checkout) -> None:
    def graded(old: str, new: str) -> runner.Job:
        return runner.run(
            repository,
            "evals-gate.yml",
            event="pull_request",
            payload=push(repository, old, new),
            published=published,
            environ={"GITHUB_API_URL": github.url},
            secrets={"GITHUB_TOKEN": TOKEN},
        )

    good, bad = "We never refund worn parts.", "Sure, here is your money."
    job = graded(good, bad)
    assert not job.succeeded, job.log
    assert (job.outputs["passed"], job.outputs["failed"]) == ("2", "1")
    (comment,) = github.pulls[7].comments
    assert "worn-parts broke" in comment.body
    assert all(word in comment.body for word in ("never", "refund", "Sure", "money"))

    job = graded(bad, good)
    assert job.succeeded, job.log
    assert github.pulls[7].comments == [comment]
    assert "broke" not in comment.body.replace("nothing broke", "").replace("Nothing broke", "")
