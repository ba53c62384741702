"""promptfoo's configurations as cases: what of transforms, sets and prompts is taken over."""

import fnmatch
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring import dialects
from rubric_ci.parts.bring.dialects import promptfoo
from rubric_ci.parts.bring.dialects.promptfoo_code import SHIMS
from rubric_ci.parts.bring.translation import SKIPPED_THERE, Beside, Translation
from tests import platforms
from tests.captured import captured
from tests.parts.bring.dialects.reported import refused
from tests.tables import rows

SHIM = Path(next(iter(dialects.__path__))) / "shims"
REFUSED = """
# a transform of another kind
providers: [{id: 'exec:a', transform: {b: c}}]
=> providers.0.transform a `transform` is a text
# a transform in another language
defaultTest: {options: {transform: 'file://a.rb'}}
=> defaultTest.options.transform `a.rb` is not a file of JavaScript, TypeScript or Python
# a transform of one of several providers
providers: [{id: 'openai:a', transform: output.b}, 'openai:c']
=> providers.0.transform the `transform` of one of several providers has no counterpart
# a judge of a transformed answer
tests: [{assert: [{type: llm-rubric, value: Kind, transform: output.a}]}]
=> tests.0.assert.0.type `llm-rubric` about the result of a `transform` has no counterpart
# a transform before a judge
tests: [{options: {transform: output.a}, assert: [{type: llm-rubric, value: Kind}]}]
=> tests.0.assert.0.type `llm-rubric` about the result of a `transform` has no counterpart
# a vars transform
tests: [{options: {transformVars: a}, assert: [{type: contains, value: b}]}]
=> tests.0.options.transformVars `transformVars` has no counterpart
# a setting of models
tests: [{options: {temperature: 0}, assert: [{type: is-json}]}]
=> tests.0.options.temperature `temperature` has no counterpart
# scenarios
tests: [{assert: [{type: is-json}]}]
scenarios: [{config: [{}], tests: [{}]}]
=> scenarios `scenarios` has no counterpart
# prompts and providers that a test chooses
tests: [{prompts: [a], providers: [b], assert: [{type: is-json}]}]
=> tests.0.prompts `prompts` of a test has no counterpart
=> tests.0.providers `providers` of a test has no counterpart
# a provider that chooses prompts
providers: [{id: 'openai:a', prompts: [b]}]
tests: [{assert: [{type: is-json}]}]
=> providers.0.prompts `prompts` has no counterpart
# a key of a set
tests: [{assert: [{type: assert-set, config: {}, assert: [{type: is-json}]}]}]
=> tests.0.assert.0.config `config` has no counterpart
# one report for all tests that share a part
defaultTest: {assert: [{type: similar, value: a}]}
tests: [{}, {}]
=> defaultTest.assert.0.type the assertion `similar` has no counterpart: it compares embeddings;
   write the meaning as a criterion of `llm-rubric`
# no context
tests: [{assert: [{type: context-faithfulness}]}]
=> tests.0.assert.0.type `context-faithfulness`: promptfoo needs the variable `context`, a text, and
   no `not-`
# a threshold of another kind
tests: [{threshold: high, assert: [{type: is-json}]}]
=> tests.0.threshold a threshold is a number
# a filter
tests: [{vars: {w: a}, assert: [{type: not-contains, value: '{{ w | title }}'}]}]
=> tests.0.assert.0.value the template is not filled in: `{{ w | title }}` is not a variable; write
   out what it makes
# a call in code
tests: [{assert: [{type: javascript, value: "output === '{{ range(2) }}'"}]}]
=> tests.0.assert.0.value the template is not filled in: `{{ range(2) }}` is not a variable; write
   out what it makes
# a text that is empty once it is filled in
tests: [{assert: [{type: contains, value: '{{ a }}'}]}]
=> tests.0.assert.0.value `contains`: promptfoo stops at a value that is neither text nor a number
# the environment in a variable
tests: [{vars: {q: '{{ env.A }}'}, assert: [{type: is-json}]}]
=> tests.0.vars a template is not filled in: variables of the environment are not imported
# a condition in a prompt
tests: [{vars: {q: 7}, assert: [{type: is-json}]}]
prompts: ['{% if q %}a{% endif %}']
=> tests.0.vars a template is not filled in: `{% if q %}` is not a variable; write out what it makes
# a value in another file
tests: [{assert: [{type: contains, value: 'file://a.txt'}]}]
=> tests.0.assert.0.value `contains`: `file://a.txt` is not read
# a value of a list in another file
tests: [{assert: [{type: contains-any, value: [a, 'file://a.txt']}]}]
=> tests.0.assert.0.value `contains-any`: `file://a.txt` is not read
# quotes without an end
tests: [{assert: [{type: contains-any, value: 'a, "b'}]}]
=> tests.0.assert.0.value `contains-any`: promptfoo stops at quotes without an end
# a schema of JSON in a text
tests: [{assert: [{type: contains-json, value: {required: [a]}}]}]
=> tests.0.assert.0.value `contains-json`: a schema of JSON in a text has no counterpart
# a format that is not checked
tests: [{assert: [{type: is-json, value: {format: int32}}]}]
=> tests.0.assert.0.value `is-json`: the format `int32` is not checked here
# a schema that needs another file
tests: [{assert: [{type: is-json, value: {$ref: 'https://a.example/s'}}]}]
=> tests.0.assert.0.value `is-json`: a `$ref` leads to nothing in it, and nothing is loaded from
   elsewhere
# a reference
tests: [{assert: [{$ref: '#/assertionTemplates/a'}, {type: is-json}]}]
=> tests.0.assert.0 `$ref` is not followed; write the part that it names, or an alias
=> tests.0.assert.0.type the assertion `` has no counterpart
# keys that decide
tests: [{repeat: 2, assert: [{type: is-json}]}]
extensions: ['file://a.js:hook']
=> extensions `extensions` has no counterpart
=> tests.0.repeat `repeat` of a test has no counterpart
# a prompt that is not there
tests: [{}]
prompts: ['file://a.txt']
=> prompts.0 `file://a.txt` is not there, from the folder of this file; promptfoo stops at it, too
# a provider of a test without a counterpart
providers: [echo]
tests: [{provider: mcp, assert: [{type: is-json}]}]
=> tests.0.provider this provider has no counterpart; define a target of the name `default`: `-
   {name: default, provider: cli, command_template: 'PROGRAM {PROMPT}'}`
# a provider of a test next to a transform
providers: [{id: 'openai:a', transform: output.b}]
tests: [{provider: 'openai:c', assert: [{type: is-json}]}]
=> tests.0.provider `provider` of a test next to a `transform` has no counterpart
# a chat prompt for another kind of target
providers: ['openai:gpt-6']
prompts: ['[{"role": "user", "content": "a"}]']
tests: [{provider: echo, assert: [{type: is-json}]}]
=> prompts a chat prompt for programs and models is not the same text for both: one target of a test
   is of another kind
# a chat prompt for programs and models
providers: [echo, 'openai:gpt-6']
prompts: ['[{"role": "user", "content": "a"}]']
tests: [{assert: [{type: is-json}]}]
=> prompts.0 a chat prompt for programs and models is not the same text for both
# a prompt in JSON for a model
providers: ['openai:gpt-6']
prompts: ['{"contents": []}']
tests: [{assert: [{type: is-json}]}]
=> prompts.0 a prompt in JSON that is not a list of messages is for a program
# two judges
providers: ['openai:a']
tests: [{assert: [{type: llm-rubric, value: A, provider: 'openai:b'}, {type: llm-rubric, value: B,
    provider: 'openai:c'}]}]
=> tests.0.assert.1.provider a run has one judge: of several, this one has no counterpart
# a judge that is code
providers: ['openai:a']
defaultTest: {options: {provider: 'file://judge.py'}}
tests: [{assert: [{type: llm-rubric, value: A}]}]
=> defaultTest.options.provider this judge has no counterpart: `judge` in rubric-ci.yaml names it, a
   program as `{command: [...]}`
# a value that is code
tests: [{assert: [{type: contains, value: 'file://a.js'}]}]
=> tests.0.assert.0.value `contains`: `file://a.js` is not read
# no prompt
prompts: ['{{a}}']
tests: [{assert: [{type: is-json}]}]
=> tests.0 the prompt of the test `test-1` is empty
# no prompt of a provider without a counterpart
providers: [mcp]
prompts: ['{{a}}']
tests: [{vars: {b: c}, assert: [{type: is-json}]}]
=> providers.0 this provider has no counterpart; define a target of the name `default`: `- {name:
   default, provider: cli, command_template: 'PROGRAM {PROMPT}'}`
=> tests.0 the prompt of the test `test-1` is empty
# no prompt of a service
providers: [{id: 'http://a.example', config: {method: POST, body: {q: '{{prompt}}'}}}]
prompts: ['{{a}}']
tests: [{vars: {b: c}, assert: [{type: is-json}]}]
=> tests.0 the prompt of the test `test-1` is empty
# tests that run several times
evaluateOptions: {repeat: 3, concurrency: 8}
tests: [{assert: [{type: is-json}]}]
=> evaluateOptions.repeat `repeat` has no counterpart
# a prompt by a function
tests: [{}]
prompts: ['file://a.py:ask']
=> prompts.0 a prompt that is neither text nor a file of text is not imported, nor its cases
"""


