"""Agents in their workspaces: programs on the PATH that stand for them, and hostile ones."""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
import yaml

from rubric_ci.grading.targets import answer_cache, answer_format
from rubric_ci.grading.targets.call_spelling import Spelling
from rubric_ci.models.llm import judge_command
from rubric_ci.models.llm.cache_and_recording import Cache
from rubric_ci.parts.agents import agent as agent_target
from rubric_ci.system import scratch
from rubric_ci.system.backoff import Backoff
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.context import Side
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.rubric import Assertion, Rubric
from rubric_ci.values.targets import CliTarget
from rubric_ci.values.trace import KeptFile, steps_of
from rubric_ci.values.usage import Usage
from rubric_ci.values.workspace_settings import Workspace
from tests import platforms
from tests.captured import captured
from tests.cases import build_case, build_context, span
from tests.checkout import Checkout
from tests.docs.code_blocks import ROOT, code_blocks
from tests.parts.agents.bench import KEYS, Bench, worked
from tests.parts.agents.cli_outputs import CLAUDE, CODEX, COPILOT, GEMINI, lines, printed

pytestmark = platforms.SHELL


@pytest.mark.parametrize("agent", KEYS)
def test_an_agent_answers(bench: Bench, agent: str) -> None:
    target = bench.program(agent, printed(KEYS[agent][0], "42"))
    found = bench.answer(target)
    assert found.text == "42"
    assert found.work is not None
    assert (found.work.changes, found.work.sandbox) == ((), "")


def test_steps_tokens_and_cost(bench: Bench) -> None:
    call = {"type": "tool_use", "id": "c", "name": "Read", "input": {"path": "a"}}
    told = {"type": "tool_result", "tool_use_id": "c", "content": "x" * 20_003}
    stream = lines(
        {"type": "assistant", "message": {"content": [call]}},
        {"type": "user", "message": {"content": [told]}},
        CLAUDE,
    )
    found = bench.answer(bench.program("claude-code", stream))
    (step,) = steps_of(found.messages)
    assert (step.tool, step.arguments, step.error) == ("Read", {"path": "a"}, "")
    assert step.result.endswith("x… (3 more characters)")
    assert found.trace_summary == {
        "event_count": 1,
        "tool_names": ["Read"],
        "tool_calls_by_name": {"Read": 1},
        "error_count": 0,
        "duration_ms": 90.0,
        "cost_usd": 0.001,
        "token_usage": {"input": 16, "output": 3},
    }
    assert (found.usage.cost_usd, found.usage.input_tokens) == (0.001, 16)


@pytest.mark.parametrize(
    ("agent", "stdout", "message"),
    [
        ("claude-code", "You've hit your usage limit.", "You've hit your usage limit."),
        ("codex", lines(CODEX[0], {"type": "turn.failed", "error": {"message": "Quota"}}), "Quota"),
        ("copilot", lines(COPILOT[0]), "failed"),
        ("gemini-cli", json.dumps({**GEMINI, "response": ""}), "empty answer"),
    ],
)
def test_a_failure_with_exit_0_is_none(bench: Bench, agent: str, stdout: str, message: str) -> None:
    assert message in bench.refusal(bench.program(agent, stdout))


CUT = {**CLAUDE, "stop_reason": "max_tokens"}
WITHOUT_ANSWER = [
    (CUT, "reached its token limit"),
    ({**CLAUDE, "stop_reason": "refusal"}, "refused to answer"),
    ({**CLAUDE, "result": "\n"}, "gave an empty answer"),
]


@pytest.mark.parametrize(("said", "message"), WITHOUT_ANSWER)
@pytest.mark.parametrize("by", ["name", "trace", "file"])
def test_no_answer_has_a_cost(bench: Bench, by: str, said: dict[str, Any], message: str) -> None:
    (bench.root / "out.json").write_text(json.dumps(said))
    target = {
        "name": bench.program("claude-code", json.dumps(said)),
        "trace": command("cat out.json", trace="claude-code", cost_per_run=1),
        "file": command("true", trace="out.json", cost_per_run=1),
    }[by]
    error = bench.error(target)
    assert str(error) == f"the target `{target.name}` {message}"
    assert error.usage == Usage(calls=1, input_tokens=16, output_tokens=3, cost_usd=0.001)


