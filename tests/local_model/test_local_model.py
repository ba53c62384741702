"""A real model on this machine as target and judge: the contract, not the quality of its work.

`make local-model` installs a small model and a server for it, 130 MB, and runs this; without them
the tests are skipped.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.pictures import png, write

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".tools/local-model/bin/python"
MARKS = {True, False, "cannot_assess"}
WORDS = {"sound", "never-fails", "jumpy", "untested"}
MOST_SECONDS = 900  # of a command: after 1,000 pytest ends the whole run (faulthandler_timeout)
# A model of this size can go on for as long as it may: a mark needs fewer tokens.
MOST_TOKENS = 200

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="the model is not here: make local-model"),
    pytest.mark.timeout(3 * MOST_SECONDS),
]

EVALS = """\
evalcases:
- {id: capital, input: What is the capital of France? One sentence., rubrics: [Names Paris]}
- {id: sum, input: What is 2 + 3? One sentence., rubrics: [Says that the sum is 5]}
- {id: colour, input: Which colour has snow? One word., rubrics: [Says white]}
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the base URL of the server."""
    command = [str(PYTHON), str(Path(__file__).with_name("server.py"))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout
        yield server.stdout.readline().strip()
        server.kill()


def prepare(folder: Path, url: str, target: dict[str, str], evals: str = EVALS) -> None:
    """Write the lines that a local judge needs, and the cases.

    A request that waits for the processor is not repeated: the server would go on with both.
    """
    limits = {"max_tokens": MOST_TOKENS, "timeout_seconds": MOST_SECONDS}
    model = {"model": "openai/smollm2", "api_base": url, **limits}
    config = {"judge": model, "targets": [{"name": "default", **(target or model)}]}
    (folder / "rubric-ci.yaml").write_text(json.dumps(config), encoding="utf-8")
    (folder / "a.eval.yaml").write_text(evals, encoding="utf-8")


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of a command."""
    with start(folder, *arguments) as process:
        output, _ = process.communicate(timeout=MOST_SECONDS)
    return process.returncode, output


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start rubric-ci without any key."""
    unset = {"OPENAI_API_KEY", "GITHUB_ACTIONS", "CI"}
    return subprocess.Popen(
        [sys.executable, "-m", "rubric_ci", *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in unset},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def report_of(folder: Path) -> Any:
    """Run all cases and return the report."""
    code, output = run(folder, "run", "a.eval.yaml")
    assert code in {0, 1, 3}, output
    return json.loads((folder / ".rubric-ci/report.json").read_text(encoding="utf-8"))


def check(report: Any) -> None:
    """Assert that every case is graded with valid marks, or errored with a reason."""
    totals = report["totals"]
    assert totals["graded"] + totals["errored"] == 3
    assert totals["graded"] > 0
    for case in report["cases"]:
        if case["outcome"] == "errored":
            assert case["reason"]
            continue
        criteria = [c for each in case["evaluators"] for c in each["criteria"]]
        assert {criterion["mark"] for criterion in criteria} <= MARKS


def test_three_lines_make_it_target_and_judge(tmp_path: Path, url: str) -> None:
    prepare(tmp_path, url, {})
    assert run(tmp_path, "validate") == (0, "2 files checked: no problems\n")
    report = report_of(tmp_path)
    check(report)
    assert report["totals"]["input_tokens"] > 100
    assert report["totals"]["output_tokens"] > 10
    assert report["notes"] == []  # the server takes the schema: nothing was found out


def test_a_kill_in_the_middle_loses_no_mark(tmp_path: Path, url: str) -> None:
    prepare(tmp_path, url, {"provider": "mock", "response": "Paris, 5, white"})
    with start(tmp_path, "run", "a.eval.yaml") as killed:
        assert killed.stdout
        next(line for line in killed.stdout if line.startswith("[") and "errored" not in line)
        killed.kill()
    report = report_of(tmp_path)
    check(report)
    assert report["totals"]["cached_marks"] >= 1
    again = report_of(tmp_path)
    assert again["totals"]["cached_marks"] >= report["totals"]["marks"]


def test_the_server_keeps_the_prompt_of_the_last_request(url: str) -> None:
    question = "Name one colour of the rainbow, and say in one sentence where it stands in it."
    body = {"messages": [{"role": "user", "content": question}], "max_tokens": 2}
    sent = Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    kept = []
    for _ in range(2):
        with urlopen(sent, timeout=60) as reply:
            kept.append(json.load(reply)["usage"]["prompt_tokens_details"]["cached_tokens"])
    assert kept[1] > 10, kept


def test_a_text_model_refuses_an_image(tmp_path: Path, url: str) -> None:
    prepare(tmp_path, url, {})
    write(tmp_path, {"shot.png": png(40, 30)})
    case = "- {id: shot, input: [{type: image, value: shot.png}], rubrics: [Names red]}\n"
    (tmp_path / "a.eval.yaml").write_text(f"evalcases:\n{case}", encoding="utf-8")
    (found,) = report_of(tmp_path)["cases"]
    assert found["outcome"] == "errored"
    assert "the model takes no images or documents: HTTP 500: image input is not" in found["reason"]


ANSWERED = {"provider": "mock", "response": "Paris is the capital of France."}
ONE = "evalcases:\n- {id: capital, input: What is the capital of France?, rubrics: [Names Paris]}\n"


def test_a_draft_is_valid_or_the_file_stays(tmp_path: Path, url: str) -> None:
    bare = (
        "evalcases:\n- id: capital\n  input: What is the capital of France?\n"
        "  expected_outcome: Names Paris\n"
    )
    prepare(tmp_path, url, {}, bare)
    code, output = run(tmp_path, "generate", "rubrics", "a.eval.yaml")
    written = (tmp_path / "a.eval.yaml").read_text(encoding="utf-8")
    if code == 3:
        assert "capital" in output
        assert written == bare
    else:
        assert code == 0, output
        assert written.startswith(bare)
        assert "rubrics:" in written
        code, problems = run(tmp_path, "validate")
        assert (code, ": error:" in problems) == (0, False)  # the wording is the model's


def test_labels_measure_it_and_the_gate_refuses_it(tmp_path: Path, url: str) -> None:
    prepare(tmp_path, url, ANSWERED, ONE)
    label = {"file": "a.eval.yaml", "id": "capital", "evaluator": "rubric"}
    answers = {"It is Paris.": True, "It is Lyon.": False}
    lines = [
        json.dumps(label | {"answer": answer, "marks": {"rubric-1": mark}})
        for answer, mark in answers.items()
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines), encoding="utf-8")
    code, output = run(tmp_path, "judge", "calibrate", "labels.jsonl")
    assert code == 0, output
    calibration = json.loads((tmp_path / "calibration.json").read_text(encoding="utf-8"))
    assert calibration["judge"]["model"] == "openai/smollm2"
    file = tmp_path / "rubric-ci.yaml"
    config = json.loads(file.read_text(encoding="utf-8")) | {"gate": {"min_kappa": 0.6}}
    file.write_text(json.dumps(config), encoding="utf-8")
    code, output = run(tmp_path, "run", "a.eval.yaml")
    assert code == 2, output
    # Two labels are too few for any judge.
    assert "gate.min_kappa requires 0.6" in " ".join(output.split())
    assert not (tmp_path / ".rubric-ci/report.json").exists()


def test_it_probes_the_criteria(tmp_path: Path, url: str) -> None:
    prepare(tmp_path, url, ANSWERED, ONE)
    report_of(tmp_path)
    code, output = run(tmp_path, "probe", "a.eval.yaml", "--variants", "2")
    assert code in {0, 3}, output
    probed = json.loads((tmp_path / ".rubric-ci/probe.json").read_text(encoding="utf-8"))
    assert {criterion["word"] for criterion in probed["criteria"]} <= WORDS
    assert len(probed["criteria"]) == 1


def test_two_nights_are_compared(tmp_path: Path, url: str) -> None:
    prepare(tmp_path, url, ANSWERED, ONE)
    reference = ".rubric-ci/reference"
    for _ in range(2):
        code, output = run(tmp_path, "run", "a.eval.yaml", "--baseline", reference)
        assert code in {0, 1}, output
        code, output = run(tmp_path, "baseline", "keep")
        assert code == 0, output
    code, output = run(tmp_path, "compare", reference, ".rubric-ci/report.json")
    assert code in {0, 1, 3}, output
    assert "Baseline" in output


def test_the_library_of_rubrics(
    tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Print the share of the tests that the model passes: a small one is no judge.

    With one thread a test takes up to a minute; after the limit the others are errored.
    """
    prepare(tmp_path, url, {})
    shutil.copytree(ROOT / "examples/rubrics/rubrics", tmp_path / "rubrics")
    limits = ("--max-seconds", "600")
    code, output = run(tmp_path, "judge", "test", "rubrics", "--format", "json", *limits)
    assert code in {0, 1, 3}, output
    tests = json.loads(output[output.index("{") : output.rindex("}") + 1])["tests"]
    outcomes = Counter(each["outcome"] for each in tests)
    assert outcomes.total() >= 28
    with capsys.disabled():
        print(f"\nlibrary of rubrics: {dict(outcomes)} of {outcomes.total()} tests")
