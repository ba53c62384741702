"""How large a text may be: so that no file takes more memory than a runner has to spare."""

from typing import Final

from rubric_ci.source.problem import Fault

MOST_TEXT: Final = 16_000_000  # code points
MOST_VALUES: Final = 300_000  # half a kilobyte each


def too_large(text: str) -> Fault | None:
    """Refuse a text by its length, or by the signs that part its values."""
    if len(text) <= MOST_VALUES:
        return None
    if len(text) > MOST_TEXT:
        return _fault(f"more than {MOST_TEXT // 1_000_000} million characters")
    if sum(map(text.count, ",:\n")) > MOST_VALUES:
        return _fault(f"more than {MOST_VALUES:,} values")
    return None


def _fault(what: str) -> Fault:
    return Fault("file-size", 1, 1, 1, 2, f"the file has {what}")
