"""A checkout with the line endings of Windows is the same project: no case changed."""

from contextlib import chdir
from pathlib import Path
from typing import Final

import pytest

from rubric_ci.model.options import RunSettings
from rubric_ci.selection.changed_cases import open_selected
from tests.checkout import Checkout

FILES: Final = {
    "rubric-ci.yaml": "judge: {model: openai/m}\ntargets:\n"
    "  - {name: default, provider: mock, response: hello}\n",
    "evals/a.yaml": """\
evalcases:
  - id: prompted
    input_messages:
      - role: system
        content: [{type: file, value: prompts/system.md}]
      - {role: user, content: Hello?}
    expected_outcome: |
      A kind
      greeting
    rubrics: [polite]
  - id: graded
    input: Hi
    expected_outcome: A greeting
    evaluators:
      - {name: j, type: llm_judge, prompt: prompts/judge.md}
""",
    "prompts/system.md": "Be kind.\nAlways.\n",
    "prompts/judge.md": "Is it kind?\n{{ answer }}\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A clone as git for Windows makes it: LF in the objects, CRLF on disk."""
    origin = Checkout.create(tmp_path / "origin")
    origin.commit(dict(FILES))
    clone = origin.clone(tmp_path / "clone", "--config", "core.autocrlf=true")
    assert b"\r\n" in (clone.root / "prompts/system.md").read_bytes()
    return clone


def reasons(checkout: Checkout) -> dict[str, str]:
    with chdir(checkout.root):
        settings = RunSettings(paths=("evals",), changed_since="HEAD")
        _, selection = open_selected(settings)
    return {case.id: why for case, why in selection.chosen}


def test_no_case_changed(checkout: Checkout) -> None:
    assert reasons(checkout) == {}


def test_only_what_was_edited_changed(checkout: Checkout) -> None:
    checkout.write({"prompts/system.md": "Be kind.\r\nNever.\r\n"})
    assert reasons(checkout) == {"prompted": "`prompts/system.md` changed"}


def test_an_editor_that_saves_lf_changes_nothing(checkout: Checkout) -> None:
    checkout.write(FILES)
    assert reasons(checkout) == {}
