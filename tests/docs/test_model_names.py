"""Every model that a page, an example, a message or a test shows can be used for years."""

import re

import pytest

from rubric_ci.system.model_list import model_info
from tests.model_names import CURRENT, ROOT, replaced, texts

NAME = re.compile(
    r"(?<![\w.-])(?:gpt-\d[\w.-]*\w|o\d-(?:mini|pro)|claude-[\w.-]*\d[\w.-]*|gemini-\d[\w.-]*\w)"
)
DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|preview)$")
NOT_CURRENT = {  # names that a test is about, never sent to their providers
    "tests/evals/invalid/of-github-models.yaml": {"gpt-4o"},
    "tests/cli/commands/test_images.py": {"gpt-3.5-turbo"},  # takes no images
    "tests/models/llm/test_client.py": {"gpt-3.5-turbo"},
    "tests/models/llm/test_media.py": {"gpt-3.5-turbo"},
    "tests/models/llm/test_gemini_http.py": {"gemini-3.8"},
    "tests/cli/commands/mistakes.yaml": {"gpt-4o"},
    "tests/files/validation/test_provider_rules.py": {"gpt-4o"},
    "tests/models/llm/test_openai_http.py": {"gpt-3.5-turbo", "gpt-5.4-pro"},
    "tests/models/llm/test_responders.py": {"gpt-4o", "gpt-6.1-0125"},
}
# Prices of images by the names of families, old ones as well; and this file.
FAMILIES = {
    "rubric_ci/models/llm/model_info.py",
    "tests/models/llm/test_media_tokens.py",
    "tests/docs/test_model_names.py",
}


def test_the_shown_models_have_no_end() -> None:
    ends = {name: model_info(name).get("deprecation_date") for name in CURRENT.values()}
    assert ends == dict.fromkeys(CURRENT.values()), (
        "choose another in values/formats_and_defaults.py"
    )
    assert all(model_info(name) for name in CURRENT.values())


def test_no_other_model_is_shown() -> None:
    current = {name.partition("/")[2] for name in CURRENT.values()}
    shown = {}
    for path, text in texts():
        name = path.relative_to(ROOT).as_posix()
        found = {DATED.sub("", each) for each in NAME.findall(text)}
        others = found - current - NOT_CURRENT.get(name, set())
        if others and name not in FAMILIES:
            shown[name] = sorted(others)
    assert shown == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("judge: openai/old-1", "judge: openai/new-2"),
        ("old-1.", "new-2."),
        ("old-1-mini, old-1.5, bold-1, an-old-1", "old-1-mini, old-1.5, bold-1, an-old-1"),
    ],
)
def test_a_new_name_is_written_everywhere(text: str, expected: str) -> None:
    assert replaced(text, {"old-1": "new-2"}) == expected
