"""Rubrics in tests: real sessions of pytest, with a judge over HTTP that reads the answer."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.checkout import Checkout
from tests.parts.pytest.project import EVAL, Suite, project


@pytest.fixture
def tests(checkout: Checkout) -> Iterator[Suite]:
    with project(checkout) as found:
        yield found


def _cases(tests: Suite) -> list[tuple[str, str, int, str]]:
    return [
        (case["file"], case["id"], case["line"], case.get("verdict", case["outcome"]))
        for case in tests.report()["cases"]
    ]


CHECKS = """\
import asyncio

GOOD = "hello, you have 30 days"


def test_good(rubric):
    rubric.check(GOOD, "Names the period", {"contains": "30 days"}, question="How long?")


class TestBot:
    def test_bad(self, rubric):
        rubric.check(GOOD, "Names the period")
        rubric.check(
            "no {{answer}}", "Names the period", {"contains": "30 days"}, question="How {{long}}?"
        )


def test_async(rubric):
    async def ask():
        await asyncio.gather(*(rubric.acheck(GOOD, f"Says {n}") for n in range(3)))

    asyncio.run(ask())


def test_marks(rubric):
    assert rubric.mark({"days": 30}, "Greets", {"contains": '"days": 30'}) == [0.0, 1.0]
"""


def test_checks_are_cases_of_the_report_under_the_names_of_their_tests(tests: Suite) -> None:
    tests.write("tests/test_bot.py", CHECKS)
    session = tests.run("-v", "--tb=short")
    assert session.outcomes == {
        "tests/test_bot.py::test_good": "PASSED",
        "tests/test_bot.py::TestBot::test_bad": "FAILED",
        "tests/test_bot.py::test_async": "PASSED",
        "tests/test_bot.py::test_marks": "PASSED",
        "rubric-ci.yaml::gate": "FAILED",
    }
    assert (
        "tests/test_bot.py:13: in test_bad\n"
        "    rubric.check(\n"
        "E   rubric_ci.Missed: “Names the period” is required and not satisfied: It lacks the "
        "word. (and 1 more missed gate)\n"
        "E   ✗ TestBot::test_bad (2) · 0.00\n"
        "E     tests/test_bot.py:13 · target pytest\n"
        "E     ✗ Names the period · not satisfied · required · tests/test_bot.py:13\n"
        "E         It lacks the word.\n"
        "E     ✗ Contains `30 days` · not satisfied · required · tests/test_bot.py:13\n"
        "E         it does not occur\n"
    ) in session.output
    file = "tests/test_bot.py"
    assert sorted(_cases(tests)) == [
        (file, "TestBot::test_bad", 12, "pass"),
        (file, "TestBot::test_bad (2)", 13, "fail"),
        (file, "test_async", 22, "pass"),
        (file, "test_async (2)", 22, "pass"),
        (file, "test_async (3)", 22, "pass"),
        (file, "test_good", 7, "pass"),
    ]
    questions = {case["id"]: case["question"] for case in tests.report()["cases"]}
    assert questions["test_good"] == "How long?"
    assert questions["TestBot::test_bad (2)"] == "How {{long}}?"  # a test fills its own values
    assert questions["TestBot::test_bad"] == ""


def test_the_report_has_eval_files_and_tests(tests: Suite) -> None:
    tests.write("evals/support.eval.yaml", EVAL)
    tests.write("tests/test_bot.py", CHECKS)
    session = tests.run("-v")
    assert tests.report()["totals"]["calls"] == len(tests.judge.seen) > 5  # also of `mark`
    cases = _cases(tests)
    assert len(cases) == len(set(cases)) == 10
    assert "Gate fails: 2 of 8 graded cases fail (fail_on: fail) · 1 case errored" in session.output
    assert session.code == pytest.ExitCode.TESTS_FAILED
    assert tests.report()["scope"]["suite"] == 10


def test_a_night_and_a_pull_request_compare_tests(tests: Suite) -> None:
    tests.write("tests/test_bot.py", 'def test_a(rubric):\n    rubric.check("hello", "Greets")\n')
    assert tests.run().counts == "2 passed"
    (tests.checkout.root / ".rubric-ci/report.json").rename(tests.checkout.root / "before.json")
    tests.write("tests/test_bot.py", 'def test_a(rubric):\n    rubric.check("no", "Greets")\n')
    tests.run(RUBRIC_CI_RUN_BASELINE="before.json")
    (case,) = tests.report()["cases"]
    assert (case["id"], case["change"]) == ("test_a", "broken")


LATER = """\
import pytest