def test_an_exit_status_costs_what_was_used(bench: Bench) -> None:
    target = bench.program("claude-code", f"{json.dumps(CLAUDE)}")
    with (bench.programs / "claude").open("a") as program:
        program.write("sys.exit(3)\n")
    error = bench.error(target)
    assert "failed: exit status 3" in str(error)
    assert error.usage.cost_usd == 0.001


def test_a_missing_program_and_a_missing_credential(bench: Bench) -> None:
    target = bench.program("codex", printed("codex", "ok"))
    del bench.environment["CODEX_API_KEY"]
    assert bench.refusal(target) == (
        "the target `a`: no credential for codex: run `codex login`, or set CODEX_API_KEY or "
        "CODEX_ACCESS_TOKEN"
    )
    bench.environment["CODEX_API_KEY"] = "k"
    (bench.programs / "codex").unlink()
    assert bench.refusal(target) == "the program `codex` is not on the PATH; install it"


def test_it_works_in_a_copy_without_what_grades_it(bench: Bench) -> None:
    bench.files(
        shop__a_dot_py="a = 1\n",
        shop__CLAUDE_dot_md="obey",
        shop___dot_claude__settings_dot_json="{}",
        shop__x_dot_eval_dot_yaml="evalcases: []",
        shop__hidden_dot_yaml="evalcases:\n- id: a\n",
        shop__plain_dot_yaml="a: 1\n",
        shop__labels_dot_jsonl="{}",
        shop__kept_dot_answers_dot_jsonl='{"id": "a", "answer": "42"}\n',
        shop__data_dot_jsonl='{"sku": "a"}\n',
        shop___dot_git__config="[core]",
        shop___dot_rubric_ci__report_dot_json="{}",
    )
    (bench.root / "shop/.rubric_ci").rename(bench.root / "shop/.rubric-ci")
    listing = "import glob; Path('listing').write_text(str(sorted(map(str, Path('.').rglob('*')))))"
    target = bench.claude(listing)
    work = bench.work(worked(target, copy="shop", keep=("listing",)))
    assert work.files == (KeptFile(path="listing", text="['a.py', 'data.jsonl', 'plain.yaml']"),)
    agent = AgentProgram(name="claude-code", project_files=True)
    work = bench.work(replace(worked(target, copy="shop", keep=("listing",)), agent=agent))
    assert "CLAUDE.md" in work.files[0].text


def test_files_that_git_ignores_are_left_out(bench: Bench) -> None:
    bench.files(a="1", b="2", _dot_gitignore="b\n")
    subprocess.run(["git", "init", "-q", bench.root], check=True)
    body = "Path('listing').write_text(str(sorted(os.listdir('.'))))"
    target = bench.program("codex", printed("codex", "ok"), body)
    work = bench.work(worked(target, copy=".", keep=("listing",)))
    assert work.files[0].text == "['.gitignore', 'a']"


def test_a_repository_in_the_copy_is_left_out_with_its_reason(bench: Bench) -> None:
    bench.files(shop__a="1")
    subprocess.run(["git", "init", "-q", bench.root], check=True)
    Checkout.create(bench.root / "shop/sub").commit({"b": "2"})
    body = "Path('listing').write_text(str(sorted(os.listdir('.'))))"
    target = bench.program("codex", printed("codex", "ok"), body)
    context = build_context(bench.root, environment=bench.environment)
    found = bench.answer(worked(target, copy="shop", keep=("listing",)), context=context)
    assert found.work is not None
    assert found.work.files[0].text == "['a']"
    assert context.found.left_out == {"shop/sub": "it is a git repository of its own; use `repos`"}


