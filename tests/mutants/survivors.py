"""Reads `survivors.txt`: mutants that no test can notice, each with the reason."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).with_name("survivors.txt")


def read_survivors(path: Path = LIST) -> Mapping[str, Mapping[str, str]]:
    """Return the reason of each mutant, by module and key.

    A line that ends with a colon names a module. A mutant is a line of two spaces and its key,
    followed by the reason in a line of four.
    """
    found: dict[str, dict[str, str]] = defaultdict(dict)
    module = key = ""
    for line in path.read_text("utf-8").splitlines():
        match len(line) - len(line.lstrip()):
            case 0 if line and not line.startswith("#"):
                module = line.rstrip(":")
            case 2:
                key = line.strip()
                found[module][key] = ""
            case 4:
                found[module][key] = f"{found[module][key]} {line.strip()}".strip()
    return found
