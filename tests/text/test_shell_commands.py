"""The commands of shell lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.text.shell_commands import commands, unwrapped


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git push", ["git push"]),
        ("cd x && git push", ["cd x", "git push"]),
        ("a; b | c & d || e", ["a", "b", "c", "d", "e"]),
        ("echo 'a && b'", ["echo 'a && b'"]),
        ('echo "a; b"', ['echo "a; b"']),
        ("echo a \\; b", ["echo a \\; b"]),
        ('echo "$(git push) done"', ["git push", 'echo "$(git push) done"']),
        ("x=`git push`", ["git push", "x=`git push`"]),
        ("(cd a; git push)", ["cd a", "git push"]),
        ("f() { git push; }", ["f() { git push"]),
        ("if git push; then echo a; fi", ["if git push", "then echo a"]),
        ("cat <<EOF\ngit push\nEOF\nls", ["cat <<EOF", "ls"]),
        ("cat > a <<'X' && ls\ngit push\nX\nrm y", ["cat > a <<'X'", "ls", "rm y"]),
        ("ls # git push\nrm a", ["ls", "rm a"]),
        ("a 2>&1 | tee b", ["a 2>&1", "tee b"]),
        ("a &> b", ["a &> b"]),
        ("bash script.sh -c x", ["bash script.sh -c x"]),
        ("echo 'not closed && x", ["echo 'not closed && x"]),
        ("bash -lc 'cd x && git push'", ["cd x", "git push"]),
        ("sudo sh -c \"sh -c 'git push'\"", ["git push"]),
        ("", []),
    ],
)
def test_the_commands_of_a_line(line: str, expected: list[str]) -> None:
    assert [each[0] for each in commands(line)] == expected


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("FOO=1 BAR='x y' git push", "git push"),
        ("sudo git push", "git push"),
        ("then git push", "git push"),
        ("f() { git push", "git push"),
    ],
)
def test_a_command_without_what_stands_before_it(line: str, bare: str) -> None:
    assert commands(line) == [(line, bare)]


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("/bin/bash -lc 'python3 a.py'", "python3 a.py"),
        ("sh -c ls", "ls"),
        ("bash -euo pipefail -c 'a; b'", "a; b"),
        ("bash a.sh", "bash a.sh"),
        ("bash -c", "bash -c"),
        ("bash -c 'not closed", "bash -c 'not closed"),
        ("shred -c x", "shred -c x"),
    ],
)
def test_the_script_of_a_shell(line: str, script: str) -> None:
    assert unwrapped(line) == script


@given(st.text(alphabet="ab '\"\\$()`;&|<>#\n{}", max_size=60))
def test_any_text_has_commands_that_are_parts_of_it(line: str) -> None:
    for each in commands(line):
        assert all(isinstance(text, str) for text in each)
