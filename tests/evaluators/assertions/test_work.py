"""Assertions about what an agent did: which calls count, and what its folder shows."""

from typing import Any

import pytest

from rubric_ci.errors import CannotMeasure
from rubric_ci.evaluators.assertions import folder
from rubric_ci.evaluators.assertions.folder import check_name
from rubric_ci.evaluators.assertions.marking import TABLE, Did, assertion_marks, mark
from rubric_ci.evaluators.assertions.row import Outcome
from rubric_ci.values.rubric import Assertion, Rubric
from rubric_ci.values.trace import Step, WorkCheck
from tests.cases import span

READ = Step(tool="Read", arguments={"path": "a.py"}, result="1")
PUSH = Step(tool="Bash", arguments={"command": "git push --force\n origin", "why": "[x]"})
DENIED = Step(tool="Bash", arguments={"command": "rm -rf /"}, error="denied")
EDIT = Step(tool="Edit", arguments={"path": "a.py", "count": 2})
SKILL = Step(tool="Skill", arguments={"skill": " refunds "})
ALL = (READ, PUSH, DENIED, EDIT)
FOLDED = [
    ("called", "rEAD", READ),
    ("called", "READ(a.py)", READ),
    ("called_with", {"name": "re?d", "arguments": {}}, READ),
    ("calls_in_order", ["reaD"], READ),
    ("calls_exactly", ["*EAD"], READ),
    ("no_other_calls", ["rEAD"], READ),
]


def an_assertion(key: str, value: Any, **options: Any) -> Assertion:
    return Assertion(id="a", text="t", key=key, value=value, span=span(), **options)


def holds(key: str, value: Any, *steps: Step, **options: Any) -> bool | str | int:
    return mark(an_assertion(key, value, **options), "", Did(steps=steps)).value


@pytest.mark.parametrize(("key", "value", "step"), FOLDED)
def test_names_of_tools_fit_in_any_case_on_demand(key: str, value: Any, step: Step) -> None:
    assert holds(key, value, step) is False
    assert holds(key, value, step, ignore_case=True) is True


def test_a_forbidden_tool_in_another_case_and_arguments_in_theirs() -> None:
    assert holds("never_called", "rEAD", READ) is True
    assert holds("never_called", "rEAD", READ, ignore_case=True) is False
    assert holds("called", "rEAD(A.py)", READ, ignore_case=True) is False


@pytest.mark.parametrize(
    ("step", "used"),
    [
        (SKILL, True),
        (Step(tool="skill", arguments={"name": "refunds"}), True),
        (Step(tool="Skill", arguments={"skill": 3}), False),
        (Step(tool="Skill", arguments={"skill": "refunds"}, error="unknown"), False),
        (Step(tool="Skill", arguments={"skill": "a"}, result="skills/refunds/SKILL.md"), False),
        (Step(tool="Read", arguments={"file_path": "/h/.claude/skills/refunds/SKILL.md"}), True),
        (Step(tool="Read", arguments={"path": "a\\skills\\refunds\\SKILL.md"}), True),
        (Step(tool="Read", arguments={"path": "a"}, result="skills/refunds/SKILL.md"), False),
        (Step(tool="Read", arguments={"path": "skills/refunds/SKILL.md.old"}), False),
        (Step(tool="Bash", arguments={"command": "head 'skills/refunds/SKILL.md'"}), True),
        (Step(tool="Bash", arguments={"command": "cat myskills/refunds/SKILL.md"}), False),
        (Step(tool="Glob", arguments={"pattern": "skills/refunds/SKILL.md"}), False),
        (Step(tool="Glob", result="a\n.agents/skills/refunds/SKILL.md\n"), True),
    ],
)
def test_how_a_skill_is_used(step: Step, used: bool) -> None:
    """AgentV's own code says the same of each."""
    assert holds("skill_used", "refunds", step) is used


@pytest.mark.parametrize("value", ["refund*", "*"])
def test_a_skill_by_a_glob(value: str) -> None:
    assert holds("skill_used", value, SKILL) is True


