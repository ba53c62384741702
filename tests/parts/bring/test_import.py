"""`rubric-ci import`: cases in are cases out, and what is lost is said with its line."""

import json
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring import other_tools
from rubric_ci.parts.bring.dialects import promptfoo
from rubric_ci.parts.bring.translation import Beside
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.parts.bring.dialects.test_table import AGENTV, SKILL
from tests.peers.tools import SUITES
from tests.pictures import png, write
from tests.tables import rows
from tests.workbook import workbook

PROMPTFOO = """\
prompts:
  - "Answer {{question}} in {{tone}}"
  - raw: "{{question}}"
defaultTest:
  vars: {tone: kind}
  assert: [{type: not-icontains, value: sorry}]
tests:
  - description: Refund period!
    vars: {question: How long?, days: 30}
    assert:
      - {type: contains-any, value: "{{days}} days, a month"}
      - {type: word-count, value: {max: 20}}
      - {type: llm-rubric, value: "Is it {{tone}}?", weight: 2}
      - {type: latency, threshold: 900}
  - vars: {question: Hi}
"""


def run(checkout: Checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    return invoke(checkout.root, ENVIRONMENT, "import", *arguments)


def written(checkout: Checkout, path: str = "a.eval.yaml") -> Any:
    return yaml.safe_load((checkout.root / path).read_text())


def report(checkout: Checkout) -> Any:
    return json.loads((checkout.root / ".rubric-ci/report.json").read_text())


def test_a_case_for_each_test_and_prompt(checkout: Checkout) -> None:
    checkout.write({"promptfooconfig.yaml": PROMPTFOO})
    done = run(checkout, "promptfooconfig.yaml")
    assert (done.returncode, done.stdout) == (0, "wrote promptfooconfig.eval.yaml: 4 cases\n")
    cases = written(checkout, "promptfooconfig.eval.yaml")["evalcases"]
    ids = ["refund-period-1", "refund-period-2", "test-2-1", "test-2-2"]
    assert [case["id"] for case in cases] == ids
    expected = """
    id: refund-period-1
    input: Answer {{question}} in {{tone}}
    vars: {question: 'How long?', tone: kind}
    rubrics:
    - {contains: sorry, ignore_case: true, not: true}
    - {contains_any: [30 days, a month]}
    - {max_words: 20}
    - {expected_outcome: "Is it kind?", weight: 2}
    evaluators: [{name: latency, type: latency, threshold: 900}]
    """
    assert cases[0] == yaml.safe_load(expected)
    assert (
        invoke(checkout.root, ENVIRONMENT, "validate", "promptfooconfig.eval.yaml").returncode == 0
    )


@pytest.mark.parametrize(
    ("name", "text", "cases", "lost"),
    [
        ("evals.json", SKILL, 3, []),
        ("evals.json", SKILL.replace('"id": 1,', '"id": 1, "slug": "a",'), 3, []),
        ("shop.eval.yaml", AGENTV, 1, []),
        (
            "a.yaml",
            (
                f"{PROMPTFOO}  - file://more.yaml\n"
                "  - {vars: {question: Hi}, assert: [{type: similar, value: x}]}\n"
            ),
            6,
            [
                "16:5 tests in this file are not imported",
                "17:38 the assertion `similar` has no counterpart",
            ],
        ),
        (
            "a.yaml",
            (
                "prompts: ['{{q}}']\nproviders: [echo]\ndescription: 2024-01-31\ntests:\n"
                "  - {vars: {q: no}, assert: [{type: equals, value: no}]}\n"
                "  - {vars: {q: 2024-01-31}, assert: [{type: is-json}]}\n"
            ),
            2,
            ["6:13 promptfoo does not read a date without quotes as text"],
        ),
    ],
    ids=["skill", "metadata", "agentv", "similar", "words"],
)
def test_cases_in_are_cases_out_and_the_rest_is_reported(
    checkout: Checkout, name: str, text: str, cases: int, lost: list[str]
) -> None:
    checkout.write({f"theirs/{name}": text, "theirs/SKILL.md": "# Refunds\n"})
    done = run(checkout, f"theirs/{name}", "--output-dir", "theirs/ours")
    paths = list((checkout.root / "theirs/ours").glob("*.eval.yaml"))
    found = [case for path in paths for case in yaml.safe_load(path.read_text())["evalcases"]]
    assert len(found) == cases
    assert done.returncode == (1 if lost else 0), done.stdout
    for line in lost:
        place, _, message = line.partition(" ")
        assert f"theirs/{name}:{place}: not-supported: {message}" in done.stdout
    count = done.stdout.count(": not-supported: ")
    assert count >= len(lost)
    if lost:
        parts = "1 part" if count == 1 else f"{count} parts"
        assert done.stdout.endswith(f"{parts} of the files not imported, see above\n")


FOLDERS = """\
environment: {type: host, workdir: repo}
tests:
  - id: a
    input: Hi
    assert:
      - {type: llm-grader, name: style, prompt: file://prompts/style.md}
      - {type: script, name: length, command: [python3, length.py]}
      - {type: script, name: words, command: ./words.sh, cwd: checks}
"""


@pytest.mark.parametrize(
    ("folder", "copied", "prompt", "places"),
    [
        ("theirs", "repo", "prompts/style.md", [None, "checks"]),
        (
            "ours/new",
            "../../theirs/repo",
            "/theirs/prompts/style.md",
            ["../../theirs", "../../theirs/checks"],
        ),
    ],
    ids=["beside", "elsewhere"],
)
def test_folders_of_a_file_that_moves_stay_the_same(
    checkout: Checkout, folder: str, copied: str, prompt: str, places: list[str | None]
) -> None:
    checkout.write(
        {
            "theirs/a.yaml": FOLDERS,
            "theirs/prompts/style.md": "Kind? {{ output }}\n",
            "theirs/repo/README.md": "# Shop\n",
            "theirs/length.py": "",
            "theirs/checks/words.sh": "",
        }
    )
    done = run(checkout, "theirs/a.yaml", "--output-dir", folder)
    assert done.returncode == 0, done.stdout
    suite = written(checkout, f"{folder}/a.eval.yaml")
    assert suite["workspace"] == {"copy": copied}
    style, *scripts = suite["evalcases"][0]["execution"]["evaluators"]
    assert style["prompt"] == prompt
    assert [each.get("cwd") for each in scripts] == places


def test_lines_are_imported_with_the_file_beside_them(checkout: Checkout) -> None:
    line = '{"id": "a", "input": "Hi", "assert": [{"type": "contains", "value": "a"}]}\n'
    beside = "name: shop\nexecution: {assert: [{type: contains, value: b}]}\n"
    checkout.write({"theirs/a.jsonl": line, "theirs/a.yaml": beside})
    done = run(checkout, "theirs/a.jsonl", "--output-dir", "ours")
    assert done.returncode == 0, done.stdout
    suite = written(checkout, "ours/a.eval.yaml")
    assert suite["dataset"] == "shop"
    rubrics = suite["evalcases"][0]["rubrics"]
    assert [each["contains"] for each in rubrics] == ["a", "b"]


CODE = """\
prompts: ["{{question}}"]
providers: [{id: "python:answer.py", label: ours}]
tests:
  - description: all hold
    vars: {question: "30", most: 5}
    assert:
      - {type: contains, value: days}
      - {type: javascript, value: "output.length > context.vars.most"}
      - type: javascript
        value: |
          const days = parseInt(output)
          return {pass: days === 30, score: 1, reason: `${days} days`}
      - {type: javascript, value: "file://checks.js:short", threshold: 0.5}
      - {type: not-javascript, value: "output.includes('never')"}
      - {type: python, value: "len(output) > 3 and context['vars']['most'] == 5"}
      - {type: python, value: "import re\\nreturn bool(re.match(r'\\\\d+', output))"}
      - {type: python, value: "file://checks.py:has_days"}
  - description: one check fails
    vars: {question: "31"}
    assert: [{type: contains, value: days}, {type: javascript, value: "output === 'x'"}]
  - description: one raises
    vars: {question: "31"}
    assert: [{type: python, value: "nobody"}, {type: javascript, value: "true"}]
"""
CODE_FILES = {
    "theirs/promptfooconfig.yaml": CODE,
    "theirs/answer.py": (
        "async def call_api(prompt, options, context):\n    return {'output': f'{prompt} days'}\n"
    ),
    "theirs/checks.js": "module.exports.short = async (output) => (output ? 0.9 : 0);\n",
    "theirs/checks.py": (
        "def has_days(output):\n"
        "    return {'pass': 'days' in output, 'score': 1, 'reason': 'It has days'}\n"
    ),
}


@platforms.SHELL
def test_code_of_promptfoo_runs_through_a_shim(checkout: Checkout) -> None:
    checkout.commit({**CODE_FILES, "rubric-ci.yaml": "evals: [ours/*.eval.yaml]\n"})
    done = run(checkout, "theirs/promptfooconfig.yaml", "--output-dir", "ours")
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [
            "wrote ours/promptfoo_shim.mjs",
            "wrote ours/promptfoo_shim.py",
            "wrote ours/targets.yaml: 1 target",
            "wrote ours/promptfooconfig.eval.yaml: 3 cases",
        ],
    )
    assert written(checkout, "ours/targets.yaml")["targets"] == [
        {
            "name": "ours",
            "provider": "cli",
            "cwd": ".",
            "command_template": "python3 promptfoo_shim.py ../theirs/answer.py file:{PROMPT_FILE}",
        }
    ]
    assert verdicts(checkout) == {
        "all-hold": ("pass", "30 days"),
        "one-check-fails": ("fail", "31 days"),
        "one-raises": ("fail", "31 days"),
    }
    graded = {case["id"]: case["evaluators"] for case in report(checkout)["cases"]}
    assert [len(each.get("hits", ())) for each in graded["all-hold"]] == [0, 4, 3]
    (missed,) = graded["one-raises"][0]["misses"]
    assert missed.startswith("nobody")


