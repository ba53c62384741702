"""`doctor` says ok or what to do for each part of a setup, and sends no prompt."""

import json
import os
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.aimock import Aimock
from tests.checkout import Checkout
from tests.http_server import JsonHandler, serving
from tests.invoke import invoke

EVAL = "evalcases:\n  - {id: a, input: Hello, rubrics: [Greets]}\n"
GATE = """\
jobs:
  gate:
    uses: rubric-ci/rubric-ci/.github/workflows/gate.yml@v1
    secrets:
      env: |
        OTHER=${{ secrets.OTHER }}
"""


KEY = 'api_key: "${{ OPENAI_API_KEY }}"'


def judged_by(judge: str) -> str:
    """Return a configuration with this judge."""
    target = "targets: [{name: default, provider: mock, response: Hello}]\n"
    return f"evals: [evals/*.eval.yaml]\njudge: {judge}\n{target}"


def doctor(root: Path, config: str, *words: str, **environment: str) -> CompletedProcess[str]:
    files = {"rubric-ci.yaml": config, "evals/a.eval.yaml": EVAL}
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    known = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), **environment}
    return invoke(root, known, "doctor", *words)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Checkout.create(tmp_path)
    return tmp_path


def lines(done: CompletedProcess[str], about: str) -> list[str]:
    joined = done.stdout.replace("\n    ", " ")
    return [line for line in joined.splitlines() if about in line]


def test_a_model_is_looked_up(root: Path, aimock: Aimock) -> None:
    config = f"{{model: openai/judge-1, api_base: {aimock.url}/v1, {KEY}}}"
    done = doctor(root, judged_by(config), OPENAI_API_KEY="sk-of-a-test")
    assert "ok judge: openai/judge-1: OPENAI_API_KEY set" in done.stdout
    assert not [each for each in aimock.requests() if "completions" in str(each)]


def test_a_key_that_is_missing(root: Path) -> None:
    config = judged_by(f"{{model: openai/gpt-6-luna, {KEY}}}")
    done = doctor(root, config)
    assert done.returncode == 1
    (line,) = lines(done, "judge")
    assert line == (
        "fix judge: openai/gpt-6-luna: the environment variable OPENAI_API_KEY is not set; set it, "
        "or remove `${{ OPENAI_API_KEY }}` from the configuration"
    )
    assert done.stdout.endswith("1 thing to do\n")


def test_what_a_workflow_does_not_pass_on(root: Path) -> None:
    config = judged_by(f"{{model: openai/gpt-6-luna, {KEY}}}")
    folder = root / ".github/workflows"
    folder.mkdir(parents=True)
    (folder / "evals.yml").write_text(GATE)
    done = doctor(root, config)
    (line,) = lines(done, "workflows/evals.yml")
    assert line == (
        "fix .github/workflows/evals.yml: add `OPENAI_API_KEY=${{ secrets.OPENAI_API_KEY }}` "
        "to `secrets: env:`, and run `gh secret set OPENAI_API_KEY`"
    )


def test_programs_and_logins(root: Path) -> None:
    config = (
        "evals: [evals/*.eval.yaml]\n"
        "judge: {cli: codex, model: gpt-6}\n"
        "targets: [{name: default, provider: claude-code, model: claude-sonnet-5-5}]\n"
    )
    done = doctor(root, config, PATH="/usr/bin:/bin", CODEX_API_KEY="sk-of-a-test-of-codex")
    assert lines(done, ": codex/gpt-6") == [
        "fix judge: codex/gpt-6: `codex` is not on the PATH; install it",
        "ok judge: codex/gpt-6: CODEX_API_KEY",
    ]
    assert lines(done, "target default") == [
        "fix target default: claude-code: `claude` is not on the PATH; install it",
        (
            "fix target default: claude-code: no credential for claude-code: log in with `claude`, "
            "or set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN"
        ),
    ]


