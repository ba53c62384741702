"""`rubric-ci init` as a user types it."""

import os
import re
import shutil
import subprocess
from itertools import cycle
from pathlib import Path
from typing import Any

import pexpect
import pytest
import yaml

from rubric_ci import __version__
from rubric_ci.parts.start import init
from rubric_ci.parts.start.init_providers_and_targets import PROVIDERS, TARGETS
from rubric_ci.system import installation
from tests import platforms
from tests.captured import captured
from tests.checkout import Checkout, start_repository
from tests.forked_command import at_a_terminal
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
WORKFLOWS = ("validate", "gate", "default-branch", "nightly")
EXAMPLES = ("eval.yaml", "answers.jsonl", "replay.jsonl")
WROTE = [
    "wrote rubric-ci.yaml",
    *(f"wrote evals/example.{name}" for name in EXAMPLES),
    *(f"wrote .github/workflows/evals-{name}.yml" for name in WORKFLOWS),
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
    assert first_lines(done.stdout) == [*WROTE, "wrote .pre-commit-config.yaml", "wrote .gitignore"]
    assert done.stdout.split("\n\n")[1] == NEXT
    assert files(tmp_path) == FILES
    checked = command(tmp_path, "validate")
    assert (checked.returncode, checked.stdout) == (0, "2 files checked: no problems\n")


NEXT = """\
Next:
  git init    # the hook and the workflows need a repository
  rubric-ci validate    # offline
  rubric-ci run --target recorded --replay evals/example.replay.jsonl    # offline
  rubric-ci doctor    # keys, models, programs and workflows; sends no prompt
  export OPENAI_API_KEY=... && rubric-ci run    # asks the model
  gh secret set OPENAI_API_KEY    # for the workflows
A pull request may cost $5, a night $20 (max-cost-usd).
A night answers and judges every case 3 times; `rubric-ci run --trials 3 --list` shows its cost.
"""


# Each provider and each target once. Only the target `model` has lines of the provider.
PAIRS = [*zip(PROVIDERS, cycle(TARGETS), strict=False)]
WITH_ITS_MODEL = [(provider, "model") for provider in PROVIDERS]


@pytest.mark.parametrize(("provider", "target"), sorted({*PAIRS, *WITH_ITS_MODEL}))
def test_the_example_is_valid(tmp_path: Path, provider: str, target: str) -> None:
    command(tmp_path, "init", "--yes", "--provider", provider, "--target", target)
    assert command(tmp_path, "validate").stdout == "2 files checked: no problems\n"


@pytest.mark.parametrize(("provider", "target"), PAIRS)
def test_the_example_runs_offline_at_once(tmp_path: Path, provider: str, target: str) -> None:
    command(tmp_path, "init", "--yes", "--provider", provider, "--target", target)
    done = command(tmp_path, *OFFLINE)
    assert done.returncode == 0, done.stdout + done.stderr
    heading = "Gate passes: all 2 cases pass (fail_on: regression)"
    assert f"{heading}\n2 passed · average score" in done.stdout
    assert "no model calls" in done.stdout


def test_the_workflows_are_valid(tmp_path: Path) -> None:
    for provider in PROVIDERS:
        (tmp_path / provider).mkdir()
        command(tmp_path / provider, "init", "--yes", "--provider", provider)
    check = platforms.SCRIPTS / "check-jsonschema"
    workflows = sorted(tmp_path.glob("*/.github/workflows/*.yml"))
    done = captured([check, "--builtin-schema", "vendor.github-workflows", *workflows])
    assert (done.returncode, len(workflows)) == (0, 4 * len(PROVIDERS)), done.stdout


@pytest.mark.parametrize(
    ("provider", "env"),
    [("anthropic", {"ANTHROPIC_API_KEY": "${{ secrets.ANTHROPIC_API_KEY }}"}), ("ollama", None)],
)
def test_a_public_repository_is_for_strangers(tmp_path: Path, provider: str, env: object) -> None:
    done = command(tmp_path, "init", "--yes", "--public", "--provider", provider)
    path = tmp_path / ".github/workflows/evals-strangers.yml"
    assert "wrote .github/workflows/evals-strangers.yml" in done.stdout
    assert "Strangers: make an environment `rubric-ci`" in done.stdout
    text = path.read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["grade"]["steps"]
    assert steps[3].get("env") == env
    assert text.count(f"rubric-ci/rubric-ci@{pin()}\n") == 3
    assert "actions/checkout@de0fac2e" in text


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
    assert len(re.findall(r'max-cost-usd: "\d', text)) == caps
    assert ("No cap on cost (max-cost-usd) is set" in done.stdout) is (caps == 0)


def test_a_workflow_is_short_and_of_this_version(tmp_path: Path) -> None:
    command(tmp_path, "init", "--yes")
    for name in filter(re.compile("[.]github/").match, FILES):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 15
        assert text.count(f".yml@{pin()}\n") == text.count("@") == 1
        assert f"name: {Path(name).stem}\n" in text


def pin() -> str:
    """Return how a checkout pins: by its commit, so that nothing has to be replaced."""
    commit = Checkout(Path(__file__).parents[3]).git("rev-parse", "HEAD")
    return f"{commit} # a checkout of v{__version__}"


@pytest.mark.parametrize("commit", ["", "0123456789" * 4], ids=["without git", "released"])
def test_a_copy_pins_by_the_tag_and_a_release_by_its_commit(
    commit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if commit:
        monkeypatch.setattr(installation, "released_commit", lambda: commit)
    else:
        monkeypatch.setattr(init, "checkout_commit", lambda _: "")
    command(tmp_path, "init", "--yes")
    text = (tmp_path / ".github/workflows/evals-gate.yml").read_text(encoding="utf-8")
    pinned = f"{commit} # v{__version__}" if commit else f"v{__version__}"
    assert f"gate.yml@{pinned}\n" in text
    hook = (tmp_path / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert f"    rev: v{__version__}\n" in hook


def test_editors_find_the_schemas(tmp_path: Path) -> None:
    command(tmp_path, "init", "--yes")
    files = [tmp_path / name for name in ("rubric-ci.yaml", "evals/example.eval.yaml")]
    lines = [file.read_text(encoding="utf-8").split("\n")[0] for file in files]
    page = "https://raw.githubusercontent.com/rubric-ci/rubric-ci/main/"
    names = [line.removeprefix(f"# yaml-language-server: $schema={page}") for line in lines]
    assert names == ["schemas/config.schema.json", "schemas/eval.schema.json"]
    assert all((Path(__file__).parents[3] / name).is_file() for name in names)


def test_a_command_is_started(tmp_path: Path) -> None:
    done = command(tmp_path, "init", "--yes", "--target", "command")
    assert "wrote agent.py" in done.stdout
    listed = command(tmp_path, "run", "--list")
    assert "default" in listed.stdout, listed.stderr


@platforms.TERMINALS
def test_a_terminal_is_asked(tmp_path: Path) -> None:
    with at_a_terminal(tmp_path, os.environ, "init", "--target", "recorded") as asked:
        asked.expect("Provider of the judge .*openai-compatible, ollama.* explains. .*: ")
        asked.sendline("gemini")
        asked.expect(pexpect.EOF)
        asked.wait()
    config = (tmp_path / "rubric-ci.yaml").read_text(encoding="utf-8")
    assert "model: gemini/gemini-3.8-flash" in config
    assert "# Answers kept in a file" in config


@platforms.TERMINALS
def test_what_is_found_is_proposed_and_explained(tmp_path: Path) -> None:
    (tmp_path / "support.py").write_text("print('Hello')\n")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/warm.md").write_text("Be warm: {{ input }}")
    (tmp_path / "promptfooconfig.yaml").write_text("tests: []\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "k"}
    with at_a_terminal(tmp_path, environment, "init") as asked:
        asked.expect("found promptfooconfig.yaml: `rubric-ci import promptfooconfig.yaml`")
        asked.expect("found prompts/warm.md: .*`prompt: prompts/warm.md`")
        asked.expect("found support.py")
        asked.expect("Provider of the judge .*anthropic.: ")
        asked.sendline("?")
        asked.expect("ollama +a model on this machine, without a key")
        asked.expect("Provider of the judge .*: ")
        asked.sendline("olama")
        asked.expect("`olama` is none of them; did you mean `ollama`")
        asked.expect("Provider of the judge .*: ")
        asked.sendline("")
        asked.expect("Target that answers the cases .*command.: ")
        asked.sendline("")
        asked.expect("Command, with {PROMPT} for the question .*python3 support.py {PROMPT}.: ")
        asked.sendline("")
        asked.expect(pexpect.EOF)
        asked.wait()
    (target, _) = yaml.safe_load((tmp_path / "rubric-ci.yaml").read_text())["targets"]
    assert target["command_template"] == "python3 support.py {PROMPT}"
    assert target["depends_on"] == ["support.py"]
    assert not (tmp_path / "agent.py").exists()


ASK = "http://127.0.0.1:8000/ask"
BODY = {"message": "{{ message }}", "session": "{{ session_id }}"}
HTTP = {"name": "default", "provider": "http", "body": BODY}


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (("--target", "http", "--url", ASK), {**HTTP, "url": ASK, "answer": "reply"}),
        (("--url", ASK), {**HTTP, "url": ASK, "answer": "reply"}),
        (
            ("--start", "python3 bot.py 8000", "--reply", '{"said": "yes", "steps": []}'),
            {
                **HTTP,
                "start": "python3 bot.py {PORT}",
                "url": "http://127.0.0.1:{PORT}/chat",
                "answer": "said",
                "env": ["OPENAI_API_KEY"],
            },
        ),
        (("--target", "codex"), {"name": "default", "provider": "codex"}),
        (
            ("--provider", "claude-code"),
            {"name": "default", "provider": "claude-code", "model": "claude-haiku-5-5"},
        ),
    ],
)
def test_services_and_agents(words: tuple[str, ...], target: object, tmp_path: Path) -> None:
    command(tmp_path, "init", "--yes", *words)
    written = yaml.safe_load((tmp_path / "rubric-ci.yaml").read_text())
    assert written["targets"][0] == target


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "codex", "--url", "http://x"), "--url is for --target http, not codex"),
        (("--target", "http", "--command", "x"), "--command is for --target command, not http"),
        (("--command", "x", "--url", "http://x"), "--url is for --target http, not command"),
    ],
)
def test_an_option_of_another_target(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = command(tmp_path, "init", "--yes", *words)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"Error: {message}")
    assert not files(tmp_path)


