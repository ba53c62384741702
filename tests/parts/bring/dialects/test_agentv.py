"""What a suite of AgentV says about all its tests, and the files that it names."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.files.yaml_text.source import Source, moved_from, open_source
from rubric_ci.parts.bring.dialects.agentv import translate
from rubric_ci.parts.bring.translation import Beside
from rubric_ci.values.references import Found, NotFound
from tests import platforms
from tests.parts.bring.dialects.reported import reported
from tests.sample_project import Project
from tests.tables import rows

TEST = {"id": "a", "input": "Hi", "assert": ["Greets"]}


def translated(**suite: Any) -> tuple[dict[str, Any], list[str]]:
    """Return our data without the cases, and the problems with their paths."""
    found = translate({"tests": [TEST], **suite})
    data = {key: value for key, value in found.data.items() if key != "evalcases"}
    return data, reported(found)


def host(**more: Any) -> dict[str, Any]:
    return {"environment": {"type": "host", "workdir": "../shop", **more}}


SUITES = """
# folder
{environment: {type: host, workdir: ../shop}}
=> {workspace: {copy: ../shop}}
# set-up
{environment: {type: host, workdir: ../shop, setup: {command: [bash, ../make.sh, ./out], cwd: .}}}
=> {workspace: {copy: ../shop, setup: [bash, ../make.sh, ./out]}}
# set-up of a shell
{environment: {type: host, workdir: ../shop, setup: {command: [bash, -lc, echo x >
    $AGENTV_ENVIRONMENT_WORKDIR/x]}}}
=> {workspace: {copy: ../shop, setup: [bash, -lc, echo x > $AGENTV_ENVIRONMENT_WORKDIR/x]}}
# default
{defaults: {provider: llm}}
=> {target: llm}
# named
{defaults: {provider: llm}, providers: [other]}
=> {target: other}
"""


@pytest.mark.parametrize(("suite", "ours"), rows(SUITES))
def test_what_a_suite_becomes(suite: str, ours: list[str]) -> None:
    assert translated(**yaml.safe_load(suite)) == (yaml.safe_load(ours[0]), [])


CONFIG = {".agentv/config.yaml": "providers: file://providers.yaml\ndefaults: {provider: llm}\n"}
IN_FILE = {
    ".agentv/config.yaml": "defaults: file://defaults.yaml\n",
    ".agentv/defaults.yaml": "provider: llm\ngrader: judge\n",
}


@pytest.mark.parametrize(
    ("suite", "test", "expected"),
    [
        ({}, {}, None),
        ({}, {"metadata": {"a": 1}}, {"a": 1}),
        ({"metadata": {"a": 1, "b": 2}}, {"metadata": {"a": 3}}, {"a": 3, "b": 2}),
        (
            {"metadata": {"l": [1, 2], "m": {"x": 1}}},
            {"metadata": {"l": [2, 3], "m": {"y": 2}}},
            {"l": [1, 2, 3], "m": {"x": 1, "y": 2}},
        ),
        ({"metadata": {"a": 1}, "governance": {"g": 1}}, {}, {"a": 1, "governance": {"g": 1}}),
        ({"metadata": "text"}, {"metadata": "own"}, "own"),
    ],
)
def test_metadata_of_the_suite(suite: Any, test: Any, expected: Any) -> None:
    found = translate({"tests": [{**TEST, **test}], **suite})
    assert found.data["evalcases"][0].get("metadata") == expected


@pytest.mark.parametrize(
    ("files", "suite", "target"),
    [
        (CONFIG, {}, "llm"),
        (IN_FILE, {}, "llm"),
        (CONFIG, {"providers": ["other"]}, "other"),
        (CONFIG, {"defaults": {"provider": "other"}}, "other"),
        ({".agentv/config.yaml": "defaults: {provider: default}\n"}, {}, None),
        ({".agentv/config.yaml": "[\n"}, {}, None),
        ({".agentv/config.yaml": "defaults: {provider: 3}\n"}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_target_that_the_configuration_of_agentv_names(
    files: dict[str, str], suite: dict[str, Any], target: str | None
) -> None:
    found = translate({"tests": [TEST], **suite}, Beside(files.get))
    assert found.data.get("target") == target


NO_COUNTERPART = """
# docker
{environment: {type: docker, image: python, workdir: /w}}
=> not-supported environment.type: only `type: host` has a counterpart; `sandbox` of a target can
   start a container
