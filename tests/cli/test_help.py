"""The pages of `--help` at a terminal of 80 columns."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import commands, main
from rubric_ci.values import parts
from tests.docs.command_pages import find


def pages(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from pages(inner, (*words, name))


GATE = """\
Gate:
  --fail-on [fail|borderline|regression|never]
                                  Least severe verdict that fails the gate, or
                                  `regression`: what the change broke.
                                  `gate.tags` of the configuration chooses the
                                  cases that decide.  [default:
                                  (`gate.fail_on`, else fail)]

Limits:
  -x, --exitfirst        Stop at the first case that fails or has no verdict,
                         as with --max-failures 1.
"""


PAGES = list(pages(main, ()))


def page(words: tuple[str, ...], option: str = "") -> str:
    whole = any(each.name == "help_all" for each in find(words).params)
    asked = option or ("--help-all" if whole else "--help")
    done = CliRunner().invoke(main, [*words, asked], prog_name="rubric-ci", terminal_width=78)
    assert done.exit_code == 0
    return done.output


def headings(words: tuple[str, ...]) -> dict[str, int]:
    """Return the headings of a page with the number of lines below each."""
    found: dict[str, int] = {}
    for line in page(words).splitlines():
        if line.endswith(":") and not line.startswith(" "):
            heading = line.removesuffix(":")
            found[heading] = 0
        elif found and line.startswith("  -"):
            found[heading] += 1
        elif found and line.startswith("   "):
            found[heading] += not line.startswith("    rubric-ci ")
    return found


def test_run() -> None:
    """The whole page, in the width of the site, is docs/commands/run.md, which is kept current."""
    shown = page(("run",))
    assert GATE in shown
    assert all(name in shown for name in ("--reuse", "--max-seconds SECONDS", "--batch"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run",), "Select Policy Judge Compare Gate Limits Requests Cache Reports Options"),
        (("report", "merge"), "Gate Compare Reports Options"),
        (("plan",), "Select Policy Shards Options"),
        (("validate",), "Select Policy Options"),
        (("compare",), "Reports GitHub Options"),
        (("judge", "attack"), "Select Policy Judge Limits Requests Options"),
        (("judge", "calibrate"), "Select Policy Judge Limits Requests Options"),
        (
            ("generate", "rubrics"),
            "Select Policy Drafts Commit and publish Limits Requests Options",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_options_stand_under_headings(words: tuple[str, ...], expected: str) -> None:
    assert " ".join(headings(words)) == expected


def test_the_options_of_a_week() -> None:
    week = page(("run",), "--help")
    assert week.count("\n  -") == 20
    assert [each for each in ("--shard", "--offline", "--policy-from") if each in week] == []


MORE = """\
More:
  help bring   Bring: import, adopt
  help judge   Trust the judge: judge
  help nights  Nights: baseline, history
  help ci      CI: plan, report, authorize
  help other   Other: cache
"""
NIGHTS = """\
Nights:
  baseline keep    Add a run to the log of the baseline.
  baseline accept  Make the results of a run the baseline.
  history add      Add a run to the history.
  history show     Print changes of score and cost, and cases whose verdict
                   changes.
"""


def test_the_first_page_has_one_line_for_a_topic() -> None:
    first = page((), "--help")
    assert MORE in first
    assert "Nights:\n" not in first
    assert NIGHTS in page(())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("nights",), NIGHTS),
        (("run",), page(("run",), "--help")),
        ((), page((), "--help")),
        (("history", "show"), page(("history", "show"))),
    ],
    ids=["a topic", "a command", "nothing", "a command of a group"],
)
def test_help_as_a_word(words: tuple[str, ...], expected: str) -> None:
    done = CliRunner().invoke(main, ["help", *words], prog_name="rubric-ci", terminal_width=78)
    assert (done.exit_code, done.output) == (0, expected)


def test_help_of_nothing_known() -> None:
    done = CliRunner().invoke(main, ["help", "nihgts"], prog_name="rubric-ci")
    assert done.exit_code == 2
    assert "there is no topic `nihgts`; did you mean `nights`?" in done.output


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_a_section_fits_half_a_screen(words: tuple[str, ...]) -> None:
    assert [heading for heading, lines in headings(words).items() if lines > 12] == []


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_a_page_has_no_placeholders(words: tuple[str, ...]) -> None:
    text = page(words)
    for repeated in ("]...", "PARTS...", "RESULTS...", "FILES..."):
        text = text.replace(repeated, "")
    assert "..." not in text
    assert '[default: ""]' not in text
    assert " TEXT" not in text  # NAME, GLOB, MODEL …
    assert " PATH " not in text  # FILE or FOLDER


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_option_has_a_line_of_its_own(words: tuple[str, ...]) -> None:
    command = find(words)
    silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert silent == []


def test_the_commands_stand_in_the_order_of_use() -> None:
    listed = page(()).partition("Start:")[2].partition("Examples:")[0]
    rows = (line for line in listed.splitlines() if line[:2] == "  " and line[2:3].strip())
    words = [line[2:].split("  ")[0] for line in rows]
    assert words == [
        *("init", "demo"),
        *("validate", "run", "show", "generate rubrics", "compare", "waive", "probe", "doctor"),
        *("import", "adopt"),
        *("judge test", "judge label", "judge calibrate", "judge attack"),
        *("baseline keep", "baseline accept"),
        *("history add", "history show"),
        *("plan", "report merge", "report comment", "authorize"),
        "cache",
    ]


def test_a_removed_part_leaves_no_heading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS", ())
    commands.cache_clear()
    try:
        assert [*commands()] == ["Every day", "CI", "Other"]
        assert "Nights" not in page(())
    finally:
        commands.cache_clear()


def test_every_command_is_on_the_first_page() -> None:
    first = page(())
    leaves = {" ".join(words) for words in PAGES if not any(p[:-1] == words for p in PAGES)}
    assert [words for words in leaves if f"\n  {words} " not in first] == []


def test_exit_codes() -> None:
    first = page(())
    for line in (
        "0  no problems; the gate passes",
        "1  problems found; the gate fails",
        "2  the command line, the configuration or an eval file is unusable",
        "3  a case has no verdict: target, judge, script or budget failed",
    ):
        assert line in first
    assert "RUBRIC_CI_RUN_CONCURRENCY=4" in first


@pytest.mark.parametrize(
    ("words", "default"),
    [
        (("run",), "[default: (`gate.fail_on`, else fail)]"),
        (("run",), "[default: (`judge.votes`, else 1)]"),
        (("report", "merge"), "[default: (as the shards)]"),
    ],
    ids=["fail-on", "votes", "fail-on of merge"],
)
def test_a_default_from_the_configuration_is_shown(words: tuple[str, ...], default: str) -> None:
    assert default in " ".join(page(words).split())
