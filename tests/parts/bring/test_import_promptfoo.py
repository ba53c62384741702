"""promptfoo's files imported and run: the verdicts of promptfoo, or a report at the import."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.tables import rows

pytestmark = platforms.SHELL

CONFIG = """\
prompts: ["{{{{q}}}}"]
providers: [{provider}]
tests: [{{description: a, vars: {{q: {question}}}{options}, assert: [{assertion}]}}]
"""
AGENT = """\
export default class A { id() { return "agent"; }
  async callApi(prompt) {
    return { output: prompt, cost: 2 }; } }
"""
NEVER = """\
export default (output, context) =>
  !(context.providerResponse?.metadata?.toolCalls ?? []).some((c) => c.name === "delete_all");
"""
FILES = {
    "agent.mjs": AGENT,
    "never.mjs": NEVER,
    "check.js": "module.exports = (output) => output.includes('a');\n",
    "package.json": '{"type": "module"}',
    "long.txt": "x" * 140_000 + " end\n",
}


def written(
    checkout: Checkout,
    assertion: str,
    *,
    provider: str = "file://agent.mjs",
    question: str = "abc",
    options: str = "",
) -> None:
    text = CONFIG.format(provider=provider, question=question, assertion=assertion, options=options)
    checkout.commit({**FILES, "promptfooconfig.yaml": text})


def imported(checkout: Checkout) -> str:
    done = invoke(checkout.root, ENVIRONMENT, "import", "promptfooconfig.yaml")
    assert done.returncode in {0, 1}, done.stderr
    shown = [each for each in done.stdout.splitlines() if not each.startswith("wrote ")]
    return "\n".join((*shown, *done.stderr.splitlines()))


def verdict(checkout: Checkout) -> str:
    targets = Path(checkout.root / "targets.yaml").read_text("utf-8")
    (checkout.root / "rubric-ci.yaml").write_text(f"evals: ['*.eval.yaml']\n{targets}")
    invoke(checkout.root, ENVIRONMENT, "run", "--fail-on", "never")
    (case,) = json.loads((checkout.root / ".rubric-ci/report.json").read_text())["cases"]
    return str(case.get("verdict") or case["reason"])


VERDICTS = r"""
# a block of one line as transform
{type: equals, value: abc}
=> {question: '''{"text":"abc"}''', options: ', options: {transform: "try { return
   JSON.parse(output).text; } catch { return output; }\n"}'}
=> pass
# CommonJS in a package of modules
{type: javascript, value: 'file://check.js'}
=> {}
=> pass
# CommonJS that fails
{type: javascript, value: 'file://check.js'}
=> {question: zzz}
=> fail
# a long prompt
{type: contains, value: end}
=> {question: '''file://long.txt'''}
=> pass
# a long prompt of echo
{type: contains, value: end}
=> {question: '''file://long.txt''', provider: echo}
=> pass
# await in one line
{type: javascript, value: 'await Promise.resolve(true)'}
=> {}
=> fail
# a block of Python without return
{type: python, value: "len(output) > 0\n"}
=> {}
=> fail
# the variables of a test
{type: javascript, value: "context.test.vars.q === 'abc'"}
=> {}
=> pass
"""


@pytest.mark.parametrize(("assertion", "results"), rows(VERDICTS))
def test_the_verdict_of_promptfoo(checkout: Checkout, assertion: str, results: list[str]) -> None:
    more, expected = results
    written(checkout, assertion, **yaml.safe_load(more))
    assert imported(checkout) == ""
    assert verdict(checkout) == expected


NOT_FILLED = """
# the reply
{type: javascript, value: 'file://never.mjs'}
=> {}
=> `context.providerResponse.metadata` of promptfoo is not there when the check runs here
# provider
{type: javascript, value: 'context.provider.id() === 1'}
=> {}
=> `context.provider.id` of promptfoo is not there
# test
{type: javascript, value: "context['test'].description === 'a'"}
=> {}
=> `context.test` of promptfoo is not there
# taken apart
{type: javascript, value: "((output, { vars, logProbs }) => true)(output, context)"}
=> {}
=> `context.logProbs` of promptfoo is not there
# python
{type: python, value: "context.get('trace') is None"}
=> {}
=> `context.trace` of promptfoo is not there
# transform
{type: equals, value: abc, transform: 'context.metadata.x'}
=> {}
=> `context.metadata.x` of promptfoo is not there
"""


@pytest.mark.parametrize(("assertion", "results"), rows(NOT_FILLED))
def test_a_part_of_the_context_that_is_not_filled_is_reported(
    checkout: Checkout, assertion: str, results: list[str]
) -> None:
    more, said = results
    written(checkout, assertion, **yaml.safe_load(more))
    found = imported(checkout)
    assert "not-supported" in found
    assert said in found


CONVERSATION = """\
prompts: [PROMPT]
providers: [echo]
tests:
  - {vars: {question: first}, assert: [{type: contains, value: first}]}
  - {vars: {question: second}, assert: [{type: not-contains, value: first}]}
"""
LOOP = "{% for c in _conversation %}U: {{c.input}} {% endfor %}U: {{question}}"


@pytest.mark.parametrize("prompt", [f"'{LOOP}'", "file://chat.json"])
def test_a_prompt_with_a_conversation_is_not_one_turn(checkout: Checkout, prompt: str) -> None:
    chat = json.dumps([{"role": "user", "content": LOOP}])
    files = {"promptfooconfig.yaml": CONVERSATION.replace("PROMPT", prompt), "chat.json": chat}
    checkout.commit(files)
    assert "not-supported: `_conversation` has the answers to the tests before" in imported(
        checkout
    )
    assert not list(checkout.root.glob("*.eval.yaml"))


@pytest.mark.parametrize(
    "limit", [{"multipleOf": 0.1}, {"maximum": 2**53}, {"properties": {"a": {"minimum": -(2**60)}}}]
)
def test_a_limit_that_javascript_rounds(checkout: Checkout, limit: dict[str, Any]) -> None:
    check = {"type": "is-json", "value": {"type": "number", **limit}}
    suite = {
        "prompts": ["{{q}}"],
        "providers": ["echo"],
        "tests": [{"vars": {"q": "1"}, "assert": [check]}],
    }
    checkout.commit({"promptfooconfig.yaml": json.dumps(suite)})
    assert "is compared in binary there, and exactly here" in imported(checkout)


def test_a_golden_set_says_which_checks_are_not_imported(checkout: Checkout) -> None:
    row = {"id": "a", "question": "q?", "must_contain": ["30"], "forbidden": ["no"]}
    checkout.write({"golden.json": json.dumps([row])})
    done = invoke(checkout.root, ENVIRONMENT, "import", "golden.json", "--output-dir", "evals")
    assert done.returncode == 1
    for said in (
        "`must_contain` is not imported as a check; write `rubrics: [{contains_all: […]}]`",
        "`forbidden` is not imported as a check; write `rubrics: [{contains_any: […], not: true}]`",
    ):
        assert said in done.stdout
