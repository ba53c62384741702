"""Syntax errors of YAML with readable messages and places."""

import re
from typing import Final

from yaml import Mark, MarkedYAMLError, YAMLError
from yaml._yaml import CParser
from yaml.tokens import ScalarToken

from rubric_ci.values.problems import CASE, GOOD_FILE, LocatedProblem, Rule

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")
BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_NAMES = {"\x85": "NEL (U+0085)", "\u2028": "LS (U+2028)", "\u2029": "PS (U+2029)"}
_ITEM = re.compile(r"\A( *+)- ")
_WORDS = (
    ("did not find expected key", "the mapping ends unexpectedly: expected a key"),
    (
        "did not find expected '-' indicator",
        "this line is neither an item of the list above nor part of one; check its indentation",
    ),
    ("mapping values are not allowed", "a `: ` inside a value; quote the value"),
    ("could not find expected ':'", "a key without `:`"),
    ("did not find expected ',' or ']'", "expected `,` or `]`"),
    ("did not find expected ',' or '}'", "expected `,` or `}`"),
    ("found unexpected end of stream", "unclosed quotation mark"),
    ("found undefined alias", "the alias names an anchor that does not exist"),
    ("block sequence entries are not allowed", "a list cannot begin here; put it on its own line"),
    ("did not find expected node content", "expected a value"),
    ("found duplicate anchor", "the anchor is defined twice"),
)


YAML_SYNTAX: Final = Rule(
    id="yaml-syntax",
    meaning="The text is not YAML, so nothing else can be checked.",
    bad=f"{CASE}    note: twice: the colon\n",
    good=f'{CASE}    note: "twice: the colon"\n    rubrics: [Greets]\n',
)
YAML_TAB: Final = Rule(
    id="yaml-tab",
    meaning="YAML does not allow tabs as indentation.",
    hint="indent with spaces",
    bad="evalcases:\n\t- id: greeting\n",
    good=GOOD_FILE,
)
YAML_CHARACTER: Final = Rule(
    id="yaml-character",
    meaning="YAML does not allow control characters. They usually come from copied text.",
    hint="remove it, or write it as an escape in double quotes",
    bad=f"{CASE}    note: \x07\n",
    good=f'{CASE}    note: "\\a"\n    rubrics: [Greets]\n',
)
YAML_LINE_BREAK: Final = Rule(
    id="yaml-line-break",
    severity="warning",
    switchable=True,
    meaning=(
        "YAML 1.1 counts NEL, LS and PS as line breaks and editors do not, so line numbers differ "
        "after this line. `rubric-ci generate` does not edit such a file."
    ),
    hint="use ordinary line breaks; editors do not count this one",
    bad=f"{CASE}    rubrics: [Greets]\n    note: one\u2028\n",
    good=GOOD_FILE,
)
YAML_DOCUMENTS: Final = Rule(
    id="yaml-documents",
    meaning="A file has one YAML document. YAML libraries handle a second one differently.",
    hint="keep one document per file",
    bad=f"{GOOD_FILE}---\n{GOOD_FILE}",
    good=GOOD_FILE,
)


def syntax_problem(error: YAMLError, text: str) -> LocatedProblem:
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return _unreadable(text)
    return _unclosed(error, error.problem_mark, text) or _located(error, error.problem_mark, text)


def _located(error: MarkedYAMLError, mark: Mark, text: str) -> LocatedProblem:
    problem = str(error.problem)
    lines = BREAK.split(text.rstrip())
    if mark.line >= len(lines) or (mark.line + 1 == len(lines) and mark.column > len(lines[-1])):
        words = "the file ends in the middle of a value"
        return _problem(YAML_SYNTAX, len(lines) - 1, len(lines[-1]), words)
    line, column = mark.line, mark.column
    if problem == "but found another document":
        return _problem(YAML_DOCUMENTS, line, column, "a second document begins here")
    if lines[line][column : column + 1] == "\t":
        return _problem(YAML_TAB, line, column, "a tab where YAML requires spaces")
    if _is_deep_item(problem, lines, line, column):
        return _deep_item(lines[line], line)
    if problem.startswith("mapping values are not allowed") and _continues_value(
        lines, line, column
    ):
        return _indented(lines[line], line, column)
    context = f"{error.context}: " if error.context else ""
    words = _words(problem, lines[line], column) or f"{context}{problem}"
    return _problem(YAML_SYNTAX, line, column, words)


