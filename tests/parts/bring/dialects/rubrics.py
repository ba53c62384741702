"""A rubric of another tool as `import` writes it: the data, its problems, and the proof."""

from types import ModuleType
from typing import Any

import yaml

from rubric_ci.files.validation.validator import check_rubric
from rubric_ci.parts.bring.commands.import_traces import as_yaml
from rubric_ci.values.references import NotFound


def imported(module: ModuleType, text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the rubric file of a file, and what it lacks; the file itself has no problem."""
    data = yaml.safe_load(text)
    assert module.matches(data)
    found = module.translate_rubric(data, "grader")
    problems, _ = check_rubric("a.rubric.yaml", as_yaml(found.data), lambda _: NotFound("gone"))
    assert [each for each in problems if each.severity.value == "error"] == []
    return found.data, [
        f"{'.'.join(map(str, path))}: {message}" for _, path, message in found.problems
    ]
