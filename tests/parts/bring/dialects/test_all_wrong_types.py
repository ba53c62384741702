"""A file of another tool with each wrong value at each place: `test_wrong_types.py` tries a few."""

from collections.abc import Callable
from typing import Any

import pytest

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.translation import Translation
from tests.files.changed import changed
from tests.parts.bring.dialects.test_wrong_types import DIALECTS, JUNK, breaks, paths

pytestmark = pytest.mark.deep


@pytest.mark.parametrize(("text", "matches", "translate"), DIALECTS)
def test_each_value(
    text: str, matches: Callable[[Any], bool], translate: Callable[[Any], Translation]
) -> None:
    data = Document("", text).data
    for path in paths(data):
        for value in (*JUNK, ...):
            assert not breaks(changed(data, path, value), matches, translate), path
