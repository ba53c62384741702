"""The outputs on the pages are what the program prints."""

import pytest
import yaml

from tests.docs import outputs
from tests.docs.outputs import ROOT, pages

ELSEWHERE = {  # task pages whose example runs in another test, or that show a picture
    "action": "the picture of the comment",
    "agents": "tests/docs/test_agents.py",
    "compare": "the picture of the page",
    "cost": "tests/docs/test_cost.py",
    "good-rubrics": "tests/docs/test_good_rubrics.py",
    "reports": "the pictures of comment, page and terminal",
}


@pytest.mark.parametrize("name", pages())
def test_the_outputs_are_current(name: str) -> None:
    text = pages()[name].read_text(encoding="utf-8")
    assert outputs.page(text) == text


def test_every_task_page_shows_what_it_looks_like() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    (tasks,) = (group["Tasks"] for group in config["nav"] if "Tasks" in group)
    assert {name.removesuffix(".md") for name in tasks} == {*pages(), *ELSEWHERE}
