"""Keys that users write, each declared at the field that has its value.

`cases: Annotated[int, Key(20, minimum=0)] = 50` is a field with a key; the docstring below it is
the meaning. The schema, the reference page and the reader come from this. A field without a `Key`
is in no file; one with an empty `Key` is written, and another class says what it means.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final, get_args

from rubric_ci.values.json_value import JSON


class Key:
    """How a field is written; `limits` are those of JSON Schema that its type does not say."""

    __slots__ = ("aliases", "examples", "limits", "name", "title")

    def __init__(
        self,
        *examples: JSON,
        name: str = "",
        title: str = "",
        aliases: Mapping[str, str] = MappingProxyType({}),
        **limits: JSON,
    ) -> None:
        self.examples = examples
        self.name = name  # in the file; empty: the name of the field
        self.title = title  # empty: the words of the name
        self.aliases = aliases  # "older" or "other" spellings; "": of another tool, not of ours
        self.limits = limits

    @classmethod
    def of(cls, definition: str) -> "Key":
        """Return a key that the schema describes, in a definition for several objects."""
        limits: dict[str, JSON] = {"$ref": f"#/$defs/{definition}"}
        return cls(**limits)


ENVIRONMENT: Final = Key.of("environment")
URL: Final = r"^(https?://|\$\{\{)"


def declared(cls: type[Any]) -> Iterator[tuple[str, Any, Key]]:
    """Yield the name of each field that has a key, its type and its key."""
    for each in fields(cls):
        kind, *about = get_args(each.type) or (None,)
        if key := next((one for one in about if isinstance(one, Key)), None):
            yield each.name, kind, key
