"""The pages of `--help`, as somebody reads them at a terminal of 80 columns."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import main
from rubric_ci.cli.options import REPORTS
from rubric_ci.reports.formats import FILES


def pages(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from pages(inner, (*words, name))


PAGES = list(pages(main, ()))


def page(words: tuple[str, ...]) -> str:
    done = CliRunner().invoke(main, [*words, "--help"], prog_name="rubric-ci", terminal_width=78)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_a_page_says_in_words_what_is_wanted(words: tuple[str, ...]) -> None:
    text = page(words)
    assert "..." not in text.replace("]...", "").replace("PARTS...", "").replace("[ARGS]...", "")
    assert '[default: ""]' not in text
    assert " TEXT" not in text  # NAME, GLOB, MODEL …
    assert " PATH " not in text  # FILE or FOLDER


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_option_has_a_line_of_its_own(words: tuple[str, ...]) -> None:
    command: click.Command = main
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert silent == []


def test_the_first_page_tells_what_the_exit_code_means() -> None:
    first = page(())
    for line in (
        "0  clean; the gate holds",
        "1  problems found; the gate fails",
        "2  the command line, the configuration or an eval file is unusable",
        "3  some case has no verdict: target, judge, script or budget",
    ):
        assert line in first
    assert "RUBRIC_CI_RUN_CONCURRENCY=4" in first


@pytest.mark.parametrize(
    ("words", "default"),
    [
        (("run",), "[default: (`gate.fail_on`, else fail)]"),
        (("run",), "[default: (`judge.votes`, else 1)]"),
        (("merge",), "[default: (that of the shards)]"),
    ],
    ids=["fail-on", "votes", "fail-on of merge"],
)
def test_a_default_that_the_configuration_gives_is_named(
    words: tuple[str, ...], default: str
) -> None:
    assert default in " ".join(page(words).split())


def test_the_reports_that_can_be_asked_for_are_those_that_exist() -> None:
    assert tuple(FILES) == REPORTS  # help does not load them
