from rubric_ci.files.validation.gate_and_waiver_rules import CaseName, Sizes
from rubric_ci.files.validation.project_rules import recorded_problems


def test_a_line_of_a_recording_ends_with_a_line_feed_only() -> None:
    lines = '{"id": "a", "answer": "one\u2028two\x85three"}\r\n\n{"id": "c", "answer": ""}'
    data = {"targets": [{"name": "default", "provider": "recorded", "answers": "a.jsonl"}]}
    names = tuple(CaseName("a.yaml", name) for name in ("a", "b", "c"))
    sizes = Sizes(3, {}, names, read=lambda _: lines.encode())
    (found,) = recorded_problems(data, lambda: sizes)
    assert found.message == "`a.jsonl` has no answer for `b`"
