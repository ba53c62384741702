"""The work of a target on the page: turns with their marks, numbered steps, coloured diffs."""

import pytest

from rubric_ci.parts.formats.case_view import case_view
from rubric_ci.parts.formats.work_view import TextView, before_dialogue, dialogue, work
from rubric_ci.text import answer_text
from rubric_ci.text.answer_text import Exchange
from rubric_ci.values.trace import CaseTrace, FileChange, Step
from tests.parts.formats import drawn
from tests.sample_reports import a_criterion, a_report, graded

TALK = (Exchange("Hello <b>", "Which order?"), Exchange("4711", "Until 1 April."))
TEXT = answer_text.transcript(TALK)
LOOKS = Step(tool="look_up", arguments={"order": 4711}, result="found", duration_ms=12, turn=2)
CASE = graded(
    "talk", "fail",
    a_criterion("turn-1/asks", text="asks", mark=True, gated=False, normalised=1.0, evidence=""),
    a_criterion("turn-2/dates", text="dates", evidence="1 April"),
    question="[system]\nBe kind.\n\n[user]\nHello <b>\n\n[user]\n4711", answer=TEXT,
    trace=CaseTrace(steps=(LOOKS,)),
)  # fmt: skip


def test_a_dialogue_has_its_marks_and_steps_beside_each_turn() -> None:
    view = case_view(CASE, a_report(CASE), opened=True)
    assert view.texts == (TextView(title="Question", text=(("", "[system]\nBe kind."),)),)
    shown = [
        (turn.user, turn.answer.text, turn.work and turn.work.title, [mark.id for mark in marks])
        for turn, marks in view.turns
    ]
    assert shown == [
        ("Hello <b>", (("", "Which order?"),), None, ["turn-1/asks"]),
        (
            "4711",
            (("", "Until "), ("mark", "1 April"), ("", ".")),
            "Tool calls: 1",
            ["turn-2/dates"],
        ),
    ]
    assert view.work == ()
    text = drawn.macro("case.html", "case", view)
    assert "<pre>Hello &lt;b&gt;</pre>" in text
    assert text.count(view.turns[1][1][0].anchor) == 3  # the row, its link, and the turn's


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Hello <b>", ""),
        ("[user]\nHello <b>\n\n[user]\n4711", ""),
        ("[simulated user]\nAnna", "[simulated user]\nAnna"),
    ],
)
def test_no_message_of_the_user_stands_twice(question: str, left: str) -> None:
    assert before_dialogue(question, TALK) == left
    assert before_dialogue(question, ()) == question


def test_another_answer_is_no_dialogue() -> None:
    assert dialogue(graded("a", answer="No [user] here"), ()) == ()


def test_steps_are_numbered_with_call_and_result_apart() -> None:
    steps = (LOOKS, Step(tool="push", error="denied", duration_ms=1500))
    (shown,) = work(graded("a", trace=CaseTrace(steps=steps)))
    assert shown.title == "Tool calls: 2, 1 failed"
    assert [(each.number, each.name, each.detail) for each in shown.entries] == [
        ("1.", "look_up", "12 ms"),
        ("2.", "push", "failed, 1.5 s"),
    ]
    call = '{\n  "order": 4711\n}'
    assert shown.entries[0].texts == (("Call", (("", call),)), ("Result", (("", "found"),)))
    assert shown.entries[1].texts == (("Error", (("", "denied"),)),)


def test_a_diff_is_coloured_but_for_its_header() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"
    change = FileChange(path="x", kind="modified", diff=diff)
    (shown,) = work(graded("a", file_changes=(change,)))
    ((_, lines),) = shown.entries[0].texts
    assert [kind for kind, _ in lines] == ["", "", "", "del", "ins"]
    assert "".join(line for _, line in lines) == diff