def test_changes_are_found_from_outside(bench: Bench) -> None:
    bench.files(shop__a="one\ntwo\n", shop__b="b\n", shop__c="c\n", shop__same="s\n")
    body = """
Path("a").write_text("one\\nTWO\\n")
Path("b").unlink()
Path("d").write_bytes(b"\\0")
os.utime("c", (0, 0)); Path("c").write_text("C\\n"); os.utime("c", (0, 0))
os.symlink("/etc/passwd", "e")
os.mkfifo("f")
"""
    target = bench.claude(body)
    work = bench.work(worked(target, copy="shop"))
    found = [(each.path, each.kind, each.diff.partition(" @@\n")) for each in work.changes]
    assert [(path, kind, diff) for path, kind, (_, _, diff) in found] == [
        ("a", "modified", " one\n-two\n+TWO\n"),
        ("b", "deleted", "-b\n"),
        ("c", "modified", "-c\n+C\n"),
        ("d", "added", ""),
        ("e", "added", "+link to /etc/passwd\n"),
        ("f", "added", ""),
    ]
    assert found[0][2][0] == "--- a/a\n+++ b/a\n@@ -1,2 +1,2"
    assert (bench.root / "shop/a").read_text() == "one\ntwo\n"


def test_fifty_trials_at_a_time_each_have_their_folder(bench: Bench) -> None:
    bench.files(shop__a="1\n")
    target = bench.program("claude-code", "")
    said = shlex.quote(printed("claude", "ok"))
    # Fifty starts of Python take 2 s of processor time.
    script = f"#!/bin/sh\ncat >/dev/null\necho $$ >a\npwd >n\nprintf %s {said}\n"
    (bench.programs / "claude").write_text(script)
    started = bench.root / "started"
    found = bench.answers(
        worked(target, copy="shop", setup=f"echo x >> {started}", keep=("a", "n")), 50
    )
    assert started.read_text() == "x\n"
    texts = [answer.work.files for answer in found if answer.work]
    assert len({files[1].text for files in texts}) == 50
    assert len({files[0].text for files in texts}) == 50


def test_a_set_up_prepares_the_folder_and_is_no_change(bench: Bench) -> None:
    body = "Path('made').write_text('by the agent')"
    target = bench.claude(body)
    work = bench.work(worked(target, setup="echo ready > ready"))
    assert [change.path for change in work.changes] == ["made"]
    reason = bench.refusal(worked(target, setup="echo no npm >&2; exit 3"))
    assert reason == "`setup` of the workspace of the target `a` failed: exit status 3: no npm"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"copy": ".."}, "`copy: ..` of the workspace leads out of the repository"),
        ({"copy": "nothing"}, "`copy: nothing` of the workspace is not a folder; fix the path"),
        ({"copy": "linked"}, "the link out leads out of the workspace; remove it"),
        (
            {"sandbox": ("no-such-bwrap",)},
            "the program `no-such-bwrap` is not on the PATH; install it",
        ),
    ],
)
def test_settings_that_cannot_work(bench: Bench, settings: Any, message: str) -> None:
    bench.files(linked__a="1")
    (bench.root / "linked/out").symlink_to("../../programs")
    target = bench.program("codex", printed("codex", "ok"))
    assert bench.refusal(worked(target, **settings)) == message


def test_a_link_within_the_copy_stays_one(bench: Bench) -> None:
    bench.files(shop__a="1")
    (bench.root / "shop/b").symlink_to("a")
    target = bench.program("codex", printed("codex", "ok"), "assert os.readlink('b') == 'a'")
    assert bench.answer(worked(target, copy="shop")).text == "ok"


