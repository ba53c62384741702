"""promptfoo's providers as targets: models, services, programs, and the model that judges."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring import dialects
from rubric_ci.parts.bring.dialects import promptfoo
from rubric_ci.parts.bring.translation import Beside
from tests import platforms
from tests.parts.bring.dialects.reported import refused
from tests.tables import rows

TEST = "prompts: ['{{q}}']\ntests: [{vars: {q: a}, assert: [{type: llm-rubric, value: Kind}]}]\n"


def imported(
    text: str, files: dict[str, str] | None = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the targets, and what is lost with its path."""
    data = Document("", f"{TEST}{text}").data
    found = promptfoo.translate(data, Beside((files or {}).get, ".."))
    return found.targets, refused(found)


MODELS: dict[str, dict[str, Any]] = {
    "openai:gpt-6": {"model": "openai/gpt-6"},
    "openai:chat:gpt-6": {"model": "openai/gpt-6"},
    "openai:{{ env.MODEL }}": {"model": "openai/${{ MODEL }}"},
    "openai:completion:gpt-6": {"model": "openai/gpt-6"},
    "azure:responses:deployed": {"model": "azure/responses/deployed"},
    "bedrock:converse:a.claude-next": {"model": "bedrock/a.claude-next"},
    "openai:responses:gpt-6": {"model": "openai/responses/gpt-6"},
    "openai:chat:ft:gpt-6:shop::1": {"model": "openai/ft:gpt-6:shop::1"},
    "azure:chat:deployed": {"model": "azure/deployed"},
    "anthropic:messages:claude-next": {"model": "anthropic/claude-next"},
    "google:gemini-3": {"model": "gemini/gemini-3"},
    "vertex:gemini-3": {"model": "vertex_ai/gemini-3"},
    "ollama:chat:llama3:8b": {"model": "ollama_chat/llama3:8b"},
    "ollama:llama3": {"model": "ollama/llama3"},
    "openrouter:a/b": {"model": "openrouter/a/b"},
    "bedrock:anthropic.claude-next": {"model": "bedrock/anthropic.claude-next"},
    "localai:chat:vicuna": {"model": "openai/vicuna", "api_base": "http://localhost:8080/v1"},
}


@pytest.mark.parametrize(("written", "target"), MODELS.items())
def test_a_model(written: str, target: dict[str, Any]) -> None:
    targets, said = imported(f"providers: ['{written}']")
    assert (targets, said) == ([{"name": written, **target}], [])


SETTINGS = """
# of a request
{temperature: 0, max_tokens: 9, seed: 1, response_format: {type: json_object}}
=> {temperature: 0, max_tokens: 9, seed: 1, response_format: {type: json_object}}
# of a server
{apiBaseUrl: 'http://127.0.0.1:1/v1', apiKeyEnvar: SHOP_KEY}
=> {api_base: 'http://127.0.0.1:1/v1', api_key: '${{ SHOP_KEY }}'}
# variables in texts
{headers: {Authorization: 'Bearer {{env.TOKEN}}'}}
=> {extra_headers: {Authorization: 'Bearer ${{ TOKEN }}'}}
# a host
{apiHost: proxy.example}
=> {api_base: 'https://proxy.example/v1'}
# a variable as key
{apiKey: '{{env.SHOP_KEY}}'}
=> {api_key: '${{ SHOP_KEY }}'}
# of another spelling
{maxTokens: 9, topP: 0.5}
=> {max_tokens: 9, top_p: 0.5}
# of generation
{generationConfig: {temperature: 0, maxOutputTokens: 9}}
=> {temperature: 0, max_tokens: 9}
# passed through
{passthrough: {reasoning_effort: none}}
=> {reasoning_effort: none}
# headers
{headers: {X-Title: shop}}
=> {extra_headers: {X-Title: shop}}
# an effort
{reasoning: {effort: low}}
=> {reasoning_effort: low}
# without effect on answers
{maxRetries: 3, showThinking: false}
=> {}
# of a service, which a model ignores
{url: a, method: POST}
=> {}
# a key, which is not copied
{apiKey: sk-1}
=> {}
"""


