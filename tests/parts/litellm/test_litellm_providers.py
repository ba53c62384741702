"""The providers of litellm are those that a configuration may name."""

from rubric_ci.parts.litellm.litellm_client import load_litellm
from tests.files.validation.test_provider_rules import said


def test_every_provider_of_litellm_is_known() -> None:
    names = [getattr(each, "value", each) for each in load_litellm().provider_list]
    assert "openai" in names
    for name in names:
        assert not said(f"judge: {{model: {name}/m}}\n")
