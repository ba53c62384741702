"""The step of `action.yml`, run as a runner does: installed from here, and from here only."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from hooks import installation
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.contract.fake_github import GitHub, Pull
from tests.contract.fake_github import serving as github
from tests.hooks import composite
from tests.http_server import QuietHandler, serving

pytestmark = [pytest.mark.slow]

GOOD = "evalcases:\n  - id: a\n    input: Hi\n    expected_outcome: Greets\n    rubrics: [Greets]\n"
BAD = GOOD.replace("rubrics:", "rubric:")
HOSTILE = "raise SystemExit('a file of the workspace was imported')\n"
UV = str(platforms.SCRIPTS)


@pytest.fixture(scope="session")
def tool_cache(shared: Path) -> Path:
    """The tool cache of a runner that keeps it between jobs."""
    folder = shared / "tools"
    folder.mkdir(exist_ok=True)
    return folder


def run(published: Checkout, checkout: Checkout, tool_cache: Path, **given: str) -> composite.Ran:
    return start(published, checkout, tool_cache, given)


def start(
    published: Checkout,
    checkout: Checkout,
    tool_cache: Path,
    given: Mapping[str, str],
    environ: Mapping[str, str] = MappingProxyType({}),
) -> composite.Ran:
    local = ("GITHUB_", "RUBRIC_CI_")
    environ = {
        **environ,
        **{name: value for name, value in ENVIRONMENT.items() if not name.startswith(local)},
        "PATH": os.pathsep.join([UV, os.defpath]),
        "RUNNER_TOOL_CACHE": str(tool_cache),
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(checkout.root),
    }
    return composite.run(published.root, given, workspace=checkout.root, environ=environ)


def test_a_good_file(published: Checkout, checkout: Checkout, tool_cache: Path) -> None:
    checkout.commit({"evals/a.eval.yaml": GOOD})
    ran = run(published, checkout, tool_cache, command="validate", paths="evals")
    assert ran.returncode == 0, ran.stderr


def test_a_bad_file_is_an_annotation_at_its_line(
    published: Checkout, checkout: Checkout, tool_cache: Path
) -> None:
    checkout.commit({"evals/a.eval.yaml": GOOD, "evals/b.eval.yaml": BAD, "more/c.eval.yaml": BAD})
    ran = run(published, checkout, tool_cache, command="validate", paths="evals\nmore\n")
    assert ran.returncode == 1
    found = [line for line in ran.stdout.splitlines() if line.startswith("::error ")]
    assert [line.partition(",endLine=")[0] for line in found] == [
        "::error file=evals/b.eval.yaml,line=5",
        "::error file=more/c.eval.yaml,line=5",
    ]


def test_run_leaves_its_outputs_also_when_the_gate_fails(
    published: Checkout, checkout: Checkout, tool_cache: Path
) -> None:
    """Results go to the endpoint of the input too: the exporter is installed for it."""
    seen: list[str] = []

    class Receiver(QuietHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.body()
            self.respond(200)

    quickstart = "examples/quickstart"
    shutil.copytree(published.root / quickstart, checkout.root / quickstart)
    checkout.commit()
    with serving(Receiver) as server:
        ran = run(
            published,
            checkout,
            tool_cache,
            command="run",
            config=f"{quickstart}/rubric-ci.yaml",
            replay=f"{quickstart}/judge.replay.jsonl",
            env=f"OTEL_EXPORTER_OTLP_ENDPOINT={server.url}",
        )
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


def test_a_checkout_in_a_folder_of_the_workspace(
    published: Checkout, checkout: Checkout, tool_cache: Path
) -> None:
    """Annotations name the files as the repository does, outputs as later steps find them."""
    quickstart = "examples/quickstart"
    app = Checkout.create(checkout.root / "app")
    shutil.copytree(published.root / quickstart, app.root / quickstart)
    app.commit()
    ran = run(
        published,
        checkout,
        tool_cache,
        command="run",
        config=f"{quickstart}/rubric-ci.yaml",
        replay=f"{quickstart}/judge.replay.jsonl",
        **{"working-directory": "app"},
    )
    assert ran.returncode == 1, ran.stderr
    assert ran.outputs["report"] == "app/.rubric-ci/report.json"
    assert (checkout.root / ran.outputs["report"]).is_file()
    assert "::error file=examples/quickstart/evals/support.eval.yaml,line=" in ran.stdout


def test_a_comment_is_posted_with_the_packages_of_the_list(
    published: Checkout, checkout: Checkout, tool_cache: Path
) -> None:
    quickstart = "examples/quickstart"
    shutil.copytree(published.root / quickstart, checkout.root / quickstart)
    checkout.commit()
    event = checkout.root.parent / "event.json"
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
        given = {
            "command": "run",
            "comment-mode": "update",
            "policy-from": "head",
            "config": f"{quickstart}/rubric-ci.yaml",
            "replay": f"{quickstart}/judge.replay.jsonl",
        }
        ran = start(published, checkout, tool_cache, given, known)
    assert ran.returncode == 1, ran.stderr
    (comment,) = server.bodies(7)
    assert "<!-- rubric-ci: examples-quickstart -->" in comment


def test_nothing_of_the_workspace_is_imported(
    published: Checkout, checkout: Checkout, tool_cache: Path
) -> None:
    names = ("yaml", "click", "venv", "hashlib", "rubric_ci", "rubric_ci/__main__", "sitecustomize")
    files = {f"{name}.py": HOSTILE for name in names}
    checkout.commit({**files, "uv.toml": "no-index = true\n", "evals/a.eval.yaml": GOOD})
    ran = run(published, checkout, tool_cache, command="validate", paths="evals")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.deep  # pip takes seconds to install what uv links
def test_pip_serves_where_uv_is_not(
    published: Checkout, checkout: Checkout, tmp_path: Path
) -> None:
    checkout.commit({"evals/a.eval.yaml": GOOD})
    words = [sys.executable, "-I", str(published.root / "hooks" / "action.py")]
    environ = {"PATH": os.defpath, "RUNNER_TOOL_CACHE": str(tmp_path / "tools")}
    ended = subprocess.run(
        words,
        cwd=checkout.root,
        env=ENVIRONMENT | environ | {"RUBRIC_CI_COMMAND": "validate"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_environment_holds_the_locked_packages_and_nothing_else(
    published: Checkout, checkout: Checkout, tool_cache: Path
) -> None:
    checkout.commit({"evals/a.eval.yaml": GOOD})
    assert run(published, checkout, tool_cache, command="validate").returncode == 0
    (environment,) = (tool_cache / "rubric-ci").glob("light-*")
    locked = (installation.CHECKOUT / "requirements" / "light.txt").read_text().lower()
    packages = next(environment.rglob("site-packages"))
    for folder in packages.glob("*.dist-info"):
        name, version = folder.name.removesuffix(".dist-info").lower().split("-")
        assert f"{name.replace('_', '-')}=={version}" in locked
    assert not [*packages.glob("*/tests")]
    assert (packages / "rubric_ci" / "_schemas" / "eval.schema.json").is_file()


def test_a_second_start_installs_nothing(
    published: Checkout, checkout: Checkout, tool_cache: Path
) -> None:
    checkout.commit({"evals/a.eval.yaml": GOOD})
    assert run(published, checkout, tool_cache, command="validate").returncode == 0
    before = {path: path.stat().st_mtime_ns for path in (tool_cache / "rubric-ci").iterdir()}
    assert run(published, checkout, tool_cache, command="validate").returncode == 0
    after = {path: path.stat().st_mtime_ns for path in (tool_cache / "rubric-ci").iterdir()}
    assert before == after
