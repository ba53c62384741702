"""The files of a patch."""

import pytest

from rubric_ci.evaluators.assertions.call_patterns import patched_files
from rubric_ci.values.json_value import JSON

PATCH = """*** Begin Patch
*** Add File: src/new file.py
+*** Add File: in a text
*** Update File: ./a.py
*** Move to: b\\a.py
@@
-x
*** Delete File: c.py
*** Update File: c.py
*** End Patch
"""
NAMED = [("src/new file.py",), ("./a.py", "a.py"), ("b\\a.py", "b/a.py"), ("c.py",)]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (PATCH, NAMED),
        ({"patchText": PATCH}, NAMED),
        ({"input": PATCH.replace("\n", "\r\n"), "explanation": "x"}, NAMED),
        ({"changes": [{"path": "a", "kind": "add"}, {"path": "b"}]}, [("a",), ("b",)]),
        ({"changes": {"a": {"update": {"move_path": "b"}}}}, [("a",)]),
        ({"changes": {"a": {"type": "update", "move_path": "b"}}}, [("a",), ("b",)]),
        ({"changes": ["a"]}, [("a",)]),
        ({"changes": 1}, []),
        ({"changes": [{"path": 1}, 2]}, []),
        ("no patch", []),
        (None, []),
        ([PATCH], []),
    ],
)
def test_patched_files(arguments: JSON, expected: list[tuple[str, ...]]) -> None:
    assert patched_files(arguments) == expected
