"""Write the models of `formats_and_defaults.py` where one is shown: `python -m tests.model_names`.

Change a name there, then run `make golden`: every tracked text that shows the name of the last
commit gets the new one, and the recordings are made again.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rubric_ci.values import formats_and_defaults

ROOT = Path(__file__).parents[1]
OWNER: Final = "rubric_ci/values/formats_and_defaults.py"
NOT_SHOWN: Final = (  # what happened, what is locked, and the lists of models
    *("CHANGELOG.md", "requirements/", "rubric_ci/system/models.json", "tests/npm/"),
    *("tests/system/", OWNER),
)
CURRENT: Final = {
    name: value
    for name, value in vars(formats_and_defaults).items()
    if name.startswith("MODEL_") and isinstance(value, str)
}
_CONSTANT = re.compile(r'^(MODEL_\w+): Final = "([^"]+)"', re.MULTILINE)


def main() -> None:
    """Replace the names of the last commit."""
    before = dict(_CONSTANT.findall(_git("show", f"HEAD:{OWNER}")))
    changed = {
        _bare(before[name]): _bare(value)
        for name, value in CURRENT.items()
        if before.get(name, value) != value
    }
    for path, text in texts():
        if (written := replaced(text, changed)) != text:
            path.write_text(written, encoding="utf-8", newline="")


def texts() -> Iterator[tuple[Path, str]]:
    """Yield the tracked files that show models, with their texts."""
    for name in _git("ls-files").splitlines():
        path = ROOT / name
        if name.startswith(NOT_SHOWN) or not path.is_file():
            continue
        try:
            yield path, path.read_bytes().decode()
        except UnicodeDecodeError:
            continue


def replaced(text: str, names: dict[str, str]) -> str:
    """Return a text with new names, each replaced as a whole."""
    for old, new in names.items():
        text = re.sub(rf"(?<![\w.-]){re.escape(old)}(?![\w-]|\.\d)", new, text)
    return text


def _bare(name: str) -> str:
    return name.partition("/")[2]


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    main()
