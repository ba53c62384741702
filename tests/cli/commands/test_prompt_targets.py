"""Prompt files of targets: what the model is asked, and what follows from a change of the file."""

from collections.abc import Iterator

import pytest

from rubric_ci.files.project.loader import load_targets
from rubric_ci.files.yaml_text.source import open_config
from rubric_ci.values.references import Found
from rubric_ci.values.targets import LlmTarget
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_against import changes, report, run
from tests.invoke import invoke

CONFIG = """\
judge: {{model: openai/judge, api_base: "{url}", api_key: none}}
targets:
  - {{name: default, model: openai/a, prompt: {prompt}, api_base: "{url}", api_key: none}}
"""
EVALS = """\
evalcases:
  - {id: one, vars: {shop: Corner}, input: "Hi {{ shop }}", rubrics: [Says hello]}
  - {id: two, vars: {shop: Market}, input: Bye, rubrics: [Says hello]}
"""
GITHUB = """\
name: Support
model: openai/a
modelParameters: {temperature: 0.5, maxTokens: 99}
messages:
  - role: system
    content: You work at {{ shop }}.
  - role: user
    content: "Question: {{input}}"
testData:
  - {input: Hi, shop: Corner}
"""


@pytest.fixture
def judge() -> Iterator[AnswerJudge]:
    with judging() as server:
        server.targets = {
            "a": lambda texts: "hello" if "warm" in texts[0] or "work" in texts[0] else "bye"
        }
        yield server


def commit(checkout: Checkout, url: str, prompt: str, text: str) -> None:
    config = CONFIG.format(url=url, prompt=prompt)
    files = {"rubric-ci.yaml": config, "evals/a.yaml": EVALS, prompt: text}
    checkout.commit({**files, ".gitignore": ".rubric-ci/\n"})


@pytest.mark.parametrize(
    ("prompt", "text", "asked"),
    [
        pytest.param(
            "prompts/help.md", "Be warm at {{ shop }}.\n",
            [("a", "Be warm at Corner.\n", "Hi Corner"), ("a", "Be warm at Market.\n", "Bye")],
            id="before the input",
        ),
        pytest.param(
            "prompts/help.md", "Be warm. {{ input | upper }}",
            [("a", "Be warm. BYE"), ("a", "Be warm. HI CORNER")],
            id="around the input",
        ),
        pytest.param(
            "prompts/help.prompt.yml", GITHUB,
            [("a", "You work at Corner.", "Question: Hi Corner"),
             ("a", "You work at Market.", "Question: Bye")],
            id="of GitHub Models",
        ),
    ],
)  # fmt: skip
def test_what_the_model_is_asked(
    checkout: Checkout, judge: AnswerJudge, prompt: str, text: str, asked: list[tuple[str, ...]]
) -> None:
    commit(checkout, judge.url, prompt, text)
    done = run(checkout, "evals")
    assert (done.returncode, sorted(judge.asked)) == (0, asked), done.stderr


def test_a_change_of_the_prompt_runs_its_cases(checkout: Checkout, judge: AnswerJudge) -> None:
    commit(checkout, judge.url, "prompts/help.md", "Be warm.")
    done = run(checkout, "evals", "--changed-since", "HEAD")
    assert "nothing-changed" in (checkout.root / ".rubric-ci/report.json").read_text(), done.stderr
    checkout.write({"prompts/help.md": "Be very warm."})
    run(checkout, "evals", "--changed-since", "HEAD")
    assert [case["why"] for case in report(checkout)["cases"]] == ["`prompts/help.md` changed"] * 2


def test_the_base_answers_with_its_own_prompt(checkout: Checkout, judge: AnswerJudge) -> None:
    commit(checkout, judge.url, "prompts/help.md", "Be warm.")
    checkout.write({"prompts/help.md": "Be brief."})
    done = run(checkout, "evals", "--against", "HEAD")
    assert {kind for kind, _ in changes(checkout).values()} == {"broken"}, done.stderr
    assert {texts[1] for texts in judge.asked} == {"Be warm.", "Be brief."}


