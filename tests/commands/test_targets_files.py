"""Which targets file serves which eval file, in every command."""

import pytest

from tests.checkout import Checkout
from tests.commands.test_changed_since import report, run

CASE = """\
evalcases:
  - id: {name}
    input: Say it
    evaluators: [{{name: s, type: code_judge, script: 'grep -qx {name} {{answer_file}}'}}]
"""


def targets(answer: str, *names: str) -> str:
    lines = "".join(
        f"  - {{name: {name}, provider: mock, response: {answer}}}\n"
        for name in names or ("default",)
    )
    return f"targets:\n{lines}"


def answers(checkout: Checkout) -> dict[str, str]:
    return {case["id"]: case["answer"] for case in report(checkout)["cases"]}


PRECEDENCE = {
    "of two folders, each its own": (
        {"a/.agentv/targets.yaml": "a", "b/.agentv/targets.yaml": "b"},
        {"a": "a", "b": "b"},
    ),
    "the nearest": (
        {"targets.yaml": "root", "a/targets.yaml": "a", ".agentv/targets.yaml": "hidden"},
        {"a": "a", "b": "root"},
    ),
    "the configuration comes first": (
        {"rubric-ci.yaml": "config", "a/targets.yaml": "a"},
        {"a": "config", "b": "config"},
    ),
    "in one folder, the plain file comes first": (
        {"a/targets.yaml": "plain", "a/.agentv/targets.yaml": "hidden", "targets.yml": "root"},
        {"a": "plain", "b": "root"},
    ),
}


@pytest.mark.parametrize(("files", "expected"), PRECEDENCE.values(), ids=PRECEDENCE.keys())
def test_run_takes_the_nearest_targets_file(
    checkout: Checkout, files: dict[str, str], expected: dict[str, str]
) -> None:
    checkout.write({path: targets(answer) for path, answer in files.items()})
    checkout.write({f"{name}/one.yaml": CASE.format(name=name) for name in "ab"})
    run(checkout, "a", "b")
    assert answers(checkout) == expected
