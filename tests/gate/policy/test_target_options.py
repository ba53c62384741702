"""What a target of the head may set, and which connection it gets."""

import pytest

from rubric_ci.gate.differences.config_changes import FREE, policy_changes
from rubric_ci.gate.policy.governed import governed, with_known_prices
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.json_value import JSON
from rubric_ci.values.targets import Endpoint, LlmTarget, Target

GATEWAY: dict[str, JSON] = {"api_base": "https://gateway.example", "api_key": "${{ KEY }}"}


def model(name: str, of: str, options: dict[str, JSON] | None = None) -> LlmTarget:
    return LlmTarget(name=name, endpoint=Endpoint(model=of, options=options or {}))


def config(*targets: Target, judge: dict[str, JSON] | None = None) -> Config:
    endpoint = Endpoint(model="openai/judge", options=judge or {})
    return Config(
        judge=JudgeConfig(endpoint=endpoint), targets={target.name: target for target in targets}
    )


def asked(head: LlmTarget, base: Config) -> tuple[str, dict[str, JSON], tuple[str, ...]]:
    found = governed(config(head), base, configured=True).targets[head.name]
    assert isinstance(found, LlmTarget)
    return found.endpoint.model, dict(found.endpoint.options), found.held


@pytest.mark.parametrize(
    "option",
    [
        {"api_base": "https://gateway.example@evil.example"},
        {"api_key": "${{ OTHER }}"},
        {"api_version": "1?x="},
        {"custom_llm_provider": "vertex_ai"},
        {"extra_headers": {"X-Key": "${{ KEY }}"}},
        {"extra_body": {"url": "http://evil.example"}},
        {"vertex_credentials": "creds.json"},
        {"ssl_verify": False},
        {"an_option_of_tomorrow": "/proc/self/environ"},
    ],
    ids=lambda option: next(iter(option)),
)
def test_a_connection_of_the_head(option: dict[str, JSON]) -> None:
    base = config(model("a", "openai/a", GATEWAY))
    known = model("a", "openai/b", {**GATEWAY, **option, "temperature": 1})
    assert asked(known, base) == ("openai/b", {**GATEWAY, "temperature": 1}, ())
    new = model("new", "openai/b", {**option, "temperature": 1})
    assert asked(new, base)[2] == tuple(option)


@pytest.mark.parametrize(
    ("head", "held"),
    [
        (model("a", "openai/b"), ()),
        (model("new", "openai/b", {"temperature": 1, "max_tokens": 9, "user": "u"}), ()),
        (model("new", "openai/b", GATEWAY), ()),
        (model("new", "openai/b", {"api_base": GATEWAY["api_base"]}), ("api_base",)),
        (model("new", "deepseek/b", GATEWAY), ("api_base", "api_key")),
        (model("a", "deepseek/b", GATEWAY), ("api_base", "api_key")),
        (model("a", "deepseek/b"), ()),
        (model("new", "openai/b", {"organization": "o"}), ()),
    ],
    ids=[
        *("another model", "texts and numbers", "that of another target", "a part of it"),
        *("of another provider", "the same name, another provider", "nothing to keep", "the judge"),
    ],
)
def test_whether_a_target_is_held_back(head: LlmTarget, held: tuple[str, ...]) -> None:
    base = config(model("a", "openai/a", GATEWAY), judge={"organization": "o"})
    assert asked(head, base)[2] == held


def test_the_options_that_a_new_target_may_set() -> None:
    """A further one must carry no file, credential, endpoint or header to any provider."""
    assert sorted(FREE) == [
        *("frequency_penalty", "input_cost_per_second", "input_cost_per_token", "logit_bias"),
        *("logprobs", "max_completion_tokens", "max_tokens", "metadata", "min_p", "modalities"),
        *("n", "output_cost_per_second", "output_cost_per_token", "parallel_tool_calls"),
        *("prediction", "presence_penalty", "reasoning_effort", "repetition_penalty"),
        *("response_format", "seed", "service_tier", "stop", "stop_sequences", "store"),
        *("temperature", "thinking", "tool_choice", "tools", "top_k", "top_logprobs", "top_p"),
        *("user", "verbosity"),
    ]


def test_another_provider_gets_no_credential_of_the_base() -> None:
    base = config(model("a", "openai/a", GATEWAY))
    assert asked(model("a", "deepseek/b"), base) == ("deepseek/b", {}, ())


def test_a_connection_is_that_of_the_base_where_the_head_has_none() -> None:
    base = config(model("a", "openai/a", GATEWAY))
    assert asked(model("a", "openai/a"), base) == ("openai/a", GATEWAY, ())


def test_a_base_without_a_configuration_keeps_nothing_back() -> None:
    head = config(model("new", "openai/b", GATEWAY))
    assert governed(head, Config(), configured=False).targets == head.targets


def test_the_changes_that_are_shown() -> None:
    base = config(model("a", "openai/a", {**GATEWAY, "seed": 1}))
    head = config(
        model("a", "openai/b", {**GATEWAY, "api_base": "https://b.example", "seed": 2}),
        model("new", "openai/b", GATEWAY),
    )
    found = [(each.key, each.before, each.after, each.kind) for each in policy_changes(head, base)]
    assert found == [
        ("targets.a.api_base", "https://gateway.example", "https://b.example", "target")
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("openai/gpt-6-sol", "openai"), ("gpt-6-luna", "gpt"), ("o3", "o3"), ("azure/x/y", "azure")],
)
def test_what_a_credential_belongs_to(name: str, expected: str) -> None:
    assert Endpoint(model=name).provider == expected


FREE_OF_CHARGE: dict[str, JSON] = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
PRICED: dict[str, JSON] = {"input_cost_per_token": 0.5, "output_cost_per_token": 1.0}


@pytest.mark.parametrize(
    ("of", "own", "base", "expected"),
    [
        pytest.param("openai/listed", FREE_OF_CHARGE, {}, {}, id="the list's"),
        pytest.param("openai/listed", FREE_OF_CHARGE, PRICED, PRICED, id="the base's"),
        pytest.param("openai/other", PRICED, {}, PRICED, id="its own, where none is known"),
        pytest.param("openai/other", FREE_OF_CHARGE, PRICED, PRICED, id="the base's, not listed"),
        pytest.param("openai/listed", {}, {}, {}, id="none"),
    ],
)
def test_known_prices_win(
    of: str, own: dict[str, JSON], base: dict[str, JSON], expected: dict[str, JSON]
) -> None:
    head = config(model("a", of, {**own, "temperature": 1}))
    before = config(model("b", of, base))
    found = with_known_prices(head, before, "openai/listed".__eq__).targets["a"]
    assert isinstance(found, LlmTarget)
    assert dict(found.endpoint.options) == {**expected, "temperature": 1}
