"""Quote values that YAML rejects without quotes around all of them, where one text is meant.

`- @handle is named` and `- "Quoted" and more` are that text. A value with `: `, ` #`, a second pair
of quotation marks or an escape could mean something else, and is kept.
"""

import re
from json import dumps
from typing import Final

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.tokens import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    ScalarToken,
)

from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.syntax_errors import BREAK, YAML_SYNTAX, split_lines

MAX_VALUES: Final = 20  # each parses the text again
_BLOCK: Final = r"\A(\s*+(?:- ++|[\w$-]++: ++)++)"
_UNSTARTABLE: Final = re.compile(rf"{_BLOCK}([@`%].*)")
_AFTER_QUOTES: Final = re.compile(rf"""{_BLOCK}("[^"\\]*" [^"]*|'[^']*' [^']*)""")
_SEVERAL_MEANINGS: Final = re.compile(r":(?:\s|$)|\s#")
_OPENS: Final = FlowMappingStartToken, FlowSequenceStartToken
_CLOSES: Final = FlowMappingEndToken, FlowSequenceEndToken


def quote_values(document: Document) -> tuple[Document, int]:
    """Return the document with quoted values, and how many; unchanged if one problem remains."""
    values: dict[int, str] = {}  # by their start in code points
    after = document
    while not after.readable and len(values) < MAX_VALUES:
        found = _value_at_error(after)
        if found is None or found[0] in values:
            return document, 0
        start, value = found
        text = after.text
        values[start] = value
        after = Document("", text[:start] + quote(value) + text[start + len(value) :])
    proven = after.readable and values.items() <= _scalars(after.text).items()
    return (after, len(values)) if proven and values else (document, 0)


def _value_at_error(document: Document) -> tuple[int, str] | None:
    """Return start and text of the value at the syntax error; None if it has several meanings."""
    if not document.text_problems or document.text_problems[0][1].rule != YAML_SYNTAX:
        return None
    line = document.text_problems[0][1].line
    start = [0, *(found.end() for found in BREAK.finditer(document.text))][line - 1]
    own = split_lines(document.text[start:])[0].rstrip()
    found = _UNSTARTABLE.fullmatch(own) or _AFTER_QUOTES.fullmatch(own)
    if found is None or _SEVERAL_MEANINGS.search(found[2]):
        return None
    place = start + found.start(2)
    return (place, found[2]) if _is_in_block(document.text, place) else None


def quote(text: str) -> str:
    """Return a text of one line in the quotation marks that need the fewest escapes."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f"'{text}'" if "'" not in text else dumps(text, ensure_ascii=False)


def _is_in_block(text: str, place: int) -> bool:
    """Return True if a place is outside of `[ ]` and `{ }`, where a comma would end the value."""
    depth, parser = 0, CParser(text)
    try:
        while (token := parser.get_token()) and token.start_mark.index < place:
            depth += isinstance(token, _OPENS)
            depth -= isinstance(token, _CLOSES)
    except YAMLError:
        return depth == 0
    return depth == 0


def _scalars(text: str) -> dict[int, str]:
    parser, found = CParser(text), {}
    while token := parser.get_token():
        if isinstance(token, ScalarToken):
            found[token.start_mark.index] = token.value
    return found
