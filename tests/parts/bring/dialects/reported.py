"""The problems of a translated file, each as one text."""

from rubric_ci.parts.bring.translation import NOT_SUPPORTED, Translation


def reported(found: Translation) -> list[str]:
    """Return the problems: the rule, the path in the file of the tool, and the message."""
    return [f"{rule.id} {'.'.join(map(str, path))}: {text}" for rule, path, text in found.problems]


def refused(found: Translation) -> list[str]:
    """Return the path and the message of each part without a counterpart."""
    problems = ((path, text) for rule, path, text in found.problems if rule is NOT_SUPPORTED)
    return [f"{'.'.join(map(str, path))} {text}" for path, text in problems]
