"""Templates of messages and prompts: Jinja2's sandbox with variables, conditions and loops.

Calls are refused, a loop is not in a loop, and the text that comes out is bounded: an eval file of
a pull request must not occupy the machine. An undefined variable is an error. `{#` is text.
"""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import LoopContext
from jinja2.sandbox import SandboxedEnvironment

from rubric_ci.values.json_value import JSON

MOST_TEXT: Final = 1_000_000  # characters of a template, and of the text that it makes
_ALLOWED: Final = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr),
    *(nodes.Getitem, nodes.Filter, nodes.If, nodes.CondExpr, nodes.Compare, nodes.Operand),
    *(nodes.And, nodes.Or, nodes.Not, nodes.For),
)


_PLAIN: Final = _ALLOWED[:5]


class NotRendered(Exception):
    """A template makes no text; the message is the reason."""


class TooLong(NotRendered):
    """The text of a template would be too long."""


class Fault(NamedTuple):
    """Why a template cannot be used."""

    line: int  # of the template, from 1
    reason: str


class Used(NamedTuple):
    """The variables of a template, and its first fault."""

    names: frozenset[str]
    fault: Fault | None = None
    plain: bool = True  # every variable is used by its name alone: nothing else can fail


def is_template(text: str) -> bool:
    """Return True if a text has anything to replace."""
    return "{{" in text or "{%" in text


@lru_cache(maxsize=4_096)
def used(text: str) -> Used:
    """Return the variables that a template needs; reads at most the first fault."""
    if len(text) > MOST_TEXT:
        return Used(frozenset(), Fault(1, f"it has more than {MOST_TEXT:,} characters"))
    try:
        tree = _ENVIRONMENT.parse(text)
        fault = next(_faults(tree), None)
        names = frozenset() if fault else frozenset(find_undeclared_variables(tree))
    except TemplateSyntaxError as error:
        return Used(
            frozenset(), Fault(error.lineno, _lower(error.message or "it is not a template"))
        )
    except RecursionError:
        return Used(frozenset(), Fault(1, "it is nested too deep"))
    return Used(names, fault, plain=all(isinstance(each, _PLAIN) for each in _all(tree)))


def render(text: str, variables: Mapping[str, JSON]) -> str:
    """Return the text of a template; raises NotRendered."""
    if not is_template(text):
        return text
    if fault := used(text).fault:
        raise NotRendered(f"line {fault.line}: {fault.reason}")
    pieces, size = [], 0
    try:
        for piece in _compiled(text).generate(variables):
            size += len(piece)
            if size > MOST_TEXT:
                raise TooLong(f"the text has more than {MOST_TEXT:,} characters")
            pieces.append(piece)
    except (TemplateError, TypeError) as error:
        raise NotRendered(_lower(str(error))) from None
    return "".join(pieces)


@lru_cache(maxsize=256)
def _compiled(text: str) -> Template:
    return _ENVIRONMENT.from_string(text)


def _faults(tree: nodes.Node) -> Iterator[Fault]:
    """Yield the forbidden parts of a template."""
    for loop in tree.find_all(nodes.For):
        if next(loop.find_all(nodes.For), None):
            yield Fault(loop.lineno, "a loop in a loop is not allowed")
    for node in _all(tree):
        if isinstance(node, nodes.Filter) and node.name not in FILTERS:
            known = ", ".join(f"`{name}`" for name in FILTERS)
            yield Fault(node.lineno, f"there is no filter `{node.name}`; known: {known}")
        elif not isinstance(node, _ALLOWED):
            kind = type(node).__name__.lower()
            yield Fault(node.lineno, f"`{kind}` is not allowed; only variables, `if` and `for` are")


def _all(tree: nodes.Node) -> Iterator[nodes.Node]:
    queue = deque([tree])
    while queue:
        node = queue.popleft()
        yield node
        queue += node.iter_child_nodes()


def _as_text(value: Any) -> str:
    """Return a value as text: a text as it is, any other value as JSON."""
    if isinstance(value, str | Undefined):
        return str(value)  # raises UndefinedError
    return json.dumps(value, ensure_ascii=False)


def _join(items: Any, separator: str = "") -> str:
    if not isinstance(items, list):
        raise TypeError("`join` needs a list")
    texts = [_as_text(item) for item in items]
    if sum(map(len, texts)) + len(texts) * len(separator) > MOST_TEXT:
        raise TooLong(f"the text has more than {MOST_TEXT:,} characters")
    return separator.join(texts)


FILTERS: Final = {
    "trim": lambda value: _as_text(value).strip(),
    "lower": lambda value: _as_text(value).lower(),
    "upper": lambda value: _as_text(value).upper(),
    "join": _join,
    "tojson": lambda value: json.dumps(value, ensure_ascii=False),
}


def _lower(message: str) -> str:
    return (message[:1].lower() + message[1:]).removesuffix(".")


class _Sandbox(SandboxedEnvironment):
    """Looks up keys and positions of JSON values, and the attributes of `loop`; nothing else."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext):
            return super().getattr(obj, attribute)
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        try:
            if isinstance(obj, dict | list):
                return obj[argument]
        except (LookupError, TypeError):
            pass
        return self.undefined(obj=obj, name=argument)


_ENVIRONMENT: Final = _Sandbox(
    undefined=StrictUndefined,
    finalize=_as_text,
    keep_trailing_newline=True,
    comment_start_string="\0{#",  # never in a text of YAML or JSON: `{#` is not a comment
    comment_end_string="#}\0",
)
_ENVIRONMENT.filters = dict(FILTERS)
_ENVIRONMENT.globals = {}
_ENVIRONMENT.tests = {}