# no folder
{environment: {type: host}}
=> not-supported environment: `environment` has no counterpart unless it has a `workdir`
# variables
{environment: {type: host, workdir: ../shop, env: {A: b}}}
=> not-supported environment.env: `env` has no counterpart
# elsewhere
{environment: {type: host, workdir: ../shop, setup: {command: [../make.sh]}}}
=> not-supported environment.setup: a set-up that does not run in the workspace (`cwd: .`) has no
   counterpart
# no command
{environment: {type: host, workdir: ../shop, setup: make}}
=> not-supported environment.setup: `setup` has no counterpart unless it has a `command`
# time
{environment: {type: host, workdir: ../shop, setup: {command: [make], timeout_ms: 5}}}
=> skipped-there environment.setup.timeout_ms: a set-up may take 15 minutes
# judge
{defaults: {grader: judge}}
=> skipped-there defaults.grader: `grader` has no effect: the judge is set in rubric-ci.yaml
# ignored
{defaults: {system_message: Be kind}}
=> skipped-there defaults.system_message: `system_message` has no effect: AgentV ignores it
# rules
{extensions: ['agentv:agent-rules']}
=> skipped-there extensions.0: an agent finds rules and skills in the workspace itself
   (`project_files`)
# code
{extensions: ['file://setup.mjs:beforeAll']}
=> not-supported extensions.0: functions around the work have no counterpart; write `hooks`
"""


@pytest.mark.parametrize(("suite", "problems"), rows(NO_COUNTERPART))
def test_what_has_no_counterpart(suite: str, problems: list[str]) -> None:
    assert translated(**yaml.safe_load(suite))[1] == problems


def test_judges_see_the_changes_and_the_calls_of_an_agent() -> None:
    def rubrics(**suite: Any) -> Any:
        return translate({"tests": [TEST], **suite}).data["evalcases"][0]["rubrics"]

    criterion = {"expected_outcome": "Greets", "required": False}
    assert rubrics() == [criterion]
    assert rubrics(**host()) == {"sees": ["answer", "file_changes"], "criteria": [criterion]}
    assert rubrics(**host(), extensions=["agentv:agent-rules"])["sees"] == [
        "answer",
        "tool_calls",
        "file_changes",
    ]
    script = {"type": "script", "command": "check"}
    found = translate({"tests": [{**TEST, "assert": ["Greets", script]}], **host()})
    evaluators = found.data["evalcases"][0]["execution"]["evaluators"]
    assert evaluators[0]["sees"] == ["answer", "file_changes"]
    only = {**TEST, "assert": [{"type": "contains", "value": "x"}]}
    found = translate({"tests": [only], **host()})
    assert found.data["evalcases"][0]["rubrics"] == [{"contains": "x", "required": False}]


FILES = {
    "../shop/environment.yaml": "type: host\nworkdir: ./template\nenv: {A: b}\n",
    "default.yaml": "vars: {who: Ann}\nthreshold: 0.5\n",
    "list.yaml": "[a]\n",
}
SUITE = """\
environment: file://../shop/environment.yaml
default_test: file://default.yaml
tests: [{id: a, input: "Greet {{ who }}", assert: [Greets]}]
"""


def find(name: str) -> list[Found | NotFound]:
    text = FILES.get(name)
    return [NotFound("no such file") if text is None else Found(name.replace("../", ""), text)]


def opened(text: str, files: Any = find) -> tuple[Source, list[str]]:
    source = open_source("evals/a.yaml", text, find=files)
    return source, [f"{file}:{each.line}: {each.message}" for file, each in source.text_problems]


def test_mappings_in_other_files_with_places_in_those_files() -> None:
    source, problems = opened(SUITE)
    assert source.data["workspace"] == {"copy": "../shop/template"}
    assert source.data["evalcases"][0]["input"] == "Greet Ann"
    assert source.location(("workspace", "copy")).file == "shop/environment.yaml"
    assert source.location(("evalcases", 0, "input")).file == "evals/a.yaml"
    assert problems == [
        "shop/environment.yaml:3: `env` has no counterpart",
        "default.yaml:2: `gate.thresholds.pass` in rubric-ci.yaml is the limit",
    ]


@pytest.mark.parametrize(
    ("name", "reason"), [("gone.yaml", "no such file"), ("list.yaml", "it has no mapping")]
)
def test_a_mapping_that_cannot_be_read(name: str, reason: str) -> None:
    text = f"default_test: file://{name}\ntests: [{{id: a, input: Hi, assert: [Greets]}}]\n"
    _, problems = opened(text)
    assert problems == [
        f"evals/a.yaml:1: `file://{name}`: {reason}",
        "evals/a.yaml:1: `default_test` in another file has no counterpart",
    ]


def test_a_folder_has_a_case_in_each_of_its_folders() -> None:
    text = "input: Fix it\nassert: [Fixes it]\n"
    found: dict[str, list[Any]] = {
        "cases/*/case.y*ml": [Found("cases/b/case.yaml", text), Found("cases/c/case.yaml", text)],
        "cases/*/workspace/**": [NotFound("no file matches")],
    }
    suite = "name: x\nenvironment: {type: host, workdir: w}\ntests: cases/\n"

    def find(name: str) -> list[Any]:
        return found.get(name, [NotFound("no such file")])

    source, problems = opened(suite, find)
    assert [(case["id"], case["input"]) for case in source.data["evalcases"]] == [
        ("b", "Fix it"),
        ("c", "Fix it"),
    ]
    assert source.location(("evalcases", 1, "input"))[:2][0] == "cases/c/case.yaml"
    assert problems == []
    found["cases/*/workspace/**"] = [Found("cases/b/workspace/x", "")]
    _, problems = opened(suite, find)
    assert problems == ["evals/a.yaml:3: `cases/`: a folder `workspace` of a case is not read"]


def conversation(**test: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the case of a conversation, and the paths and texts of the problems."""
    found = translate({"tests": [{"id": "a", "mode": "conversation", **test}]})
    places = [(".".join(map(str, path[2:])), text) for _, path, text in found.problems]
    return found.data["evalcases"][0], places


