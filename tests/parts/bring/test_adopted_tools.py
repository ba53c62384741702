"""The readers of results; the tools wrote those in `results/` (`tests/peers/record.py`)."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.parts.bring.adopted_report import Adopted, results
from rubric_ci.parts.bring.adopted_samples import Sample, counting
from rubric_ci.parts.bring.adopted_tools import TOOLS, recognise
from rubric_ci.values.formats_and_defaults import ADOPTED_TOOLS
from rubric_ci.values.results import Assessed, Graded, Skipped
from tests.tables import rows

RESULTS = Path(__file__).parent / "results"
FILES = {
    "promptfoo": "promptfoo.json",
    "inspect": "inspect.json",
    "deepeval": "deepeval.json",
    "pydantic-evals": "pydantic-evals.json",
    "junit": "junit.xml",
}

BENCHMARK = json.dumps(
    {
        "runs": [
            {"eval_id": 1, "configuration": name, "run_number": run, "expectations": marks}
            for name, run, marks in (
                ("with_skill", 1, [{"text": "Names the period.", "passed": True}]),
                ("with_skill", 2, [{"text": "Names the period.", "passed": True}]),
                ("without_skill", 1, [{"text": "Names the period.", "passed": False}]),
            )
        ]
    }
)
GRADING = json.dumps(
    {
        "assertion_results": [
            {"text": "Names the period.", "passed": True, "evidence": "30 days"},
            {"text": "Is polite.", "passed": False, "evidence": "It is curt."},
        ],
        "summary": {"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5},
    }
)
TABLE = """\
id,suite,grader,passed,score,weight,reason,error,tags
refund,evals,tone,,0.9,2,kind,,sales eu
refund,evals,period,yes,,,,,sales eu
support,evals,tone,,0.5,,curt,,
outage,evals,tone,,,,,the judge is not available,
"""


def shown(samples: Iterable[Sample], tool: str) -> list[str]:
    """Return a line per case: outcome, score, criteria with + or -, gates with !, the reason."""
    about = Adopted(tool=tool, least=0.8)
    lines = []
    suites = (replace(each, suite=each.suite or "results") for each in samples)
    for case in results(list(counting(suites, frozenset())), about):
        name = f"{case.file}:{case.id}"
        if not isinstance(case, Graded):
            lines.append(f"{name} {case.outcome}: {case.reason.splitlines()[0][:44]}")
            continue
        (whole,) = (each for each in case.evaluators if isinstance(each, Assessed))
        marks = " ".join(
            f"{'+' if each.mark else '-'}{'!' if each.gated else ''}{each.id}"
            for each in whole.criteria
        )
        trials = f" x{len(case.trials)}" if case.trials else ""
        lines.append(f"{name} {case.verdict} {case.score:g}{trials}: {marks}")
    return lines


KNOWN = {"BENCHMARK": BENCHMARK, "GRADING": GRADING, "TABLE": TABLE}
MARKS = """
# promptfoo
promptfoo.json
=> results:refund pass 1: +period +llm-rubric
=> results:support fail 0.666667: +icontains -!javascript
=> results:invoice pass 0.5: +not-contains -contains
=> results:outage errored: API error: 400 Bad Request
# inspect
inspect.json
=> inspect_suite.py:invoice fail 0 x2: -!includes -!match -!model_graded_qa
=> inspect_suite.py:outage errored: no verdict in 2 of 2 trials; last reason: Mo
=> inspect_suite.py:refund pass 1 x2: +includes +match +model_graded_qa
=> inspect_suite.py:support fail 0.333333 x2: -!includes -!match +model_graded_qa
# deepeval
deepeval.json
=> deepeval:refund pass 0.875: +Exact Match +Answered
=> deepeval:invoice fail 0.375: -!Exact Match +Answered
=> deepeval:outage errored: Exact Match: MissingTestCaseParamsError: 'ac
# pydantic-evals
pydantic-evals.json
=> shop:refund pass 1: +Says +Contains
=> shop:support fail 0.5: -!Says +Contains
=> shop:invoice errored: Length: RuntimeError: the judge is not avail
=> shop:outage errored: RuntimeError: the model is not available
# junit
junit.xml
=> junit_suite:test_refund pass 1: +test
=> junit_suite:test_invoice[Can I pay by invoice?] fail 0: -!test
=> junit_suite:test_outage errored: failed on setup with "RuntimeError: the mode
=> junit_suite:test_later skipped: not offered yet
# agent-skills benchmark
BENCHMARK
=> results:eval-1 pass 1 x2: +expectation-1
# agent-skills grading
GRADING
=> results:grading fail 0.5: +expectation-1 -!expectation-2
# csv table
TABLE
=> evals:refund pass 0.933333: +tone +period
=> evals:support fail 0.5: -!tone
=> evals:outage errored: the judge is not available
"""


@pytest.mark.parametrize(("source", "expected"), rows(MARKS))
def test_results_keep_their_marks(
    source: str, expected: list[str], request: pytest.FixtureRequest
) -> None:
    """The source is one of KNOWN, or a file in `results/`."""
    tool, _, _ = request.node.callspec.id.partition(" ")
    text = KNOWN.get(source) or (RESULTS / source).read_text("utf-8")
    assert shown(TOOLS[tool].read(text), tool) == expected


PROMPTFOO = '{"results": {"results": [%s]}}'


@pytest.mark.parametrize(
    ("tool", "text", "message"),
    [
        ("promptfoo", "[]", "results.results must be a list"),
        ("promptfoo", "{", "not JSON (Expecting property name enclosed"),
        ("promptfoo", PROMPTFOO % "{}", "results.results.0.success must be true or false"),
        ("inspect", "{}", "samples must be a list"),
        ("deepeval", '{"testCases": [{}]}', "testCases.0.name must be a text"),
        ("pydantic-evals", '{"cases": 1}', "cases must be a list"),
        ("agent-skills", "{}", "the file has none of expectations, assertion_results, assertions"),
        ("junit", "<a/>", "`a` is not `testsuites` or `testsuite`"),
        ("junit", "<!DOCTYPE a []><testsuites/>", "has a document type"),
        ("junit", "no", "not XML (syntax error"),
        ("csv", "name\n", "line 1: expected the column `id`, and `passed` or `score`"),
        ("csv", "id,passed,mark\n", "line 1: unknown column `mark`"),
        ("csv", "id,passed\na,maybe\n", "line 2: `passed` is `maybe`, expected true or false"),
        ("csv", "id,passed\na,yes\na,no\n", "line 3: `a` has this grader already"),
        ("csv", "id,score\na,high\n", "line 2: `score` is `high`, expected a number"),
    ],
)
def test_what_is_not_results_is_named_with_its_place(tool: str, text: str, message: str) -> None:
    with pytest.raises(Mismatch) as error:
        list(TOOLS[tool].read(text))
    assert str(error.value).startswith(message)


def row(**fields: object) -> dict[str, object]:
    known = {"success": True, "score": 1, "failureReason": 0, "vars": {"q": "Hello?"}}
    part = {"pass": True, "score": 1, "assertion": {"type": "equals"}}
    return {**known, "gradingResult": {"componentResults": [part]}, **fields}


PROMPTFOO_ROWS = """
# repeat
[{}, {}]
=> results:Hello? pass 1 x2: +equals
# same description
[{testCase: {description: a}}, {vars: {q: 1}, testCase: {description: a}}]
=> results:a pass 1: +equals
=> results:a (2) pass 1: +equals
# checks
[{testCase: {description: a, assert: [{type: equals, value: b}]}}, {testCase: {description: a,
    assert: [{type: equals, value: c}]}}, {testCase: {description: a, assert: [{type: equals, value:
    b}]}}]