@pytest.mark.parametrize("answer", ["hello a", "bye b", "hello c"])
def test_later(rubric, answer):
    rubric.later(answer, "Greets")


def test_plain():
    pass


def test_own_failure(rubric):
    rubric.later("bye", "Greets")
    assert 1 == 2
"""


def test_later_answers_are_reported_at_their_tests(tests: Suite) -> None:
    tests.write("tests/test_bot.py", LATER)
    session = tests.run("-v", "--tb=short")
    assert session.outcomes == {
        "tests/test_bot.py::test_later[hello a]": "PASSED",
        "tests/test_bot.py::test_later[bye b]": "FAILED",
        "tests/test_bot.py::test_later[hello c]": "PASSED",
        "tests/test_bot.py::test_plain": "PASSED",
        "tests/test_bot.py::test_own_failure": "FAILED",
        "rubric-ci.yaml::gate": session.outcomes["rubric-ci.yaml::gate"],
    }
    assert (
        "tests/test_bot.py:6: in test_later[bye b]\n"
        '    rubric.later(answer, "Greets")\n'
        "E   rubric_ci.Missed: “Greets” is required and not satisfied: It lacks the word.\n"
    ) in session.output
    assert re.search(r"^E +assert 1 == 2$", session.output, re.MULTILINE)
    assert len(_cases(tests)) == 4


def test_later_answers_are_judged_together(tests: Suite) -> None:
    tests.write("tests/test_bot.py", LATER.partition("def test_own")[0])
    tests.write(
        "conftest.py",
        "import pathlib\n\ndef pytest_runtest_logstart(nodeid):\n"
        "    with open('order', 'a') as file: file.write(nodeid + '\\n')\n"
        "def pytest_runtest_logfinish(nodeid):\n"
        "    with open('order', 'a') as file: file.write('end ' + nodeid + '\\n')\n",
    )
    tests.run()
    order = (tests.checkout.root / "order").read_text().splitlines()
    ends = [line for line in order if line.startswith("end ")]
    assert order.index("tests/test_bot.py::test_plain") < order.index(ends[1])
    assert len(tests.judge.answers) == 3


def test_later_stops_with_the_session(tests: Suite) -> None:
    tests.write(
        "tests/test_bot.py",
        LATER.replace("def test_plain():\n    pass", "def test_plain():\n    assert 0"),
    )
    session = tests.run("-x", "-v")
    assert session.outcomes["tests/test_bot.py::test_later[bye b]"] == "FAILED"
    assert "tests/test_bot.py::test_own_failure" not in session.outcomes


TRIALS = """\
import itertools

import pytest

answers = iter("hello no hello hello hello no no".split())


@pytest.mark.rubric(trials=5, pass_at_least=4)
def test_flaky(rubric):
    rubric.check(next(answers), "Greets")


@pytest.mark.rubric(trials=2)
def test_fails(rubric):
    rubric.check(next(answers), "Greets")


@pytest.mark.rubric(trials=2)
def test_own_bug():
    raise KeyError("bug")


@pytest.mark.rubric(trials=2, pass_at_least=3)
def test_impossible():
    pass


@pytest.mark.rubric(trials=2)
def test_later(rubric):
    rubric.later("x", "Greets")
