"""The packaged list of models is litellm's, with the ends that were announced since."""

from rubric_ci.system.model_list import model_info
from tests.system import packaged_models


def test_it_is_current() -> None:
    assert packaged_models.FILE.read_text(encoding="utf-8") == packaged_models.generated(), (
        "run `make golden`"
    )


def test_an_entry() -> None:
    known = model_info("openai/gpt-4.1")
    assert (known["input_cost_per_token"], known["mode"]) == (2e-06, "chat")
    assert known["deprecation_date"] == "2027-01-14"
    assert model_info("gpt-4.1") == known


def test_an_unknown_model() -> None:
    assert model_info("openai/mine") == model_info("mine") == {}


def test_a_name_is_no_pattern_and_no_part_of_another() -> None:
    assert model_info("gpt-4.") == model_info('gpt-4.1": {"') == {}
