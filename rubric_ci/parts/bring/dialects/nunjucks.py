"""Templates of promptfoo, which are nunjucks, where Jinja2 gives the same text.

Variables are known at an import, so templates are filled in then. A part that means something
else in Jinja2 is refused with its name, and never left in a text.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from jinja2 import ChainableUndefined, TemplateError, Undefined, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import LoopContext
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from rubric_ci.values.json_value import is_number
from rubric_ci.values.json_value import nodes as json_nodes

_MOST: Final = 1_000_000  # characters of a text
_PLAIN: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_OPEN: Final = re.compile(r"(?m)\{%[^%]*$|\{\{[^}]*$|\{#[^#]*$")
_ROOTS: Final = re.compile(
    r"\{\{\s*+([A-Za-z_]\w*+)[^{}]*+\}\}|\{%\s*+(?:if|for)\s++([A-Za-z_]\w*+)"
)
_INSIDE: Final = re.compile(r"\{[{%][^{}]*+\}")
_POSITION: Final = re.compile(r"(?<=\w)\.\d++")
_PASSES: Final = 5  # in which promptfoo fills variables in variables


class NotSame(Exception):
    """A template that promptfoo fills in and Jinja2 does not in the same way; with the reason."""


def is_template(text: str) -> bool:
    return any(sign in text for sign in ("{{", "{%", "{#"))


def filled_in(text: str, variables: Mapping[str, Any]) -> str:
    """Return the text of a template; raises NotSame."""
    if not is_template(text):
        return text
    inside = map(_POSITION.search, _INSIDE.findall(text))
    if position := next(filter(None, inside), None):
        raise NotSame(f"`{position[0]}` is not a name there; write `[0]`")
    try:
        made = _template(text)(variables)
    except TemplateError as error:
        raise NotSame(str(error).rstrip(".") or "it is not a template") from None
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        raise NotSame("a filter or an operator does not take the value of a variable") from None
    if len(made) > _MOST:
        raise NotSame(f"the text has more than {_MOST:,} characters")
    return made


def filled_in_prompt(text: str, variables: Mapping[str, Any]) -> str:
    """Return the text of a prompt; one with an open brace is not a template there."""
    return text if _OPEN.search(text) and "endraw" not in text else filled_in(text, variables)


def resolved(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables with those in them filled in by their plain names, as checks get them."""
    found = {
        key: re.sub(r"\n\Z", "", each) if isinstance(each, str) else each
        for key, each in variables.items()
    }
    for _ in range(_PASSES):
        changed = False
        for key, each in found.items():
            match = _PLAIN.search(each) if isinstance(each, str) else None
            if match and match[1] in found:
                text = each.replace(match[0], js_text(found[match[1]], null="null"), 1)
                found[key], changed = text, True
                if len(text) > _MOST:
                    raise NotSame(f"the variable `{key}` has more than {_MOST:,} characters")
        if not changed:
            break
    return found


