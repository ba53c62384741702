"""`rubric-ci init` as a user types it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from rubric_ci import __version__
from rubric_ci.model.scaffold import PROVIDERS, TARGET_KINDS
from rubric_ci.system import resources
from tests import platforms
from tests.invoke import invoke

FILES = [
    ".github/workflows/evals-default-branch.yml",
    ".github/workflows/evals-gate.yml",
    ".github/workflows/evals-nightly.yml",
    ".github/workflows/evals-validate.yml",
    ".gitignore",
    ".pre-commit-config.yaml",
    "evals/example.answers.jsonl",
    "evals/example.eval.yaml",
    "evals/example.replay.jsonl",
    "rubric-ci.yaml",
]
WROTE = [
    "wrote rubric-ci.yaml",
    "wrote evals/example.eval.yaml",
    "wrote evals/example.answers.jsonl",
    "wrote evals/example.replay.jsonl",
    "wrote .github/workflows/evals-validate.yml",
    "wrote .github/workflows/evals-gate.yml",
    "wrote .github/workflows/evals-default-branch.yml",
    "wrote .github/workflows/evals-nightly.yml",
]
OFFLINE = ("run", "--target", "recorded", "--replay", "evals/example.replay.jsonl")


def command(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return invoke(root, os.environ, *arguments)


def files(root: Path) -> list[str]:
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())


def first_lines(output: str) -> list[str]:
    return output.split("\n\nNext:", maxsplit=1)[0].splitlines()


def test_a_new_project_is_valid(tmp_path: Path) -> None:
    done = command(tmp_path, "init")
    assert (done.returncode, done.stderr) == (0, "")
    assert first_lines(done.stdout) == [
        *WROTE,
        "wrote .pre-commit-config.yaml",
        "wrote .gitignore",
    ]
    assert done.stdout.split("\n\n")[1] == NEXT
    assert files(tmp_path) == FILES
    checked = command(tmp_path, "validate")
    assert (checked.returncode, checked.stdout) == (0, "2 files checked: no problems\n")


NEXT = """\
Next:
  rubric-ci validate    # offline
  rubric-ci run --target recorded --replay evals/example.replay.jsonl    # offline
  export OPENAI_API_KEY=... && rubric-ci run    # asks the model
