"""`rubric-ci.yaml` and targets files."""

from textwrap import dedent

import pytest

from rubric_ci.files.project.loader import load_config, load_targets
from rubric_ci.files.yaml_text.source import open_config
from rubric_ci.values.agent_program import AgentProgram, HealthCheck, JudgeCommand
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.scoring import Thresholds
from rubric_ci.values.targets import (
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    Target,
    UnsupportedTarget,
)
from rubric_ci.values.workspace_settings import Workspace


def config(text: str, path: str = "rubric-ci.yaml") -> Config:
    loaded = load_config(open_config(path, dedent(text)))
    assert loaded.diagnostics == ()
    assert loaded.config is not None
    return loaded.config


def test_everything() -> None:
    assert config("""\
        evals: [evals/**/*.yaml]
        judge:
          model: openai/gpt-6-luna
          api_key: ${{ OPENAI_API_KEY }}
          temperature: 0
          timeout_seconds: 30
          mode: isolated
          output: json_object
          evidence: strict
          votes: auto
          canary: true
        gate: {fail_on: borderline, thresholds: {pass: 0.9, borderline: 0.7}, min_kappa: 0.6}
        regression: {variants: false, repeated: note, cluster: "tag:topic-*", x-why: a}
        rules: {gate-kind: error, similar-key: off}
    """) == Config(
        evals=("evals/**/*.yaml",),
        judge=JudgeConfig(
            endpoint=Endpoint(
                model="openai/gpt-6-luna",
                options={"api_key": "${{ OPENAI_API_KEY }}", "temperature": 0},
                timeout_seconds=30.0,
            ),
            mode="isolated",
            output="json_object",
            evidence="strict",
            votes="auto",
            canary=True,
        ),
        gate=GateConfig(
            fail_on="borderline", thresholds=Thresholds(passing=0.9, borderline=0.7), min_kappa=0.6
        ),
        regression=RegressionConfig(variants=False, repeated="note", cluster="tag:topic-*"),
        rules={"gate-kind": "error", "similar-key": "off"},
    )


def test_a_threshold_has_the_decimals_of_a_score() -> None:
    gate = config("gate: {thresholds: {pass: 0.6666666666, borderline: 0.3333333333}}").gate
    assert gate.thresholds == Thresholds(passing=round(2 / 3, 6), borderline=round(1 / 3, 6))


def test_nothing_is_needed() -> None:
    assert config("{}") == Config()


JUDGES = {
    "a name": ("openai/gpt-6-luna", JudgeConfig(endpoint=Endpoint(model="openai/gpt-6-luna"))),
    "a tool": (
        "{cli: claude-code, model: m, votes: 3}",
        JudgeConfig(
            endpoint=Endpoint(
                model="claude-code/m",
                timeout_seconds=300,
                command=JudgeCommand(cli="claude-code", model="m"),
            ),
            votes=3,
            canary=True,
        ),
    ),
    "a command": (
        "{command: [/opt/my-judge, --json], env: [T], concurrency: 2, canary: false}",
        JudgeConfig(
            endpoint=Endpoint(
                model="command/my-judge",
                timeout_seconds=300,
                command=JudgeCommand(argv=("/opt/my-judge", "--json"), env=("T",), concurrency=2),
            )
        ),
    ),
}


@pytest.mark.parametrize(("text", "expected"), JUDGES.values(), ids=JUDGES)
def test_a_judge_may_be(text: str, expected: JudgeConfig) -> None:
    assert config(f"judge: {text}").judge == expected


def test_paths_are_relative_to_the_file() -> None:
    read = config(
        """\
        evals: [evals/*.yaml]
        targets:
          - {name: kept, provider: recorded, answers: answers.jsonl}
          - {name: agent, provider: cli, command_template: ./run, cwd: agent}
        """,
        "examples/quickstart/rubric-ci.yaml",
    )
    assert read.evals == ("examples/quickstart/evals/*.yaml",)
    kept, agent = read.targets["kept"], read.targets["agent"]
    assert isinstance(kept, RecordedTarget)
    assert kept.answers == "examples/quickstart/answers.jsonl"
    assert isinstance(agent, CliTarget)
    assert agent.cwd == "examples/quickstart/agent"


