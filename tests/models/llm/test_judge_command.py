"""A command as judge: real processes, with programs that print what the tools document."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.models.llm import judge_command
from rubric_ci.parts.agents.claude_code import SYSTEM
from rubric_ci.values.agent_program import JudgeCommand
from rubric_ci.values.llm_calls import ChatMessage, ModelCall
from rubric_ci.values.targets import Endpoint
from tests.checkout import start_repository
from tests.invoke import invoke
from tests.models.llm.judge_programs import Program, plant, write_program
from tests.parts.agents.cli_outputs import printed
from tests.platforms import SHELL

pytestmark = SHELL

EVAL = """\
evalcases:
  - id: one
    input: What is the capital of France?
    rubrics: [Names the secret of the vault]
"""
TOOLS = {  # the tool, its program, its credential and its model
    "claude-code": ("claude", "ANTHROPIC_API_KEY", "claude-sonnet-5-5"),
    "codex": ("codex", "CODEX_API_KEY", "gpt-6"),
    "copilot": ("copilot", "COPILOT_GITHUB_TOKEN", "gpt-6"),
    "gemini-cli": ("gemini", "GEMINI_API_KEY", "gemini-3.8-flash"),
}
ARGUMENTS = {
    "claude-code": [
        *("-p", "--output-format", "stream-json", "--verbose", "--restricted"),
        "--strict-mcp-config",
        *("--setting-sources", "", "--tools", "", "--disable-slash-commands"),
        *("--no-session-persistence", "--system-prompt", SYSTEM, "--model", "claude-sonnet-5-5"),
    ],
    "codex": [
        *("exec", "--json", "--skip-git-repo-check", "--ephemeral", "-s", "read-only"),
        *("--ignore-user-config", "--ignore-rules", "-c", "project_doc_max_bytes=0"),
        *("-c", 'web_search="disabled"', "--disable", "shell_tool", "--disable", "apps"),
        *("--disable", "plugins", "--disable", "view_image", "--disable", "code_mode_host"),
        *("-m", "gpt-6", "-"),
    ],
    "copilot": [
        *("--output-format", "json", "--no-ask-user", "--usage-output-file", "HOME/usage.json"),
        "--no-custom-instructions",
        *("--disable-builtin-mcps", "--no-auto-update", "--available-tools=none"),
        *("--model", "gpt-6"),
    ],
    "gemini-cli": ["-o", "json", "--skip-trust", "-m", "gemini-3.8-flash"],
}
HOME_FILES: dict[str, dict[str, str]] = {
    "gemini-cli": {
        ".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}, '
        '"tools": {"core": ["none"]}}'
    }
}
MARK = {"evidence": "", "reasoning": "It does.", "satisfied": True}
NOT_MET = {"evidence": "", "reasoning": "It is not there.", "satisfied": False}
MET = {"c1": NOT_MET, "c2": MARK}  # the place of the canary depends on the answer only


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    start_repository(root)
    plant(root)
    (root / "a.eval.yaml").write_text(EVAL)
    return root


def run(
    checkout: Path, judge: dict[str, Any], program: Program, *arguments: str, **variables: str
) -> tuple[int, dict[str, Any], str]:
    """Run with this judge; return exit code, report and what was shown."""
    target = {"name": "default", "provider": "mock", "response": "Paris"}
    (checkout / "rubric-ci.yaml").write_text(json.dumps({"judge": judge, "targets": [target]}))
    path = f"{program.folder}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(checkout), "OTHER_TOKEN": "t0ken-of-others"}
    done = invoke(checkout, environment | variables, "run", "a.eval.yaml", *arguments)
    report = checkout / ".rubric-ci/report.json"
    data = json.loads(report.read_text()) if report.exists() else {}
    return done.returncode, data, done.stdout + done.stderr


def tool(cli: str) -> tuple[dict[str, Any], str, dict[str, str]]:
    """Return the configuration of a tool, its program, and its credential."""
    program, name, model = TOOLS[cli]
    return {"cli": cli, "model": model}, program, {name: "s3cret-of-the-judge"}


@pytest.mark.parametrize("cli", TOOLS)
def test_a_tool_reads_nothing_of_the_repository(cli: str, checkout: Path, tmp_path: Path) -> None:
    judge, name, credential = tool(cli)
    program = write_program(tmp_path / "bin", name, printed(name, json.dumps(MET)))
    code, report, shown = run(checkout, judge, program, **credential)
    (started,) = program.starts()
    assert code == 0, shown
    home = str(Path(str(started["cwd"])).with_name("home"))
    assert isinstance(started["argv"], list)
    argv = [word.replace(home, "HOME") for word in started["argv"]]
    assert (argv, started["work"], started["near"]) == (ARGUMENTS[cli], [], [])
    assert started["home"] == HOME_FILES.get(cli, {})
    environment = started["environment"]
    assert isinstance(environment, dict)
    assert environment.items() >= credential.items()
    assert "OTHER_TOKEN" not in environment
    assert not Path(str(started["cwd"])).exists()
    assert environment["HOME"] == home
    assert "capital of France" in str(started["stdin"])
    assert "capital of France" not in str(started["argv"])
    assert report["judge"]["model"] == f"{cli}/{judge['model']}"


@pytest.mark.parametrize(
    ("cli", "model", "cost", "unpriced"),
    [
        ("claude-code", "claude-sonnet-5-5", 0.001, 0),
        ("codex", "", 0.0, 1),
        ("copilot", "gpt-6", 0.0, 1),
        ("gemini-cli", "gemini-3.8-flash", 0.0, 1),
    ],
)
def test_the_envelope_is_in_the_report(
    cli: str, model: str, cost: float, unpriced: int, checkout: Path, tmp_path: Path
) -> None:
    judge, name, credential = tool(cli)
    program = write_program(tmp_path / "bin", name, printed(name, json.dumps(MET)))
    _, report, _ = run(checkout, judge, program, **credential)
    assert [each["model"] for each in report["responders"]] == ([model] if model else [""])
    assert (report["totals"]["calls"], report["totals"]["unpriced_calls"]) == (1, unpriced)
    assert report["totals"]["cost_usd"] == (cost if not unpriced else report["totals"]["cost_usd"])


@pytest.mark.parametrize("cli", TOOLS)
@pytest.mark.parametrize(
    ("stdout", "reason", "starts"),
    [
        ("You've hit your usage limit. Resets 3pm.", "hit your usage limit", 1),
        ("Not logged in · Please run /login", "Please run /login", 1),
        ("garbage", "garbage", 1),
        ("", "no reason given", 1),
    ],
    ids=["quota", "login", "garbage", "nothing"],
)
def test_a_text_with_exit_status_0_is_no_mark(
    cli: str, stdout: str, reason: str, starts: int, checkout: Path, tmp_path: Path
) -> None:
    judge, name, credential = tool(cli)
    program = write_program(tmp_path / "bin", name, stdout)
    code, report, _ = run(checkout, judge, program, **credential)
    (case,) = report["cases"]
    assert (code, case["outcome"], len(program.starts())) == (3, "errored", starts)
    assert reason in case["reason"]


@pytest.mark.parametrize("cli", TOOLS)
def test_a_quota_text_in_the_envelope_is_no_mark(cli: str, checkout: Path, tmp_path: Path) -> None:
    judge, name, credential = tool(cli)
    said = printed(name, "You are out of extra usage · resets 5pm")
    program = write_program(tmp_path / "bin", name, said)
    code, report, _ = run(checkout, judge, program, **credential)
    assert (code, len(program.starts())) == (3, 1)
    assert "out of extra usage" in report["cases"][0]["reason"]


def test_a_reply_without_marks_is_repaired(checkout: Path, tmp_path: Path) -> None:
    judge, name, credential = tool("claude-code")
    program = write_program(tmp_path / "bin", name, printed(name, "All good."))
    code, report, _ = run(checkout, judge, program, **credential)
    starts = program.starts()
    assert (code, len(starts)) == (3, 3)
    assert "no valid reply in 3 attempts" in report["cases"][0]["reason"]
    assert report["cases"][0]["reason"].endswith("(try another model)")
    assert "Your reply was:\n\nAll good.\n\nYour reply cannot be used" in str(starts[1]["stdin"])


def test_a_judge_that_reports_the_canary_gives_no_mark(checkout: Path, tmp_path: Path) -> None:
    judge, name, credential = tool("claude-code")
    text = json.dumps({"c1": MARK, "c2": MARK})
    program = write_program(tmp_path / "bin", name, printed(name, text))
    code, report, _ = run(checkout, judge, program, **credential)
    assert code == 3
    assert "judge failed the canary check" in report["cases"][0]["reason"]


def test_a_command_that_hangs_is_killed_with_its_processes(checkout: Path, tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin", "my-judge", "{}", seconds=4)
    judge = {"command": ["my-judge", "--json"], "timeout_seconds": 1}
    code, report, _ = run(checkout, judge, program)
    assert code == 3
    # Not five times: a program repeats the requests of its model itself.
    assert "no reply within 1 s (1 request)" in report["cases"][0]["reason"]
    assert len(program.starts()) == 1
    time.sleep(4)
    assert not Path(f"{program.log}.alive").exists()


def test_any_command_judges(checkout: Path, tmp_path: Path) -> None:
    said = f"I think.\n{{}}\n```json\n{json.dumps(MET)}\n```\n"
    program = write_program(tmp_path / "bin", "my-judge", said)
    judge = {"command": ["my-judge", "--json"], "env": ["OTHER_TOKEN"]}
    code, report, shown = run(checkout, judge, program)
    (started,) = program.starts()
    assert code == 0, shown
    assert (started["argv"], started["work"], started["near"]) == (["--json"], [], [])
    environment = started["environment"]
    assert isinstance(environment, dict)
    assert environment["OTHER_TOKEN"] == "t0ken-of-others"
    assert report["judge"]["model"] == "command/my-judge"


def test_a_login_of_a_person_counts_at_a_desk(checkout: Path, tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin", "claude", printed("claude", json.dumps(MET)))
    folder = tmp_path / "home/.claude"
    folder.mkdir(parents=True)
    token, end = "sk-ant-oat01-of-ada", (time.time() + 86_400) * 1000
    login = {"claudeAiOauth": {"accessToken": token, "refreshToken": "r", "expiresAt": end}}
    (folder / ".credentials.json").write_text(json.dumps(login))
    judge = {"cli": "claude-code", "model": "claude-sonnet-5-5"}
    variables = {"CLAUDE_CONFIG_DIR": str(folder)}
    code, report, shown = run(checkout, judge, program, **variables)
    assert code == 0, shown
    (*_, started) = program.starts()
    environment = started["environment"]
    assert isinstance(environment, dict)
    assert environment["CLAUDE_CODE_OAUTH_TOKEN"] == token
    assert "CLAUDE_CONFIG_DIR" not in environment
    assert f"claude-code judges with the login in {folder}/.credentials.json" in report["notes"]
    assert token not in json.dumps(report) + shown
    job = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "ada/shop"}
    code, report, _ = run(checkout, judge, program, **variables, **job)
    assert code == 3
    assert report["cases"][0]["reason"] == (
        "rubric: claude-code/claude-sonnet-5-5: no credential for claude-code: get a "
        "token with `claude setup-token`, run `gh secret set CLAUDE_CODE_OAUTH_TOKEN`, and add "
        "`CLAUDE_CODE_OAUTH_TOKEN: ${{ secrets.CLAUDE_CODE_OAUTH_TOKEN }}` to `env:` of the step "
        "in the workflow"
    )


@pytest.mark.parametrize(
    ("judge", "variables", "reason"),
    [
        (
            {"cli": "codex", "model": "m"},
            {},
            "no credential for codex: run `codex login`, or set CODEX_API_KEY or",
        ),
        (
            {"cli": "copilot", "model": "m"},
            {"COPILOT_GITHUB_TOKEN": "t"},
            "the program `copilot` is not on the PATH; install it",
        ),
        ({"command": ["my-judge"], "env": ["GONE"]}, {}, "`GONE`, named in `env`, is not set"),
    ],
    ids=["no credential", "not installed", "a variable"],
)
def test_a_command_that_cannot_start(
    judge: dict[str, Any], variables: dict[str, str], reason: str, checkout: Path, tmp_path: Path
) -> None:
    for name in ("codex", "my-judge"):
        program = write_program(tmp_path / "bin", name)
    code, report, _ = run(checkout, judge, program, **variables)
    assert code == 3
    assert reason in report["cases"][0]["reason"]


def test_a_status_is_an_error_whatever_is_printed(checkout: Path, tmp_path: Path) -> None:
    said = json.dumps(MET)
    program = write_program(tmp_path / "bin", "my-judge", said, stderr="broken\n", status=2)
    code, report, _ = run(checkout, {"command": ["my-judge"]}, program)
    assert code == 3
    assert "exit status 2: broken" in report["cases"][0]["reason"]


def test_judgements_are_cached_for_one_version(checkout: Path, tmp_path: Path) -> None:
    judge, name, credential = tool("claude-code")
    said = printed(name, json.dumps(MET))
    for version, starts in [("2.1.330", 1), ("2.1.330", 1), ("2.1.331", 2)]:
        judge_command.version_of_cli.cache_clear()  # as in a process of its own
        program = write_program(tmp_path / "bin", name, said, version=version)
        code, _, shown = run(checkout, judge, program, **credential)
        assert (code, len(program.starts())) == (0, starts), shown


def test_a_cap_in_dollars_needs_a_price(checkout: Path, tmp_path: Path) -> None:
    judge, name, credential = tool("claude-code")
    program = write_program(tmp_path / "bin", name, printed(name, json.dumps(MET)))
    code, _, shown = run(checkout, judge, program, "--max-cost-usd", "1", **credential)
    assert code == 2
    assert "claude-code/claude-sonnet-5-5 has no known price" in shown
    assert "use --max-calls" in shown


def test_a_temporary_folder_in_a_repository_is_refused(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write_program(tmp_path / "bin", "my-judge", json.dumps(MET))
    monkeypatch.setattr("tempfile.tempdir", str(checkout))
    code, report, _ = run(checkout, {"command": ["my-judge"]}, program)
    assert (code, program.starts()) == (3, [])
    assert "is in a repository; set TMPDIR" in report["cases"][0]["reason"]


def test_the_prompt_of_a_repair() -> None:
    roles = ("system", "user", "assistant", "user")
    messages = tuple(
        ChatMessage(role=role, content=f"text {number}")  # type: ignore[arg-type] # a literal
        for number, role in enumerate(roles)
    )
    endpoint = Endpoint(model="command/j", command=JudgeCommand(argv=("j",)))
    call = ModelCall(endpoint=endpoint, messages=messages, key="")
    expected = "text 0\n\ntext 1\n\nYour reply was:\n\ntext 2\n\ntext 3\n"
    assert judge_command.prompt(call) == expected
