"""The readers of results; the tools wrote those in `results/` (`tests/peers/record.py`)."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.parts.bring.adoption.adopted_report import Adopted, results
from rubric_ci.parts.bring.adoption.samples import Sample, counting
from rubric_ci.parts.bring.adoption.tools import TOOLS, recognise
from rubric_ci.values.option_values import ADOPTED_TOOLS
from rubric_ci.values.results import Assessed, Graded, Skipped

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
    about = Adopted(tool=tool, file="results", least=0.8)
    lines = []
    for case in results(samples, about):
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


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        (
            "promptfoo",
            "promptfoo.json",
            [
                "results:refund pass 1: +period +llm-rubric",
                "results:support fail 0.666667: +icontains -!javascript",
                "results:invoice pass 0.5: +not-contains -contains",
                "results:outage errored: API error: 400 Bad Request",
            ],
        ),
        (
            "inspect",
            "inspect.json",
            [
                "inspect_suite.py:invoice fail 0 x2: -!includes -!match -!model_graded_qa",
                "inspect_suite.py:outage errored: no verdict in 2 of 2 trials; last reason: Mo",
                "inspect_suite.py:refund pass 1 x2: +includes +match +model_graded_qa",
                "inspect_suite.py:support fail 0.333333 x2: -!includes -!match +model_graded_qa",
            ],
        ),
        (
            "deepeval",
            "deepeval.json",
            [
                "deepeval:refund pass 0.875: +Exact Match +Answered",
                "deepeval:invoice fail 0.375: -!Exact Match +Answered",
                "deepeval:outage errored: Exact Match: MissingTestCaseParamsError: 'ac",
            ],
        ),
        (
            "pydantic-evals",
            "pydantic-evals.json",
            [
                "shop:refund pass 1: +Says +Contains",
                "shop:support fail 0.5: -!Says +Contains",
                "shop:invoice errored: Length: RuntimeError: the judge is not avail",
                "shop:outage errored: RuntimeError: the model is not available",
            ],
        ),
        (
            "junit",
            "junit.xml",
            [
                "junit_suite:test_refund pass 1: +test",
                "junit_suite:test_invoice[Can I pay by invoice?] fail 0: -!test",
                'junit_suite:test_outage errored: failed on setup with "RuntimeError: the mode',
                "junit_suite:test_later skipped: not offered yet",
            ],
        ),
        ("agent-skills", BENCHMARK, ["results:eval-1 pass 1 x2: +expectation-1"]),
        ("agent-skills", GRADING, ["results:grading fail 0.5: +expectation-1 -!expectation-2"]),
        (
            "csv",
            TABLE,
            [
                "evals:refund pass 0.933333: +tone +period",
                "evals:support fail 0.5: -!tone",
                "evals:outage errored: the judge is not available",
            ],
        ),
    ],
)
def test_results_keep_their_marks(tool: str, text: str, expected: list[str]) -> None:
    file = RESULTS / text if len(text) < 40 else None
    content = file.read_text("utf-8") if file else text
    assert shown(TOOLS[tool].read(content), tool) == expected


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
        ("csv", "id,passed\na,\n", "line 2: neither `passed`, `score` nor `error`"),
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


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row(), row()], ["results:Hello? pass 1 x2: +equals"]),
        (
            [row(testCase={"description": "a"}), row(testCase={"description": "a"}, vars={"q": 1})],
            ["results:a pass 1: +equals", "results:a (2) pass 1: +equals"],
        ),
        (
            [
                row(testCase={"description": "a", "assert": [{"type": "equals", "value": each}]})
                for each in ("b", "c", "b")
            ],
            ["results:a pass 1 x2: +equals", "results:a (2) pass 1: +equals"],
        ),
        (
            [row(testCase={"description": "a", "threshold": each}) for each in (0.5, 0.9)],
            ["results:a pass 1: +equals", "results:a (2) pass 1: +equals"],
        ),
        (
            [row(provider={"id": "x"}), row(provider={"id": "y", "label": "Y"}, promptIdx=1)],
            [
                "results:Hello? [x, prompt 1] pass 1: +equals",
                "results:Hello? [Y, prompt 2] pass 1: +equals",
            ],
        ),
        ([row(score=7)], ["results:Hello? pass 1: +equals"]),
        (
            [row(success=False, gradingResult=None, error=None)],
            ["results:Hello? errored: the provider gave no output"],
        ),
        ([row(success=False, score=0.9)], ["results:Hello? fail 0.9: +equals -!promptfoo"]),
        (
            [
                row(
                    success=False,
                    failureReason=1,
                    gradingResult={
                        "componentResults": [
                            {
                                "pass": False,
                                "score": 0,
                                "reason": "the judge is down",
                                "assertion": {"type": "llm-rubric"},
                                "metadata": {"graderError": True},
                            }
                        ]
                    },
                )
            ],
            ["results:Hello? errored: the judge is down"],
        ),
    ],
    ids=[
        "repeat",
        "same description",
        "checks",
        "threshold",
        "providers",
        "score of 7",
        "no output",
        "own",
        "judge",
    ],
)
def test_rows_of_promptfoo(rows: list[object], expected: list[str]) -> None:
    text = json.dumps({"results": {"results": rows}})
    assert shown(TOOLS["promptfoo"].read(text), "promptfoo") == expected


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
    (case,) = results(TOOLS["agent-skills"].read(text), Adopted(tool="x", file="f", least=0.8))
    assert isinstance(case, Skipped)