@pytest.mark.parametrize(("config", "ours"), rows(SETTINGS))
def test_settings(config: str, ours: list[str]) -> None:
    [target], said = imported(f"providers: [{{id: 'openai:a', label: shop, config: {config}}}]")
    assert (target, said) == ({"name": "shop", "model": "openai/a"} | yaml.safe_load(ours[0]), [])


def test_the_region_of_vertex_is_a_location() -> None:
    config = "{projectId: shop, region: europe-west1}"
    [target], said = imported(f"providers: [{{id: 'vertex:a', config: {config}}}]")
    assert said == []
    assert target == {
        "name": "vertex:a",
        "model": "vertex_ai/a",
        "vertex_project": "shop",
        "vertex_location": "europe-west1",
    }


LOST = """
# tools
providers: [{id: 'openai:a', config: {tools: []}}]
=> providers.0.config.tools `tools` has no counterpart
# a schema in a file
providers: [{id: 'openai:a', config: {response_format: 'file://a.json'}}]
=> providers.0.config.response_format `response_format` has a template, or is in another file
# a default in a model
providers: ["openai:{{env.MODEL | default('a')}}"]
=> providers.0 `openai:{{env.MODEL | default('a')}}` has a template that is not an environment
   variable
# an agent
providers: ['anthropic:claude-agent-sdk']
=> providers.0 this provider has no counterpart; define a target of the name `default`: `- {name:
   default, provider: claude-code}` in rubric-ci.yaml
# a template in the settings of a program
providers: [{id: 'file://a.js', config: {token: '{{env.TOKEN}}'}}]
=> providers.0.config a template in `config` of a program is not filled in
# an embedding
providers: ['openai:embedding:a']
=> providers.0 this provider has no counterpart; define a target of the name `default`: `- {name:
   default, provider: cli, command_template: 'PROGRAM {PROMPT}'}`
# a filter in a header
providers: [{id: 'https://a.example', config: {headers: {a: '{{q | upper}}'}}}]
=> providers.0.config templates of a service that are not variables have no counterpart
# a file in a body
providers: [{id: 'https://a.example', config: {method: POST, body: {a: 'file://a.txt'}}}]
=> providers.0.config a file in the request of a service is not read
# a session of a service
providers: [{id: 'https://a.example', config: {session: {url: 'https://b.example'}}}]
=> providers.0.config.session `session` has no counterpart
"""


@pytest.mark.parametrize(("text", "reports"), rows(LOST))
def test_what_has_no_counterpart_is_reported(text: str, reports: list[str]) -> None:
    assert imported(text)[1] == reports


def test_a_provider_as_a_mapping_of_its_name() -> None:
    targets, said = imported("providers: [{'openai:a': {config: {temperature: 0}}}]")
    assert (targets, said) == ([{"name": "openai:a", "model": "openai/a", "temperature": 0}], [])


def test_two_providers_of_one_name() -> None:
    targets, _ = imported("providers: ['openai:a', {id: 'openai:a', config: {seed: 1}}]")
    assert [target["name"] for target in targets] == ["openai:a", "openai:a-2"]


def test_programs() -> None:
    targets, said = imported(
        "providers: [echo, 'exec:node a.js', {id: 'file://b.js', config: {x: '{y}'}}]",
        {"a.js": "console.log(1)", "b.js": "module.exports = 1"},
    )
    assert said == []
    assert [target["command_template"] for target in targets] == [
        "python3 promptfoo_shim.py --echo file:{PROMPT_FILE}",
        "node a.js {PROMPT}",
        ('node promptfoo_shim.mjs --config "~7b~22x~22: ~22~7by}~22}" ../b.js file:{PROMPT_FILE}'),
    ]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("(p, context) => context.vars.q", "--vars cases.vars.json {EVAL_ID} "),
        ("(p, { vars }) => vars.q", "--vars cases.vars.json {EVAL_ID} "),
        ("(p, context) => ask(p, context)", "--vars cases.vars.json {EVAL_ID} "),
        ("(p, context) => p", ""),
    ],
    ids=["of the context", "taken apart", "passed on", "not read"],
)
def test_a_program_that_reads_the_variables_gets_them(code: str, words: str) -> None:
    (target,), said = imported("providers: ['file://b.js']", {"b.js": code})
    assert said == []
    assert (
        target["command_template"] == f"node promptfoo_shim.mjs {words}../b.js file:{{PROMPT_FILE}}"
    )


