"""`rubric-ci run --against` as a user types it, in real repositories with real targets."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.forked_command import started
from tests.invoke import invoke
from tests.wait import wait_until

JUDGE = (
    "execution: {evaluators: [{name: s, type: code_judge, script: 'grep -qi hello {answer_file}'}]}"
)
COMMAND = "sh agent.sh {EVAL_ID}"  # a Python takes twenty times the processor time to start
CONFIG = f"""\
targets: [{{name: default, provider: cli, command_template: "{COMMAND}", depends_on: [agent.sh]}}]
"""
AGENT = """\
echo "{side} $1" >> '{log}'
case $1 in
{said}
*) echo "Bye{end}" ;;
esac
"""


def cases(*names: str, question: str = "Greet") -> str:
    lines = (f"  - {{id: {name}, input: {question}, {JUDGE}}}\n" for name in names)
    return "evalcases:\n" + "".join(lines)


def run(
    checkout: Checkout, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return invoke(checkout.root, ENVIRONMENT | environment, "run", *arguments)


def report(checkout: Checkout) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    return read


def changes(checkout: Checkout) -> dict[str, tuple[str, str]]:
    found = report(checkout)["cases"]
    return {case["id"]: (case["change"], case["change_reason"]) for case in found}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "asked.txt"


def asked(log: Path) -> list[str]:
    """Return what was asked since the last look: the side and the case of each call."""
    lines = sorted(log.read_text().splitlines()) if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


def agent(log: Path, side: str, end: str = " by $$", **answers: str) -> dict[str, str]:
    """Return a program of which no two answers are equal, as of a model that samples."""
    said = "\n".join(f'{name}) echo "{answer}{end}" ;;' for name, answer in answers.items())
    return {"agent.sh": AGENT.format(log=log.as_posix(), side=side, said=said, end=end)}


@pytest.fixture
def changed(checkout: Checkout, log: Path) -> Checkout:
    """A change of the agent and of the cases, with every way in which a case can differ."""
    checkout.commit(
        {
            ".gitignore": ".rubric-ci/\n",
            "rubric-ci.yaml": CONFIG,
            "evals/a.yaml": cases("breaks", "heals", "bad", "good", "gone")
            + cases("asked", question="Greet me").removeprefix("evalcases:\n"),
            **agent(log, "base", breaks="hello", good="hello", asked="hello"),
        }
    )
    checkout.git("switch", "--quiet", "--create", "topic")
    checkout.commit(
        {
            "evals/a.yaml": cases("breaks", "heals", "bad", "good", "asked", "added"),
            **agent(log, "head", heals="hello", good="hello", asked="hello"),
        }
    )
    return checkout


def commit_one(checkout: Checkout, program: str) -> None:
    """Commit one case, and the program that answers it."""
    files = {"rubric-ci.yaml": CONFIG, "evals/a.yaml": cases("one"), "agent.sh": program}
    checkout.commit(files)


SEEN = {
    "breaks": ("broken", ""),
    "heals": ("better", ""),
    "bad": ("failing-before", ""),
    "good": ("unchanged", ""),
    "asked": ("not-comparable", "its question changed"),
    "added": ("new", ""),
}


def test_each_case_is_compared_with_the_base(changed: Checkout, log: Path) -> None:
    done = run(changed, "evals", "--against", "main")
    assert (done.returncode, changes(changed)) == (1, SEEN), done.stderr
    read = report(changed)
    assert read["removed"] == [{"file": "evals/a.yaml", "id": "gone"}]
    assert read["against"]["commit"] == changed.git("rev-parse", "main")
    assert read["against"]["further_trials"] == 4
    assert [read["against"][name] for name in ("asked", "reused", "shared")] == [4, 0, 0]
    assert asked(log) == [
        *("base bad", *["base breaks"] * 5, "base good", "base heals"),
        *(*["head added"] * 3, "head asked", "head bad", *["head breaks"] * 5),
        *("head good", "head heals"),
    ]
    assert changed.git("worktree", "list").count("\n") == 0


@pytest.mark.parametrize(
    ("response", "question", "seen", "code"),
    [
        ("30 days", "Until when?", ("failing-before", ""), 0),
        ("14 days", "Until when?", ("failing-before", ""), 0),  # as where a criterion is edited
        ("30 days", "Until when, of {{ fact }}?", ("not-comparable", "its question changed"), 1),
    ],
    ids=["never met", "met the earlier fact", "in the question"],
)
def test_a_fact_that_criteria_alone_name(
    checkout: Checkout, response: str, question: str, seen: tuple[str, str], code: int
) -> None:
    config = f"targets: [{{name: default, provider: mock, response: {response}}}]\n"
    case = f"""\
