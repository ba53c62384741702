"""`rubric-ci judge label` through a real pseudo-terminal: keys, resuming, and what is kept when."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pexpect
import pytest

from rubric_ci.gate.report import json_format
from rubric_ci.values.scope import Scope
from tests import platforms
from tests.captured import captured
from tests.forked_command import at_a_terminal, press
from tests.sample_reports import a_report, errored, graded

pytestmark = platforms.TERMINALS

EVALS = """\
evalcases:
  - id: capital
    input: "What is the capital of Australia?\\e[2J"
    expected_outcome: Canberra
    rubrics:
      - {id: city, expected_outcome: Names Canberra}
      - id: accuracy
        score_ranges: {0: wrong, 5: right}
      - id: tone
        expected_outcome: The tone
        levels: {1: cold, 12: warm}
  - id: other
    input: And of Austria?
    rubrics: [Names Vienna]
  - {id: lost, input: And of Atlantis?, rubrics: [Names none]}
"""

Start = Callable[..., "pexpect.spawn[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.eval.yaml").write_text(EVALS, encoding="utf-8")
    report = a_report(
        graded("capital", "pass", file="a.eval.yaml", answer="Sydney"),
        graded("other", "pass", file="a.eval.yaml", answer="Vienna"),
        errored("lost", file="a.eval.yaml"),
    )
    text = json_format.render(report)
    (tmp_path / "report.json").write_text(text, encoding="utf-8")
    json_format.read(text)  # here, and not anew in each fork, what reads reports is made
    return tmp_path


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    terminals: list[pexpect.spawn[str]] = []

    def started(*options: str) -> "pexpect.spawn[str]":
        words = ("judge", "label", "a.eval.yaml", "--report", "report.json", *options)
        terminal = at_a_terminal(folder, os.environ, *words, lines=50, columns=120)
        terminals.append(terminal)
        return terminal

    yield started
    for terminal in terminals:
        terminal.close(force=True)


def marks(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def mark(terminal: "pexpect.spawn[str]", criterion: str, keys: str) -> None:
    terminal.expect_exact(f"Criterion {criterion}:")
    terminal.expect_exact("q quit")
    press(terminal, keys)


def test_a_whole_session(folder: Path, start: Start) -> None:
    terminal = start()
    mark(terminal, "city", "\x1b[A")  # neither an arrow
    press(terminal, "x")  # nor x means anything
    while terminal.expect_exact(["\a", pexpect.TIMEOUT], timeout=1):
        press(terminal, "x")  # the first one may have been part of the arrow
    press(terminal, "n")
    mark(terminal, "accuracy", "11\r8\x7f7\r")  # 11 is no score, 8 is erased
    mark(terminal, "tone", "12\r")
    mark(terminal, "rubric-1", "c")
    terminal.expect_exact("4 of 4 marks are in labels.jsonl")
    terminal.expect_exact("`rubric-ci judge calibrate labels.jsonl` compares them with the judge's")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert marks(folder) == [
        {
            "file": "a.eval.yaml",
            "id": "capital",
            "evaluator": "rubric",
            "answer": "Sydney",
            "marks": {"city": False, "accuracy": 7, "tone": 12},
        },
        {
            "file": "a.eval.yaml",
            "id": "other",
            "evaluator": "rubric",
            "answer": "Vienna",
            "marks": {"rubric-1": "cannot_assess"},
        },
    ]


def test_what_a_person_sees(start: Start) -> None:
    terminal = start()
    terminal.expect_exact("q quit")
    screen = str(terminal.before).replace("\r\n", "\n")
    assert screen.endswith(
        "a.eval.yaml: capital  (1 of 4)\n"
        "\n"
        "Question:\n"
        "  What is the capital of Australia?\\x1b[2J\n"
        "\n"
        "Expected outcome:\n"
        "  Canberra\n"
        "\n"
        "Answer:\n"
        "  Sydney\n"
        "\n"
        "Criterion city:\n"
        "  Names Canberra\n"
        "\n"
        "y satisfied · n not satisfied · c cannot assess · s skip · b back · "
    )


def test_stopping_and_going_on(folder: Path, start: Start) -> None:
    first = start()
    mark(first, "city", "y")
    mark(first, "accuracy", "q")
    first.expect_exact("1 of 4 marks are in labels.jsonl")
    first.expect(pexpect.EOF)
    second = start()
    second.expect_exact("(2 of 4)")
    mark(second, "accuracy", "b")
    second.expect_exact("Marked before: satisfied")
    press(second, "n")
    mark(second, "accuracy", "s")
    mark(second, "tone", "q")
    second.expect(pexpect.EOF)
    assert [label["marks"] for label in marks(folder)] == [{"city": False}]


def test_a_kill_costs_no_mark(folder: Path, start: Start) -> None:
    terminal = start()
    mark(terminal, "city", "y")
    mark(terminal, "accuracy", "3")
    terminal.kill(signal.SIGKILL)
    terminal.wait()
    assert [label["marks"] for label in marks(folder)] == [{"city": True}]
    assert [path.name for path in folder.glob(".*labels*")] == []
    again = start()
    again.expect_exact("(2 of 4)")


def test_ctrl_c_leaves_the_terminal_as_it_was(folder: Path, start: Start) -> None:
    terminal = start()
    mark(terminal, "city", "\x03")
    terminal.expect_exact("rubric-ci: interrupted")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 3
    assert not (folder / "labels.jsonl").exists()


def test_without_a_terminal(folder: Path) -> None:
    done = captured(
        [sys.executable, "-m", "rubric_ci", "judge", "label", "a.eval.yaml"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "rubric-ci: label needs a terminal: it reads key presses\n"
        "  run it by hand; `rubric-ci judge calibrate` reads the labels anywhere\n"
    )


def test_the_end_of_input_ends_the_session(folder: Path, start: Start) -> None:
    terminal = start()
    mark(terminal, "city", "y")
    mark(terminal, "accuracy", "\x04")
    terminal.expect_exact("1 of 4 marks are in labels.jsonl")


def test_a_broken_label_file_is_left_alone(folder: Path, start: Start) -> None:
    (folder / "labels.jsonl").write_text('{"id": 1}\n', encoding="utf-8")
    terminal = start()
    terminal.expect_exact("labels.jsonl:1:1: label: a label has the keys")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 2
    assert (folder / "labels.jsonl").read_text(encoding="utf-8") == '{"id": 1}\n'


def test_a_part_of_the_suite_is_named(folder: Path, start: Start) -> None:
    whole = json_format.read((folder / "report.json").read_text(encoding="utf-8"))
    part = replace(whole, scope=Scope(suite=40).narrowed("case"))
    (folder / "report.json").write_text(json_format.render(part), encoding="utf-8")
    start().expect_exact("covers 3 of 40 cases: case filter")