TARGETS: dict[str, tuple[str, Target]] = {
    "a model": (
        "{name: a, model: anthropic/claude-sonnet-5-5, concurrency: 16, max_tokens: 100}",
        LlmTarget(
            name="a",
            endpoint=Endpoint(model="anthropic/claude-sonnet-5-5", options={"max_tokens": 100}),
            concurrency=16,
        ),
    ),
    "azure": (
        (
            "{name: a, provider: azure, endpoint: '${{ E }}', api_key: '${{ K }}',"
            " model: '${{ D }}', version: 2024-12-01-preview, workers: 3, judge_target: b}"
        ),
        LlmTarget(
            name="a",
            endpoint=Endpoint(
                model="azure/${{ D }}",
                options={
                    "api_base": "${{ E }}",
                    "api_key": "${{ K }}",
                    "api_version": "2024-12-01-preview",
                },
            ),
            concurrency=3,
            judge_target="b",
        ),
    ),
    "gemini": (
        "{name: a, provider: google-gemini, model: gemini-3.8-flash, maxTokens: 9}",
        LlmTarget(
            name="a", endpoint=Endpoint(model="gemini/gemini-3.8-flash", options={"max_tokens": 9})
        ),
    ),
    "a command": (
        (
            "{name: a, provider: cli, command_template: 'run {PROMPT}', timeout_seconds: 5,"
            " env: [HOME], depends_on: [src/**], healthcheck: {type: http, url: 'http://x'}}"
        ),
        CliTarget(
            name="a",
            command_template="run {PROMPT}",
            timeout_seconds=5.0,
            env=("HOME",),
            depends_on=("src/**",),
            healthcheck=HealthCheck(type="http", url="http://x"),
        ),
    ),
    "camel case": (
        "{name: a, provider: CLI, commandTemplate: 'run {PROMPT}', timeoutSeconds: 5}",
        CliTarget(name="a", command_template="run {PROMPT}", timeout_seconds=5.0),
    ),
    "a command and its files": (
        "{name: a, provider: cli, command: run, attachmentsFormat: '-f {path}', graderTarget: b}",
        CliTarget(name="a", command_template="run", files_format="-f {path}", judge_target="b"),
    ),
    "a health check in camel case": (
        (
            "{name: a, provider: cli, command: run,"
            " healthcheck: {type: command, commandTemplate: ok, timeoutSeconds: 3, cwd: b}}"
        ),
        CliTarget(
            name="a",
            command_template="run",
            healthcheck=HealthCheck(
                type="command", command_template="ok", timeout_seconds=3.0, cwd="b"
            ),
        ),
    ),
    "a folder of the environment": (
        "{name: a, provider: cli, command: run, cwd: '${{ AGENT }}'}",
        CliTarget(name="a", command_template="run", cwd="${{ AGENT }}"),
    ),
    "a variant": (
        "{name: a, provider: openrouter, variant: x/y}",
        LlmTarget(name="a", endpoint=Endpoint(model="openrouter/x/y")),
    ),
    "recorded": (
        "{name: a, provider: recorded, answers: a.jsonl}",
        RecordedTarget(name="a", answers="a.jsonl"),
    ),
    "mock": ("{name: a, provider: mock, response: x}", MockTarget(name="a", response="x")),
    "an agent": (
        "{name: a, provider: claude-sdk, cwd: x}",
        UnsupportedTarget(name="a", provider="claude-sdk"),
    ),
    "an agent that is started": (
        "{name: a, provider: codex, model: m, tools: [], env: [A], project_files: true}",
        CliTarget(
            name="a",
            agent=AgentProgram(name="codex", model="m", tools=(), project_files=True),
            workspace=Workspace(),
            timeout_seconds=600.0,
            env=("A",),
            concurrency=4,
            depends_on=(),
        ),
    ),
    "an agent with a workspace": (
        (
            "{name: a, provider: claude-code, concurrency: 9, workspace: {copy: fixtures/shop, "
            "setup: npm ci, keep: ['out/**'], sandbox: [bwrap]}}"
        ),
        CliTarget(
            name="a",
            agent=AgentProgram(name="claude-code"),
            workspace=Workspace(
                copy="fixtures/shop", setup="npm ci", keep=("out/**",), sandbox=("bwrap",)
            ),
            timeout_seconds=600.0,
            concurrency=9,
            depends_on=("fixtures/shop",),
        ),
    ),
    "an agent that works on the repository": (
        "{name: a, provider: gemini-cli, workspace: {copy: .}}",
        CliTarget(
            name="a",
            agent=AgentProgram(name="gemini-cli"),
            workspace=Workspace(copy="."),
            timeout_seconds=600.0,
            concurrency=4,
        ),
    ),
    "a command with a trace": (
        "{name: a, provider: cli, command: run, trace: atif, workspace: {copy: x}}",
        CliTarget(name="a", command_template="run", trace="atif", workspace=Workspace(copy="x")),
    ),
}