def translated(text: str, files: dict[str, str] | None = None) -> tuple[Any, list[str]]:
    """Return the cases, and each report of a loss with its path."""
    found = translation(text, files)
    return found.data["evalcases"], refused(found)


def translation(text: str, files: dict[str, str] | None = None) -> Translation:
    data = {"prompts": ["{{q}}" if "q:" in text else "Hi"], **Document("", text).data}
    names = files or {}
    return promptfoo.translate(
        data, Beside(names.get, ".", lambda glob: fnmatch.filter(names, glob))
    )


@pytest.mark.parametrize(("text", "reports"), rows(REFUSED))
def test_what_has_no_counterpart_is_reported_once(text: str, reports: list[str]) -> None:
    assert translated(text)[1] == reports


def criteria(text: str) -> Any:
    """Return the criteria of the only case, whose variables are these."""
    variables = "{q: a, word: ann, user: {tags: [tea]}, b: 'Hi {{word}}', context: Paris}"
    [case], said = translated(f"tests: [{{vars: {variables}, assert: [{text}]}}]")
    assert said == []
    return case.get("rubrics") or case["evaluators"][0]["config"]["checks"]


MADE = """
# an index
{type: contains, value: '{{ user.tags[0] }}'}
=> {contains: tea}
# nothing
{type: contains, value: 'a{{ c }}'}
=> {contains: a}
# a variable in a variable
{type: contains, value: '{{ b }}'}
=> {contains: Hi ann}
# no object
{type: equals, value: {a: '{{ word }}'}}
=> {equals: {a: '{{ word }}'}, exact: true}
# equality
{type: equals, value: 'x '}
=> {equals: 'x ', exact: true}
# a number
{type: equals, value: 1.0}
=> {equals: '1', exact: true}
# json
{type: is-json}
=> {is_json: true, exact: true}
# no json
{type: not-is-json}
=> {is_json: true, exact: true, not: true}
# a schema
{type: is-json, value: 'required: [a]'}
=> {json_schema: {$schema: 'http://json-schema.org/draft-07/schema#', required: [a]}, exact: true}
# a pattern
{type: regex, value: 'a.c'}
=> {matches: a.c}
# a pattern of javascript
{type: regex, value: '(?i)a'}
=> {name: regex, matches: '(?i)a'}
# white space
{type: contains, value: ' '}
=> {name: contains, contains: ' '}
# quotes
{type: contains-any, value: '"a, b", c'}
=> {contains_any: ['a, b', c]}
# a weight of zero
{type: contains, value: a, weight: 0}, {type: is-json}
=> {contains: a, weight: 0, required: false}
=> {is_json: true, exact: true}
# json in a text
{type: contains-json}
=> {name: contains-json, contains_json: true}
# a judge
{type: llm-rubric, value: Kind}
=> {expected_outcome: Kind}
# an inverted judge
{type: not-llm-rubric, value: Rude}
=> {expected_outcome: 'Does not hold: Rude'}
# a judge with a threshold
{type: llm-rubric, value: Kind, threshold: 0.8}
=> {expected_outcome: 'At least 80 % of this is met: Kind'}
# steps of a judge
{type: g-eval, value: Clear}
=> {expected_outcome: 'At least 70 % of this is met: Clear'}
# a context
{type: context-faithfulness, threshold: 0.8}
=> {expected_outcome: 'At least 80 % of this is met: Its statements follow from this context:
   Paris'}
# a context without a limit
{type: context-faithfulness}
=> {expected_outcome: 'Its statements follow from this context: Paris', required: false}
# facts
{type: factuality, value: Bern is in Switzerland}
=> {expected_outcome: 'States nothing that contradicts this: Bern is in Switzerland'}
"""


