"""`rubric-ci waive`, and runs with waivers, as a user types them; a scripted judge."""

import json

import pytest

from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_judged import Judged, judged, marks
from tests.invoke import invoke

__all__ = ["judged"]  # a fixture
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


def test_from_a_failure_to_a_waiver_that_is_not_needed(judged: Judged) -> None:
    judged.server.script(marks(False, True))
    assert judged.run().returncode == 1

    done = judged.call(*WAIVE)
    assert done.stdout == "waivers.yaml: waived greeting/greets until 2999-12-31\n"
    text = (judged.root / "waivers.yaml").read_text()
    assert text == ENTRY.format(fingerprint=text.split()[-1])
    assert judged.call("validate").returncode == 0

    assert judged.run().returncode == 0
    [case] = judged.results()
    assert (case["verdict"], case["waived"], case["without_waived"]) == ("fail", ["greets"], "pass")
    assert judged.report()["totals"]["waived"] == 1

    judged.server.script(marks(True, True))
    assert judged.run(RUBRIC_CI_CACHE="false").returncode == 0
    [waiver] = judged.report()["waivers"]
    assert (waiver["state"], waiver["line"]) == ("met", 2)  # once, and not in six runs in a row


def test_an_edited_criterion_fails_again(judged: Judged) -> None:
    assert judged.call(*WAIVE).returncode == 0
    eval_file = judged.root / "evals/a.eval.yaml"
    eval_file.write_text(eval_file.read_text().replace("Greets", "Greets warmly"))
    judged.server.script(marks(False, True))
    assert judged.run().returncode == 1
    assert judged.report()["waivers"][0]["state"] == "edited"
    shown = judged.call("validate").stdout
    assert "waivers.yaml:2:5: warning: waiver-edited: " in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("waive", "greeting/greet", *WAIVE[2:]),
            "there is no criterion `greeting/greet`\n  did you mean `greeting/greets`?",
        ),
        (
            ("waive", "greets", *WAIVE[2:]),
            (
                "there is no criterion `greets`\n  only criteria of rubrics can be waived; "
                "known: `greeting/greets`, `greeting/short`"
            ),
        ),
        (
            (*WAIVE[:3], "2020-01-01", *WAIVE[4:]),
            "--until 2020-01-01 has passed\n  set a later date",
        ),
        (WAIVE, "greeting/greets has a waiver in waivers.yaml\n  edit or remove that entry"),
        (
            ("waive", "greeting/short", *WAIVE[2:]),
            "greeting/short has the tag `safety` and cannot be waived",
        ),
        (
            ("waive", "coded/lint", *WAIVE[2:]),
            (
                "there is no criterion `coded/lint`\n  only criteria of rubrics can be "
                "waived; known: `greeting/greets`, `greeting/short`"
            ),
        ),
    ],
    ids=["unknown", "without a case", "past", "twice", "safety", "evaluator"],
)
def test_what_is_not_waived(judged: Judged, arguments: tuple[str, ...], message: str) -> None:
    judged.call(*WAIVE)
    eval_file = judged.root / "evals/a.eval.yaml"
    text = eval_file.read_text().replace("{id: short,", "{id: short, tags: [safety],")
    eval_file.write_text(text)
    done = judged.call(*arguments)
    assert (done.returncode, done.stderr.endswith(f"rubric-ci: {message}\n")) == (2, True)


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