@pytest.mark.parametrize(
    ("prompt", "text", "evals", "said"),
    [
        ("p.md", "At {{ sohp }}", EVALS, [
            ("evals/a.yaml:2:10: undefined-variable: `p.md`, the prompt of the target `default`, "
            "uses `{{ sohp }}`, which no case of the file has; did you mean `shop`?"),
            ("evals/a.yaml:3:22: warning: unused-variable: nothing uses `shop`; use it as "
            "`{{ shop }}` in a message or a criterion, or remove it"),
        ]),
        ("p.md", "At {{ shop", EVALS, [
            ("rubric-ci.yaml:3:46: prompt-file: `p.md` line 1: unexpected end of template, "
            "expected 'end of print statement'; correct the prompt file"),
            ("evals/a.yaml:3:22: warning: unused-variable: nothing uses `shop`; use it as "
            "`{{ shop }}` in a message or a criterion, or remove it"),
        ]),
        ("p.prompt.yml", "messages:\n  - {role: user}\nmodelParameters: {heat: 1}\nx: 1\n",
         "evalcases: [{id: one, input: Hi, rubrics: [Says hello]}]\n", [
            ("rubric-ci.yaml:3:46: prompt-file: `p.prompt.yml` line 2: a message has a `role` and "
            "a `content`; correct the prompt file"),
            ("rubric-ci.yaml:3:46: prompt-file: `p.prompt.yml` line 3: there is no parameter "
            "`heat`; known: temperature, topP, maxTokens, maxCompletionTokens, frequencyPenalty, "
            "presencePenalty, seed, stop, reasoningEffort; correct the prompt file"),
            ("rubric-ci.yaml:3:46: prompt-file: `p.prompt.yml` line 4: there is no key `x`; known: "
            "name, description, model, modelParameters, messages, responseFormat, jsonSchema, "
            "testData, evaluators; correct the prompt file"),
        ]),
        ("gone.md", "", "evalcases: [{id: one, input: Hi, rubrics: [Says hello]}]\n", [
            ("rubric-ci.yaml:3:46: file-missing: `gone.md`: no such file; paths are resolved from "
            "the eval file's folder, then from its parent folders"),
        ]),
        ("../out.md", "", "evalcases: [{id: one, input: Hi, rubrics: [Says hello]}]\n", [
            ("rubric-ci.yaml:3:46: file-missing: `../out.md`: is outside the repository; paths are "
            "resolved from the eval file's folder, then from its parent folders"),
        ]),
        ("p.md", "Be warm", "evalcases: [{id: one, vars: {a: b}, rubrics: [Says hello]}]\n", [
            ("evals/a.yaml:1:30: warning: unused-variable: nothing uses `a`; use it as "
            "`{{ a }}` in a message or a criterion, or remove it"),
        ]),
    ],
)  # fmt: skip
def test_validate(checkout: Checkout, prompt: str, text: str, evals: str, said: list[str]) -> None:
    config = CONFIG.format(url="http://localhost/v1", prompt=prompt).replace(", api_key: none", "")
    checkout.write({"rubric-ci.yaml": config, "evals/a.yaml": evals})
    (checkout.root.parent / "out.md").write_text("secret")
    if text:
        checkout.write({prompt: text})
    done = invoke(checkout.root, ENVIRONMENT, "validate", "rubric-ci.yaml", "evals")
    assert [line for line in done.stdout.splitlines() if ".yaml:" in line] == said


def test_a_case_without_input_asks_the_prompt(checkout: Checkout, judge: AnswerJudge) -> None:
    commit(checkout, judge.url, "prompts/help.md", "Be warm at {{ shop }}")
    case = "{id: a, vars: {shop: X}, rubrics: [Says hello]}"
    checkout.write({"evals/a.yaml": f"evalcases: [{case}]\n"})
    done = run(checkout, "evals")
    assert (done.returncode, judge.asked) == (0, [("a", "Be warm at X")]), done.stderr
    assert report(checkout)["cases"][0]["question"] == "shop: X"


def test_a_missing_variable_is_no_verdict(checkout: Checkout, judge: AnswerJudge) -> None:
    commit(checkout, judge.url, "prompts/help.md", "Be warm at {{ town }}")
    done = run(checkout, "evals")
    assert done.returncode == 3
    assert report(checkout)["cases"][0]["reason"] == "`prompts/help.md`: 'town' is undefined"
    assert judge.asked == []


def test_what_a_prompt_file_sets() -> None:
    text = "targets: [{name: t, prompt: a.prompt.yml, temperature: 0, api_base: http://x}]\n"
    schema = GITHUB + 'responseFormat: json_schema\njsonSchema: \'{"name": "a"}\'\n'
    loaded = load_targets(
        open_config("targets.yaml", text), lookup=lambda name: Found(name, schema)
    )
    (target,) = loaded.targets
    assert isinstance(target, LlmTarget)
    assert target.endpoint.model == "openai/a"
    assert target.endpoint.options == {
        "temperature": 0,
        "max_tokens": 99,
        "response_format": {"type": "json_schema", "json_schema": {"name": "a"}},
        "api_base": "http://x",
    }