SAYS = {"input": "Hi", "assert": ["Greets"]}


def test_turns_are_a_scripted_user() -> None:
    code = """
    input: Code
    expected_output: A function
    assertions: [Runs, Short, {type: contains, value: def, weight: 2}]
    """
    system = [{"role": "system", "content": "Be kind"}]
    turns = [SAYS, yaml.safe_load(code)]
    case, problems = conversation(turns=turns, input=system, assertions=["Stays kind"])
    assert problems == []
    expected = """
    id: a
    input: [{role: system, content: Be kind}]
    turns:
    - {input: Hi, rubrics: [{expected_outcome: Greets, required: false}]}
    - input: Code
      expected_outcome: A function
      rubrics:
      - {expected_outcome: Runs, required: false, weight: 0.5}
      - {expected_outcome: Short, required: false, weight: 0.5}
      - {contains: def, required: false, weight: 2.0}
    rubrics: [{expected_outcome: Stays kind, required: false}]
    """
    assert case == yaml.safe_load(expected)
    only, problems = conversation(turns=[SAYS], criteria="Not graded in a conversation")
    assert "rubrics" not in only
    assert "input" not in only
    assert problems == []


NO_ENVIRONMENT = "is not replaced: texts of eval files read no variables of the environment"


def test_no_text_reads_the_environment() -> None:
    test = {**TEST, "input": "Hi ${{ WHO }}", "note": "${{ WHO }}", "metadata": {"a": "${{A}}"}}
    suite = {"description": "${{ SHOWN }}", **host(setup={"command": ["{{ env.SHELL }}"]})}
    found = translate({"tests": [{**TEST, "id": "b"}, test], **suite})
    problems = {".".join(map(str, path)): text for _, path, text in found.problems}
    assert problems == {
        "environment.setup.command.0": f"`{{{{ env.SHELL }}}}` {NO_ENVIRONMENT}",
        "tests.1.input": f"`${{{{ WHO }}}}` {NO_ENVIRONMENT}",
        "tests.1.metadata.a": f"`${{{{A}}}}` {NO_ENVIRONMENT}",
    }
    assert ["x-stopped" in each for each in found.data["evalcases"]] == [False, True]


