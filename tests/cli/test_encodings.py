"""Consoles of other encodings: every command ends as it does on a console of UTF-8."""

import io
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from typing import Final

import pexpect
import pytest

from rubric_ci.cli.main import main
from rubric_ci.gate.report import json_format
from rubric_ci.system.output_and_masking import open_streams
from rubric_ci.values.scoring import Verdict
from tests import platforms
from tests.sample_project import Project, clean_environment
from tests.sample_reports import a_report, graded

TEXT: Final = "naïve - 日本 🎉 \u202e\ufeff"
EVAL: Final = f"""\
description: {TEXT!a}
evalcases:
  - id: "日本 🎉"
    input: "Größe → 入力"
    expected_outcome: "naïve - 日本"
    evaluators:
      - {{name: "höflich", type: latency, threshold_ms: 60000}}
"""
BROKEN: Final = 'evalcases:\n  - {id: "日本", input: "入力", rubrics: [x], farbe: "röt 🎉"}\n'
COMMANDS: Final = {
    "help": ("--help",),
    "explain": ("validate", "--explain", "all"),
    "validate": ("validate", "evals"),
    "validate-github": ("validate", "--format", "github", "evals"),
    "validate-json": ("validate", "--format", "json", "evals"),
    "validate-sarif": ("validate", "--format", "sarif", "evals"),
    "validate-diff": ("validate", "--diff", "evals"),
    "list": ("run", "--list", "good"),
    "run": ("run", "good"),
    "run-unknown": ("run", "good", "--case", "🎉"),
    "plan": ("plan", "good"),
    "compare": ("compare", "then.json", "now.json"),
    "compare-markdown": ("compare", "--format", "markdown", "then.json", "now.json"),
    "merge": ("report", "merge", "now.json"),
    "calibrate": ("judge", "calibrate", "日本.jsonl"),
    "generate": ("generate", "rubrics", "good", "--diff"),
    "history": ("history", "show"),
    "cache": ("cache", "--unused-days", "9"),
    "baseline": ("baseline", "show", "--baseline", "日本"),
}
ENCODINGS: Final = ("cp1252", "cp437", "cp932", "ascii")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("encodings"))
    (project.root / "evals/a.eval.yaml").unlink()
    project.write("evals/größe 日本.eval.yaml", BROKEN)
    project.write("good/größe 日本.eval.yaml", EVAL)
    project.write("answers.jsonl", '{"id": "日本 🎉", "answer": "naïve - 日本 🎉"}\n')
    verdicts: dict[str, Verdict] = {"then": "pass", "now": "fail"}
    for name, verdict in verdicts.items():
        case = graded("日本 🎉", verdict, file="größe.yaml", reason=TEXT)
        project.write(f"{name}.json", json_format.render(a_report(case, notes=(TEXT,))))
    return project


def run(project: Project, words: tuple[str, ...], encoding: str) -> tuple[object, str, str]:
    """Return the exit code and both outputs, as a console of the encoding reads them."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    code: object = 0
    with chdir(project.root), redirect_stdout(out), redirect_stderr(err):
        open_streams()
        try:
            main(words, prog_name="rubric-ci")
        except SystemExit as end:
            code = end.code
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    encoding = "utf-8" if encoding == "ascii" else encoding
    read = [bytes(stream.buffer.getvalue()).decode(encoding) for stream in (out, err)]
    return code, read[0], read[1]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_every_command_ends_as_with_utf_8(project: Project, words: tuple[str, ...]) -> None:
    expected, output, errors = run(project, words, "utf-8")
    assert "Traceback" not in output + errors
    for encoding in ENCODINGS:
        code, *_ = run(project, words, encoding)
        assert code == expected, encoding


def test_what_a_console_lacks_is_spelled_out(project: Project) -> None:
    names = {
        "cp1252": r"evals/größe \u65e5\u672c.eval.yaml",
        "cp932": r"evals/gr\xf6\xdfe 日本.eval.yaml",
        "ascii": "evals/größe 日本.eval.yaml",  # as UTF-8, as click writes it
    }
    for encoding, name in names.items():
        assert name in run(project, COMMANDS["validate"], encoding)[1]


def test_line_ends_in_a_pipe_are_the_same_on_every_system(project: Project) -> None:
    project.write("a.eval.yaml", "evalcases:\n  - id: a\n    input: no\n    rubrics: [x]\n")
    for words in (("validate", "evals"), ("validate", "--diff", "a.eval.yaml")):
        done = subprocess.run(
            [sys.executable, "-m", "rubric_ci", *words],
            cwd=project.root,
            env=clean_environment(),
            capture_output=True,
            check=False,
        )
        assert (b"\n" in done.stdout, b"\r" in done.stdout) == (True, False)


LOCALE_C: Final = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@platforms.SHELL
def test_names_of_files_in_the_locale_c(project: Project) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rubric_ci", "validate", "evals"],
        cwd=project.root,
        env=clean_environment() | LOCALE_C,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)
    assert b"farbe" in done.stdout


@platforms.TERMINALS
def test_a_terminal_in_the_locale_c(project: Project) -> None:
    child: pexpect.spawn[bytes] = pexpect.spawn(
        sys.executable,
        ["-m", "rubric_ci", "validate", "evals"],
        cwd=str(project.root),
        env={**clean_environment(), **LOCALE_C, "TERM": "dumb"},
        timeout=60,
    )
    seen = child.read()
    child.close()
    assert (child.exitstatus, b"Traceback" in seen) == (1, False)
    assert "röt 🎉".encode() in seen


def test_a_secret_in_every_encoding(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    project.write("leak.json", json_format.render(a_report(graded(secret, "fail", file="é"))))
    for encoding in ("utf-8", *ENCODINGS):
        _, output, _ = run(project, ("compare", "then.json", "leak.json"), encoding)
        assert (secret in output, "***" in output) == (False, True), encoding
