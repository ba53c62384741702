"""Problems as text and as workflow commands."""

from dataclasses import replace

import pytest

from rubric_ci.files.validation.problem_formats import as_annotations, as_text, summary
from rubric_ci.values.diagnostics import Diagnostic, Severity, Span

PROBLEM = Diagnostic(
    rule="out-of-range",
    severity=Severity.ERROR,
    file="evals/a.yaml",
    span=Span(3, 9, 3, 11),
    message="`weight` must be at least 0, not -1",
    hint="write a number from 0 up",
    line_text="weight: -1",
)
WARNING = replace(PROBLEM, rule="gate-kind", severity=Severity.WARNING, hint="")
OTHER = replace(PROBLEM, file="evals/b.yaml", line_text="")


def test_text_is_grouped_by_file() -> None:
    assert as_text([PROBLEM, WARNING, OTHER], 3) == (
        "evals/a.yaml:3:9: out-of-range: `weight` must be at least 0, not -1; "
        "write a number from 0 up\n"
        "  3 | weight: -1\n"
        "    |         ^^\n"
        "evals/a.yaml:3:9: warning: gate-kind: `weight` must be at least 0, not -1\n"
        "  3 | weight: -1\n"
        "    |         ^^\n"
        "\n"
        "evals/b.yaml:3:9: out-of-range: `weight` must be at least 0, not -1; "
        "write a number from 0 up\n"
        "\n"
        "3 files checked: 2 errors and 1 warning\n"
    )


def test_color_marks_place_rule_and_caret() -> None:
    assert as_text([replace(PROBLEM, hint="")], 1, color=True).splitlines()[:3] == [
        (
            "\x1b[1mevals/a.yaml:3:9\x1b[0m: \x1b[31mout-of-range\x1b[0m: "
            "`weight` must be at least 0, not -1"
        ),
        "  3 | weight: -1",
        "    |         \x1b[31m^^\x1b[0m",
    ]


QUOTES = {
    "tabs stay tabs under tabs": (Span(1, 3, 1, 4), "\t\tx", "\t\tx", "\t\t^"),
    "what hides is shown": (Span(1, 1, 1, 3), "a\x1b[31m", "a\\x1b[31m", "^^^^^"),
    "a point past the end": (Span(1, 4, 1, 5), "abc", "abc", "   ^"),
    "many lines end with the first": (Span(1, 2, 3, 1), "abc", "abc", " ^^"),
    "a long line is cut around the place": (
        Span(1, 500, 1, 501),
        "a" * 499 + "b" + "c" * 499,
        "a" * 59 + "b" + "c" * 60,
        " " * 59 + "^",
    ),
}


@pytest.mark.parametrize(("span", "line", "shown", "under"), QUOTES.values(), ids=QUOTES)
def test_the_line_and_the_caret(span: Span, line: str, shown: str, under: str) -> None:
    lines = as_text([replace(PROBLEM, span=span, line_text=line)], 1).splitlines()
    assert lines[1:3] == [f"  1 | {shown}", f"    | {under}"]


@pytest.mark.parametrize(
    ("found", "checked", "expected"),
    [
        ([], 1, "1 file checked: no problems"),
        ([], 0, "0 files checked: no problems"),
        ([WARNING, WARNING], 2, "2 files checked: 2 warnings"),
    ],
    ids=["clean", "nothing", "warnings"],
)
def test_summary(found: list[Diagnostic], checked: int, expected: str) -> None:
    assert summary(found, checked) == expected


def test_commands_keep_to_githubs_caps() -> None:
    many = [replace(PROBLEM, span=Span(n, 1, n, 2)) for n in range(1, 13)]
    lines = as_annotations([*many, WARNING], 1, "token").splitlines()
    assert [line.split("::")[1].split(" ")[0] for line in lines[:11]] == ["error"] * 10 + [
        "warning"
    ]
    assert lines[9] == (
        "::error title=rubric-ci validate::3 more errors; the log of this step lists them"
    )
    assert lines[11] == "::stop-commands::token"
    assert [line.split(":")[1] for line in lines[12:15]] == ["10", "11", "12"]
    assert lines[15:] == ["::token::", "1 file checked: 12 errors and 1 warning"]


def test_a_file_cannot_give_commands() -> None:
    hostile = replace(PROBLEM, message="x\n::error::y", file="a,b:c\n::warning::z.yaml")
    for line in as_annotations([hostile], 1, "token").splitlines()[:-1]:
        assert line.startswith("::error file=a%2Cb%3Ac")
    for line in as_text([hostile], 1).splitlines():
        assert not line.startswith("::")
