"""Every end of the action is visible: an annotation, the summary and the output `failure`."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import platforms
from tests.hooks import composite
from tests.hooks.conftest import Step

pytestmark = [pytest.mark.slow]

GOOD = "evalcases:\n  - id: a\n    input: Hi\n    expected_outcome: Greets\n    rubrics: [Greets]\n"


def run(step: Step, event: str, given: dict[str, str], base: str = "b" * 40) -> composite.Ran:
    """Run the action for an event in the repository acme/app, without a server."""
    payload = step.checkout.root.parent / "event.json"
    pull = {"number": 7, "head": {"sha": "1" * 40}, "base": {"sha": base}}
    payload.write_text(json.dumps({"pull_request": pull} if event == "pull_request" else {}))
    return step.run(
        given,
        GITHUB_REPOSITORY="acme/app",
        GITHUB_EVENT_NAME=event,
        GITHUB_EVENT_PATH=str(payload),
        GITHUB_SHA="1" * 40,
        GITHUB_REF="refs/heads/main",
    )


UNDECIDED = "Gate undecided: the run could not start"
EVERY = (
    "validate, run, generate rubrics, compare, judge test, baseline keep, baseline accept, "
    "history add, plan, report merge, "
    "report comment, authorize"
)
NO_TOKEN = "GITHUB_TOKEN is not set, so nothing can be posted"
TOKEN = "set it in the step's `env:` to `${{ github.token }}`"
FOLDER = "paths are named from the folder of the command; is there a step to check out?"
SHALLOW = (
    "the policy of the base cannot be read: the pull request's base branch is not in this "
    "shallow clone; check out with `fetch-depth: 2` (0 with a `ref`)"
)
BASE = "judge, gate and rules come from the base commit"
REPORT = ".rubric-ci/report.json does not exist"
SET = "set the input `{}` of the step"
RUN = "`rubric-ci run` writes it"
DOWNLOAD = "pass the reports of the shards; a workflow fetches them with actions/download-artifact"


class End(NamedTuple):
    """A set-up, and how it is told: message, then what to do."""

    given: dict[str, str]
    message: str
    hint: str = ""
    title: str = ""  # of the summary
    event: str = "push"


def could_not_start(given: dict[str, str], message: str) -> End:
    return End(given, message, title="the action could not start")


ENDS = [
    could_not_start(
        {"command": "rum"}, f"unknown command 'rum': set the input `command` to one of {EVERY}"
    ),
    could_not_start({"comand": "run"}, "unknown input `comand`; did you mean `command`?"),
    could_not_start(
        {"command": "run", "fail_on": "never"}, "unknown input `fail_on`; did you mean `fail-on`?"
    ),
    could_not_start(
        {"command": "run", "env": "NAME: value"},
        "the input `env` has a line that is not NAME=VALUE; a value is one line",
    ),
    could_not_start(
        {"command": "run", "working-directory": "no"},
        "working-directory: there is no folder no in the workspace",
    ),
    End(
        {"command": "run", "config": "no.yaml"},
        "--config: there is no file no.yaml",
        "paths are named from the folder that the command runs in",
    ),
    End(
        {"command": "run", "config": "empty.yaml"},
        "no file matches the configured evals: none/here.yaml",
        "fix `evals` in rubric-ci.yaml, or pass file paths",
    ),
    End({"command": "run"}, SHALLOW, BASE, event="pull_request"),
    End({"command": "validate"}, SHALLOW, BASE, event="pull_request"),
    End(
        {"command": "run", "fail-on": "error"},
        "Invalid value for '--fail-on': 'error' is not one of 'fail', 'borderline', 'regression', "
        "'never'.",
        SET.format("fail-on"),
    ),
    End(
        {"command": "run", "max-cost-usd": "five"},
        "Invalid value for '--max-cost-usd': `five` is not a number",
        SET.format("max-cost-usd"),
    ),
    End(
        {"command": "run", "offline": "maybe"},
        "Invalid value for '--offline': 'maybe' is not a valid boolean. Recognized values: , 0, 1, "
        "f, false, n, no, off, on, t, true, y, yes",
        SET.format("offline"),
    ),
    End(
        {"command": "validate", "paths": "no\nnor"}, "no does not exist; nor does not exist", FOLDER
    ),
    End({"command": "plan", "paths": "no"}, "no does not exist", FOLDER),
    End({"command": "judge test", "paths": "no"}, "no does not exist", FOLDER),
    End({"command": "compare"}, "Missing argument 'BASELINE'.", SET.format("baseline")),
    End(
        {"command": "compare", "baseline": "a.json"},
        "Missing argument 'HEAD'.",
        SET.format("report"),
    ),
    End({"command": "report merge"}, "Missing argument 'PARTS...'.", SET.format("parts")),
    End({"command": "report merge", "parts": "shards"}, "shards does not exist", DOWNLOAD),
    End({"command": "report comment", "report": "no.json"}, "no.json does not exist", RUN),
    End({"command": "report comment", "failure": "it rained"}, NO_TOKEN, TOKEN),
    End({"command": "authorize"}, NO_TOKEN, TOKEN),
    End({"command": "baseline keep"}, REPORT, RUN),
    End(
        {"command": "generate rubrics", "pr": "true"},
        "--pr: GITHUB_TOKEN is not set",
        "Set it in the step's `env:` to `${{ github.token }}`.",
    ),
]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: " ".join([*end.given.values(), end.event]))
def test_an_end_is_visible(end: End, step: Step, tmp_path: Path) -> None:
    generates = end.given.get("command") == "generate rubrics"
    evals = GOOD.replace("    rubrics: [Greets]\n", "") if generates else GOOD
    step.checkout.commit({"evals/a.eval.yaml": evals, "empty.yaml": "evals: [none/here.yaml]\n"})
    clone = step.checkout.clone(tmp_path / "clone", "--depth", "1")
    ran = run(replace(step, checkout=clone), end.event, end.given)
    line = f"{end.message} ({end.hint})" if end.hint else end.message
    could_not = f"`{end.given.get('command')}` could not finish"
    title = end.title or (UNDECIDED if end.given["command"] == "run" else could_not)
    assert (ran.returncode, ran.commands) == (2, [f"::error title=rubric-ci::{line}"])
    assert ran.outputs["failure"] == line
    shown = ran.summary.replace("\\", "")
    assert shown.startswith(f"## ⚠️ rubric-ci · {title}\n\n")
    assert end.message in shown
    assert end.hint in shown
    kept = clone.root / ".rubric-ci/failure.json"  # for the workflow that posts it
    assert kept.exists() == (end.given.get("command") in {"run", "report merge"})
    assert not kept.exists() or json.loads(kept.read_text())["failure"] == line


def test_an_input_that_the_command_does_not_use_is_a_warning(step: Step) -> None:
    step.checkout.commit({"evals/a.eval.yaml": GOOD})
    unused = {"fail-on": "never", "Votes": "3"}
    ran = run(step, "push", {"command": "validate", "paths": "evals", "env": "A=b"} | unused)
    assert ran.returncode == 0
    assert ran.commands == [
        "::warning title=rubric-ci::`validate` does not use the input `fail-on`, `Votes`; remove it"
    ]


@platforms.MODES
@pytest.mark.parametrize("command", ["validate", "run"])
def test_a_checkout_of_another_user_as_in_a_container(command: str, step: Step) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    targets = "targets: [{name: default, provider: mock, response: Hello}]\n"
    judged = "{name: a, type: code_judge, script: 'true', score_from: exit_status}"
    script = f"execution: {{evaluators: [{judged}]}}"
    files = {
        "rubric-ci.yaml": f"evals: [evals/*.yaml]\n{targets}",
        "evals/a.eval.yaml": f"evalcases:\n  - {{id: a, input: Hi, {script}}}\n",
    }
    base = step.checkout.commit(files)
    step.checkout.commit({"README.md": "more"})
    for path in [step.checkout.root, *step.checkout.root.rglob("*")]:
        os.chown(path, 4_321, 4_321)
    ran = run(step, "pull_request", {"command": command}, base)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not [line for line in ran.commands if line.startswith("::error")]