=> results:a pass 1 x2: +equals
=> results:a (2) pass 1: +equals
# threshold
[{testCase: {description: a, threshold: 0.5}}, {testCase: {description: a, threshold: 0.9}}]
=> results:a pass 1: +equals
=> results:a (2) pass 1: +equals
# providers
[{provider: {id: x}}, {provider: {id: y, label: Y}, promptIdx: 1}]
=> results:Hello? [x, prompt 1] pass 1: +equals
=> results:Hello? [Y, prompt 2] pass 1: +equals
# score of 7
[{score: 7}]
=> results:Hello? pass 1: +equals
# no output
[{success: false, gradingResult: null, error: null}]
=> results:Hello? errored: the provider gave no output
# own
[{success: false, score: 0.9}]
=> results:Hello? fail 0.9: +equals -!promptfoo
# judge
[{success: false, failureReason: 1, gradingResult: {componentResults: [{pass: false, score: 0,
    reason: the judge is down, assertion: {type: llm-rubric}, metadata: {graderError: true}}]}}]
=> results:Hello? errored: the judge is down
"""


@pytest.mark.parametrize(("text", "expected"), rows(PROMPTFOO_ROWS))
def test_rows_of_promptfoo(text: str, expected: list[str]) -> None:
    listed = [row(**fields) for fields in yaml.safe_load(text)]
    results_file = json.dumps({"results": {"results": listed}})
    assert shown(TOOLS["promptfoo"].read(results_file), "promptfoo") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"C"', "pass 1: +s"),
        ('"P"', "fail 0.5: -!s"),
        ('"N"', "fail 0: -!s"),
        ("0.8", "pass 0.8: +s"),
        ("true", "pass 1: +s"),
        ("NaN", "errored: s: unscored"),
        ("7", "errored: s: the score 7 is not between 0 and 1"),
        ('{"a": 1, "b": 0}', "fail 0.5: +s/a -!s/b"),
        ('"yes"', "errored: s: unscored"),
    ],
)
def test_values_of_inspect(value: str, expected: str) -> None:
    text = '{"samples": [{"id": 1, "scores": {"s": {"value": VALUE}}}]}'.replace("VALUE", value)
    assert shown(TOOLS["inspect"].read(text), "inspect") == [f"results:1 {expected}"]


def test_one_grader_decides_and_the_others_are_shown() -> None:
    log = (RESULTS / "inspect.json").read_text("utf-8")
    every = list(TOOLS["inspect"].read(log))
    found = counting(every, {"model_graded_qa"})
    assert shown(found, "inspect")[-1] == (
        "inspect_suite.py:support pass 1 x2: -includes -match +model_graded_qa"
    )
    with pytest.raises(Mismatch, match="no grader `x`; there are includes, match, model_graded_qa"):
        list(counting(every, {"x"}))


def log(*, model: str = "a", score: str = "C", epoch: int = 1, **more: object) -> str:
    sample = {"id": "q", "epoch": epoch, "input": "Q?", "scores": {"s": {"value": score}}}
    about = {"task": "t", "task_file": "t.py", "model": model, **more}
    return json.dumps({"eval": about, "samples": [sample]})


def deepeval(*inputs: tuple[str, bool]) -> str:
    cases = [
        {
            "name": "t",
            "input": question,
            "success": success,
            "metricsData": [{"name": "R", "success": success, "score": float(success)}],
        }
        for question, success in inputs
    ]
    return json.dumps({"testCases": cases})


def of_pydantic(*, source: str | None = None, crash: bool = False) -> str:
    shared = {"name": "t", "source_case_name": source}
    passes = {"assertions": {"ok": {"value": True}}}
    cases = [{**shared, **passes, "inputs": "x" if source else each} for each in ("x", "y")]
    crashed = {**shared, "inputs": "x" if source else "z", "error_message": "crash"}
    return json.dumps({"cases": cases, "failures": [crashed] if crash else []})


SUITES = "<testsuites>{}</testsuites>"
SUITE = '<testsuite {}><testcase name="a"{}>{}</testcase></testsuite>'
THREE = [SUITE.format(f'name="s{n}"', "", '<failure message="x"/>' * (n == 3)) for n in (1, 2, 3)]
FILES_OF_SUITES = [
    SUITE.format('file="a.js" name="s"', ' classname="c"', ""),
    SUITE.format('file="b.js" name="s"', ' classname="c"', "<failure/>"),
]
GRADED = '{"expectations": [{"text": "x", "passed": true}]}'


@pytest.mark.parametrize(
    ("tool", "texts", "expected"),
    [
        (
            "deepeval",
            [deepeval(("Pads?", True), ("A bike?", True), ("Food?", False))],
            ["t pass 1: +R", "t (2) pass 1: +R", "t (3) fail 0: -!R"],
        ),
        (
            "deepeval",
            [deepeval(("Pads?", True), ("Pads?", True), ("Pads?", False))],
            ["t pass 1: +R", "t (2) pass 1: +R", "t (3) fail 0: -!R"],
        ),
        (
            "pydantic-evals",
            [of_pydantic(crash=True)],
            ["t pass 1: +ok", "t (2) pass 1: +ok", "t (3) errored: crash"],
        ),
        ("pydantic-evals", [of_pydantic(source="t")], ["t pass 1 x2: +ok"]),
        (
            "inspect",
            [log(model=each, score="I" if each == "c" else "C") for each in "abc"],
            ["q [a] pass 1: +s", "q [b] pass 1: +s", "q [c] fail 0: -!s"],
        ),
        (
            "inspect",
            [log(), log(task="other", score="I"), log(task_args={"hard": True}, score="I")],
            ["q pass 1: +s", "q (2) fail 0: -!s", "q (3) fail 0: -!s"],
        ),
        ("inspect", [log(), log(epoch=2), log(score="I")], ["q pass 1 x3: +s"]),
        (
            "junit",
            [SUITES.format("".join(THREE))],
            ["a pass 1: +test", "a pass 1: +test", "a fail 0: -!test"],
        ),
        (
            "junit",
            [SUITES.format("".join(FILES_OF_SUITES))],
            ["a pass 1: +test", "a (2) fail 0: -!test"],
        ),
        (
            "junit",
            ['<testsuite><testcase name="a"/><testcase name="a"><failure/></testcase></testsuite>'],
            ["a pass 1: +test", "a (2) fail 0: -!test"],
        ),
        (
            "agent-skills",
            [GRADED, GRADED.replace("true", "false")],
            ["grading pass 1: +expectation-1", "grading (2) fail 0: -!expectation-1"],
        ),
    ],
    ids=[
        *("questions", "one test twice", "crash", "repeat", "models", "tasks", "runs", "suites"),
        *("files of suites", "one name twice", "gradings"),
    ],
)
def test_different_tests_are_no_trials(tool: str, texts: list[str], expected: list[str]) -> None:
    samples = [sample for text in texts for sample in TOOLS[tool].read(text)]
    found = [line.partition(":")[2] for line in shown(samples, tool)]
    assert found == expected


def test_rows_of_a_table_with_one_id_have_one_question() -> None:
    text = "id,grader,passed,question\na,x,yes,Pads?\na,y,no,Food?\n"
    with pytest.raises(Mismatch, match="line 3: `a` has another `question` in a row before"):
        list(TOOLS["csv"].read(text))


def test_a_row_of_a_table_without_a_mark_is_errored() -> None:
    found = shown(TOOLS["csv"].read("id,score\na,0.9\nb,\nc,nan\n"), "csv")
    assert found == [
        "results:a pass 0.9: +grader",
        "results:b errored: grader: neither `passed` nor `score`",
        "results:c errored: grader: the score nan is not between 0 and 1",
    ]


PARTS_OF_RUNS = """
# inspect: the log's status is cancelled: 1 of 40 samples
{status: cancelled, eval: {dataset: {samples: 40}}}
=> the log's status is `cancelled`: 1 of 40 samples
# inspect: the log's status is error: 1 of 40 samples
{status: error, eval: {dataset: {samples: 40}}}
=> the log's status is `error`: 1 of 40 samples
# inspect: the log's status is started: 1 of 40 samples
{status: started, eval: {dataset: {samples: 40}}}
=> the log's status is `started`: 1 of 40 samples
# inspect: the log has 1 of 40 samples
{status: success, eval: {dataset: {samples: 40}}}
=> the log has 1 of 40 samples
# inspect: the log has 1 of 2 samples
{results: {total_samples: 2}}
=> the log has 1 of 2 samples
# inspect: the log has 1 of 3 samples
{eval: {dataset: {samples: 1}, config: {epochs: 3}}}
=> the log has 1 of 3 samples
# inspect: whole
{eval: {dataset: {samples: 40}, config: {limit: 1}}}
# inspect: the log is invalidated: 1 sample
{invalidated: true}
=> the log is invalidated: 1 sample
# deepeval: testPassed is 1, testFailed is 3, and 1 of 1
{testCases: [{name: t, input: x, success: true, metricsData: [{name: R, success: true, score:
    1.0}]}], testPassed: 1, testFailed: 3}
