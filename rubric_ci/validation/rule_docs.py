"""What each rule means, for `rubric-ci validate --explain`, docs/rules.md and code scanning."""

from collections.abc import Mapping
from typing import NamedTuple

from rubric_ci.validation.rule_ids import RULES, SWITCHABLE


class Page(NamedTuple):
    """One rule: why it is there, and a small file with and without the problem."""

    meaning: str
    bad: str
    good: str


def meanings() -> Mapping[str, str]:
    """Return the first sentence of every rule's page."""
    return {rule: PAGES[rule].meaning.split(". ")[0].removesuffix(".") + "." for rule in RULES}


_CASE = "evalcases:\n  - id: greeting\n    input: Say hello\n"


def _with_rubrics(criteria: str) -> str:
    lines = "".join(f"      {line}\n" for line in criteria.splitlines())
    return f"{_CASE}    rubrics:\n{lines}"


def _with_evaluator(evaluator: str) -> str:
    lines = [f"        {line}\n" for line in evaluator.splitlines()]
    return f"{_CASE}    execution:\n      evaluators:\n{''.join(lines)}"


def _criteria(meaning: str, bad: str, good: str) -> Page:
    return Page(meaning, _with_rubrics(bad), _with_rubrics(good))


def _evaluators(meaning: str, bad: str, good: str) -> Page:
    return Page(meaning, _with_evaluator(bad), _with_evaluator(good))


def _cases(meaning: str, bad: str, good: str) -> Page:
    return Page(meaning, f"evalcases:\n{bad}", f"evalcases:\n{good}")


_GOOD_CASE = "  - id: greeting\n    input: Say hello\n    rubrics: [Greets]\n"
_GOOD = f"evalcases:\n{_GOOD_CASE}"

