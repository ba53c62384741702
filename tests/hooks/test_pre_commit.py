"""The hooks under the real hook managers, in a user's repository."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests import platforms
from tests.captured import captured
from tests.checkout import ENVIRONMENT, Checkout

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BIN = platforms.SCRIPTS
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
GOOD = "evalcases:\n  - id: a\n    input: Hi\n    expected_outcome: Greets\n    rubrics: [Greets]\n"
BAD = GOOD.replace("rubrics:", "rubric:")
PROBLEM = "evals/bad.eval.yaml:5:5: "


def run(checkout: Checkout, shared: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {
        **ENVIRONMENT,
        "PATH": os.pathsep.join([str(BIN), ENVIRONMENT["PATH"]]),
        "PRE_COMMIT_HOME": str(shared / "pre-commit"),
        "PIP_NO_COMPILE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PREK_HOME": str(shared / "prek"),
    }
    return captured(words, cwd=checkout.root, env=environ, timeout=240)


@pytest.fixture
def user(checkout: Checkout) -> Checkout:
    """A repository with one eval file with a problem that uses the hook, which is not installed."""
    hook, _ = yaml.safe_load(MANIFEST.read_text())
    assert hook["language"] == "python"
    local = {"repo": "local", "hooks": [{**hook, "language": "system"}]}
    config = yaml.safe_dump({"repos": [local]})
    checkout.commit({".pre-commit-config.yaml": config, "evals/old.eval.yaml": BAD})
    return checkout


def use(published: Checkout, hook: str) -> dict[str, str]:
    repository = f"{{repo: {published.root}, rev: {published.git('rev-parse', 'HEAD')}"
    return {".pre-commit-config.yaml": f"repos: [{repository}, hooks: [{hook}]}}]\n"}


def test_the_manifest_is_valid() -> None:
    ended = subprocess.run([BIN / "pre-commit", "validate-manifest", MANIFEST], check=False)
    assert ended.returncode == 0


def test_no_hook_installs_an_llm_library() -> None:
    """The models of three providers are asked directly; what needs more names it."""
    hooks = yaml.safe_load(MANIFEST.read_text())
    assert [hook["id"] for hook in hooks if "additional_dependencies" in hook] == []


def stage(checkout: Checkout, files: dict[str, str]) -> None:
    checkout.write(files)
    checkout.git("add", *files)


def test_a_bad_commit_is_refused_with_the_location(user: Checkout, shared: Path) -> None:
    stage(user, {"evals/bad.eval.yaml": BAD, "evals/good.eval.yaml": GOOD})
    said = run(user, shared, "prek", "run")
    assert said.returncode == 1
    assert PROBLEM in said.stdout


def test_a_good_commit_passes(user: Checkout, shared: Path) -> None:
    files = {"evals/good.eval.yaml": GOOD, "evals/values.yaml": "a: 1\n", "compose.yaml": "b: 2\n"}
    stage(user, files)
    said = run(user, shared, "prek", "run")
    assert said.returncode == 0, said.stdout
    assert "Passed" in said.stdout


@pytest.fixture
def on_windows(user: Checkout, tmp_path: Path) -> Checkout:
    """The same repository as git for Windows checks it out: CRLF on disk, LF in the objects."""
    user.commit({"rubric-ci.yaml": "evals: [evals/*.eval.yaml]\n"})
    clone = user.clone(tmp_path / "windows", "--config", "core.autocrlf=true")
    for name in ("rubric-ci.yaml", ".pre-commit-config.yaml"):
        assert b"\r\n" in (clone.root / name).read_bytes()
    return clone


def test_a_checkout_with_crlf_has_the_same_locations(on_windows: Checkout, shared: Path) -> None:
    texts = {"evals/bad.eval.yaml": BAD, "evals/good.eval.yaml": GOOD}
    stage(on_windows, {name: text.replace("\n", "\r\n") for name, text in texts.items()})
    said = run(on_windows, shared, "prek", "run")
    assert said.returncode == 1
    assert PROBLEM in said.stdout
    assert "good.eval.yaml" not in said.stdout


def test_a_good_commit_with_crlf_passes_unchanged(on_windows: Checkout, shared: Path) -> None:
    text = GOOD.replace("\n", "\r\n")
    stage(on_windows, {"evals/good.eval.yaml": text})
    said = run(on_windows, shared, "prek", "run")
    assert said.returncode == 0, said.stdout
    assert (on_windows.root / "evals/good.eval.yaml").read_bytes() == text.encode()
    assert on_windows.git("show", ":evals/good.eval.yaml") == GOOD.strip()


def test_other_files_are_not_looked_at(user: Checkout, shared: Path) -> None:
    stage(user, {"README.md": "Hi", "src/app.py": "print()"})
    assert "(no files to check)Skipped" in run(user, shared, "prek", "run").stdout


@pytest.mark.deep  # each installs an environment
@pytest.mark.parametrize("manager", ["pre-commit", "prek"])
def test_try_repo(manager: str, user: Checkout, published: Checkout, shared: Path) -> None:
    stage(user, {"evals/bad.eval.yaml": BAD, "evals/good.eval.yaml": GOOD})
    said = run(user, shared, manager, "try-repo", str(published.root), "rubric-ci-validate")
    assert said.returncode == 1
    assert PROBLEM in said.stdout
    assert "old.eval.yaml" not in said.stdout


@pytest.mark.deep
def test_the_version_of_the_repository_is_installed(
    user: Checkout, published: Checkout, shared: Path, tmp_path: Path
) -> None:
    other = published.clone(tmp_path / "other")
    other.commit({"rubric_ci/__init__.py": '"""Ours."""\n\n__version__ = "99.1"\n'})
    hook = "{id: rubric-ci-validate, entry: rubric-ci --version, pass_filenames: false}"
    stage(user, {**use(other, hook), "evals/good.eval.yaml": GOOD})
    assert "rubric-ci, version 99.1" in run(user, shared, "prek", "run", "--verbose").stdout


@pytest.mark.deep
def test_drafting_runs_by_hand_only(user: Checkout, published: Checkout, shared: Path) -> None:
    stage(user, {**use(published, "{id: rubric-ci-generate}"), "evals/good.eval.yaml": GOOD})
    assert not run(user, shared, "prek", "run").stdout
    said = run(user, shared, "prek", "run", "--stage", "manual")
    assert said.returncode == 0, said.stdout
    assert "Passed" in said.stdout
