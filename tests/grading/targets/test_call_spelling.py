"""Calls in one spelling."""

from pathlib import Path
from typing import Any

import pytest

from rubric_ci.grading.targets.call_spelling import Spelling, server_spellings, spelled
from rubric_ci.values.trace import Step
from tests.platforms import symlink

PLACES = Spelling(places={Path("/tmp/w/repo"): ".", Path("/tmp/w/home"): "~"})


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("shell", {"command": "/bin/bash -lc 'ls a'"}, {"command": "ls a"}),
        ("Bash", {"command": "cd /tmp/w/repo && ls"}, {"command": "cd . && ls"}),
        ("Bash", {"command": "cat '/tmp/w/repo/a b'"}, {"command": "cat 'a b'"}),
        ("other", {"command": "sh -c ls"}, {"command": "sh -c ls"}),
        ("Edit", {"file_path": "/tmp/w/repo/src/a.py"}, {"file_path": "src/a.py"}),
        ("Edit", {"changes": [{"path": "/tmp/w/repo/a"}]}, {"changes": [{"path": "a"}]}),
        ("Read", {"path": "/tmp/w/repo"}, {"path": "."}),
        ("Read", {"path": "/tmp/w/repo/"}, {"path": "./"}),
        ("Read", {"path": "/tmp/w/repository/a"}, {"path": "/tmp/w/repository/a"}),
        ("Read", {"path": "/tmp/w/home/.cache"}, {"path": "~/.cache"}),
        ("Read", {"line": 3}, {"line": 3}),
        ("Read", None, None),
    ],
)
def test_arguments(tool: str, arguments: Any, expected: Any) -> None:
    (found,) = spelled([Step(tool=tool, arguments=arguments)], PLACES)
    assert found.arguments == expected


def test_results_and_errors_and_a_folder_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    symlink(link, "real")
    step = Step(tool="Bash", result=f"{link}/a {link.resolve()}/b", error=f"no {link}")
    assert spelled([step], Spelling(places={link: "."})) == (
        Step(tool="Bash", result="a b", error="no ."),
    )
    assert spelled([step], Spelling()) == (step,)


@pytest.mark.parametrize(
    ("start", "tool", "expected"),
    [
        ("{}-", "shop-price", "mcp__shop__price"),
        ("mcp_{}_", "mcp_shop_price", "mcp__shop__price"),
        ("{}_", "my_shop_a_price", "mcp__my shop__a_price"),
        ("{}_", "shop_of_tea_price", "mcp__shop_of_tea__price"),
        ("{}_", "shopping", "shopping"),
        ("mcp__{}__", "mcp__shop__price", "mcp__shop__price"),
    ],
)
def test_tools_of_servers(start: str, tool: str, expected: str) -> None:
    servers = server_spellings(["shop", "my shop", "shop_of_tea"], start)
    (found,) = spelled([Step(tool=tool)], Spelling(servers=servers))
    assert found.tool == expected
