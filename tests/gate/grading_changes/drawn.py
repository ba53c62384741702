# ruff: noqa: E501 - a line of an eval file is a line here

"""Two projects, and changes drawn by hand over all kinds of files of them.

A line of `drawn_changes.jsonl` and `drawn_tool_changes.jsonl` has the keys of a schema that the
change is about, the file, a text of it, its replacement, and what must be told: each change as
`direction kind`. Nothing is told of what is under test, and of what moves no verdict.
"""

import json
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).parent


class Drawn(NamedTuple):
    """A change of one file."""

    keys: str  # of a schema, by its definition: "case.id"; several, separated by spaces
    file: str
    before: str
    after: str
    told: list[str]


def drawn(name: str) -> list[Drawn]:
    """Return the changes of a file."""
    lines = (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [Drawn(*json.loads(line)) for line in lines]


CONFIG: Final = """\
$schema: one
evals: [evals/*.eval.yaml]
judge:
  provider: openai
  model: a
  api_key: "${{ OPENAI_API_KEY }}"
  api_base: https://one.example
  temperature: 0
  max_tokens: 900
  timeout_seconds: 60
  mode: batched
  output: json_object
  evidence: strict
  votes: 3
  canary: true
targets:
  - name: default
    model: openai/b
    temperature: 0
    concurrency: 4
    timeout_seconds: 60
    prompt: prompts/answer.md
    api_base: https://two.example
    api_key: "${{ OPENAI_API_KEY }}"
    cache: true
    judge_target: second
  - {name: second, model: openai/c}
  - {name: old, provider: cli, command_template: python old.py, depends_on: [old.py]}
  - name: worker
    provider: cli
    command_template: python agent.py {PROMPT}
    cwd: app
    env: [DEMO]
    trace: none
    files_format: "{path}"
    healthcheck: {type: command, command_template: "true"}
    timeout_seconds: 60
    cost_per_run: 0.1
    depends_on: [app/agent.py, prompts/**]
    workspace: {copy: app, setup: python prepare.py, keep: [diff], sandbox: [env]}
  - name: coder
    provider: claude-code
    model: opus
    tools: [Bash]
    project_files: false
    env: [DEMO]
    workspace: {copy: app}
  - name: service
    provider: http
    url: http://127.0.0.1:1/
    method: POST
    headers: {X-One: "1"}
    body: {q: '{{ input }}'}
    answer: /text
  - {name: kept, provider: recorded, answers: answers.jsonl}
  - {name: fixed, provider: mock, response: Hello}
  - name: tool
    provider: runner
    command_template: tool {RESULTS}
    reads: csv
    only: "{CASE_IDS}"
    graders: [tone, facts]
    cwd: app
    env: [DEMO]
    timeout_seconds: 60
    depends_on: [app/**]
  - {name: skilled, model: openai/d, skill: skills/tone}
gate:
  fail_on: fail
  thresholds: {pass: 0.8, borderline: 0.6}
  min_pass_rate: 0.9
  min_kappa: 0.6
  groups: {smoke: {min_pass_rate: 0.9}}
  max_waivers: 2
  on_weaker_grading: fail
  on_changed_grading: review
  better_than: old
  tags: [smoke, must]
  not_tags: [flaky]
  targets: [default]
  require_rubrics: true
  require_verdict: true
regression:
  variants: true
  repeated: broken
  cluster: file
env: {allow: [DEMO]}
untrusted: {max_cost_usd: 1, max_cases: 50, max_characters: 2000}
rules: {gate-kind: error}
"""
CASES: Final = """\
$schema: one
description: Questions of a shop
dataset: shop
vars: {days: 30, unit: days}
raw: false
messages: [{role: system, content: Be kind}]
depends_on: [docs/**]
trials: {count: 3, pass: 2}
metadata: {team: a}
rubrics: [Is polite]
evalcases:
  - id: refund
    description: A refund
    note: first
    conversation_id: one
    tags: [smoke, safety]
    metadata: {row: 1}
    input: May I return it after {{ days }} {{ unit }}?
    expected_outcome: Names the period
    expected_output: Of course
    depends_on: [src/**]
    trials: {count: 5, pass: 4}
    rubrics:
      - {id: period, expected_outcome: Names the period, weight: 2, tags: [safety]}
      - {id: polite, description: Is polite, required: false}
      - id: depth
        expected_outcome: Goes deep
        required_min_score: 4
        score_ranges:
          - {score_range: [0, 3], expected_outcome: Bad}
          - {score_range: [4, 10], description: Good}
      - {id: clear, expected_outcome: Is clear, score_ranges: {0: Dark, 5: Light}}
      - id: mood
        required_min_level: 3
        levels:
          - {level: 1, name: cold, criteria: Cold}
          - {level: 3, expected_outcome: Warm}
          - {level: 5, description: Hot}
      - {id: tone, levels: {1: {name: low, criteria: Low}, 2: {expected_outcome: Mid}, 3: {description: High}}}
      - {id: has, contains: days, ignore_case: true}
      - {id: any, contains_any: [yes it, sure]}
      - {id: all, contains_all: [one, two]}
      - {id: same, equals: {a: 1}, field: body}
      - {id: plain, equals: Yes sir, exact: true}
      - {id: starts, starts_with: Dear, not: false}
      - {id: ends, ends_with: Bye}
      - {id: form, matches: "[0-9]+"}
      - {id: json, is_json: true}
      - {id: inner, contains_json: true}
      - {id: shape, json_schema: shape.json}
      - {id: long, max_words: 100}
      - {id: short, min_words: 5}
  - id: chat
    input_messages:
      - {role: user, content: Hello, name: ann}
      - {role: assistant, content: Hi}
      - {role: user, content: [{type: text, value: Read this}, {type: file, value: note.md}]}
    expected_messages: [{role: assistant, content: Done, tool_calls: [{tool: look}]}]
    raw: false
    vars: {city: Rome}
    outcome: Goes to {{ city }}
    notes: second
    rubrics: [Is right]
  - id: talk
    turns:
      - {input: Hello, expected_outcome: Greets, rubrics: [Says hello]}
    simulated_user: {persona: A customer, goal: Get a refund, end: It is paid, max_turns: 4, model: openai/u}
    rubrics: [Is kind, include: ../rubrics/house.rubric.yaml]
"""
WORKING: Final = """\
target: worker
workspace: {copy: ../app, setup: python prepare.py, keep: [diff]}
evalcases:
  - id: fix
    input: Fix it
    rubrics:
      sees: [answer, tool_calls, file_changes]
      criteria:
        - {id: right, expected_outcome: Is right}
        - {id: tests, command: python test_app.py}
        - {id: ran, called: Bash}
        - {id: safe, never_called: [Write, Edit]}
        - {id: skilled, skill_used: tone}
        - {id: with, called_with: {name: Bash, arguments: {type: object}}}
        - {id: order, calls_in_order: [Read, Bash]}
        - {id: exact, calls_exactly: [Read, Bash]}
        - {id: only, no_other_calls: [Read, Bash]}
        - {id: few, max_calls: 5}
        - {id: there, exists: out.txt}
        - {id: says, file_contains: {path: out.txt, text: ok}}
        - {id: kept, unchanged: test_app.py}
  - id: look
    input: Look
    workspace: {copy: ../app}
    target: coder
    rubrics: [Is right]
  - {id: ask, input: Ask, target: service, rubrics: [Is right]}
  - {id: past, input: Past, target: kept, rubrics: [Is right]}
  - {id: same, input: Same, target: fixed, rubrics: [Is right]}
  - {id: learn, input: Learn, target: skilled, rubrics: [Is right]}
"""
GRADERS: Final = """\
execution:
  target: fixed
  evaluators:
    - {name: kind, type: llm_judge, weight: 2, prompt: taste.md, model: openai/j}
    - {name: seen, type: rubric, weight: 2, sees: [answer], rubrics: [{id: one, expected_outcome: Is one}, {id: two, expected_outcome: Is two}]}
    - name: asked
      type: llm_judge
      prompt: {script: python ask.py, cwd: ., timeout_seconds: 9, env: [DEMO], config: {a: 1}}
    - {name: code, type: code_judge, script: python check.py, cwd: ., timeout_seconds: 9, env: [DEMO], config: {a: 1}, score_from: output}
    - {name: rated, type: llm_judge, rubrics: [Is rated]}
    - name: whole
      type: composite
      weight: 2
      required_min_score: 0.5
      aggregator: {type: weighted_average, weights: {in: 2}}
      evaluators:
        - {name: in, type: code_judge, script: python check.py}
        - {name: of, type: rubric, rubrics: [Is on]}
    - {name: fields, type: field_accuracy, aggregation: weighted_average, fields: [{path: a, match: exact}]}
    - {name: path, type: tool_trajectory, mode: any_order, minimums: {look: 2}}
    - {name: steps, type: tool_trajectory, mode: exact, expected: [{tool: look}]}
    - {name: time, type: latency, threshold: 100}
    - {name: money, type: cost, budget: 0.1}
    - {name: tokens, type: token_usage, max_total: 100, max_input: 60, max_output: 40}
    - {name: words, type: token_usage, maxTotal: 100, maxInput: 60, maxOutput: 40}
evalcases:
  - id: graded
    input: Grade it
    expected_output: '{"a": 1}'
"""
TABLES: Final = """\
target: fixed
evalcases: [rows.csv, more.jsonl]
rubrics: ["Names {{ city }}"]
"""
FILES: Final = {
    "rubric-ci.yaml": CONFIG,
    "evals/a.eval.yaml": CASES,
    "evals/b.eval.yaml": WORKING,
    "evals/c.eval.yaml": GRADERS,
    "evals/t.eval.yaml": TABLES,
    "evals/rows.csv": "id,input,expected_outcome,city,tags\nrow,Where?,Names it,Rome,smoke\n",
    "evals/more.jsonl": '{"id": "line", "input": "Which?", "vars": {"city": "Oslo"}}\n',
    "evals/shape.json": '{"type": "object"}\n',
    "evals/note.md": "A note\n",
    "evals/taste.md": "Taste {{ candidate_answer }}\n",
    "evals/ask.py": "from parts import TEXT\n",
    "evals/parts.py": "TEXT = 'Is it?'\n",
    "evals/check.py": "import limits\n",
    "evals/limits.py": "LEAST = 5\n",
    "prompts/answer.md": "Answer {{ input }}\n",
    "rubrics/house.rubric.yaml": "criteria: [Keeps the house rules]\n",
    "rubrics/manners.rubric.yaml": "criteria: [Says please]\n",
    "app/agent.py": "print(1)\n",
    "app/test_app.py": "assert True\n",
    "app/prepare.py": "print(1)\n",
    "app/data.json": "{}\n",
    "old.py": "print(1)\n",
    "answers.jsonl": '{"id": "past", "answer": "Then"}\n',
    "skills/tone/SKILL.md": "---\nname: tone\ndescription: Be kind\n---\nBe kind\n",
    "labels.jsonl": "{}\n",
    "calibration.json": "{}\n",
    "src/main.py": "x = 1\n",
    "docs/a.md": "a\n",
    "waivers.yaml": """\
waivers:
  - {case: refund, criterion: period, reason: known, owner: ana, until: "2026-06-30", fingerprint: 0123456789ab}
""",
}

TOOLS: Final = {
    "rubric-ci.yaml": "evals: [evals/*.yaml, tone/evals/evals.json]\njudge: {model: openai/a}\n",
    "targets.yaml": "targets: [{name: root, provider: cli, command_template: 'python a.py {PROMPT}'}]\n",
    ".agentv/targets.yaml": "targets: [{name: old, provider: mock, response: Hello}]\n",
    ".agentv/config.yaml": "guideline_patterns: ['**/*.guide.md']\n",
    ".agentv/providers.yaml": (
        "providers: [{id: cli, label: support, command: 'python3 agent.py {PROMPT_FILE} {OUTPUT_FILE}'}]\n"
    ),
    "evals/five.yaml": """\
name: support
providers: [support]
prompts: ["{{ input }}"]
default_test: {vars: {shop: Bike House}}
assert: [{type: contains, value: sorry, negate: true}]
tests:
  - file://cases.jsonl
  - id: hours
    vars: {input: "When is {{ shop }} open?"}
    assert:
      - {type: icontains-all, value: ["{{ shop }}", "9"]}
      - {type: script, metric: short, command: [python3, check.py], most_words: 12}
      - {type: llm-rubric, value: Is kind, weight: 2}
""",
    "evals/cases.jsonl": (
        '{"id": "order", "vars": {"input": "Where?"}, "assert": [{"type": "contains", "value": "4711"}]}\n'
    ),
    "evals/check.py": "print(1)\n",
    "agent.py": "print(1)\n",
    "a.py": "print(1)\n",
    "evals/two.yaml": """\
evalcases:
  - id: two
    target: old
    input: [{role: user, content: [{type: file, value: tone.guide.md}, {type: text, value: Hi}]}]
    rubrics: [Is kind]
  - {id: three, target: root, input: Hi, rubrics: [Is short]}
""",
    "evals/tone.guide.md": "Be kind\n",
    "tone/SKILL.md": "---\nname: tone\ndescription: Be kind\n---\nBe kind\n",
    "tone/evals/evals.json": """\
{"skill_name": "tone", "evals": [
 {"id": 1, "prompt": "Say no", "expected_output": "Says no", "expectations": ["Is kind", "Says no"]},
 {"id": 2, "prompt": "Say yes", "expected_output": "Says yes", "expectations": ["Is glad"]}
]}
""",
}
"""A project with files of other tools, which are read in place."""
