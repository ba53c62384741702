"""`rubric-ci compare` and `--baseline` as a user types them."""

import json
import subprocess
from pathlib import Path

import pytest

from rubric_ci.cli.commands.report_show_compare import compare_reports
from rubric_ci.errors import CannotConfigure
from rubric_ci.gate.report import json_format
from rubric_ci.values import parts
from rubric_ci.values.command_settings import CompareSettings
from rubric_ci.values.report import RunReport
from tests import platforms
from tests.checkout import AT_A_DESK, Checkout
from tests.contract.fake_github import GitHub, serving
from tests.invoke import invoke
from tests.sample_reports import a_report, errored, graded

PASSING = a_report(graded("a", "pass"), graded("b", "pass"))
REGRESSED = a_report(graded("a", "fail"), graded("b", "pass"))
LOST = a_report(errored("a"), graded("b", "pass"))
SLIGHTLY = a_report(graded("a", "pass", score=0.93), graded("b", "pass"))

CONFIG = "targets: [{name: default, provider: mock, response: %s}]\n"
EVALS = """\
evalcases:
  - id: greets
    input: Say hello
    evaluators: [{name: s, type: code_judge, script: 'grep -qi hello {answer_file}'}]
"""


def rubric_ci(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return invoke(folder, AT_A_DESK | environment, *arguments)


def on_github(folder: Path, github: GitHub, *arguments: str) -> subprocess.CompletedProcess[str]:
    return rubric_ci(
        folder,
        *arguments,
        GITHUB_REPOSITORY="acme/app",
        GITHUB_EVENT_NAME="schedule",
        GITHUB_API_URL=github.url,
        GITHUB_SERVER_URL="https://github.example",
        GITHUB_RUN_ID="7",
        GITHUB_TOKEN="actions",
    )


def written(folder: Path, name: str, report: RunReport) -> str:
    (folder / name).write_text(json_format.render(report), encoding="utf-8")
    return name


@pytest.mark.parametrize(
    ("head", "code", "last"),
    [
        (PASSING, 0, "Nothing broke"),
        (REGRESSED, 1, "1 case broke: a"),
        (LOST, 3, "Nothing broke"),
        (SLIGHTLY, 0, "Nothing broke"),
    ],
    ids=["unchanged", "broken", "no verdict", "another score"],
)
def test_exit_code(tmp_path: Path, head: RunReport, code: int, last: str) -> None:
    reports = [written(tmp_path, "base.json", PASSING), written(tmp_path, "head.json", head)]
    done = rubric_ci(tmp_path, "compare", *reports)
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (code, last, "")


def test_formats(tmp_path: Path) -> None:
    reports = [written(tmp_path, "base.json", PASSING), written(tmp_path, "head.json", REGRESSED)]
    shown = json.loads(rubric_ci(tmp_path, "compare", *reports, "--format", "json").stdout)
    assert sorted(case["change"] for case in shown["cases"]) == ["broken", "unchanged"]


def test_a_folder_of_reports_is_pooled(tmp_path: Path) -> None:
    for night in ("1", "2"):
        (tmp_path / "nights" / night).mkdir(parents=True)
        written(tmp_path, f"nights/{night}/report.json", PASSING)
    done = rubric_ci(tmp_path, "compare", "nights", written(tmp_path, "head.json", REGRESSED))
    assert done.returncode == 1
    assert "a broke. Passed 2 of 2 before, 0 of 1 now\n" in done.stdout
    (tmp_path / "empty").mkdir()
    done = rubric_ci(tmp_path, "compare", "empty", "head.json")
    assert done.returncode == 2
    assert done.stderr == (
        "rubric-ci: empty: no report.json found\n  create the reports with `rubric-ci run`\n"
    )


def test_a_file_that_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text("{}", encoding="utf-8")
    head = written(tmp_path, "head.json", PASSING)
    done = rubric_ci(tmp_path, "compare", "base.json", head)
    assert done.returncode == 2
    assert done.stderr.startswith("rubric-ci: base.json: not a report: no `version` number\n")
    assert rubric_ci(tmp_path, "compare", "none.json", head).returncode == 2


def test_an_issue_that_cannot_be_written_changes_no_exit_code(tmp_path: Path) -> None:
    reports = [written(tmp_path, "base.json", PASSING), written(tmp_path, "head.json", REGRESSED)]
    done = rubric_ci(tmp_path, "compare", *reports, "--issue", "Evals are worse")
    said = "no issue: not a workflow run, so the repository is unknown\n"
    assert (done.returncode, done.stderr) == (1, said)


def write(folder: Path, config: str, evals: str = EVALS) -> Checkout:
    checkout = Checkout.create(folder)
    checkout.write({"rubric-ci.yaml": config, "a.eval.yaml": evals})
    return checkout


def test_a_run_with_a_baseline(tmp_path: Path) -> None:
    write(tmp_path, CONFIG % "Hello")
    run = ("run", "--baseline", "kept.json")
    first = rubric_ci(tmp_path, *run)
    assert first.returncode == 0
    assert "No comparison: the baseline kept.json does not exist." in first.stdout
    (tmp_path / ".rubric-ci/report.json").rename(tmp_path / "kept.json")
    (tmp_path / "rubric-ci.yaml").write_text(CONFIG % "Bye")
    second = rubric_ci(tmp_path, *run)
    assert second.returncode == 1
    assert "Passed 1 of 1 before, 0 of 10 now" in second.stdout
    summary = (tmp_path / ".rubric-ci/summary.md").read_text()
    assert "Passed 1 of 1 before, 0 of 10 now" in summary
    report = json_format.read((tmp_path / ".rubric-ci/report.json").read_text())
    assert [case.change for case in report.cases] == ["broken"]


SETTINGS = """\
targets: [{{name: default, provider: cli, command_template: "{command}"}}]
"""


@pytest.mark.parametrize(
    ("command", "code", "shown"),
    [
        pytest.param("echo hello", 0, [], id="unchanged"),
        pytest.param(
            "[ {ATTEMPT} = 0 ] && echo bye || echo hello",
            0,
            ["Failed once, passed when asked again: greets 2 of 3"],
            marks=platforms.SHELL,
            id="a-suspect-is-cleared",
        ),
        pytest.param(
            "echo bye", 1, ["greets broke. Always: passed before, fails now"], id="confirmed"
        ),
    ],
)
def test_suspects_asked_again(tmp_path: Path, command: str, code: int, shown: list[str]) -> None:
    write(tmp_path, SETTINGS.format(command="echo hello"))
    assert rubric_ci(tmp_path, "run", "--trials", "5").returncode == 0
    (tmp_path / ".rubric-ci/report.json").rename(tmp_path / "kept.json")
    (tmp_path / "rubric-ci.yaml").write_text(SETTINGS.format(command=command))
    rubric_ci(tmp_path, "run", "--baseline", "kept.json", "--fail-on", "never")
    done = rubric_ci(tmp_path, "compare", "kept.json", ".rubric-ci/report.json")
    assert done.returncode == code
    assert [
        line for line in done.stdout.splitlines() if line.startswith(("Failed", "greets broke"))
    ] == shown


def test_an_invalid_baseline_stops_a_run_before_any_request(tmp_path: Path) -> None:
    write(tmp_path, CONFIG % "Hello", EVALS.replace("grep", "touch asked; grep"))
    (tmp_path / "kept.json").write_text("{}")
    done = rubric_ci(tmp_path, "run", "--baseline", "kept.json")
    assert done.returncode == 2
    assert done.stderr.startswith("rubric-ci: kept.json: not a report: no `version` number\n")
    assert not (tmp_path / "asked").exists()


def test_one_issue_is_open_while_it_is_worse(tmp_path: Path) -> None:
    base = written(tmp_path, "base.json", PASSING)
    heads = [
        written(tmp_path, f"{number}.json", head)
        for number, head in enumerate((PASSING, REGRESSED, LOST, REGRESSED, PASSING))
    ]
    with serving(GitHub()) as github:
        done = [
            on_github(tmp_path, github, "compare", base, head, "--issue", "Evals are worse")
            for head in heads
        ]
        (issue,) = github.issues.values()
    url = "https://github.example/acme/app/issues/1"
    assert [each.returncode for each in done] == [0, 1, 3, 1, 0]
    assert [each.stderr for each in done] == [
        "issue not needed\n",
        f"issue #1 opened: {url}\n",
        "issue left as it is: some case has no verdict\n",
        f"issue #1 unchanged: {url}\n",
        f"issue #1 closed: {url}\n",
    ]
    title = "Evals are worse: 1 case fails; 1 case broke: a"
    assert (issue.title, issue.state) == (title, "closed")
    assert "the gate passes; nothing broke" in issue.body


TWO_CASES = f"""\
{EVALS.rstrip()}
  - id: fails
    input: Say bye
    evaluators: [{{name: s, type: code_judge, script: 'grep -q never {{answer_file}}'}}]
"""


@pytest.mark.parametrize(
    ("answer", "code"),
    [pytest.param("Hello", 0, id="unchanged"), pytest.param("Bye", 1, id="broken")],
)
def test_the_gate_of_a_run_fails_where_compare_does(tmp_path: Path, answer: str, code: int) -> None:
    """A case that fails as before is no regression, whatever the run is compared with."""
    write(tmp_path, CONFIG % "Hello", TWO_CASES)
    assert rubric_ci(tmp_path, "run").returncode == 1
    (tmp_path / ".rubric-ci/report.json").rename(tmp_path / "base.json")
    (tmp_path / "rubric-ci.yaml").write_text(CONFIG % answer)
    done = rubric_ci(tmp_path, "run", "--baseline", "base.json", "--fail-on", "regression")
    compared = rubric_ci(tmp_path, "compare", "base.json", ".rubric-ci/report.json")
    assert (done.returncode, compared.returncode) == (code, code)


def test_a_report_names_the_commit_of_its_checkout(tmp_path: Path) -> None:
    checkout = Checkout.create(tmp_path)
    commit = checkout.commit({"rubric-ci.yaml": CONFIG % "hello", "a.eval.yaml": EVALS})

    def graded_commit() -> str:
        ran = rubric_ci(tmp_path, "run", "a.eval.yaml")
        assert ran.returncode == 0, ran.stderr
        report = json.loads((tmp_path / ".rubric-ci/report.json").read_text())
        return str(report["metadata"].get("head_sha", ""))

    assert graded_commit() == commit
    checkout.write({"rubric-ci.yaml": CONFIG % "'hello there'"})
    assert graded_commit() == f"{commit}-dirty"
    (tmp_path / ".git").rename(tmp_path / "no-git")
    assert graded_commit() == ""


def test_an_issue_needs_the_part_that_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS", ())
    settings = CompareSettings(baseline=Path("then.json"), head=Path("now.json"), issue="Nights")
    with pytest.raises(CannotConfigure, match="the part `lab` was removed"):
        compare_reports(settings)