def _unclosed(error: MarkedYAMLError, mark: Mark, text: str) -> LocatedProblem | None:
    """Return quoted text of several lines that ends directly before an error, or never."""
    is_open = error.context == "while scanning a quoted scalar"
    opened = error.context_mark if is_open else _opened_quotes(text, mark)
    if opened is None:
        return None
    end = "the end of the file" if is_open else f"line {mark.line + 1}"
    message = f"this quotation mark is not closed in its line: the text goes on to {end}"
    place = (opened.line + 1, opened.column + 1, opened.line + 1, opened.column + 2)
    return LocatedProblem(YAML_SYNTAX, *place, message, "close it, or remove it")


def _opened_quotes(text: str, error: Mark) -> Mark | None:
    parser, found = CParser(text), None
    try:
        while (token := parser.get_token()) and token.start_mark.index < error.index:
            start, end = token.start_mark, token.end_mark
            is_long = isinstance(token, ScalarToken) and not token.plain and start.line < end.line
            if is_long and not text[end.index : error.index].strip():
                found = start
    except YAMLError:
        return found
    return found


def _words(problem: str, own: str, column: int) -> str:
    if problem.startswith("found character that cannot start any token"):
        name = "a backquote" if own[column] == "`" else f"`{own[column]}`"
        return f"{name} cannot start a value; quote the value"
    if re.fullmatch(r"""\s*(?:- |[\w$-]+: +)+(?:"[^"]*"|'[^']*')\s*""", own[:column]):
        return "text after a closing quotation mark; quote the whole value"
    return next((words for start, words in _WORDS if problem.startswith(start)), "")


def _is_deep_item(problem: str, lines: list[str], line: int, column: int) -> bool:
    """Return True if the list item at an error starts deeper than the item above it."""
    own = _ITEM.match(lines[line])
    if own is None:
        return False
    if problem.startswith("did not find expected '-' indicator"):
        return column == len(own[1])
    above = next((_ITEM.match(each) for each in reversed(lines[:line]) if each.strip()), None)
    is_deeper = above is not None and len(above[1]) < len(own[1]) and ":" not in above.string
    return is_deeper and problem.startswith("mapping values are not allowed")


def _deep_item(own: str, line: int) -> LocatedProblem:
    start = len(own) - len(own.lstrip())
    message = "this list item is indented deeper than the item above, and is not part of it"
    hint = "start both in the same column"
    return LocatedProblem(YAML_SYNTAX, line + 1, start + 1, line + 1, len(own) + 1, message, hint)


def _continues_value(lines: list[str], line: int, column: int) -> bool:
    """Return True if a `key:` is indented deeper and so continues the value above."""
    own = lines[line]
    if not re.fullmatch(r"\s+(?:- )*[\w$-]+", own[:column]):
        return False
    above = next((other for other in reversed(lines[:line]) if other.strip()), "")
    return len(own) - len(own.lstrip()) > len(above) - len(above.lstrip(" -"))


def _indented(own: str, line: int, column: int) -> LocatedProblem:
    start = len(own) - len(own.lstrip())
    name = own[start:column]
    message = f"`{name}` is indented deeper than the line above, so it continues that value"
    hint = "start both in the same column, or quote the value"
    return LocatedProblem(YAML_SYNTAX, line + 1, start + 1, line + 1, column + 1, message, hint)


def split_lines(text: str) -> list[str]:
    """Return the lines as YAML counts them, without line breaks."""
    return text.split("\n") if text.isascii() and "\r" not in text else BREAK.split(text)


def line_break_problems(text: str) -> list[LocatedProblem]:
    """Return a problem for the first line break that YAML 1.1 counts and editors do not."""
    found = _ODD_BREAK.search(text)
    if found is None:
        return []
    line, column = _position(text, found.start())
    name = _NAMES[found[0]]
    return [_problem(YAML_LINE_BREAK, line, column, f"{name} counts as a line break in YAML")]


def _unreadable(text: str) -> LocatedProblem:
    found = _UNPRINTABLE.search(text)
    line, column = _position(text, found.start() if found else 0)
    name = f"U+{ord(found[0]):04X}" if found else "a character"
    return _problem(YAML_CHARACTER, line, column, f"{name} is not allowed in YAML")


def _position(text: str, index: int) -> tuple[int, int]:
    breaks = list(BREAK.finditer(text, 0, index))
    return len(breaks), index - (breaks[-1].end() if breaks else 0)


def _problem(rule: Rule, line: int, column: int, message: str) -> LocatedProblem:
    return LocatedProblem(rule, line + 1, column + 1, line + 1, column + 2, message)
