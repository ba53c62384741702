"""`rubric-ci waive`, and runs with waivers, as a user types them; a scripted judge."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubric_ci.cli.main import main
from tests.aimock import Aimock
from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_judged import Judged, marks
from tests.invoke import invoke
from tests.sample_project import clean_environment

WAIVE = ("waive", "greeting/greets", "--until", "2999-12-31", "--reason", "known", "--owner", "ana")
ENTRY = """\
waivers:
  - case: greeting
    criterion: greets
    reason: known
    owner: ana
    until: "2999-12-31"
    fingerprint: {fingerprint}
"""


@pytest.fixture
def judged(tmp_path: Path, aimock: Aimock) -> Judged:
    return Judged(tmp_path, aimock)


def command(project: Judged, *arguments: str) -> Result:
    gone = dict.fromkeys(os.environ.keys() - clean_environment().keys())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.root)
        return CliRunner().invoke(main, arguments, env=gone, catch_exceptions=False)


def test_from_a_failure_to_a_waiver_that_is_not_needed(judged: Judged) -> None:
    judged.server.script(marks(False, True))
    assert judged.run().returncode == 1

    done = command(judged, *WAIVE)
    assert done.stdout == "waivers.yaml: waived greeting/greets until 2999-12-31\n"
    text = (judged.root / "waivers.yaml").read_text()
    assert text == ENTRY.format(fingerprint=text.split()[-1])
    assert command(judged, "validate").exit_code == 0

    assert judged.run().returncode == 0
    [case] = judged.results()
    assert (case["verdict"], case["waived"], case["without_waived"]) == ("fail", ["greets"], "pass")
    assert judged.report()["totals"]["waived"] == 1

    judged.server.script(marks(True, True))
    assert judged.run(RUBRIC_CI_CACHE="false").returncode == 0
    [waiver] = judged.report()["waivers"]
    assert (waiver["state"], waiver["line"]) == ("met", 2)  # once, and not in six runs in a row


def test_an_edited_criterion_fails_again(judged: Judged) -> None:
    assert command(judged, *WAIVE).exit_code == 0
    eval_file = judged.root / "evals/a.eval.yaml"
    eval_file.write_text(eval_file.read_text().replace("Greets", "Greets warmly"))
    judged.server.script(marks(False, True))
    assert judged.run().returncode == 1
    assert judged.report()["waivers"][0]["state"] == "edited"
    shown = command(judged, "validate").output
    assert "waivers.yaml:2:5: warning: waiver-edited: " in shown


def test_a_waiver_of_a_change_counts_after_the_merge(judged: Judged) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=judged.root, check=True)

    git("add", "--all")
    git("commit", "--quiet", "--message=base")
    assert command(judged, *WAIVE).exit_code == 0
    judged.write("answers.jsonl", '{"id": "greeting", "answer": "Go away"}')
    judged.server.script(marks(False, True))
    assert judged.run("--policy-from", "base", "--changed-since", "HEAD").returncode == 1
    assert judged.report()["waivers"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("waive", "greeting/greet", *WAIVE[2:]),
            (
                "rubric-ci: there is no criterion `greeting/greet`\n"
                "  did you mean `greeting/greets`?\n"
            ),
        ),
        (
            (*WAIVE[:3], "2020-01-01", *WAIVE[4:]),
            "rubric-ci: --until 2020-01-01 has passed\n  set a later date\n",
        ),
        (
            WAIVE,
            (
                "rubric-ci: greeting/greets has a waiver in waivers.yaml\n"
                "  edit or remove that entry\n"
            ),
        ),
        (
            ("waive", "greeting/short", *WAIVE[2:]),
            "rubric-ci: greeting/short has the tag `safety` and cannot be waived\n",
        ),
        (
            ("waive", "coded/lint", *WAIVE[2:]),
            (
                "rubric-ci: there is no criterion `coded/lint`\n  only criteria of rubrics can be "
                "waived; known: `greeting/greets`, `greeting/short`\n"
            ),
        ),
    ],
    ids=["unknown", "past", "twice", "safety", "evaluator"],
)
def test_what_is_not_waived(judged: Judged, arguments: tuple[str, ...], message: str) -> None:
    command(judged, *WAIVE)
    eval_file = judged.root / "evals/a.eval.yaml"
    text = eval_file.read_text().replace("{id: short,", "{id: short, tags: [safety],")
    eval_file.write_text(text)
    done = command(judged, *arguments)
    assert (done.exit_code, done.stderr.endswith(message)) == (2, True)


ROWS = "id,city\nrefund,Rome\nother,Oslo\n"
TABLE_FILES = {
    ".gitignore": ".rubric-ci/\n",
    "rubric-ci.yaml": (
        "evals: [evals/*.eval.yaml]\n"
        "targets: [{name: default, provider: cli, command_template: python3 agent.py}]\n"
    ),
    "agent.py": "print('Hi')\n",
    "evals/a.eval.yaml": (
        "vars: {shop: Bikes}\nevalcases: [rows.csv]\nrubrics: [{id: names, contains: Names}]\n"
    ),
    "evals/rows.csv": ROWS,
}


@pytest.mark.parametrize(
    ("file", "before", "after", "state"),
    [
        ("evals/rows.csv", "refund,Rome\nother,Oslo", "refund,Oslo\nother,Rome", "edited"),
        ("evals/a.eval.yaml", "Bikes", "Cars", "edited"),
        ("agent.py", "Hi", "Ho", "applied"),
    ],
    ids=["rows exchange their values", "a variable of the suite", "what is under test"],
)
def test_a_waiver_of_the_base_covers_the_question_of_its_row_only(
    checkout: Checkout, file: str, before: str, after: str, state: str
) -> None:
    checkout.commit(TABLE_FILES)
    waive = ("waive", "refund/names", "--until", "2999-12-31", "--reason", "x", "--owner", "ana")
    assert invoke(checkout.root, ENVIRONMENT, *waive).returncode == 0
    checkout.commit()
    checkout.write({file: TABLE_FILES[file].replace(before, after)})
    options = ("--changed-since", "HEAD", "--policy-from", "base", "--case", "refund")
    done = invoke(checkout.root, ENVIRONMENT, "run", *options)
    assert done.returncode == (0 if state == "applied" else 1), done.stderr
    report = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    assert [waiver["state"] for waiver in report["waivers"]] == [state]