evalcases:
  - id: refund
    vars: {{fact: FACT}}
    input: "{question}"
    rubrics: [{{contains: "{{{{ fact }}}}"}}]
"""
    evals = {"rubric-ci.yaml": config, "evals/a.yaml": case.replace("FACT", "14 days")}
    checkout.commit(evals)
    checkout.write({"evals/a.yaml": case.replace("FACT", "20 days")})
    done = run(checkout, "evals", "--against", "HEAD", "--fail-on", "regression")
    assert (changes(checkout)["refund"], done.returncode) == (seen, code), done.stdout


def test_later_runs_ask_for_what_is_not_kept(changed: Checkout, log: Path) -> None:
    against = ("evals", "--against", "main")
    run(changed, *against)
    first = asked(log)

    run(changed, *against, "--reuse", "answers")
    assert (asked(log), changes(changed)) == ([], SEEN)
    case = report(changed)["cases"][1]
    assert (case["answer_reused"], case["answered_at"][:2]) == (True, "20")
    assert report(changed)["totals"]["reused_answers"] == 6

    run(changed, *against, "--reuse", "marks")
    assert asked(log) == first
    assert report(changed)["against"]["reused"] == 0

    assert run(changed, *against).returncode == 1
    again = asked(log)
    assert {line for line in again if line.startswith("base")} == {"base breaks"}  # of today
    assert any(line.startswith("head") for line in again)
    assert changes(changed) == SEEN
    before = report(changed)["cases"][0]["before"]
    assert (before["source"], before["answered_at"][:2]) == ("reused", "20")
    assert report(changed)["against"]["reused"] == 4


def test_an_answer_that_nothing_changed_serves_both_sides(checkout: Checkout, log: Path) -> None:
    checkout.commit({"rubric-ci.yaml": CONFIG, "evals/a.yaml": cases("one"), **agent(log, "both")})
    checkout.write({"README.md": "A change.\n"})
    run(checkout, "evals", "--against", "HEAD")
    assert asked(log) == ["both one"]
    assert changes(checkout) == {"one": ("failing-before", "")}
    assert report(checkout)["cases"][0]["before"]["source"] == "shared"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param("depends_on: [agent.sh]", ["both one"], id="depends on an unchanged file"),
        pytest.param("timeout_seconds: 9", ["both one"] * 2, id="depends on every file"),
        pytest.param("depends_on: [agent.sh], cache: false", ["both one"] * 2, id="no cache"),
    ],
)
def test_what_a_change_of_another_file_asks(
    checkout: Checkout, log: Path, target: str, expected: list[str]
) -> None:
    config = CONFIG.replace("depends_on: [agent.sh]", target)
    checkout.commit({"rubric-ci.yaml": config, "evals/a.yaml": cases("one"), **agent(log, "both")})
    checkout.write({"README.md": "A change.\n"})
    run(checkout, "evals", "--against", "HEAD")
    assert asked(log) == expected


def test_a_flaky_target_is_not_called_broken(checkout: Checkout, tmp_path: Path) -> None:
    """The head answers wrongly once; its further trials show that it was chance."""
    seen = tmp_path / "seen"
    flaky = f"test -e '{seen.as_posix()}' && echo hello || echo bye\ntouch '{seen.as_posix()}'\n"
    commit_one(checkout, "echo hello\n")
    checkout.write({"agent.sh": flaky})
    assert run(checkout, "evals", "--against", "HEAD").returncode == 0
    assert changes(checkout) == {"one": ("not-confirmed", "")}
    here = report(checkout)["cases"][0]["asked_again"]["here"]
    assert here == {"asked": 3, "passed": 2, "held": 2}


def test_a_base_that_fails_is_not_comparable(checkout: Checkout) -> None:
    commit_one(checkout, "exit 3\n")
    checkout.write({"agent.sh": "echo hello\n"})
    assert run(checkout, "evals", "--against", "HEAD").returncode == 0
    reason = "no verdict at the base: the target `default` failed: exit status 3, no output"
    assert changes(checkout) == {"one": ("not-comparable", reason)}


@platforms.SIGNALS
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_the_worktree_is_removed(checkout: Checkout, tmp_path: Path, name: str) -> None:
    waiting = tmp_path / "waiting"
    slow = f"touch '{waiting}'\nexec sleep 60\n"
    commit_one(checkout, slow)
    checkout.write({"agent.sh": "echo hello\n"})
    place = tmp_path / "tmp"
    place.mkdir()
    environment = ENVIRONMENT | {"TMPDIR": str(place)}
    process = started(checkout.root, environment, "run", "evals", "--against", "HEAD")
    wait_until(waiting.exists)
    assert checkout.git("worktree", "list").count("rubric-ci-base-") == 1
    os.kill(process.pid, getattr(signal, name))
    process.communicate(timeout=60)
    if name == "SIGKILL":
        checkout.write({"agent.sh": "echo hello again\n", "a.py": ""})
        assert checkout.git("worktree", "list").count("rubric-ci-base-") == 1
        checkout.commit()
        run(checkout, "evals", "--against", "HEAD", TMPDIR=str(place))
    assert checkout.git("worktree", "list").count("rubric-ci-base-") == 0
    assert list(place.glob("rubric-ci-base-*")) == []


def test_a_run_that_stops_early_compares_what_it_graded(changed: Checkout, log: Path) -> None:
    arguments = ("evals", "--against", "main", "--max-failures", "1", "--concurrency", "1")
    assert run(changed, *arguments).returncode == 1
    stopped = "not run: stopped after 1 failure (--max-failures 1)"
    names = ("heals", "bad", "good", "asked", "added")
    assert changes(changed) == {
        "breaks": SEEN["breaks"],
        **dict.fromkeys(names, ("not-comparable", stopped)),
    }
    assert {line for line in asked(log) if "base" in line} == {"base breaks"}
    assert report(changed)["scope"]["narrowed_by"] == ["max-failures"]
    assert report(changed)["against"]["asked"] == 1


BASE_RUBRICS = "under the rubrics of the base"
NEVER = "{name: never, type: code_judge, script: 'grep -q nothing-meets-this {answer_file}'}"
UNMEETABLE = JUDGE.removesuffix("]}") + f", {NEVER}]}}"


@pytest.mark.parametrize(
    ("answers", "seen", "code"),
    [({}, ("broken", BASE_RUBRICS), 1), ({"one": "hello again"}, ("failing-before", ""), 0)],
    ids=["a break behind a criterion that nothing meets", "a stricter rubric alone"],
)
def test_a_break_is_found_under_the_rubrics_of_the_base(
    checkout: Checkout, log: Path, answers: dict[str, str], seen: tuple[str, str], code: int
) -> None:
    """A criterion that the head adds makes the case fail on both sides."""
    base = {"rubric-ci.yaml": CONFIG, "evals/a.yaml": cases("one")}
    checkout.commit({".gitignore": ".rubric-ci/\n", **base, **agent(log, "base", one="hello")})
    checkout.git("switch", "--quiet", "--create", "topic")
    stricter = cases("one").replace(JUDGE, UNMEETABLE)
    checkout.commit({"evals/a.yaml": stricter, **agent(log, "head", **answers)})
    done = run(checkout, "evals", "--against", "main", "--fail-on", "regression")
    assert (changes(checkout), done.returncode) == ({"one": seen}, code), done.stdout
    assert report(checkout)["cases"][0]["before"]["verdict"] == "fail"


SOUGHT = """\
import json, sys
read = json.load(sys.stdin)
print(json.dumps({"score": int(read["metadata"]["sought"] in read["output"])}))
"""


def test_metadata_that_a_script_reads_is_part_of_the_rubrics(checkout: Checkout, log: Path) -> None:
    """Both sides are marked by the metadata of the head, and again by that of the base."""
    script = "{evaluators: [{name: s, type: code_judge, script: python3 -S sought.py}]}"
    case = "evalcases:\n- {id: one, input: Greet, metadata: {sought: %s}, execution: %s}\n"
    base = {"rubric-ci.yaml": CONFIG, "evals/sought.py": SOUGHT}
    answering = agent(log, "base", one="hello")
    checkout.commit({**base, **answering, "evals/a.yaml": case % ("hello", script)})
    checkout.git("switch", "--quiet", "--create", "topic")
    checkout.commit({"evals/a.yaml": case % ("nothing", script)})
    run(checkout, "evals", "--changed-since", "main", "--against", "main")
    (found,) = report(checkout)["cases"]
    assert found["why"] == "the case was edited: metadata"
    assert (found["change"], found["verdict"]) == ("failing-before", "fail")
    checkout.commit(agent(log, "head"))
    assert run(checkout, "evals", "--against", "main", "--fail-on", "regression").returncode == 1
    (found,) = report(checkout)["cases"]
    assert found["change_reason"].startswith(BASE_RUBRICS)


WORKER = """\
printf %s '{found}' > result.txt
cat <<END
{messages}
END
"""
SEEN_BY_A_SCRIPT = """\
import json, sys
with open(json.load(sys.stdin)["workspace_path"] + "/result.txt") as result:
    print('{"score": %d}' % (result.read() == "found"))
