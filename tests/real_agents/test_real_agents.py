"""The real agent programs against scripted servers: what they print is read as it is meant.

`make agents` installs them, 1.6 GB, and runs this; without them the tests are skipped.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from rubric_ci.models.agents import AGENTS
from tests import aimock as scripted
from tests import podman
from tests.aimock import Aimock
from tests.checkout import Checkout
from tests.http_server import serving
from tests.invoke import invoke
from tests.real_agents import programs
from tests.real_agents.token_server import TokenServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not programs.BIN.exists(), reason=programs.MISSING),
    pytest.mark.timeout(400),
]

FILTER = {"claude-code": "refusal"}
QUOTA = "To log in again, raise your quota."
CONTINUES = ("continue from where", "Output token limit hit", "previous_response_suffix")
"""What programs ask after a reply that was cut."""

LIMIT = {
    **{agent: f"the target `{agent}` reached its token limit" for agent in AGENTS},
    "claude-code": "the target `claude-code` failed: API Error: Claude's response exceeded the "
    "128000 output token maximum.",
}
REFUSED = {
    **{agent: f"the target `{agent}` refused to answer" for agent in AGENTS},
    "gemini-cli": "the target `gemini-cli` failed: The model response was blocked due to safety "
    "settings.",
    "opencode": "the target `opencode` failed: The response was blocked by the provider's content "
    "filter",
    "qwen": "the target `qwen` failed: [API Error: Model stream ended with empty response text.]",
    "claude-code": "the target `claude-code` failed: API Error: Sonnet 5.5's safeguards flagged "
    "this message",
}


SAID = {
    ("codex", 500): ["currently experiencing high demand"],
    **{key: ["did not end within 40 s and was killed"] for key in [("qwen", 429), ("qwen", 500)]},
}
"""Where a program does not say the reason, or not in time."""


def report(folder: Path, targets: list[dict[str, Any]], asked: dict[str, str]) -> dict[str, Any]:
    """Run one case for each prompt, and return its results by id."""
    return run(
        folder,
        targets,
        [
            {"id": name, "input": text, "rubrics": [{"min_words": 0}]}
            for name, text in asked.items()
        ],
    )


def run(
    folder: Path, targets: list[dict[str, Any]], cases: list[dict[str, Any]], **variables: str
) -> dict[str, Any]:
    """Run the cases, and return their results by id."""
    (folder / "rubric-ci.yaml").write_text(json.dumps({"targets": targets}))
    (folder / "a.eval.yaml").write_text(
        json.dumps({"evalcases": cases, "execution": {"target": targets[0]["name"]}})
    )
    done = invoke(folder, {**programs.environment(folder), **variables}, "run")
    assert done.returncode in {0, 1, 3}, done.stdout + done.stderr
    found = json.loads((folder / ".rubric-ci/report.json").read_text())
    return {case["id"]: case for case in found["cases"]}


def test_all_agents_are_tried() -> None:
    assert programs.AGENTS.keys() == AGENTS.keys()


@pytest.mark.parametrize("agent", programs.AGENTS)
def test_how_it_ends(agent: str, aimock: Aimock, tmp_path: Path) -> None:
    plain, quota, nothing = map(scripted.says, ("The answer is 42.", QUOTA, "\n"))
    cut = scripted.says("This text is cut", finishReason="length")
    refused = scripted.says("\n", finishReason=FILTER.get(agent, "content_filter"))
    programs.script(
        aimock,
        {
            "say plainly": (plain, plain),
            "speak of a quota": (quota, quota),
            "run a command": (programs.calls(agent, "echo a.py; exit 2"), plain),
            "say no more": (programs.calls(agent, "echo a.py"), nothing),
            "write much": (cut, cut),
            **dict.fromkeys(CONTINUES, (cut, cut)),
            "be refused": (refused, refused),
        },
    )
    asked = {
        "plain": "say plainly",
        "quota": "speak of a quota",
        "command": "run a command",
        "preamble": "say no more",
        "limit": "write much",
        "refused": "be refused",
    }
    if agent == "codex":
        del asked["limit"], asked["refused"]
    cases = report(tmp_path, [programs.target(agent, aimock.url)], asked)
    expected = {
        "plain": "The answer is 42.",
        "quota": QUOTA,
        "command": "The answer is 42.",
        "preamble": f"the target `{agent}` gave an empty answer after its last tool call",
        **({} if agent == "codex" else {"limit": LIMIT[agent], "refused": REFUSED[agent]}),
    }
    # Claude Code's messages go on with an id.
    found = {name: outcome(case)[: len(expected[name])] for name, case in cases.items()}
    assert found == expected
    (command,) = cases["command"]["trace"]["steps"]
    assert command["error"].startswith(("exit status 2", "Exit code 2", "Command: echo a.py"))
    (preamble,) = cases["preamble"]["trace"]["steps"]
    assert (preamble["result"].strip().splitlines()[0], preamble.get("error", "")) == ("a.py", "")
    assert cases["command"]["trace"]["usage"]["token_usage"] == {"input": 200, "output": 40}


def test_how_codex_ends_a_reply_that_is_not_complete(tmp_path: Path) -> None:
    with serving(programs.Responses) as server:
        asked = {name: f"end by {name}" for name in programs.Responses.ENDS}
        cases = report(tmp_path, [programs.target("codex", server.url)], asked)
    incomplete = "Incomplete response returned, reason:"
    lost = f"stream disconnected before completion: {incomplete}"
    assert {name: outcome(case) for name, case in cases.items()} == {
        "limit": f"the target `codex` failed: {incomplete} max_output_tokens",
        "filter": f"the target `codex` failed: {lost} content_filter",
        "refusal": "the target `codex` gave an empty answer",
    }


@pytest.mark.parametrize("agent", programs.AGENTS)
@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_server_that_refuses(agent: str, status: int, aimock: Aimock, tmp_path: Path) -> None:
    aimock.load([{**scripted.fails(status, "scripted reason"), "match": {}}])
    seconds = 100 if agent == "opencode" else 40  # it starts slowest, by far on a busy machine
    target = programs.target(agent, aimock.url, timeout_seconds=seconds)
    (case,) = report(tmp_path, [target], {"one": "say plainly"}).values()
    reasons = ["scripted reason", str(status), *SAID.get((agent, status), ())]
    assert [reason for reason in reasons if reason in outcome(case)], outcome(case)


def outcome(case: dict[str, Any]) -> str:
    """Return the answer of a case, or why it has none."""
    answered = case["outcome"] == "graded"
    return str(case["answer"] if answered else case["reason"])


@pytest.mark.parametrize(
    ("args", "error"), [([], "user"), (["--allow-all-paths"], "")], ids=["asks", "allowed"]
)
def test_copilot_elsewhere(args: list[str], error: str, aimock: Aimock, tmp_path: Path) -> None:
    """It would ask before it reads elsewhere, and no one answers: the call has an error."""
    outside = tmp_path / "outside"
    outside.write_text("of the host")
    plain = scripted.says("Done.")
    replies = (programs.calls("copilot", f"cat {outside}"), plain)
    programs.script(aimock, {"look elsewhere": replies})
    target = programs.target("copilot", aimock.url, args=args)
    (case,) = report(tmp_path, [target], {"one": "look elsewhere"}).values()
    (step,) = case["trace"]["steps"]
    assert error in step.get("error", "") if error else not step.get("error")
    assert ("of the host" in step["result"]) == (not error)


CLAUDE = programs.BIN.parent / "@anthropic-ai/claude-code/bin/claude.exe"


def test_an_agent_in_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code in an image of podman works in its folder, and sees nothing else of the host."""
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    command = f"cat {secret}; echo 1 > made"
    programs_of_it = [CLAUDE, Path("/bin/bash")]
    with (
        podman.image(tmp_path, monkeypatch, programs_of_it) as image,
        scripted.running(tmp_path, "0.0.0.0") as server,
    ):
        done = (programs.calls("claude-code", command), scripted.says("The answer is 42."))
        programs.script(server, {"run a command": done})
        url = f"http://host.containers.internal:{urlsplit(server.url).port}"
        settings = {"workspace": {"sandbox": {"container": image}}}
        target = programs.target("claude-code", url, **settings)
        rubrics = [{"exists": "made"}, {"command": "test -f made"}]
        case = {"id": "one", "input": "run a command", "rubrics": rubrics}
        found = run(tmp_path, [target], [case], **podman.environment())["one"]
    assert (outcome(found), found["verdict"]) == ("The answer is 42.", "pass")
    (step,) = found["trace"]["steps"]
    assert "No such file" in step["result"] + step["error"]
    assert [change["path"] for change in found["file_changes"]] == ["made"]