@pytest.mark.parametrize(("text", "made"), rows(MADE))
def test_an_assertion_becomes(text: str, made: list[str]) -> None:
    assert criteria(text) == list(map(yaml.safe_load, made))


def test_a_judge_gives_a_score_where_a_mean_decides() -> None:
    [case], said = translated(
        "tests: [{threshold: 0.5, assert: [{type: llm-rubric, value: Kind}, {type: is-json}]}]"
    )
    assert said == []
    kind, json_criterion = case["evaluators"][0]["evaluators"][0]["rubrics"]
    ranges = {0: "Does not meet it at all", 1: "Meets it in part", 10: "Meets it in full"}
    assert kind == {"expected_outcome": "Kind", "score_ranges": ranges}
    assert json_criterion == {"is_json": True, "exact": True, "required": False}


OF_FILES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a text": (
        "llm-rubric, value: 'file://a.txt'",
        " Kind {{q}}\n",
        {"expected_outcome": "Kind {{q}}"},
    ),
    "a list": ("contains-any, value: 'file://a.yaml'", "[a, b]", {"contains_any": ["a", "b"]}),
    "a text in a list": (
        "contains-any, value: [b, 'file://a.txt']",
        "a\n",
        {"contains_any": ["b", "a"]},
    ),
    "a number": ("equals, value: 'file://a.json'", "1", {"equals": "1", "exact": True}),
}


