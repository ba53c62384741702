"""A suite in the layout and the spellings of AgentV 2.5, run unchanged, without a judge."""

import json
import os
import sys
from pathlib import Path

from tests import platforms
from tests.sample_project import Project

pytestmark = platforms.SHELL

TARGETS = """\
$schema: agentv-targets-v2.2
targets:
  - name: reader
    provider: cli
    command_template: ./reader.py {FILES} --output {OUTPUT_FILE} --home ${{ READER_HOME }}
    files_format: --file {path}
    cwd: ..
    timeoutSeconds: 30
    workers: 2
    healthcheck: {type: command, commandTemplate: test -f reader.py, cwd: ..}
"""

READER = f"""\
#!{sys.executable}
import json, sys
asked = dict(zip(sys.argv[1::2], sys.argv[2::2]))
answer = {{
    "output_messages": [
        {{"role": "assistant", "tool_calls": [{{"tool": "open", "input": {{"page": 1}}}}]}},
        {{"role": "assistant", "tool_calls": [{{"tool": "sum_up"}}]}},
        {{"role": "assistant", "content": {{
            "total": 1889.5, "date": "2025-01-15",
            "words": open(asked["--file"]).read().split(), "home": asked["--home"],
        }}}},
    ],
    "token_usage": {{"input": 90, "output": 10}}, "cost_usd": 0.02, "duration_ms": 700,
}}
open(asked["--output"], "w").write(json.dumps(answer))
"""

EVALS = """\
$schema: agentv-eval-v2
execution:
  target: reader
evalcases:
  - id: invoice
    description: Every evaluator that asks no judge
    outcome: The totals are read
    input_messages:
      - role: user
        content:
          - {type: file, value: ../pages/it's one.txt}
          - {type: text, value: Read it}
    expected_messages:
      - {name: Reader, role: assistant, tool_calls: [{tool: open, input: {page: 1}}]}
      - role: assistant
        content: {total: 1889, date: 15-JAN-2025, words: [two, words]}
    evaluators:
      - name: fields
        type: field_accuracy
        fields:
          - {path: total, match: numeric_tolerance, tolerance: 1.0, required: true}
          - {path: date, match: date, formats: [DD-MMM-YYYY, YYYY-MM-DD]}
          - {path: "words[1]", match: exact}
      - name: order
        type: tool_trajectory
        mode: in_order
        expected: [{tool: open, args: {page: 1}}, {tool: sum_up, args: any}]
      - {name: counts, type: tool_trajectory, mode: any_order, minimums: {open: 1, gone: 1}}
      - {name: time, type: latency, threshold: 1000}
      - {name: price, type: cost, budget: 0.10}
      - {name: tokens, type: token_usage, maxTotal: 99}
      - {name: own, type: code_judge, script: grep -q /somewhere, score_from: exit_status, limit: 3}
      - name: gate
        type: composite
        evaluators:
          - {name: price, type: cost, budget: 0.01}
          - name: inner
            type: composite
            evaluators: [{name: time, type: latency, threshold: 1000}]
            aggregator: {type: weighted_average, weights: {time: 2}}
        aggregator: {type: weighted_average, weights: {price: 1, inner: 3}}
"""


