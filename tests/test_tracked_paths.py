"""Windows can check the repository out: git refuses a whole clone for one path that it cannot."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

import pytest

from tests.checkout import Checkout

ROOT: Final = Path(__file__).parents[1]
LENGTH: Final = 180  # of 260, with the folder of the checkout before it
REFUSED: Final = re.compile(r'[<>:"\\|?*\x00-\x1f\x7f]')
RESERVED: Final = {
    *("con", "prn", "aux", "nul", "conin$", "conout$"),
    *(f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"),
}


def problems(paths: Iterable[str]) -> Iterator[str]:
    """Yield each path that Windows cannot hold, with the reason."""
    spellings = defaultdict(set)
    for path in paths:
        yield from (f"{path!r}: {reason}" for reason in reasons(path))
        for part in (path, *map(str, PurePosixPath(path).parents)):
            spellings[unicodedata.normalize("NFC", part).casefold()].add(part)
    for twins in spellings.values():
        if len(twins) > 1:
            yield f"{sorted(twins)}: one name on Windows"


def reasons(path: str) -> Iterator[str]:
    if REFUSED.search(path):
        yield "a character that Windows refuses"
    if len(path) > LENGTH:
        yield f"{len(path)} characters, more than {LENGTH}"
    for part in path.split("/"):
        if part.partition(".")[0].rstrip(" ").casefold() in RESERVED:
            yield f"{part} is a device of Windows"
        if part.endswith((".", " ")):
            yield f"{part!r} ends with a dot or a space"


def test_every_tracked_path() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout of git")
    tracked = Checkout(ROOT).git("ls-files", "-z").split("\0")[:-1]
    assert len(tracked) > 1000
    assert list(problems(tracked)) == []


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["docs/a.md", "docs/.site/x.py", "auxiliary/com10.txt", "console.log"], []),
        (
            [r"C:\users\verdict.sarif"],
            [r"'C:\\users\\verdict.sarif': a character that Windows refuses"],
        ),
        (["what?.md"], ["'what?.md': a character that Windows refuses"]),
        (["a\tb"], [r"'a\tb': a character that Windows refuses"]),
        (["tests/AUX/x.py"], ["'tests/AUX/x.py': AUX is a device of Windows"]),
        (["nul.tar.gz"], ["'nul.tar.gz': nul.tar.gz is a device of Windows"]),
        (["lpt1 .txt"], ["'lpt1 .txt': lpt1 .txt is a device of Windows"]),
        (["a./b"], ["'a./b': 'a.' ends with a dot or a space"]),
        (["a "], ["'a ': 'a ' ends with a dot or a space"]),
        (["Docs/a.md", "docs/b.md"], ["['Docs', 'docs']: one name on Windows"]),
        (["a/B.md", "a/b.md"], ["['a/B.md', 'a/b.md']: one name on Windows"]),
        (["x" * 180], []),
        (["x" * 181], [f"'{'x' * 181}': 181 characters, more than 180"]),
    ],
    ids=str,
)
def test_a_path_that_windows_refuses(paths: list[str], expected: list[str]) -> None:
    assert list(problems(paths)) == expected
