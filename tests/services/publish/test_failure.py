"""A run that cannot start reaches the pull request: annotation, summary and comment."""

import json
from pathlib import Path

import pytest

from tests.checkout import Checkout
from tests.contract.fake_github import GitHub
from tests.sample_project import CONFIG, EVAL, RUBRIC, Project

STALE = "A verdict that was shown here before is out of date."
NO_KEY = f'{CONFIG}judge: {{model: openai/a, api_key: "${{{{ OPENAI_API_KEY }}}}"}}\n'


def test_a_missing_secret_replaces_the_former_verdict(
    project: Project, environment: dict[str, str], github: GitHub
) -> None:
    assert project.run(**environment).returncode == 0
    project.write("rubric-ci.yaml", NO_KEY)
    project.write("evals/a.eval.yaml", RUBRIC)
    done = project.run(**environment)
    assert done.returncode == 2
    posted, annotation = done.stdout.splitlines()
    assert posted == "comment on pull request #7 of o/r updated"
    assert annotation.startswith("::error title=rubric-ci::")
    assert "OPENAI_API_KEY" in annotation
    [comment] = github.pulls[7].comments
    assert "## ⚠️ rubric-ci · Gate undecided: the run could not start" in comment.body
    assert STALE in comment.body
    assert "OPENAI" in comment.body
    outputs = Path(environment["GITHUB_OUTPUT"]).read_text().partition("failure<<")[2].splitlines()
    assert outputs[1].startswith("judge `openai/a`: the environment variable OPENAI_API_KEY is")
    assert "Gate undecided" in Path(environment["GITHUB_STEP_SUMMARY"]).read_text()


def test_a_bad_eval_file_is_an_annotation_at_its_line(
    project: Project, environment: dict[str, str], github: GitHub
) -> None:
    project.write("evals/b.eval.yaml", RUBRIC.replace("rubrics", "rubric"))
    done = project.run(**environment)
    assert done.returncode == 2
    place = "file=evals/b.eval.yaml,line=4,endLine=4,col=5,endColumn=10"
    assert f"::error {place},title=unknown-key::" in done.stdout
    [comment] = github.pulls[7].comments
    assert "was not graded because it has problems" in comment.body.replace("\\", "")


BROKEN = f"{CONFIG}gate: {{fail_on: fial}}\n"
WHY = "`fail_on` must be one of `fail`, `borderline`, `regression`, `never`, not the text `fial`"


def test_a_broken_configuration_is_shown_with_its_place(
    project: Project, environment: dict[str, str], github: GitHub
) -> None:
    """As an annotation, in the summary, the output and the comment; the first has no warning."""
    project.write("rubric-ci.yaml", BROKEN)
    done = [project.run(**environment), project.run(**environment)]
    place = "file=rubric-ci.yaml,line=4,endLine=4,col=17,endColumn=20,title=unknown-value"
    for each, posted in zip(done, ("created", "unchanged"), strict=True):
        assert each.returncode == 2
        assert each.stdout.splitlines() == [
            f"comment on pull request #7 of o/r {posted}",
            f"::error {place}::{WHY}%0Adid you mean `fail`?",
        ]
    [comment] = github.pulls[7].comments
    shown = comment.body.replace("\\", "")
    assert shown.partition("\n")[2] == (
        "## ⚠️ rubric-ci · Gate undecided: the run could not start\n\n"
        "rubric-ci.yaml has problems\n\n"
        f"- `rubric-ci.yaml:4:17`: {WHY} (did you mean `fail`?)\n\n"
        "fix them and run again (no case was graded)"
    )
    assert comment.body.partition("\n")[2] in Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert json.loads((project.root / ".rubric-ci/failure.json").read_text()) == {
        "failure": f"rubric-ci.yaml has problems: rubric-ci.yaml:4:17: {WHY} (did you mean "
        "`fail`?) (fix them and run again (no case was graded))",
        "suite": "",
    }