WITH_VARIABLES = """\
prompts: ["{{q}}"]
providers: ["file://lookup.EXTENSION"]
tests:
  - vars: {q: How long?, place: Rome, days: 30, of: "{{place}}!"}
    assert: [{type: equals, value: '["How long?","Rome!",30]'}]
  - vars: {q: How long?, place: Bern, days: 14, of: "{{place}}?"}
    assert: [{type: equals, value: '["How long?","Bern?",14]'}]
"""
LOOKUP = {
    "js": (
        "module.exports = class {\n  id() { return 'lookup'; }\n"
        "  async callApi(prompt, { vars }) {\n"
        "    return { output: JSON.stringify([prompt, vars.of, vars.days]) };\n  }\n};\n"
    ),
    "py": (
        "import json\ndef call_api(prompt, options, context):\n    v = context['vars']\n"
        "    said = [prompt, v['of'], v['days']]\n"
        "    return {'output': json.dumps(said, separators=(',', ':'))}\n"
    ),
}


def test_a_file_of_variables_is_not_replaced(checkout: Checkout) -> None:
    config = WITH_VARIABLES.replace("EXTENSION", "py")
    own = {"promptfooconfig.vars.json": "mine", "lookup.py": LOOKUP["py"]}
    checkout.commit({"promptfooconfig.yaml": config, **own})
    done = run(checkout, "promptfooconfig.yaml")
    assert (done.returncode, done.stderr) == (
        2,
        "rubric-ci: promptfooconfig.vars.json exists already\n  remove it, or set --output-dir\n",
    )
    assert (checkout.root / "promptfooconfig.vars.json").read_text() == "mine"
    assert not list(checkout.root.glob("*shim*"))