@pytest.mark.parametrize(
    ("key", "value", "steps", "reasoning"),
    [
        ("called", "Read", ALL, "Calls `Read`: it is called"),
        ("called", "Bash(git push --force*)", ALL, "Calls `Bash(git push --force*)`: it is called"),
        ("called", "*(2)", ALL, "Calls `*(2)`: it is called"),
        ("called", "Bash([x])", ALL, "Calls `Bash([x])`: it is called"),
        ("called", 'Edit({"path": "a.py", "count": 2})', ALL, None),
        ("called_with", {"name": "Edit", "arguments": {"required": ["count"]}}, ALL, None),
        ("calls_in_order", ["Read", "Edit"], ALL, None),
        ("calls_in_order", ["Read", "Read"], (READ, EDIT, READ), None),
        ("calls_exactly", ["Read", "Bash*", "Edit"], (READ, DENIED, EDIT), None),
        (
            "no_other_calls",
            ["Read", "Bash", "Edit"],
            ALL,
            "Calls nothing but `Read`, `Bash`, `Edit`: called: Read, Bash, Edit",
        ),
        ("no_other_calls", ["Read"], (), "Calls nothing but `Read`: no tool is called"),
        ("never_called", "Bash(git pull*)", ALL, None),
        ("max_calls", 4, ALL, "Makes at most 4 calls: there are 4"),
        ("max_calls", 0, (), None),
    ],
)
def test_calls_that_hold(key: str, value: Any, steps: Any, reasoning: str | None) -> None:
    found = mark(an_assertion(key, value), "", Did(steps=steps))
    assert found.value is True
    assert reasoning is None or found.reasoning == reasoning


REMOVED = 'once: Bash({"command": "rm -rf /"})'
FAILED = "it is not called without an error, but once with one"


@pytest.mark.parametrize(
    ("key", "value", "steps", "found"),
    [
        ("called", "Write", ALL, "it is not called"),
        ("called", "Bash(rm *)", ALL, FAILED),  # where a call is required, one that failed is none
        ("called", "Bash(git push)", ALL, "it is not called"),
        ("called", "rEAD", ALL, "it is not called"),
        ("never_called", "Bash(rm *)", ALL, f"it is called {REMOVED}"),  # it was tried
        (
            "never_called",
            "Bash",
            (PUSH, PUSH),
            'it is called 2 times: Bash({"command": "git push --force\\n origin", "why": "[x]"})',
        ),
        ("never_called", ["Write", "Bash(rm *)"], ALL, f"it is called {REMOVED}"),
        ("skill_used", "refund", (SKILL,), "used: refunds"),
        ("skill_used", "Refunds", (SKILL,), "used: refunds"),
        ("skill_used", "refunds", ALL, "no skill is used"),
        (
            "called_with",
            {"name": "Edit", "arguments": {"properties": {"count": {"maximum": 1}}}},
            ALL,
            "the arguments do not fit: `count`: 2 is greater than the maximum of 1",
        ),
        ("called_with", {"name": "Bash", "arguments": {}}, (DENIED,), FAILED),
        ("calls_in_order", ["Edit", "Read"], ALL, "`Read` is not called after `Edit`"),
        ("calls_in_order", ["Read", "Read"], ALL, "`Read` is not called after `Read`"),
        ("calls_in_order", ["Bash(rm*)"], ALL, "`Bash(rm*)` is not called"),
        ("calls_exactly", ["Read", "Edit"], (READ, READ, EDIT), "called: Read, Read, Edit"),
        ("calls_exactly", ["Edit", "Read"], (READ, EDIT), "called: Read, Edit"),
        ("no_other_calls", ["Read", "Edit"], (READ, DENIED), REMOVED),
        ("max_calls", 1, (READ, DENIED), "there are 2"),
    ],
)
def test_calls_that_do_not_hold(key: str, value: Any, steps: Any, found: str) -> None:
    marked = mark(an_assertion(key, value), "", Did(steps=steps))
    assert marked.value is False
    assert marked.reasoning.endswith(f": {found}")
    assert holds(key, value, *steps, negated=True) is True