"""


def worker(*calls: str) -> str:
    """Return a program that calls tools and leaves a file."""
    messages = [
        {"role": "assistant", "tool_calls": [{"tool": name, "input": {}} for name in calls]},
        {"role": "assistant", "content": "Done by $$"},
    ]
    text = json.dumps({"output_messages": messages})
    return WORKER.format(found="found" if calls else "", messages=text)


@pytest.mark.parametrize(
    "demand",
    [
        "rubrics: [{id: ran, called: pytest}]",
        "rubrics: [{id: ran, file_contains: {path: result.txt, text: found}}]",
        "rubrics: [{id: ran, command: grep -q found result.txt}]",
        "evaluators: [{name: s, type: code_judge, script: python3 -S look.py}]",
        "evaluators: [{name: t, type: tool_trajectory, mode: any_order, minimums: {pytest: 1}}]",
    ],
    ids=["a step", "a file", "a command", "a script that looks into it", "expected steps"],
)
def test_less_work_is_found_under_the_rubrics_of_the_base(checkout: Checkout, demand: str) -> None:
    """A change that skips the work, and rewrites the criterion about it, breaks the case."""
    config = (
        "targets: [{name: default, provider: cli, workspace: {copy: app}, depends_on: [app/**],\n"
        "  command_template: sh work.sh}]\n"
    )
    case = "evalcases:\n  - id: one\n    input: Fix\n    workspace: {{copy: ../app}}\n    {}\n"
    base = {".gitignore": ".rubric-ci/\n", "evals/look.py": SEEN_BY_A_SCRIPT}
    work = {"rubric-ci.yaml": config, "app/work.sh": worker("pytest")}
    checkout.commit({**base, **work, "evals/a.yaml": case.format(demand)})
    checkout.git("switch", "--quiet", "--create", "topic")
    easy = case.format("rubrics: [{id: ran, contains: Done}]")
    checkout.commit({"evals/a.yaml": easy, "app/work.sh": worker()})
    done = run(checkout, "evals", "--against", "main", "--fail-on", "regression")
    seen = (changes(checkout), done.returncode)
    assert seen == ({"one": ("broken", BASE_RUBRICS)}, 1), done.stderr


def test_a_break_that_repeats_is_broken(checkout: Checkout, log: Path) -> None:
    """Each side gives one answer, also to variants of the message: the break is a fact."""
    names = [f"c{n}" for n in range(6)]
    every = dict.fromkeys(names, "hello")
    for side, answers in (("base", every), ("head", {**every, "c0": "bye"})):
        files = {"rubric-ci.yaml": CONFIG, "evals/a.yaml": cases(*names)}
        checkout.commit(files | agent(log, side, end="", **answers))
    done = run(checkout, "evals", "--against", "HEAD~1", "--fail-on", "regression")
    assert done.returncode == 1
    assert "c0 · Always: passed before, fails now" in done.stdout
    assert "Gate fails: c0 broke · 6 cases, compared with HEAD~1 " in done.stdout
    lines = asked(log)
    assert [lines.count(f"{side} c0") for side in ("head", "base")] == [5, 5]
    noted = {"rubric-ci.yaml": f"{CONFIG}regression: {{repeated: note}}\n"}
    checkout.commit({**noted, **agent(log, "base", end="", **every)})
    checkout.commit(agent(log, "head", end="", **{**every, "c0": "bye"}))
    done = run(checkout, "evals", "--against", "HEAD~1", "--fail-on", "regression")
    assert done.returncode == 0, done.stdout
    assert "Not held against the change: c0 (Always: passed before, fails now:" in done.stdout