@pytest.mark.parametrize(
    "variable", ["{{ env.name }}", "${{ steps.x.outputs.y }}", "{{ environment }}"]
)
def test_other_braces_are_text(variable: str) -> None:
    variables = {"env": {"name": "Ann"}}
    found = translate({"tests": [{**TEST, "input": variable, "vars": variables}]})
    assert found.problems == {}


CONVERSATIONS = """
# aggregation
{turns: [{input: Hi, assert: [Greets]}], aggregation: min}
=> aggregation: `aggregation` has no counterpart unless it is `mean`
# stop
{turns: [{input: Hi, assert: [Greets]}], on_turn_failure: stop}
=> on_turn_failure: `on_turn_failure` has no counterpart unless it is `continue`
# window
{turns: [{input: Hi, assert: [Greets]}], window_size: 2}
=> window_size: `window_size` has no counterpart
# check
{turns: [{input: Hi, assert: [Greets]}], assertions: [{type: contains, value: x}]}
=> : only texts and criteria can mark a whole conversation
# script
{turns: [{input: Hi, assert: [Greets]}], assertions: [{type: script, command: check}]}
=> : only texts and criteria can mark a whole conversation
# text
{turns: [Hi]}
=> turns.0: a turn has no counterpart unless its `input` is a text
# no grader
{turns: [{input: Hi}]}
=> turns.0: a turn without graders scores 1 in AgentV; nothing does here
# key
{turns: [{input: Hi, assert: [Greets], role: x}]}
=> turns.0.role: `role` has no counterpart
# reference
{turns: [{input: Hi, assert: [Greets], expected_output: {a: 1}}]}
=> turns.0.expected_output: `expected_output` of a turn is a text
# script of a turn
{turns: [{input: Hi, assert: [Greets, {type: script, command: check}]}]}
=> turns.0.assert.1: only criteria can mark a turn
"""


@pytest.mark.parametrize(("test", "problems"), rows(CONVERSATIONS))
def test_what_of_a_conversation_has_no_counterpart(test: str, problems: list[str]) -> None:
    found = conversation(**yaml.safe_load(test))[1]
    assert [f"{path}: {text}" for path, text in found] == problems


TALK = """\
name: conv
tests:
  - id: talk
    mode: conversation
    input: [{role: system, content: Be kind}]
    turns:
      - input: alpha
        assertions: [{type: contains, value: alpha}, {type: contains, value: nowhere}]
      - input: beta
        assertions: [{type: contains, value: beta}]
      - input: gamma
        assertions:
          - {type: contains, value: delta}
          - {type: equals, value: "got beta", weight: 3}
          - {type: starts-with, value: got, weight: 2}
"""


@platforms.SHELL
def test_a_conversation_has_the_score_of_agentv(tmp_path: Path) -> None:
    """`agentv eval` 4.42.4 scores it 0.6111: 0, 1 and 0.8333."""
    project = Project(tmp_path)
    (tmp_path / "evals/a.eval.yaml").unlink()
    project.write("evals/talk.eval.yaml", TALK)
    target = "{name: default, provider: cli, command_template: printf 'got beta'}"
    project.write("rubric-ci.yaml", f"targets: [{target}]\n")
    done = project.run("evals")
    assert done.stderr.startswith("[1/1] borderline 0.61  talk")
    (case,) = project.report()["cases"]
    assert case["score"] == 0.611111
    assert [each["score"] for each in case["evaluators"]] == [0, 1, 0.833333]


GREETS = {"id": "a", "input": "Hi", "criteria": "Greets"}
IGNORED = "has no effect: the tool ignores it"
TEXT = [{"type": "text", "value": "Hi"}]


def test_keys_that_agentv_ignores_are_warnings_and_slips_are_errors() -> None:
    test = {**GREETS, "mustMention": ["x"], "depends_on": []}
    suite = {"tests": [test], "owner": "me", "execution": {"timeout_seconds": 9}, "requires": {}}
    assert reported(translate({**suite, "executionn": {}})) == [
        "not-supported requires: `requires` has no counterpart",
        "not-supported executionn: `executionn` has no counterpart",
        f"skipped-there owner: `owner` {IGNORED}",
        f"skipped-there execution.timeout_seconds: `timeout_seconds` {IGNORED}",
        "not-supported tests.0.depends_on: `depends_on` has no counterpart",
        f"skipped-there tests.0.mustMention: `mustMention` {IGNORED}",
    ]