A pull request may cost $5, a night $20 (max-cost-usd).
The first night answers and judges every case 15 times; `rubric-ci run --trials 15 --list` shows its cost.
"""  # noqa: E501


@pytest.mark.parametrize("target", TARGET_KINDS)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_example_runs_offline_at_once(tmp_path: Path, provider: str, target: str) -> None:
    command(tmp_path, "init", "--yes", "--provider", provider, "--target", target)
    assert command(tmp_path, "validate").stdout == "2 files checked: no problems\n"
    done = command(tmp_path, *OFFLINE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed; fail-on: fail" in done.stdout
    assert "no model calls" in done.stdout


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_workflows_are_valid(tmp_path: Path, provider: str) -> None:
    command(tmp_path, "init", "--yes", "--provider", provider)
    check = platforms.SCRIPTS / "check-jsonschema"
    workflows = sorted((tmp_path / ".github/workflows").glob("*.yml"))
    done = subprocess.run(
        [check, "--builtin-schema", "vendor.github-workflows", *workflows],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, len(workflows)) == (0, 4), done.stdout


def test_the_provider_is_in_every_file(tmp_path: Path) -> None:
    done = command(tmp_path, "init", "--yes", "--provider", "anthropic")
    text = "".join((tmp_path / name).read_text(encoding="utf-8") for name in FILES)
    assert "OPENAI_API_KEY" not in text.replace(
        (tmp_path / "evals/example.replay.jsonl").read_text(), ""
    )
    assert "ANTHROPIC_API_KEY=${{ secrets.ANTHROPIC_API_KEY }}" in text
    assert "export ANTHROPIC_API_KEY=... && rubric-ci run" in done.stdout


@pytest.mark.parametrize(("provider", "caps"), [("openai", 3), ("ollama", 0)])
def test_only_models_with_a_price_have_a_cap(tmp_path: Path, provider: str, caps: int) -> None:
    done = command(tmp_path, "init", "--yes", "--provider", provider)
    text = "".join((tmp_path / name).read_text(encoding="utf-8") for name in FILES)
    assert (len(re.findall(r'max-cost-usd: "\d', text)), "max-cost-usd" in done.stdout) == (
        caps,
        caps > 0,
    )


def test_a_workflow_is_short_and_of_this_version(tmp_path: Path) -> None:
    command(tmp_path, "init", "--yes")
    for name in filter(re.compile("[.]github/").match, FILES):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 15
        assert text.count(f".yml@v{__version__}\n") == text.count("@") == 1
        assert f"name: {Path(name).stem}\n" in text


def test_editors_find_the_schemas(tmp_path: Path) -> None:
    command(tmp_path, "init", "--yes")
    lines = [
        (tmp_path / name).read_text(encoding="utf-8").split("\n")[0]
        for name in ("rubric-ci.yaml", "evals/example.eval.yaml")
    ]
    start = (
        "# yaml-language-server: $schema=https://raw.githubusercontent.com/rubric-ci/rubric-ci/main"
    )
    names = [line.removeprefix(f"{start}/") for line in lines]
    assert names == ["schemas/config.schema.json", "schemas/eval.schema.json"]
    assert all((Path(__file__).parents[2] / name).is_file() for name in names)


def test_a_command_is_started(tmp_path: Path) -> None:
    done = command(tmp_path, "init", "--yes", "--target", "command")
    assert "wrote agent.py" in done.stdout
    listed = command(tmp_path, "run", "--list")
    assert "default" in listed.stdout, listed.stderr


@platforms.TERMINALS
def test_a_terminal_is_asked(tmp_path: Path) -> None:
    words = ["-m", "rubric_ci", "init", "--target", "recorded"]
    with pexpect.spawn(sys.executable, words, cwd=tmp_path, encoding="utf-8", timeout=60) as asked:
        asked.expect_exact("Provider of the judge (openai, anthropic, gemini, ollama) [openai]: ")
        asked.sendline("gemini")
        asked.expect(pexpect.EOF)
        asked.wait()
    config = (tmp_path / "rubric-ci.yaml").read_text(encoding="utf-8")
    assert "model: gemini/gemini-3.8-flash" in config
    assert "# Answers kept in a file" in config


def test_a_folder_may_be_named_and_new(tmp_path: Path) -> None:
    assert command(tmp_path, "init", "new/project").returncode == 0
    assert files(tmp_path / "new" / "project") == FILES


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "rubric-ci.yml").write_text("evals: [mine.yaml]\n")
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    (tmp_path / ".pre-commit-config.yaml").write_text("repos: []\n")
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "example.eval.yaml").write_text("mine")
    done = command(tmp_path, "init")
    assert first_lines(done.stdout) == [
        "kept rubric-ci.yml: it exists (--force overwrites it)",
        "kept evals/example.eval.yaml: it exists (--force overwrites it)",
        *WROTE[2:],
        "kept .pre-commit-config.yaml: check that it contains:",
        "    repos:",
        "      - repo: https://github.com/rubric-ci/rubric-ci",
        "        rev: v0.1.0",
        "        hooks:",
        "          - id: rubric-ci-validate",
        "appended to .gitignore: .rubric-ci/",
    ]
    assert not (tmp_path / "rubric-ci.yaml").exists()
    assert (tmp_path / "rubric-ci.yml").read_text() == "evals: [mine.yaml]\n"
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\n.rubric-ci/\n"
    assert (tmp_path / "evals" / "example.eval.yaml").read_text() == "mine"


def test_twice_changes_nothing(tmp_path: Path) -> None:
    command(tmp_path, "init")
    before = {name: (tmp_path / name).read_bytes() for name in FILES}
    done = command(tmp_path, "init")
    assert first_lines(done.stdout)[-2:] == [
        "kept .pre-commit-config.yaml: it contains the rubric-ci lines already",
        "kept .gitignore: it contains the rubric-ci lines already",
    ]
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_force_overwrites_unshared_files_only(tmp_path: Path) -> None:
    command(tmp_path, "init")
    for name in FILES:
        (tmp_path / name).write_text("mine\n")
    done = command(tmp_path, "init", "--force")
    assert first_lines(done.stdout)[: len(WROTE)] == WROTE
    kept = [name for name in FILES if (tmp_path / name).read_text().startswith("mine\n")]
    assert kept == [".gitignore", ".pre-commit-config.yaml"]
    assert (tmp_path / ".gitignore").read_text() == "mine\n.rubric-ci/\n"


@platforms.MESSAGES
def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command(tmp_path, "init", "file/project")
    assert done.returncode == 2
    assert done.stderr == (
        f"rubric-ci: {Path('file/project/rubric-ci.yaml')}: cannot write the file: "
        "Not a directory\n  choose a folder that you can write to\n"
    )


def test_the_hook_is_of_this_version() -> None:
    assert f"rev: v{__version__}\n" in resources.read_example("scaffold/pre-commit-config.yaml")


def test_pre_commit_understands_the_configuration(tmp_path: Path) -> None:
    pre_commit = shutil.which("pre-commit", path=str(platforms.SCRIPTS))
    assert pre_commit is not None
    command(tmp_path, "init")
    subprocess.run(
        [pre_commit, "validate-config", ".pre-commit-config.yaml"],
        cwd=tmp_path,
        check=True,
        timeout=60,
    )


def test_what_a_run_leaves_in_a_folder_below_is_ignored_too(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command(tmp_path, "init")
    left = ["git", "check-ignore", ".rubric-ci/report.json", "evals/.rubric-ci/report.json"]
    done = subprocess.run(left, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == left[2:]
