"""Records with each wrong value at each place: `test_wrong_types.py` tries one at each."""

from collections.abc import Callable

import pytest

from tests.files.changed import changed
from tests.parts.bring import trace_records as records
from tests.parts.bring.test_traces_of_wrong_types import SAMPLES, WRONG, imported, places, read

pytestmark = pytest.mark.deep


@pytest.mark.parametrize(
    ("form", "text"), SAMPLES, ids=lambda value: getattr(value, "__name__", value)
)
def test_no_value_is_an_exception(form: str, text: Callable[[], str]) -> None:
    values = read(text())
    for path in places(values):
        for wrong in WRONG:
            if isinstance(mutated := changed(values, path, wrong), list):
                imported(form, records.lines(*mutated))
    assert imported(form, text())[0]["id"] == "trace-4bf92f35"
