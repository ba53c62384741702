"""`generate rubrics` over HTTP, interrupted, and with a person at a terminal."""

import json
import signal
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import main
from tests import platforms
from tests.aimock import Aimock, fails, says
from tests.answer_judge import AnswerJudge, judging
from tests.bodies import Body, answering, chat
from tests.checkout import ENVIRONMENT, Checkout
from tests.forked_command import at_a_terminal, started
from tests.generating import AFTER, BLOCK, EVAL, GOOD, Project

pytestmark = platforms.TERMINALS

REFUND = EVAL.partition("evalcases:\n")[2].partition("\n  - id: hours")[0]
TWO = f"{EVAL}{REFUND.replace('refund', 'exchange')}"


@pytest.fixture
def project(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(checkout.root)
    return Project(checkout)


def environment(**more: str) -> dict[str, str]:
    prefixes = ("GITHUB_", "RUBRIC_CI_", "OPENAI_")
    return {k: v for k, v in ENVIRONMENT.items() if not k.startswith(prefixes)} | more


def test_over_http(project: Project, aimock: Aimock) -> None:
    project.ask(aimock.url)
    aimock.script(says("I think that"), says(GOOD))
    done = project.generate("--record=../recording")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "1 case got rubrics in 1 file")
    assert project.file.read_text() == AFTER
    first, second = aimock.requests()
    asked = first["response_format"]["json_schema"]
    assert asked["strict"] is True
    assert list(asked["schema"]["properties"]) == ["rubrics"]
    assert "the reply holds no JSON object" in second["messages"][-1]["content"]

    project.checkout.write({"evals/a.yaml": EVAL})
    again = project.generate("--replay=../recording")
    assert (again.exit_code, project.file.read_text()) == (0, AFTER)
    assert len(aimock.requests()) == 2


def test_what_diff_showed_is_what_is_written(project: Project, aimock: Aimock) -> None:
    project.ask(aimock.url)
    aimock.script(says(GOOD))
    assert "+      - id: limit\n" in project.generate("--diff").stdout
    assert project.generate().exit_code == 0
    assert len(aimock.requests()) == 1
    assert project.file.read_text() == AFTER


def test_the_cost_is_shown(project: Project, aimock: Aimock) -> None:
    project.ask(aimock.url)
    aimock.script(says("nonsense"), says(GOOD))
    spent = "2 model calls, less than $0.0001, 200 + 40 tokens, 1 reply asked for again\n"
    assert spent in project.generate("--diff").stderr
    assert "no model calls, 1 from cache\n" in project.generate().stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [((), "scripted (1 request)"), (("--max-calls=0",), "budget: call limit of 0 reached")],
    ids=["unauthorised", "budget"],
)
def test_no_draft(
    project: Project, aimock: Aimock, arguments: tuple[str, ...], reason: str
) -> None:
    project.ask(aimock.url)
    aimock.script(fails(401))
    done = project.generate(*arguments)
    assert done.exit_code == 3
    assert "evals/a.yaml:3: refund: left unchanged: no draft: " in done.stdout
    assert reason in done.stdout
    assert project.file.read_text() == EVAL


def test_an_interruption_keeps_the_finished_drafts(project: Project) -> None:
    project.checkout.write({"evals/a.yaml": TWO})
    reply = json.dumps(chat(GOOD, "gpt-6-luna")).encode()
    with answering(Body(content=reply), Body(content=b"", waits=True)) as server:
        project.ask(server.url)
        around = environment(OPENAI_API_KEY="none")
        process = started(project.checkout.root, around, "generate", "rubrics")
        assert process.stderr
        assert process.stderr.readline().startswith("about 2 requests to openai/gpt-6-luna for ")
        assert process.stderr.readline().startswith("[1/2] evals/a.yaml: ")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert "2 model calls, " in err  # the one that was interrupted may cost as well
    assert process.returncode == 3
    assert "left unchanged: no draft: interrupted\n" in out
    assert out.endswith("1 case got rubrics in 1 file, 1 left unchanged\n")
    assert project.file.read_text().count(BLOCK) == 1


