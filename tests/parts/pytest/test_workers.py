"""A session with two workers of pytest-xdist, for all that is to be seen of it."""

import re
from collections.abc import Iterator

import pytest
from tests.checkout import Checkout
from tests.parts.pytest.project import EVAL, Session, Suite, project
from tests.parts.pytest.test_fixture import CHECKS, LATER

FILE = "evals/support.eval.yaml"
BOT, LATE = "tests/test_bot.py", "tests/test_late.py"


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    with project(Checkout.create(tmp_path_factory.mktemp("workers") / "checkout")) as found:
        for name, text in ((FILE, EVAL), (BOT, CHECKS), (LATE, LATER)):
            found.write(name, text)
        yield found


@pytest.fixture(scope="module")
def session(tests: Suite) -> Session:
    return tests.run("-n", "2", "-v", "--tb=short")


def test_outcomes(session: Session) -> None:
    assert session.outcomes == {
        f"{FILE}::refund": "FAILED",
        f"{FILE}::greeting": "PASSED",
        f"{FILE}::lost": "ERROR",
        f"{FILE}::open": "SKIPPED",
        f"{BOT}::test_good": "PASSED",
        f"{BOT}::TestBot::test_bad": "FAILED",
        f"{BOT}::test_async": "PASSED",
        f"{BOT}::test_marks": "PASSED",
        f"{LATE}::test_later[hello a]": "PASSED",
        f"{LATE}::test_later[bye b]": "FAILED",
        f"{LATE}::test_later[hello c]": "PASSED",
        f"{LATE}::test_plain": "PASSED",
        f"{LATE}::test_own_failure": "FAILED",
        "rubric-ci.yaml::gate": "FAILED",
    }
    assert session.code == pytest.ExitCode.TESTS_FAILED


def test_cases_are_graded_in_one_run(session: Session, tests: Suite) -> None:
    assert f"{FILE}:6: in refund\n    - Names the period of 30 days\n" in session.output
    answers = [answer for answer in tests.judge.answers if answer in {"No.", "hello you"}]
    assert sorted(answers) == ["No.", "hello you"]


def test_later_answers_are_reported_at_their_tests(session: Session) -> None:
    assert (
        f"{LATE}:6: in test_later[bye b]\n"
        '    rubric.later(answer, "Greets")\n'
        "E   rubric_ci.Missed: “Greets” is required and not satisfied: It lacks the word.\n"
    ) in session.output
    assert re.search(r"^E +assert 1 == 2$", session.output, re.MULTILINE)


def test_the_report_has_what_each_worker_checked(session: Session, tests: Suite) -> None:
    report = tests.report()
    assert report["totals"]["calls"] == len(tests.judge.seen) > 5  # also of `mark`
    cases = [(case["file"], case["id"]) for case in report["cases"]]
    assert len(cases) == len(set(cases)) == report["scope"]["suite"] == 14
    assert [file for file, _ in cases].count(FILE) == 4
    assert (
        "Gate fails: 4 of 12 graded cases fail (fail_on: fail) · 1 case errored" in session.output
    )