TABLE = {"notes.csv": "text,gold\nHow long?,30 days\n"}
WORD = "prompts: ['Read **notes**x.md']\nproviders: [echo]\ntests: [{assert: [{type: is-json}]}]"
LEFT_OUT = {
    "a text with stars in a word is no glob": ("promptfooconfig.yaml", WORD, "1:11: not-supported"),
    "a column that occurs twice": (
        "a.csv",
        "question,answer,question,\na,b,c,\n",
        "1:17: case-file: the column `question` occurs twice; correct the file, or its name",
    ),
    "a question is not guessed": (
        "notes.csv",
        TABLE["notes.csv"],
        "1:1: not-supported: no column is known as the question; rename the right one of `text`",
    ),
}


@pytest.mark.parametrize(("name", "text", "reason"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_file_without_any_case(name: str, text: str, reason: str, checkout: Checkout) -> None:
    checkout.commit({name: text})
    done = run(checkout, name)
    assert done.returncode == 1
    assert done.stdout.startswith(f"no case of {name} is imported\n{name}:{reason}")


ANSWERS_IN_JSON = """\
prompts: ["{{q}}"]
providers: ["file://echo.EXTENSION"]
tests:
  - description: whole
    vars: {q: '{"text": "hi"}'}
    assert: [{type: is-json}, {type: equals, value: '{"text": "hi"}'}]
  - description: the key is there
    vars: {q: '{"text": "hi"}'}
    assert: [{type: not-contains, value: '"text"'}]
  - description: messages
    vars: {q: '{"output_messages": "none", "text": "hi"}'}
    assert: [{type: contains, value: output_messages}]
  - description: an object
    vars: {q: object}
    assert: [{type: javascript, value: "output.text === 'hi'"}, {type: contains, value: text}]
  - description: a number
    vars: {q: "30"}
    assert: [{type: equals, value: "30"}]
"""
ECHO = {
    "js": (
        "module.exports = async (prompt) =>\n"
        "  ({ output: prompt === 'object' ? { text: 'hi' } : prompt });\n"
    ),
    "py": (
        "def call_api(prompt, options, context):\n"
        "    return {'output': {'text': 'hi'} if prompt == 'object' else prompt}\n"
    ),
}


def verdicts(checkout: Checkout) -> dict[str, tuple[str, str]]:
    """Return verdict and answer of each case of the eval files in `ours`."""
    done = invoke(checkout.root, ENVIRONMENT, "run", "ours", "--fail-on", "never")
    assert done.returncode == 0, done.stdout + done.stderr
    return {case["id"]: (case["verdict"], case["answer"]) for case in report(checkout)["cases"]}


@platforms.SHELL
@pytest.mark.parametrize("extension", LOOKUP)
def test_programs_of_promptfoo_get_the_variables_of_a_test_and_answer_in_json(
    extension: str, checkout: Checkout
) -> None:
    """An answer that is JSON is graded as it is."""
    checkout.commit(
        {
            "theirs/vars.yaml": WITH_VARIABLES.replace("EXTENSION", extension),
            "theirs/a.yaml": ANSWERS_IN_JSON.replace("EXTENSION", extension),
            f"theirs/lookup.{extension}": LOOKUP[extension],
            f"theirs/echo.{extension}": ECHO[extension],
        }
    )
    done = run(checkout, "theirs/vars.yaml", "--output-dir", "ours")
    assert done.stdout.splitlines()[1] == "wrote ours/vars.vars.json"
    assert {verdict for verdict, _ in verdicts(checkout).values()} == {"pass"}
    shutil.rmtree(checkout.root / "ours")
    assert run(checkout, "theirs/a.yaml", "--output-dir", "ours").returncode == 0
    assert verdicts(checkout) == {
        "whole": ("pass", '{"text": "hi"}'),
        "the-key-is-there": ("fail", '{"text": "hi"}'),
        "messages": ("pass", '{"output_messages": "none", "text": "hi"}'),
        "an-object": ("pass", '{"text":"hi"}'),
        "a-number": ("pass", "30"),
    }


DECIDED = """
promptfooconfig.yaml:
  pass: [all-hold, a-threshold-is-reached, a-threshold-with-scores-of-code,
    code-that-weighs-nothing, a-limit-and-two-scripts, an-inverted-set, a-set-reaches-its-threshold,
    weights-decide-a-set, a-set-counts-as-one-where-a-mean-decides,
    code-with-variables-and-declarations, an-inverted-range-of-words, texts-of-python,
    an-inverted-number]
  fail: [a-text-is-missing, the-default-fails, a-threshold-is-missed, a-threshold-that-code-misses,
    code-that-throws, one-of-two-languages-fails, a-set-misses-its-threshold,
    a-set-that-weighs-little-where-a-mean-decides, a-result-without-a-score]
  errored: [a-file-that-throws]
transforms.yaml:
  pass: [the-order-is-transformed-twice, another-transform-of-a-test, a-transform-in-python,
    a-named-transform-in-python, the-old-name, several-lines, a-mean-of-transformed-answers]
  fail: [a-transform-that-misses]
  errored: [a-transform-that-fails]
"""
VERDICTS: dict[str, dict[str, str]] = {
    file: {case: verdict for verdict, cases in by_verdict.items() for case in cases}
    for file, by_verdict in yaml.safe_load(DECIDED).items()
}
"""What promptfoo says of `tests/peers/imported`, as `tests/peers` checks."""


@platforms.SHELL
@pytest.mark.parametrize("file", VERDICTS)
def test_an_imported_file_decides_as_promptfoo_does(file: str, checkout: Checkout) -> None:
    shutil.copytree(SUITES.parent / "imported", checkout.root / "theirs")
    # In the first file the checks are the subject: no process answers.
    instead = recorded(VERDICTS[file]) if file == "promptfooconfig.yaml" else {}
    assert graded(checkout, file, instead) == VERDICTS[file]


def recorded(cases: Iterable[str]) -> dict[str, str]:
    """Return a target that answers what `tests/peers/imported/answer.js` does."""
    said = dict.fromkeys(cases, "Refunds take 30 days.") | {"the-default-fails": "Sorry, no."}
    lines = ({"id": case, "answer": answer, "duration_ms": 9} for case, answer in said.items())
    return {
        "ours/targets.yaml": "targets: [{name: shop, provider: recorded, answers: a.jsonl}]\n",
        "ours/a.jsonl": "\n".join(json.dumps(line) for line in lines),
    }


def graded(checkout: Checkout, file: str, instead: dict[str, str]) -> dict[str, str]:
    """Return the verdict of each case of a file that is imported, with some files replaced."""
    done = run(checkout, f"theirs/{file}", "--output-dir", "ours")
    assert done.returncode == 0, done.stdout
    checkout.write(instead)
    done = invoke(checkout.root, ENVIRONMENT, "run", "ours", "--fail-on", "never")
    assert done.returncode == 3, done.stdout + done.stderr  # a case has no verdict
    cases = report(checkout)["cases"]
    return {case["id"]: case.get("verdict", "errored") for case in cases}


def imported(checkout: Checkout, name: str, **files: str) -> tuple[dict[str, Any], str]:
    checkout.write({key.replace("__", "."): text for key, text in files.items()})
    done = run(checkout, name, "--output-dir", "ours")
    (path,) = (checkout.root / "ours").glob("*.eval.yaml")
    return yaml.safe_load(path.read_text()), done.stdout


def test_prompts_variables_and_tests_in_files(checkout: Checkout) -> None:
    config = (
        "prompts: [file://a.txt, file://chat.json]\n"
        "providers: ['openai:chat:gpt-6-luna', {id: 'anthropic:messages:opus', label: big}]\n"
        "tests: [tests.csv, {vars: {q: [x, y], shop: {city: Bern}}, assert: [{type: is-json}]}]\n"
    )
    table = '\ufeffq,__expected,__expected2\nHi,"contains:days","not-icontains: sorry"\nYo,Same,\n'
    chat = (
        '[{"role": "system", "content": "In {{shop.city}}"}, {"role": "user", "content": "{{q}}"}]'
    )
    files = {"a__txt": "Say {{q}}\n---\nAsk {{q}}", "chat__json": chat, "tests__csv": table}
    suite, _ = imported(checkout, "p.yaml", p__yaml=config, **files)
    assert suite["targets"] == ["openai:chat:gpt-6-luna", "big"]
    assert len(suite["evalcases"]) == 3 * (1 + 1 + 2)
    first, *_, last = suite["evalcases"]
    expected = """
    - id: test-1-1
      input: Say {{q}}
      vars: {q: Hi}
      rubrics: [{contains: days}, {contains: sorry, ignore_case: true, not: true}]
    - id: test-3-6
      input_messages:
      - {role: system, content: "In {{shop.city}}"}
      - {role: user, content: "{{q}}"}
      vars: {q: y, shop: {city: Bern}}
      rubrics: [{is_json: true, exact: true}]
    """
    assert [first, last] == yaml.safe_load(expected)
    assert suite["evalcases"][3]["rubrics"] == [{"equals": "Same", "exact": True}]
    targets = written(checkout, "ours/targets.yaml")["targets"]
    assert targets == [
        {"name": "openai:chat:gpt-6-luna", "model": "openai/gpt-6-luna"},
        {"name": "big", "model": "anthropic/opus"},
    ]


AS_REFERENCE = "Answers the request as the reference answer does"
CORRECTLY = "Answers the request correctly and completely"
UNGRADED = "the cases have no rubrics yet: `rubric-ci generate rubrics a.eval.yaml` drafts them\n"
NO_COUNTERPART = "remove it, or write the file for rubric-ci (docs/evals.md)"
NO_QUESTION = "the row has no text in input, prompt, question, query, user_input, inputs"
EXPORT = yaml.safe_load("""
{object: eval, name: tickets, testing_criteria: [{type: string_check, operation: ilike, input: '{{
sample.output_text }}', name: same, reference: '{{ item.label }}'}, {type: score_model, name: kind,
input: [], model: gpt-6-luna}], data_source: {type: completions, source: {type: file_content,
content: [{item: {ticket: It burns, label: fire}}]}, input_messages: {type: template, template:
[{role: developer, content: 'Sort: {{ item.ticket }}'}]}}}
""")
MODEL_GRADERS = yaml.safe_load("""
{testing_criteria: [{type: label_model, model: gpt-6-luna, name: decision, input: [{role: developer,
content: 'What does the answer decide?'}, {role: user, content: '{{ sample.output_text }}'}],
labels: [refund, refuse], passing_labels: [refund]}, {type: score_model, name: depth, input: [{role:
user, content: 'How deep? {{ sample.output_text }}'}], range: [1, 5], pass_threshold: 4}], items:
[{item: {input: 'May I return it?'}}]}
""")
HEALTHBENCH = """\
{"prompt": [{"role": "user", "content": "He does not breathe"}], "prompt_id": "p-1", "rubrics": \
[{"criterion": "Tells to call 112", "points": 10, "tags": ["axis:accuracy"]}, {"criterion": \
"Recommends to wait", "points": -9, "tags": []}], "example_tags": ["theme:emergency"], \
"ideal_completions_data": {"ideal_completion": "Call 112 now."}, "canary": "x"}
{"prompt": [{"role": "user", "content": "How much {{ x }}?"}], "rubrics": [{"criterion": "Names \
4 g", "points": 5, "weight": 2}]}
"""
GITHUB = """\
model: openai/gpt-6-luna
messages: [{role: user, content: 'In {{lang}}: {{input}}'}]
testData:
  - {input: Hello, lang: German, expected: Hallo}
evaluators:
  - {name: a, string: {startsWith: '{{expected}}'}}
  - {name: b, uses: github/similarity}
  - {name: c, llm: {modelId: m, prompt: 'Is {{completion}} {{lang}}?', choices: \
[{choice: no, score: 0}, {choice: yes, score: 1}, {choice: fully, score: 1}]}}
  - {name: d, uses: acme/own}
"""
LONG = {
    "EXPORT": json.dumps(EXPORT),
    "MODEL_GRADERS": json.dumps(MODEL_GRADERS),
    "HEALTHBENCH": HEALTHBENCH,
    "GITHUB": GITHUB,
}
"""Files of OTHERS that are too long for a table."""
OTHERS = r"""
# ragas
[{"question": "How long?", "answer": "A week", "ground_truth": "30 days", "plan": "pro"}]
=> a.json
=> {id: row-1, input: 'How long?', expected_output: 30 days, metadata: {answer: A week, plan: pro}}
# deepeval
{"id": 7, "input": "How long?", "expectedOutput": "30 days", "source_file": null}
=> a.jsonl
=> {id: '7', input: 'How long?', expected_output: 30 days, metadata: {source_file: null}}
# langsmith
{"inputs": {"question": "How long?"}, "outputs": {"answer": "30 days"}}
{"inputs": {"question": "How?", "plan": "pro"}, "outputs": {"answer": {"days": 30}}}
=> a.jsonl
=> {id: row-1, input: 'How long?', expected_output: 30 days}
=> {id: row-2, input: '{"question": "How?", "plan": "pro"}', expected_output: '30'}
# openai samples
{"input": [{"role": "system", "content": "Be {{kind}}"}], "ideal": ["4", "four"]}
=> a.jsonl
=> {id: row-1, input_messages: [{role: system, content: 'Be {{kind}}'}], expected_output:
   "4\nor\nfour"}
# in a mapping
{"name": "shop", "examples": [{"Input": "Hi", "Expected output": "Hello", "rubrics":
        ["Greets", "Is kind"], "tags": "smoke, slow", "__expected": "contains:Hello"}]}
=> a.json
=> {id: row-1, input: Hi, expected_output: Hello, tags: [smoke, slow], rubrics: [{expected_outcome:
   Greets}, {expected_outcome: Is kind}, {contains: Hello}]}
# a check and no reference answer
[{"question": "Hi", "__expected": "contains:Hello"}]
=> a.json
=> {id: row-1, input: Hi, rubrics: [{contains: Hello}]}
# under tests
name: shop
tests:
- {id: greeting, question: Hi, answer: Hello, topic: small}
=> a.yaml
=> {id: greeting, input: Hi, expected_output: Hello, metadata: {topic: small}}
# under evalcases
version: 2
evalcases:
- {question: Hi, ground_truth: Hello}
=> a.yaml
=> {id: row-1, input: Hi, expected_output: Hello}
# misspelt
[
 {"question": "Hi", "rubric": ["Greets"], "ideal": "Hello"},
 {"answer": "x"}
]
=> a.json
=> {id: row-1, input: Hi, expected_output: Hello, metadata: {rubric: [Greets]}}
=> ! 2:21 `rubric` has no counterpart, `rubrics` has one
=> ! 3:2 the row has no text in input, prompt, question, query, user_input, inputs
# choices
{"input": "Which?", "choices": ["Bern", "Rome"], "target": "A"}
=> a.jsonl
=> {id: row-1, input: 'Which?', expected_output: A, metadata: {choices: [Bern, Rome]}}
=> ! 1:21 `choices` has no counterpart
# key of the file
{"data": [{"question": "Hi", "expected": "Hello"}], "judge": "m"}
=> a.json
=> {id: row-1, input: Hi, expected_output: Hello}
=> ! 1:53 `judge` has no counterpart
# table
question,answer,rubrics,plan,__expected
How long?,30 days,"Names 30 days
Is kind",pro,contains:30
,x,,,
=> a.csv
=> {id: row-1, input: 'How long?', expected_output: 30 days, metadata: {plan: pro}, rubrics:
   [{expected_outcome: Names 30 days}, {expected_outcome: Is kind}, {contains: '30'}]}
=> ! 4:1 the row has no text in input, prompt, question, query, user_input, inputs
# empty cells of usual names
Question;Criteria;Tags;Plan
Hello;;;
=> a.csv
=> {id: row-1, input: Hello, metadata: {Plan: ''}, expected_outcome: CORRECT}
# one row without rubrics
question,rubrics
Hi,Greets
Bye,
=> a.csv
=> {id: row-1, input: Hi, rubrics: [{expected_outcome: Greets}]}
=> {id: row-2, input: Bye, expected_outcome: CORRECT}
# column of a tracing tool
node_id,input,expected_output
7,Hi,Hello
=> a.csv
=> {id: row-1, input: Hi, expected_output: Hello, metadata: {node_id: '7'}}
# columns without names
input,,
Hi,,
=> b.csv
=> {id: row-1, input: Hi, expected_outcome: CORRECT}
# healthbench
HEALTHBENCH
=> a.jsonl
=> {id: p-1, input_messages: [{role: user, content: He does not breathe}], tags:
   ['theme:emergency'], expected_output: Call 112 now., rubrics: [{expected_outcome: Tells to call
   112, weight: 10, required: false, tags: ['axis:accuracy']}, {expected_outcome: Recommends to
   wait, weight: -9, required: false}]}
=> {id: line-2, input_messages: [{role: user, content: 'How much {{ x }}?'}], rubrics:
   [{expected_outcome: Names 4 g, weight: 5, required: false}]}
=> ! 2:116 `weight` has no counterpart
# openai evals
EXPORT
=> eval.json
=> {id: item-1, input_messages: [{role: system, content: 'Sort: It burns'}], rubrics: [{contains:
   fire, ignore_case: true}]}
=> ! 1:194 the grader `score_model` has no counterpart in this form
# openai evals that nothing grades
{"testing_criteria": [{"type": "text_similarity", "name": "s"}], "data_source": {"type":
        "completions", "source": {"type": "file_content", "content": [{"item": {"question": "Q?"}}]}
        }}
=> a.json
=> {id: item-1, input: 'Q?', expected_outcome: CORRECT}
=> ! 1:23 the grader `text_similarity` has no counterpart in this form
# graders of openai that ask a model
MODEL_GRADERS
=> eval.json
=> {id: item-1, input: 'May I return it?', rubrics: [{id: decision, expected_outcome: 'What does the
   answer decide?', choices: {refund: 1, refuse: 0}, required_choices: [refund]}, {id: depth,
   expected_outcome: 'How deep? the answer', score_ranges: {'0': '1, the lowest score', '10': '5,
   the highest score'}, required_min_score: 8}]}
# github models
GITHUB
=> a.prompt.yml
=> {id: a-1, input: Hello, expected_output: Hallo, vars: {lang: German}, rubrics: [{starts_with:
   Hallo, ignore_case: true}, {expected_outcome: 'Means the same as this reference: Hallo', levels:
   {1: not at all, 2: in small part, 3: in part, 4: for the most part, 5: in full}},
   {expected_outcome: 'Is the answer German?', levels: {0: 'no', 10: 'yes, or fully'}}]}
=> ! 9:5 only evaluators with `string`, `llm` or `uses: github/…` have a counterpart
# github models without evaluators
model: openai/m
messages: [{role: user, content: '{{input}}'}]
testData: [{input: Bob, expected: Hi}]
=> a.prompt.yml
=> {id: a-1, input: Bob, expected_output: Hi}
"""


@pytest.mark.parametrize(("text", "results"), rows(OTHERS))
def test_a_file_of_another_tool(text: str, results: list[str], checkout: Checkout) -> None:
    """Results are the name of the file, its cases, and after `! ` what is not imported."""
    name, *rest = results
    checkout.write({name: LONG.get(text, f"{text}\n")})
    done = run(checkout, name)
    (path,) = checkout.root.glob("*.eval.yaml")
    cases = [yaml.safe_load(each) for each in rest if not each.startswith("! ")]
    ungraded = [case for case in cases if "rubrics" not in case]
    for case in ungraded:
        correct = case.get("expected_outcome") == "CORRECT"
        case["expected_outcome"] = CORRECTLY if correct else AS_REFERENCE
    suite = yaml.safe_load(path.read_text())
    assert suite["evalcases"] == cases
    assert suite.get("raw", False) == ("{{" in str(cases) and name != "a.prompt.yml")
    drafts = UNGRADED.replace("a.eval.yaml", path.name)
    wrote = f"wrote {path.name}: {len(cases)} case{'s' * (len(cases) > 1)}\n"
    assert (f"{wrote}{drafts}" in done.stdout) == (len(ungraded) == len(cases))
    said = [line for line in done.stdout.splitlines() if ": not-supported: " in line]
    lost = [each[2:].replace(" ", ": not-supported: ", 1) for each in rest if each[:2] == "! "]
    assert said == [f"{name}:{line}; {NO_COUNTERPART}" for line in lost]
    assert done.returncode == bool(lost)
    assert invoke(checkout.root, ENVIRONMENT, "validate", path.name).returncode == 0


@pytest.mark.parametrize("data", [[{1: "a", "input": "Hi"}], [{"input": "Hi"}, "Yo"], [], {"a": 1}])
def test_what_is_no_golden_set(data: Any) -> None:
    assert other_tools.list_of(data) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"tests": [{"input": {"query": "Hi"}, "expected": {"output": "Hello"}}]},
        {"tests": [{"input": "Hi", "expected_output": "Hello", "criteria": "Greets"}]},
        {"tests": [{"input": "Hi", "expected_output": "Hello", "assertions": ["Greets"]}]},
        {"tests": [{"question": "Hi", "expected": "Hello", "vars": {"name": "Bob"}}]},
        {"tests": [{"input": "Hi"}]},
        {"tests": [{"input": "Hi", "expected_output": "Hello"}, "file://more.yaml"]},
        {"tests": "file://tests.yaml"},
        {"execution": {"target": "a"}},
        {"defaultTest": {"assert": []}},
    ],
    ids=json.dumps,
)
def test_tests_of_other_tools_are_no_golden_set(changed: dict[str, Any]) -> None:
    plain = {"tests": [{"input": "Hi", "expected_output": "Hello"}]}
    assert other_tools.list_of(plain) == ("tests",)
    assert other_tools.list_of(plain | changed) is None


