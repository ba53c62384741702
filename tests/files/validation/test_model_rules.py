"""The models of a configuration: which end soon, and which parameters they refuse."""

from datetime import date

import pytest

from rubric_ci.files.validation.model_rules import evaluator_model_problems
from rubric_ci.files.validation.validator import check_config
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.values.agent_names_and_credentials import CREDENTIALS
from rubric_ci.values.json_value import JSON
from rubric_ci.values.model_end_and_parameters import Models
from tests.files.shown import placed, shown

KNOWN: dict[str, dict[str, JSON]] = {
    "openai/old": {"deprecation_date": "2027-01-14"},
    "openai/thinks": {"supports_reasoning": True},
    "gpt-old": {"deprecation_date": "2027-01-14"},
    "azure/old": {"deprecation_date": "2026-10-01"},
}
MODELS = Models(info=lambda name: KNOWN.get(name, {}), today=date(2026, 11, 22))


SOON = "model-ends-soon: `openai/old` is switched off on 2027-01-14, in 53 days"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("judge: openai/old\n", f"1:8: notice: {SOON}"),
        (
            "judge: {cli: codex, model: gpt-old}\n",
            "1:28: notice: model-ends-soon: `gpt-old` is switched off on 2027-01-14, in 53 days",
        ),
        ("judge: {model: openai/old, votes: 3}\n", f"1:16: notice: {SOON}"),
        (
            "targets:\n- {name: a, provider: azure, model: old}\n",
            "2:37: warning: model-end: `azure/old` was switched off on 2026-10-01",
        ),
        (
            "judge: {model: openai/thinks, temperature: 0}\n",
            "1:44: error: model-parameter: `openai/thinks` does not take `temperature: 0`",
        ),
        (
            "targets: [{name: a, model: openai/thinks, settings: {topP: 0.5}}]\n",
            "1:60: error: model-parameter: `openai/thinks` does not take `top_p: 0.5`",
        ),
        ("judge: {model: openai/thinks, reasoning_effort: low}\n", ""),
        ("judge: {model: openai/thinks, temperature: 0, api_base: http://gateway}\n", ""),
        ('judge: {model: "openai/${{ OPENAI_MODEL }}"}\n', ""),
        ("targets: [{name: a, provider: mock, response: x}]\n", ""),
    ],
)
def test_models(text: str, expected: str) -> None:
    found = check_config(Document("rubric-ci.yaml", text), models=lambda: MODELS)
    assert shown(found, severity=True) == expected


def test_the_hint_names_the_commands() -> None:
    [found] = check_config(Document("rubric-ci.yaml", "judge: openai/old\n"), models=lambda: MODELS)
    assert found.hint == (
        "choose another model NEW; for a judge, `rubric-ci judge calibrate --judge NEW` measures it"
    )


PROGRAMS = ", ".join(f"`{name}`" for name in CREDENTIALS)
NO_EFFECT = "judge-command `{}` has no effect on a judge with `{}`"


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        ("{cli: claude-code, model: m, votes: 3, canary: false, env: [T], concurrency: 1}", ""),
        ("{command: [my-judge, --json], timeout_seconds: 9, mode: isolated, x-a: 1}", ""),
        ("{cli: codex}", "judge-without-model `cli: codex` has no `model`"),
        ("{cli: codex, model: m, temperature: 0}", NO_EFFECT.format("temperature", "cli")),
        ("{cli: codex, model: m, output: prompt}", NO_EFFECT.format("output", "cli")),
        ("{cli: codex, model: m, command: [a]}", NO_EFFECT.format("command", "cli")),
        ("{command: [a], model: m}", NO_EFFECT.format("model", "command")),
        ("{command: [a], apiKey: k}", NO_EFFECT.format("apiKey", "command")),
        (
            "{cli: gpt, model: m}",
            f"unknown-value `cli` must be one of {PROGRAMS}, not the text `gpt`",
        ),
    ],
)
def test_a_judge_that_is_a_command(judge: str, expected: str) -> None:
    found = check_config(Document("a.yaml", f"judge: {judge}\n"))
    assert "\n".join(f"{each.rule} {each.message}" for each in found) == expected


EVALUATORS = """\
execution:
  evaluators: [{name: a, type: llm_judge, model: openai/old}]
evalcases:
  - id: one
    input: Hi
    model: openai/old
    execution:
      evaluators:
        - name: b
          type: composite
          evaluators: [{name: c, type: llm_judge, model: azure/old}]
          aggregator: {type: llm_judge, model: openai/thinks}
        - {name: d, type: llm_judge, model: "openai/${{ MODEL }}"}
"""


def test_models_of_evaluators() -> None:
    found = evaluator_model_problems(Document("a.yaml", EVALUATORS).data, lambda: MODELS)
    assert placed(found) == (
        f"execution.evaluators.0.model: {SOON}\n"
        "evalcases.0.execution.evaluators.0.evaluators.0.model: model-end: `azure/old` was "
        "switched off on 2026-10-01"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("judge: x/a?b\n", "1:8: model-name: the model `x/a?b` has characters that no model has"),
        (
            "judge: {model: 'x/a#b'}\n",
            "1:16: model-name: the model `x/a#b` has characters that no model has",
        ),
        (
            "judge: {panel: [openai/a, 'x/a b', gemini/c]}\n",
            "1:27: model-name: the model `x/a b` has characters that no model has",
        ),
        (
            "targets: [{name: a, provider: azure, deployment: 'a%2f'}]\n",
            "1:50: model-name: the model `a%2f` has characters that no model has",
        ),
        (
            "targets: [{name: a, model: bedrock/b, aws_region_name: evil.test/}]\n",
            "1:56: model-name: `aws_region_name: evil.test/` has other characters than `a-z0-9-`",
        ),
        (
            "targets: [{name: a, model: oci/b, settings: {ociRegion: a.b}}]\n",
            "1:57: model-name: `ociRegion: a.b` has other characters than `a-z0-9-`",
        ),
        ("targets: [{name: a, model: 'bedrock/b', region_name: '${{ AWS_REGION }}'}]\n", ""),
        ("judge: {cli: claude-code, model: 'claude-sonnet-5-5[1m]'}\n", ""),
        ("targets: [{name: a, provider: claude-code, model: 'claude-sonnet-5-5[1m]'}]\n", ""),
        ("judge: bedrock/arn:aws:bedrock:us-east-1:1:inference-profile/eu.a-v1:0\n", ""),
        ("judge: cloudflare/@cf/meta/llama-3\n", ""),
        ("judge: vertex_ai/claude@20260101\n", ""),
    ],
)
def test_names_with_characters_of_an_address(text: str, expected: str) -> None:
    found = check_config(Document("rubric-ci.yaml", text), models=lambda: MODELS)
    assert shown(each for each in found if each.rule == "model-name") == expected


@pytest.mark.parametrize("price", ["-1", "-1e-9", "-0.5", ".nan", ".inf", "'-1'", "true", "[]"])
@pytest.mark.parametrize(
    "place",
    [
        "judge: {{model: openai/a, input_cost_per_token: {price}}}\n",
        "judge: {{panel: [{{model: openai/a, output_cost_per_token: {price}}}]}}\n",
        "targets: [{{name: a, model: openai/a, inputCostPerToken: {price}}}]\n",
        "targets: [{{name: a, model: x/a, settings: {{input_cost_per_token_batches: {price}}}}}]\n",
    ],
)
def test_prices_that_void_a_cap(place: str, price: str) -> None:
    found = check_config(
        Document("rubric-ci.yaml", place.format(price=price)), models=lambda: MODELS
    )
    assert "model-price" in {each.rule for each in found}
