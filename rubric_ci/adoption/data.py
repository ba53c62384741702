"""JSON of other tools, read key by key; what is missing or of another type raises with its path."""

import json
from collections.abc import Iterator
from typing import Any

from rubric_ci.model.dataclass import dataclass
from rubric_ci.parsing.typed_json import Mismatch


@dataclass(frozen=True, slots=True)
class Data:
    """A value and its path from the root."""

    value: Any
    path: str = ""

    def at(self, key: str) -> "Data":
        """Return the value of a key; None where there is no such key."""
        found = self.value.get(key) if isinstance(self.value, dict) else None
        return Data(found, f"{self.path}.{key}".lstrip("."))

    def get(self, key: str) -> Any:
        """Return the value of a key; None where there is none."""
        return self.at(key).value

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text; `default` where it is missing or null."""
        return str(self._typed(key, str, "a text", default))

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Return true or false."""
        return bool(self._typed(key, bool, "true or false", default))

    def number(self, key: str) -> float | None:
        """Return a number, None where it is missing or null."""
        found = self.at(key)
        if found.value is None:
            return None
        if isinstance(found.value, bool) or not isinstance(found.value, int | float):
            raise Mismatch(f"{found.path} must be a number")
        try:
            return float(found.value)
        except OverflowError:
            raise Mismatch(f"{found.path} is too large") from None

    def items(self, key: str, *, required: bool = False) -> Iterator["Data"]:
        """Yield the items of a list; none where it is missing or null."""
        found = self.at(key)
        if found.value is None and not required:
            return
        if not isinstance(found.value, list):
            raise Mismatch(f"{found.path} must be a list")
        for index, item in enumerate(found.value):
            yield Data(item, f"{found.path}.{index}")

    def entries(self, key: str) -> Iterator[tuple[str, "Data"]]:
        """Yield the entries of a mapping; none where it is missing or null."""
        found = self.at(key)
        if found.value is not None and not isinstance(found.value, dict):
            raise Mismatch(f"{found.path} must be a mapping")
        for name in found.value or {}:
            yield name, found.at(name)

    def _typed(self, key: str, kind: type, named: str, default: object) -> object:
        found = self.at(key)
        if found.value is None and default is not None:
            return default
        if not isinstance(found.value, kind):
            raise Mismatch(f"{found.path} must be {named}")
        return found.value


def json_data(text: str) -> Data:
    """Return the data of a JSON text; raises Mismatch."""
    try:
        return Data(json.loads(text))  # NaN is the score of a sample that Inspect did not score
    except (ValueError, RecursionError) as error:
        raise Mismatch(f"not JSON ({error})") from error