def test_a_link_that_the_platform_refuses(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows grants links to administrators, and in Developer Mode."""
    bench.files(shop__a="1\n")
    (bench.root / "shop/link").symlink_to("a")
    target = worked(bench.claude(), copy="shop")

    def refuse(*_: object) -> None:
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr("pathlib.Path.symlink_to", refuse)
    assert bench.refusal(target) == (
        "the link link cannot be made in the workspace: A required privilege is not held by the "
        "client; remove it, or on Windows turn on Developer Mode"
    )


def test_a_sandbox_is_put_before_the_command(bench: Bench) -> None:
    target = bench.program("codex", printed("codex", "ok"), "Path('m').write_text(os.environ['M'])")
    work = bench.work(worked(target, sandbox=("env", "M={WORKSPACE} {HOME}"), keep=("m",)))
    names = [Path(each).name for each in work.files[0].text.split()]
    assert (names, work.sandbox) == (["work", "home"], "env")


DAEMON = """
import os, signal, socket, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
listening = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(listening.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
for descriptor in (0, 1, 2):
    os.close(descriptor)
time.sleep(60)
"""


def documented_prefix() -> tuple[str, ...]:
    """Return the sandbox of the page; skip the test where bwrap cannot run."""
    blocks = code_blocks(ROOT / "docs/agents.md")
    (block,) = (block for block in blocks if "sandbox: [bwrap" in block.text)
    (target,) = yaml.safe_load(block.text)["targets"]
    if shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed (package bubblewrap)")
    tried = captured(["bwrap", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"])
    if tried.returncode:
        pytest.skip(f"bwrap cannot run here: {tried.stderr.strip()}")
    return tuple(target["workspace"]["sandbox"])


def test_the_documented_sandbox(bench: Bench, tmp_path: Path) -> None:
    outside, port = tmp_path / "outside", "port"
    daemon = bench.programs / "daemon"
    daemon.write_text(DAEMON)
    body = f"""
import subprocess, time
for path in ({str(outside)!r}, "../beside", "/etc/outside"):
    try:
        Path(path).write_text("x")
    except OSError as error:
        print(path, error.strerror, file=open("refused", "a"))
Path("made").write_text(str(len([name for name in os.listdir("/proc") if name.isdigit()])))
bare = ["env", "-i", {sys.executable!r}, {str(daemon)!r}, os.path.join(os.getcwd(), {port!r})]
subprocess.run(bare)
while not Path({port!r}).exists(): time.sleep(0.02)
"""
    target = bench.claude(body)
    keep = ("refused", "made", port)
    found = bench.answer(worked(target, sandbox=documented_prefix(), keep=keep))
    assert found.text == "ok"
    assert found.work is not None
    assert found.work.sandbox == "bwrap"
    files = {file.path: file.text for file in found.work.files}
    assert files["refused"].count("Read-only file system") == 3
    assert not outside.exists()
    assert int(files["made"]) <= 3
    assert refuses(int(files[port]))


def test_the_home_is_empty_and_only_named_variables_are_passed(bench: Bench) -> None:
    body = "Path('env').write_text('\\n'.join(sorted(os.environ)) + os.environ['HOME'])"
    target = bench.claude(body)
    bench.environment |= {"OTHER_TOKEN": "secret", "MINE": "1"}
    work = bench.work(replace(worked(target, keep=("env",)), env=("MINE",)))
    text = work.files[0].text
    assert "OTHER_TOKEN" not in text
    assert "MINE" in text
    assert text.endswith("/home")


def rubric(*criteria: tuple[str, Any]) -> EvalCase:
    found = tuple(
        Assertion(id=f"{key}-{n}", text="t", key=key, value=value, span=span())
        for n, (key, value) in enumerate(criteria)
    )
    spec = RubricSpec(name="rubric", rubric=Rubric(found), span=span())
    return build_case(evaluators=(spec,))


CHECKS = rubric(
    ("exists", "made"),
    ("exists", "*.md"),
    ("file_contains", {"path": "./made", "text": "by"}),
    ("file_contains", {"path": "m*", "text": "by"}),
    ("file_contains", {"path": "../before/a", "text": "1"}),
    ("unchanged", "a"),
    ("unchanged", "b"),
    ("command", "test -f made && touch later"),
    ("command", "echo $ANTHROPIC_API_KEY; echo why >&2; exit 3"),
    ("command", "no-such-program"),
)


def test_assertions_about_the_folder_are_checked_while_it_exists(bench: Bench) -> None:
    bench.files(shop__a="1\n", shop__b="1\n")
    body = "Path('made').write_text('by the agent'); Path('b').write_text('2')"
    target = bench.claude(body)
    found = bench.answer(worked(target, copy="shop", keep=()), CHECKS)
    assert found.work is not None
    assert found.work.changes == ()
    assert [(each.name, each.holds, each.found) for each in found.work.checks[:7]] == [
        ('exists: "made"', True, "there is made"),
        ('exists: "*.md"', False, "there is none"),
        ('file_contains: {"path": "./made", "text": "by"}', True, "it is in line 1"),
        ('file_contains: {"path": "m*", "text": "by"}', True, "it is in line 1"),
        (
            'file_contains: {"path": "../before/a", "text": "1"}',
            False,
            "there is no such file with text",
        ),
        ('unchanged: "a"', True, "nothing of it is changed"),
        ('unchanged: "b"', False, "changed: b"),
    ]
    passes, fails, missing = found.work.checks[7:]
    assert (passes.holds, passes.found) == (True, "exit status 0")
    assert (fails.holds, fails.found, fails.evidence) == (False, "exit status 3", "why")
    assert missing.error.startswith("the command could not be run: exit status 127")


@pytest.mark.parametrize("body", ["shutil.rmtree(here)", "os.rename(here, here + '-moved')"])
def test_assertions_about_a_folder_that_it_removed_do_not_hold(bench: Bench, body: str) -> None:
    bench.files(shop__a="1\n")
    start = "import shutil; here = os.getcwd(); os.chdir('/')"
    target = bench.claude(f"{start}; {body}")
    case = rubric(("exists", "a"), ("unchanged", "a"), ("command", "test -f a"))
    found = bench.answer(worked(target, copy="shop"), case)
    assert found.work is not None
    assert [(check.holds, check.found, check.error) for check in found.work.checks] == [
        (False, "there is none", ""),
        (False, "changed: a", ""),
        (False, "the agent removed its workspace", ""),
    ]


def test_answers_with_work_are_cached(bench: Bench, tmp_path: Path) -> None:
    body = "Path('made').write_text('x')"
    target = worked(bench.program("codex", printed("codex", "ok"), body), keep=("diff", "made"))
    found = bench.answer(target, CHECKS)
    side = Side(reuse=True, dependencies=lambda _, __: "")
    context = build_context(
        bench.root, environment=bench.environment, cache=Cache(tmp_path / "cache"), side=side
    )
    answer_cache.keep(CHECKS, target, context, found)
    kept = answer_cache.find(CHECKS, target, context)
    assert answer_cache.find(rubric(("exists", "other")), target, context) is None
    assert kept is not None
    assert (kept.work, kept.messages) == (found.work, found.messages)


def test_an_answer_is_cached_for_one_version_of_the_program(bench: Bench, tmp_path: Path) -> None:
    body = "if '--version' in sys.argv: print(Path(__file__).with_name('version').read_text())"
    target = bench.program("codex", printed("codex", "ok"), body)
    side = Side(reuse=True, dependencies=lambda _, __: "")
    context = build_context(bench.root, environment=bench.environment, side=side)
    keys = []
    for version in ("0.169.0", "0.169.0", "0.170.0"):
        (bench.programs / "version").write_text(version)
        judge_command.version_of_cli.cache_clear()  # as in a process of its own
        keys.append(answer_cache.key_of(build_case(), target, context))
    judge_command.version_of_cli.cache_clear()
    assert keys[0] == keys[1] != keys[2]
    assert None not in keys


# Commands


def command(template: str, **settings: Any) -> CliTarget:
    return CliTarget(name="c", command_template=template, timeout_seconds=20, **settings)


def test_a_command_may_have_a_workspace(bench: Bench) -> None:
    bench.files(shop__sub__a="1\n")
    target = command("echo x > new; pwd", workspace=Workspace(copy="shop"), cwd="sub")
    found = bench.answer(target)
    assert Path(found.text).parts[-2:] == ("work", "sub")
    assert found.work is not None
    assert [change.path for change in found.work.changes] == ["sub/new"]
    assert bench.refusal(replace(target, cwd="..")) == "`cwd: ..` of the target `c` leads out"


def test_an_output_that_nobody_declared_is_not_graded_as_it_is(bench: Bench) -> None:
    (bench.root / "out.json").write_text(json.dumps(CLAUDE))
    assert bench.refusal(command("cat out.json")) == (
        "the answer of the target `c` looks like the output of claude-code; set `trace: "
        "claude-code` to read it, or `trace: none` to grade it as it is"
    )
    assert bench.answer(command("cat out.json", trace="claude-code")).text == "ok"
    assert json.loads(bench.answer(command("cat out.json", trace="none")).text) == CLAUDE


def test_a_trace_in_a_file(bench: Bench) -> None:
    (bench.root / "t.json").write_text(json.dumps(CLAUDE))
    found = bench.answer(command("echo other", trace="t.json"))
    assert (found.text, (found.trace_summary or {})["cost_usd"]) == ("other", 0.001)
    assert bench.refusal(command("echo x", trace="no.json")).startswith("cannot read the trace no")
    (bench.root / "t.json").write_text("{}")
    assert bench.refusal(command("echo x", trace="t.json")) == (
        "the trace t.json has none of the formats claude-code, codex, copilot, gemini-cli, "
        "opencode, qwen, "
        "atif, otlp"
    )
    (bench.root / "out.json").symlink_to("/etc/hostname")
    assert "outside the repository" in bench.refusal(command("echo x", trace="out.json"))


# Hostile agents


@pytest.mark.parametrize(
    ("body", "seconds", "message"),
    [
        pytest.param("import time; time.sleep(60)", 2, "did not end within 2 s", id="hangs"),
        pytest.param(
            "f = open('big', 'wb'); f.truncate(2**40)",
            30,
            "has more than 20,000 files and 512 MiB",
            id="a giant sparse file",
        ),
        pytest.param(
            "[os.close(os.open(f'f{n}', os.O_CREAT)) for n in range(20_001)]",
            30,
            "has more than 20,000 files",
            id="many files",
        ),
    ],
)
def test_too_much(bench: Bench, body: str, seconds: int, message: str) -> None:
    target = bench.claude(body)
    assert message in bench.refusal(replace(target, timeout_seconds=seconds))


RETRY = {
    "type": "system",
    "subtype": "api_retry",
    "max_retries": 10,
    "error_status": 401,
    "error": "authentication_failed",
    "session_id": "s",
}
CALL = {
    "type": "assistant",
    "message": {"content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]},
}


def test_an_agent_that_times_out_leaves_its_work_and_its_last_event(bench: Bench) -> None:
    printed_lines = "".join(f"print({json.dumps(each)!r})\n" for each in (CALL, *[RETRY] * 10))
    body = f"Path('a.txt').write_text('1')\n{printed_lines}sys.stdout.flush()\n"
    target = bench.program("claude-code", "", f"{body}import time; time.sleep(60)")
    error = bench.error(worked(replace(target, timeout_seconds=3)))
    last = (
        "system api_retry (10 in a row): max_retries 10, error_status 401, "
        "error authentication_failed"
    )
    assert str(error) == (
        f"the target `a` did not end within 3 s and was killed; its last event: {last}"
    )
    left = error.did
    assert left
    assert left.last_event == last
    assert [step.tool for step in steps_of(left.messages)] == ["Bash"]
    assert left.work is not None
    assert [(each.path, each.kind) for each in left.work.changes] == [("a.txt", "added")]


USED = {"type": "tool.execution_start", "data": {"toolCallId": "1", "toolName": "ls"}}
RAN = {"type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {}}
ENDED = {"type": "session.error", "data": {"errorType": "quota", "message": "none is left"}}
STOPPED = {
    "claude-code": (
        lines(CALL, {"type": "result", "subtype": "error_max_turns", "errors": ["too many"]}),
        "Bash",
        "result error_max_turns",
    ),
    "codex": (
        lines(
            {"type": "item.completed", "item": RAN},
            {"type": "turn.failed", "error": {"message": "status: 500"}},
        ),
        "mcp__s__t",
        "turn.failed",
    ),
    "copilot": (lines(USED, ENDED), "ls", "session.error: errorType quota, message none is left"),
    "gemini-cli": (
        lines(
            {"type": "init", "session_id": "s", "model": "m"},
            {"type": "tool_use", "tool_id": "1", "tool_name": "ls"},
            {"type": "result", "status": "error", "error": {"message": "stopped"}},
        ),
        "ls",
        "result: status error",
    ),
}


@pytest.mark.parametrize("agent", STOPPED)
def test_an_agent_that_fails_leaves_its_steps(bench: Bench, agent: str) -> None:
    printed_lines, tool, last = STOPPED[agent]
    left = bench.error(bench.program(agent, printed_lines)).did
    assert left
    assert ([step.tool for step in steps_of(left.messages)], left.last_event) == ([tool], last)


@pytest.mark.parametrize("levels", [150, 900])
def test_a_call_too_deep_for_a_report_is_no_answer(bench: Bench, levels: int) -> None:
    deep = json.dumps(CALL).replace("{}", f'{{"a": {"[" * levels}{"]" * levels}}}')
    (bench.root / "out.jsonl").write_text(f"{json.dumps(CALL)}\n{deep}\n{json.dumps(CLAUDE)}\n")
    refused = bench.refusal(command("cat out.jsonl", trace="claude-code"))
    assert refused == "the answer has JSON of more than 100 levels"
    left = answer_format.did("claude-code", f"{json.dumps(CALL)}\n{deep}\n", "", Spelling())
    assert left is not None
    said = "(JSON of more than 100 levels)"
    assert [step.arguments for step in steps_of(left.messages)] == [{}, said]


BUSY = {"message": "exceeded retry limit, last status: 429 Too Many Requests"}
COUNTS = """
place = Path({place!r})
number = int(place.read_text() or 0) if place.exists() else 0
place.write_text(str(number + 1))
Path("made").write_text("x") if number else Path("first").write_text("x")
if number < {refused}:
    sys.stdout.write({lines!r}); sys.exit(1)
"""


@pytest.mark.parametrize(("refused", "starts"), [(0, 1), (2, 3), (9, 3)])
def test_codex_is_started_again_where_its_server_is_busy(
    bench: Bench, refused: int, starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It repeats no request with status 429; the workspace is a new one each time."""
    monkeypatch.setattr(agent_target, "BACKOFF", Backoff(attempts=3, first_wait=0.0))
    said = lines(CODEX[0], {"type": "turn.failed", "error": BUSY})
    counted = bench.root.parent / "starts"
    body = COUNTS.format(place=str(counted), refused=refused, lines=said)
    target = bench.program("codex", printed("codex", "ok"), body)
    if refused < starts:
        found = bench.answer(worked(target))
        assert (found.text, found.usage.calls) == ("ok", starts)
        assert found.work is not None
        assert [each.path for each in found.work.changes] == ["made" if refused else "first"]
    else:
        error = bench.error(worked(target))
        assert "429 Too Many Requests" in str(error)
        assert error.usage.calls == starts
    assert counted.read_text() == str(starts)


@pytest.mark.parametrize(
    ("form", "said", "reason"),
    [
        ("qwen", [CALL], "the stream has no result"),
        ("qwen", [CALL, CLAUDE], "its output ends within a line, after {size} bytes"),
        ("gemini-cli", [{"type": "init"}, {"type": "result"}], "its output ends within a line"),
    ],
)
def test_a_cut_output_is_said_to_be_one(
    bench: Bench, form: str, said: list[dict[str, Any]], reason: str
) -> None:
    text = "\n".join(map(json.dumps, said))
    text = f"{text}\n" if len(said) == 1 else text[:-1]
    (bench.root / "out.jsonl").write_text(text)
    refused = bench.refusal(command("cat out.jsonl", trace=form))
    assert refused.startswith(f"the target `c` failed: {reason.format(size=len(text))}")


TURN = {"type": "assistant.turn_start", "data": {"turnId": "0"}}


def test_an_agent_without_a_limit_of_turns_is_ended_after_the_most(bench: Bench) -> None:
    said = "".join(
        f"print({json.dumps(event, separators=(',', ':'))!r})\n" for event in (TURN, USED, TURN)
    )
    body = f"Path('a.txt').write_text('1')\n{said}sys.stdout.flush()\n"
    target = bench.program("copilot", "", f"{body}import time; time.sleep(60)")
    limited = replace(target, agent=AgentProgram(name="copilot", max_turns=1))
    error = bench.error(worked(limited))
    assert str(error) == "the target `a` was ended after 1 turn, the limit in `max_turns`"
    left = error.did
    assert left
    assert [step.tool for step in steps_of(left.messages)] == ["ls"]
    assert left.work is not None
    assert [change.path for change in left.work.changes] == ["a.txt"]


def test_a_command_whose_agent_times_out_names_its_last_event(bench: Bench) -> None:
    target = command(f"echo {json.dumps(json.dumps(RETRY))}; sleep 60", trace="claude-code")
    said = bench.refusal(replace(target, timeout_seconds=1))
    assert said == (
        "the target `c` did not end within 1 s and was killed; its last event: system api_retry: "
        "max_retries 10, error_status 401, error authentication_failed"
    )


def test_nothing_that_it_leaves_leads_out(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key").write_text("secret")
    body = f"""
os.symlink({str(outside)!r}, "linked")
os.symlink({str(outside / "key")!r}, "key")
os.makedirs("deep/er"); Path("deep/er/x").write_text("x"); os.chmod("deep/er", 0)
"""
    target = bench.claude(body)
    found = bench.answer(worked(target, keep=("diff", "**")))
    assert "secret" not in repr(found)
    assert (outside / "key").read_text() == "secret"


def test_an_open_socket_and_a_child_end_with_it(bench: Bench) -> None:
    body = """
import socket, subprocess
listening = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    import time
    os.close(0); os.close(1); os.close(2)
    time.sleep(60)
Path("port").write_text(str(listening.getsockname()[1]))
"""
    target = bench.claude(body)
    work = bench.work(worked(target, keep=("port",)))
    assert refuses(int(work.files[0].text))


def refuses(port: int) -> bool:
    """Return True once nothing listens: a killed process closes its sockets a moment later."""
    for _ in range(50):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=60).close()
        except ConnectionRefusedError:
            return True
        time.sleep(0.1)
    return False


def test_all_its_processes_end_with_it(bench: Bench, tmp_path: Path) -> None:
    body = f"""
import time
for n in range(100):
    if os.fork() == 0:
        Path({str(tmp_path)!r}, f"{{os.getpid()}}.pid").touch()
        time.sleep(60)
time.sleep(60)
"""
    target = bench.program("claude-code", "", body)
    assert "did not end within 3 s" in bench.refusal(replace(target, timeout_seconds=3))
    children = [int(path.stem) for path in tmp_path.glob("*.pid")]
    assert len(children) == 100
    time.sleep(0.2)
    alive = subprocess.run(
        ["ps", "-o", "pid=,stat=", *map(str, children)], capture_output=True, text=True, check=False
    )
    assert [line for line in alive.stdout.splitlines() if "Z" not in line] == []


@platforms.LINUX
@pytest.mark.parametrize("starts", ["agent", "command", "setup", "assertion"])
def test_a_daemon_of_another_session_ends_with_the_workspace(bench: Bench, starts: str) -> None:
    daemon = bench.programs / "daemon"
    daemon.write_text(DAEMON)
    port = bench.root / "port"
    line = f"{sys.executable} {daemon} {port}; while [ ! -e {port} ]; do sleep 0.02; done"
    target = command("echo ok", workspace=Workspace())
    case = None
    match starts:
        case "agent":
            body = f"os.system({line!r})"
            target = bench.claude(body)
        case "command":
            target = command(f"{line}; echo ok", workspace=Workspace())
        case "setup":
            target = command("echo ok", workspace=Workspace(setup=line))
        case _:
            case = rubric(("command", line))
    assert bench.answer(target, case).text == "ok"
    assert refuses(int(port.read_text()))


KILLED = """
import time
from rubric_ci.system.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "x").write_text("x")
    print(folder.parent, flush=True)
    time.sleep(60)
"""


@contextmanager
def killed() -> Iterator[Path]:
    """Run a program that has a scratch folder, and kill it at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": gettempdir()},
        text=True,
    ) as process:
        assert process.stdout
        yield Path(process.stdout.readline().strip())
        process.send_signal(signal.SIGKILL)
    scratch._remove_abandoned.cache_clear()


@platforms.LINUX
def test_the_next_run_ends_what_a_killed_one_started() -> None:
    with killed() as left:
        started, other = (
            subprocess.Popen(
                ["sleep", "60"],
                env={**os.environ, scratch.VARIABLE: folder},
                start_new_session=True,
            )
            for folder in (str(left / "folder"), f"{left}-another/folder")
        )
    with scratch.scratch_folder():
        assert started.wait(10) == -signal.SIGKILL
        assert other.poll() is None
    other.kill()
    other.wait(10)


def test_the_next_run_removes_what_a_killed_one_left() -> None:
    with killed() as left, scratch.scratch_folder():
        assert left.exists()
    assert left.exists()
    with scratch.scratch_folder():
        assert not left.exists()