def test_codex_commits_in_a_repository(aimock: Aimock, tmp_path: Path) -> None:
    origin = Checkout.create(tmp_path / "origin")
    commit = origin.commit({"a": "1\n"})
    command = "echo 2 > a; git -c user.name=a -c user.email=a@b commit -qam made && git log -1"
    replies = (programs.calls("codex", command), scripted.says("Done."))
    programs.script(aimock, {"commit it": replies})
    source = {"path": str(origin.root), "commit": commit}
    target = programs.target("codex", aimock.url, workspace={"git": source})
    rubrics = [{"command": "git log -1 --format=%s | grep -qx made"}]
    case = {"id": "one", "input": "commit it", "rubrics": rubrics}
    found = run(tmp_path, [target], [case])["one"]
    assert (outcome(found), marks(found)) == ("Done.", [True])


def test_codex_is_started_again_after_429(tmp_path: Path) -> None:
    """It repeats such a request only where the server has said when."""
    with serving(partial(programs.Busy, [2])) as server:
        (case,) = report(tmp_path, [programs.target("codex", server.url)], {"one": "go"}).values()
    assert (outcome(case), case["usage"]["calls"]) == ("Done.", 3)


@pytest.mark.parametrize("agent", programs.AGENTS)
def test_tokens_are_those_of_the_server(agent: str, tmp_path: Path) -> None:
    with serving(TokenServer) as server:
        (case,) = report(tmp_path, [programs.target(agent, server.url)], {"one": "go"}).values()
    assert outcome(case) == "Done."
    assert case["trace"]["usage"]["token_usage"] == {"input": 20_000, "output": 1_000}


