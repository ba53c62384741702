"""Anchors made of what identifies a case or a criterion, so that links outlive edits."""

import hashlib
from typing import Final

_LENGTH: Final = 12  # hex digits


def case_anchor(file: str, case: str) -> str:
    """Return the anchor of a case, which other pages link to."""
    return f"case-{_digest(file, case)}"


def criterion_anchor(file: str, case: str, evaluator: str, criterion: str) -> str:
    """Return the anchor of a criterion of a case; it begins with the anchor of the case."""
    return f"{case_anchor(file, case)}-{_digest(evaluator, criterion)}"


def shared_criterion_anchor(criterion: str, text: str) -> str:
    """Return the anchor of a criterion over all cases that have it."""
    return f"criterion-{_digest(criterion, text)}"


def _digest(*names: str) -> str:
    name = "\n".join(names).encode("utf-8", "surrogatepass")
    return hashlib.sha256(name).hexdigest()[:_LENGTH]