PAGES: Mapping[str, Page] = {
    "unreadable": Page(
        "The file cannot be read: it is a folder, or its permissions forbid it.", "", _GOOD
    ),
    "encoding": Page(
        "Eval files are UTF-8, with or without a byte order mark. A file in another encoding would "
        "be graded with other letters than its author sees.",
        "",
        _GOOD,
    ),
    "file-size": Page(
        "A file may hold 200,000 values and 16 million characters, as JSON Lines a million "
        "escapes. Larger ones would take more memory than the machines of a CI have to spare.",
        "",
        _GOOD,
    ),
    "yaml-syntax": Page(
        "The text is not YAML, so nothing else can be checked.",
        f"{_CASE}    note: twice: the colon\n",
        f'{_CASE}    note: "twice: the colon"\n    rubrics: [Greets]\n',
    ),
    "yaml-tab": Page(
        "YAML does not indent with tabs.",
        "evalcases:\n\t- id: greeting\n",
        _GOOD,
    ),
    "yaml-character": Page(
        "Control characters may not stand in YAML. They are mostly left over from a copy.",
        f"{_CASE}    note: \x07\n",
        f'{_CASE}    note: "\\a"\n    rubrics: [Greets]\n',
    ),
    "yaml-line-break": Page(
        "YAML 1.1 counts NEL, LS and PS as line breaks and editors do not, so that line numbers "
        "differ from here on. `rubric-ci generate` does not edit such a file.",
        f"{_CASE}    rubrics: [Greets]\n    note: one\u2028\n",
        _GOOD,
    ),
    "yaml-empty": Page("The file holds nothing, or comments only.", "# to be written\n", _GOOD),
    "yaml-documents": Page(
        "A file holds one document; readers of YAML differ in what they make of a second one.",
        f"{_GOOD}---\n{_GOOD}",
        _GOOD,
    ),
    "yaml-duplicate-key": Page(
        "YAML forbids a key that is given twice. Most readers keep the last one and say nothing, "
        "so that half of what was written is lost.",
        _with_rubrics("- expected_outcome: Greets\n  weight: 1\n  weight: 2"),
        _with_rubrics("- expected_outcome: Greets\n  weight: 2"),
    ),
    "yaml-key": Page(
        "A key must be plain text; lists and mappings as keys have no meaning here.",
        f"{_GOOD}    metadata: {{[a, b]: 1}}\n",
        f'{_GOOD}    metadata: {{"a, b": 1}}\n',
    ),
    "yaml-merge": Page(
        "A merge key `<<` takes a mapping, or a list of mappings.",
        f"{_GOOD}    <<: text\n",
        f"{_GOOD}    <<: {{note: text}}\n",
    ),
    "yaml-alias": Page(
        "An anchor that contains its own alias would never end.",
        f"{_GOOD}    metadata: &all {{again: *all}}\n",
        f"{_GOOD}    metadata: {{again: none}}\n",
    ),
    "yaml-expansion": Page(
        "Aliases of aliases can expand a small file to millions of values.",
        "x-a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        "x-b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
        "x-c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n"
        "x-d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
        "x-e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\n"
        "x-f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n"
        f"{_GOOD}",
        f"x-a: &a [1, 1]\nx-b: [*a, *a]\n{_GOOD}",
    ),
    "yaml-depth": Page(
        "A file may nest 100 levels deep.",
        f"{_GOOD}    metadata: {{deep: {'[' * 100}{']' * 100}}}\n",
        f"{_GOOD}    metadata: {{deep: [[]]}}\n",
    ),
    "yaml-tag": Page(
        "YAML tags other than those of JSON's types have no meaning here.",
        f"{_GOOD}    note: !secret greeting\n",
        f"{_GOOD}    note: greeting\n",
    ),
    "yaml-number-size": Page(
        "A number may have 300 digits.",
        f"{_GOOD}    metadata: {{big: {'9' * 301}}}\n",
        f'{_GOOD}    metadata: {{big: "{"9" * 301}"}}\n',
    ),
    "json-syntax": Page(
        "Each line of a JSON Lines file is one JSON object, a case.",
        '{"id": "greeting", "input": "Say hello", "rubrics": ["Greets"],}\n',
        '{"id": "greeting", "input": "Say hello", "rubrics": ["Greets"]}\n',
    ),
    "too-many-problems": Page(
        "Of each file 1,000 problems are told. A file with more of them is mostly no eval file.",
        "",
        _GOOD,
    ),
    "wrong-type": Page(
        "The value is of another kind than the field takes.",
        _with_rubrics("- expected_outcome: Greets\n  weight: heavy"),
        _with_rubrics("- expected_outcome: Greets\n  weight: 2.5"),
    ),
    "not-text": _cases(
        "Text is meant, and YAML reads something else: `no` is a boolean, `007` a number.",
        "  - id: 007\n    input: Say hello\n    rubrics: [Greets]\n",
        '  - id: "007"\n    input: Say hello\n    rubrics: [Greets]\n',
    ),
    "ambiguous-text": _cases(
        "Text is meant, and some readers of YAML see a date or a number instead.",
        "  - id: 2026-01-31\n    input: Say hello\n    rubrics: [Greets]\n",
        '  - id: "2026-01-31"\n    input: Say hello\n    rubrics: [Greets]\n',
    ),
    "plain-number": _criteria(
        "YAML 1.1 and 1.2 read octal, sexagesimal and underscored numbers differently: `1:30` is "
        "90 to some and text to others.",
        "- expected_outcome: Greets\n  weight: 1:30",
        "- expected_outcome: Greets\n  weight: 90",
    ),
    "not-finite": _criteria(
        "Weights and limits are finite numbers.",
        "- expected_outcome: Greets\n  weight: .inf",
        "- expected_outcome: Greets\n  weight: 100",
    ),
    "missing-key": _cases(
        "A field that must be there is not.",
        "  - input: Say hello\n    rubrics: [Greets]\n",
        _GOOD_CASE,
    ),
    "missing-value": _cases(
        "A key stands there without a value.",
        "  - id: greeting\n    input:\n    rubrics: [Greets]\n",
        _GOOD_CASE,
    ),
    "unknown-key": _cases(
        "No field has this name: it is misspelt, or stands at the wrong level. What nobody reads "
        "is never graded. Keys that begin with `x-`, and all below `metadata`, are yours.",
        "  - id: greeting\n    input: Say hello\n    rubric: [Greets]\n",
        f"{_GOOD_CASE}    x-reviewed: true\n",
    ),
    "unknown-value": _cases(
        "The field takes certain words only.",
        "  - id: greeting\n    input: [{role: human, content: Hello}]\n    rubrics: [Greets]\n",
        "  - id: greeting\n    input: [{role: user, content: Hello}]\n    rubrics: [Greets]\n",
    ),
    "empty-text": _cases(
        "The text is empty.",
        '  - id: ""\n    input: Say hello\n    rubrics: [Greets]\n',
        _GOOD_CASE,
    ),
    "out-of-range": _criteria(
        "The number is too small or too large for its field.",
        "- expected_outcome: Greets\n  weight: -1",
        "- expected_outcome: Greets\n  weight: 1",
    ),
    "too-few": Page("The list needs more entries.", "evalcases: []\n", _GOOD),
    "alias-conflict": _cases(
        "Two spellings of one field are given; only one of them would be read.",
        f"{_GOOD_CASE}    outcome: A greeting\n    expected_outcome: A friendly greeting\n",
        f"{_GOOD_CASE}    expected_outcome: A friendly greeting\n",
    ),
    "similar-key": _evaluators(
        "Keys of a code judge that are not ours are handed to its script, and those of a model to "
        "its call. This one looks like a misspelt setting.",
        "- name: check\n  type: code_judge\n  script: ./check\n  timeout_second: 5",
        "- name: check\n  type: code_judge\n  script: ./check\n  timeout_seconds: 5",
    ),
    "unused-setting": Page(
        "What a file asks for is not done here. Most of these are settings of AgentV that have no "
        "counterpart; a misspelt setting of a command is told as well.",
        "targets: [{name: default, model: openai/a, max_retries: 9}]\n",
        "targets: [{name: default, model: openai/a}]\n",
    ),
    "case-id-duplicate": _cases(
        "Reports, baselines and selections name cases by id, so an id stands for one case of a "
        "file.",
        _GOOD_CASE * 2,
        _GOOD_CASE + _GOOD_CASE.replace("greeting", "farewell"),
    ),
    "case-empty": _cases(
        "Nothing grades this case, and nothing says what a good answer is.",
        "  - id: greeting\n    input: Say hello\n",
        "  - id: greeting\n    input: Say hello\n    expected_outcome: A friendly greeting\n",
    ),
    "evaluator-type": _evaluators(
        "No evaluator has this type, so nothing would grade what it names.",
        "- {name: check, type: code, script: ./check}",
        "- {name: check, type: code_judge, script: ./check}",
    ),
    "evaluator-name-duplicate": _evaluators(
        "Reports name evaluators, so a name stands for one of a list. Inline rubrics are called "
        "`rubric`.",
        "- {name: check, type: latency, threshold: 9}\n- {name: check, type: cost, budget: 1}",
        "- {name: fast, type: latency, threshold: 9}\n- {name: cheap, type: cost, budget: 1}",
    ),
    "unknown-member": _evaluators(
        "The weights of a composite name its members.",
        "- name: both\n  type: composite\n  evaluators:\n"
        "    - {name: fast, type: latency, threshold: 9}\n"
        "  aggregator: {type: weighted_average, weights: {fats: 1}}",
        "- name: both\n  type: composite\n  evaluators:\n"
        "    - {name: fast, type: latency, threshold: 9}\n"
        "  aggregator: {type: weighted_average, weights: {fast: 1}}",
    ),
    "weight-total": _criteria(
        "Weight 0 shows a criterion without counting it; if all have it, there is no score.",
        "- {expected_outcome: Greets, weight: 0}",
        "- {expected_outcome: Greets, weight: 0}\n- {expected_outcome: Is short, weight: 1}",
    ),
    "criterion-text": _criteria(
        "A judge needs to be told what to look for.",
        "- {id: greets, weight: 2}",
        "- {id: greets, expected_outcome: Greets the reader, weight: 2}",
    ),
    "criterion-kind": _criteria(
        "A criterion is a checklist item, or has `score_ranges`, or has `levels`.",
        "- score_ranges: {0: cold, 6: warm}\n  levels: {1: cold, 2: warm}",
        "- score_ranges: {0: cold, 6: warm}\n- levels: {1: cold, 2: warm}",
    ),
    "criterion-id-duplicate": _criteria(
        "The judge marks criteria by id, so an id stands for one of a list. A criterion without "
        "one is called `rubric-<n>` by its place.",
        "- {id: greets, expected_outcome: Says hello}\n- {id: greets, expected_outcome: Is warm}",
        "- {id: greets, expected_outcome: Says hello}\n- {id: warm, expected_outcome: Is warm}",
    ),
    "gate-kind": _criteria(
        "Each kind of criterion has a gate of its own: `required` for checklists, "
        "`required_min_score` with `score_ranges`, `required_min_level` with `levels`. Another one "
        "does nothing.",
        "- required: true\n  score_ranges: {0: cold, 6: warm}",
        "- required_min_score: 6\n  score_ranges: {0: cold, 6: warm}",
    ),
    "gate-out-of-reach": _criteria(
        "No level reaches `required_min_level`, so that every answer fails.",
        "- required_min_level: 3\n  levels: {1: cold, 2: warm}",
        "- required_min_level: 2\n  levels: {1: cold, 2: warm}",
    ),
    "score-range-type": _criteria(
        "A range is a list of two integers. Judges give whole scores; booleans and 3.0 are none.",
        "- score_ranges:\n    - {score_range: [0, 10.0], expected_outcome: a}",
        "- score_ranges:\n    - {score_range: [0, 10], expected_outcome: a}",
    ),
    "score-range-bounds": _criteria(
        "Scores go from 0 to 10, and a range from its low to its high bound.",
        "- score_ranges:\n    - {score_range: [10, 0], expected_outcome: a}",
        "- score_ranges:\n    - {score_range: [0, 10], expected_outcome: a}",
    ),
    "score-range-overlap": _criteria(
        "A score that two ranges share would mean two things.",
        "- score_ranges:\n    - {score_range: [0, 6], expected_outcome: cold}\n"
        "    - {score_range: [6, 10], expected_outcome: warm}",
        "- score_ranges:\n    - {score_range: [0, 5], expected_outcome: cold}\n"
        "    - {score_range: [6, 10], expected_outcome: warm}",
    ),
    "score-range-coverage": _criteria(
        "Every score from 0 to 10 must mean something. In a map the first range begins at 0.",
        "- score_ranges:\n    - {score_range: [0, 5], expected_outcome: cold}\n"
        "    - {score_range: [7, 10], expected_outcome: warm}",
        "- score_ranges:\n    - {score_range: [0, 5], expected_outcome: cold}\n"
        "    - {score_range: [6, 10], expected_outcome: warm}",
    ),
    "score-range-text": _criteria(
        "Each range says what an answer with such a score is like.",
        "- score_ranges:\n    - {score_range: [0, 10]}",
        "- score_ranges:\n    - {score_range: [0, 10], expected_outcome: a}",
    ),
    "levels-type": _criteria(
        "Levels are integers, as a list of `{level, criteria}` or as the keys of a map.",
        "- levels: {low: cold, high: warm}",
        "- levels: {1: cold, 2: warm}",
    ),
    "levels-count": _criteria(
        "A scale has at least two levels.",
        "- levels: {1: cold}",
        "- levels: {1: cold, 2: warm}",
    ),
    "levels-duplicate": _criteria(
        "A level is declared once.",
        "- levels:\n    - {level: 1, criteria: cold}\n    - {level: 1, criteria: warm}",
        "- levels:\n    - {level: 1, criteria: cold}\n    - {level: 2, criteria: warm}",
    ),
    "levels-text": _criteria(
        "Each level says what such an answer is like.",
        "- levels:\n    - {level: 1, name: Cold}\n    - {level: 2, criteria: warm}",
        "- levels:\n    - {level: 1, name: Cold, criteria: no greeting}\n"
        "    - {level: 2, criteria: warm}",
    ),
    "literal-secret": Page(
        "Configuration is committed; a key in it is no secret any more.",
        "judge: {model: openai/gpt-4.1-mini, api_key: sk-abc}\n",
        'judge: {model: openai/gpt-4.1-mini, api_key: "${{ OPENAI_API_KEY }}"}\n',
    ),
    "target-name-duplicate": Page(
        "Evals name targets, so a name stands for one of them.",
        "targets:\n  - {name: default, model: openai/a}\n  - {name: default, model: openai/b}\n",
        "targets:\n  - {name: default, model: openai/a}\n  - {name: other, model: openai/b}\n",
    ),
    "target-shadowed": Page(
        "Another file defines a target of this name and comes first: `rubric-ci.yaml`, then the "
        "targets file nearest to the eval file.",
        "",
        "targets:\n  - {name: default, model: openai/a}\n",
    ),
    "judge-target": Page(
        "Only a model can judge.",
        "targets:\n  - {name: default, model: openai/a, judge_target: agent}\n"
        "  - {name: agent, provider: cli, command_template: 'agent {PROMPT}'}\n",
        "targets:\n  - {name: default, model: openai/a, judge_target: strict}\n"
        "  - {name: strict, model: openai/b}\n",
    ),
    "threshold-order": Page(
        "A borderline score is below a passing one.",
        "gate: {thresholds: {pass: 0.6, borderline: 0.8}}\n",
        "gate: {thresholds: {pass: 0.8, borderline: 0.6}}\n",
    ),
    "unknown-placeholder": Page(
        "The command would be run with the braces in it.",
        "targets: [{name: default, provider: cli, command_template: 'agent {PROMT}'}]\n",
        "targets: [{name: default, provider: cli, command_template: 'agent {PROMPT}'}]\n",
    ),
    "unknown-rule": Page(
        "`rules` switches rules by their ids.",
        "rules: {gates: off}\n",
        "rules: {gate-kind: off}\n",
    ),
    "votes-even": Page(
        "An even number of votes can tie, and a tie is no mark.",
        "judge: {model: openai/gpt-4.1-mini, votes: 2}\n",
        "judge: {model: openai/gpt-4.1-mini, votes: 3}\n",
    ),
    "lone-part": _cases(
        "Parts stand in a list. A mapping is a structured content: the file that it seems to name "
        "would not be read.",
        "  - id: greeting\n    rubrics: [Greets]\n    input:\n"
        "      - role: user\n        content: {type: file, value: prompts/task.md}\n",
        "  - id: greeting\n    rubrics: [Greets]\n    input:\n"
        "      - role: user\n        content: [{type: file, value: prompts/task.md}]\n",
    ),
    "file-missing": _cases(
        "The file that is named cannot be used: it is missing, no text, or outside the repository.",
        "  - id: greeting\n    rubrics: [Greets]\n"
        "    input: [{role: user, content: [{type: file, value: gone.md}]}]\n",
        "  - id: greeting\n    rubrics: [Greets]\n"
        "    input: [{role: user, content: [{type: file, value: prompts/task.md}]}]\n",
    ),
    "prompt-variable": _evaluators(
        "The judge would be asked with the braces in its prompt.",
        '- {name: free, type: llm_judge, prompt: "Score {{ anwser }}"}',
        '- {name: free, type: llm_judge, prompt: "Score {{ answer }}"}',
    ),
    "depends-on-unmatched": Page(
        "No change can run the cases that depend on the files of such a glob. Globs count from the "
        "root of the repository.",
        "",
        f'depends_on: ["prompts/**"]\n{_GOOD}',
    ),
    "unknown-target": Page(
        "Targets stand in `rubric-ci.yaml`, `.agentv/targets.yaml` or `targets.yaml` beside the "
        "evals. Where there is none of them, this is not checked.",
        f"execution: {{target: defualt}}\n{_GOOD}",
        f"execution: {{target: default}}\n{_GOOD}",
    ),
    "agent-target": Page(
        "A targets file may define an agent of AgentV, but rubric-ci starts commands only. What "
        "such a target should answer gets no verdict.",
        f"execution: {{target: codex}}\n{_GOOD}",
        f"execution: {{target: default}}\n{_GOOD}",
    ),
    "unused-ignore": Page(
        "A comment that silences nothing hides the next real problem on its line.",
        f"{_GOOD}    note: x # rubric-ci: ignore[unknown-key]\n",
        f"{_GOOD}    nota: x # rubric-ci: ignore[unknown-key]\n",
    ),
}