def test_a_command_that_reads_more_than_the_prompt_is_reported() -> None:
    files = {"a.py": "import sys, json\nprint(json.loads(sys.argv[3])['vars'])"}
    reason = "a command that reads settings or variables of promptfoo gets none"
    assert imported("providers: ['exec:python a.py']", files) == ([], [f"providers.0 {reason}"])


SHIM = Path(next(iter(dialects.__path__))) / "shims" / "promptfoo_shim.py"


def shim(
    *words: str, cwd: Path | None = None, given: str = "", options: Iterable[str] = ()
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, str(SHIM), *words]
    return subprocess.run(
        command, cwd=cwd, input=given, capture_output=True, encoding="utf-8", check=True
    )


@platforms.SHELL
def test_transforms_follow_each_other_in_both_languages(tmp_path: Path) -> None:
    (tmp_path / "more.py").write_text(
        "def get_transform(output, context):\n    return output + 1\n"
    )
    sources = ["output.a", "output.b * context.vars.by", "file://more.py", "output * 10"]
    given = json.dumps({"output": {"a": {"b": 3}}, "context": {"vars": {"by": 2}}})
    assert shim("--transform", *sources, cwd=tmp_path, given=given).stdout == "70"


def test_a_module_of_the_user_hides_none_that_the_shim_needs(tmp_path: Path) -> None:
    code = "import shop\nasync def call_api(*_):\n    return {'output': shop.NAME}\n"
    (tmp_path / "answer.py").write_text(code)
    (tmp_path / "shop.py").write_text("NAME = 'Shop'\n")
    for hidden in ("inspect", "logging", "token"):  # asyncio and inspect import the two others
        (tmp_path / f"{hidden}.py").write_text("raise SystemExit(__name__)\n")
    done = shim("answer.py", "Hi", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("Shop", "")


def test_the_shim_starts_without_what_most_calls_do_not_need() -> None:
    done = shim("--echo", "Hi", options=("-X", "importtime"))
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert (done.stdout, "json" in loaded, loaded & {"asyncio", "inspect"}) == ("Hi", True, set())


JUDGES = """
# of the defaults
providers: ['openai:a']
defaultTest: {options: {provider: 'openai:b'}}
=> {model: openai/a, judge_target: judge}
=> {model: openai/b}
# with settings
providers: ['openai:a']
defaultTest: {options: {provider: {id: 'openai:b', config: {temperature: 0}}}}
=> {model: openai/a, judge_target: judge}
=> {model: openai/b, temperature: 0}
# a provider by its label
providers: ['openai:a', {id: 'openai:b', label: strict}]
defaultTest: {options: {provider: strict}}
=> {model: openai/a, judge_target: strict}
=> {model: openai/b, judge_target: strict}
# the model itself
providers: ['openai:a']
defaultTest: {options: {provider: {text: 'openai:a'}}}
=> {model: openai/a, judge_target: 'openai:a'}
"""


@pytest.mark.parametrize(("text", "targets"), rows(JUDGES))
def test_the_judge_is_a_target(text: str, targets: list[str]) -> None:
    found, said = imported(text)
    unnamed = [{key: each[key] for key in each if key != "name"} for each in found]
    assert (unnamed, said) == (list(map(yaml.safe_load, targets)), [])
    assert json.dumps(found)
