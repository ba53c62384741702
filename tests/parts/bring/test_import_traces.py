"""`rubric-ci import` of traces: what was asked and answered becomes cases that run at once."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from rubric_ci.parts.bring.trace_file import Fault, rows
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.parts.bring import trace_records as records
from tests.parts.bring.trace_records import ANSWER, QUESTION, RESULT, ROOT, SYSTEM, TRACE, lines


def run(checkout: Checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    return invoke(checkout.root, ENVIRONMENT, "import", *arguments)


def written(checkout: Checkout, name: str = "traces") -> list[dict[str, Any]]:
    text = (checkout.root / f"{name}.eval.yaml").read_text(encoding="utf-8")
    cases: list[dict[str, Any]] = yaml.safe_load(text)["evalcases"]
    return cases


def answers(checkout: Checkout, name: str = "traces") -> list[dict[str, Any]]:
    text = (checkout.root / f"{name}.answers.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


NEXT = "the cases have no rubrics yet: `rubric-ci generate rubrics traces.eval.yaml` drafts them"
UNTIMED = {"tool": "find", "input": {"order": 7}, "output": RESULT}
STEP = {**UNTIMED, "duration_ms": 1000.0}


@pytest.mark.parametrize(
    ("form", "text", "step"),
    [
        ("otlp", records.otlp_with_attributes, STEP),
        ("otlp", records.otlp_with_events, UNTIMED),
        ("otlp", records.otlp_with_old_events, STEP),
        ("otlp", records.otlp_with_old_logs, UNTIMED),
        ("langfuse", records.langfuse_download, STEP),
        ("langfuse", records.langfuse_rows, STEP),
        ("langfuse", records.langfuse_export, STEP),
        ("langsmith", records.langsmith_runs, STEP),
        ("phoenix", records.phoenix_spans, STEP),
        ("phoenix", records.phoenix_frame, STEP),
        ("phoenix", records.phoenix_download, STEP),
        ("otlp", records.phoenix_otlp, STEP),
        ("braintrust", records.braintrust_rows, STEP),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_one_conversation_is_one_case_in_every_format(
    checkout: Checkout, form: str, text: Callable[[], str], step: dict[str, Any]
) -> None:
    checkout.write({"traces.json": text()})
    done = run(checkout, "traces.json")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "read traces.json: 1 trace",
        "wrote traces.eval.yaml: 1 case",
        "wrote traces.answers.jsonl: 1 recorded answer",
        "wrote targets.yaml: 1 target",
        NEXT,
    ]
    (case,) = written(checkout)
    origin = case["metadata"]["trace"]
    assert case["id"] == "trace-4bf92f35"
    assert case["input_messages"] == [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    assert case.get("tags", []) == ([] if form == "braintrust" else ["thumb=up"])
    assert (origin["file"], origin["format"], origin["id"]) == ("traces.json", form, TRACE)
    assert [each["comment"] for each in origin["feedback"]] == ["Quick!"]
    (recorded,) = answers(checkout)
    called, last = recorded["output_messages"]
    assert called == {"role": "assistant", "tool_calls": [step]}
    assert last == {"role": "assistant", "content": ANSWER}
    known = (recorded["id"], recorded["answer"], recorded["duration_ms"])
    assert known == (case["id"], ANSWER, 1000)
    assert recorded["token_usage"] == {"input": 20, "output": 9}
    checked = invoke(checkout.root, ENVIRONMENT, "validate", "traces.eval.yaml")
    assert checked.returncode == 0, checked.stdout


def runs(*changes: dict[str, Any]) -> str:
    """Runs of LangSmith without others in them, each with what is different."""
    return lines(
        *(
            {
                "id": f"{number:08d}-run",
                "run_type": "chain",
                "name": "support",
                "inputs": {"question": f"Question {number}?"},
                "outputs": {"output": "Yes."},
                **change,
            }
            for number, change in enumerate(changes)
        )
    )


SIX = runs(
    {"tags": ["beta"], "extra": {"metadata": {"user": "ada"}}},
    {"feedback_stats": {"helpful": {"n": 2, "avg": 0.25}}},
    {"inputs": {"question": "question  0? "}, "feedback_stats": {"helpful": {"n": 1, "avg": 1.0}}},
    {"error": "Timeout", "outputs": None},
    {"inputs": {"question": "Mail a.b@shop.example, call +49 30 1234567"}},
    {"outputs": {"output": "Use sk-abcdefghijklmnop1234"}},
)


@pytest.mark.parametrize(
    "text",
    [
        records.langfuse_export,
        records.langfuse_traces,
        lambda: json.dumps(json.loads(records.braintrust_rows())["events"][:4]),
        lambda: json.dumps([json.loads(each) for each in SIX.splitlines()]),
    ],
    ids=["langfuse observations", "langfuse traces", "braintrust", "langsmith"],
)
def test_a_table_has_the_cases_of_an_export(checkout: Checkout, text: Callable[[], str]) -> None:
    checkout.write({"a/traces.json": text(), "b/traces.csv": records.as_table(text())})
    for name in ("a/traces.json", "b/traces.csv"):
        done = run(checkout, name)
        assert done.returncode == 0, done.stdout + done.stderr
    json_cases, table_cases = written(checkout, "a/traces"), written(checkout, "b/traces")
    for case in (*json_cases, *table_cases):
        del case["metadata"]["trace"]["file"], case["metadata"]["trace"]["line"]
    assert table_cases == json_cases
    assert answers(checkout, "b/traces") == answers(checkout, "a/traces")


@pytest.mark.parametrize(
    ("options", "kept", "said"),
    [
        ([], [0, 1, 2, 3, 4, 5], "masked: 1 secret"),
        (["--where", "tag=beta"], [0], "left out: 5 by --where"),
        (["--where", "metadata.user=a*"], [0], "left out: 5 by --where"),
        (["--where", "feedback.helpful<0.5"], [1], "left out: 5 by --where"),
        (["--where", "feedback.helpful>0.5"], [2], "left out: 5 by --where"),
        (["--where", "status=error"], [3], "left out: 5 by --where"),
        (["--where", "status!=error", "--where", "name=sup*"], [0, 1, 2, 4, 5], "1 by --where"),
        (["--dedupe"], [0, 1, 3, 4, 5], "left out: 1 by --dedupe"),
        (["--sample", "2"], [2, 5], "left out: 4 by --sample (2 of 6, seed 0)"),
        (["--sample", "2", "--seed", "1"], [1, 2], "left out: 4 by --sample (2 of 6, seed 1)"),
        (["--sample", "9"], [0, 1, 2, 3, 4, 5], "read traces.jsonl: 6 traces"),
        (["--mask", "email,PHONE"], [0, 1, 2, 3, 4, 5], "masked: 1 EMAIL, 1 PHONE, 1 secret"),
    ],
    ids=str,
)
def test_options_choose_cases_and_say_what_they_leave_out(
    checkout: Checkout, options: list[str], kept: list[int], said: str
) -> None:
    checkout.write({"traces.jsonl": SIX})
    done = run(checkout, "traces.jsonl", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [int(case["metadata"]["trace"]["id"][:8]) for case in written(checkout)]
    assert found == kept
    assert said in done.stdout


def test_secrets_and_personal_data_are_in_no_file(checkout: Checkout) -> None:
    checkout.write({"traces.jsonl": SIX})
    environment = {**ENVIRONMENT, "SHOP_TOKEN": "question"}
    invoke(checkout.root, environment, "import", "traces.jsonl", "--mask", "EMAIL,PHONE")
    questions = [case["input"] for case in written(checkout)]
    assert questions[2:5] == ["***  0? ", "Question 3?", "Mail [EMAIL], call [PHONE]"]
    assert answers(checkout)[-1]["answer"] == "Use ***"


def test_what_is_known_of_a_trace_is_kept(checkout: Checkout) -> None:
    checkout.write({"traces.jsonl": SIX})
    done = run(checkout, "traces.jsonl")
    assert "wrote traces.eval.yaml: 6 cases, 1 of them without an answer to grade\n" in done.stdout
    first, second, _, failed, *_ = written(checkout)
    expected = """
    id: trace-00000000
    input: Question 0?
    expected_outcome: Answers the request correctly and completely
    tags: [beta]
    metadata:
      trace: {file: traces.jsonl, line: 1, format: langsmith, id: 00000000-run, name: support}
    """
    assert first == yaml.safe_load(expected)
    assert second["tags"] == ["helpful=0.25"]
    assert (failed["tags"], failed["metadata"]["trace"]["error"]) == (["error"], "Timeout")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--where", "metadata.usr=ada"], "no trace has `metadata.usr`\n  did you mean"),
        (["--where", "beta"], "`--where beta` is not a condition"),
        (["--where", "feedback.helpful<much"], "much is not a number"),
        (["--mask", "EMAIL,IBAN"], "`IBAN` is not a kind; the kinds are EMAIL, PHONE"),
        (["--sample", "0"], "0 is not in the range x>=1"),
    ],
    ids=str,
)
def test_a_wrong_option_is_refused_before_a_file_is_written(
    checkout: Checkout, options: list[str], said: str
) -> None:
    checkout.write({"traces.jsonl": SIX})
    done = run(checkout, "traces.jsonl", *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(checkout.root.glob("*.yaml"))


IMAGE = [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]


@pytest.mark.parametrize(
    ("form", "text", "lost"),
    [
        ("langsmith", "{\n" + SIX, ["1:1: not-read: it is not JSON: "]),
        ("langsmith", SIX + "[1]\n", ["7:1: not-read: it is not a JSON object"]),
        ("langsmith", SIX + '{"a": 1}\n', ["7:1: not-read: it is neither a run nor feedback of"]),
        (
            "langsmith",
            SIX + runs({"inputs": {"messages": [{"role": "user", "content": IMAGE}]}}),
            ["7:1: not-read: a message has a part of type `image_url`, which is not imported"],
        ),
        ("otlp", '{"resourceSpans": 1}\n', ["1:1: not-read: it has neither `resourceSpans` nor"]),
        (
            "otlp",
            lines({"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "a"}]}]}]}),
            ["1:1: not-read: a span has no `traceId` or no `spanId`"],
        ),
        ("langfuse", lines({"a": 1}), ["1:1: not-read: it is not a trace, observation or score"]),
        ("langfuse", lines({"traceId": "t", "type": "SPAN"}), ["1:1: not-read: a trace or an"]),
        ("phoenix", lines({"a": 1}), ["1:1: not-read: it has no `context.trace_id`"]),
        ("braintrust", lines({"a": 1}), ["1:1: not-read: it has no `input` or no `output`"]),
        ("braintrust", lines({"input": "a", "output": 1}), ["1:1: not-read: a row has no `id`"]),
        ("braintrust", "[\n{\n},\n{\n}\n", ["5:1: not-read: it is not JSON"]),
        ("braintrust", "\n \n", ["1:1: not-read: the file is empty"]),
        ("langsmith", "[" * 100_000 + "\n", ["1:1: not-read: it is nested too deeply"]),
        ("langsmith", SIX + '{"a": "\\ud800"}\n', ["7:1: not-read: it has an unpaired surrogate"]),
    ],
    ids=lambda value: None if isinstance(value, str) and len(value) > 30 else str(value)[:40],
)
def test_what_cannot_be_read_is_refused_at_its_line(
    checkout: Checkout, form: str, text: str, lost: list[str]
) -> None:
    checkout.write({"traces.jsonl": text})
    done = run(checkout, "traces.jsonl", "--from", form)
    assert done.returncode == 1
    for each in lost:
        assert f"traces.jsonl:{each}" in done.stdout
    assert f"{len(lost)} line not read" in done.stdout
    assert (checkout.root / "traces.eval.yaml").exists() == (SIX in text)


LEFT_OUT = (
    "1 without a question; 1 with spans that are each other's parent; "
    "1 with scores or messages only, and no span"
)


def test_traces_without_a_question_are_counted(checkout: Checkout) -> None:
    lost = otlp_roots()
    checkout.write({"traces.jsonl": lost})
    done = run(checkout, "traces.jsonl")
    assert done.stdout.splitlines()[:2] == ["read traces.jsonl: 4 traces", f"left out: {LEFT_OUT}"]
    assert len(written(checkout)) == 1


def otlp_roots() -> str:
    asked = {"gen_ai.input.messages": json.dumps(records.parts(records.ASKED))}
    other = {
        trace: json.loads(json.dumps(records.otlp_span("a", parent, 0, {})).replace(TRACE, trace))
        for trace, parent in (("1" * 32, ""), ("2" * 32, "a"))
    }
    score = records.otlp_log(ROOT, "gen_ai.evaluation.result", records.EVALUATION)
    score = json.loads(json.dumps(score).replace(TRACE, "3" * 32))
    return lines(records.otlp_span(ROOT, "", 0, asked), *other.values(), score)


ITEMS: dict[str, dict[str, Any]] = {
    "langfuse": {"input": {"question": "Hi?"}, "expectedOutput": "Hello"},
    "langsmith": {"inputs": {"question": "Hi?"}, "outputs": {"answer": "Hello"}},
    "braintrust": {"input": "Hi?", "expected": "Hello", "root_span_id": "s", "span_id": "s"},
}


@pytest.mark.parametrize("form", ITEMS)
def test_a_dataset_is_a_golden_set(checkout: Checkout, form: str) -> None:
    checkout.write({"set.jsonl": lines({"id": "i1", **ITEMS[form]})})
    done = run(checkout, "set.jsonl", "--from", form)
    assert "; import a dataset without `--from`" in done.stdout
    assert run(checkout, "set.jsonl").returncode == 0
    (case,) = written(checkout, "set")
    assert (case["id"], case["input"], case["expected_output"]) == ("i1", "Hi?", "Hello")
    assert case["expected_outcome"] == "Answers the request as the reference answer does"


def test_braces_control_characters_and_no_numbers_are_kept_as_data(checkout: Checkout) -> None:
    asked = "Fill {{ name }}: \x00 \x85 \u2028 {% x %}"
    text = runs({"inputs": {"question": asked, "n": float("nan"), "m": 7}})
    checkout.write({"traces.jsonl": text.replace('"m": 7', '"m": 1e999')})
    done = run(checkout, "traces.jsonl")
    assert done.returncode == 0, done.stdout
    (case,) = written(checkout)
    assert (case["input"], case["metadata"]["trace"]["input"]) == (asked, {"n": None, "m": None})
    checked = invoke(checkout.root, ENVIRONMENT, "validate", "traces.eval.yaml")
    assert checked.returncode == 0, checked.stdout


def test_what_the_new_file_cannot_hold_is_said(checkout: Checkout) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    checkout.write({"traces.jsonl": runs({"inputs": {"question": "Hi?", "deep": deep}})})
    done = run(checkout, "traces.jsonl")
    assert done.returncode == 1
    assert "traces.eval.yaml:" in done.stdout
    assert "yaml-depth" in done.stdout


def test_files_of_one_export_are_read_together(checkout: Checkout) -> None:
    *rows, score = records.langfuse_rows().splitlines(keepends=True)
    checkout.write({"observations.jsonl": "".join(rows), "scores.jsonl": score})
    done = run(checkout, "observations.jsonl", "scores.jsonl", "--output-dir", "evals")
    assert done.stdout.startswith("read observations.jsonl and 1 other file: 1 trace\n")
    (case,) = written(checkout, "evals/observations")
    assert case["metadata"]["trace"]["file"] == "observations.jsonl"
    assert case["tags"] == ["thumb=up"]


def test_a_table_that_is_too_large_is_not_read() -> None:
    (found,) = rows("a,b\n" * 4_000_001)
    said = "it has more than 16,000,000 characters; export JSON Lines, which is read line by line"
    assert found == Fault(1, said)


def test_scores_of_a_table_are_numbers(checkout: Checkout) -> None:
    """Cells are texts; `--where` compares the numbers."""
    score = {"id": "s", "traceId": TRACE, "observationId": None, "name": "helpful", "value": 0.25}
    files = {"traces.csv": records.langfuse_traces(), "scores.csv": json.dumps([score])}
    checkout.write({name: records.as_table(text) for name, text in files.items()})
    done = run(checkout, "traces.csv", "scores.csv", "--where", "feedback.helpful<0.5")
    assert done.returncode == 0, done.stdout
    assert written(checkout)[0]["tags"] == ["beta", "Is good=0.5", "helpful=0.25"]


def test_nothing_is_overwritten(checkout: Checkout) -> None:
    checkout.write({"traces.jsonl": SIX, "targets.yaml": "targets: []\n"})
    done = run(checkout, "traces.jsonl")
    assert done.returncode == 1
    assert "targets.yaml exists already; define `traces-recorded` in it\n" in done.stdout
    stub = "  - name: traces-recorded\n    provider: recorded\n    answers: traces.answers.jsonl\n"
    assert f"add to targets.yaml, under `targets`:\n{stub}" in done.stdout
    done = run(checkout, "traces.jsonl")
    assert done.returncode == 2
    assert "traces.eval.yaml exists already" in done.stderr


def test_options_of_traces_are_refused_for_other_files(checkout: Checkout) -> None:
    checkout.write({"golden.jsonl": '{"question": "Hi?", "ground_truth": "Hello"}\n'})
    done = run(checkout, "golden.jsonl", "--sample", "3")
    assert done.returncode == 2
    assert "name their format: --from otlp | langfuse | langsmith" in done.stderr


@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("traces.parquet", "Parquet", ("--from", "langsmith")),
        ("traces.parquet", "Parquet", ()),
        ("traces.xlsx", "a workbook", ("--from", "langsmith")),
        ("traces.jsonl.gz", "compressed", ("--from", "langsmith")),
        ("traces.zip", "compressed", ()),
    ],
)
def test_other_forms_of_an_export_are_refused(
    checkout: Checkout, name: str, kind: str, options: tuple[str, ...]
) -> None:
    checkout.write({name: "x"})
    done = run(checkout, name, *options)
    said = f"rubric-ci: {name} is {kind}; JSON, JSON Lines and CSV are read\n"
    hint = "  export one of them, or convert it (docs/bring.md)\n"
    assert (done.returncode, done.stderr) == (2, said + hint)


def test_messages_of_a_data_frame_that_was_saved_as_a_table_are_no_json(checkout: Checkout) -> None:
    span = {"context.trace_id": TRACE, "context.span_id": ROOT, "span_kind": "LLM"}
    chat = {"attributes.llm.input_messages": "[{'message.role': 'user'}]"}
    checkout.write({"frame.csv": records.as_table(json.dumps([{**span, **chat}]))})
    done = run(checkout, "frame.csv")
    said = "frame.csv:2:1: not-read: its messages are Python, and not JSON: "
    hint = 'export the data frame with `to_json(orient="records", lines=True)`'
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, said + hint)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "traces.csv:1:1: not-read: the table has no rows"),
        ("run_type,inputs,id\n", "traces.csv:1:1: not-read: the table has no rows"),
        ('run_type,inputs,id\nchain,"a,1\n', "traces.csv:2:1: not-read: the quotation mark"),
        ("run_type,inputs,id\nchain,Hi?\n", "traces.csv:2:1: not-read: the row has 2 cells"),
    ],
    ids=["empty", "a header", "no end of a cell", "a row that is cut"],
)
def test_a_table_that_cannot_be_read(checkout: Checkout, text: str, said: str) -> None:
    checkout.write({"traces.csv": text})
    done = run(checkout, "traces.csv", "--from", "langsmith")
    assert (done.returncode, said in done.stdout) == (1, True), done.stdout + done.stderr


def test_a_file_that_is_no_utf8_is_refused(checkout: Checkout) -> None:
    (checkout.root / "traces.jsonl").write_bytes(SIX.encode() + b'{"a": "\xff"}\n')
    done = run(checkout, "traces.jsonl")
    assert done.returncode == 2
    assert "traces.jsonl:7: byte 7 of the line is not UTF-8" in done.stderr


def test_the_recorded_answers_are_graded(checkout: Checkout) -> None:
    """A criterion about the work of the trace, from the file to the verdict."""
    checkout.write({"traces.json": records.langsmith_runs()})
    run(checkout, "traces.json")
    text = (checkout.root / "traces.eval.yaml").read_text(encoding="utf-8")
    rubrics = "  rubrics:\n  - {contains: Friday}\n  - {called: find(*7*)}\n"
    checkout.write({"traces.eval.yaml": text + rubrics})
    done = invoke(checkout.root, ENVIRONMENT, "run", "traces.eval.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((checkout.root / ".rubric-ci/report.json").read_text(encoding="utf-8"))
    assert [case["verdict"] for case in report["cases"]] == ["pass"]
    assert report["cases"][0]["trace"]["steps"][0]["result"] == RESULT
    assert QUESTION in report["cases"][0]["question"]
