"""The step of `action.yml`, run as a runner does: installed from here, and from here only."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from hooks import installation
from tests.captured import captured
from tests.checkout import ENVIRONMENT, Checkout
from tests.contract.fake_github import GitHub, Pull
from tests.contract.fake_github import serving as github
from tests.hooks.conftest import Step
from tests.http_server import QuietHandler, serving

pytestmark = [pytest.mark.slow]

GOOD = "evalcases:\n  - id: a\n    input: Hi\n    expected_outcome: Greets\n    rubrics: [Greets]\n"
BAD = GOOD.replace("rubrics:", "rubric:")
QUICKSTART = "examples/quickstart"
GRADED = {
    "command": "run",
    "config": f"{QUICKSTART}/rubric-ci.yaml",
    "replay": f"{QUICKSTART}/judge.replay.jsonl",
}
HOSTILE = "raise SystemExit('a file of the workspace was imported')\n"


def test_a_good_file(step: Step) -> None:
    step.checkout.commit({"evals/a.eval.yaml": GOOD})
    ran = step.run({"command": "validate", "paths": "evals"})
    assert ran.returncode == 0, ran.stderr


def test_a_bad_file_is_an_annotation_at_its_line(step: Step) -> None:
    step.checkout.commit(
        {"evals/a.eval.yaml": GOOD, "evals/b.eval.yaml": BAD, "more/c.eval.yaml": BAD}
    )
    ran = step.run({"command": "validate", "paths": "evals\nmore\n"})
    assert ran.returncode == 1
    found = [line for line in ran.stdout.splitlines() if line.startswith("::error ")]
    assert [line.partition(",endLine=")[0] for line in found] == [
        "::error file=evals/b.eval.yaml,line=5",
        "::error file=more/c.eval.yaml,line=5",
    ]


def test_run_leaves_its_outputs_also_when_the_gate_fails(step: Step) -> None:
    """Results go to the endpoint of the input too: the exporter is installed for it."""
    seen: list[str] = []

    class Receiver(QuietHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.body()
            self.respond(200)

    shutil.copytree(step.published.root / QUICKSTART, step.checkout.root / QUICKSTART)
    step.checkout.commit()
    with serving(Receiver) as server:
        ran = step.run(GRADED | {"env": f"OTEL_EXPORTER_OTLP_ENDPOINT={server.url}"})
    assert ran.returncode == 1, ran.stderr
    assert ran.outputs == {
        **dict.fromkeys(ran.outputs, ""),
        "verdict": "fail",
        "gate": "fail",
        "review": "none",
        "score": ran.outputs["score"],
        "passed": "1",
        "failed": "1",
        "errored": "0",
        "cost-usd": ran.outputs["cost-usd"],
        "report": ".rubric-ci/report.json",
        "summary": ".rubric-ci/summary.md",
    }
    assert 0 < float(ran.outputs["score"]) < 1
    assert "::error file=examples/quickstart/evals/support.eval.yaml,line=" in ran.stdout
    assert "exported 4 spans to 127.0.0.1" in ran.stderr
    assert seen == ["/v1/traces"]


def test_a_checkout_in_a_folder_of_the_workspace(step: Step) -> None:
    """Annotations name the files as the repository does, outputs as later steps find them."""
    app = Checkout.create(step.checkout.root / "app")
    shutil.copytree(step.published.root / QUICKSTART, app.root / QUICKSTART)
    app.commit()
    ran = step.run(GRADED | {"working-directory": "app"})
    assert ran.returncode == 1, ran.stderr
    assert ran.outputs["report"] == "app/.rubric-ci/report.json"
    assert (step.checkout.root / ran.outputs["report"]).is_file()
    assert "::error file=examples/quickstart/evals/support.eval.yaml,line=" in ran.stdout


def test_a_comment_is_posted_with_the_packages_of_the_list(step: Step) -> None:
    shutil.copytree(step.published.root / QUICKSTART, step.checkout.root / QUICKSTART)
    step.checkout.commit()
    event = step.checkout.root.parent / "event.json"
    head = {"sha": "1" * 40, "repo": {"full_name": "acme/app"}}
    event.write_text(json.dumps({"pull_request": {"number": 7, "head": head}}))
    with github(GitHub(pulls={7: Pull(7, head_sha="1" * 40)})) as server:
        known = {
            "GITHUB_REPOSITORY": "acme/app",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_API_URL": server.url,
            "GITHUB_TOKEN": "actions",
        }
        ran = step.run(GRADED | {"comment-mode": "update", "policy-from": "head"}, **known)
    assert ran.returncode == 1, ran.stderr
    (comment,) = server.bodies(7)
    assert "<!-- rubric-ci: examples/quickstart -->" in comment


def test_nothing_of_the_workspace_is_imported(step: Step) -> None:
    names = ("yaml", "click", "venv", "hashlib", "rubric_ci", "rubric_ci/__main__", "sitecustomize")
    files = {f"{name}.py": HOSTILE for name in names}
    step.checkout.commit({**files, "uv.toml": "no-index = true\n", "evals/a.eval.yaml": GOOD})
    ran = step.run({"command": "validate", "paths": "evals"})
    assert ran.returncode == 0, ran.stderr


@pytest.mark.deep  # pip takes seconds to install what uv links
def test_pip_where_uv_is_not(published: Checkout, checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit({"evals/a.eval.yaml": GOOD})
    words = [sys.executable, "-I", str(published.root / "hooks" / "action.py")]
    environ = {"PATH": os.defpath, "RUNNER_TOOL_CACHE": str(tmp_path / "tools")}
    ended = captured(
        words, cwd=checkout.root, env=ENVIRONMENT | environ | {"RUBRIC_CI_COMMAND": "validate"}
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_environment_holds_the_locked_packages_and_nothing_else(step: Step) -> None:
    step.checkout.commit({"evals/a.eval.yaml": GOOD})
    assert step.run({"command": "validate"}).returncode == 0
    (environment,) = (step.tool_cache / "rubric-ci").glob("light-*")
    locked = (installation.CHECKOUT / "requirements" / "light.txt").read_text().lower()
    packages = next(environment.rglob("site-packages"))
    for folder in packages.glob("*.dist-info"):
        name, version = folder.name.removesuffix(".dist-info").lower().split("-")
        assert f"{name.replace('_', '-')}=={version}" in locked
    assert not [*packages.glob("*/tests")]
    assert (packages / "rubric_ci" / "_schemas" / "eval.schema.json").is_file()


def test_a_second_start_installs_nothing(step: Step) -> None:
    step.checkout.commit({"evals/a.eval.yaml": GOOD})
    assert step.run({"command": "validate"}).returncode == 0
    before = {path: path.stat().st_mtime_ns for path in (step.tool_cache / "rubric-ci").iterdir()}
    assert step.run({"command": "validate"}).returncode == 0
    after = {path: path.stat().st_mtime_ns for path in (step.tool_cache / "rubric-ci").iterdir()}
    assert before == after
