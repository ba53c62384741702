"""Workflow commands: no output of any command gives orders to a GitHub runner or a terminal."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from rubric_ci.cli.main import main
from rubric_ci.files.project.loader import load
from rubric_ci.gate.report import json_format
from rubric_ci.parts.lab import judge_label
from rubric_ci.parts.lab.labels import Label, dump
from rubric_ci.values.answers import KeptAnswer
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.references import NotFound
from rubric_ci.values.trace import CaseTrace, FileChange, KeptFile, Step
from tests.bodies import Body, answering, chat
from tests.invoke import through_streams
from tests.sample_project import clean_environment
from tests.sample_reports import a_report, graded

ORDERS = (
    "::debug::pwned\n ::debug::pwned\n\u00a0::debug::pwned\r::debug::pwned\u2028::debug::pwned "
    "##[debug]pwned \x1b]0;pwned\x07\x1b[2J\x9b31m\x7f\u202e"
)
FILE = "evals/::debug::pwned ##[debug]pwned\x1b[2J\n::debug::pwned\r::debug::pwned.eval.yaml"
OURS = {"error", "warning", "notice"}

_COMMAND = re.compile(r"\s*::([\w-]+)(?: .*?)?::")
_OLD_COMMAND = re.compile(r"##\[([\w-]+)")
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def obeyed(output: str) -> list[str]:
    """Return the commands that a runner finds, as its source reads lines, and control characters.

    Its reader ends a line at CR as well, and blanks before a command do not count.
    """
    found, token = [], ""
    for line in re.split(r"\r\n|\r|\n", output):
        if match := _COMMAND.match(line) or _OLD_COMMAND.search(line):
            if token:
                token = "" if match[1] == token else token
            elif match[1] == "stop-commands":
                token = line.rpartition("::")[2]
            elif match[1] not in OURS or match.re is _OLD_COMMAND:
                found.append(line)
    return found + _OBEYED.findall(output.replace("\r\n", "\n"))


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("a ::debug::b", 0),
        ("a\n \u00a0::debug::b", 1),
        ("a\r\n::debug a=b::c", 1),
        ("a ##[debug]b", 1),
        ("::stop-commands::x\n::debug::b\n::x::\n", 0),
        ("::stop-commands::x\n::x::\n::debug::b\n", 1),
        ("::error file=a::b ##[debug]c", 0),
        ("a\x1b[2Jb\x9b", 2),
    ],
)
def test_the_reader_obeys_as_a_runner_does(output: str, found: int) -> None:
    assert len(obeyed(output)) == found


def quoted(text: str) -> str:
    return json.dumps(text)


def project(root: Path, server: str) -> None:
    """Write a project all of whose texts are orders."""
    said, model = quoted(ORDERS), quoted(f"openai/{ORDERS}")
    case = {
        "id": ORDERS,
        "input": ORDERS,
        "expected_outcome": ORDERS,
        "metadata": {"answer": ORDERS, "marks": {ORDERS: True}, "family": ORDERS},
        "rubrics": [{"id": ORDERS, "expected_outcome": ORDERS}],
    }
    wanting = {"id": f"wants {ORDERS}", "input": ORDERS, "expected_outcome": ORDERS}
    write(root / FILE, json.dumps({"description": ORDERS, "evalcases": [case, wanting]}))
    write(root / "corpus.eval.yaml", json.dumps({"evalcases": [case]}))
    test = {"name": ORDERS, "answer": ORDERS, "question": ORDERS, "marks": {"a": True}}
    rubric = {"criteria": [{"id": "a", "expected_outcome": ORDERS}], "tests": [test]}
    write(root / "hostile.rubric.yaml", json.dumps(rubric))
    text = "|\n      x\n\n      ::debug::pwned ##[debug]pwned\n"
    write(
        root / "mendable.eval.yaml",
        f"evalcases:\n  - id: a\n    note: 5\n    input: {text}    rubrics: [Greets]\n",
    )
    write(
        root / "broken.eval.yaml",
        f"evalcases:\n  - {quoted(ORDERS)}: 1\n    ::debug::pwned: x\n"
        "    ##[debug]: 2\n::debug::pwned\n",
    )
    line = {"id": "a", "input": "x", "outcome": ORDERS, "rubrics": ["Greets"]}
    write(root / "lines.eval.jsonl", json.dumps(line, ensure_ascii=False) + "\n")
    write(
        root / "rubric-ci.yaml",
        (
            "evals: [evals/*.yaml]\n"
            f"judge:\n  {{model: {model}, api_base: {quoted(server)}, api_key: k}}\n"
            f"targets:\n  - {{name: {said}, provider: mock, response: {said}}}\n"
        ),
    )
    label = Label(file=FILE, id=ORDERS, evaluator="rubrics", answer=ORDERS, marks={ORDERS: True})
    write(root / "labels.jsonl", dump([label]))
    then = a_report(graded(ORDERS, "pass", file=FILE), notes=(ORDERS,))
    now = a_report(graded(ORDERS, "fail", file=FILE, reason=ORDERS), notes=(ORDERS,))
    write(root / "then.json", json_format.render(then))
    write(root / "now.json", json_format.render(now))
    write(root / "policy.yaml", json.dumps({"rules": {ORDERS: "off", "::debug::x": "error"}}))
    write(root / "event.json", "{}")
    rows = f"id,input,passed,reason\n{quoted(ORDERS)},{quoted(ORDERS)},false,{quoted(ORDERS)}\n"
    write(root / "results.csv", rows)
    output = {"prompts": [ORDERS], "tests": [{"vars": {"a": ORDERS}, "assert": [{"type": ORDERS}]}]}
    write(root / "promptfooconfig.yaml", json.dumps(output))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project, and a model that answers nothing but orders."""
    mark = {"c1": {"evidence": ORDERS, "reasoning": ORDERS, "satisfied": False}}
    reply = chat(json.dumps(mark), ORDERS)
    root = tmp_path_factory.mktemp("hostile")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    with answering(Body(content=json.dumps(reply).encode())) as bodies:
        project(root, f"{bodies.url}/v1")
        run(root, ("history", "add", "--history", "history.db", "now.json"), runner=False)
        yield root


