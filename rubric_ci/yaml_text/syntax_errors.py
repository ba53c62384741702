"""What can be wrong with a YAML text before there is any data: said in plain words, located."""

import re

from yaml import MarkedYAMLError, YAMLError

from rubric_ci.yaml_text.problems import Fault

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")
BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_NAMES = {"\x85": "NEL (U+0085)", "\u2028": "LS (U+2028)", "\u2029": "PS (U+2029)"}
_WORDS = (
    ("did not find expected key", "the mapping breaks off here: a key is expected"),
    ("did not find expected '-' indicator", "the list breaks off here: `- ` is expected"),
    ("mapping values are not allowed", "a `: ` inside a value; quote the value"),
    ("could not find expected ':'", "a key without `:`"),
    ("did not find expected ',' or ']'", "`,` or `]` is expected"),
    ("did not find expected ',' or '}'", "`,` or `}` is expected"),
    ("found unexpected end of stream", "a quotation mark is never closed"),
    ("found undefined alias", "the alias names an anchor that does not exist"),
    ("block sequence entries are not allowed", "a list cannot begin here; put it on its own line"),
    ("did not find expected node content", "a value is expected here"),
    ("found duplicate anchor", "the anchor is defined twice"),
)


def syntax_fault(error: YAMLError, text: str) -> Fault:
    """Say what the parser found, and where."""
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return _unreadable(text)
    mark, problem = error.problem_mark, str(error.problem)
    lines = BREAK.split(text.rstrip())
    if mark.line >= len(lines) or (mark.line + 1 == len(lines) and mark.column > len(lines[-1])):
        words = "the file ends in the middle of a value"
        return _fault("yaml-syntax", len(lines) - 1, len(lines[-1]), words)
    line, column = mark.line, mark.column
    if problem == "but found another document":
        return _fault("yaml-documents", line, column, "a second document begins here")
    if lines[line][column : column + 1] == "\t":
        return _fault("yaml-tab", line, column, "a tab where YAML wants spaces")
    if problem.startswith("mapping values are not allowed") and _goes_on(lines, line, column):
        return _indented(lines[line], line, column)
    context = f"{error.context}: " if error.context else ""
    words = next((words for start, words in _WORDS if problem.startswith(start)), "")
    return _fault("yaml-syntax", line, column, words or f"{context}{problem}")


def _goes_on(lines: list[str], line: int, column: int) -> bool:
    """Tell whether a `key:` goes on with the value of a line above, being indented deeper."""
    own = lines[line]
    if not re.fullmatch(r"\s+(?:- )*[\w$-]+", own[:column]):
        return False
    above = next((other for other in reversed(lines[:line]) if other.strip()), "")
    return len(own) - len(own.lstrip()) > len(above) - len(above.lstrip(" -"))


def _indented(own: str, line: int, column: int) -> Fault:
    start = len(own) - len(own.lstrip())
    name = own[start:column]
    message = f"`{name}` is indented deeper than the line above, and so goes on with its value"
    hint = "let both begin in the same column, or quote the value"
    return Fault("yaml-syntax", line + 1, start + 1, line + 1, column + 1, message, hint)


def split_lines(text: str) -> list[str]:
    """Return the lines as YAML counts them, without their breaks."""
    return BREAK.split(text)


def line_break_faults(text: str) -> list[Fault]:
    """Report the breaks that YAML 1.1 counts as lines and editors do not."""
    found = _ODD_BREAK.search(text)
    if found is None:
        return []
    line, column = _position(text, found.start())
    name = _NAMES[found[0]]
    return [_fault("yaml-line-break", line, column, f"{name} counts as a line break in YAML")]


def _unreadable(text: str) -> Fault:
    found = _UNPRINTABLE.search(text)
    line, column = _position(text, found.start() if found else 0)
    name = f"U+{ord(found[0]):04X}" if found else "a character"
    return _fault("yaml-character", line, column, f"{name} may not stand in YAML")


def _position(text: str, index: int) -> tuple[int, int]:
    breaks = list(BREAK.finditer(text, 0, index))
    return len(breaks), index - (breaks[-1].end() if breaks else 0)


def _fault(rule: str, line: int, column: int, message: str) -> Fault:
    return Fault(rule, line + 1, column + 1, line + 1, column + 2, message)
