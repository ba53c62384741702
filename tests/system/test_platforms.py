"""Other platforms: what only POSIX has is used behind a check of the platform, and listed here."""

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.captured import captured
from tests.sample_project import EVAL, Project, clean_environment

ROOT: Final = Path(__file__).parents[2]
MODULES: Final = frozenset(
    {
        *("crypt", "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource"),
        *("syslog", "termios", "tty"),
    }
)
OF_OS: Final = frozenset(
    {
        *("O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "WNOHANG"),
        *("chown", "fchmod", "fchown", "fork", "getegid", "geteuid", "getgid", "getgroups"),
        *("getloadavg", "getpgid", "getuid", "killpg", "lchown", "mkfifo", "mknod", "nice"),
        *("openpty", "posix_spawn", "register_at_fork", "sched_getaffinity", "setgid", "setpgid"),
        *("setsid", "setuid", "statvfs", "sync", "sysconf", "uname", "wait", "wait3", "wait4"),
    }
)
OF_SIGNAL: Final = frozenset(
    {
        *("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "alarm"),
        *("pause", "pthread_kill", "pthread_sigmask", "setitimer", "sigwait"),
    }
)
OF_LOOPS: Final = frozenset({"add_signal_handler", "add_reader", "add_writer"})
CHECKS = ("`in_parallel` looks for it", "sys.platform", "os.name", "hasattr(os", "getattr(os")

USES: Final = {
    "rubric_ci/parts/agents/agent.py": {"getgid", "getuid"},
    "rubric_ci/system/file_io.py": {"chown"},
    "rubric_ci/system/fork_pool.py": {"fork", "sched_getaffinity"},
    "rubric_ci/system/processes.py": {"killpg"},
    "rubric_ci/system/repository.py": {"geteuid"},
    "rubric_ci/system/scratch.py": {"SIGKILL", "fcntl"},
    "rubric_ci/system/servers.py": {"killpg"},
    "rubric_ci/system/coroutines.py": {"SIGHUP", "add_signal_handler"},
}
NAMED: Final = re.compile(
    rf"os\.(?:{'|'.join(OF_OS)})\b|signal\.(?:{'|'.join(OF_SIGNAL)})\b|{'|'.join(OF_LOOPS)}"
    rf"|(?:import|from) (?:{'|'.join(MODULES)})\b|symlink_to|pexpect"
)


def parsed(path: Path) -> ast.Module:
    """Return the tree of a file, which is empty if no name of POSIX is in its text."""
    text = path.read_text("utf-8")
    return ast.parse(text if NAMED.search(text) else "")


def name_of(node: ast.AST) -> str:
    """Return the name that only POSIX has; empty: every platform has it."""
    match node:
        case ast.Import(names=[ast.alias(name=name)]) | ast.ImportFrom(module=str(name)):
            return name if name in MODULES else ""
        case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in OF_OS:
            return name
        case ast.Attribute(value=ast.Name(id="signal"), attr=name) if name in OF_SIGNAL:
            return name
        case ast.Attribute(attr=name) if name in OF_LOOPS:
            return name
    return ""


def uses(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each name with the source of the top-level statement that it stands in."""
    text = path.read_text("utf-8")
    for statement in parsed(path).body:
        members = statement.body if isinstance(statement, ast.ClassDef) else [statement]
        for member in members:
            found = {name for node in ast.walk(member) if (name := name_of(node))}
            yield from ((name, ast.get_source_segment(text, member) or "") for name in found)


def files() -> Iterator[Path]:
    yield from (path for folder in ("rubric_ci", "hooks") for path in (ROOT / folder).rglob("*.py"))


@cache
def python_of_tests() -> list[Path]:
    found: list[Path] = []
    for current, folders, names in os.walk(ROOT / "tests"):
        folders[:] = [name for name in folders if name != "node_modules"]
        found += (Path(current, name) for name in names if name.endswith(".py"))
    return found


def test_what_only_posix_has_is_listed() -> None:
    found = {path: {name for name, _ in uses(path)} for path in files()}
    names = {path.relative_to(ROOT).as_posix(): used for path, used in found.items() if used}
    assert names == USES


@pytest.mark.parametrize("name", USES)
def test_what_only_posix_has_is_used_behind_a_check(name: str) -> None:
    unguarded = [
        used for used, source in uses(ROOT / name) if not any(check in source for check in CHECKS)
    ]
    assert unguarded == []


def test_a_use_without_a_check_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("import fcntl\ndef f(): os.fork()\n")
    assert list(uses(path)) == [("fcntl", "import fcntl"), ("fork", "def f(): os.fork()")]


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a module is imported: decorators, but no body of a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in child.decorator_list:
                yield from (decorator, *at_import(decorator))
        elif not isinstance(child, ast.Lambda):
            yield from (child, *at_import(child))


def test_every_test_can_be_imported_without_posix() -> None:
    """One module that cannot be imported ends the whole run on Windows, before its first test."""
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {name}"
        for path in python_of_tests()
        for node in at_import(parsed(path))
        if (name := name_of(node))
    }
    assert found == {  # after a look for it
        "tests/parts/lab/test_history_commands.py: geteuid",
        "tests/system/test_file_io.py: geteuid",
    }


# Reached only by tests that are skipped on Windows for another reason, or after a mark.
STARTED_ELSEWHERE: Final = {
    "tests/parts/pytest/forked.py: SIGALRM",
    "tests/parts/pytest/forked.py: SIGKILL",
    "tests/parts/pytest/forked.py: fork",
    "tests/parts/pytest/forked.py: sysconf",
    "tests/contract/conftest.py: SIGKILL",
    "tests/contract/conftest.py: killpg",
    "tests/fork_and_kill.py: SIGKILL",
    "tests/fork_and_kill.py: WNOHANG",
    "tests/fork_and_kill.py: fork",
    "tests/forked_command.py: SIGALRM",
    "tests/forked_command.py: pexpect",
    "tests/forked_command.py: sysconf",
    "tests/litellm_proxy.py: SIGKILL",
    "tests/litellm_proxy.py: killpg",
    "tests/mutants/run.py: SIGKILL",
    "tests/mutants/run.py: fork",
    "tests/mutants/run.py: killpg",
    "tests/mutants/run.py: resource",
    "tests/mutants/run.py: setpgid",
    "tests/platforms.py: symlink_to",
    "tests/security/test_action_environment.py: chown",
    "tests/security/test_confined_open.py: mkfifo",
    "tests/security/test_files_of_libraries.py: O_NONBLOCK",
}


def without_mark(path: Path) -> set[str]:
    """Return what a test module uses of POSIX outside of what is marked with tests/platforms.py."""
    tree = parsed(path)
    statements = {statement: ast.unparse(statement) for statement in tree.body}
    if any(
        text.startswith("pytestmark = ") and "platforms." in text for text in statements.values()
    ):
        return set()
    return {
        name
        for statement, text in statements.items()
        if "@platforms." not in text and "geteuid() == 0" not in text
        for node in ast.walk(statement)
        if (name := name_of(node) or name_in_tests(node))
    }


def name_in_tests(node: ast.AST) -> str:
    match node:
        case ast.Attribute(attr="symlink_to" as name):
            return name
        case ast.Attribute(value=ast.Name(id="pexpect"), attr="spawn" | "run"):
            return "pexpect"
    return ""


def test_tests_of_posix_are_skipped_elsewhere() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {name}"
        for path in python_of_tests()
        for name in without_mark(path)
    }
    assert found == STARTED_ELSEWHERE


def test_a_test_without_a_mark_is_found(tmp_path: Path) -> None:
    marked = "@platforms.PIPES\ndef test_a(): os.mkfifo('a')\n"
    unmarked = "def test_b(): Path('a').symlink_to('b'); os.kill(1, signal.SIGKILL)\n"
    path = tmp_path / "test_x.py"
    path.write_text(marked + unmarked)
    assert without_mark(path) == {"symlink_to", "SIGKILL"}
    path.write_text("pytestmark = platforms.SIGNALS\n" + unmarked)
    assert without_mark(path) == set()


def test_the_limit_of_a_test_needs_no_signal() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]
    assert "timeout_method" not in options  # its default is a signal where there are signals
    assert options["timeout"] == "300"


WORDS: Final = ("validate", "evals")
WITHOUT = """\
import os, signal, sys
for name in {names}:
    for module in (os, signal):
        if hasattr(module, name):
            delattr(module, name)
from rubric_ci.__main__ import main
sys.exit(main())
"""


def test_a_system_without_fork(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for n in range(40):
        project.write(f"evals/{n}.eval.yaml", EVAL.replace("evalcases", "evalcases" * (1 + n % 2)))
    command = [sys.executable, "-c", WITHOUT.format(names=["fork", "sched_getaffinity"]), *WORDS]
    done = [
        captured(argv, cwd=tmp_path, env=clean_environment() | {"PYTHONPATH": str(ROOT)})
        for argv in (command, [sys.executable, "-m", "rubric_ci", *WORDS])
    ]
    without, usual = done
    assert (without.returncode, without.stdout) == (usual.returncode, usual.stdout)
    assert without.stderr == usual.stderr
    assert "Traceback" not in without.stderr