@pytest.mark.parametrize("agent", programs.AGENTS)
def test_long_answers_of_several_at_once(agent: str, aimock: Aimock, tmp_path: Path) -> None:
    """A program that exits before a pipe is read would lose the end."""
    text = "The answer is 42. " * 9_000  # 160 KB
    aimock.load([{**scripted.says(text), "match": {}}])
    asked = dict.fromkeys(("one", "two", "three"), "write much")
    target = programs.target(agent, aimock.url, concurrency=3, timeout_seconds=300)
    cases = report(tmp_path, [target], asked)
    ends = {name: outcome(case).strip()[-100:] for name, case in cases.items()}
    assert ends == dict.fromkeys(asked, text.strip()[-100:])
    assert {len(outcome(case).strip()) for case in cases.values()} == {len(text.strip())}


def test_thirty_cases_of_codex_at_a_time(aimock: Aimock, tmp_path: Path) -> None:
    plain = scripted.says("The answer is 42.")
    programs.script(aimock, {"run a command": (programs.calls("codex", "echo a.py"), plain)})
    asked = {f"case-{n}": "run a command" for n in range(30)}
    target = programs.target("codex", aimock.url, concurrency=30)
    cases = report(tmp_path, [target], asked)
    assert {outcome(case) for case in cases.values()} == {"The answer is 42."}


def marks(case: dict[str, Any]) -> list[bool]:
    """Return the marks of a case."""
    return [found["mark"] for of in case["evaluators"] for found in of["criteria"]]


# Qwen Code takes absolute paths only, and its folder has a random name.
@pytest.mark.parametrize("agent", [agent for agent in programs.AGENTS if agent != "qwen"])
def test_an_edit_is_found_by_its_path(agent: str, aimock: Aimock, tmp_path: Path) -> None:
    programs.script(aimock, {"write it": (programs.edits(agent), scripted.says("Done."))})
    rubrics = [
        *({"called": "edit(made.py)"}, {"never_called": "edit(made*)"}),
        *({"no_other_calls": ["edit(made.py)"]}, {"exists": "made.py"}),
    ]
    case = {"id": "one", "input": "write it", "rubrics": rubrics}
    target = programs.target(agent, aimock.url, workspace={})
    found = run(tmp_path, [target], [case])["one"]
    assert (outcome(found), marks(found)) == ("Done.", [True, False, True, True])


def test_a_command_of_codex_that_runs_on(aimock: Aimock, tmp_path: Path) -> None:
    """Its tool returns after ten seconds, and the turn may end before the command."""
    command = "echo kept > kept.txt; echo partial; sleep 300"
    replies = (programs.calls("codex", command), scripted.says("late"))
    programs.script(aimock, {"wait for it": replies})
    rubrics = [
        *({"called": "shell"}, {"never_called": "shell(sleep*)"}, {"no_other_calls": ["read"]}),
        *({"max_calls": 0}, {"file_contains": {"path": "kept.txt", "text": "kept"}}),
    ]
    case = {"id": "one", "input": "wait for it", "rubrics": rubrics}
    target = programs.target("codex", aimock.url, workspace={})
    found = run(tmp_path, [target], [case])["one"]
    assert (outcome(found), marks(found)) == ("late", [False, False, False, False, True])
    (step,) = found["trace"]["steps"]
    assert (step["arguments"], step["error"]) == ({"command": command}, "no result")


@pytest.mark.parametrize("agent", programs.AGENTS)
def test_a_conversation(agent: str, aimock: Aimock, tmp_path: Path) -> None:
    """An agent that resumes has the result of its tool in the second turn."""
    first, second = scripted.says("The name is Ada."), scripted.says("It was Ada.")
    aimock.load(
        [
            {**second, "match": {"userMessage": "which one was it"}},
            {**first, "match": {"userMessage": "read the name", "hasToolResult": True}},
            {**programs.calls(agent, "echo Ada-of-the-tool"), "match": {"userMessage": "read the"}},
            {**scripted.says("\n"), "match": {}},
        ]
    )
    turns = [{"input": "read the name"}, {"input": "which one was it"}]
    case = {"id": "talk", "turns": turns, "rubrics": [{"min_words": 0}]}
    with programs.recording(aimock.url) as server:
        found = run(tmp_path, [programs.target(agent, server.url)], [case])["talk"]
    assert "It was Ada." in outcome(found)
    resumes = AGENTS[agent].resumes
    alone = f"each turn got the texts before it: {agent} resumes no session"
    assert found["trace"]["notes"][-1:] == ["the turns are one session" if resumes else alone]
    asked = [body for body in server.bodies if "which one was it" in body]
    assert ("Ada-of-the-tool" in asked[-1]) == resumes
    used = found["trace"]["usage"]
    assert used["token_usage"] == {"input": 300, "output": 60}
    assert round(used.get("cost_usd", 0), 4) == (0.0012 if agent == "claude-code" else 0)
