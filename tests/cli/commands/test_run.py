"""`rubric-ci run` as a user types it: exit codes, messages, files."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from tests import platforms
from tests.captured import captured
from tests.forked_command import started
from tests.sample_project import CONFIG, EVAL, RUBRIC, Project, clean_environment
from tests.wait import wait_until

BROKEN_NOTE = (
    "evals/b.eval.yaml was not graded because it has problems; "
    "run `rubric-ci validate evals/b.eval.yaml`"
)


RUDE = '{"id": "greeting", "answer": "Go away"}\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_exit_0_when_the_gate_holds(project: Project) -> None:
    done = project.run()
    assert (done.returncode, done.stderr) == (0, "[1/1] pass       1.00  greeting\n")
    report, case = project.report(), project.case
    assert (report["verdict"], report["gate"]["holds"]) == ("pass", True)
    texts = (case["question"], case["expected_outcome"], case["answer"])
    assert texts == ("Say hello", "", "Hello there")
    assert (project.root / ".rubric-ci/summary.md").exists()


@pytest.mark.parametrize(("options", "code"), [((), 1), (("--fail-on", "never"), 0)])
def test_a_case_that_fails(project: Project, options: tuple[str, ...], code: int) -> None:
    project.write("answers.jsonl", RUDE)
    assert project.run(*options).returncode == code
    report = project.report()
    assert (report["verdict"], report["gate"]["holds"]) == ("fail", code == 0)
    assert project.case["score"] == 0


def test_git_adds_nothing_that_a_run_wrote(project: Project) -> None:
    assert project.run().returncode == 0
    project.checkout.git("add", "--all")
    added = project.checkout.git("ls-files").splitlines()
    assert added == ["answers.jsonl", "evals/a.eval.yaml", "rubric-ci.yaml"]


def test_exit_3_when_a_case_has_no_verdict(project: Project) -> None:
    project.write("answers.jsonl", '{"id": "other", "answer": "Hello"}\n')
    assert project.run().returncode == 3
    assert (project.report()["verdict"], project.case["outcome"]) == ("error", "errored")
    assert "score" not in project.case


@platforms.MESSAGES
def test_an_unwritable_folder_stops_a_run_before_any_request(project: Project) -> None:
    project.write("evals/a.eval.yaml", EVAL.replace("grep", "touch asked; grep"))
    done = project.run("--output-dir", "answers.jsonl")
    assert done.returncode == 2
    assert done.stderr == (
        "rubric-ci: answers.jsonl: cannot write reports to this folder: File exists\n"
        "  choose another folder with --output-dir\n"
    )
    assert not (project.root / "evals/asked").exists()


@platforms.MESSAGES
def test_what_cannot_be_written_in_the_end_is_shown_all_the_same(project: Project) -> None:
    (project.root / ".rubric-ci/report.json").mkdir(parents=True)
    done = project.run()
    assert done.returncode == 2
    assert "1 passed · average score" in done.stdout
    assert done.stderr.splitlines()[1] == (
        "rubric-ci: .rubric-ci/report.json: cannot write the report: Is a directory"
    )


def test_a_failure_to_write_takes_no_verdict_away(project: Project) -> None:
    (project.root / ".rubric-ci/report.json").mkdir(parents=True)
    project.write("answers.jsonl", RUDE)
    done = project.run()
    assert done.returncode == 1
    assert "1 failed · average score" in done.stdout
    assert "rubric-ci: .rubric-ci/report.json: cannot write the report" in done.stderr


def test_a_proven_fail_outweighs_a_missing_verdict(project: Project) -> None:
    project.write("evals/b.eval.yaml", EVAL.replace("greeting", "lost"))
    project.write("answers.jsonl", RUDE)
    assert project.run().returncode == 1
    assert project.report()["totals"]["errored"] == 1


def test_an_invalid_file_ends_as_2_and_the_others_are_graded(project: Project) -> None:
    project.write(
        "evals/b.eval.yaml", "evalcases:\n  - id: x\n    input: Hi\n    rubric: [Greets]\n"
    )
    done = project.run()
    assert done.returncode == 2
    assert "evals/b.eval.yaml:4:5" in done.stderr
    report = project.report()
    assert report["totals"]["passed"] == 1
    assert report["verdict"] == "error"
    assert report["notes"] == [BROKEN_NOTE]


def test_an_unreadable_file_is_a_problem_at_its_place(project: Project) -> None:
    (project.root / "evals/b.eval.yaml").write_bytes(b"evalcases:\n  - id: caf\xe9\n")
    done = project.run()
    assert done.returncode == 2
    assert done.stderr.startswith(
        "evals/b.eval.yaml:2:12: encoding: the byte 0xE9 is not UTF-8; save the file as UTF-8\n"
    )
    assert project.report()["totals"]["passed"] == 1


def test_a_case_without_rubrics_is_skipped_or_an_error(project: Project) -> None:
    project.write(
        "evals/a.eval.yaml",
        "evalcases:\n  - id: greeting\n    input: Say hello\n    expected_outcome: Greets\n",
    )
    assert project.run().returncode == 0
    case = project.case
    assert case["outcome"] == "skipped"
    assert "rubric-ci generate rubrics evals/a.eval.yaml" in case["reason"]
    project.write("rubric-ci.yaml", CONFIG + "gate: {require_rubrics: true}\n")
    done = project.run()
    assert done.returncode == 3
    assert done.stderr == f"[1/1] errored       -  greeting: {case['reason']}\n"
    case = project.case
    texts = (case["question"], case["expected_outcome"])
    assert (case["outcome"], *texts) == ("errored", "Say hello", "Greets")


def test_offline_a_case_with_rubrics_is_skipped_although_required(project: Project) -> None:
    project.write("evals/a.eval.yaml", "evalcases: [{id: a, input: Hi, rubrics: [Greets]}]\n")
    project.write(
        "rubric-ci.yaml",
        "judge: {model: openai/m}\ntargets: [{name: default, provider: mock, response: Hi}]\n"
        "gate: {require_rubrics: true}\n",
    )
    done = project.run("--offline")
    assert (done.returncode, project.report()["cases"][0]["outcome"]) == (0, "skipped")


OFFLINE = """\
judge: {model: openai/m}
targets: [{name: default, provider: mock, response: Hi}]
gate: {require_verdict: true}
"""
RUBRICS = "evalcases:\n- {id: a, input: Hi, rubrics: [Greets]}\n"
SCRIPT = "{name: s, type: code_judge, script: 'true', score_from: exit_status}"
REQUIRED = {
    "nothing is graded": (RUBRICS, ["errored"]),
    "ungraded": ("evalcases: [{id: a, input: Hi, expected_outcome: Greets}]\n", ["errored"]),
    "a case that a change adds is graded": (
        f"{RUBRICS}- {{id: b, input: Hi, execution: {{evaluators: [{SCRIPT}]}}}}\n",
        ["errored", "graded"],
    ),
}


@platforms.SHELL
@pytest.mark.parametrize(("evals", "outcomes"), REQUIRED.values(), ids=REQUIRED)
def test_a_verdict_that_offline_lacks(project: Project, evals: str, outcomes: list[str]) -> None:
    project.write("evals/a.eval.yaml", evals)
    project.write("rubric-ci.yaml", OFFLINE)
    done = project.run("--offline", GITHUB_OUTPUT=str(project.root / "out"), GITHUB_ACTIONS="true")
    found = [case["outcome"] for case in project.report()["cases"]]
    assert (done.returncode, found) == (3, outcomes)
    assert re.search(r"^gate<<.*\nno-verdict$", (project.root / "out").read_text(), re.MULTILINE)
    project.write("rubric-ci.yaml", OFFLINE.replace("true", "false"))
    assert project.run("--offline").returncode == 0


USAGE = {
    "missing path": (["nowhere.yaml"], "nowhere.yaml does not exist"),
    "a misspelt folder": (["eval"], "eval does not exist\n  did you mean `evals`?"),
    "folder without evals": (["empty"], "empty holds no eval file"),
    "target": (
        ["--target", "defualt"],
        "--target: there is no target `defualt`\n  did you mean `default`?",
    ),
    "case": (["--case", "greets"], "no case matches --case greets\n  did you mean `greeting`?"),
    "tag": (["--tag", "slow"], "no case carries --tag slow"),
    "format": (
        ["--reports", "pdf"],
        "unknown format `pdf`; choose from json, markdown, junit, sarif, html",
    ),
    "missing recording": (
        ["--replay", "kept.jsonl"],
        "kept.jsonl: cannot read the recording: No such file or directory\n",
    ),
    "broken configuration": (["--config", "answers.jsonl"], "\nrubric-ci: answers.jsonl has prob"),
    "missing configuration": (["--config", "o.yaml"], "--config: there is no file o.yaml\n"),
}


def test_the_first_steps_are_shown(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / "evals/a.eval.yaml").unlink()
    (tmp_path / "rubric-ci.yaml").unlink()
    message = project.run().stderr
    assert message.startswith(
        "rubric-ci: this folder holds no eval file\n  an eval file is YAML with "
    )
    assert message.endswith("; `rubric-ci init` writes a first one\n")
    project.write("evals/a.eval.yaml", EVAL)
    assert project.run().stderr.splitlines() == [
        "rubric-ci: evals/a.eval.yaml:2: case `greeting`: there is no target `default`",
        "  define one under `targets` in rubric-ci.yaml",
    ]


@pytest.mark.parametrize(("arguments", "message"), USAGE.values(), ids=USAGE)
def test_exit_2_names_the_problem(project: Project, arguments: list[str], message: str) -> None:
    (project.root / "empty").mkdir()
    done = project.run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project.root / ".rubric-ci").exists()


def test_an_unset_variable_is_named_before_any_request(project: Project) -> None:
    project.write("evals/a.eval.yaml", RUBRIC)
    judge = "judge: {model: openai/gpt-6-luna, api_key: '${{ SHOP_KEY }}'}\n"
    project.write("rubric-ci.yaml", CONFIG + judge + "env: {allow: [SHOP_KEY]}\n")
    done = project.run()
    assert done.returncode == 2
    assert done.stderr == (
        "rubric-ci: judge `openai/gpt-6-luna`: the environment variable SHOP_KEY is not set\n"
        "  set it, or remove `${{ SHOP_KEY }}` from the configuration\n"
    )


FORBIDDEN = {
    "SHOP_KEY": (
        "add SHOP_KEY to `env.allow` in rubric-ci.yaml; on a pull request, the list of the base "
        "commit holds"
    ),
    "GITHUB_TOKEN": "pass the value in a variable that does not belong to the runner",
    "actions_runtime_token": "pass the value in a variable that does not belong to the runner",
}


@pytest.mark.parametrize(("name", "hint"), FORBIDDEN.items(), ids=FORBIDDEN)
def test_a_variable_that_is_not_allowed(name: str, hint: str, project: Project) -> None:
    project.write("evals/a.eval.yaml", RUBRIC)
    listed = "" if name == "SHOP_KEY" else f"env: {{allow: [{name}, '*']}}\n"
    judge = f"judge:\n  model: openai/gpt-6-luna\n  api_key: '${{{{ {name} }}}}'\n"
    project.write("rubric-ci.yaml", judge + CONFIG + listed)
    done = project.run(**{name: "secret"})
    assert done.returncode == 2
    assert done.stderr == (
        f"rubric-ci: judge `openai/gpt-6-luna`: rubric-ci.yaml:3 uses `${{{{ {name} }}}}`, which "
        f"is not allowed\n  {hint}\n"
    )


def test_offline_skips_what_only_a_model_can_mark(project: Project) -> None:
    project.write("evals/b.eval.yaml", RUBRIC.replace("greeting", "judged"))
    answers = '{"id": "greeting", "answer": "Hello"}\n{"id": "judged", "answer": "Hello"}\n'
    project.write("answers.jsonl", answers)
    judge = "judge: {model: openai/gpt-6-luna, api_key: '${{ SHOP_KEY }}'}\n"
    project.write("rubric-ci.yaml", CONFIG + judge + "env: {allow: [SHOP_KEY]}\n")
    done = project.run("--offline")
    assert done.returncode == 0
    assert [(case["outcome"], case["reason"]) for case in project.report()["cases"][1:]] == [
        ("skipped", "evals/b.eval.yaml: judged: rubric: offline and not in the cache")
    ]
    assert project.report()["verdict"] == "pass"


def test_offline_starts_no_command_target(project: Project) -> None:
    target = "{name: default, provider: cli, command_template: 'touch started; exit 1', %s}"
    check = "healthcheck: {type: command, command_template: touch checked}"
    project.write("rubric-ci.yaml", f"evals: [evals/*.yaml]\ntargets: [{target % check}]\n")
    done = project.run("--offline")
    assert done.returncode == 0
    case = project.case
    reason = "target `default`: offline, so its command was not started"
    assert (case["outcome"], case["reason"]) == ("skipped", reason)
    assert list(project.root.glob("*ed")) == []


@pytest.mark.parametrize("name", ["RUBRIC_CI_ANNOTATIONS", "GITHUB_ACTIONS"])
def test_annotations_are_on_the_lines_of_the_criteria(project: Project, name: str) -> None:
    project.write("answers.jsonl", '{"id": "greeting", "answer": "::error::gotcha"}\n')
    done = project.run(**{name: "true"})
    assert "::error file=evals/a.eval.yaml,line=6" in done.stdout
    assert "\n::error::gotcha" not in done.stdout
    assert ("::stop-commands::" in done.stdout) is (name == "GITHUB_ACTIONS")


@platforms.SIGNALS
@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interruption_leaves_a_whole_partial_report(project: Project, sent: str) -> None:
    if signal.getsignal(getattr(signal, sent)) is signal.SIG_IGN:
        pytest.skip(f"{sent} is ignored here, as under nohup, and a run leaves it so")
    slow = EVAL + EVAL.partition("\n")[2].replace("greeting", "slow").replace(
        "grep -qi hello {answer_file}", "touch started; sleep 60"
    )
    project.write("evals/a.eval.yaml", slow)
    answers = '{"id": "greeting", "answer": "Hello"}\n{"id": "slow", "answer": "Hello"}\n'
    project.write("answers.jsonl", answers)
    process = started(project.root, clean_environment(), "run", "--concurrency", "1")
    file = project.root / "evals/started"
    wait_until(lambda: file.exists() or process.poll() is not None)
    process.send_signal(getattr(signal, sent))
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "interrupted" in out
    report = project.report()
    assert report["scope"]["narrowed_by"] == ["interrupted"]
    ends = [(case["id"], case["outcome"]) for case in report["cases"]]
    assert ends == [("greeting", "graded"), ("slow", "errored")]
    assert report["cases"][1]["reason"] == "interrupted before it finished"


def test_a_variable_holds_a_list_one_a_line(project: Project) -> None:
    project.write("evals/b c.eval.yaml", EVAL.replace("greeting", "other one"))
    project.write("evals/d.eval.yaml", EVAL.replace("greeting", "third"))
    done = project.run(
        RUBRIC_CI_RUN_PATHS="evals/b c.eval.yaml\nevals/a.eval.yaml\n",
        RUBRIC_CI_RUN_CASE="greet*\nother one\n",
        RUBRIC_CI_RUN_TAG="",
    )
    assert done.returncode == 3
    assert [case["id"] for case in project.report()["cases"]] == ["other one", "greeting"]


def test_a_cache_that_is_a_file(project: Project) -> None:
    done = project.run(RUBRIC_CI_CACHE_DIR="answers.jsonl")
    assert (done.returncode, "cannot write the cache: " in done.stderr) == (2, True)


@pytest.mark.parametrize(("force", "coloured"), [("1", True), ("", False)])
def test_colours_in_a_log_if_requested(project: Project, force: str, *, coloured: bool) -> None:
    shown = project.run(FORCE_COLOR=force).stdout
    assert ("\x1b[32mGate passes" in shown) is coloured


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says which signals a process takes")
@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.2, 0.3])
def test_a_signal_in_the_first_instant_interrupts(project: Project, seconds: float) -> None:
    project.write("evals/a.eval.yaml", EVAL.replace("grep", "sleep 60; grep"))
    process = starting(project.root)
    status = Path(f"/proc/{process.pid}/status")

    def takes_it() -> bool:
        caught = re.search(r"SigCgt:\s*([0-9a-f]+)", status.read_text())
        return bool(caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)

    wait_until(lambda: process.poll() is not None or takes_it())
    assert terminated(process, seconds) == (3, True, False)


STOPPED_IN_EXEC = """\
import rubric_ci.cli.main
from rubric_ci.__main__ import main
rubric_ci.cli.main.main = lambda: exec("raise KeyboardInterrupt")
main()
"""


def test_an_interrupt_inside_of_exec_keeps_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "stopped.py").write_text(STOPPED_IN_EXEC)
    done = captured([sys.executable, "-m", "stopped"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "rubric-ci: interrupted\n")


@platforms.SIGNALS
@pytest.mark.parametrize("milliseconds", [0, 20, 50, 100, 200])
def test_a_signal_before_the_first_line_ends_python(project: Project, milliseconds: int) -> None:
    """Nothing can be said until Python has started; the exit code is the signal's."""
    project.write("evals/a.eval.yaml", EVAL.replace("grep", "sleep 60; grep"))
    end = terminated(starting(project.root), milliseconds / 1000)
    assert end in {(-signal.SIGTERM, False, False), (3, True, False)}


@platforms.SIGNALS
def test_a_signal_that_comes_as_an_import_releases_its_lock(tmp_path: Path) -> None:
    """Python drops the exception of such a callback."""
    (tmp_path / "signalled.py").write_text("""\
import os, signal, weakref
import rubric_ci.cli.main
from rubric_ci.__main__ import main

def command_line():
    place = "<frozen importlib._bootstrap>"
    names = {"os": os, "signal": signal}
    code = "def release(_): os.kill(os.getpid(), signal.SIGTERM)"
    exec(compile(code, place, "exec"), names)
    lock = set()
    reference = weakref.ref(lock, names["release"])
    del lock
    print("went on")

rubric_ci.cli.main.main = command_line
main()
""")
    command = [sys.executable, "signalled.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "rubric-ci: interrupted\n")


def starting(root: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "rubric_ci", "run", "--max-seconds", "5"],
        cwd=root,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def terminated(process: "subprocess.Popen[str]", seconds: float) -> tuple[int, bool, bool]:
    """Return the exit code after a signal, and whether a message and a traceback are shown."""
    sleep(seconds)
    process.send_signal(signal.SIGTERM)
    said = "".join(process.communicate(timeout=60))
    return process.returncode, "interrupted" in said, "Traceback" in said