@pytest.mark.parametrize(
    ("provider", "line"),
    [
        ("ollama", "  ollama pull llama3.1\n"),
        ("claude-code", "  rubric-ci run    # asks the model\n"),
        ("vertex", "GOOGLE_APPLICATION_CREDENTIALS is the path of a file: the workflows need "),
    ],
)
def test_the_next_commands_work(provider: str, line: str, tmp_path: Path) -> None:
    assert line in command(tmp_path, "init", "--yes", "--provider", provider).stdout


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
        *WROTE[4:],
        "kept .pre-commit-config.yaml: check that it contains:",
        "    repos:",
        "      - repo: https://github.com/rubric-ci/rubric-ci",
        f"        rev: {pin()}",
        "        hooks:",
        "          - id: rubric-ci-validate",
        "appended to .gitignore: .rubric-ci/",
    ]
    assert not (tmp_path / "rubric-ci.yaml").exists()
    assert (tmp_path / "rubric-ci.yml").read_text() == "evals: [mine.yaml]\n"
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\n.rubric-ci/\n"
    assert (tmp_path / "evals" / "example.eval.yaml").read_text() == "mine"


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    start_repository(tmp_path)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/master\n")
    return tmp_path


def workflow(root: Path, name: str) -> dict[Any, Any]:
    """Return the data of a workflow; YAML 1.1 reads its `on` as True."""
    text = (root / f".github/workflows/evals-{name}.yml").read_text(encoding="utf-8")
    found: dict[Any, Any] = yaml.safe_load(text)
    return found


