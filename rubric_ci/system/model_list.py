"""Prices, limits, abilities and ends of models, from the packaged list.

`make golden` writes the list from litellm's, whose import takes seconds; a test keeps it current.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from rubric_ci.system.installation import read_model_list
from rubric_ci.values.json_value import JSON

if TYPE_CHECKING:
    from rubric_ci.values.model_end_and_parameters import Models


def known_models() -> "Models":
    """Return the list, read today."""
    from rubric_ci.values.model_end_and_parameters import Models  # few checks ask for it

    return Models(info=model_info, today=datetime.now(UTC).date(), providers=known_providers())


@cache
def known_providers() -> frozenset[str]:
    """Return the names that the names of models can start with."""
    return frozenset(_entry("providers")["names"])


@cache
def model_info(model: str) -> Mapping[str, JSON]:
    """Return the entry of a model, named with or without its provider; {} for an unknown one."""
    return _entry(model) or _entry(model.partition("/")[2])


def _entry(name: str) -> Mapping[str, JSON]:
    """Return an entry; the file has one a line, so the other three thousand are not parsed."""
    text, start = _model_list_text(), f'\n"{name}": '
    at = text.find(start)
    if at < 0:
        return {}
    import json  # `validate` reads most configurations without an entry

    end = text.index("\n", at + 1)
    entry: Mapping[str, JSON] = json.loads(text[at + len(start) : end].rstrip(","))
    return entry


@cache
def _model_list_text() -> str:
    return read_model_list()
