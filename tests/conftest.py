"""Fixtures that tests of several folders share."""

from pathlib import Path

import pytest

from tests.checkout import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """An empty git repository on the branch `main`."""
    return Checkout.create(tmp_path / "checkout")