def shell(tool: str, command: str) -> Step:
    return Step(tool=tool, arguments={"command": command})


@pytest.mark.parametrize(
    ("key", "value", "step", "expected"),
    [
        ("never_called", "shell(git push*)", shell("Bash", "cd x && git push"), False),
        ("never_called", "Bash(git push*)", shell("Bash", "ls; git push"), False),
        ("never_called", "Bash(git push*)", shell("Bash", "echo 'ls; git push'"), True),
        ("never_called", "shell(python3*)", shell("shell", "/bin/bash -lc 'python3 x'"), False),
        ("never_called", "shell(rm*)", shell("run_shell_command", "a | xargs b && rm c"), False),
        ("never_called", "shell(cd x && git*)", shell("bash", "cd x && git push"), False),
        ("never_called", "web", Step(tool="web_fetch"), False),
        ("never_called", "web", Step(tool="read_file"), True),
        ("called", "shell(npm test*)", shell("bash", "cd a && npm test -- b"), True),
        ("called", "read", Step(tool="view"), True),
        ("called", "edit(*a.py*)", Step(tool="apply_patch", arguments={"changes": ["a.py"]}), True),
        ("calls_in_order", ["shell(npm test)"], shell("Bash", "CI=1 npm test"), True),
        ("no_other_calls", ["shell(npm test*)"], shell("Bash", "npm test && git push"), False),
        ("no_other_calls", ["shell(npm*)", "shell(cd *)"], shell("Bash", "cd a; npm test"), True),
        ("no_other_calls", ["shell"], shell("Bash", "npm test && git push"), True),
        ("no_other_calls", ["Bash(cd * && npm *)"], shell("Bash", "cd a && npm test"), True),
        ("calls_exactly", ["Bash(npm test*)"], shell("Bash", "npm test; git push"), False),
        ("no_other_calls", ["find_order(a*)"], shell("find_order", "a; b"), True),
    ],
)
def test_calls_of_a_shell_by_each_command(key: str, value: Any, step: Step, expected: bool) -> None:
    assert holds(key, value, step) is expected


def codex_patch(*paths: str) -> Step:
    changes = [{"path": path, "kind": "update"} for path in paths]
    return Step(tool="apply_patch", arguments={"changes": changes})


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "@@", "-tests/x.py", "+b", "*** End Patch"))


OPENCODE = Step(tool="apply_patch", arguments={"patchText": patch("*** Update File: calc.py")})
COPILOT = Step(tool="apply_patch", arguments=patch("*** Add File: src/a b.py", "+x"))
MOVE = patch("*** Update File: a.py", "*** Move to: tests/a.py")
MOVED = Step(tool="apply_patch", arguments=MOVE)
BY_FILE = Step(tool="apply_patch", arguments={"changes": {"src/app.py": {"add": {"x": 1}}}})


@pytest.mark.parametrize(
    ("key", "value", "step", "expected"),
    [
        ("never_called", "edit(calc*)", codex_patch("calc.py"), False),
        ("never_called", "edit(calc*)", codex_patch("README.md", "./calc.py"), False),
        ("never_called", "edit(calc*)", OPENCODE, False),
        ("never_called", "edit(src/a b.py)", COPILOT, False),
        ("never_called", ["edit(tests/*)"], MOVED, False),
        ("never_called", "edit(tests/*)", OPENCODE, True),
        ("never_called", "apply_patch(*.md)", codex_patch("calc.py"), True),
        ("called", "edit(calc.py)", codex_patch("calc.py"), True),
        ("called", "edit(calc.py)", OPENCODE, True),
        ("called", "edit(src/*)", COPILOT, True),
        ("called", "edit(src/*)", codex_patch("src\\a.py"), True),
        ("no_other_calls", ["edit(src/*)"], COPILOT, True),
        ("no_other_calls", ["edit"], MOVED, True),
        ("no_other_calls", ["edit(a.py)"], MOVED, False),
        ("no_other_calls", ["edit(*a.py*)"], codex_patch("a.py", "b.py"), False),
        ("no_other_calls", ["edit(*a.py)", "edit(b.py)"], codex_patch("a.py", "b.py"), True),
        ("no_other_calls", ["apply_patch(*)"], codex_patch("a.py", "b.py"), True),
        ("no_other_calls", ["edit(*tests/x*)"], OPENCODE, False),
        ("never_called", "apply_patch(src/*)", BY_FILE, False),
        ("called", "apply_patch(src/app.py)", BY_FILE, True),
        ("never_called", "apply_patch(lib/*)", BY_FILE, True),
        ("calls_exactly", ["edit(calc.py)"], codex_patch("calc.py", "b.py"), False),
    ],
)
def test_edits_by_each_file_of_a_patch(key: str, value: Any, step: Step, expected: bool) -> None:
    assert holds(key, value, step) is expected