"""


def test_trials(tests: Suite) -> None:
    tests.write("tests/test_bot.py", TRIALS)
    session = tests.run("-v", "--strict-markers")
    file = "tests/test_bot.py"
    assert session.outcomes == {
        f"{file}::test_flaky": "FLAKY: 4 OF 5 TRIALS PASS",
        f"{file}::test_fails": "FAILED",
        f"{file}::test_own_bug": "FAILED",
        f"{file}::test_impossible": "ERROR",
        f"{file}::test_later": "ERROR",
        "rubric-ci.yaml::gate": "FAILED",
    }
    assert session.counts == "3 failed, 2 errors, 1 flaky"
    assert "rubric_ci.Missed: 0 of 2 trials pass, and 2 must" in session.output
    assert "pass_at_least=3 of trials=2: expected 1 to 2" in session.output
    assert "a test with trials is decided at once: use `rubric.check`" in session.output
    assert _cases(tests) == [(file, "test_flaky", 10, "pass"), (file, "test_fails", 15, "fail")]
    trials = [[trial["verdict"] for trial in case["trials"]] for case in tests.report()["cases"]]
    assert trials == [["pass", "fail", "pass", "pass", "pass"], ["fail", "fail"]]


INVALID = {
    '{"contain": "x"}': "unknown key `contain` in the criterion; did you mean `contains`?",
    "": "`rubrics` must not be empty",
    '{"matches": "("}': "`matches`: missing ): (",
    "object()": "a criterion is a text or a mapping of JSON values: Object of type object",
    '{"score_ranges": [{"score_range": [0, 5], "expected_outcome": "x"}]}': (
        "no range covers 6, 7, 8, 9 and 10"
    ),
}


def test_invalid_criteria_are_an_error_of_the_test(tests: Suite) -> None:
    for number, call in enumerate(INVALID):
        text = f'def test_{number}(rubric):\n    rubric.check("x", {call})\n'
        tests.write(f"tests/test_{number}.py", text)
    session = tests.run("--tb=short")
    assert session.counts == "1 passed, 5 errors"
    _, *errors = re.split(r"ERROR at setup of test_\d", session.output.partition("= short test")[0])
    for number, (shown, message) in enumerate(zip(errors, INVALID.values(), strict=True)):
        assert f"tests/test_{number}.py:2: in test_{number}" in shown
        assert message in shown, shown
    assert not tests.judge.answers


def test_a_judge_that_is_not_there_is_an_error(tests: Suite) -> None:
    tests.judge.out = True
    tests.write("tests/test_bot.py", CHECKS)
    session = tests.run("-v")
    assert session.counts == "5 errors", session.output
    assert "rubric_ci.NoVerdict: " in session.output
    outcomes = {case["outcome"] for case in tests.report()["cases"]}
    assert outcomes == {"errored"}


def test_a_missing_key_is_an_error(tests: Suite) -> None:
    tests.write("tests/test_bot.py", LATER)
    session = tests.run("-v", OPENAI_API_KEY="")
    assert "OPENAI_API_KEY" in session.output
    assert session.outcomes["tests/test_bot.py::test_later[hello a]"] == "ERROR"
    assert session.outcomes["tests/test_bot.py::test_own_failure"] == "FAILED"


def test_recorded_replies_need_no_judge(tests: Suite, tmp_path: Path) -> None:
    tests.write("tests/test_bot.py", 'def test_a(rubric):\n    rubric.check("hello", "Greets")\n')
    assert tests.run(RUBRIC_CI_RUN_RECORD="replies.jsonl", RUBRIC_CI_CACHE="false").code == 0
    tests.judge.out = True
    session = tests.run(RUBRIC_CI_RUN_REPLAY="replies.jsonl", RUBRIC_CI_CACHE="false")
    assert session.counts == "2 passed", session.output


def test_caps_hold_for_tests(tests: Suite) -> None:
    tests.write("tests/test_bot.py", LATER)
    session = tests.run("-v", RUBRIC_CI_RUN_MAX_CALLS="1", RUBRIC_CI_CACHE="false")
    assert len(tests.judge.answers) <= 1
    assert "rubric_ci.NoVerdict: rubric: budget: call limit of 1 reached" in session.output


EXPECTED = """\
import pytest


@pytest.mark.xfail(strict=True)
def test_strict(rubric):
    rubric.later("bye", "Greets")


@pytest.mark.xfail
def test_loose(rubric):
    rubric.later("bye", "Greets")


@pytest.mark.xfail(strict=True)
def test_better(rubric):
    rubric.later("hello", "Greets")


@pytest.mark.xfail(raises=ValueError)
def test_other(rubric):
    rubric.later("bye", "Greets")


@pytest.mark.rubric(trials="5")
def test_text(rubric):
    rubric.check("hello", "Greets")


@pytest.mark.rubric(trial=5)
def test_misspelt(rubric):
    rubric.check("hello", "Greets")


def test_list(rubric):
    rubric.check("hello", ["Greets", "Is polite"])
