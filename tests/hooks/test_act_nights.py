"""Seven nights of the workflow and the history under act, with a fake GitHub and a judge."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rubric_ci.gate.comparison.baseline_files import read_baseline
from rubric_ci.values.results import Graded
from rubric_ci.values.trials import trials_of
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import Checkout
from tests.contract.fake_github import GitHub, Token, serving
from tests.hooks import runner

pytestmark = [pytest.mark.deep, pytest.mark.timeout(900), *runner.WITH_ACT]

CONFIG = """\
evals: [evals/*.eval.yaml]
judge: {{model: openai/gpt-6-luna, api_key: "${{{{ OPENAI_API_KEY }}}}", api_base: "{url}/v1"}}
targets:
  - {{name: default, provider: cli, command_template: "sh agent.sh {{EVAL_ID}} {{ATTEMPT}}"}}
"""
EVALS = """\
evalcases:
  - {id: greeting, input: Say hello, rubrics: [Greets]}
  - {id: farewell, input: Say hello again, rubrics: [Greets again]}
""" + "".join(f"  - {{id: steady-{n}, input: Say hello, rubrics: [Greets]}}\n" for n in range(4))
GOOD, BAD = "echo hello", "echo bye"
HISTORY = "rubric-ci-history"
NOISY = '[ "$2" -lt 2 ] && echo bye || echo hello'
TOKEN = "the-token-of-the-job"


@pytest.fixture
def judge() -> Iterator[AnswerJudge]:
    with judging() as server:
        yield server


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub(tokens={TOKEN: Token()})) as server:
        yield server


@dataclass(frozen=True, slots=True)
class Nights:
    """A repository with an agent, and the workflow that grades it each night."""

    checkout: Checkout
    judge: AnswerJudge
    github: GitHub
    published: Checkout
    commits: list[str] = field(default_factory=list)

    @property
    def kept(self) -> Path:
        return self.checkout.root.parent / "kept"

    @property
    def reference(self) -> Path:
        """The newest cache of the reference."""
        return max(self.kept.glob("caches/**/rubric-ci-reference-*/kept"))

    def run(self, *, greeting: str, farewell: str, accept: str = "") -> runner.Job:
        """Commit an agent with these answers, and run the workflow."""
        self.commit(greeting, farewell)
        event = "workflow_dispatch" if accept else "schedule"
        return runner.run(
            self.checkout,
            "evals-nightly.yml",
            event=event,
            payload={
                "inputs": {"accept": accept},
                "schedule": "43 2 * * *",
                "repository": {"full_name": "acme/app"},
            },
            published=self.published,
            environ={"GITHUB_API_URL": self.github.url},
            secrets={"GITHUB_TOKEN": TOKEN, "OPENAI_API_KEY": "key"},
        )

    def commit(self, greeting: str, farewell: str) -> None:
        """Commit an agent with these answers."""
        agent = f'case "$1" in greeting) {greeting};; farewell) {farewell};; *) {GOOD};; esac\n'
        files = {
            "rubric-ci.yaml": CONFIG.format(url=self.judge.url),
            "evals/a.eval.yaml": EVALS,
            "agent.sh": agent,
            ".gitignore": ".rubric-ci/\n",
        }
        self.commits.append(self.checkout.commit(files))

    def add(self, *, event: str = "schedule") -> runner.Job:
        """Run the workflow of the history, as GitHub does when the nightly one has ended."""
        job = runner.run(
            self.checkout,
            "evals-history.yml",
            event="workflow_run",
            payload={
                "workflow_run": {
                    "id": 1,
                    "event": event,
                    "head_branch": "main",
                    "conclusion": "failure",
                },
                "repository": {"full_name": "acme/app", "default_branch": "main"},
            },
            published=self.published,
            environ=at_home("https://github.com/acme/app", self.remote),
            secrets={"GITHUB_TOKEN": TOKEN},
        )
        shutil.rmtree(self.kept / "rubric-ci-report")  # artifacts are of one run
        return job

    @property
    def remote(self) -> Path:
        """The repository on GitHub, with the branch of the history."""
        return self.checkout.root.parent / "remote.git"

    def history(self) -> list[str]:
        """Return the verdicts of the runs on the branch of the history."""
        text = Checkout(self.remote).git("show", f"{HISTORY}:history.jsonl")
        return [json.loads(line)["verdict"] for line in text.splitlines()]

    def trials(self) -> dict[str, str]:
        """Return the trials of the reference by case: P pass, F fail."""
        cases = read_baseline(self.reference).report.cases
        return {
            case.id: "".join(trial.verdict[0].upper() for trial in trials_of(case))
            for case in cases
            if isinstance(case, Graded) and not case.id.startswith("steady")
        }


@pytest.fixture
def nights(checkout: Checkout, judge: AnswerJudge, github: GitHub, published: Checkout) -> Nights:
    checkout.git("remote", "add", "origin", "https://github.com/acme/app.git")
    remote = checkout.root.parent / "remote.git"
    checkout.git("init", "--quiet", "--bare", f"--initial-branch={HISTORY}", str(remote))
    checkout.commit({})
    checkout.git("push", "--quiet", remote.as_uri(), f"main:{HISTORY}")
    return Nights(checkout, judge, github, published)


def at_home(url: str, path: Path) -> dict[str, str]:
    """Return the environment in which git finds a repository of GitHub on this machine."""
    named = [url, url.replace("https://", f"https://x-access-token:{TOKEN}@")]
    settings = [("protocol.file.allow", "always")]
    settings += [(f"url.{path.as_uri()}.insteadOf", each) for each in named]
    numbered = enumerate(settings)
    listed = {
        name: word
        for number, (key, value) in numbered
        for name, word in ((f"GIT_CONFIG_KEY_{number}", key), (f"GIT_CONFIG_VALUE_{number}", value))
    }
    return {"GIT_CONFIG_COUNT": str(len(settings)), **listed}


def state(job: runner.Job) -> tuple[bool, str, str]:
    """Return whether the job is green, and the outputs of gate and comparison."""
    return job.succeeded, job.outputs["gate"], job.outputs["comparison"]


def test_seven_nights(nights: Nights) -> None:
    first = nights.run(greeting=GOOD, farewell=BAD)
    assert state(first) == (False, "fail", "not-worse"), first.log
    assert nights.trials() == {"greeting": "PPP", "farewell": "FFF"}
    (issue,) = nights.github.issues.values()
    assert (issue.state, issue.title) == ("open", "Nightly evals: 1 case fails")
    assert "the gate fails; nothing broke" in issue.body
    assert re.search(
        r"\(https://\S+/actions/runs/\d+#artifacts\): artifact `report.html`", issue.body
    )
    added = nights.add()
    assert added.succeeded, added.log

    second = nights.run(greeting=GOOD, farewell=BAD)
    assert state(second) == (False, "fail", "not-worse")
    assert issue.state == "open"
    nights.add()

    third = nights.run(greeting=BAD, farewell=BAD)
    assert state(third) == (False, "fail", "suspected")
    assert "worse tonight: greeting; confirmed if it is worse tomorrow" in issue.body
    nights.add()

    again = nights.run(greeting=BAD, farewell=BAD)
    assert state(again) == (False, "fail", "worse")
    assert "the gate fails; 1 case broke: greeting" in issue.body
    assert "| `greeting`" in issue.body
    nights.add()

    fourth = nights.run(greeting=NOISY, farewell=BAD)
    assert state(fourth) == (False, "fail", "not-worse")
    assert "the gate fails; nothing broke" in issue.body
    nights.add()

    fifth = nights.run(greeting=GOOD, farewell=GOOD)
    assert state(fifth) == (True, "pass", "not-worse"), fifth.log
    assert issue.state == "closed"
    nights.add()

    nights.judge.out = True
    outage = nights.run(greeting=GOOD, farewell=GOOD)
    assert state(outage) == (False, "no-verdict", "not-worse")
    assert issue.state == "closed"
    assert len(nights.github.issues) == 1
    nights.add()
    assert nights.history() == ["fail", "fail", "fail", "fail", "fail", "pass", "error"]
    # two nights are the reference
    assert nights.trials() == {"greeting": "P" * 6, "farewell": "F" * 6}
    log = json.loads((nights.reference / "reference.json").read_text())
    shown = [(night["gate"], night["worse"]) for night in log["nights"]]
    assert shown == [
        ("fail", False),
        ("fail", False),
        ("fail", True),
        ("fail", True),
        ("fail", False),
        ("pass", False),
        ("no-verdict", False),
    ]
    assert [decision["commit"] for decision in log["decisions"]] == nights.commits[:1]
