"""The verdicts of one case over all runs as the shapes of a strip."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from rubric_ci.history.record import LETTERS
from rubric_ci.history.trends import ABSENT

_CLASSES = {**LETTERS, ABSENT: "absent"}


def paths(verdicts: str) -> tuple[tuple[str, str], ...]:
    """Return class and shape of each verdict; the most frequent one is drawn once, below all."""
    ground = Counter(verdicts).most_common(1)[0][0]
    others = sorted(set(verdicts) - {ground})
    shapes = ((_CLASSES[one], _path(verdicts, one)) for one in others)
    return ((_CLASSES[ground], f"M0 .5h{len(verdicts)}"), *shapes)


def _path(verdicts: str, letter: str) -> str:
    """Return the runs of a letter as horizontal lines, with relative moves: they are shorter."""
    return "M0 .5" + "".join(_segments(verdicts, letter))


def _segments(verdicts: str, letter: str) -> Iterator[str]:
    gap = 0
    for found, group in groupby(verdicts):
        length = sum(1 for _ in group)
        if found == letter:
            yield f"m{gap} 0h{length}"
            gap = 0
        else:
            gap += length
