"""The single JSON object of a reply, or why there is none.

NOTE: the problems are sent to the model, so their texts are part of the keys of recordings.
"""

import json
from dataclasses import dataclass

from rubric_ci.model.json_value import JSON


@dataclass(frozen=True, slots=True)
class InvalidReply:
    """The problems of a reply, precise enough for the model to fix them."""

    problems: tuple[str, ...]

    def __str__(self) -> str:
        """Return the problems in one line."""
        return "; ".join(self.problems)


def find_object(text: str) -> dict[str, JSON] | InvalidReply:
    """Return the JSON object that the text holds.

    Text or a code fence around it is accepted if there is no second object.
    """
    if not text.strip():
        return _invalid("the reply is empty")
    try:
        return _find(text.strip())
    except _NotOneObject as refusal:
        return _invalid(str(refusal))
    except RecursionError:
        return _invalid("the JSON is nested too deeply")
    except ValueError as error:
        return _invalid(f"the reply is not valid JSON: {error}")


class _NotOneObject(Exception):
    pass


def _find(text: str) -> dict[str, JSON]:
    start = text.find("{")
    if text.startswith("[") or text[:start].rstrip().endswith(("[", ",")):
        raise _NotOneObject("the reply is a list; one JSON object is wanted")
    if start < 0:
        raise _NotOneObject("the reply holds no JSON object")
    value, end = _DECODER.raw_decode(text, start)
    if "{" in text[end:]:
        raise _NotOneObject("the reply holds more than one JSON object; expected exactly one")
    return dict(value)


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value: dict[str, JSON] = {}
    for key, item in pairs:
        if key in value:
            raise _NotOneObject(f"the key {json.dumps(key)} stands twice in one object")
        value[key] = item
    return value


def _constant(name: str) -> JSON:
    raise _NotOneObject(f"{name} is not JSON")


def _invalid(problem: str) -> InvalidReply:
    return InvalidReply((problem,))


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
