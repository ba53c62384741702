"""`rubric-ci validate` tells of scripts, folders and programs that this machine does not have."""

import re
from pathlib import Path

import pytest

from tests.checkout import Checkout
from tests.cli.commands.test_validate import GOOD, rubric_ci

EVALS = """\
evalcases:
  - id: a
    input: q
    evaluators:
      - {name: found, type: code_judge, script: sh ../judges/ok.sh}
      - {name: gone, type: code_judge, script: sh gone.sh, cwd: ../judges}
      - {name: nowhere, type: code_judge, script: sh ok.sh, cwd: /none}
      - {name: root, type: code_judge, script: [sh, ok.sh], cwd: /judges}
      - {name: bun, type: code_judge, script: [no-such-bun, run, x.ts]}
"""
FOUND = """\
evals/a.yaml:6:48: warning: script-missing: there is no script `gone.sh` in `../judges`; \
fix the path, or set `cwd` to the folder that it is relative to
evals/a.yaml:7:66: folder-missing: there is no folder `/none`; \
create the folder, or fix `cwd`: it is relative to the folder of this file
evals/a.yaml:9:47: warning: program-missing: `no-such-bun` is not on the PATH of this machine; \
install it where the evals run; `rules: {program-missing: off}` turns this warning off
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    Checkout.create(tmp_path)
    for folder in ("evals", "judges"):
        (tmp_path / folder).mkdir()
    (tmp_path / "judges/ok.sh").write_text("exit 0\n")
    (tmp_path / "evals/a.yaml").write_text(EVALS)
    return tmp_path


def found(project: Path, *arguments: str) -> list[str]:
    """Return the lines about what is missing; a missing folder is an error."""
    ran = rubric_ci("validate", *arguments, cwd=project)
    lines = [line for line in ran.stdout.splitlines() if "-missing: " in line]
    assert (ran.returncode, ran.stderr) == (any(": folder-missing: " in line for line in lines), "")
    return lines


def rules(project: Path, *arguments: str) -> list[str]:
    return [re.findall(r"[a-z]+-missing", line)[0] for line in found(project, *arguments)]


@pytest.mark.parametrize("arguments", [(), ("--only-evals", "evals/a.yaml")], ids=["all", "hook"])
def test_evaluators(arguments: tuple[str, ...], project: Path) -> None:
    assert found(project, *arguments) == FOUND.splitlines()


def test_rules_can_be_turned_off(project: Path) -> None:
    off = "rules: {script-missing: off, folder-missing: off, program-missing: off}\n"
    (project / "rubric-ci.yaml").write_text(off)
    assert found(project) == []


@pytest.mark.parametrize("name", ["x" * 5000, r"\0"], ids=["too-long", "nul"])
def test_names_that_no_file_can_have(name: str, project: Path) -> None:
    scripts = (f'{{name: a, type: code_judge, script: "sh {name}.sh"}}',
               f'{{name: b, type: code_judge, script: "{name}"}}',
               f'{{name: c, type: code_judge, script: "true", cwd: "{name}"}}')  # fmt: skip
    text = "".join(f"\n    - {script}" for script in scripts)
    cases = f"evalcases:\n- id: a\n  input: q\n  evaluators:{text}\n"
    (project / "evals/a.yaml").write_text(cases)
    assert rules(project) == ["script-missing", "program-missing", "folder-missing"]


@pytest.mark.parametrize(
    ("file", "targets", "expected"),
    [
        pytest.param("targets.yaml", "sh judges/ok.sh", [], id="found"),
        pytest.param("targets.yaml", "sh ok.sh", ["script-missing"], id="gone"),
        pytest.param("targets.yaml", "no-such-bun x", ["program-missing"], id="program"),
        pytest.param(".agentv/targets.yaml", "sh ok.sh", [], id="folder-of-each-eval-file"),
        pytest.param(".agentv/targets.yaml", "no-such-bun x", ["program-missing"], id="agentv"),
    ],
)
def test_targets(file: str, targets: str, expected: list[str], project: Path) -> None:
    (project / "evals/a.yaml").unlink()
    (project / "good.yaml").write_text(GOOD)
    (project / file).parent.mkdir(exist_ok=True)
    (project / file).write_text(
        f"targets: [{{name: default, provider: cli, command_template: {targets}}}]\n"
    )
    assert rules(project, file) == expected


def test_scripts_of_another_tool(project: Path) -> None:
    (project / "evals/a.yaml").write_text(
        "tests:\n"
        "  - id: a\n"
        "    input: q\n"
        "    assert:\n"
        "      - {type: script, command: [no-such-bun, run, ../judges/ok.sh]}\n"
    )
    (line,) = found(project)
    assert line.startswith("evals/a.yaml:5:9: warning: program-missing: `no-such-bun` is not on")