@pytest.mark.parametrize(("assertion", "content", "made"), OF_FILES.values(), ids=OF_FILES)
def test_a_value_is_read_from_a_file(assertion: str, content: str, made: dict[str, Any]) -> None:
    files = {f"a.{end}": content for end in ("txt", "yaml", "json")}
    text = f"tests: [{{vars: {{q: hi}}, assert: [{{type: {assertion}}}]}}]"
    [case], said = translated(text, files)
    assert (case["rubrics"], said) == ([made], [])


def test_a_test_has_a_provider_of_its_own() -> None:
    test = "assert: [{type: is-json}]"
    tests = f"{{provider: echo, {test}}}, {{provider: echo, {test}}}, {{{test}}}"
    found = translation(f"providers: ['openai:a']\ntests: [{tests}]")
    assert [each.get("target") for each in found.data["evalcases"]] == ["echo", "echo", None]
    assert [each["name"] for each in found.targets] == ["openai:a", "echo"]
    assert found.data["target"] == "openai:a"


def test_a_date_in_a_file_of_tests_is_reported() -> None:
    files = {"a.yaml": "[{vars: {q: 2024-01-31}, metadata: {d: 2024-01-31}}]", "b.yaml": "[{}]"}
    said = translated("prompts: [Hi]\ntests: [a.yaml, b.yaml]", files)[1]
    assert said == ["tests.0 `a.yaml`: promptfoo does not read a date without quotes as text"]