COMMANDS = {
    "validate": ("validate", FILE, "broken.eval.yaml", "lines.eval.jsonl", "rubric-ci.yaml"),
    "validate-json": ("validate", "--format", "json", FILE, "broken.eval.yaml"),
    "validate-sarif": ("validate", "--format", "sarif", FILE, "broken.eval.yaml"),
    "validate-github": ("validate", "--format", "github", FILE, "broken.eval.yaml"),
    "validate-nothing": ("validate", ORDERS),
    "validate-diff": ("validate", "--diff", "mendable.eval.yaml", "lines.eval.jsonl"),
    "validate-fix": ("validate", "--fix", "fix.eval.yaml"),
    "validate-policy": ("validate", "--policy-from", "policy.yaml", FILE),
    "validate-policy-github": (
        *("validate", "--policy-from", "policy.yaml", "--format", "github", FILE),
    ),
    "validate-policy-json": ("validate", "--policy-from", "policy.yaml", "--format", "json", FILE),
    "validate-policy-missing": ("validate", "--policy-from", ORDERS, FILE),
    "explain": ("validate", "--explain", ORDERS),
    "run": ("run",),
    "run-broken": ("run", "broken.eval.yaml"),
    "run-every-format": ("run", "--reports", "json,markdown,junit,sarif,html"),
    "run-baseline": ("run", "--baseline", "then.json"),
    "run-baseline-missing": ("run", "--baseline", ORDERS),
    "run-policy": ("run", "--policy-from", "policy.yaml"),
    "run-list": ("run", "--list"),
    "run-last-failed": ("run", "--last-failed"),
    "run-case": ("run", "--case", ORDERS),
    "run-target": ("run", "--target", ORDERS + "x"),
    "run-judge": ("run", "--judge", "openai/" + ORDERS),
    "run-changed-since": ("run", "--changed-since", ORDERS),
    "run-replay": ("run", "--replay", ORDERS),
    "plan": ("plan",),
    "merge": ("report", "merge", "now.json"),
    "merge-nothing": ("report", "merge", ORDERS),
    "compare": ("compare", "then.json", "now.json"),
    "compare-markdown": ("compare", "--format", "markdown", "then.json", "now.json"),
    "compare-json": ("compare", "--format", "json", "then.json", "now.json"),
    "compare-issue": ("compare", "--issue", ORDERS, "then.json", "now.json"),
    "comment": ("report", "comment", "now.json"),
    "generate-diff": ("generate", "rubrics", "--diff"),
    "generate": ("generate", "rubrics"),
    "generate-missing": ("generate", "rubrics", ORDERS),
    "judge-attack": ("judge", "attack", "corpus.eval.yaml"),
    "judge-attack-judge": ("judge", "attack", "--judge", "openai/" + ORDERS, "corpus.eval.yaml"),
    "judge-test": ("judge", "test", "hostile.rubric.yaml"),
    "judge-test-missing": ("judge", "test", ORDERS),
    "label": ("judge", "label", "--report", "now.json"),
    "calibrate": ("judge", "calibrate", "labels.jsonl"),
    "calibrate-missing": ("judge", "calibrate", ORDERS),
    "adopt": ("adopt", "results.csv", "--from", "csv"),
    "adopt-missing": ("adopt", ORDERS, "--from", "junit"),
    "import": ("import", "promptfooconfig.yaml"),
    "import-missing": ("import", ORDERS),
    "probe": ("probe", "--report", "now.json"),
    "probe-missing": ("probe", "--report", ORDERS),
    "cache": ("cache", "--unused-days", "9"),
    "doctor": ("doctor",),
    "show": ("show", "--report", "now.json"),
    "show-missing": ("show", ORDERS, "--report", "now.json"),
    "authorize": ("authorize",),
    "init": ("init", "new"),
    "demo": ("demo", "example"),
    "demo-twice": ("demo", "new"),
    "waive": ("waive", f"{ORDERS}/{ORDERS}", "--until", "2030-01-01", "--reason", ORDERS),
    "baseline-accept": (
        *("baseline", "accept", "now.json", "--baseline", "accepted", "--reason", ORDERS),
    ),
    "baseline-accept-nothing": ("baseline", "accept", ORDERS, "--reason", ORDERS),
    "baseline-keep": ("baseline", "keep", "now.json", "--baseline", "kept"),
    "history-add": ("history", "add", "--history", "kept.db", "now.json"),
    "history-add-nothing": ("history", "add", "--history", "kept.db", ORDERS),
    "history-show": ("history", "show", "--history", "history.db"),
}