def prompt_values(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return resolved variables as a prompt gets them, with the other templates filled in."""
    return {
        key: filled_in_prompt(each, variables)
        if isinstance(each, str) and _is_known(each, variables)
        else each
        for key, each in variables.items()
    }


def _is_known(text: str, variables: Mapping[str, Any]) -> bool:
    roots = (match[1] or match[2] for match in _ROOTS.finditer(text))
    return all(root == "env" or root in variables for root in roots)


def js_text(value: Any, null: str = "") -> str:
    """Return a value as JavaScript writes it in a text."""
    match value:
        case None | Undefined():
            return null
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case list():
            return ",".join(js_text(each) for each in value)
        case dict():
            return "[object Object]"
        case _:
            return str(value)


_NODES: Final = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr),
    *(nodes.Getitem, nodes.Filter, nodes.If, nodes.CondExpr, nodes.Compare, nodes.Operand),
    *(nodes.And, nodes.Or, nodes.Not, nodes.For, nodes.Add, nodes.Sub, nodes.List, nodes.Keyword),
)
_CHOICES: Final = (nodes.If, nodes.CondExpr, nodes.And, nodes.Or, nodes.Not)


class _AsNunjucks(NodeTransformer):
    """Compares and loops as JavaScript does."""

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802 - of Jinja2
        self.generic_visit(node)
        [operand] = node.ops if len(node.ops) == 1 else [None]
        if operand is None or operand.op not in ("eq", "ne"):
            return node
        same = nodes.Filter(node.expr, "js_equal", [operand.expr], [], None, None)
        return same if operand.op == "eq" else nodes.Not(same)

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - of Jinja2
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "js_items", [], [], None, None)
        return node


@cache
def _template(text: str) -> Callable[[Mapping[str, Any]], str]:
    tree = _ENVIRONMENT.parse(text)
    if any(next(loop.find_all(nodes.For), None) for loop in tree.find_all(nodes.For)):
        raise NotSame("a loop in a loop is not known")
    for node in tree.find_all(nodes.Node):
        if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
            raise NotSame(f"the filter `{node.name}` is not known")
        if not isinstance(node, _NODES):
            raise NotSame(f"`{type(node).__name__.lower()}` is not known")
    if "env" in find_undeclared_variables(tree):
        raise NotSame("variables of the environment are not imported")
    chooses = next(tree.find_all(_CHOICES), None) is not None
    compiled = _ENVIRONMENT.from_string(_AsNunjucks().visit(tree))

    def render(variables: Mapping[str, Any]) -> str:
        every = (each for value in variables.values() for _, each in json_nodes(value))
        if chooses and any(each in ([], {}) for each in every):
            raise NotSame("an empty list or mapping is true in JavaScript")
        return compiled.render(variables)

    return render


class _Sandbox(SandboxedEnvironment):
    """Looks up keys, positions and `length` of JSON values, and the attributes of `loop`."""

    intercepted_binops = frozenset(("+", "-"))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if is_number(left) and is_number(right):
            return super().call_binop(context, operator, left, right)
        if operator == "+" and isinstance(left, str) and isinstance(right, str | int):
            return left + js_text(right)
        raise NotSame(f"`{operator}` of other values than numbers and texts")

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext):
            return super().getattr(obj, attribute)
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Undefined):
            return obj
        try:
            if isinstance(obj, list) and isinstance(argument, int) and argument < 0:
                return self.undefined(obj=obj, name=str(argument))
            if isinstance(obj, dict | list):
                return obj[argument]
        except (LookupError, TypeError):
            pass
        if argument == "length" and isinstance(obj, str | list):
            return len(obj)
        return self.undefined(obj=obj, name=str(argument))


def _equal(left: Any, right: Any) -> bool:
    """Return whether `left == right` in JavaScript; raises NotSame where types differ."""
    missing = [each is None or isinstance(each, Undefined) for each in (left, right)]
    if any(missing):
        return all(missing)
    for kind in (bool, int | float, str):  # a flag is an int, too: it comes first
        if isinstance(left, kind) and isinstance(right, kind):
            return bool(left == right)
        if isinstance(left, kind) or isinstance(right, kind):
            break
    raise NotSame("`==` of two types")


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if value is None or isinstance(value, Undefined) or value == "":
        return []
    raise NotSame("a loop over other values than lists")


def _text_of(value: Any) -> str:
    if isinstance(value, str | Undefined) or value is None:
        return js_text(value)
    raise NotSame("a filter of texts, of another value")


def _default(value: Any, otherwise: Any = "", boolean: Any = False) -> Any:
    missing = isinstance(value, Undefined) or (boolean and not value)
    return otherwise if missing else value


def _dump(value: Any, spaces: int = 0) -> Any:
    if isinstance(value, Undefined):
        return value
    separators = None if spaces else (",", ":")
    return json.dumps(
        _whole(value), ensure_ascii=False, indent=spaces or None, separators=separators
    )


def _whole(value: Any) -> Any:
    """Return data with whole numbers as JavaScript has them, without a fraction."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _end(position: int) -> Callable[[Any], Any]:
    return lambda value: value[position] if value else Undefined()


def _replace(value: Any, old: str, new: str, count: int = -1) -> str:
    if not isinstance(old, str) or not isinstance(new, str) or not old:
        raise NotSame("`replace` of other values than texts")
    return _text_of(value).replace(old, new, count)


_FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "upper": lambda value: _text_of(value).upper(),
    "lower": lambda value: _text_of(value).lower(),
    "trim": lambda value: _text_of(value).strip(),
    "capitalize": lambda value: _text_of(value).capitalize(),
    "replace": _replace,
    "default": _default,
    "d": _default,
    "join": lambda value, separator="": separator.join(map(js_text, _items(value))),
    "dump": _dump,
    "length": lambda value: 0 if value is None or isinstance(value, Undefined) else len(value),
    "first": _end(0),
    "last": _end(-1),
    "string": js_text,
    "safe": lambda value: value,
    "load": json.loads,
}

_ENVIRONMENT: Final = _Sandbox(
    undefined=ChainableUndefined, finalize=js_text, keep_trailing_newline=True
)
_ENVIRONMENT.filters = {**_FILTERS, "js_equal": _equal, "js_items": _items}
_ENVIRONMENT.globals = {}
_ENVIRONMENT.tests = {}