def test_providers_in_a_file() -> None:
    files = {"one.yaml": "{id: 'openai:a', label: one}", "more.json": '["openai:b", "echo"]'}
    found = translation("providers: ['file://one.yaml', 'file://more.json']\ntests: [{}]", files)
    assert [each["name"] for each in found.targets] == ["one", "openai:b", "echo"]


def test_the_question_to_a_service_that_gets_no_prompt_has_its_variables() -> None:
    service = "{id: 'http://a.example', config: {method: POST, body: {question: '{{q}}'}}}"
    [case], said = translated(
        f"providers: [{service}]\nprompts: ['{{{{prompt}}}}']\n"
        "tests: [{vars: {q: Why?, n: 2}, assert: [{type: is-json}]}]"
    )
    assert (case["input"], said) == ("q: Why?\nn: 2", [])


def test_without_prompts_the_variable_prompt_is_sent() -> None:
    found = promptfoo.translate(
        {"tests": [{"vars": {"prompt": "Hi"}, "assert": [{"type": "is-json"}]}]}
    )
    assert found.data["evalcases"][0]["vars"] == {"prompt": "Hi"}


def test_a_list_stays_one_value_where_the_options_say_so() -> None:
    options = "options: {disableVarExpansion: true, cache: false, runSerially: true, threshold: 1}"
    test = f"{options}, vars: {{a: [b, c]}}, assert: [{{type: is-json}}]"
    [case], said = translated(f"prompts: ['{{{{a[1]}}}}']\ntests: [{{{test}}}]")
    assert (case["vars"], said) == ({"a": ["b", "c"]}, [])


LEFT_OUT = {
    "no assertion": ("tests: [{}]", "promptfoo passes any answer"),
    "a weight of zero": (
        "tests: [{assert: [{type: is-json, weight: 0}]}]",
        "nothing of it is imported",
    ),
    "no counterpart": ("tests: [{assert: [{type: similar}]}]", "nothing of it is imported"),
}


