"""Drafts of a scheduled workflow under act: one pull request, and nothing on the default branch."""

from pathlib import Path

import pytest

from tests import aimock
from tests.checkout import Checkout
from tests.contract.fake_github import GitHub, Token, serving
from tests.generating import AFTER, CONFIG, EVAL, GOOD
from tests.hooks import runner

pytestmark = [
    pytest.mark.deep,
    pytest.mark.timeout(400),
    *runner.WITH_ACT,
    pytest.mark.skipif(bool(aimock.missing()), reason=aimock.missing()),
]

TOKEN = "the-token-of-the-job"
OURS = "rubric-ci/rubrics-main"


def test_one_pull_request(checkout: Checkout, published: Checkout, tmp_path: Path) -> None:
    with aimock.running(tmp_path) as model, serving(GitHub(tokens={TOKEN: Token()})) as github:
        model.script(aimock.says(GOOD))
        config = CONFIG.replace("gpt-6-luna,", f"gpt-6-luna, api_base: {model.url}/v1,")
        checkout.git("remote", "add", "origin", "https://github.com/acme/app.git")
        checkout.commit(
            {"rubric-ci.yaml": config, "evals/a.yaml": EVAL, ".gitignore": ".rubric-ci/\n"}
        )
        remote = checkout.clone(tmp_path / "remote.git", "--bare")
        github.hold(remote.root)

        def schedule() -> runner.Job:
            checkout.git("checkout", "--quiet", ".")
            return runner.run(
                checkout,
                "evals-generate.yml",
                event="schedule",
                payload={"repository": {"full_name": "acme/app", "default_branch": "main"}},
                published=published,
                environ={"GITHUB_API_URL": github.url},
                secrets={"GITHUB_TOKEN": TOKEN, "OPENAI_API_KEY": "key"},
            )

        job = schedule()
        assert job.succeeded, job.log
        assert remote.git("show", f"{OURS}:evals/a.yaml") + "\n" == AFTER
        assert remote.git("show", "main:evals/a.yaml") + "\n" == EVAL
        assert [pull.title for pull in github.pulls.values()] == ["evals: add rubrics to 1 case"]

        job = schedule()
        assert job.succeeded, job.log
        assert "the drafts for these cases are in https://github.example/acme/app/pull/1" in job.log
        assert len(model.requests()) == 1
        assert len(github.pulls) == 1
