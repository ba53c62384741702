"""The options of an agent, as the real programs take them: in the requests that they send."""

import sys
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.models.agents import AGENTS
from tests import aimock as scripted
from tests.aimock import Aimock
from tests.http_server import serving
from tests.real_agents import mcp_server, programs
from tests.real_agents.test_real_agents import outcome, report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not programs.BIN.exists(), reason=programs.MISSING),
    pytest.mark.timeout(400),
]

SERVER = Path(__file__).with_name("mcp_server.py")
EFFORT = {
    "claude-code": '"output_config":{"effort":"low"}',
    "codex": '"reasoning":{"effort":"low"',
    "copilot": '"reasoning_effort":"low"',
    "opencode": '"reasoning_effort":"low"',
}
"""The effort in a request of those that have one."""

ARGUMENTS = {
    "claude-code": (["--append-system-prompt", "Be kind."], "Be kind."),
    "codex": (["-c", 'developer_instructions="Be kind."'], "Be kind."),
    "copilot": (["--plan"], "[[PLAN]]"),
    "gemini-cli": (["--include-directories", "{folder}"], "{folder}"),
    "opencode": (["--agent", "plan"], "Plan mode"),
    "qwen": (["--append-system-prompt", "Be kind."], "Be kind."),
}
"""Words of a command line, and what a request has of them."""

TOOL = {"copilot": "shop-price", "gemini-cli": "mcp_shop_price", "opencode": "shop_price"}
"""The name of a tool of a server, where it is not `mcp__shop__price`."""


@pytest.mark.parametrize("agent", programs.AGENTS)
def test_they_reach_the_server(agent: str, aimock: Aimock, tmp_path: Path) -> None:
    words, trace = ARGUMENTS[agent]
    asked = programs.tool(TOOL.get(agent, "mcp__shop__price"), {"article": "tea"})
    programs.script(aimock, {"say the price": (asked, scripted.says("It is 4."))})
    with programs.recording(aimock.url) as recorder:
        options: dict[str, Any] = {
            "args": [word.format(folder=tmp_path) for word in words],
            "mcp_servers": {"shop": {"command": sys.executable, "args": [str(SERVER)]}},
            **({"effort": "low"} if agent in EFFORT else {}),
        }
        target = programs.target(agent, recorder.url, **options)
        (case,) = report(tmp_path, [target], {"one": "say the price"}).values()
    assert outcome(case) == "It is 4."
    (step,) = case["trace"]["steps"]
    assert (step["tool"], step["result"], step["error"]) == ("mcp__shop__price", "tea: 4", "")
    sent = "".join(recorder.bodies).replace('": ', '":')
    assert EFFORT.get(agent, "") in sent
    assert trace.format(folder=tmp_path) in sent


@pytest.mark.parametrize("agent", programs.AGENTS)
def test_a_server_of_tools_with_a_url(agent: str, aimock: Aimock, tmp_path: Path) -> None:
    asked = programs.tool(TOOL.get(agent, "mcp__shop__price"), {"article": "tea"})
    programs.script(aimock, {"say the price": (asked, scripted.says("It is 4."))})
    with programs.recording(aimock.url) as model, serving(mcp_server.OverHttp) as server:
        shop = {"url": f"{server.url}/mcp", "headers": {"X-Shop": "tea"}}
        target = programs.target(agent, model.url, mcp_servers={"shop": shop})
        (case,) = report(tmp_path, [target], {"one": "say the price"}).values()
    (step,) = case["trace"]["steps"]
    assert (step["tool"], step["result"], step["error"]) == ("mcp__shop__price", "tea: 4", "")


@pytest.mark.parametrize(
    ("agent", "option", "reason"),
    [
        ("claude-code", {"max_turns": 2}, "failed: Reached maximum number of turns (2)"),
        ("claude-code", {"max_cost_usd": 0.0007}, "failed: Reached maximum budget ($0.0007)"),
        ("copilot", {"max_turns": 2}, "was ended after 2 turns, the limit in `max_turns`"),
        ("gemini-cli", {"max_turns": 2}, "failed: Reached max session turns for this session."),
        ("opencode", {"max_turns": 2}, "was ended after 2 turns, the limit in `max_turns`"),
        ("qwen", {"max_turns": 2}, "failed: the stream has no result: Reached max session turns"),
    ],
)
def test_a_limit_keeps_the_work(
    agent: str, option: dict[str, Any], reason: str, aimock: Aimock, tmp_path: Path
) -> None:
    programs.script(aimock, {"go on": (programs.calls(agent, "touch made"),) * 2})
    target = programs.target(agent, aimock.url, **option)
    (case,) = report(tmp_path, [target], {"one": "go on"}).values()
    assert (
        outcome(case)[: len(f"the target `{agent}` {reason}")] == f"the target `{agent}` {reason}"
    )
    assert case["trace"]["steps"][0]["arguments"]["command"] == "touch made"
    assert [change["path"] for change in case["file_changes"]] == ["made"]
    assert len(aimock.requests()) <= 4  # opencode asks for a title as well


def test_an_effort_is_seen_or_refused() -> None:
    assert EFFORT.keys() == {name for name, of in AGENTS.items() if "effort" not in of.refuses}