@pytest.mark.parametrize(
    ("given", "folder", "suite"),
    [
        ({}, ".rubric-ci", ""),
        ({"RUBRIC_CI_RUN_CONFIG": "bot/rubric-ci.yaml"}, ".rubric-ci", "bot"),
        ({"RUBRIC_CI_RUN_PATHS": "evals\nmore\n"}, ".rubric-ci", "evals more"),
        ({"RUBRIC_CI_COMMENT_KEY": "web", "RUBRIC_CI_RUN_OUTPUT_DIR": "out"}, "out", "web"),
    ],
)
def test_a_wrong_option_stands_in_place_of_the_report(
    given: dict[str, str],
    folder: str,
    suite: str,
    project: Project,
    environment: dict[str, str],
    github: GitHub,
) -> None:
    known = environment | given
    done = project.run(**known, RUBRIC_CI_COMMAND="run", RUBRIC_CI_RUN_FAIL_ON="error")
    assert done.returncode == 2
    found = json.loads((project.root / folder / "failure.json").read_text())
    assert found["failure"].startswith("Invalid value for RUBRIC_CI_RUN_FAIL_ON: 'error' is not")
    assert found["suite"] == suite
    [body] = github.bodies(7)
    assert f"<!-- rubric-ci: {suite or 'default'} -->" in body
    assert "Invalid value for RUBRIC\\_CI\\_RUN\\_FAIL\\_ON" in body


def test_one_comment_a_suite(project: Project, environment: dict[str, str], github: GitHub) -> None:
    """The green suite, which ends last, does not replace the comment of the red one."""
    for name, answer in (("bot", "Go away"), ("web", "Hello")):
        folder = f"packages/{name}"
        project.write(f"{folder}/rubric-ci.yaml", CONFIG)
        project.write(f"{folder}/evals/a.eval.yaml", EVAL)
        project.write(f"{folder}/answers.jsonl", json.dumps({"id": "greeting", "answer": answer}))
    for _ in range(2):
        for name in ("bot", "web"):
            project.run("--config", f"packages/{name}/rubric-ci.yaml", **environment)
    project.write("packages/web/rubric-ci.yaml", BROKEN)
    project.run("--config", "packages/web/rubric-ci.yaml", **environment)
    bot, web = ("\n".join(body.splitlines()[:2]) for body in github.bodies(7))
    assert bot == (
        "<!-- rubric-ci: packages/bot -->\n"
        "## ❌ packages/bot · Gate fails: 1 of 1 case fails (fail\\_on: fail)"
    )
    assert web == (
        "<!-- rubric-ci: packages/web -->\n"
        "## ⚠️ rubric-ci · packages/web · Gate undecided: the run could not start"
    )
    assert STALE in github.bodies(7)[1]
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert "## ✅ packages/web · Gate passes" in summary


def test_who_fixes_a_configuration_that_is_broken_in_the_base(
    project: Project, environment: dict[str, str], github: GitHub
) -> None:
    project.write("rubric-ci.yaml", BROKEN)
    checkout = Checkout(project.root)
    base = checkout.commit()
    project.write("README.md", "more")
    head = checkout.commit()
    github.pulls[7].head_sha = head
    payload = {"number": 7, "head": {"sha": head, "repo": {"full_name": "o/r"}}}
    event = {"pull_request": payload | {"base": {"sha": base}}}
    project.write("../event.json", json.dumps(event))
    done = project.run(**environment, GITHUB_SHA=head)
    assert done.stderr.splitlines()[-1] == (
        f"  it is the same in the pull request's base branch ({base[:10]}): fix it there, then "
        "update this branch"
    )


def test_the_code_of_a_pull_request_gets_no_secrets(
    project: Project, environment: dict[str, str], github: GitHub
) -> None:
    done = project.run(**environment | {"GITHUB_EVENT_NAME": "pull_request_target"})
    assert done.returncode == 2
    assert done.stderr == (
        "rubric-ci: `pull_request_target` gives the pull request's own scripts the secrets of this "
        "repository\n  use `on: pull_request`, or grade with `untrusted` what `authorize` allows "
        "(examples/workflows/evals-strangers.yml)\n"
    )


def test_outside_of_a_workflow_the_error_is_on_standard_error_only(project: Project) -> None:
    project.write("rubric-ci.yaml", NO_KEY)
    project.write("evals/a.eval.yaml", RUBRIC)
    done = project.run()
    assert (done.returncode, done.stdout) == (2, "")


def test_without_annotations_errors_are_not_annotated(
    project: Project, environment: dict[str, str], github: GitHub
) -> None:
    project.write("evals/b.eval.yaml", RUBRIC.replace("rubrics", "rubric"))
    invalid = project.run(RUBRIC_CI_ANNOTATIONS="false", **environment)
    project.write("rubric-ci.yaml", NO_KEY)
    project.write("evals/a.eval.yaml", RUBRIC)
    broken = project.run(RUBRIC_CI_ANNOTATIONS="false", **environment)
    assert (invalid.returncode, broken.returncode) == (2, 2)
    assert "::error" not in invalid.stdout + broken.stdout
    assert "OPENAI_API_KEY" in broken.stderr
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert "Gate undecided: the run could not start" in summary
