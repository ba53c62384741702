"""The pages of the commands are current, complete and in the order of use."""

import click
import pytest

from rubric_ci.cli.click_types import Variable, variable
from tests.cli.test_help import PAGES
from tests.docs.code_blocks import ROOT
from tests.docs.command_pages import FOLDER, find, pages

TEXTS = dict(pages())


@pytest.mark.parametrize("name", TEXTS)
def test_the_page_is_current(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == TEXTS[name], "run `make golden`"


def test_there_is_no_other_page() -> None:
    assert {path.name for path in FOLDER.iterdir()} == TEXTS.keys()


def test_the_site_has_the_pages_in_the_order_of_use() -> None:
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").splitlines()
    listed = [line.partition("commands/")[2] for line in lines if "- commands/" in line]
    assert listed == list(TEXTS)


@pytest.mark.parametrize("words", [words for words in PAGES if words], ids=" ".join)
def test_every_option_and_variable_is_on_the_page(words: tuple[str, ...]) -> None:
    command = find(words)
    root = click.Context(click.Command(""), auto_envvar_prefix="RUBRIC_CI")
    text = TEXTS[f"{words[0]}.md"]
    for each in command.params:
        if isinstance(each, Variable):
            assert f"`{variable(root, each)}`" in text
        elif isinstance(each, click.Option):
            assert all(name in text for name in each.opts)