def test_a_row_with_a_cell_too_many_is_not_cut(checkout: Checkout) -> None:
    suite, said = imported(checkout, "a.csv", a__csv="input,expected\nHi,Hello, you\nYo,Hey\n")
    assert [case["input"] for case in suite["evalcases"]] == ["Yo"]
    assert "a.csv:2:1: case-file: the row has 3 cells, and the header 2" in said


SHEETS = workbook(
    About=[["Cases of the shop"]],
    Cases=[
        ["Question", "Ground truth", "rubric", "n"],
        ["Hi", "Hello", "x", 3],
        ["", True, "", 1.5],
    ],
)


def test_a_sheet_of_a_workbook(checkout: Checkout) -> None:
    pytest.importorskip("python_calamine")
    (checkout.root / "a.xlsx").write_bytes(SHEETS)
    done = run(checkout, "a.xlsx#Cases")
    (case,) = written(checkout)["evalcases"]
    assert case == {
        "id": "row-1",
        "input": "Hi",
        "expected_output": "Hello",
        "metadata": {"rubric": "x", "n": "3"},
        "expected_outcome": AS_REFERENCE,
    }
    assert done.stdout == (
        f"wrote a.eval.yaml: 1 case\n{UNGRADED}"
        "a.xlsx#Cases:2:3: not-supported: `rubric` has no counterpart, `rubrics` has one; "
        f"{NO_COUNTERPART}\na.xlsx#Cases:3:1: not-supported: {NO_QUESTION}; {NO_COUNTERPART}\n"
        "2 parts of the files not imported, see above\n"
    )