@pytest.mark.parametrize(("written", "target"), TARGETS.values(), ids=TARGETS)
def test_targets(written: str, target: Target) -> None:
    loaded = load_targets(open_config("targets.yaml", f"targets:\n  - {written}\n"))
    assert loaded.diagnostics == ()
    assert loaded.targets == (target,)


def test_commands_of_a_hidden_targets_file_run_beside_the_evals() -> None:
    text = "targets: [{name: a, provider: cli, command: run, cwd: ..}]"
    (target,) = load_targets(open_config("evals/x/.agentv/targets.yaml", text)).targets
    assert isinstance(target, CliTarget)
    assert (target.cwd, target.cwd_from_eval_folder) == ("..", True)


@pytest.mark.parametrize(
    ("written", "rules"),
    [
        ("{name: log, provider: copilot-log, discover: latest}", []),
        ("{name: log, provider: transcript}", []),
        ("{name: log, provider: cc-mirror}", []),
        ("{name: log, provider: codexx, discover: latest}", ["missing-key"]),
    ],
)
def test_a_provider_of_agentv_without_model_is_not_started(written: str, rules: list[str]) -> None:
    loaded = load_targets(open_config(".agentv/targets.yaml", f"targets:\n  - {written}\n"))
    assert ([each.rule for each in loaded.diagnostics], len(loaded.targets)) == (rules, 1)
    assert isinstance(loaded.targets[0], UnsupportedTarget)


def test_an_agent_in_a_targets_file_of_agentv_is_not_started() -> None:
    text = "targets: [{name: a, provider: codex, log_dir: x}]"
    loaded = load_targets(open_config("evals/.agentv/targets.yaml", text))
    assert loaded.targets == (UnsupportedTarget(name="a", provider="codex"),)
    assert loaded.diagnostics == ()


