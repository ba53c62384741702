"""Limits of size and nesting."""

from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st
from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent

from rubric_ci.files.yaml_text.document import most_levels, most_values

TOKENS = [*"[]{},:?-'\"a\n", "- ", ": ", "? ", "\n  ", "&x ", "*x", "!t ", "---\n", "|\n", "\u2028"]


@example("?\n?")
@example("[a:\n" * 9 + "]\n" * 9)
@given(st.lists(st.sampled_from(TOKENS), max_size=30).map("".join))
def test_signs_bound_the_values_and_levels_of_a_text(text: str) -> None:
    values = level = deepest = 0
    with suppress(YAMLError):
        parser = CParser(text)
        while parser.check_event():
            event = parser.get_event()
            values += isinstance(event, NodeEvent)
            level += isinstance(event, CollectionStartEvent)
            level -= isinstance(event, CollectionEndEvent)
            deepest = max(deepest, level)
    assert values <= most_values(text)
    assert deepest <= most_levels(text)