@pytest.mark.parametrize(
    ("name", "reason"), [("a.xlsx", "2 sheets"), ("a.xlsx#No", "no sheet `No`")]
)
def test_a_sheet_that_is_not_there(name: str, reason: str, checkout: Checkout) -> None:
    pytest.importorskip("python_calamine")
    (checkout.root / "a.xlsx").write_bytes(SHEETS)
    done = run(checkout, name)
    hint = "  name one of `a.xlsx#About`, `a.xlsx#Cases`\n"
    assert (done.returncode, done.stderr) == (2, f"rubric-ci: a.xlsx has {reason}\n{hint}")


def test_a_workbook_without_its_reader(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    (checkout.root / "a.xlsx").write_bytes(SHEETS)
    done = run(checkout, "a.xlsx")
    assert (done.returncode, done.stderr) == (
        2,
        (
            "rubric-ci: reading a.xlsx needs python-calamine, which is missing\n"
            "  pip install 'rubric-ci[xlsx]'\n"
        ),
    )


SPAN = {"name": "chat", "context": {"trace_id": f"0x{'a' * 32}", "span_id": f"0x{'b' * 16}"}}
AS_JSON = (
    "  export OTLP JSON, one request per line, as the `file` exporter of the OpenTelemetry "
    "Collector writes it, and import that file\n"
)
AS_PRINTED = f"has spans as the SDK of OpenTelemetry prints them\n{AS_JSON}"
REFUSED = {
    "our cases": (
        "a.json",
        '[{"id": "a", "input": "Hi", "rubrics": ["Greets"]}]',
        "is a list of cases, which needs no import\n  name it in an eval file: `evalcases: a.json`",
    ),
    "our file": ("a.jsonl", '{"id": "a", "note": "b"}\n', "is an eval file of rubric-ci already"),
    "lines": ("a.jsonl", '{"foo": 1}\n', "is not a file of Agent Skills, AgentV 2.7 to 5"),
    "mapping": ("b.yaml", "rows: []\n", "is not a file of Agent Skills, AgentV 2.7 to 5"),
    "a span": ("a.jsonl", json.dumps(SPAN), AS_PRINTED),
    "spans": ("a.json", f"{json.dumps(SPAN, indent=4)}\n" * 2, AS_PRINTED),
    "protobuf": ("otlp.pb", "\n\xff", f"is OTLP in Protobuf\n{AS_JSON}"),
}


@pytest.mark.parametrize(("name", "data", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_not_imported(name: str, data: str, reason: str, checkout: Checkout) -> None:
    checkout.write({name: data})
    for form in [(), ("--from", "otlp")][: 1 + ("OpenTelemetry" in reason)]:
        done = run(checkout, name, *form)
        assert done.returncode == 2
        assert done.stderr.startswith(f"rubric-ci: {name} {reason}")


def test_no_file_is_overwritten(checkout: Checkout) -> None:
    checkout.write({"a.yaml": PROMPTFOO, "a.eval.yaml": "mine"})
    assert run(checkout, "a.yaml").stderr.startswith("rubric-ci: a.eval.yaml exists already\n")
    assert Path(checkout.root / "a.eval.yaml").read_text() == "mine"


def test_the_target_of_a_prompt_file_of_github_models(checkout: Checkout) -> None:
    suite, _ = imported(checkout, "greet.prompt.yml", greet__prompt__yml=GITHUB)
    assert suite["target"] == "greet"
    targets = written(checkout, "ours/targets.yaml")["targets"]
    assert targets == [{"name": "greet", "prompt": "../greet.prompt.yml"}]


EXAMPLES = [
    PROMPTFOO,
    CODE,
    (SUITES / "promptfooconfig.yaml").read_text(),
    (Path(__file__).parents[3] / "examples/promptfoo/promptfooconfig.yaml").read_text(),
    "prompts: [a, file://b.py]\ntests: [c.csv, {vars: {d: [1, 2]}}, {vars: file://e.yaml}]\n",
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_each_test_and_prompt_is_a_case_or_reported(text: str) -> None:
    data = Document("", text).data
    found = promptfoo.translate(data, Beside(lambda name: "A {{q}}" if "prompt" in name else None))
    reported = {path[:2] for _, path, _ in found.problems}
    used = {path[:2] for path in found.paths.values()}
    every = {("tests", n) for n in range(len(data["tests"]))}
    every |= {("prompts", n) for n in range(len(data["prompts"]))}
    assert every <= reported | used


VISION = """\
prompts:
  - label: describe
    raw: |
      [{"role": "user", "content": [
        {"type": "text", "text": "Describe {{what}}:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,{{image}}"}}]}]
  - "Look: {{image}}"
providers: ["openai:chat:gpt-6-luna"]
tests:
  - vars: {image: file://shots/cart.png, what: the page}
    assert: [{type: llm-rubric, value: Names the cart}]
"""


@pytest.mark.parametrize(
    ("place", "image"), [("", "shots/cart.png"), ("theirs/", "/theirs/shots/cart.png")]
)
def test_images_of_promptfoo(place: str, image: str, checkout: Checkout) -> None:
    write(checkout.root, {f"{place}shots/cart.png": png(4, 3)})
    checkout.write({f"{place}p.yaml": VISION})
    done = run(checkout, f"{place}p.yaml", "--output-dir", "ours")
    (case,) = written(checkout, "ours/p.eval.yaml")["evalcases"]
    parts = [{"type": "text", "value": "Describe the page:"}, {"type": "image", "value": image}]
    assert case["input_messages"] == [{"role": "user", "content": parts}]
    reason = "`image` is an image in a text; write a part of a message for it"
    assert f"p.yaml:7:5: not-supported: a message of the prompt: {reason}" in done.stdout
    assert invoke(checkout.root, ENVIRONMENT, "validate", "ours").returncode == 0


URL = f"data:image/png;base64,{b64encode(png(4, 3)).decode()}"
IMAGE = f"images/{sha256(png(4, 3)).hexdigest()[:12]}.png"
SEEN = yaml.safe_load("""
{testing_criteria: [{type: string_check, operation: ilike, input: '{{ sample.output_text }}',
reference: red}], data_source: {type: responses, source: {type: file_content, content: [{item:
{shot: DATA_URL}}, {item: {shot: 'https://a.example/b.png'}}]}, input_messages: {type: template,
template: [{role: developer, content: {type: input_text, text: Be brief.}}, {role: user, content:
[{type: input_text, text: 'What colour?'}, {type: input_image, image_url: '{{ item.shot }}'}]}]}}}
""")


def test_images_of_openai_evals(checkout: Checkout) -> None:
    suite, said = imported(
        checkout, "eval.json", eval__json=json.dumps(SEEN).replace("DATA_URL", URL)
    )
    assert (checkout.root / "ours" / IMAGE).read_bytes() == png(4, 3)
    expected = f"""
    - {{role: system, content: [{{type: text, value: Be brief.}}]}}
    - role: user
      content: [{{type: text, value: 'What colour?'}}, {{type: image, value: {IMAGE}}}]
    """
    assert suite["evalcases"][0]["input_messages"] == yaml.safe_load(expected)
    assert f"wrote ours/{IMAGE}" in said
    assert "not-supported: a message of the input: an image at a URL is not fetched" in said
    assert invoke(checkout.root, ENVIRONMENT, "validate", "ours").returncode == 0


def test_images_of_golden_sets(checkout: Checkout) -> None:
    content = [{"type": "text", "text": "Which?"}, {"type": "image_url", "image_url": {"url": URL}}]
    line = {"input": [{"role": "user", "content": content}], "ideal": "red"}
    suite, _ = imported(checkout, "samples.jsonl", samples__jsonl=json.dumps(line))
    assert suite["evalcases"][0]["input_messages"][0]["content"] == [
        {"type": "text", "value": "Which?"},
        {"type": "image", "value": IMAGE},
    ]


def test_a_long_text_with_a_dash_stays_one_text(checkout: Checkout) -> None:
    words = "word " * 18 + "- " + "more - words " * 9 + "end"
    assertion = f"{{type: contains, value: '{words}'}}"
    text = f"prompts: [Hi]\nproviders: [echo]\ntests: [{{assert: [{assertion}]}}]\n"
    suite, said = imported(checkout, "a.yaml", a__yaml=text)
    assert "not imported" not in said
    assert suite["evalcases"][0]["rubrics"] == [{"contains": words}]


def test_a_rubric_becomes_a_rubric_file(checkout: Checkout) -> None:
    checkout.write({"safe.json": '{"criteria": [{"requirement": "Names the limit"}], "x": 1}'})
    done = run(checkout, "safe.json")
    assert done.returncode == 1
    assert done.stdout == (
        "wrote safe.rubric.yaml: 1 criterion; `- include: safe.rubric.yaml`\n"
        "safe.json:1:52: not-supported: `x` has no counterpart; remove it, or write the file for "
        "rubric-ci (docs/evals.md)\n"
        "1 part of the files not imported, see above\n"
    )
    (criterion,) = written(checkout, "safe.rubric.yaml")["criteria"]
    assert (criterion["weight"], criterion["required"]) == (10, False)
    again = run(checkout, "safe.json")
    assert "safe.rubric.yaml exists already" in again.stderr