EDITOR = """\
#!/bin/sh
if grep -q 'Explains: the way' "$1"
then sed -i 's/Explains: the way/Explains the return/' "$1"
else sed -i 's/Explains the way back/Explains: the way/' "$1"
fi
"""


def test_a_person_edits_accepts_and_drops(project: Project, tmp_path: Path) -> None:
    project.checkout.write({"evals/a.yaml": TWO})
    project.record(refund=GOOD, exchange=GOOD)
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    around = environment(EDITOR=str(editor), VISUAL="", TERM="dumb")
    words = ("generate", "rubrics", "--interactive", *project.replay)
    person = at_a_terminal(project.checkout.root, around, *words)
    person.expect_exact("[1/2] evals/a.yaml:3: refund")
    person.expect_exact("Accept, edit or drop it, quit, or help? (a, e, d, q, ?) [a]: ")
    person.sendline("e")
    person.expect_exact("line 7: a `: ` inside a value")
    person.expect_exact("Edit it again, or discard the edit? (e, d) [e]: ")
    person.sendline("")
    person.expect_exact("expected_outcome: Explains the return")
    person.expect_exact("[a]: ")
    person.sendline("a")
    person.expect_exact("[2/2] evals/a.yaml:12: exchange")
    person.expect_exact("[a]: ")
    person.sendline("d")
    person.expect_exact("exchange: left unchanged: the draft was dropped")
    person.expect(pexpect.EOF)
    person.close()
    assert person.exitstatus == 0
    edited = BLOCK.replace("Explains the way back", "Explains the return")
    assert project.file.read_text() == TWO.replace("30 days\n", "30 days\n" + edited, 1)


def test_the_tests_of_a_draft_are_announced_written_and_hold(project: Project) -> None:
    pairs = [("limit", "hello", "bye"), ("way", "Well", "No"), ("cost", "hello us", "You")]
    tests = json.dumps({"tests": [{"id": n, "yes": yes, "no": no} for n, yes, no in pairs]})
    writer = {"gpt-6.1-sol": lambda texts: tests if "test the criteria" in texts[0] else GOOD}
    with judging(AnswerJudge(targets=writer)) as judge:
        base = f"api_base: {judge.url}/v1, api_key: none"
        project.checkout.write(
            {
                "rubric-ci.yaml": "evals: [evals/*.yaml]\n"
                f"judge: {{model: openai/gpt-6-luna, {base}}}\n"
                f"targets: [{{name: writer, model: openai/gpt-6.1-sol, {base}}}]\n"
            }
        )
        project.replay = ()
        done = project.generate("--tests", "--target", "writer", "--max-calls=20")
        assert (done.exit_code, len(judge.asked), len(judge.seen)) == (0, 2, 6)
        assert (
            "up to 1 request to openai/gpt-6.1-sol for tests\n"
            "up to 14 requests to openai/gpt-6-luna to check the tests\n"
        ) in done.stderr
        assert done.stdout == (
            "evals/a.yaml:3: refund: 3 criteria, 5 tests\n"
            "  way: a test is left out: the judge marks false where true is expected, of “Well”\n"
            "1 case got rubrics in 1 file\n"
        )
        lines = BLOCK.splitlines()[1:]
        criteria = "".join(f"  {line}\n" for line in lines)
        assert project.file.read_text() == EVAL.replace(
            "within 30 days\n",
            f"within 30 days\n    rubrics:\n      criteria:\n{criteria}"
            "      tests:\n"
            "        - answer: hello\n          marks:\n            limit: true\n"
            "        - answer: bye\n          marks:\n            limit: false\n"
            '        - answer: "No"\n          marks:\n            way: false\n'
            "        - answer: hello us\n          marks:\n            cost: true\n"
            "        - answer: You\n          marks:\n            cost: false\n",
        )
        assert project.generate().stdout == "nothing to do: every case has rubrics\n"
        judged = CliRunner().invoke(main, ["judge", "test"], env=environment())
        passed = "5 of 5 tests got the marks that they expect\n"
        assert (judged.stdout, judged.exit_code) == (passed, 0)