_HEAD = """\
<!-- Generated from rubric_ci/validation/rule_docs.py by `make golden`; do not edit. -->
# Rules
What `rubric-ci validate` looks for; `rubric-ci validate --explain RULE` prints a section of this.
The severity of a rule is set in `rubric-ci.yaml`, and a comment silences one on its line, as far as
grading does not depend on it:

```yaml
rules: {gate-kind: error, similar-key: off}
```

```yaml
    colour: red # rubric-ci: ignore[unknown-key]
```

"""


def render() -> str:
    """Return docs/rules.md."""
    return _HEAD + "\n".join(render_rule(rule) for rule in RULES)


def render_rule(rule: str) -> str:
    """Return the section of one rule."""
    page, (severity, hint) = PAGES[rule], RULES[rule]
    switch = "may be turned off" if rule in SWITCHABLE else "always on"
    lines = [f"## {rule}", f"{severity}, {switch}", "", page.meaning]
    if hint:
        lines += ["", f"What to do: {hint}."]
    if page.bad:
        lines += ["", "Bad:", *_fenced(page.bad), "", "Good:", *_fenced(page.good)]
    return "\n".join(lines) + "\n"


def _fenced(text: str) -> list[str]:
    language = "json" if text.startswith("{") else "yaml"
    return [f"```{language}", *_shortened(text), "```"]


def _shortened(text: str) -> list[str]:
    """Cut what is only long; show what cannot be seen."""
    lines = text.replace("\u2028", "\\u2028").replace("\x07", "\\x07").splitlines()
    return [line if len(line) <= 120 else f"{line[:60]} … {line[-30:]}" for line in lines]
