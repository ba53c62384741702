"""Sessions of pytest are forks of the tests as they are before the first one."""

from collections.abc import Iterator

import pytest
from tests.parts.pytest import forked


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop() -> Iterator[None]:
    """Make the process that is forked, once this folder is collected."""
    with forked.ready():
        return (yield)
