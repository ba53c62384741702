"""What an include changes: the weights and gates of criteria, and what the judge is shown."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

More: TypeAlias = Mapping[str, list[Any]]
"""What a request shows because of a rubric file: `sees`, `guidelines`, `examples`.

Guidelines are pairs of a text and its file, which `union` makes a mapping.
"""


def scaled(criterion: dict[str, Any], include: dict[str, Any]) -> dict[str, Any]:
    """Return a criterion with the factor of its include, and without a gate if that says so."""
    found, factor = dict(criterion), include.get("weight", 1)
    if factor != 1 and isinstance(factor, int | float):
        key = "penalty" if "penalty" in found else "weight"
        found[key] = found.get(key, 1.0) * factor
        if not found[key] and (key == "penalty" or criterion.get("weight", 0) < 0):
            found |= {"penalty": 0}
            found.pop("weight", None)
    if include.get("required") is False:
        for gate in ("required_min_score", "required_min_level", "required_choices"):
            found.pop(gate, None)
        if not {"score_ranges", "levels", "choices"} & found.keys() or "required" in found:
            found["required"] = False
    return found


def together(shown: Iterable[More | None]) -> dict[str, list[Any]]:
    """Return the texts that included files add to a request, each file once."""
    every = {id(each): each for each in shown if each}.values()
    return {
        key: [part for more in every for part in more.get(key, ())]
        for key in ("sees", "guidelines", "examples")
        if any(key in more for more in every)
    }


def union(owner: Mapping[str, Any], more: More) -> dict[str, Any]:
    """Return the keys of an owner and of the files that it includes."""
    found = dict[str, Any]()
    if "sees" in more:
        found["sees"] = [*dict.fromkeys([*owner.get("sees", ["answer"]), *more["sees"]])]
    if "guidelines" in more:
        own = owner.get("guidelines", {})
        own = own if isinstance(own, dict) else {own: ""}
        found["guidelines"] = {**dict.fromkeys(own), **dict(more["guidelines"]), **own}
    if "examples" in more:
        found["examples"] = [*owner.get("examples", ()), *more["examples"]]
    return found