def next_lines(output: str) -> list[str]:
    return output.split("\nNext:\n", maxsplit=1)[1].splitlines()


CONFIG = """\
judge: {model: openai/judge, api_base: "${{ JUDGE_URL }}", api_key: "${{ JUDGE_KEY }}"}
env: {allow: [JUDGE_URL]}
targets:
  - {name: default, provider: cli, command_template: "./shop {PROMPT}", env: [SHOP_TOKEN]}
  - {name: other, model: anthropic/claude-haiku-5-5}
"""
SCRIPT = """\
evalcases:
  - id: a
    input: Hi
    execution: {evaluators: [{name: s, type: code_judge, script: ./s, env: [DATABASE_URL]}]}
"""


def test_a_configuration_decides_what_the_workflows_pass_on(repository: Path) -> None:
    (repository / "rubric-ci.yaml").write_text(CONFIG)
    (repository / "a.eval.yaml").write_text(SCRIPT)
    done = command(repository, "init", "--yes")
    assert first_lines(done.stdout)[0].startswith("kept rubric-ci.yaml: it exists")
    assert "evals/" not in done.stdout
    names = ["JUDGE_URL", "JUDGE_KEY", "ANTHROPIC_API_KEY", "SHOP_TOKEN", "DATABASE_URL"]
    assert next_lines(done.stdout) == [
        "  rubric-ci validate    # offline",
        "  rubric-ci run --list    # cases and cost; sends nothing",
        "  rubric-ci doctor    # keys, models, programs and workflows; sends no prompt",
        f"  export {'=... '.join(names)}=... && rubric-ci run    # grades the cases",
        *(f"  gh secret set {name}    # for the workflows" for name in names),
        "No cap on cost (max-cost-usd) is set: a price is unknown.",
        NEXT.splitlines()[-1],
    ]
    (job,) = workflow(repository, "gate")["jobs"].values()
    given = job["secrets"]["env"].splitlines()
    assert [line.partition("=")[0] for line in given] == names
    assert job["with"] == {"max-cost-usd": ""}  # `openai/judge` has no price


