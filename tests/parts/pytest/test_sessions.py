"""Eval files as tests: real sessions of pytest in a repository, with a judge over HTTP."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.checkout import Checkout
from tests.invoke import invoke
from tests.parts.pytest.project import CONFIG, EVAL, Suite, project
from tests.sample_project import clean_environment

FILE = "evals/support.eval.yaml"
RUNNER = """\
targets:
  - {name: default, provider: runner, command_template: "x {RESULTS}", reads: promptfoo}
"""


@pytest.fixture
def tests(checkout: Checkout) -> Iterator[Suite]:
    with project(checkout) as found:
        found.write(FILE, EVAL)
        yield found


def test_every_case_is_an_item_with_its_place_and_marks(tests: Suite) -> None:
    tests.write(
        "conftest.py",
        "def pytest_collection_finish(session):\n"
        "    for item in session.items:\n"
        "        path, line, name = item.location\n"
        "        marks = [mark.name for mark in item.iter_markers()]\n"
        "        print('AT', item.nodeid, path, line, name, item.parent.path.name, marks)\n",
    )
    session = tests.run("--collect-only", "-q", "--strict-markers", "-s")
    assert [line[3:] for line in session.output.splitlines() if line.startswith("AT ")] == [
        f"{FILE}::refund {FILE} 1 refund support.eval.yaml ['safety-net', 'area:returns']",
        f"{FILE}::greeting {FILE} 7 greeting support.eval.yaml []",
        f"{FILE}::lost {FILE} 10 lost support.eval.yaml []",
        f"{FILE}::open {FILE} 13 open support.eval.yaml []",
        "rubric-ci.yaml::gate rubric-ci.yaml 0 gate rubric-ci.yaml []",
    ]
    assert not tests.judge.answers


def test_outcomes_are_those_of_the_run(tests: Suite) -> None:
    session = tests.run("-v", "-rs")
    assert session.outcomes == {
        f"{FILE}::refund": "FAILED",
        f"{FILE}::greeting": "PASSED",
        f"{FILE}::lost": "ERROR",
        f"{FILE}::open": "SKIPPED",
        "rubric-ci.yaml::gate": "FAILED",
    }
    assert session.counts == "2 failed, 1 passed, 1 skipped, 1 error"
    shown = session.output
    assert (
        f"{FILE}:6: in refund\n"
        "    - Names the period of 30 days\n"
        "E   rubric_ci.Missed: “Names the period of 30 days” is required and not satisfied: It "
        "lacks the word. (and 1 more missed gate)\n"
        "E   ✗ refund · 0.00\n"
        f"E     {FILE}:2 · target default\n"
        f"E     ✗ Names the period of 30 days · not satisfied · required · {FILE}:6\n"
        "E         It lacks the word.\n"
        f"E     ✗ Contains `30 days` · not satisfied · required · {FILE}:7\n"
        "E         it does not occur\n"
    ) in shown
    assert (
        f"{FILE}:11: in lost\n"
        "    - id: lost\n"
        "E   rubric_ci.NoVerdict: answers.jsonl has no answer for the case `lost`"
    ) in shown
    assert f"SKIPPED [1] {FILE}:14: no rubrics and no evaluators;" in shown
    assert "about 3 requests to openai/judge-1" in session.errors  # announced before it is spent
    assert "Gate fails: 1 of 2 graded cases fails (fail_on: fail) · 1 case errored\n" in shown
    assert "2 model calls, cost unknown" in shown
    assert len(tests.judge.answers) == 2  # one run for all items


def test_the_report_of_the_run_is_written(tests: Suite) -> None:
    tests.run()
    report = tests.report()
    assert [(case["id"], case["outcome"]) for case in report["cases"]] == [
        ("refund", "graded"),
        ("greeting", "graded"),
        ("lost", "errored"),
        ("open", "skipped"),
    ]
    assert report["scope"] == {"complete": True, "narrowed_by": [], "suite": 4, "base": ""}
    again = tests.checkout.root / ".rubric-ci"
    assert sorted(path.name for path in again.iterdir() if path.is_file()) == [
        ".gitignore",
        "last-failed.json",
        "report.json",
        "summary.md",
    ]


@pytest.mark.parametrize(
    ("arguments", "counts", "asked"),
    [
        (("-k", "greeting"), "2 passed, 3 deselected", 1),
        (("-m", "safety-net"), "2 failed, 3 deselected", 1),
        ((f"{FILE}::greeting",), "2 passed", 1),
        ((FILE, "-x"), "1 failed", 2),
        (("-k", "nothing"), "4 deselected", 0),
    ],
)
def test_items_are_selected_as_any_test(
    tests: Suite, arguments: tuple[str, ...], counts: str, asked: int
) -> None:
    assert tests.run(*arguments).counts.startswith(counts)
    assert len(tests.judge.answers) == asked
    if "-k" in arguments and asked:
        assert "1 of 4 cases: case filter" in tests.run(*arguments).output


def test_what_failed_last_runs_again(tests: Suite) -> None:
    tests.run()
    session = tests.run("--lf", "-v")
    assert list(session.outcomes) == [f"{FILE}::refund", f"{FILE}::lost", "rubric-ci.yaml::gate"]


def test_only_cases_that_a_change_can_affect(tests: Suite) -> None:
    tests.checkout.commit()
    tests.write(FILE, EVAL.replace("[Greets]", "[Greets politely]", 1))
    session = tests.run("--changed-since", "HEAD", "-v")
    assert session.outcomes == {f"{FILE}::greeting": "PASSED", "rubric-ci.yaml::gate": "PASSED"}
    assert session.counts == "2 passed, 3 deselected"
    assert tests.report()["scope"]["narrowed_by"] == ["changed-since"]
    tests.checkout.commit()
    assert tests.run("--changed-since=HEAD").counts == "1 passed, 4 deselected"


LEAVES = [
    (("-m", "safety-net or not x"), []),
    (("-m", "safety-net"), ["refund"]),
    (("-k", "SAFETY"), ["refund"]),
    (("-k", "support or safety"), []),
    (("-k", "not other"), ["refund"]),
    (("-k", "evals"), []),
]


@pytest.mark.parametrize(("words", "told"), LEAVES)
def test_a_case_that_the_options_choose_no_more_is_a_weaker_grading(
    tests: Suite, words: tuple[str, ...], told: list[str]
) -> None:
    base = EVAL.replace("input: Hi", "input: Hi\n    tags: [safety-net]")
    tests.write(FILE, base)
    tests.checkout.commit()
    edited = base.replace("[safety-net, ", "[other, ").replace("[Greets]", "[Is kind]")
    tests.write(FILE, edited)
    tests.run(*words, "--changed-since", "HEAD")
    found = tests.report()["grading_changes"]
    assert [each["about"] for each in found if each["direction"] == "weaker"] == told


def test_a_part_that_a_person_chooses_need_not_decide(tests: Suite) -> None:
    config = tests.checkout.root / "rubric-ci.yaml"
    config.write_text(f"{config.read_text()}gate: {{tags: [safety-net]}}\n")
    for words in (("-k", "greeting"), ("-m", "not safety-net"), ("-k", "greeting", FILE)):
        session = tests.run(*words, "-v")
        assert session.outcomes["rubric-ci.yaml::gate"] == "PASSED", session.output


def test_named_files_are_a_part_of_the_suite(tests: Suite) -> None:
    """Not the other eval files of their folder, which pytest offers as well."""
    tests.write("evals/more.eval.yaml", EVAL.replace("id: ", "id: more-"))
    tests.run(f"{FILE}::greeting")
    assert tests.report()["scope"]["narrowed_by"] == ["paths", "case"]


def test_a_waiver_is_a_strict_expected_failure(tests: Suite) -> None:
    tests.write(FILE, EVAL.partition("  - id: lost")[0])
    for criterion in ("rubric-1", "rubric-2"):
        _waive(tests, f"refund/{criterion}")
    session = tests.run("-v", "-rx")
    assert session.outcomes == {
        f"{FILE}::refund": "XFAIL",
        f"{FILE}::greeting": "PASSED",
        "rubric-ci.yaml::gate": "PASSED",
    }, session.output
    assert "is waived until 2999-01-01: known" in session.output
    tests.write(
        "answers.jsonl",
        '{"id": "refund", "answer": "hello 30 days"}\n{"id": "greeting", "answer": "hello"}\n',
    )
    session = tests.run("-v")
    assert session.outcomes[f"{FILE}::refund"] == "FAILED"
    assert "[XPASS(strict)]" in session.output


def _waive(tests: Suite, what: str) -> None:
    options = ("--until", "2999-01-01", "--reason", "known", "--owner", "a@example.org")
    done = invoke(tests.checkout.root, clean_environment(), "waive", what, *options)
    assert done.returncode == 0, done.stdout + done.stderr


def test_problems_of_a_file_are_an_error_with_their_places(tests: Suite) -> None:
    tests.write("evals/b.eval.yaml", "evalcases:\n  - id: b\n    inptu: x\n    rubrics: [x]\n")
    session = tests.run("-v")
    assert session.code == pytest.ExitCode.INTERRUPTED
    assert "ERROR collecting evals/b.eval.yaml" in session.output
    assert (
        "evals/b.eval.yaml:3:5: missing-key: unknown key `inptu` in the case; did you mean `input`?"
        in session.output
    )
    assert not tests.judge.answers


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("judge: {modle: x}\n", "rubric-ci: rubric-ci.yaml has problems"),
        (
            RUNNER,
            "rubric-ci: target `default` is another eval tool, whose cases are not tests of pytest",
        ),
    ],
)
def test_an_unusable_configuration_ends_it(tests: Suite, config: str, message: str) -> None:
    tests.write("rubric-ci.yaml", config)
    session = tests.run()
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {message}" in session.errors


def test_a_missing_key_is_an_error_of_each_case_and_asked_for_once(tests: Suite) -> None:
    tests.write("answers.jsonl", '{"id": "refund", "answer": "No"}\n')
    session = tests.run("-v", OPENAI_API_KEY="")
    assert session.counts.endswith("5 errors")
    reason = "judge `openai/judge-1`: the environment variable OPENAI_API_KEY is not set"
    assert session.output.count(f"E   rubric_ci.NoVerdict: {reason}") == 4, session.output
    assert "pytest_plugin" not in session.output  # only the lines of the eval file
    assert not tests.judge.answers


def test_a_judge_that_fails_is_an_error(tests: Suite) -> None:
    tests.judge.out = True
    session = tests.run("--junitxml=junit.xml")
    assert session.counts == "1 skipped, 4 errors"
    suite = ElementTree.parse(tests.checkout.root / "junit.xml").getroot()[0]
    assert (suite.get("errors"), suite.get("failures")) == ("4", "0")


def test_a_cap_holds(tests: Suite) -> None:
    config = CONFIG.format(url=tests.judge.url)
    price = "input_cost_per_token: 1, output_cost_per_token: 1, "
    tests.write("rubric-ci.yaml", config.replace("{model: ", f"{{{price}model: "))
    session = tests.run("--max-cost-usd", "0.5")
    assert "rubric-ci: judge openai/judge-1, at most $0.5" in session.output
    assert not tests.judge.answers
    assert session.counts == "1 skipped, 4 errors"


def test_several_targets_answer_a_case(tests: Suite) -> None:
    config = CONFIG.format(url=tests.judge.url)
    tests.write(
        "rubric-ci.yaml",
        f"{config}  - {{name: b, provider: mock, response: hello}}\ncompare: [default, b]\n",
    )
    tests.write(FILE, "evalcases:\n  - {id: greeting, input: Hi, rubrics: [Greets]}\n")
    session = tests.run("-v")
    assert session.outcomes == {
        f"{FILE}::greeting[default]": "PASSED",
        f"{FILE}::greeting[b]": "PASSED",
        "rubric-ci.yaml::gate": "PASSED",
    }


def test_several_trials_are_one_item(tests: Suite) -> None:
    tests.write(FILE, "evalcases:\n  - {id: greeting, input: Hi, rubrics: [Greets]}\n")
    session = tests.run("-v", RUBRIC_CI_RUN_TRIALS="3")
    assert session.counts == "2 passed"
    assert len(tests.report()["cases"][0]["trials"]) == 3


def test_borderline_is_named(tests: Suite) -> None:
    tests.write(
        FILE,
        "evalcases:\n  - id: greeting\n    input: Hi\n    rubrics:\n"
        "      - {contains: hello, weight: 2}\n"
        "      - {contains: absent, weight: 1, required: false}\n",
    )
    session = tests.run("-v")
    assert session.outcomes[f"{FILE}::greeting"] == "BORDERLINE"
    assert session.counts == "1 passed, 1 borderline"
    assert tests.run(RUBRIC_CI_RUN_FAIL_ON="borderline").counts == "2 failed"


def test_settings_of_pytest_ask_as_well(tests: Suite) -> None:
    tests.write("pytest.ini", "[pytest]\nrubric_ci = true\ntestpaths = tests\n")
    tests.write("tests/test_a.py", "def test_a(): pass\n")
    session = tests.run("-v", option=False)
    assert list(session.outcomes) == [
        "tests/test_a.py::test_a",
        *(f"{FILE}::{name}" for name in ("refund", "greeting", "lost", "open")),
        "rubric-ci.yaml::gate",
    ]
    assert tests.run("-v", "tests", option=False).counts == "1 passed"


def test_without_being_asked_nothing_is_collected_or_imported(tests: Suite) -> None:
    tests.write(
        "test_a.py",
        "import sys\n\n\ndef test_a():\n"
        "    ours = sorted(name for name in sys.modules if name.startswith('rubric_ci'))\n"
        "    assert ours == ['rubric_ci', 'rubric_ci.parts', 'rubric_ci.parts.pytest',\n"
        "        'rubric_ci.parts.pytest.plugin',\n"
        "        'rubric_ci.values', 'rubric_ci.values.parts']\n\n\n"
        "def test_b(rubric):\n    assert False\n",
    )
    session = tests.run("-v", "-rs", option=False, fork=False)
    assert session.outcomes == {"test_a.py::test_a": "PASSED", "test_a.py::test_b": "SKIPPED"}
    assert "the fixture `rubric` asks a judge: run pytest with --rubric-ci" in session.output


def test_options_of_another_plugin_keep_their_names(tests: Suite) -> None:
    tests.write(
        "conftest.py", "def pytest_addoption(parser):\n    parser.addoption('--changed-since')\n"
    )
    tests.write(
        "test_a.py", "def test_a(request):\n    assert request.config.option.changed_since == 'x'\n"
    )
    assert tests.run("--changed-since", "x", option=False).counts == "1 passed"


def test_json_report_names_errors(tests: Suite) -> None:
    tests.run("--json-report", "--json-report-file=result.json")
    found = json.loads((tests.checkout.root / "result.json").read_text())
    assert {each["nodeid"]: each["outcome"] for each in found["tests"]} == {
        f"{FILE}::refund": "failed",
        f"{FILE}::greeting": "passed",
        f"{FILE}::lost": "error",
        f"{FILE}::open": "skipped",
        "rubric-ci.yaml::gate": "failed",
    }
    crash = found["tests"][0]["call"]["crash"]
    assert (crash["path"], crash["lineno"]) == (str(tests.checkout.root / FILE), 6)


@pytest.mark.slow
def test_pytest_8(tests: Suite, tmp_path: Path) -> None:
    """The oldest version that is supported, beside the one of the tests."""
    place = tmp_path / "old"
    install = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--quiet",
        "--target",
        str(place),
        "pytest==8.0.0",
    ]
    subprocess.run(install, check=True)
    options = ("-v", "-p", "no:timeout", "-p", "no:asyncio")
    session = tests.run(*options, fork=False, PYTHONPATH=str(place))
    assert re.search(r"pytest-8\.0\.0", session.output), session.output
    assert session.outcomes[f"{FILE}::refund"] == "FAILED"
    assert session.counts == "2 failed, 1 passed, 1 skipped, 1 error"
