"""What a suite of AgentV says about all its tests, and the files that it names."""

from typing import Any

import pytest

from rubric_ci.dialects.agentv import translate
from rubric_ci.dialects.table import open_source
from rubric_ci.model.references import Found, NotFound
from rubric_ci.yaml_text.source import Source

TEST = {"id": "a", "input": "Hi", "assert": ["Greets"]}


def translated(**suite: Any) -> tuple[dict[str, Any], list[tuple[str, str, str]]]:
    """Return our data without the cases, and the problems with their paths."""
    found = translate({"tests": [TEST], **suite})
    data = {key: value for key, value in found.data.items() if key != "evalcases"}
    places = [(rule.id, ".".join(map(str, path)), text) for rule, path, text in found.problems]
    return data, places


def host(**more: Any) -> dict[str, Any]:
    return {"environment": {"type": "host", "workdir": "../shop", **more}}


SHOP = {"workspace": {"copy": "../shop"}}


@pytest.mark.parametrize(
    ("suite", "ours"),
    [
        (host(), SHOP),
        (
            host(setup={"command": ["bash", "../make.sh", "./out"], "cwd": "."}),
            {"workspace": {"copy": "../shop", "setup": ["bash", "../make.sh", "./out"]}},
        ),
        (
            host(setup={"command": ["bash", "-lc", "echo x > $AGENTV_ENVIRONMENT_WORKDIR/x"]}),
            {
                "workspace": {
                    "copy": "../shop",
                    "setup": ["bash", "-lc", "echo x > $AGENTV_ENVIRONMENT_WORKDIR/x"],
                }
            },
        ),
        ({"defaults": {"provider": "llm"}}, {"target": "llm"}),
        ({"defaults": {"provider": "llm"}, "providers": ["other"]}, {"target": "other"}),
    ],
    ids=["folder", "set-up", "set-up of a shell", "default", "named"],
)
def test_what_a_suite_becomes(suite: dict[str, Any], ours: dict[str, Any]) -> None:
    assert translated(**suite) == (ours, [])


@pytest.mark.parametrize(
    ("suite", "problem"),
    [
        (
            {"environment": {"type": "docker", "image": "python", "workdir": "/w"}},
            (
                "not-supported",
                "environment.type",
                "only `type: host` has a counterpart; `sandbox` of a target can start a container",
            ),
        ),
        (
            {"environment": {"type": "host"}},
            (
                "not-supported",
                "environment",
                "`environment` has no counterpart unless it has a `workdir`",
            ),
        ),
        (
            host(env={"A": "b"}),
            ("not-supported", "environment.env", "`env` has no counterpart"),
        ),
        (
            host(setup={"command": ["../make.sh"]}),
            (
                "not-supported",
                "environment.setup",
                "a set-up that does not run in the workspace (`cwd: .`) has no counterpart",
            ),
        ),
        (
            host(setup="make"),
            (
                "not-supported",
                "environment.setup",
                "`setup` has no counterpart unless it has a `command`",
            ),
        ),
        (
            host(setup={"command": ["make"], "timeout_ms": 5}),
            ("skipped-there", "environment.setup.timeout_ms", "a set-up may take 15 minutes"),
        ),
        (
            {"defaults": {"grader": "judge"}},
            (
                "skipped-there",
                "defaults.grader",
                "`grader` has no effect: the judge is that of rubric-ci.yaml",
            ),
        ),
        (
            {"defaults": {"system_message": "Be kind"}},
            (
                "skipped-there",
                "defaults.system_message",
                "`system_message` has no effect: AgentV ignores it",
            ),
        ),
        (
            {"extensions": ["agentv:agent-rules"]},
            (
                "skipped-there",
                "extensions.0",
                "an agent finds rules and skills in the workspace by itself (`project_files`)",
            ),
        ),
        (
            {"extensions": ["file://setup.mjs:beforeAll"]},
            (
                "not-supported",
                "extensions.0",
                "an extension, which is code of AgentV, has no counterpart",
            ),
        ),
    ],
    ids=[
        *("docker", "no folder", "variables", "elsewhere", "no command", "time", "judge"),
        *("ignored", "rules", "code"),
    ],
)
def test_what_has_no_counterpart(suite: dict[str, Any], problem: tuple[str, str, str]) -> None:
    assert translated(**suite)[1] == [problem]


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
    found = {
        "cases/*/case.y*ml": [Found("cases/b/case.yaml", text), Found("cases/c/case.yaml", text)],
        "cases/*/workspace/**": [NotFound("no file matches")],
    }
    suite = "name: x\nenvironment: {type: host, workdir: w}\ntests: cases/\n"
    source, problems = opened(suite, found.__getitem__)
    assert [(case["id"], case["input"]) for case in source.data["evalcases"]] == [
        ("b", "Fix it"),
        ("c", "Fix it"),
    ]
    assert source.location(("evalcases", 1, "input"))[:2][0] == "cases/c/case.yaml"
    assert problems == []
    found["cases/*/workspace/**"] = [Found("cases/b/workspace/x", "")]
    _, problems = opened(suite, found.__getitem__)
    assert problems == ["evals/a.yaml:3: `cases/`: a folder `workspace` of a case is not read"]