@pytest.mark.parametrize(
    ("trials", "ours", "problems"),
    [
        ({"count": 3}, {"count": 3, "pass": 1}, []),
        ({"count": 1, "strategy": "pass_at_k"}, None, []),
        (
            {"count": 2, "cost_limit_usd": 1},
            {"count": 2, "pass": 1},
            [
                (
                    "skipped-there execution.trials.cost_limit_usd: the limit of the cost "
                    "of a run is `--max-cost-usd`"
                )
            ],
        ),
        (
            {"count": 2, "strategy": "mean"},
            None,
            ["not-supported execution.trials: `trials` is a `count` with `strategy: pass_at_k`"],
        ),
    ],
    ids=["one must pass", "one", "a limit", "another strategy"],
)
def test_trials_of_versions_before_5(trials: Any, ours: Any, problems: Any) -> None:
    data = {"tests": [GREETS], "execution": {"trials": trials}}
    assert (translate(data).data.get("trials"), reported(translate(data))) == (ours, problems)


def test_files_of_a_suite_are_those_of_tests_without_their_own() -> None:
    own = {**GREETS, "id": "b", "input_files": ["b.md"]}
    bare = {**GREETS, "id": "c", "execution": {"skip_defaults": True}}
    found = translate({"tests": [GREETS, own, bare], "input_files": ["a.md"]})
    assert [case.get("input_messages", case.get("input")) for case in found.data["evalcases"]] == [
        [{"role": "user", "content": [{"type": "file", "value": name}, *TEXT]}]
        for name in ("a.md", "b.md")
    ] + [GREETS["input"]]
    messages = ("evalcases", 0, "input_messages", 0, "content", 0, "value")
    assert moved_from(found.paths, messages)[:2] == ("input_files", 0)


def test_the_target_of_a_suite_may_stand_beside_execution() -> None:
    assert translate({"tests": [GREETS], "target": "a"}).data["target"] == "a"
    both = {"tests": [GREETS], "target": "a", "execution": {"target": "b"}}
    assert translate(both).data["target"] == "b"


def test_braces_that_no_variable_replaces_are_text() -> None:
    assert translate({"tests": [{**GREETS, "input": "Use {{ x }}"}]}).data["raw"] is True
    assert "raw" not in translate({"tests": [GREETS]}).data


PART = {"type": "execution-metrics", "max_llm_calls": 3}
REFUSED = "`max_llm_calls` has no counterpart"


def test_a_test_with_a_part_without_a_counterpart_is_stopped_and_the_others_are_not() -> None:
    tests = [
        {"id": "a", "input": "Hi", "assertions": ["Greets"]},
        {"id": "b", "input": "Ho", "assertions": ["Greets", PART]},
        {"id": "c", "input": "Ha", "assertions": [{"type": "unheard-of"}], "workspace": {}},
    ]
    found = translate({"tests": tests})
    first, second, third = found.data["evalcases"]
    assert "x-stopped" not in first
    assert (second["x-stopped"], second["rubrics"][0]["expected_outcome"]) == (REFUSED, "Greets")
    assert third["x-stopped"] == "`workspace` has no counterpart"
    assert third["rubrics"] == ["`workspace` has no counterpart"]
    assert reported(found) == [
        f"case-not-supported tests.1.assertions.1.max_llm_calls: {REFUSED}",
        "case-not-supported tests.2.workspace: `workspace` has no counterpart",
        (
            "case-not-supported tests.2.assertions.0.type: the grader `unheard-of` has no "
            "counterpart"
        ),
    ]


@pytest.mark.parametrize(
    "suite",
    [
        {"tests": [{**TEST, "assert": [PART]}]},
        {"tests": [TEST], "assertions": [PART]},
        {"tests": [TEST, {"id": "b", "input": "Ho", "assert": ["A"], "asert": ["B"]}]},
    ],
    ids=["every test", "a part of the suite", "a slip"],
)
def test_no_test_is_stopped(suite: Any) -> None:
    found = translate(suite)
    assert not [case for case in found.data["evalcases"] if "x-stopped" in case]
    assert {rule.id for rule, _, _ in found.problems} == {"not-supported"}
