"""Changes to the tests of another tool, by the results of both sides and by its files."""

import pytest

from rubric_ci.errors import CannotConfigure
from rubric_ci.gate.grading_changes.all_changes import check_is_known
from rubric_ci.gate.grading_changes.file_changes import ScriptFiles, tool_files
from rubric_ci.parts.bring.adopted_samples import ToolCase, results_changes
from rubric_ci.parts.bring.adopted_tools import check_tracked
from rubric_ci.values.config import Config
from rubric_ci.values.gate import FailOn, GateConfig
from rubric_ci.values.targets import RunnerTarget
from tests.cases import build_case

CASE = build_case()
GRADED = ToolCase(case=CASE, trials=3)
SKIPPED = ToolCase(case=CASE, trials=3, skipped="too slow")
ERRORED = ToolCase(case=CASE, trials=3, errored=True)
FEWER = ToolCase(case=CASE, trials=1)


@pytest.mark.parametrize(
    ("now", "then", "expected"),
    [
        (GRADED, GRADED, []),
        (None, GRADED, ["weaker case one: graded → "]),
        (SKIPPED, GRADED, ["weaker case one: graded → skipped: too slow"]),
        (FEWER, GRADED, ["weaker trials one: 3 → 1"]),
        (GRADED, FEWER, ["stronger trials one: 1 → 3"]),
        (GRADED, None, ["stronger case one:  → added"]),
        (ERRORED, GRADED, []),  # its graders are not known, and it has no verdict
        (GRADED, ERRORED, []),
        (None, SKIPPED, []),
    ],
)
def test_a_sample(now: ToolCase | None, then: ToolCase | None, expected: list[str]) -> None:
    head, base = ({CASE.key: each} if each else {} for each in (now, then))
    found = results_changes(head, base)
    assert [f"{c.direction} {c.kind} {c.about}: {c.before} → {c.after}" for c in found] == expected


FILES = {
    "shop/promptfooconfig.yaml": "prompts: [file://prompts/a.txt]\ntests: file://tests.yaml\n",
    "shop/tests.yaml": "- assert: [{type: python, value: file://check.py}]\n",
    "shop/check.py": "import strict\n",
    "shop/strict.py": "",
    "shop/prompts/a.txt": "",
    "shop/other.txt": "",
    "shop/suite/test_a.py": "",
}


@pytest.mark.parametrize(
    ("command", "depends_on", "expected"),
    [
        (
            "promptfoo eval -o {RESULTS}/r.json",
            ("shop/prompts/**",),
            ["promptfooconfig.yaml", "tests.yaml", "check.py", "strict.py"],
        ),
        (
            "promptfoo eval -o {RESULTS}/r.json",
            None,
            ["promptfooconfig.yaml", "tests.yaml", "check.py", "strict.py", "prompts/a.txt"],
        ),
        (
            "pytest suite --junitxml {RESULTS}/r.xml",
            ("shop/prompts/**",),
            ["promptfooconfig.yaml", "tests.yaml", "check.py", "strict.py", "suite/test_a.py"],
        ),
    ],
)
def test_files_that_a_tool_reads(
    command: str, depends_on: tuple[str, ...] | None, expected: list[str]
) -> None:
    target = RunnerTarget(
        name="t", command_template=command, reads="csv", cwd="shop", depends_on=depends_on
    )
    files = ScriptFiles(FILES, lambda path: FILES[path].encode())
    found = tool_files(target, ["shop/promptfooconfig.yaml"], files, frozenset(FILES))
    assert [change.about for change in found] == sorted(f"shop/{name}" for name in expected)


@pytest.mark.parametrize("fail_on", ["fail", "never"])
def test_a_gate_that_decides_about_changes_must_know_them(fail_on: FailOn) -> None:
    note = "It is not known what changed: run it."
    assert check_is_known(Config(), "what changed", "run it") == note
    assert check_is_known(Config(), "", "run it") == ""
    strict = Config(gate=GateConfig(on_changed_grading="fail", fail_on=fail_on))
    if fail_on == "never":
        assert check_is_known(strict, "what changed", "run it") == note
        return
    with pytest.raises(CannotConfigure, match=r"gate\.on_changed_grading: fail: it is not"):
        check_is_known(strict, "what changed", "run it")


def test_tracked_results() -> None:
    assert check_tracked(Config(), "csv", ()) == ""
    assert check_tracked(Config(), "csv", ("a.csv", "b.csv")) == (
        "It is not known whether csv gave these marks: a.csv, b.csv are tracked by git, and a "
        "change can write them: let csv write 2 files that git ignores, in the same job."
    )