"""


def test_expected_failures_and_marks_that_cannot_be_used(tests: Suite) -> None:
    tests.write("tests/test_bot.py", EXPECTED)
    session = tests.run("-v", "tests/test_bot.py")
    found = {name.partition("::")[2]: each for name, each in session.outcomes.items()}
    found.pop("gate", "")
    assert found == {
        "test_strict": "XFAIL",
        "test_loose": "XFAIL",
        "test_better": "FAILED",
        "test_other": "FAILED",
        "test_text": "ERROR",
        "test_misspelt": "ERROR",
        "test_list": "ERROR",
    }
    for said in (
        "trials='5': expected an integer, such as trials=5",
        "the mark `rubric` has no `trial`; did you mean `trials`?",
        "a criterion is a list; write `check(answer, *criteria)` for several",
    ):
        assert said in session.output


EXCUSED = """\
import pytest


@pytest.mark.xfail
def test_expected(rubric):
    rubric.check("hello", "Greets")
    rubric.check("bye", "Greets")


@pytest.mark.xfail
def test_expected_later(rubric):
    rubric.later("bye", "Greets")


@pytest.mark.xfail
@pytest.mark.rubric(trials=2)
def test_expected_trials(rubric):
    rubric.check("bye", "Greets")


def test_raises(rubric):
    with pytest.raises(AssertionError):
        rubric.check("bye", "Greets")


def attempts(rubric):
    for answer in ("bye", "hello"):
        try:
            return rubric.check(answer, "Greets")
        except AssertionError:
            pass


def test_attempts(rubric):
    attempts(rubric)


@pytest.mark.rubric(trials=2)
def test_attempts_of_trials(rubric):
    attempts(rubric)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_the_gate_does_not_count_what_pytest_excuses(tests: Suite, workers: tuple[str]) -> None:
    tests.write("tests/test_bot.py", EXCUSED)
    session = tests.run("-v", *workers, "tests/test_bot.py")
    assert session.counts == "4 passed, 3 xfailed"
    assert session.outcomes["rubric-ci.yaml::gate"] == "PASSED"
    report = tests.report()
    assert sorted((case["id"], case["verdict"]) for case in report["cases"]) == [
        ("test_attempts (2)", "pass"),
        ("test_attempts_of_trials (2)", "pass"),
        ("test_expected", "pass"),
    ]
    assert report["totals"]["calls"] == len(tests.judge.seen)


def test_an_expected_failure_excuses_no_missing_verdict(tests: Suite) -> None:
    tests.write(
        "tests/test_bot.py",
        "import pytest\n\n\n@pytest.mark.xfail\ndef test_a(rubric):\n"
        '    rubric.check("hello", "Greets")\n',
    )
    session = tests.run("-v", RUBRIC_CI_RUN_MAX_CALLS="0")
    assert session.outcomes == {
        "tests/test_bot.py::test_a": "ERROR",
        "rubric-ci.yaml::gate": "ERROR",
    }


NARROW = """\
def test_good(rubric):
    rubric.check("hello", "Greets")


def test_narrow(rubric):
    rubric.check("bye", {"id": "a", "expected_outcome": "Greets", "weight": 0.3, "required": False},
        {"contains": "bye", "weight": 0.7})
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_the_gate_knows_what_every_worker_checked(tests: Suite, workers: tuple[str]) -> None:
    config = (tests.checkout.root / "rubric-ci.yaml").read_text()
    tests.write("rubric-ci.yaml", f"{config}gate: {{min_pass_rate: 0.9}}\n")
    tests.write("tests/test_bot.py", NARROW)
    session = tests.run("-v", *workers, "tests/test_bot.py")
    assert session.counts == "1 failed, 2 passed"
    assert session.outcomes["rubric-ci.yaml::gate"] == "FAILED"
    assert session.code == pytest.ExitCode.TESTS_FAILED
    assert "[100%]" in session.output
    session = tests.run("-v", *workers, "--deselect", "rubric-ci.yaml::gate", "tests/test_bot.py")
    assert session.counts.startswith("2 passed")
    assert "rubric-ci.yaml::gate" not in session.outcomes
    assert "Gate fails: all cases: 1 of 2 pass, 2 must (min_pass_rate: 0.9)" in session.output
    assert session.code == pytest.ExitCode.OK