@pytest.mark.parametrize(
    ("words", "exported"),
    [
        ((), "OPENAI_API_KEY ANTHROPIC_API_KEY SHOP_TOKEN DATABASE_URL"),
        (("--provider", "codex"), "ANTHROPIC_API_KEY SHOP_TOKEN DATABASE_URL"),
        (("--force",), "OPENAI_API_KEY ANTHROPIC_API_KEY SHOP_TOKEN DATABASE_URL"),
    ],
)
def test_targets_files_next_to_eval_files_count(
    words: tuple[str, ...], exported: str, repository: Path
) -> None:
    (repository / "evals").mkdir()
    (repository / "evals/a.eval.yaml").write_text(SCRIPT)
    (repository / "evals/targets.yaml").write_text(
        CONFIG.partition("env: {allow: [JUDGE_URL]}\n")[2]
    )
    if words == ("--force",):
        (repository / "rubric-ci.yaml").write_text(CONFIG)
    done = command(repository, "init", "--yes", *words)
    (line,) = (each for each in next_lines(done.stdout) if "&& rubric-ci run" in each)
    named = line.removeprefix("  export ").partition(" && ")[0]
    assert named.replace("=...", "") == exported
    (job,) = workflow(repository, "gate")["jobs"].values()
    passed = [each.partition("=")[0] for each in job["secrets"]["env"].splitlines()]
    first = ["CODEX_API_KEY"] if "codex" in words else []
    assert passed == [*first, *exported.split()]


def test_eval_files_need_no_example(repository: Path) -> None:
    (repository / "a.eval.yaml").write_text("evalcases: [{id: a, input: Hi, rubrics: [Greets]}]\n")
    done = command(repository, "init", "--yes")
    assert "evals/example" not in done.stdout
    assert command(repository, "validate").stdout == "2 files checked: no problems\n"
    assert next_lines(done.stdout)[1] == "  rubric-ci run --list    # cases and cost; sends nothing"
    listed = command(repository, "run", "--list")
    assert (listed.returncode, "a.eval.yaml" in listed.stdout) == (0, True), listed.stderr