def test_every_documented_feature_works(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("reading/.agentv/targets.yaml", TARGETS)
    project.write("reading/evals/dataset.yaml", EVALS)
    project.write("reading/pages/it's one.txt", "two words\n")
    project.write("reading/reader.py", READER)
    (tmp_path / "reading/reader.py").chmod(0o755)
    project.write("rubric-ci.yaml", "env: {allow: [READER_HOME]}\n")
    done = project.run("reading", READER_HOME="/somewhere")
    [case] = project.report()["cases"]
    assert {each["name"]: each["score"] for each in case["evaluators"]} == {
        "fields": 1,
        "order": 1,
        "counts": 0.5,
        "time": 1,
        "price": 1,
        "tokens": 0,
        "own": 1,
        "gate": 0.75,
    }
    assert done.stderr.startswith("[1/1] borderline 0.78  invoice")


GUIDED = """\
evalcases:
  - id: guided
    expected_outcome: Keeps to the guidelines
    input_messages:
      - role: user
        content:
          - {type: text, value: Review it}
          - {type: file, value: ../docs/python.instructions.md}
          - {type: file, value: ../docs/code.py}
    execution:
      target: agent
      evaluators:
        - {name: seen, type: code_judge, script: "cat > seen.json; echo '{\\"score\\": 1}'"}
"""


def test_files_that_match_guideline_patterns_are_guidelines(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(".agentv/config.yaml", "guideline_patterns: ['**/*.instructions.md']\n")
    command = "echo {PROMPT} / {GUIDELINES}"
    target = f"targets: [{{name: agent, provider: cli, command_template: '{command}'}}]\n"
    project.write(".agentv/targets.yaml", target)
    project.write("evals/a.eval.yaml", GUIDED)
    project.write("docs/python.instructions.md", "Name things")
    project.write("docs/code.py", "x = 1")
    done = project.run()
    assert done.returncode == 0, done.stderr
    [case] = project.report()["cases"]
    assert case["answer"] == "Review it\n\nx = 1 / Name things"
    seen = json.loads((tmp_path / "evals/seen.json").read_text())
    assert seen["guideline_files"] == [str(tmp_path / "docs/python.instructions.md")]
    assert seen["input_files"] == [str(tmp_path / "docs/code.py")]


def test_patterns_that_are_not_a_list_are_an_error_of_the_eval_file(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(".agentv/config.yaml", "guideline_patterns: '**/*.md'\n")
    project.write("evals/a.eval.yaml", GUIDED.replace("target: agent", "target: default"))
    project.write("docs/python.instructions.md", "Name things")
    project.write("docs/code.py", "x = 1")
    done = project.run()
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == (
        "evals/a.eval.yaml:1:1: guideline-patterns: `guideline_patterns` of "
        ".agentv/config.yaml is not a list of texts; write a list of globs that count from the "
        "repository root: ['**/*.instructions.md']"
    )


FIVE = """\
providers: [agent]
tests:
  - id: a
    input: Say it's 42
    assert: [{type: equals, value: "it's 42 by {{ env }} in x"}, {type: contains, value: "42"}]
"""
PROVIDERS = """\
providers:
  - id: cli
    label: agent
    runtime: host
    config:
      command: >-
        echo "$(sed s/Say.// {PROMPT_FILE}) by {{ env.OLLAMA_NAME }}
        in $(basename $PWD)" > {OUTPUT_FILE}
      cwd: ../x
    healthcheck: {command: "test -d ../evals"}
"""


def test_a_command_of_a_providers_file_answers(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("shop/.agentv/providers.yaml", PROVIDERS)
    project.write("shop/x/README.md", "")
    project.write("shop/evals/suite.yaml", FIVE.replace("{{ env }}", "ours"))
    done = project.run("shop", OLLAMA_NAME="ours")
    [case] = project.report()["cases"]
    assert (case["answer"].strip(), case["verdict"]) == ("it's 42 by ours in x", "pass"), (
        done.stderr
    )


WORDS = """\
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { output, config } = JSON.parse(Buffer.concat(chunks).toString());
const words = output.split(" ").length;
console.log(JSON.stringify({ pass: words > 3, score: words / 4, config, checks: [] }));
"""


def test_a_script_in_the_folder_of_assertions_marks(tmp_path: Path) -> None:
    """The program `bun` is a stand-in here that lets node run the file."""
    project = Project(tmp_path)
    project.write(".agentv/assertions/words.mjs", WORDS)
    project.write("shop/.agentv/providers.yaml", "[{id: mock, label: fixed, response: a b c}]")
    project.write(
        "shop/evals/suite.yaml",
        "providers: [fixed]\ntests: [{id: a, input: Hi, assert: [{type: words}]}]\n",
    )
    project.write("bin/bun", '#!/bin/sh\n[ "$1" = run ] && exec node "$2"\n')
    (tmp_path / "bin/bun").chmod(0o755)
    done = project.run("shop", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    [case] = project.report()["cases"]
    [words] = case["evaluators"]
    assert (words["name"], words["score"]) == ("words", 0.75), done.stderr


LINES = """\
{"id": "a", "input": "Hi", "assert": [{"type": "equals", "value": "x"}, {"type": "is-json"}]}
{"id": "b", "input": "Hi", "criteria": "Polite", "assert": [{"type": "contains", "value": "Hi"}]}
"""


def test_lines_score_as_in_agentv(tmp_path: Path) -> None:
    """The scores are those of agentv 4.42.4."""
    project = Project(tmp_path)
    project.write(".agentv/providers.yaml", "[{id: mock, label: default, response: hello Hi}]")
    project.write("rubric-ci.yaml", "{}\n")
    project.write("shop/lines.jsonl", LINES)
    project.write("shop/lines.yaml", "execution: {assert: [{type: icontains, value: HELLO}]}\n")
    done = project.run("shop")
    scores = {case["id"]: case["score"] for case in project.report()["cases"]}
    assert scores == {"a": 0.333333, "b": 1}, done.stderr
