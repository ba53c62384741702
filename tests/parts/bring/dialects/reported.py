"""The problems of a translated file, each as one text."""

from rubric_ci.files.yaml_text.translation import Translation


def reported(found: Translation) -> list[str]:
    """Return the problems: the rule, the path in the file of the tool, and the message."""
    return [f"{rule.id} {'.'.join(map(str, path))}: {text}" for rule, path, text in found.problems]