def test_the_call_is_the_evidence() -> None:
    found = mark(an_assertion("called", "Edit"), "", Did(steps=ALL))
    assert found.evidence == 'Edit({"path": "a.py", "count": 2})'


NO_CALLS = (
    "`called`: the target reports no tool calls; use an agent, or a command with `trace` or "
    "`output_messages`"
)


@pytest.mark.parametrize(
    ("key", "did", "message"),
    [
        ("called", Did(), NO_CALLS),
        ("exists", Did(), "`exists`: the target has no `workspace`"),
        ("exists", Did(checks=()), "`exists`: it was not checked"),
        ("exists", Did(checks=(WorkCheck(name='exists: "a"', error="x"),)), "`exists`: x"),
    ],
)
def test_what_is_not_reported_gives_no_mark(key: str, did: Did, message: str) -> None:
    with pytest.raises(CannotMeasure) as caught:
        mark(an_assertion(key, "a"), "", did)
    assert str(caught.value) == message


def test_the_outcome_of_a_check_is_the_mark() -> None:
    checks = (
        WorkCheck(name=check_name("exists", "b"), holds=False, found="there is no b"),
        WorkCheck(name=check_name("exists", "a"), holds=True, found="there is a"),
    )
    found = mark(an_assertion("exists", "a"), "", Did(checks=checks))
    assert (found.value, found.reasoning) == (True, "Leaves the file `a`: there is a")


def test_an_answer_alone_shows_no_work() -> None:
    rubric = Rubric((an_assertion("called", "Read"), an_assertion("contains", "a")))
    assert list(assertion_marks(rubric, "a")) == ["a"]


TOTAL = {"path": "*", "text": "42"}


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("./out/final.md", ["out/final.md"]),
        ("out/*.md", ["out/a.md", "out/final.md"]),
        ("out", ["out/[id].ts", "out/a.md", "out/final.md"]),
        ("out/[id].ts", ["out/[id].ts"]),
        ("../x", []),
    ],
)
def test_the_files_that_a_path_names(path: str, files: list[str]) -> None:
    assert folder.named(["out/final.md", "out/a.md", "x", "out/[id].ts"], path) == files


@pytest.mark.parametrize(
    ("outcome", "holds", "found"),
    [
        (folder.exists(["out/a.md", "b"], "out/*.md"), True, "there is out/a.md"),
        (folder.exists(["b"], "a"), False, "there is none"),
        (folder.file_contains({"a": "x\ny: 42\n"}, TOTAL), True, "it is in line 2"),
        (folder.file_contains({"a": "x"}, TOTAL), False, "it does not occur"),
        (folder.file_contains({"a": "x", "b": "42"}, TOTAL), True, "it is in b, line 1"),
        (folder.file_contains({"a": "x", "b": ""}, TOTAL), False, "it does not occur in 2 files"),
        (folder.file_contains({"a": None}, TOTAL), False, "there is no such file with text"),
        (folder.file_contains({}, TOTAL), False, "there is no such file with text"),
        (folder.unchanged(["a"], "tests/**"), True, "nothing of it is changed"),
        (
            folder.unchanged(["tests/a", "tests/b", "tests/c", "tests/d"], "tests/**"),
            False,
            "changed: tests/a, tests/b, tests/c and 1 more",
        ),
        (folder.command(0, ""), True, "exit status 0"),
        (folder.command(2, "E"), False, "exit status 2"),
    ],
)
def test_what_a_folder_shows(outcome: Outcome, holds: bool, found: str) -> None:
    assert (outcome.holds, outcome.found) == (holds, found)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("called", "Bash(", "`Bash(` is not a tool, or `Name(arguments)`"),
        ("calls_in_order", ["Read", "a b"], "`a b` is not a tool, or `Name(arguments)`"),
        ("called_with", {"name": "a", "arguments": {"type": 3}}, "3 is not valid"),
        ("called", "mcp__*__find(a (b))", ""),
        ("called", 3, ""),
        ("called_with", {"name": "a"}, ""),
    ],
)
def test_values_that_cannot_be_used(key: str, value: Any, reason: str) -> None:
    found = TABLE[key].problem(value)
    assert reason in found
    assert bool(found) == bool(reason)


