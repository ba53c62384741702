"""`rubric-ci validate` as a process: what it prints, what it exits with, what it loads."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from rubric_ci.files.project.checker import Checker
from tests import platforms
from tests.checkout import Checkout
from tests.invoke import invoke

GOOD = "evalcases:\n  - id: a\n    input: Say hello\n    rubrics: [Greets]\n"
BAD = "evalcases:\n  - id: a\n    input: Say hello\n    rubric: [Greets]\n"
WARNED = (
    "evalcases:\n  - id: a\n    input: q\n    rubrics: [{levels: {1: a, 2: b}, required: true}]\n"
)

CARETS = """\
{file}:4:5: unknown-key: unknown key `rubric` in the case; did you mean `rubrics`?
  4 |     rubric: [Greets]
    |     ^^^^^^
"""


def rubric_ci(
    *arguments: str, cwd: Path, environment: Mapping[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    own = {"PATH": os.environ["PATH"], **platforms.INHERITED, **(environment or {})}
    return invoke(cwd, own, *arguments, stdin=stdin)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    Checkout.create(tmp_path).write({"evals/good.yaml": GOOD})
    return tmp_path


def last_line(ran: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    return ran.returncode, ran.stdout.splitlines()[-1]


def test_a_folder_is_searched_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    find = Checker.find

    def counted(checker: Checker, written: str) -> list[Path]:
        searched.append(written)
        return find(checker, written)

    monkeypatch.setattr(Checker, "find", counted)
    assert rubric_ci("validate", "evals", cwd=project).returncode == 0
    assert searched == ["evals"]


def test_clean(project: Path) -> None:
    ran = rubric_ci("validate", cwd=project)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "1 file checked: no problems\n", "")


def test_problems(project: Path) -> None:
    (project / "evals/bad.yaml").write_text(BAD)
    ran = rubric_ci("validate", "evals", cwd=project)
    expected = CARETS.format(file="evals/bad.yaml") + "\n2 files checked: 1 error\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, expected, "")


def test_warnings_do_not_fail(project: Path) -> None:
    (project / "evals/warned.yaml").write_text(WARNED)
    ran = rubric_ci("validate", "evals/warned.yaml", cwd=project)
    assert last_line(ran) == (0, "1 file checked: 1 warning")


def test_a_lost_path_does_not_hide_the_others(project: Path) -> None:
    (project / "evals/bad.yaml").write_text(BAD)
    ran = rubric_ci("validate", "gone.yaml", "evals/bad.yaml", cwd=project)
    assert ran.returncode == 2
    assert ran.stdout.startswith("evals/bad.yaml:4:5: unknown-key")
    assert ran.stderr == "rubric-ci: gone.yaml does not exist\n"


def test_a_file_without_evals_is_reported(project: Path) -> None:
    (project / "evals/good.yaml").unlink()
    ran = rubric_ci("validate", "evals", cwd=project)
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[0] == "rubric-ci: evals holds no eval file"


UNKNOWN = (
    "criterion-text: unknown key `expected_outcom` in the criterion; did you mean "
    "`expected_outcome`?"
)
INCLUDING = "evalcases:\n  - {id: a, input: q, rubrics: [include: used]}\n"


def test_rubric_files_are_checked_by_themselves(project: Path) -> None:
    files = {
        "rubric-ci.yaml": "evals: [evals/*.yaml]\nshared_rubrics: [include: shared]\n",
        "evals/good.yaml": INCLUDING,
        "rubrics/used.rubric.yaml": "criteria: [Greets]\n",
        "rubrics/shared.rubric.yaml": "criteria: [Is kind]\n",
        "rubrics/unused.rubric.yaml": "criteria: [Is short]\n",
        "rubrics/bad.rubric.yaml": "criteria: [{id: a, expected_outcom: x}]  # included by none\n",
        "other/rubric-ci.yaml": "{}\n",
        "other/rubrics/a.rubric.yaml": "criteria: [Is kind]\n",
    }
    Checkout(project).write(files)
    ran = rubric_ci("validate", cwd=project)
    unused = "notice: rubric-unused: no eval file includes this file; include it, or remove it"
    assert [line for line in ran.stdout.splitlines() if ".yaml:" in line] == [
        f"rubrics/bad.rubric.yaml:1:20: {UNKNOWN}",
        f"rubrics/bad.rubric.yaml:1:1: {unused}",
        f"rubrics/unused.rubric.yaml:1:1: {unused}",
    ]
    assert last_line(ran) == (1, "6 files checked: 1 error and 2 notices")
    ran = rubric_ci("validate", "rubrics", cwd=project)
    assert last_line(ran) == (1, "4 files checked: 1 error")


def test_a_criterion_of_the_configuration_that_repeats_one_of_a_case(project: Path) -> None:
    files = {
        "rubric-ci.yaml": "evals: [evals/*.yaml]\nshared_rubrics: [Mentions please]\n",
        "evals/good.yaml": "evalcases:\n  - {id: a, input: q, rubrics: [Mentions please]}\n",
    }
    Checkout(project).write(files)
    told = rubric_ci("validate", cwd=project).stdout
    assert told.startswith("rubric-ci.yaml:2:18: notice: wording: “Mentions please” checks the")
    assert "the first one is in line 2 of evals/good.yaml" in told


@pytest.mark.parametrize("name", ["rubric_ci.yaml", ".rubric-ci.yaml"])
def test_a_configuration_of_another_name_is_told(project: Path, name: str) -> None:
    Checkout(project).write({name: "gate: {fail_on: never}\n"})
    told = f"not read: {name}: the configuration is rubric-ci.yaml; rename it"
    assert rubric_ci("validate", "evals/good.yaml", cwd=project).stdout.splitlines()[-1] == told
    Checkout(project).write({"rubric-ci.yaml": "evals: [evals/good.yaml]\n"})
    assert told not in rubric_ci("validate", cwd=project).stdout


def test_an_included_file_is_counted_and_told_once(project: Path) -> None:
    includes = "{include: used}, {include: ../lib/x.yaml}"
    include = f"evalcases:\n  - {{id: a, input: q, rubrics: [{includes}]}}\n"
    files = {
        "rubric-ci.yaml": "evals: [evals/*.yaml]\n",
        "evals/good.yaml": include,
        "evals/two.yaml": include,
        "rubrics/used.rubric.yaml": "criteria: [{id: a, expected_outcom: x}]\n",
        "lib/x.yaml": "criteria: [Is kind]\n",
    }
    Checkout(project).write(files)
    problem = f"rubrics/used.rubric.yaml:1:20: {UNKNOWN}"
    for paths, summary in [
        ([], "5 files checked: 1 error"),
        (["evals/good.yaml"], "3 files checked: 1 error"),
        (["evals", "rubrics"], "4 files checked: 1 error"),
    ]:
        ran = rubric_ci("validate", *paths, cwd=project)
        lines = ran.stdout.splitlines()
        assert [line for line in lines if ".yaml:" in line] == [problem]
        assert (ran.returncode, lines[-1]) == (1, summary)
    ran = rubric_ci("validate", cwd=project / "rubrics")
    assert [line for line in ran.stdout.splitlines() if ".yaml:" in line] == [problem[8:]]


@pytest.mark.parametrize(
    ("name", "text", "checked"),
    [
        ("evals/a.yaml", GOOD, True),
        ("elsewhere/a.yaml", GOOD, True),
        ("a.eval.yaml", "", True),
        ("configured/a.yaml", "cases: []\n", True),
        ("rubric-ci.yaml", "evals: [configured/*.yaml]\n", True),
        (".agentv/targets.yaml", "targets: []\n", True),
        ("evals/targets.yaml", "targets: []\n", True),
        ("targets.yaml", "targets: []\n", True),
        ("prometheus/targets.yaml", "- targets: [host]\n", False),
        ("compose.yaml", "services: {}\n", False),
        ("evals/values.yaml", "a: 1\n", False),
        ("README.md", "evalcases:\n", False),
        ("rubrics/a.rubric.yaml", "criteria: [Greets]\n", True),
    ],
)
def test_only_evals(name: str, text: str, checked: bool, project: Path) -> None:
    Checkout(project).write({"rubric-ci.yaml": "evals: [configured/*.yaml]\n", name: text})
    ran = rubric_ci("validate", "--only-evals", name, cwd=project)
    assert f"{int(checked)} file" in ran.stdout
    assert ran.returncode == (1 if "cases: []" in text or not text else 0)


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("--strict",), 1)])
def test_strict_fails_on_warnings(project: Path, arguments: tuple[str, ...], code: int) -> None:
    target = "{name: a, provider: cli, command_template: 'echo {PROMPT}', depends_on: [srcc/**]}"
    (project / "rubric-ci.yaml").write_text(f"targets: [{target}]\n")
    ran = rubric_ci("validate", *arguments, "rubric-ci.yaml", cwd=project)
    assert "depends-on-unmatched: no file matches `srcc/**`" in ran.stdout
    assert ran.returncode == code


def test_only_evals_knows_a_sidecar(project: Path) -> None:
    (project / "evals/b.jsonl").write_text('{"id": "a", "input": "Hi", "rubrics": ["Greets"]}\n')
    (project / "evals/b.yaml").write_text("descriptio: Greetings\n")
    ran = rubric_ci("validate", "--only-evals", "evals/b.yaml", cwd=project)
    assert "descriptio" in ran.stdout


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("lines.jsonl", '{"id": "a", "input": "Be {{ tone }}"}\n', ""),
        ("table.csv", "id,input\na,Be {{ tone }}\n", ""),
        ("list.yaml", "- {id: a, input: 'Be {{ tone }}'}\n", ""),
        ("list.json", '[{"id": "a", "input": "Be {{ tone }}"}]\n', ""),
        (
            "lines.jsonl",
            '{"id": "a", "input": "{{ tone }} {{ to }}"}\n',
            "evals/more/lines.jsonl:1:23: undefined-variable",
        ),
        ("table.csv", "id,input\na,{{ to }} {{ tone }}\n", "table.csv:2:3: undefined-variable"),
    ],
)
def test_a_file_of_cases_in_its_suite(name: str, text: str, problem: str, project: Path) -> None:
    suite = f"vars: {{tone: kind}}\nrubrics: [{{contains: Hi}}]\nevalcases: more/{name}\n"
    Checkout(project).write({"evals/suite.eval.yaml": suite, f"evals/more/{name}": text})
    ran = rubric_ci("validate", f"evals/more/{name}", cwd=project)
    assert (ran.returncode, problem in ran.stdout) == (1 if problem else 0, True)
    assert "1 file checked: " in ran.stdout


def test_standard_input(project: Path) -> None:
    ran = rubric_ci("validate", "-", cwd=project, stdin=BAD)
    assert ran.stdout == CARETS.format(file="<stdin>") + "\n1 file checked: 1 error\n"


def test_paths_from_the_environment_are_lines(project: Path) -> None:
    (project / "evals/with space.yaml").write_text(BAD)
    paths = "evals/good.yaml\nevals/with space.yaml\n"
    ran = rubric_ci("validate", cwd=project, environment={"RUBRIC_CI_VALIDATE_PATHS": paths})
    assert last_line(ran) == (1, "2 files checked: 1 error")


def test_an_unreadable_file_is_a_problem_among_others(project: Path) -> None:
    platforms.symlink(project / "evals/bad.eval.yaml", "/proc/self/mem")
    ran = rubric_ci("validate", "evals/bad.eval.yaml", "evals/good.yaml", cwd=project)
    assert ran.returncode == 1
    assert ran.stdout.startswith("evals/bad.eval.yaml:1:1: unreadable: cannot read")


def test_the_configuration_is_checked_and_switches_rules(project: Path) -> None:
    (project / "rubric-ci.yaml").write_text(
        "rules: {gate-kind: error, unknown-key: off, ungraded-cases: off}\ngates: 1\n"
    )
    (project / "evals/warned.yaml").write_text(WARNED)
    (project / "evals/bad.yaml").write_text(BAD + "    expected_outcome: x\n")
    ran = rubric_ci("validate", cwd=project)
    rules = [line.split(": ")[1] for line in ran.stdout.splitlines() if ".yaml:" in line]
    assert (ran.returncode, rules) == (1, ["gate-kind"])


def asking(*targets: str) -> dict[str, str]:
    """Return an eval file for each target."""
    return {f"evals/{name}.yaml": f"execution: {{target: {name}}}\n{GOOD}" for name in targets}


def test_targets_are_known_from_every_file(project: Path) -> None:
    files = {
        ".agentv/targets.yaml": "targets: [{name: old, provider: codex}]\n",
        "rubric-ci.yaml": "targets: [{name: new, model: openai/x}]\n",
    }
    Checkout(project).write(files | asking("old", "new", "nwe"))
    ran = rubric_ci("validate", cwd=project)
    assert ran.stdout.splitlines()[0] == (
        "evals/nwe.yaml:1:21: unknown-target: no target is called `nwe`; known: `new`, `old`"
    )
    assert ran.stdout.splitlines()[-1] == "6 files checked: 1 error and 1 warning"


def test_an_agent_is_reported_at_the_eval_that_names_it(project: Path) -> None:
    vscode = "{name: one, provider: vscode}, {name: two, provider: vscode}"
    files = {
        "targets.yaml": f"targets: [{vscode}]\n",
        "rubric-ci.yaml": "targets: [{name: two, model: openai/x}]\n",
    }
    Checkout(project).write(files | asking("one", "two"))
    ran = rubric_ci("validate", cwd=project)
    (found,) = [line for line in ran.stdout.splitlines() if ": agent-target: " in line]
    assert found == (
        "evals/one.yaml:1:21: warning: agent-target: `one` is a target that rubric-ci does "
        "not start; start it with `provider: cli`, or record its answers"
    )
    assert last_line(ran) == (0, "5 files checked: 2 warnings")


KNOWN = "`a`, `b`, `c`, `near`"


def test_judges_are_known_from_every_file(project: Path) -> None:
    row = "- {{name: {}, model: openai/m, judge_target: {}}}\n"
    own = f"evals: [evals/*.yaml]\ntargets:\n{row.format('a', 'near')}{row.format('b', 'nearer')}"
    theirs = f"targets:\n{row.format('near', 'a')}{row.format('c', 'd')}"
    files = {"rubric-ci.yaml": own, "evals/.agentv/targets.yaml": theirs}
    Checkout(project).write(files)
    ran = rubric_ci("validate", cwd=project)
    found = [line.split(": unknown-target: ") for line in ran.stdout.splitlines()]
    assert [each for each in found if len(each) == 2] == [
        ["rubric-ci.yaml:4:44", "no target is called `nearer`; did you mean `near`?"],
        ["evals/.agentv/targets.yaml:3:44", f"no target is called `d`; known: {KNOWN}"],
    ]
    assert ran.returncode == 1


def test_github(project: Path) -> None:
    (project / "evals/bad.yaml").write_text(BAD)
    ran = rubric_ci("validate", "--format", "github", cwd=project / "evals")
    assert ran.stdout == (
        "::error file=evals/bad.yaml,line=4,endLine=4,col=5,endColumn=10,title=unknown-key"
        "::unknown key `rubric` in the case%0Adid you mean `rubrics`?\n2 files checked: 1 error\n"
    )


def test_json(project: Path) -> None:
    (project / "evals/bad.yaml").write_text(BAD)
    ran = rubric_ci("validate", "--format", "json", cwd=project)
    assert json.loads(ran.stdout)["problems"] == [
        {
            "file": "evals/bad.yaml",
            "line": 4,
            "column": 5,
            "end_line": 4,
            "end_column": 11,
            "rule": "unknown-key",
            "severity": "error",
            "message": "unknown key `rubric` in the case",
            "hint": "did you mean `rubrics`?",
        }
    ]


def test_explain(project: Path) -> None:
    ran = rubric_ci("validate", "--explain", "weight-total", cwd=project)
    assert ran.returncode == 0
    assert ran.stdout.startswith("## weight-total\nerror, always on\n")


def test_explain_an_unknown_rule(project: Path) -> None:
    ran = rubric_ci("validate", "--explain", "weigth-total", cwd=project)
    assert ran.returncode == 2
    said = "rubric-ci: unknown rule `weigth-total`\n  did you mean `weight-total`?\n"
    assert ran.stderr == said


def test_many_files_in_two_processes(project: Path) -> None:
    for number in range(100):
        text = BAD if number % 10 == 3 else GOOD
        (project / f"evals/{number:03}.yaml").write_text(text)
    ran = rubric_ci("validate", "evals", cwd=project)
    found = [line.split(":")[0] for line in ran.stdout.splitlines() if "unknown-key" in line]
    assert found == [f"evals/{number:03}.yaml" for number in range(3, 100, 10)]
    assert ran.stdout.splitlines()[-1] == "101 files checked: 10 errors"


HEAVY = ("litellm", "openai", "httpx", "rich", "pydantic", "asyncio", "github", "requests")
CLASSES = ("jsonschema", *(f"rubric_ci.values.{noun}" for noun in ("evals", "report", "config")))


def test_what_is_not_loaded(project: Path) -> None:
    (project / "evals/good.yaml").write_text(GOOD)
    (project / "bad.yaml").write_text(BAD)
    script = (
        "import sys\nfrom rubric_ci.cli.main import main\n"
        "for words in ('evals', 'bad.yaml'):\n"
        "    try:\n        main(['validate', words])\n    except SystemExit:\n        pass\n"
        "    print(*sys.modules, file=sys.stderr)"
    )
    words = [sys.executable, "-c", script]
    ran = subprocess.run(words, cwd=project, capture_output=True, text=True, check=True)
    good, bad = (set(line.split()) for line in ran.stderr.splitlines())
    assert "unknown-key" in ran.stdout
    assert good & {*HEAVY, *CLASSES} == set()
    assert bad & {*HEAVY} == set()


def test_a_rule_that_is_off_is_not_fixed(project: Path) -> None:
    dated = GOOD.replace("id: a", "id: 2026-01-31")
    broken = GOOD.replace("id: a", "id: 5")
    Checkout(project).write({"evals/dated.yaml": dated, "evals/broken.yaml": broken})
    checked = rubric_ci("validate", cwd=project).stdout
    assert checked.endswith("\n3 files checked: 2 errors\n2 fixable with --fix\n")
    (project / "rubric-ci.yaml").write_text("rules: {ambiguous-text: off}\n")
    assert rubric_ci("validate", "--fix", cwd=project).returncode == 0
    assert (project / "evals/dated.yaml").read_text() == dated
    assert (project / "evals/broken.yaml").read_text() == broken.replace("5", '"5"')


def test_diff_shows_what_fix_does(project: Path) -> None:
    bare = GOOD.replace("id: a", "id: 5")
    (project / "evals/bare.yaml").write_text(bare)
    shown = rubric_ci("validate", "--diff", cwd=project)
    diff = (
        "--- a/evals/bare.yaml\n+++ b/evals/bare.yaml\n@@ -1,4 +1,4 @@\n evalcases:\n"
        '-  - id: 5\n+  - id: "5"\n     input: Say hello\n     rubrics: [Greets]\n'
    )
    assert (shown.returncode, shown.stdout) == (1, diff)
    assert (project / "evals/bare.yaml").read_text() == bare
    checked = rubric_ci("validate", cwd=project).stdout
    assert checked.endswith("\n2 files checked: 1 error\n1 fixable with --fix\n")
    fixed = rubric_ci("validate", "--fix", cwd=project)
    assert (fixed.returncode, fixed.stdout) == (0, "2 files checked: no problems\n")
    assert fixed.stderr == "rubric-ci: fixed 1 place in 1 file\n"
    assert (project / "evals/bare.yaml").read_text() == GOOD.replace("id: a", 'id: "5"')
    assert rubric_ci("validate", "--diff", cwd=project).returncode == 0


def test_fix_changes_the_sidecar_of_json_lines_alone(project: Path) -> None:
    (project / "evals/set.jsonl").write_text('{"id": 5, "input": "q"}\n')
    (project / "evals/set.yaml").write_text("rubrics: [no]\n")
    fixed = rubric_ci("validate", "--fix", "evals/set.jsonl", cwd=project)
    assert fixed.returncode == 1
    assert fixed.stderr == "rubric-ci: fixed 1 place in 1 file\n"
    assert (project / "evals/set.jsonl").read_text() == '{"id": 5, "input": "q"}\n'
    assert (project / "evals/set.yaml").read_text() == 'rubrics: ["no"]\n'


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
ASKED = "[{role: user, content: [{type: file, value: FILE}]}]"
SUITE = "evalcases: [{{id: a, input: Hi, {}}}]\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rubric-ci.yaml", "targets: [{name: default, model: openai/m, prompt: FILE}]\n"),
        ("a.eval.yaml", SUITE.format("rubrics: [{json_schema: FILE}]")),
        ("a.eval.yaml", SUITE.format("evaluators: [{name: j, type: llm_judge, prompt: FILE}]")),
        ("a.eval.yaml", f"evalcases:\n- {{id: a, rubrics: [Greets], input: {ASKED}}}\n"),
        ("a.eval.yaml", "rubrics: [Greets]\nevalcases: FILE\n"),
    ],
    ids=["prompt", "schema", "prompt of a judge", "message", "cases"],
)
@pytest.mark.parametrize("file", ["file.md", "file.csv", "file.jsonl"])
def test_a_pointer_of_git_lfs(name: str, text: str, file: str, checkout: Checkout) -> None:
    """Its text would be sent to a model, or be read as cases."""
    checkout.write({"a.eval.yaml": GOOD, file: POINTER, name: text.replace("FILE", f"./{file}")})
    done = rubric_ci("validate", cwd=checkout.root)
    assert done.returncode == 1
    said = f": git-lfs: `./{file}` is a pointer of Git LFS, not the file; run `git lfs pull`"
    (line,) = (each for each in done.stdout.splitlines() if "git-lfs" in each)
    assert said in line
