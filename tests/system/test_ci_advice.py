"""Where a missing variable is set: in the file of the workflow, and with which command."""

from pathlib import Path

import pytest

from rubric_ci.system.actions_runner import how_to_set

CALLED = """\
jobs:
  gate:
    uses: rubric-ci/rubric-ci/.github/workflows/gate.yml@v1
    secrets:
      env: |
        OPENAI_API_KEY=${{ secrets.OPENAI_API_KEY }}
"""
STEP = """\
jobs:
  gate:
    steps:
      - uses: rubric-ci/rubric-ci@v1
"""


@pytest.mark.parametrize(
    ("workflow", "name", "expected"),
    [
        pytest.param(
            CALLED,
            "SHOP_TOKEN",
            "run `gh secret set SHOP_TOKEN`, and add `SHOP_TOKEN=${{ secrets.SHOP_TOKEN }}` "
            "to `secrets: env:` in .github/workflows/evals.yml",
            id="a secret of a workflow that is called",
        ),
        pytest.param(
            CALLED,
            "SHOP_BASE",
            "run `gh variable set SHOP_BASE`, and add `SHOP_BASE=${{ vars.SHOP_BASE }}` "
            "to `secrets: env:` in .github/workflows/evals.yml",
            id="an address",
        ),
        pytest.param(
            CALLED,
            "OPENAI_API_KEY",
            "run `gh secret set OPENAI_API_KEY`: `OPENAI_API_KEY=${{ secrets.OPENAI_API_KEY }}` "
            "in `secrets: env:` of .github/workflows/evals.yml has no value",
            id="a secret that is passed on",
        ),
        pytest.param(
            STEP,
            "SHOP_TOKEN",
            "run `gh secret set SHOP_TOKEN`, and add `SHOP_TOKEN: ${{ secrets.SHOP_TOKEN }}` "
            "to `env:` of the step in .github/workflows/evals.yml",
            id="a secret of a step",
        ),
    ],
)
def test_in_a_workflow(workflow: str, name: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / ".github/workflows/evals.yml"
    file.parent.mkdir(parents=True)
    file.write_text(workflow)
    environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(tmp_path),
        "GITHUB_WORKFLOW_REF": "ada/shop/.github/workflows/evals.yml@refs/heads/main",
    }
    assert how_to_set(name, environment) == expected


def test_the_file_is_not_known() -> None:
    assert how_to_set("KEY", {"GITHUB_ACTIONS": "true"}) == (
        "run `gh secret set KEY`, and add `KEY: ${{ secrets.KEY }}` to `env:` of the step in "
        "the workflow"
    )


def test_in_another_ci() -> None:
    assert how_to_set("KEY", {"CI": "true"}) == "set KEY among the variables of the CI job"


def test_at_a_desk() -> None:
    assert how_to_set("KEY", {}) == ""
