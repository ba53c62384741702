"""The next command: at a terminal, and nowhere else."""

import sys
from io import StringIO
from pathlib import Path

import click
import pexpect
import pytest

from rubric_ci.cli.completion_and_hints import NEXT, show_next
from rubric_ci.cli.main import main
from rubric_ci.errors import ExitCode
from tests import platforms
from tests.cli.test_help import PAGES
from tests.sample_project import Project, clean_environment


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def end(words: str, code: ExitCode, **options: object) -> None:
    """Let a command of these options end."""
    context = click.Context(main, info_name="rubric-ci", **main.context_settings)
    for word in words.split():
        context = click.Context(click.Command(word), info_name=word, parent=context)
    context.params = options
    show_next(context, code)


AFTER_A_FAILURE = (
    "next: `rubric-ci show CASE` prints its answer and marks; `rubric-ci run --lf` grades only the "
    "cases that did not pass\n"
)


@pytest.mark.parametrize(
    ("words", "code", "options", "expected"),
    [
        ("run", 1, {}, AFTER_A_FAILURE),
        ("run", 0, {}, ""),
        ("run", 2, {}, ""),
        ("run", 1, {"quiet": True}, ""),
        ("validate", 0, {"format": "text"}, "next: `rubric-ci run` grades the cases\n"),
        ("validate", 0, {"format": "json"}, ""),
        ("history add", 0, {}, "next: `rubric-ci history show` prints the trends\n"),
    ],
    ids=["failed", "passed", "unusable", "quiet", "text", "data", "of a group"],
)
def test_at_a_terminal(
    words: str,
    code: int,
    options: dict[str, object],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    end(words, ExitCode(code), **options)
    assert capsys.readouterr().err == expected


def test_not_in_a_pipe(tmp_path: Path) -> None:
    done = Project(tmp_path).call("validate")
    assert (done.returncode, "next:" in done.stdout + done.stderr) == (0, False)


@platforms.TERMINALS
def test_a_real_terminal(tmp_path: Path) -> None:
    project = Project(tmp_path)
    command = f"{sys.executable} -m rubric_ci validate"
    printed = pexpect.run(
        command, cwd=str(project.root), env=clean_environment(), encoding="utf-8", timeout=60
    )
    assert str(printed).splitlines()[-1] == "next: `rubric-ci run` grades the cases"


def test_every_command_and_every_named_one_exist() -> None:
    known = {" ".join(words) for words in PAGES}
    assert {words for words, _ in NEXT} <= known
    for text in NEXT.values():
        typed = text.split("`")[1].removeprefix("rubric-ci ")
        assert any(typed == each or typed.startswith(f"{each} ") for each in known if each)