FORMS = {
    "here-string": "jq .a <<< input\nrm -rf build\ngit push",
    "shift in let": "let x=1<<3\ngit push",
    "shift in brackets": "echo $[1<<3]\ngit push",
    "quote of ANSI C": "echo $'don\\'t'; git push",
    "continued line": "git \\\n push",
    "sudo -n": "sudo -n git push",
    "env -i": "env -i git push",
    "timeout": "timeout 60 git push",
    "case": "case $x in a) git push;; esac",
    "function": "function f { git push; }; f",
    "redirection first": ">log git push",
    "path of env": "/usr/bin/env bash -c 'git push'",
    "substitution in a here-document": "cat <<EOF\n$(git push)\nEOF",
    "list of words": ["bash", "-lc", "cd x; git push"],
}


@pytest.mark.parametrize("line", FORMS.values(), ids=FORMS)
def test_a_forbidden_command_is_found_in_every_form(line: Any) -> None:
    step = Step(tool="Bash", arguments={"command": line})
    assert holds("never_called", "Bash(git push*)", step) is False
    allowed = ["Bash(jq*)", "Bash(echo*)", "Bash(cat*)", "Bash(rm*)"]
    assert holds("no_other_calls", allowed, step) is False


UNREAD = (Step(tool="Bash", arguments={"command": "echo 'not closed; git push"}),)
NOT_READ = (
    "a shell line cannot be read, so what it starts is not known: "
    'Bash({"command": "echo \'not closed; git push"})'
)


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("called", "Bash(git push*)"),
        ("never_called", "Bash(git push*)"),
        ("never_called", ["Write", "Bash(git push*)"]),
        ("called_with", {"name": "Bash(git push*)", "arguments": {}}),
        ("calls_in_order", ["Bash(git push*)"]),
        ("calls_exactly", ["Bash(echo*)"]),
        ("no_other_calls", ["Bash(echo*)"]),
    ],
)
def test_a_line_that_cannot_be_read_shows_nothing(key: str, value: Any, negated: bool) -> None:
    found = mark(an_assertion(key, value, negated=negated), "", Did(steps=UNREAD))
    assert found.value is False
    assert found.reasoning.endswith(f": {NOT_READ}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("called", "Bash"),
        ("never_called", "Read(git push*)"),
        ("never_called", "Write"),
        ("no_other_calls", ["Bash"]),
        ("no_other_calls", ["Bash(*)"]),
        ("calls_exactly", ["Bash"]),
        ("max_calls", 1),
    ],
)
def test_a_line_that_nobody_asks_about_need_not_be_read(key: str, value: Any) -> None:
    assert holds(key, value, *UNREAD) is True


def test_a_command_behind_an_unknown_option_is_not_excluded() -> None:
    step = Step(tool="Bash", arguments={"command": "sudo --new VALUE git push"})
    found = mark(an_assertion("never_called", "Bash(git push*)"), "", Did(steps=(step,)))
    assert found.value is False
    assert "what it starts is not known" in found.reasoning


def test_an_allowed_word_in_another_argument_allows_no_command() -> None:
    step = Step(tool="Bash", arguments={"command": "rm -rf x", "description": "jq of a file"})
    assert holds("no_other_calls", ["Bash(jq*)"], step) is False