@pytest.mark.parametrize(("text", "why"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_test_that_checks_nothing_is_left_out(text: str, why: str) -> None:
    found = translation(text)
    left = f"the test `test-1` is left out, as it checks nothing: {why}"
    assert found.data["evalcases"] == []
    assert (SKIPPED_THERE, ("tests", 0), left) in found.problems


INPUTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a plain variable": ("Say {{a}}", "{a: 1}", {"input": "Say {{a}}", "vars": {"a": "1"}}),
    "a key": ("{{ a.b }}!", "{a: {b: hi}}", {"input": "{{ a.b }}!", "vars": {"a": {"b": "hi"}}}),
    "a variable in a variable": (
        "{{a}}",
        "{a: '{{b}}!', b: hi}",
        {"input": "{{a}}", "vars": {"a": "hi!"}},
    ),
    "the variable input": ("{{input}}", "{input: hi}", {"input": "hi"}),
    "a missing variable": ("Say {{a}}!", "{}", {"input": "Say {{a}}!", "vars": {"a": ""}}),
    "an open brace": ("{{ is text", "{}", {"input": "{{ is text", "raw": True}),
}


@pytest.mark.parametrize(("prompt", "variables", "made"), INPUTS.values(), ids=INPUTS)
def test_a_prompt_keeps_its_template_where_ours_makes_the_same_text(
    prompt: str, variables: str, made: dict[str, Any]
) -> None:
    text = json.dumps([prompt])
    [case], said = translated(
        f"prompts: {text}\ntests: [{{vars: {variables}, assert: [{{type: is-json}}]}}]"
    )
    assert (said, {k: v for k, v in case.items() if k not in ("id", "rubrics")}) == ([], made)


def test_braces_in_a_check_are_text() -> None:
    braces = "{type: not-equals, value: {a: '{{q}}'}}"
    [case], _ = translated(f"tests: [{{vars: {{q: hi}}, assert: [{braces}]}}]")
    assert (case["input"], case["raw"], "vars" in case) == ("hi", True, False)
    assert case["rubrics"] == [{"equals": {"a": "{{q}}"}, "exact": True, "not": True}]


CHAT = '[{"role": "developer", "content": "In {{a}}"}, {"role": "user", "content": "{{q}}"}]'


def test_a_program_gets_a_chat_prompt_as_json() -> None:
    files = {"chat.json": CHAT}
    tests = "tests: [{vars: {q: hi, a: Bern}, assert: [{type: is-json}]}]"
    [case], _ = translated(f"providers: [echo]\nprompts: file://chat.json\n{tests}", files)
    messages = [{"role": "developer", "content": "In Bern"}, {"role": "user", "content": "hi"}]
    assert json.loads(case["input"]) == messages
    assert case["input"].startswith("[\n  {\n")
    [case], _ = translated(f"providers: ['openai:a']\nprompts: file://chat.json\n{tests}", files)
    system, user = case["input_messages"]
    assert system == {"role": "system", "content": "In {{a}}"}
    assert (user, case["vars"]) == (json.loads(CHAT)[1], {"a": "Bern", "q": "hi"})


def test_files_of_prompts_defaults_tests_and_variables() -> None:
    files = {
        "a.txt": "One {{q}}\n---\nTwo {{q}}\n",
        "b.md": "Three\n---\n{{q}}",
        "default.yaml": "assert: [{type: is-json}]",
        "more-1.yaml": "- {vars: {q: file://q.yaml}}",
        "more-2.yaml": "- {vars: {q: last}}",
        "q.yaml": "a: [1]",
    }
    cases, said = translated(
        "prompts: [file://a.txt, b.md]\ndefaultTest: file://default.yaml\n"
        "tests: ['file://more-*.yaml']",
        files,
    )
    assert said == []
    assert [(each["input"], each["vars"]["q"]) for each in cases] == [
        *[(text, '{"a":[1]}') for text in ("One {{q}}", "Two {{q}}", "Three\n---\n{{q}}")],
        *[(text, "last") for text in ("One {{q}}", "Two {{q}}", "Three\n---\n{{q}}")],
    ]
    assert all(each["rubrics"] == [{"is_json": True, "exact": True}] for each in cases)


IGNORED = {
    "a key of the file": ("verdicts: 1\n", "`verdicts` is not a key of a configuration"),
    "a key of an assertion": ("", "promptfoo ignores `ignoreCase` of this assertion"),
}


@pytest.mark.parametrize(("more", "message"), IGNORED.values(), ids=IGNORED)
def test_what_promptfoo_ignores_is_said_and_nothing_is_lost(more: str, message: str) -> None:
    text = f"{more}tests: [{{assert: [{{type: contains, value: a, ignoreCase: true}}]}}]"
    found = translation(text)
    assert any(text.startswith(message) for _, _, text in found.problems)
    assert refused(found) == []


@platforms.SHELL
def test_typescript_runs_or_says_which_node_it_needs(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("export default (output: string): boolean => output === 'a';\n")
    shim = tmp_path / SHIMS["javascript"]
    shutil.copyfile(SHIM / shim.name, shim)
    checks = [{"name": "typed", "value": "file://a.ts"}]
    given = {"output": "a", "question": "q", "config": {"checks": checks, "vars": {}}}
    done = captured(["node", shim.name], input=json.dumps(given), cwd=tmp_path)
    native = subprocess.run(
        ["node", "-p", "process.features.typescript ?? ''"], capture_output=True, check=True
    ).stdout.strip()
    if native:
        assert json.loads(done.stdout)["score"] == 1
    else:
        assert done.returncode == 1
        assert "cannot run TypeScript; use node 22.18 or later, or `npm install tsx`" in done.stderr