SEVERITIES = "unknown-value `gate-kind` must be one of `error`, `warning`, `notice`, `off`"
WRONG = {
    "unknown key": ("judges: {}", "1:1 unknown-key unknown key `judges` in the file"),
    "no model": ("judge: {}", "1:8 missing-key `judge` has no `model`"),
    "a text": (
        "judge: {model: m, timeout_seconds: long}",
        "1:36 wrong-type `timeout_seconds` must be a number, not the text `long`",
    ),
    "nothing": ("targets: [{name: a}]", "1:11 missing-key the target has no `model`"),
    "a service without its provider": (
        "targets: [{name: a, url: 'https://a.example'}]",
        "1:11 missing-key the target has no `provider`",
    ),
    "a service whose provider is misspelt": (
        "targets: [{name: a, provder: http, url: 'https://a.example'}]",
        "1:21 missing-key the target has no `provider`, but `provder`",
    ),
    "cli": (
        "targets: [{name: a, provider: cli}]",
        "1:11 missing-key the target has no `command_template`",
    ),
    "recorded": (
        "targets: [{name: a, provider: recorded}]",
        "1:11 missing-key the target has no `answers`",
    ),
    "unknown placeholder": (
        "targets: [{name: a, provider: cli, command: 'x {PROMT} ${HOME}'}]",
        "1:48 unknown-placeholder `{PROMT}` is not a known placeholder",
    ),
    "twice the same name": (
        "targets: [{name: a, model: m}, {name: a, model: m}]",
        "1:39 target-name-duplicate the name `a` is taken by an earlier target",
    ),
    "even votes": ("judge: {model: m, votes: 2}", "1:26 votes-even `votes` must be odd, not 2"),
    "thresholds out of order": (
        "gate: {thresholds: {pass: 0.5}}",
        "1:20 threshold-order `borderline` (0.6) is above `pass` (0.5)",
    ),
    "rule of another type": ("rules: {gate-kind: [off]}", f"1:20 {SEVERITIES}, not a list"),
    "unknown rule": ("rules: {gate-kinds: off}", "1:9 unknown-rule there is no rule `gate-kinds`"),
    "unknown severity": ("rules: {gate-kind: fatal}", f"1:20 {SEVERITIES}, not the text `fatal`"),
    "camel case of a wrong type": (
        "targets: [{name: a, provider: cli, command: x, timeoutSeconds: long}]",
        "1:64 wrong-type `timeout_seconds` must be a number, not the text `long`",
    ),
    "a number for a text in camel case": (
        "targets: [{name: a, provider: cli, commandTemplate: 7}]",
        "1:53 not-text `command_template` must be text; `7` reads as a number",
    ),
    "an unknown key of a health check": (
        (
            "targets: [{name: a, provider: cli, command: x,"
            " healthcheck: {type: http, url: 'http://x', waitFor: 3}}]"
        ),
        "1:91 unknown-key unknown key `waitFor` in `healthcheck`",
    ),
    "no number of tokens": (
        "targets: [{name: a, model: m, max_tokens: many}]",
        "1:43 unknown-value `max_tokens` cannot be `many`",
    ),
    "no token": (
        "targets: [{name: a, model: m, max_tokens: 0}]",
        "1:43 out-of-range `max_tokens` must be at least 1, not 0",
    ),
    "a temperature below zero": (
        "targets: [{name: a, model: m, temperature: -1}]",
        "1:44 out-of-range `temperature` must be at least 0, not -1",
    ),
    "both spellings": (
        "targets: [{name: a, model: m, maxTokens: 1, max_tokens: 2}]",
        "1:31 alias-conflict `maxTokens` and `max_tokens` mean the same; use one of them",
    ),
    "a provider without a model": (
        "targets: [{name: a, provider: azure, settings: {model: m}}]",
        "1:11 missing-key the target has no `model`",
    ),
    "a misspelt model": (
        "judge: {modle: m}",
        "1:9 missing-key `judge` has no `model`, but `modle`",
    ),
    "a misspelt name of a target's model": (
        "targets: [{name: a, provider: openai, mdoel: m}]",
        "1:39 missing-key the target has no `model`, but `mdoel`",
    ),
    "a misspelt command": (
        "targets: [{name: a, provider: cli, comand_template: x}]",
        "1:36 missing-key the target has no `command_template`, but `comand_template`",
    ),
    "a judge that is none": (
        "targets: [{name: a, model: m, judge_target: b}, {name: b, provider: mock}]",
        "1:45 judge-target `b` is not a model and cannot judge",
    ),
    "broken YAML": ("judge: [", "1:9 yaml-syntax the file ends in the middle of a value"),
}


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(text: str, expected: str) -> None:
    loaded = load_config(open_config("rubric-ci.yaml", text))
    found = [f"{d.span.line}:{d.span.column} {d.rule} {d.message}" for d in loaded.diagnostics]
    assert (loaded.config, found) == (None, [expected])


@pytest.mark.parametrize(
    ("setting", "provider"),
    [
        ("url: 'https://a.example'", "http"),
        ("command_template: run", "cli"),
        ("commandTemplate: run", "cli"),
        ("command: run", "cli"),
        ("answers: a.jsonl", "recorded"),
        ("response: yes of course", "mock"),
        ("reads: inspect, command_template: run", "runner"),
        ("command: run, response: yes of course", "cli"),
    ],
)
def test_a_setting_names_the_provider_that_a_target_lacks(setting: str, provider: str) -> None:
    loaded = load_config(open_config("rubric-ci.yaml", f"targets: [{{name: a, {setting}}}]"))
    key = "command_template" if setting.startswith("commandT") else setting.partition(":")[0]
    (found,) = loaded.diagnostics
    assert (found.message, found.hint) == (
        "the target has no `provider`",
        f"`{key}` is a setting of `provider: {provider}`",
    )


