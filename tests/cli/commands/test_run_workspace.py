"""A workspace of a suite or a case: what works in it, and what scripts see of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.http_server import QuietHandler, Server, serving
from tests.sample_project import Project

pytestmark = platforms.SHELL

LOOK = """\
import json, os, pathlib, sys
given = json.load(sys.stdin)
work = pathlib.Path(given["workspace_path"])
assert os.environ["AGENTV_WORKSPACE_PATH"] == str(work)
names = sorted(path.relative_to(work).as_posix() for path in work.rglob("*") if path.is_file())
changes = given["file_changes"] or ""
print(json.dumps({"score": 1, "reasoning": ", ".join(names), "hits": [changes]}))
"""
SCRIPT = '{name: look, type: code_judge, script: "python3 look.py", cwd: /}'
WORKS = "echo 3 >> a.txt; rm b.txt; mkdir new; printf x > new/c.txt; echo done"
SUITE = f"""\
workspace: {{copy: ../shop, setup: echo ready > made.txt}}
evalcases:
  - id: one
    input: Change the files
    rubrics: [{{exists: new/*}}, {{unchanged: made.txt}}]
    execution: {{evaluators: [{SCRIPT}]}}
"""
DIFF = """\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1 +1,2 @@
 1
+3
diff --git a/b.txt b/b.txt
deleted file mode 100644
--- a/b.txt
+++ /dev/null
@@ -1 +0,0 @@
-2
diff --git a/new/c.txt b/new/c.txt
new file mode 100644
--- /dev/null
+++ b/new/c.txt
@@ -0,0 +1 @@
+x"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write("look.py", LOOK)
    made.write("shop/a.txt", "1\n")
    made.write("shop/b.txt", "2\n")
    (tmp_path / "evals/a.eval.yaml").unlink()
    return made


def command(project: Project, line: str, **settings: Any) -> None:
    target = {"name": "default", "provider": "cli", "command_template": line, **settings}
    project.write("rubric-ci.yaml", json.dumps({"targets": [target]}))


def looked(project: Project) -> list[tuple[str, str]]:
    """Return the files that each script saw, and the changes."""
    cases = project.report()["cases"]
    found = (each for case in cases for each in case["evaluators"] if each["name"] == "look")
    return [(each["reasoning"], each["hits"][0]) for each in found]


def test_a_command_works_in_the_workspace_of_the_suite(project: Project) -> None:
    command(project, WORKS, cwd=".")
    project.write("evals/a.yaml", SUITE)
    done = project.run()
    assert done.returncode == 0, done.stderr
    assert looked(project) == [("a.txt, made.txt, new/c.txt", DIFF)]
    case = project.case
    assert [each["path"] for each in case["file_changes"]] == ["a.txt", "b.txt", "new/c.txt"]
    assert (project.root / "shop/b.txt").read_text() == "2\n"


def test_the_folder_stays_until_the_run_ends_and_no_longer(project: Project) -> None:
    command(project, "pwd > place.txt; pwd")
    project.write("evals/a.yaml", SUITE.replace("new/*", "place.txt"))
    project.run()
    case = project.case
    assert looked(project)[0][0] == "a.txt, b.txt, made.txt, place.txt"
    assert not Path(case["answer"]).exists()


def test_an_answer_is_not_reused_where_a_script_looks_at_the_folder(project: Project) -> None:
    command(project, "echo done", depends_on=["shop/**"])
    project.write("evals/a.yaml", SUITE.replace("new/*", "a.txt"))
    project.run("--reuse", "answers")
    done = project.run("--reuse", "answers")
    assert done.returncode == 0, done.stderr
    assert looked(project)[0][0] == "a.txt, b.txt, made.txt"
    assert not project.case["answer_reused"]
    (note,) = project.report()["notes"]
    assert note == (
        "1 case is answered each time, also with --reuse answers: a script looks into the "
        "`workspace`, or its `hooks` or the `ref` of a repository may change it"
    )


def test_a_case_has_a_workspace_of_its_own(project: Project) -> None:
    command(project, "echo done", workspace={"copy": "nowhere"})
    made = "[sh, ../tools/make.sh, ./out.txt]"
    project.write("tools/make.sh", 'echo made > "$1"; test "$PWD" = "$RUBRIC_CI_WORKSPACE"')
    case = f"- {{id: one, input: Hi, workspace: {{copy: ../out, setup: {made}}}, "
    suite = (
        f"workspace: {{copy: ../shop}}\nevalcases:\n{case}execution: {{evaluators: [{SCRIPT}]}}}}"
    )
    project.write("evals/a.yaml", suite)
    done = project.run()
    assert done.returncode == 0, done.stderr
    assert looked(project) == [("out.txt", "")]


def test_a_set_up_that_reads_files_of_the_repository_runs_each_time(project: Project) -> None:
    command(project, "cat made.txt", cwd=".")
    project.write("tools/make.sh", '. "${0%/*}/word.sh"; echo $word > made.txt')
    setup = "setup: [sh, ../tools/make.sh]"
    project.write("evals/a.yaml", SUITE.replace("setup: echo ready > made.txt", setup))
    for word in ("one", "two"):
        project.write("tools/word.sh", f"word={word}")
        project.run()
        assert project.case["answer"] == word


def test_the_set_up_of_an_eval_file_gets_no_variable_of_the_target(project: Project) -> None:
    command(project, "echo ${SECRET_WORD:-none}", env=["SECRET_WORD"])
    setup = "setup: 'echo ${SECRET_WORD:-none} > made.txt'"
    project.write("look.py", LOOK.replace('", ".join(names)', '(work / "made.txt").read_text()'))
    project.write("evals/a.yaml", SUITE.replace("setup: echo ready > made.txt", setup))
    project.run(SECRET_WORD="of-the-target")
    assert looked(project)[0][0] == "none\n"
    assert project.case["answer"] == "of-the-target"


def test_recorded_answers_have_no_folder(project: Project) -> None:
    target = "targets: [{name: default, provider: recorded, answers: answers.jsonl}]"
    project.write("rubric-ci.yaml", target)
    project.write("answers.jsonl", '{"id": "one", "answer": "Hello"}\n')
    project.write("evals/a.yaml", SUITE.replace("rubrics", "x-rubrics"))
    assert project.run().returncode == 3
    case = project.case
    assert case["reason"].endswith(
        "the case has a `workspace`, and the answer was not given in one: scripts look at what a "
        "command, an agent or a model leaves there, not at recorded or fixed answers"
    )


class _Says(QuietHandler):
    def do_POST(self) -> None:
        self.body()
        self.respond(200, b'{"text": "Hello"}')


@pytest.fixture
def service() -> Iterator[Server]:
    with serving(_Says) as server:
        yield server


def test_a_model_leaves_the_workspace_as_it_is(project: Project, service: Server) -> None:
    target = {"name": "default", "provider": "http", "url": service.url, "answer": "text"}
    project.write("rubric-ci.yaml", json.dumps({"targets": [target]}))
    project.write("evals/a.yaml", SUITE.replace("new/*", "made.txt"))
    done = project.run()
    assert done.returncode == 0, done.stderr
    assert looked(project) == [("a.txt, b.txt, made.txt", "")]


HOOK = """\
import json, pathlib, sys
given = json.load(sys.stdin)
work = pathlib.Path(given["workspace_path"])
told = {key: given[key] for key in ("test_id", "case_input", "case_metadata")}
(work / "run.txt").open("a").write(given["eval_run_id"] + "\\n")
with (work / f"{sys.argv[1]}.txt").open("a") as file:
    file.write(f"{json.dumps(told)} {sys.argv[2]} {sys.argv[3] == str(work)}\\n")
"""
HOOKED = f"""\
workspace:
  copy: ../shop
  hooks:
    x-why: a note of the reader
    before_all: {{command: [python3, hook.py, all, "{{EVAL_ID}}", "{{WORKSPACE}}"]}}
    before_each:
      command: [python3, ../evals/hook.py, each, "{{EVAL_ID}}", "{{WORKSPACE}}"]
      cwd: ../shop
    after_each: {{command: [sh, -c, 'rm "$0"/a.txt; exit 3', "{{WORKSPACE}}"]}}
evalcases:
  - id: one
    input: Look
    metadata: {{n: 1}}
    rubrics: [{{unchanged: all.txt}}, {{unchanged: each.txt}}, {{exists: a.txt, not: true}}]
    execution: {{evaluators: [{SCRIPT}]}}
"""


def told(identifier: str, asked: Any, metadata: Any) -> str:
    return json.dumps({"test_id": identifier, "case_input": asked, "case_metadata": metadata})


def test_commands_run_around_the_work(project: Project) -> None:
    command(project, "cat all.txt each.txt a.txt; sort -u run.txt | wc -l", cwd=".")
    project.write("evals/hook.py", HOOK)
    project.write("evals/a.yaml", HOOKED)
    done = project.run("--trials", "2")
    assert done.returncode == 0, done.stderr
    case = project.case
    assert case["answer"].splitlines() == [
        f"{told('__before_all__', None, None)} __before_all__ True",
        f"{told('one', 'Look', {'n': 1})} one True",
        "1",
        "1",
    ]
    assert looked(project) == [("all.txt, b.txt, each.txt, run.txt", "")]
    failed = "`after_each` of the workspace failed: exit status 3, no output"
    assert case["trace"]["notes"] == [failed]
    assert project.report()["notes"] == [f"one: {failed}"]


FAILS = "echo no SHOP_URL; exit 1"


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (f"setup: {FAILS}", "the `setup` of an eval file gets no variables"),
        (f"hooks: {{before_all: {{command: [sh, -c, {FAILS}]}}}}", "a hook gets no variables"),
    ],
    ids=["set-up", "hook"],
)
def test_a_preparation_that_lacks_a_variable(key: str, why: str, project: Project) -> None:
    command(project, "echo done", env=["SHOP_URL"], cwd=".")
    project.write("evals/a.yaml", SUITE.replace("setup: echo ready > made.txt", key))
    project.run(SHOP_URL="x")
    reason = f"exit status 1 (`SHOP_URL` is set here, but {why}): no SHOP_URL"
    assert project.case["reason"].endswith(reason)


NO_COPY = (
    "the workspace cannot be copied: `pipe` is a named pipe; remove it in the command that makes it"
)


@pytest.mark.parametrize(
    ("moment", "program", "reason"),
    [
        ("before_all", "[sh, -c, 'echo no disk >&2; exit 2']", "exit status 2: no disk"),
        ("before_each", "[no-such-program]", "`no-such-program` cannot be started: "),
        ("before_each", "[sleep, '9'], timeout_seconds: 0.2", "`sleep 9` did not end within 0.2 s"),
        ("before_each", "['true'], cwd: nowhere", "`true` cannot run in "),
        (
            "before_each",
            "[sh, -c, 'EVAL_ID=a;echo ${EVAL_ID} $0;exit 1', '{EVAL_ID}']",
            "exit status 1: a one-{WORKSPACE}",
        ),
        ("before_all", "[mkfifo, '{WORKSPACE}/pipe']", NO_COPY),
        ("before_each", "[mkfifo, '{WORKSPACE}/pipe']", NO_COPY),
    ],
)
def test_without_its_preparation_a_case_has_no_answer(
    moment: str, program: str, reason: str, project: Project
) -> None:
    hook = f"{moment}: {{command: {program}}}"
    command(project, "echo done", cwd=".")
    setup = "setup: echo ready > made.txt"
    suite = SUITE.replace(setup, f"hooks: {{{hook}}}").replace("id: one", 'id: "one-{WORKSPACE}"')
    project.write("evals/a.yaml", suite)
    assert project.run().returncode == 3
    case = project.case
    failed = "" if reason == NO_COPY else f"`{moment}` of the workspace failed: "
    assert case["reason"].startswith(failed + reason)
