"""The commands of shell lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.text.shell_commands import shell_line, unwrapped


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git push", ["git push"]),
        ("cd x && git push", ["cd x", "git push"]),
        ("a; b | c & d || e", ["a", "b", "c", "d", "e"]),
        ("echo 'a && b'", ["echo 'a && b'"]),
        ('echo "a; b"', ['echo "a; b"']),
        ("echo a \\; b", ["echo a \\; b"]),
        ('echo "$(git push) done"', ['echo "$(git push) done"', "git push"]),
        ("x=`git push`", ["x=`git push`", "git push"]),
        ("(cd a; git push)", ["cd a", "git push"]),
        ("if git push; then echo a; fi", ["git push", "echo a"]),
        ("cat <<EOF\ngit push\nEOF\nls", ["cat <<EOF", "ls"]),
        ("cat > a <<'X' && ls\ngit push\nX\nrm y", ["cat > a <<'X'", "ls", "rm y"]),
        ("ls # git push\nrm a", ["ls", "rm a"]),
        ("a 2>&1 | tee b", ["a 2>&1", "tee b"]),
        ("a &> b", ["a &> b"]),
        ("> b", ["> b"]),
        ("bash script.sh -c x", ["bash script.sh -c x"]),
        ("bash -lc 'cd x && git push'", ["cd x", "git push"]),
        ("sudo sh -c \"sh -c 'git push'\"", ["git push"]),
        ("", []),
    ],
)
def test_the_commands_of_a_line(line: str, expected: list[str]) -> None:
    found = shell_line(line)
    assert ([each[0] for each in found.commands], found.readable) == (expected, True)


@pytest.mark.parametrize(
    "line",
    [
        "jq .a <<< input\ngit push",
        "echo $[1<<3]\ngit push",
        "echo $'don\\'t'; git push",
        "git \\\n push",
        "sudo -n git push",
        "env -i git push",
        "timeout 60 git push",
        "case $x in a) git push;; esac",
        "function f { git push; }; f",
        ">log git push",
        "/usr/bin/env bash -c 'git push'",
        "cat <<EOF\n$(git push)\nEOF",
        "cat <<EOF\n`git push`\nEOF",
        "f() { git push\n}",
        "FOO=1 BAR='x y' git push",
        "sudo -u root timeout -k 5 60 git push",
        "find . -name x -exec git push \\;",
        "ls | xargs -n1 git push",
        "trap 'git push' EXIT; eval 'git push'",
        "watch -n 5 'git push'",
        "bash <<< 'git push'",
        "bash <<'E'\ngit push\nE",
        "g\"it\" 'push'",
        "while read a; do b; done < <(git push)",
        "git commit -m \"$(cat <<'E'\nit's (a) `b`\nE\n)\" && git push",
    ],
)
def test_a_command_is_found_in_every_form(line: str) -> None:
    found = shell_line(line)
    spellings = [" ".join(text.split())[:8] for each in found.commands for text in each]
    assert ("git push" in spellings, found.readable) == (True, True), spellings


@pytest.mark.parametrize(
    "line",
    [
        "cat <<'EOF'\n$(git push)\nEOF",
        "echo 'git push' # git push",
        "command -v git push",
        "sudo -l git push",
    ],
)
def test_a_text_is_no_command(line: str) -> None:
    assert "git push" not in [text for each in shell_line(line).commands for text in each]


@pytest.mark.parametrize(
    "line",
    [
        "let x=1<<3\ngit push",
        "echo 'not closed && x",
        "echo $(",
        "a | " * 5_000,
        "cat <<A " * 5_000,
        "x" * 200_001,
        "echo \0",
    ],
    ids=range(7),
)
def test_a_line_that_cannot_be_read(line: str) -> None:
    found = shell_line(line)
    assert (found.commands, found.readable) == ((), False)


def test_an_unknown_option_hides_where_the_command_begins() -> None:
    found = shell_line("sudo --new VALUE git push")
    assert found.possible == ("--new VALUE git push", "VALUE git push", "git push", "push")


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


def test_a_line_that_takes_long_to_read_stays_as_it_is() -> None:
    assert unwrapped(line := f"bash -c '{'x' * 2_000_000}'") == line


@given(st.text(alphabet="ab '\"\\$()`;&|<>#\n{}é\ud800", max_size=60))
def test_any_text_is_read_or_is_said_not_to_be(line: str) -> None:
    found = shell_line(line)
    assert found.readable or not found.commands
