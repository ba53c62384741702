"""A pull request that changes who judges, or when the gate fails: the base's policy holds."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import Checkout
from tests.http_server import JsonHandler, QuietHandler, serving
from tests.invoke import invoke
from tests.sample_project import clean_environment
from tests.security.hostile_pull_requests import generator

CONFIG = """\
judge: {{model: openai/gpt-6-luna, api_base: "{base}/v1", api_key: "${{{{ OPENAI_API_KEY }}}}"}}
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
gate: {{fail_on: fail}}
"""
EVALS = """\
evalcases:
  - id: one
    input: Say hello
    rubrics: [{id: greets, expected_outcome: Greets}]
"""
GATED = """\
evalcases:
  - id: one
    input: Say hello
    rubrics: [{id: greets, expected_outcome: Greets, score_ranges: {0: Any}, required: true}]
"""
KEY = "sk-of-the-repository"


@dataclass
class Judge:
    """A judge on a real port, which keeps the Authorization header of every request."""

    url: str
    keys: list[str] = field(default_factory=list)

    @property
    def config(self) -> str:
        return CONFIG.format(base=self.url)


@contextmanager
def judging(*, satisfied: bool) -> Iterator[Judge]:
    mark = {"evidence": "", "reasoning": "As scripted.", "satisfied": satisfied}
    message = {"role": "assistant", "content": json.dumps({"c1": mark})}
    reply = {
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            """Return the entry of any model, which costs nothing."""
            self.send_json(200, {"object": "model"})

        def do_POST(self) -> None:
            self.body()
            judge.keys.append(self.headers["Authorization"])
            self.send_json(200, reply)

    with serving(Handler) as server:
        judge = Judge(server.url)
        yield judge


@pytest.fixture
def strict() -> Iterator[Judge]:
    with judging(satisfied=False) as judge:
        yield judge


@pytest.fixture
def attacker() -> Iterator[Judge]:
    with judging(satisfied=True) as judge:
        yield judge


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A clone with the merge commit of a pull request, as `actions/checkout` makes it."""

    clone: Checkout
    event: Path
    sha: str

    def run(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return invoke(
            self.clone.root,
            clean_environment()
            | {
                "GITHUB_ACTIONS": "true",
                "GITHUB_REPOSITORY": "acme/shop",
                "GITHUB_EVENT_NAME": "pull_request",
                "GITHUB_EVENT_PATH": str(self.event),
                "GITHUB_REF": "refs/pull/7/merge",
                "GITHUB_SHA": self.sha,
                "OPENAI_API_KEY": KEY,
            }
            | environment,
            *arguments,
        )

    def grade(self, *options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return self.run("run", "evals", *options, **environment)

    @property
    def report(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(
            (self.clone.root / ".rubric-ci/report.json").read_text(encoding="utf-8")
        )
        return read

    @property
    def changes(self) -> list[str]:
        """The changes of the policy, as the report shows them."""
        title = "Policy change, in effect after the merge: "
        return [n.removeprefix(title) for n in self.report["notes"] if n.startswith(title)]


def open_pull_request(
    folder: Path, base: dict[str, str], change: dict[str, str], *, depth: int = 2
) -> PullRequest:
    """Commit the base, change files on a branch, merge it and clone that as GitHub does."""
    shared = {"evals/a.eval.yaml": EVALS, "answers.jsonl": '{"id": "one", "answer": "Bye"}\n'}
    made = generator.open_pull_request(folder, shared | base, change, depth=depth)
    event, sha = (made.environment[f"GITHUB_{name}"] for name in ("EVENT_PATH", "SHA"))
    return PullRequest(clone=made.clone, event=Path(event), sha=sha)


def reconfigured(folder: Path, base: str, change: str) -> PullRequest:
    return open_pull_request(folder, {"rubric-ci.yaml": base}, {"rubric-ci.yaml": change})


def test_the_attackers_judge_gets_no_key_and_gives_no_verdict(
    tmp_path: Path, strict: Judge, attacker: Judge
) -> None:
    pull = reconfigured(tmp_path, strict.config, attacker.config)
    done = pull.grade()
    assert done.returncode == 1, done.stderr
    assert (strict.keys, attacker.keys) == ([f"Bearer {KEY}"], [])
    assert pull.changes == [f"judge.api_base: {strict.url}/v1 → {attacker.url}/v1"]


GATES = {
    "fail_on: never": ("gate: {fail_on: never}", ["gate.fail_on: fail → never"]),
    "thresholds": (
        "gate: {fail_on: fail, thresholds: {pass: 0, borderline: 0}}",
        ["gate.thresholds.borderline: 0.6 → 0.0", "gate.thresholds.pass: 0.8 → 0.0"],
    ),
    "regression": (
        "gate: {fail_on: fail}\nregression: {repeated: note}",
        ["regression.repeated: broken → note"],
    ),
}


@pytest.mark.parametrize(("gate", "shown"), GATES.values(), ids=GATES)
def test_a_weaker_gate(tmp_path: Path, strict: Judge, gate: str, shown: list[str]) -> None:
    change = strict.config.replace("gate: {fail_on: fail}", gate)
    pull = reconfigured(tmp_path, strict.config, change)
    done = pull.grade()
    assert done.returncode == 1, done.stderr
    assert pull.changes == shown
    assert pull.report["gate"]["holds"] is False
    assert all(f"after the merge: {line}" in done.stdout for line in shown)


def test_another_judge_in_a_targets_file(tmp_path: Path, strict: Judge, attacker: Judge) -> None:
    targets = (
        "targets:\n"
        "  - {name: default, provider: recorded, answers: ../answers.jsonl, judge_target: j}\n"
        '  - {name: j, model: openai/gpt-6-luna, api_base: "URL/v1"}\n'
    )
    base = {"evals/targets.yaml": targets.replace("URL", strict.url)}
    change = {"evals/targets.yaml": targets.replace("URL", attacker.url)}
    pull = open_pull_request(tmp_path, base, change)
    done = pull.grade("--target", "default")
    assert (done.returncode, attacker.keys) == (1, []), done.stderr
    assert len(strict.keys) == 1


def test_a_waiver_of_its_own_failure(tmp_path: Path, strict: Judge) -> None:
    pull = open_pull_request(tmp_path, {"rubric-ci.yaml": strict.config}, {})
    until = (date.today() + timedelta(days=7)).isoformat()
    waive = f"waive one/greets --until {until} --reason later --owner a@example.org"
    assert pull.run(*waive.split()).returncode == 0
    assert pull.grade().returncode == 1
    assert pull.grade("--policy-from", "head").returncode == 0


def calibrated(kappa: float) -> str:
    judge = {"model": "openai/gpt-6-luna", "mode": "batched", "votes": 1}
    from rubric_ci.models.judge.prompt import PROMPT_VERSION

    known = {"version": 4, "judge": {**judge, "prompt_version": PROMPT_VERSION}}
    overall = {"kappa": kappa, "interval": [kappa - 0.1, kappa + 0.1]}
    return json.dumps({**known, "overall": overall})


def test_an_edited_calibration(tmp_path: Path, strict: Judge) -> None:
    config = strict.config.replace("fail}", "fail, min_kappa: 0.6}")
    base = {"rubric-ci.yaml": config, "calibration.json": calibrated(0.2)}
    pull = open_pull_request(tmp_path, base, {"calibration.json": calibrated(0.9)})
    done = pull.grade()
    assert (done.returncode, strict.keys) == (2, [])
    assert "its agreement with people is too low: the lower end of kappa is 0.10" in done.stderr


def test_rules_that_are_switched_off(tmp_path: Path, strict: Judge) -> None:
    base = strict.config
    pull = open_pull_request(
        tmp_path,
        {"rubric-ci.yaml": base + "rules: {gate-kind: error}\n"},
        {"rubric-ci.yaml": base + "rules: {gate-kind: off}\n", "evals/a.eval.yaml": GATED},
    )
    done = pull.grade()
    assert (done.returncode, strict.keys) == (2, []), "the file has errors and is not graded"
    assert pull.changes == ["rules.gate-kind: error → off"]


def test_a_base_without_a_configuration(tmp_path: Path, strict: Judge) -> None:
    pull = open_pull_request(tmp_path, {}, {"rubric-ci.yaml": strict.config})
    done = pull.grade()
    assert done.returncode == 1, done.stderr
    (note,) = pull.report["notes"]
    assert note.startswith("the pull request's base branch (")
    assert note.endswith(") has no configuration: this change sets judge, gate and rules")


def test_a_shallow_clone_without_the_base(tmp_path: Path, strict: Judge) -> None:
    pull = open_pull_request(tmp_path, {"rubric-ci.yaml": strict.config}, {}, depth=1)
    done = pull.grade()
    assert (done.returncode, strict.keys) == (2, [])
    assert unmasked(done.stderr) == (
        "rubric-ci: the policy of the base cannot be read: the pull request's base branch is not "
        "in this shallow clone; check out with `fetch-depth: 2` (0 with a `ref`)\n"
        "  judge, gate and rules come from the base commit\n"
    )
    assert pull.grade("--policy-from", "head").returncode == 1


def test_a_base_with_errors(tmp_path: Path, strict: Judge) -> None:
    pull = reconfigured(tmp_path, "gate: {fail_on: x}\n", strict.config)
    done = pull.grade()
    assert (done.returncode, strict.keys) == (2, [])
    assert "the configuration of the pull request's base branch (" in done.stderr
    assert "rubric-ci.yaml:1:" in done.stderr


def test_head_outside_of_ci(tmp_path: Path, strict: Judge) -> None:
    pull = reconfigured(
        tmp_path, strict.config, strict.config.replace("fail_on: fail", "fail_on: never")
    )
    assert pull.grade(GITHUB_ACTIONS="").returncode == 0
    assert pull.grade(GITHUB_EVENT_NAME="push").returncode == 0
    assert pull.grade(RUBRIC_CI_RUN_POLICY_FROM="head").returncode == 0
    since = ("--changed-since", "HEAD^1", "--policy-from", "base")
    pull.clone.write({"evals/a.eval.yaml": EVALS.replace("Say hello", "Say hi")})
    assert pull.grade(*since, GITHUB_ACTIONS="").returncode == 1


def test_a_policy_file(tmp_path: Path, strict: Judge, attacker: Judge) -> None:
    (tmp_path / "policy.yaml").write_text(strict.config)
    pull = open_pull_request(tmp_path, {}, {"rubric-ci.yaml": attacker.config})
    done = pull.grade("--policy-from", str(tmp_path / "policy.yaml"))
    assert (done.returncode, attacker.keys) == (1, []), done.stderr
    assert strict.keys == [f"Bearer {KEY}"]
    missing = pull.grade("--policy-from", "trunk")
    assert missing.returncode == 2
    assert "expected base, head or a configuration file" in missing.stderr


def test_a_merge_of_the_author_is_not_the_base(tmp_path: Path, strict: Judge) -> None:
    """HEAD that merges the head commit is trusted only if the workflow runs on it."""
    pull = reconfigured(
        tmp_path, strict.config, strict.config.replace("fail_on: fail", "fail_on: never")
    )
    head = json.loads(pull.event.read_text())["pull_request"]["head"]["sha"]
    tree = pull.clone.git("rev-parse", "HEAD^{tree}")
    evil = pull.clone.git("commit-tree", tree, "-p", head, "-p", head, "-m", "merge")
    pull.clone.git("switch", "--quiet", "--detach", evil)
    assert pull.grade().returncode == 1


@pytest.mark.parametrize("model", ["openai/gpt-6-luna", "openai/gpt-6.1-sol"])
def test_a_judge_that_the_workflow_pins_keeps_no_host_of_the_configuration(
    model: str, tmp_path: Path, strict: Judge, attacker: Judge
) -> None:
    pull = open_pull_request(tmp_path, {}, {"rubric-ci.yaml": attacker.config})
    pinned = ("run", "evals", "--policy-from", "head", "--judge", model)
    done = pull.run(*pinned, OPENAI_BASE_URL=f"{strict.url}/v1")
    assert (done.returncode, attacker.keys) == (1, []), done.stderr
    assert strict.keys == [f"Bearer {KEY}"]


RECORDED = "{name: default, provider: recorded, answers: answers.jsonl}"


def target_at(url: str, **options: str) -> str:
    written = {
        "name": "default",
        "model": "openai/gpt-6.1-sol",
        "api_base": f"{url}/v1",
        "api_key": "${{ OPENAI_API_KEY }}",
    }
    return json.dumps(written | options)


def test_known_targets_connect_as_the_base(tmp_path: Path, strict: Judge, attacker: Judge) -> None:
    then = strict.config.replace(RECORDED, target_at(strict.url))
    now = strict.config.replace(RECORDED, target_at(attacker.url, vertex_credentials="creds.json"))
    pull = reconfigured(tmp_path, then, now)
    done = pull.grade(RUBRIC_CI_ALLOWED_HOSTS=hosts(strict, attacker))
    assert (done.returncode, len(strict.keys), attacker.keys) == (1, 2, []), done.stderr
    assert pull.changes == [
        f"targets.default.api_base: {strict.url}/v1 → {attacker.url}/v1",
        "targets.default.vertex_credentials: *** → ***",
    ]


def hosts(*judges: Judge) -> str:
    return "\n".join(judge.url.removeprefix("http://") for judge in judges)


def unmasked(text: str) -> str:
    """Return the text without the commands that mask secrets in the log of the runner."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("::add-mask::"))


def test_another_host_gets_no_request(tmp_path: Path, strict: Judge, attacker: Judge) -> None:
    change = strict.config.replace(RECORDED, target_at(attacker.url))
    pull = reconfigured(tmp_path, strict.config, change)
    own = ("run", "evals", "--policy-from", "head")
    done = pull.run(*own, RUBRIC_CI_ALLOWED_HOSTS=hosts(strict))
    assert (done.returncode, strict.keys, attacker.keys) == (3, [], []), done.stderr
    host = hosts(attacker)
    assert (
        f"openai/gpt-6.1-sol: the host {host} is not allowed, and nothing was sent to it; list it "
        "in RUBRIC_CI_ALLOWED_HOSTS, or merge a configuration that uses it"
    ) in pull.report["cases"][0]["reason"]
    done = pull.run(*own, RUBRIC_CI_ALLOWED_HOSTS=hosts(strict, attacker))
    assert (len(strict.keys), len(attacker.keys)) == (1, 1), done.stderr


def test_hosts_that_are_given_are_all(tmp_path: Path, strict: Judge) -> None:
    pull = open_pull_request(tmp_path, {"rubric-ci.yaml": strict.config}, {})
    done = pull.grade(RUBRIC_CI_ALLOWED_HOSTS="judge.example", GITHUB_ACTIONS="")
    assert (done.returncode, strict.keys) == (3, []), done.stderr
    assert pull.grade(RUBRIC_CI_ALLOWED_HOSTS=strict.url).returncode == 2


PLAIN = "evalcases:\n  - id: one\n    input: Say hello\n    rubrics: [Greets]\n"
ERROR, OFF = "rules: {gate-kind: error}\n", "rules: {gate-kind: off}\n"
SWITCHED = "Policy change, in effect after the merge: rules.gate-kind: error → off"


def fenced(text: str) -> list[str]:
    """Return the lines between those that turn workflow commands off and on."""
    off, *lines, on = text.splitlines()
    assert off == f"::stop-commands::{on.strip(':')}"
    return lines


def open_switched(folder: Path, *, depth: int = 2) -> PullRequest:
    """Open a pull request that turns off the rule which its eval file breaks."""
    change = {"rubric-ci.yaml": OFF, "evals/a.eval.yaml": GATED}
    return open_pull_request(folder, {"rubric-ci.yaml": ERROR}, change, depth=depth)


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target", "merge_group"])
def test_validate_follows_the_rules_of_the_base(tmp_path: Path, event: str) -> None:
    pull = open_switched(tmp_path)
    if event == "merge_group":
        group = {"base_sha": pull.clone.git("rev-parse", "HEAD^1"), "head_sha": pull.sha}
        pull.event.write_text(json.dumps({"merge_group": group}), encoding="utf-8")
    done = pull.run("validate", GITHUB_EVENT_NAME=event)
    assert done.returncode == 1, done.stderr
    assert "evals/a.eval.yaml:4:78: gate-kind: " in done.stdout
    assert SWITCHED in done.stdout.splitlines()


def test_validate_shows_the_switch_where_no_file_breaks_the_rule(tmp_path: Path) -> None:
    base = {"rubric-ci.yaml": ERROR, "evals/a.eval.yaml": PLAIN}
    pull = open_pull_request(tmp_path, base, {"rubric-ci.yaml": OFF})
    done = pull.run("validate")
    title, change, summary = fenced(done.stdout)
    assert title.startswith("Policy (rule switches) is taken from the pull request's base branch (")
    assert (done.returncode, change, summary) == (0, SWITCHED, "2 files checked: no problems")


def test_validate_shows_the_switch_in_every_format(tmp_path: Path) -> None:
    pull = open_switched(tmp_path)
    annotations = pull.run("validate", "--format", "github").stdout
    assert (
        "::notice title=Policy (rule switches) is taken from the pull request's base" in annotations
    )
    found = json.loads(pull.run("validate", "--format", "json").stdout)
    assert found["notes"][1:] == [SWITCHED]
    (run,) = json.loads(pull.run("validate", "--format", "sarif").stdout)["runs"]
    said = [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]]
    assert said[1:] == [SWITCHED]


def test_validate_of_the_checkout_itself(tmp_path: Path) -> None:
    pull = open_switched(tmp_path)
    for arguments, environment in (
        ((), {"GITHUB_ACTIONS": ""}),
        ((), {"GITHUB_EVENT_NAME": "push"}),
        (("--policy-from", "head"), {}),
    ):
        done = pull.run("validate", *arguments, **environment)
        assert (done.returncode, done.stdout) == (0, "2 files checked: no problems\n"), done.stderr


def test_validate_under_a_policy_file(tmp_path: Path) -> None:
    pull = open_switched(tmp_path)
    (tmp_path / "policy.yaml").write_text(ERROR)
    policy = str(tmp_path / "policy.yaml")
    done = pull.run("validate", "--policy-from", policy, GITHUB_ACTIONS="")
    assert (done.returncode, SWITCHED in done.stdout) == (1, True), done.stderr
    assert pull.run("validate", "--policy-from", "trunk").returncode == 2


def test_validate_in_a_shallow_clone_without_the_base(tmp_path: Path) -> None:
    pull = open_switched(tmp_path, depth=1)
    done = pull.run("validate")
    assert done.returncode == 2
    assert done.stdout == (
        "::error title=rubric-ci::the policy of the base cannot be read: the pull request's base "
        "branch is not in this shallow clone; check out with `fetch-depth: 2` (0 with a `ref`) "
        "(judge, gate and rules come from the base commit)\n"
    )
    assert "check out with `fetch-depth: 2`" in done.stderr


def test_validate_where_the_base_has_no_configuration(tmp_path: Path) -> None:
    change = {"rubric-ci.yaml": OFF, "evals/a.eval.yaml": GATED}
    pull = open_pull_request(tmp_path, {}, change)
    done = pull.run("validate")
    note, summary = fenced(done.stdout)
    assert note.endswith(") has no configuration: this change sets the rules")
    assert (done.returncode, summary) == (0, "2 files checked: no problems"), done.stderr


def test_a_change_that_repairs_the_configuration_of_the_base(tmp_path: Path) -> None:
    """Its readable switches hold: a base with errors must not lock its own repair out."""
    broken = f"{ERROR}gate: {{fail_on: x}}\n"
    pull = open_pull_request(
        tmp_path, {"rubric-ci.yaml": broken}, {"rubric-ci.yaml": OFF, "evals/a.eval.yaml": GATED}
    )
    done = pull.run("validate", "rubric-ci.yaml")
    assert (done.returncode, SWITCHED in done.stdout) == (0, True), done.stderr
    assert pull.run("validate").returncode == 1


CHECKED = """\
targets:
  - name: default
    provider: cli
    command_template: echo Hi
    healthcheck: {type: http, url: "URL?k=${{ OPENAI_API_KEY }}"}
"""
SCRIPTED = """\
evalcases:
  - id: one
    input: Say hello
    evaluators: [{name: s, type: code_judge, script: 'true', score_from: exit_status}]
"""
HEALTH_CHECKS = {
    "of the change": ("{base}", "{other}/health", {}, "attacker"),
    "with a user": ("{base}", "http://{base_host}@{other_host}/health", {}, "attacker"),
    "another port of the base's host": ("{base}", "http://127.0.0.1:1/health", {}, "attacker"),
    "of the base": ("{base}", "{base}/other", {}, ""),
    "not listed": ("{base}", "{base}/health", {"RUBRIC_CI_ALLOWED_HOSTS": "judge.example"}, "base"),
    "listed": ("{base}", "{other}/health", {"RUBRIC_CI_ALLOWED_HOSTS": "{other_host}"}, ""),
}


@pytest.mark.parametrize(
    ("base", "change", "environment", "refused"), HEALTH_CHECKS.values(), ids=HEALTH_CHECKS
)
def test_a_health_check_goes_to_the_hosts_of_the_base(
    tmp_path: Path, base: str, change: str, environment: dict[str, str], refused: str
) -> None:
    asked: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.respond(200)

    with serving(Handler) as one, serving(Handler) as two:
        hosts = {"base_host": one.url.removeprefix("http://")}
        hosts |= {"other_host": two.url.removeprefix("http://")}
        places = {"base": one.url, "other": two.url} | hosts
        files = [
            {
                "rubric-ci.yaml": CHECKED.replace("URL", url.format_map(places)),
                "evals/a.eval.yaml": SCRIPTED,
            }
            for url in (base, change)
        ]
        pull = open_pull_request(tmp_path, *files)
        known = {name: value.format_map(places) for name, value in environment.items()}
        done = pull.grade(**known)
    assert (done.returncode, len(asked)) == ((3, 0) if refused else (0, 1)), done.stderr
    if refused:
        assert "nothing was sent" in pull.report["cases"][0]["reason"]