def test_every_command_is_here() -> None:
    def names(group: click.Group, *before: str) -> Iterator[tuple[str, ...]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from names(command, *before, name)
            else:
                yield (*before, name)

    words = set(names(main))
    assert [each for each in words if each not in {a[: len(each)] for a in COMMANDS.values()}] == []


@pytest.mark.parametrize("runner", [True, False], ids=["runner", "pipe"])
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_command(arguments: tuple[str, ...], runner: bool, root: Path) -> None:
    write(root / "fix.eval.yaml", (root / "mendable.eval.yaml").read_text())
    (root / "new").mkdir(exist_ok=True)
    done = run(root, arguments, runner=runner)
    assert "Traceback" not in done.stderr
    assert done.stdout + done.stderr != ""
    if runner:
        assert (obeyed(done.stdout), obeyed(done.stderr)) == ([], [])
    elif "--diff" not in arguments:  # a pipe gets the diff byte by byte
        assert _OBEYED.findall(done.stdout + done.stderr) == []


def run(
    root: Path, arguments: tuple[str, ...], *, runner: bool
) -> subprocess.CompletedProcess[str]:
    on_github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_EVENT_PATH": "event.json",
    }
    environment = clean_environment() | (on_github if runner else {"GITHUB_ACTIONS": ""})
    return through_streams(root, environment, *arguments)


def test_the_json_on_a_runner_is_the_same_value(root: Path) -> None:
    done = run(root, COMMANDS["compare-json"], runner=True)
    (change,) = json.loads(done.stdout)["cases"]
    assert (change["file"], change["id"]) == (FILE, ORDERS)


def test_a_diff_in_a_file_can_be_applied(root: Path) -> None:
    with (root / "out.diff").open("wb") as out:
        subprocess.run(
            [sys.executable, "-m", "rubric_ci", *COMMANDS["validate-diff"]],
            cwd=root,
            env=clean_environment() | {"GITHUB_ACTIONS": "true"},
            stdout=out,
            timeout=60,
            check=False,
        )
    done = subprocess.run(["git", "apply", "--check", "out.diff"], cwd=root, check=False)
    assert done.returncode == 0


def test_the_screen_of_label() -> None:
    rubric = {"id": ORDERS, "expected_outcome": ORDERS}
    case = {"id": ORDERS, "input": ORDERS, "expected_outcome": ORDERS, "rubrics": [rubric]}
    text = json.dumps({"evalcases": [case]})
    eval_file = load(FILE, text, lambda _: NotFound("none")).eval_file
    assert eval_file
    (spec,) = eval_file.cases[0].evaluators
    assert isinstance(spec, RubricSpec)
    trace = CaseTrace(
        steps=(Step(tool=ORDERS, arguments={ORDERS: ORDERS}, result=ORDERS, error=ORDERS),),
        workspace=True,
        files=(KeptFile(path=ORDERS, text=ORDERS),),
        notes=(ORDERS,),
    )
    changes = (FileChange(path=ORDERS, kind="added", diff=ORDERS),)
    question = judge_label.Question(
        case=eval_file.cases[0],
        spec=spec,
        kept=KeptAnswer(answer=ORDERS, trace=trace, file_changes=changes),
        criterion=spec.rubric.judged[0],
    )
    for unfolded in (False, True):
        lines = judge_label.screen(question, place="1 of 1", previous=None, unfolded=unfolded)
        assert obeyed("\n".join(lines)) == []
