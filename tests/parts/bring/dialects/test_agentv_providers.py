"""Providers of AgentV 5 as targets: kinds, settings, and what has no counterpart."""

from typing import Any

import pytest
import yaml

from rubric_ci.files.project.loader import LoadedTargets, load_targets
from rubric_ci.files.yaml_text.source import open_config
from rubric_ci.parts.bring.dialects.agentv_targets import translate_providers
from rubric_ci.values.targets import CliTarget, LlmTarget, MockTarget, UnsupportedTarget
from tests.parts.bring.dialects.reported import reported
from tests.tables import rows

FILE = "shop/.agentv/providers.yaml"


def target(entry: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the target of one provider, and the problems with their paths."""
    found = translate_providers([entry])
    return found.data["targets"][0], reported(found)


def loaded(text: str) -> LoadedTargets:
    return load_targets(open_config(FILE, text))


PROVIDERS = """
# a model
openai:gpt-6
=> {name: 'openai:gpt-6', provider: openai, model: gpt-6}
# settings
{'openai:chat:gpt-6': {label: small, temperature: 0, max_output_tokens: 9}}
=> {name: small, provider: openai, model: gpt-6, temperature: 0, max_tokens: 9}
# responses
{id: 'openai:responses:gpt-6', base_url: 'http://localhost:1/', label: a}
=> {name: a, provider: openai, model: responses/gpt-6, base_url: 'http://localhost:1/v1'}
# an address in a variable
{id: openai, label: a, model: m, base_url: '{{env.URL}}'}
=> {name: a, provider: openai, model: m, base_url: '${{ URL }}'}
# another company
{id: 'anthropic:messages:claude', label: a}
=> {name: a, provider: anthropic, model: claude}
# a setting in two places
{id: azure, label: a, config: {model: x, endpoint: e}, model: y}
=> {name: a, provider: azure, model: y, endpoint: e}
# a command
{id: 'exec:node answer.mjs {PROMPT_FILE}', label: a, workers: 2}
=> {name: a, provider: cli, command: 'node answer.mjs {PROMPT_FILE}', workers: 2}
# every key of a command
{id: cli, label: a, runtime: host, grader_target: judge, config: {command: 'x {PROMPT}', cwd: ..},
    healthcheck: {command: x --version, timeout_seconds: 3}}
=> {name: a, provider: cli, grader_target: judge, command: 'x {PROMPT}', cwd: .., healthcheck:
   {type: command, timeout_seconds: 3, command_template: x --version}}
# a health check by a URL
{id: cli, label: a, command: x, healthcheck: {url: 'http://a.example'}}
=> {name: a, provider: cli, command: x, healthcheck: {type: http, url: 'http://a.example'}}
# what a command depends on
{id: cli, label: a, command: x, env: [KEY], depends_on: [src/**]}
=> {name: a, provider: cli, command: x, env: [KEY], depends_on: [src/**]}
# a fixed answer
{id: mock, label: a, response: '42'}
=> {name: a, provider: mock, response: '42'}
# a program of copilot
{id: copilot-cli, label: a, model: m, stream_log: raw}
=> {name: a, provider: copilot-cli}
# codex of openai
{id: 'openai:codex:m', label: a}
=> {name: a, provider: codex-sdk}
# a model that codex begins
{id: 'openai:codex-mini', label: a}
=> {name: a, provider: openai, model: codex-mini}
# codex of agentv
{id: 'agentv:codex-cli', label: a}
=> {name: a, provider: codex-cli}
"""


@pytest.mark.parametrize(("entry", "ours"), rows(PROVIDERS))
def test_what_a_provider_becomes(entry: str, ours: list[str]) -> None:
    assert target(yaml.safe_load(entry)) == (yaml.safe_load(ours[0]), [])


NO_COUNTERPART = """
# a sandbox
{id: cli, label: a, command: x, runtime: {mode: sandbox}}
=> not-supported 0.runtime: only the runtime `host` has a counterpart
# an environment
{id: cli, label: a, command: x, config: {environment: {type: docker}}}
=> not-supported 0.config.environment: `environment` of a provider has no counterpart
# a fallback
{id: cli, label: a, command: x, fallback_targets: [b]}
=> not-supported 0.fallback_targets: `fallback_targets` of a provider has no counterpart
# a placeholder in a health check
{id: cli, label: a, command: x, healthcheck: {command: 'x {PROMPT}'}}
=> not-supported 0.healthcheck.command: a placeholder in a health check has no counterpart
# another try
{id: cli, label: a, command: x, healthcheck: {command: x, retries: 3}}
=> not-supported 0.healthcheck.retries: `retries` has no counterpart
# a template
{id: cli, label: a, command: x, cwd: '{{ env.HERE | lower }}'}
=> not-supported 0.cwd: a template other than `{{ env.NAME }}` has no counterpart
# a name
{id: cli, label: a, command: x, name: b}
=> not-supported 0.name: AgentV 5 has no `name` of a provider
# variables
{id: cli, label: a, command: x, env: {A: b}}
=> not-supported 0.env: `env` of a provider has no counterpart
# an ignored key
{id: cli, label: a, command: x, stream_log: raw}
=> skipped-there 0.stream_log: AgentV ignores `stream_log` of the provider `cli`
# no response
{id: mock, label: a}
=> skipped-there 0.id: without `response`, AgentV has a default text; here the answer is empty
# code of AgentV
{'package:@shop/agent': {}}
=> not-supported 0.package:@shop/agent: the provider `package:@shop/agent`, which is code of AgentV,
   has no counterpart; a `command` of the kind `cli` has
# another form
{id: openai, label: a, model: m, api_format: '{{ env.FORM }}'}
=> not-supported 0.api_format: `api_format` has no counterpart unless it is `chat`, or `responses`
   of a `model`
"""


@pytest.mark.parametrize(("entry", "problems"), rows(NO_COUNTERPART))
def test_what_has_no_counterpart_is_named(entry: str, problems: list[str]) -> None:
    assert target(yaml.safe_load(entry))[1] == problems


ENTRIES = """\
- {id: cli, label: agent, command: 'x {PROMPT_FILE}', grader_target: judge, cwd: ..}
- {id: openai, label: judge, model: m, api_key: '{{ env.KEY }}'}
- {id: mock, label: fixed, response: 'Yes'}
- {id: pi-cli, label: pi, subprovider: azure}
"""


@pytest.mark.parametrize("start", ["", "providers:\n", "$schema: agentv\nproviders:\n"])
def test_the_targets_of_a_file(start: str) -> None:
    text = start + ENTRIES
    found = loaded(text)
    assert found.diagnostics == ()
    agent, judge, fixed, pi = found.targets
    assert isinstance(agent, CliTarget)
    assert (agent.cwd, agent.cwd_from_eval_folder, agent.judge_target) == ("..", True, "judge")
    assert isinstance(judge, LlmTarget)
    assert judge.endpoint.model == "openai/m"
    assert judge.endpoint.options == {"api_key": "${{ KEY }}"}
    assert isinstance(fixed, MockTarget)
    assert fixed.response == "Yes"
    assert isinstance(pi, UnsupportedTarget)


def test_problems_stand_in_their_file() -> None:
    text = """\
providers:
  - id: openai
    label: judge
    api_key: sk-abc
  - id: cli
    label: judge
    command: x {PROMT}
"""
    found = [(each.span.line, each.rule) for each in loaded(text).diagnostics]
    slips = [(2, "missing-key"), (4, "literal-secret"), (6, "target-name-duplicate")]
    assert found == [*slips, (7, "unknown-placeholder")]


SHAPES = """
# targets
targets: []
=> AgentV has `providers` in this file, and no `targets`
=> the file has no list of `providers`
# a number
providers: 3
=> the file has no list of `providers`
# a text
text
=> the file has no list of `providers`
# wrong entries
[3, {}, {a: 3}, {id: 3}, {label: a}]
=> a provider is a text or a mapping
=> a provider is a text or a mapping
=> the settings of a provider are a mapping
=> a provider has an `id`, its kind
=> a provider has an `id`, its kind
"""


@pytest.mark.parametrize(("text", "messages"), rows(SHAPES))
def test_a_file_of_another_shape(text: str, messages: list[str]) -> None:
    found = [each for each in loaded(text).diagnostics if each.rule == "not-supported"]
    assert [each.message for each in found] == messages


def test_a_providers_file_is_one_by_its_folder() -> None:
    text = "[{id: mock, label: a, response: b}]"
    assert isinstance(open_config(FILE, text).data, dict)
    assert isinstance(open_config("shop/providers.yaml", text).data, list)
    assert isinstance(open_config("providers.yaml", text, f"/home/{FILE}").data, dict)