@pytest.mark.parametrize(
    ("words", "branch"),
    [
        ((), "master"),
        (("checkout", "-q", "-b", "topic"), "master"),
        (("branch", "main"), "main"),
        (("update-ref", "refs/remotes/origin/trunk", "HEAD"), "trunk"),
    ],
    ids=["checked out", "topic", "main", "of the remote"],
)
def test_the_default_branch(repository: Path, words: tuple[str, ...], branch: str) -> None:
    git(repository, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--allow-empty", "-qmA")
    if words:
        git(repository, *words)
    if branch == "trunk":
        git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    command(repository, "init", "--yes")
    for name, event in (("gate", "pull_request"), ("default-branch", "push"), ("validate", "push")):
        assert workflow(repository, name)[True][event]["branches"] == [branch]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("git@gitlab.com:acme/app.git", "gitlab.com"),
        ("https://user:key@gitlab.acme.example/app", "gitlab.acme.example"),
        ("git@github.com:acme/app.git", ""),
        ("https://git.acme.example/app", ""),
    ],
)
def test_another_host_gets_no_workflows(repository: Path, url: str, host: str) -> None:
    git(repository, "remote", "add", "origin", url)
    done = command(repository, "init", "--yes")
    assert (repository / ".github").exists() is (host == "")
    said = [line for line in done.stdout.splitlines() if line.startswith("No workflows")]
    page = "https://github.com/rubric-ci/rubric-ci/blob/main/docs/other-ci.md"
    assert said == ([f"No workflows: `origin` is at {host}. {page}"] if host else [])


def test_a_folder_of_a_repository_is_refused(repository: Path) -> None:
    done = command(repository, "init", "--yes", "below")
    assert (done.returncode, files(repository / "below")) == (2, [])
    assert done.stderr == (
        f"rubric-ci: below is in the repository {repository}, which needs the files at "
        f"its root\n  run `rubric-ci init {repository}`\n"
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_workflow_passes_on_what_the_judge_needs(repository: Path, provider: str) -> None:
    command(repository, "init", "--yes", "--provider", provider)
    for name in ("gate", "default-branch", "nightly"):
        (job,) = workflow(repository, name)["jobs"].values()
        given = job.get("secrets", {}).get("env", "").splitlines()
        assert [line.partition("=")[0] for line in given] == [*PROVIDERS[provider].variables]
        assert all(
            line.partition("=")[2].endswith(f".{line.partition('=')[0]} }}}}") for line in given
        )


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
    assert f"rev: v{__version__}\n" in installation.read_example("scaffold/pre-commit-config.yaml")


def test_pre_commit_understands_the_configuration(tmp_path: Path) -> None:
    pre_commit = shutil.which("pre-commit", path=str(platforms.SCRIPTS))
    assert pre_commit is not None
    command(tmp_path, "init")
    words = [pre_commit, "validate-config", ".pre-commit-config.yaml"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=60)


def test_what_a_run_leaves_in_a_folder_below_is_ignored_too(repository: Path) -> None:
    command(repository, "init")
    left = ["git", "check-ignore", ".rubric-ci/report.json", "evals/.rubric-ci/report.json"]
    done = subprocess.run(left, cwd=repository, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == left[2:]


@pytest.mark.parametrize(
    ("file", "text", "proposed"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-ra"\n', True),
        ("pyproject.toml", "[tool.pytest]\n", True),
        ("setup.cfg", "[metadata]\n[tool:pytest]\n", True),
        ("pytest.ini", "[pytest]\n", True),
        ("pyproject.toml", '[project]\nname = "pytest"\n', False),
    ],
)
def test_pytest_is_proposed_if_in_use(tmp_path: Path, file: str, text: str, proposed: bool) -> None:
    (tmp_path / file).write_text(text)
    line = "export OPENAI_API_KEY=... && pytest --rubric-ci    # the same cases as tests of pytest"
    assert (line in command(tmp_path, "init").stdout) is proposed


def test_rubrics_of_the_library_are_copied(tmp_path: Path) -> None:
    done = command(tmp_path, "init", "--yes", "--rubrics", "safety, tone")
    assert "wrote rubrics/safety.rubric.yaml\nwrote rubrics/tone.rubric.yaml\n" in done.stdout
    assert sorted(path.name for path in (tmp_path / "rubrics").iterdir()) == [
        "safety.rubric.yaml",
        "tone.rubric.yaml",
    ]
    wrong = command(tmp_path, "init", "--yes", "--rubrics", "tune")
    assert "there is no rubric `tune`; known: groundedness" in wrong.stderr