=> `testPassed` is 1, `testFailed` is 3, and 1 of 1 test here passed
# promptfoo: 1 of 3 results are listed
{results: {results: '[row]', stats: {successes: 1, errors: 2}}}
=> 1 of 3 results are listed
# junit: s: error outside of a test: set-up failed
<testsuite name="s" tests="3" errors="1"><error message="set-up failed"/><testcase
    name="a"/></testsuite>
=> s: error outside of a test: set-up failed
# junit: testsuites: tests="3", and 1 in the file
<testsuites tests="3"><testsuite><testcase name="a"/></testsuite></testsuites>
=> testsuites: `tests="3"`, and 1 in the file
# junit: s: failures="1", and 0 in the file
<testsuite name="s" tests="1" failures="1"><testcase name="a"/></testsuite>
=> s: `failures="1"`, and 0 in the file
# junit: whole
<testsuite tests="1" failures="1"><testcase name="a" status="failed"/></testsuite>
"""


@pytest.mark.parametrize(("text", "reason"), rows(PARTS_OF_RUNS))
def test_results_of_a_part(text: str, reason: list[str], request: pytest.FixtureRequest) -> None:
    tool, _, _ = request.node.callspec.id.partition(":")
    if tool != "junit":
        found = yaml.safe_load(text)
        if tool == "inspect":
            found["samples"] = [{"id": 1, "scores": {"s": {"value": "C"}}}]
        if tool == "promptfoo":
            found["results"]["results"] = [row()]
        text = json.dumps(found)
    assert TOOLS[tool].missing(text) == "".join(reason)


@pytest.mark.parametrize("tool", FILES)
def test_results_of_a_whole_run(tool: str) -> None:
    assert TOOLS[tool].missing((RESULTS / FILES[tool]).read_text("utf-8")) == ""


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('status="run" result="completed"', "pass 1: +test"),
        ('status="notrun" result="suppressed"', "skipped: suppressed"),
        ('status="notrun"', "errored: its status is `notrun`"),
        ('status="failed"', "fail 0: -!test"),
        ('result="error"', "errored: its status is `error`"),
        ('status="Passed"', "pass 1: +test"),
    ],
)
def test_words_of_junit(attributes: str, expected: str) -> None:
    text = f'<testsuite name="s"><testcase name="a" {attributes}/></testsuite>'
    assert shown(TOOLS["junit"].read(text), "junit") == [f"s:a {expected}"]


def test_a_summary_that_counts_more_than_it_lists_gives_no_verdict() -> None:
    text = '{"expectations": [{"text": "x", "passed": true}], "summary": {"failed": 3, "total": 4}}'
    assert shown(TOOLS["agent-skills"].read(text), "agent-skills") == [
        "results:grading errored: its summary counts more expectations: `faile"
    ]


def test_every_tool_can_be_named() -> None:
    assert tuple(TOOLS) == ADOPTED_TOOLS


@pytest.mark.parametrize("tool", FILES)
def test_results_are_recognised_by_their_content(tool: str) -> None:
    text = (RESULTS / FILES[tool]).read_text("utf-8")
    found = recognise({FILES[tool]: text})
    assert found is TOOLS[tool]


def test_what_several_tools_could_have_written_is_not_recognised() -> None:
    promptfoo = (RESULTS / FILES["promptfoo"]).read_text("utf-8")
    junit = (RESULTS / FILES["junit"]).read_text("utf-8")
    assert recognise({"a.json": promptfoo, "b.xml": junit}) is None
    assert recognise({"a.json": "{}"}) is None


def test_nothing_to_grade_is_skipped() -> None:
    text = '{"runs": [{"eval_id": 1, "result": {"pass_rate": 1.0}}]}'
    (case,) = results(TOOLS["agent-skills"].read(text), Adopted(tool="x", least=0.8))
    assert isinstance(case, Skipped)