def test_targets_files_next_to_eval_files(root: Path) -> None:
    (root / "evals/deep").mkdir(parents=True)
    for folder in ("evals", "evals/deep"):
        (root / folder / "targets.yaml").write_text(
            f"targets: [{{name: {folder[-4:]}, model: anthropic/claude-haiku-5-5}}]\n"
        )
    (root / "evals/deep/b.eval.yaml").write_text(EVAL)
    config = "evals: [evals/**/*.eval.yaml]\ntargets: [{name: default, model: openai/gpt-6-luna}]\n"
    done = doctor(root, config)
    assert lines(done, "targets.yaml") == [
        "ok evals/targets.yaml: no problems",
        "ok evals/deep/targets.yaml: no problems",
    ]
    assert lines(done, "fix target") == [
        "fix target default: openai/gpt-6-luna: no key; export OPENAI_API_KEY=...",
        "fix target vals: anthropic/claude-haiku-5-5: no key; export ANTHROPIC_API_KEY=...",
        "fix target deep: anthropic/claude-haiku-5-5: no key; export ANTHROPIC_API_KEY=...",
    ]


def test_all_is_well(root: Path) -> None:
    config = (
        "evals: [evals/*.eval.yaml]\ntargets: [{name: default, provider: mock, response: Hello}]\n"
    )
    (root / "evals").mkdir()
    done = doctor(root, config, "--format", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["ok"]) == (0, True), done.stdout
    assert [each["about"] for each in found["checks"]] == [
        "rubric-ci.yaml",
        "judge",
        "git base",
        "workflows",
        "cache .rubric-ci/cache",
    ]
    assert found["checks"][0] == {"ok": True, "about": "rubric-ci.yaml", "said": "no problems"}


def test_a_problem_of_the_configuration(root: Path) -> None:
    done = doctor(root, "judge: {model: gpt-6-luna}\n")
    assert lines(done, "rubric-ci.yaml:1") == [
        (
            "fix rubric-ci.yaml:1: the model `gpt-6-luna` has no provider; did you mean "
            "`openai/gpt-6-luna`?"
        )
    ]


SERVICE = """\
evals: [evals/*.eval.yaml]
judge: {command: [cat]}
targets:
  - {name: bot, provider: http, """
OWN_URL = "url: 'http://127.0.0.1:{PORT}/'"


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        (f"start: 'env A=b git {{PORT}}', {OWN_URL}", "http/bot: a run starts it, for each side"),
        (f"start: [no-such-program], {OWN_URL}", "no-such-program` is not on the PATH; install it"),
        (f"start: git, env: [BOT_KEY], {OWN_URL}", "`BOT_KEY` of `env` is not set; export it"),
        ("url: 'https://a.example'", "the base of a change is not asked: kept answers count"),
        (
            "url: 'https://a.example', url_before: 'https://b.example'",
            "deployed, not asked here; the base of a change is asked at `url_before`",
        ),
    ],
)
def test_a_service_is_not_asked(root: Path, rest: str, said: str) -> None:
    done = doctor(root, f"{SERVICE}{rest}}}\n")
    assert any(said in line for line in lines(done, "target bot: http/bot")), done.stdout


KNOWS = "the server knows the model and accepts the key"
NO_SUCH = "the server lists no such model"
REPLIES = "the server replies, without its entry; the first request will tell"
LISTED = {"object": "list", "data": [{"id": "smollm2", "object": "model"}]}


@pytest.mark.parametrize(
    ("entries", "model", "word", "said"),
    [
        ({"/v1/models": LISTED}, "smollm2", "ok", KNOWS),
        ({"/v1/models": LISTED}, "other", "fix", NO_SUCH),
        ({}, "smollm2", "fix", NO_SUCH),
        ({"": {"ok": True}}, "smollm2", "open", REPLIES),
        ({"/v1/models": LISTED, "": {"ok": True}}, "other", "fix", NO_SUCH),
    ],
    ids=["in the list only", "not in the list", "neither", "any address", "any address, a list"],
)
def test_servers_that_have_no_entry_of_each_model(
    root: Path, entries: dict[str, object], model: str, word: str, said: str
) -> None:
    class Models(JsonHandler):
        def do_GET(self) -> None:
            found = entries.get(self.path, entries.get(""))
            self.send_json(200 if found else 404, found or {"error": {"message": "none"}})

    with serving(Models) as server:
        judge = f"{{model: openai/{model}, api_base: {server.url}/v1, api_key: none}}"
        done = doctor(root, judged_by(judge))
    (line,) = [each for each in lines(done, "judge: openai") if said in each]
    assert line.startswith(f"{word} ")
