"""Conversations with an agent: one session where it can resume one, else the texts."""

import json

import pytest

from rubric_ci.values.messages import Turn
from tests.cases import build_case
from tests.parts.agents.bench import KEYS, Bench, worked
from tests.parts.agents.cli_outputs import printed

BODY = """
with open(os.environ["PATH"].split(":")[0] + "/log", "a") as log:
    print(json.dumps([sys.argv[1:], prompt]), file=log)
"""


@pytest.mark.parametrize(
    ("agent", "resumes"),
    [
        ("claude-code", ["--resume", "s"]),
        ("codex", ["resume", "t"]),
        ("copilot", ["--resume=s"]),
        ("gemini-cli", []),
    ],
)
def test_turns(bench: Bench, agent: str, resumes: list[str]) -> None:
    target = bench.program(agent, printed(KEYS[agent][0], "fine"), BODY)
    case = build_case(turns=(Turn(text="One?"), Turn(text="Two?")), input_messages=())
    found = bench.answer(worked(target), case)
    (first, asked), (second, again) = (
        json.loads(line) for line in (bench.programs / "log").read_text().splitlines()
    )
    assert not {"--no-session-persistence", "--ephemeral"} & {*first, *second}
    assert [word for word in second if word not in first] == resumes
    assert (asked, again == "Two?\n") == ("One?\n", bool(resumes))
    assert found.work is not None
    alone = f"each turn got the texts before it: {agent} resumes no session"
    assert found.work.notes == ("the turns are one session" if resumes else alone,)