RETRIES = "model requests are retried up to 4 times, commands never"
REMOVE = "remove it, or start its name with `x-`"
UNUSED = {
    "retries": (
        "{name: a, model: m, max_retries: 9}",
        "`max_retries` has no effect on a model",
        RETRIES,
    ),
    "camel case": (
        "{name: a, model: m, retryMaxDelayMs: 9}",
        "`retryMaxDelayMs` has no effect on a model",
        RETRIES,
    ),
    "batches of a model": (
        "{name: a, model: m, batch_requests: true}",
        "`batch_requests` has no effect on a model",
        "RUBRIC_CI_BATCH sends the requests of `rubric-ci run` to models in batches",
    ),
    "one process for all cases": (
        "{name: a, provider: cli, command: x, providerBatching: true}",
        "`providerBatching` has no effect on a command",
        (
            "a command is started for each case; keep the answers of one process in a file for "
            "`provider: recorded`"
        ),
    ),
    "votes of a target": (
        "{name: a, model: m, votes: 3}",
        "`votes` has no effect on a model",
        "it is a setting of `judge` in rubric-ci.yaml",
    ),
    "a misspelt setting of a command": (
        "{name: a, provider: cli, command: x, timeout: 3}",
        "`timeout` has no effect on a command",
        "did you mean `timeout_seconds`?",
    ),
    "delay": (
        "{name: a, provider: mock, delay_ms: 3}",
        "`delay_ms` has no effect on a fixed answer",
        REMOVE,
    ),
    "concurrency of recorded answers": (
        "{name: a, provider: recorded, answers: a.jsonl, workers: 3}",
        "`workers` has no effect on recorded answers",
        REMOVE,
    ),
}


@pytest.mark.parametrize(("written", "message", "hint"), UNUSED.values(), ids=UNUSED)
def test_settings_without_effect_are_reported(written: str, message: str, hint: str) -> None:
    loaded = load_targets(open_config("targets.yaml", f"targets: [{written}]"))
    assert loaded.targets != ()
    found = [(d.rule, d.severity.value, d.message, d.hint) for d in loaded.diagnostics]
    assert found == [("unused-setting", "warning", message, hint)]


@pytest.mark.parametrize(
    "written",
    [
        "{name: a, provider: cli, command: x, provider_batching: false, verbose: false, x-own: 1}",
        "{name: a, model: m, retries-of-the-provider: 3}",
        "{name: a, provider: claude-sdk, timeout_seconds: 3, log_dir: logs, max_retries: 2}",
    ],
    ids=["what is off anyway", "options of the model call", "an agent, which an eval must name"],
)
def test_settings_that_are_left_alone(written: str) -> None:
    assert load_targets(open_config("targets.yaml", f"targets: [{written}]")).diagnostics == ()


@pytest.mark.parametrize(
    ("judge", "rule"),
    [("{model: m, api_key: sk-1}", "literal-secret"), ("{model: m, temprature: 0}", "similar-key")],
)
def test_warnings(judge: str, rule: str) -> None:
    loaded = load_config(open_config("rubric-ci.yaml", f"judge: {judge}"))
    assert loaded.config is not None
    assert [d.rule for d in loaded.diagnostics] == [rule]


IDLE = "targets: [{name: a, model: m, max_retries: 9}]"


@pytest.mark.parametrize(
    ("text", "rules"),
    [(IDLE, {"unused-setting": "off"}), (f"{IDLE} # rubric-ci: ignore[unused-setting]", {})],
    ids=["in the configuration", "by a comment"],
)
def test_rules_are_switched_where_targets_are_read(text: str, rules: dict[str, str]) -> None:
    loaded = load_targets(open_config("targets.yaml", text), rules)
    assert loaded.diagnostics == ()
    assert len(loaded.targets) == 1


def test_a_configuration_switches_its_own_rules() -> None:
    loaded = load_config(
        open_config("rubric-ci.yaml", f"rules: {{unused-setting: off}}\nown: 1\n{IDLE}\n")
    )
    assert [d.rule for d in loaded.diagnostics] == ["unknown-key"]
    text = f"rules: {{unused-setting: off}}\nown: 1 # rubric-ci: ignore[unknown-key]\n{IDLE}\n"
    assert load_config(open_config("rubric-ci.yaml", text)).diagnostics == ()


def test_a_targets_file_has_targets_only() -> None:
    loaded = load_targets(open_config("targets.yaml", "judge: {model: m}\ncompare: [a, b]\n"))
    assert loaded.targets == ()
    assert [d.message for d in loaded.diagnostics] == [
        "the file has no `targets`",
        "`judge` does not belong in a targets file",
        "`compare` does not belong in a targets file",
    ]
