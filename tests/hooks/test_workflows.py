"""Every workflow of the project and its examples: linters, and the project's own rules."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.system.actions_runner import is_before_merge
from tests import platforms
from tests.hooks import composite
from tests.hooks.pins import PINS

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "workflows").glob("*.yml"))
OURS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CALLED = [path for path in OURS if "workflow_call:" in path.read_text()]
CALLERS = [path for path in EXAMPLES if "/.github/workflows/" in path.read_text()]
WORKFLOWS = [str(path.relative_to(ROOT)) for path in EXAMPLES + OURS]


def problems(*words: str | Path) -> str:
    """Return what a linter prints of problems; empty: it found none."""
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    return said.stdout + said.stderr if said.returncode else ""


def test_there_are_workflows() -> None:
    assert EXAMPLES
    assert OURS


def test_no_workflow_has_a_pin_to_replace() -> None:
    """What people copy runs as it is: no zeros, no hash in angle brackets."""
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *EXAMPLES, *OURS]
    assert [path for path in pages if "0" * 40 in path.read_text("utf-8")] == []


def test_zizmor() -> None:
    zizmor = platforms.SCRIPTS / "zizmor"
    words = ("--offline", "--persona=auditor", "--config=.github/zizmor.yml")
    assert problems(zizmor, *words, "action.yml", *WORKFLOWS) == ""


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
        ours = name.startswith("rubric-ci/") and re.fullmatch(r"([0-9a-f]{40} # )?v[\d.]+", pin)
        known = "" if name.startswith("./") else PINS["/".join(name.split("/")[:2])]
        assert ours or pin.startswith(known)


@cache
def workflow_of(path: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / path).read_text())
    return found


@cache
def action() -> dict[str, Any]:
    return composite.read(ROOT)


def jobs(path: str) -> Iterator[dict[str, Any]]:
    yield from workflow_of(path)["jobs"].values()


@pytest.mark.parametrize("path", WORKFLOWS)
def test_rights_and_limits_are_said(path: str) -> None:
    workflow = workflow_of(path)
    assert workflow["permissions"] == {}
    for job in jobs(path):
        assert job["permissions"]
        if "uses" in job:  # the called workflow says the rest
            continue
        assert workflow["concurrency"]["group"]
        assert job["timeout-minutes"]
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS)
def test_our_action_is_given_inputs_that_it_has(path: str) -> None:
    known = action()["inputs"]
    taken = action()["runs"]["steps"][0]["env"]
    for job in jobs(path):
        for step in job.get("steps", []):
            if step.get("uses", "").startswith(("./", "rubric-ci/rubric-ci@")):
                assert step["with"].keys() <= known.keys()
                assert step["with"]["command"] in known["command"]["description"]
                assert not step.get("env", {}).keys() & taken.keys(), "an input sets this one"


def needs_the_base(path: str) -> bool:
    """Return True for a workflow whose events have a base, which the policy comes from."""
    found: dict[Any, Any] = workflow_of(path)
    triggers = found[True]  # YAML 1.1 reads `on` so
    called_before = ROOT / path in CALLED and Path(path).stem in {"gate", "validate"}
    return called_before or any(map(is_before_merge, triggers))


@pytest.mark.parametrize("path", [*filter(needs_the_base, WORKFLOWS)])
def test_a_checkout_holds_the_base_whose_policy_counts(path: str) -> None:
    for job in jobs(path):
        checkout, *others = job.get("steps") or [{}]
        commands = [step["with"]["command"] for step in others if "command" in step.get("with", {})]
        reads = {"generate", "plan", "run", "validate"} & set(commands)
        if reads and checkout.get("uses", "").startswith("actions/checkout@"):
            assert checkout["with"]["fetch-depth"] in {0, 2}


def test_no_two_workflows_cancel_each_other() -> None:
    for path in EXAMPLES:
        workflow = yaml.safe_load(path.read_text())
        assert workflow["name"] == path.stem
        if path not in CALLERS:
            assert workflow["concurrency"]["group"].startswith("${{ github.workflow }}")
    for path in CALLED:  # NOTE: `github.workflow` is the caller's, which may have such a group
        group = yaml.safe_load(path.read_text())["concurrency"]["group"]
        assert group.startswith(f"rubric-ci-{path.stem}-${{{{ github.workflow }}}}")
        assert "inputs.config" in group  # a matrix of suites


@pytest.mark.parametrize("path", CALLERS, ids=lambda path: path.stem)
def test_a_caller_is_short_and_grants_what_is_asked(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 15
    assert len(re.findall("@", text)) == 1
    (job,) = jobs(str(path))
    name = job["uses"].removeprefix("rubric-ci/rubric-ci/.github/workflows/").partition("@")[0]
    called = ROOT / ".github/workflows" / name
    assert called in CALLED
    asked = [each["permissions"] for each in jobs(str(called))]
    assert job["permissions"] == {key: right for each in asked for key, right in each.items()}
    takes = yaml.safe_load(called.read_text())[True]["workflow_call"]
    assert job.get("with", {}).keys() <= takes["inputs"].keys()
    assert job.get("secrets", {}).keys() == takes.get("secrets", {}).keys()


@pytest.mark.parametrize(
    ("reads", "keeps"),
    [
        ("evals-gate-report.yml", "evals-gate-fork-safe.yml"),
        ("evals-history.yml", "evals-nightly.yml"),
    ],
)
def test_a_workflow_follows_the_one_that_keeps_its_report(reads: str, keeps: str) -> None:
    folder = ROOT / "examples" / "workflows"
    second, first = (yaml.safe_load((folder / name).read_text()) for name in (reads, keeps))
    assert second[True]["workflow_run"]["workflows"] == [first["name"]]  # YAML 1.1 reads `on` so
    every = steps_of(doing(folder / keeps), "actions/upload-artifact@")
    (kept,) = (step for step in every if "name" in step)
    (fetched,) = steps_of(folder / reads, "actions/download-artifact@")
    assert kept["name"].partition("${{")[0] == fetched["name"]  # then the name of a suite


def grading(path: str) -> list[dict[str, Any]]:
    """Return the steps that grade what is shown: a shard is a part of it."""
    steps = (step for job in jobs(path) for step in job.get("steps", ()))
    found = [step for step in steps if step.get("with", {}).get("command") in SHOWING]
    return [step for step in found if "shard" not in step["with"]]


SHOWING = {"run", "report merge"}


@pytest.mark.parametrize("path", [*filter(grading, map(str, (*EXAMPLES, *CALLED)))])
def test_a_workflow_that_grades_uploads_its_page_which_is_linked(path: str) -> None:
    for step in grading(path):
        assert step["with"]["page"] == "report.html"
        place = f"${{{{ steps.{step['id']}.outputs.page }}}}"
        (upload,) = [
            each
            for each in steps_of(Path(path), "actions/upload-artifact@")
            if each["path"] == place
        ]
        assert not upload["archive"]
    for comment in (each for each in steps_of(Path(path), "rubric-ci/") if "pull-request" in each):
        assert comment["page"] == "report.html"


@pytest.mark.parametrize(
    "name", ["evals-validate.yml", "evals-gate.yml", "evals-gate-fork-safe.yml"]
)
def test_a_check_that_may_be_required_runs_in_a_merge_queue(name: str) -> None:
    triggers = yaml.safe_load((ROOT / "examples" / "workflows" / name).read_text())[True]
    assert {"pull_request", "merge_group"} <= triggers.keys()


@pytest.mark.parametrize("name", ["evals-gate.yml", "evals-gate-fork-safe.yml"])
def test_a_pull_request_starts_from_what_the_default_branch_keeps(name: str) -> None:
    folder = ROOT / "examples" / "workflows"
    kept = steps_of(doing(folder / "evals-default-branch.yml"), "actions/cache/save@")
    restored = steps_of(doing(folder / name), "actions/cache/restore@")
    own = steps_of(doing(folder / name), "actions/cache/save@")
    assert [plain(step["path"]) for step in (*kept, *own)] == [
        plain(step["path"]) for step in restored
    ]
    for save, restore in zip((*kept, *own), restored, strict=True):
        assert plain(save["key"]).startswith(plain(restore["restore-keys"]))


def plain(text: str) -> str:
    """Return a path or a key for the inputs' defaults, which are empty."""
    return re.sub(r"\$\{\{ inputs\.[^}]*(?:\{0\}[^}]*)?\}\}", "", text)


def doing(path: Path) -> Path:
    """Return the workflow that has the steps: a caller's is the one that it calls."""
    found = re.search(r"/(\.github/workflows/[\w-]+\.yml)@", path.read_text())
    return ROOT / found[1] if found else path


def steps_of(path: Path, uses: str) -> list[dict[str, str]]:
    steps = (step for job in jobs(str(path)) for step in job["steps"])
    return [step["with"] for step in steps if step.get("uses", "").startswith(uses)]
