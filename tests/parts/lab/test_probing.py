"""Variants of work: what is taken away, and what is left."""

import json

import pytest

from rubric_ci.parts.lab.probing import without_quoted
from rubric_ci.values.answers import kept
from rubric_ci.values.results import Answer
from rubric_ci.values.trace import FileChange, KeptFile, Work
from tests.tables import rows

CALLS = (
    {"tool": "Bash", "input": {"command": "pytest"}, "output": "2 passed"},
    {"tool": "Edit", "input": {"path": "a.py"}, "output": "ok"},
)
ANSWER = Answer(
    text="I fixed it.",
    messages=({"role": "assistant", "tool_calls": CALLS},),
    work=Work(
        changes=(FileChange(path="a.py", kind="modified", diff="+x = 2\n"),),
        files=(KeptFile(path="a.py", text="x = 2\n"), KeptFile(path="b.md", text="notes")),
    ),
)


def left(answer: Answer | None) -> str:
    """Return the calls, changes and kept files of an answer."""
    assert answer
    whole = kept(answer)
    assert whole.trace
    steps = [f"{s.tool}{'!' if s.error else ''}" for s in whole.trace.steps]
    files = [f"={each.path}" for each in whole.trace.files]
    return " ".join([*steps, *(f"+{each.path}" for each in whole.file_changes), *files])


TAKEN = r"""
# a result
"2  passed"
=> work-dropped: without the call of Bash: Edit +a.py =a.py =b.md
=> call-failed: the call failed: Bash! Edit +a.py =a.py =b.md
=> no-work: without any work:
# an argument
"\"command\": \"pytest\""
=> work-dropped: without the call of Bash: Edit +a.py =a.py =b.md
=> no-work: without any work:
# in the diff and the file
"x = 2"
=> work-dropped: without a.py: Bash Edit =b.md
=> no-work: without any work:
# not in the work
"deleted"
# no quote
" "
"""


@pytest.mark.parametrize(("quote", "variants"), rows(TAKEN))
def test_the_quoted_work_is_taken_away(quote: str, variants: list[str]) -> None:
    """Variants are family, change, and the calls, changes and files that are left."""
    found = list(without_quoted(ANSWER, json.loads(quote), Answer(text="")))
    shown = [f"{each.family}: {each.change}: {left(each.did)}".rstrip() for each in found]
    assert shown == variants
    assert {each.text for each in found} <= {ANSWER.text}


def test_the_work_of_another_case_is_taken_if_it_lacks_the_quote() -> None:
    other = Answer(text="Other.", messages=({"role": "assistant", "tool_calls": CALLS[1:]},))
    found = {each.family: each for each in without_quoted(ANSWER, "2 passed", other)}
    assert [*found] == ["work-dropped", "call-failed", "other-work", "no-work"]
    assert left(found["other-work"].did) == "Edit"
    assert found["other-work"].text == ANSWER.text
    assert "other-work" not in {each.family for each in without_quoted(ANSWER, "2 passed", ANSWER)}
