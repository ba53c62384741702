"""Mutants of a module: its syntax tree with one node replaced."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType
from typing import Any, Final, TypeAlias

_BOTH_WAYS: Final[Sequence[tuple[type[ast.AST], type[ast.AST]]]] = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
    *((ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.BitOr, ast.BitAnd)),
    *((ast.Mult, ast.FloorDiv), (ast.Mod, ast.Pow)),
)
SWAPS: Final[Mapping[type[ast.AST], Any]] = (
    dict(_BOTH_WAYS) | {new: old for old, new in _BOTH_WAYS} | {ast.Div: ast.Mult}
)
"""An operator to the one that replaces it."""

UNTYPED: Final = frozenset({"annotation", "returns", "decorator_list"})
Variant: TypeAlias = tuple[str, ast.AST]
"""What the change is, and the new node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of a module."""

    key: str  # "function: the change", unique in the module, the same while the line is
    lines: range  # of the node that is replaced
    in_function: bool
    tree: ast.Module
    parent: ast.AST
    field: str
    at: int | None  # in a list
    new: ast.AST

    def code(self, path: Path) -> CodeType:
        """Return the compiled module with the change."""
        old = self._set(ast.fix_missing_locations(self.new))
        code: CodeType = compile(self.tree, str(path), "exec", dont_inherit=True)
        self._set(old)
        return code

    def _set(self, new: ast.AST) -> ast.AST:
        value: Any = getattr(self.parent, self.field)
        old: ast.AST = value if self.at is None else value[self.at]
        if self.at is None:
            setattr(self.parent, self.field, new)
        else:
            value[self.at] = new
        return old


def mutants(path: Path) -> tuple[Mutant, ...]:
    """Return the mutants of a module, in the order of its lines."""
    tree = ast.parse(path.read_text("utf-8"))
    seen: Counter[str] = Counter()
    found = []
    for each in _below(tree, tree, ""):
        seen[each.key] += 1
        number = f" ({seen[each.key]})" if seen[each.key] > 1 else ""
        found.append(replace(each, key=each.key + number))
    return tuple(found)


def _below(tree: ast.Module, node: ast.AST, scope: str) -> Iterator[Mutant]:
    for name, value in ast.iter_fields(node):
        if name in UNTYPED:
            continue
        inside = scope
        if name == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = f"{scope}.{node.name}".strip(".")
        many = isinstance(value, list)
        for at, child in enumerate(value if many else [value]):
            if not isinstance(child, ast.AST) or _says_nothing(child):
                continue
            for label, new in _variants(child, node):
                yield Mutant(
                    key=f"{inside or 'module'}: {' '.join(label.split())}",
                    lines=_lines(child),
                    in_function=bool(inside),
                    tree=tree,
                    parent=node,
                    field=name,
                    at=at if many else None,
                    new=ast.copy_location(new, child) if hasattr(child, "lineno") else new,
                )
            yield from _below(tree, child, inside)


def _lines(node: Any) -> range:
    if isinstance(node, ast.match_case):
        node = node.pattern
    if isinstance(node, ast.If):
        node = node.test
    if isinstance(node, ast.comprehension):
        node = node.iter
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _says_nothing(node: ast.AST) -> bool:
    """Return True for docstrings, imports, types, messages, and what no test can reach."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Assert():
            return True
        case ast.Expr(value=ast.Constant()) | ast.Call(func=ast.Name(id="cast")):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="assert_never"))):
            return True
        case (
            ast.AnnAssign(annotation=ast.Name(id="TypeAlias"))
            | ast.If(test=ast.Name(id="TYPE_CHECKING"))
        ):
            return True
    return not any(isinstance(each, _MUTABLE) for each in ast.walk(node))


_MUTABLE = (ast.expr, ast.stmt, ast.match_case, ast.comprehension)


def _variants(node: ast.AST, parent: ast.AST) -> Iterator[Variant]:
    match node:
        case ast.Compare(ops=ops):
            for n, op in enumerate(ops):
                swapped = [*ops[:n], SWAPS[type(op)](), *ops[n + 1 :]]
                yield _swap(node, ast.Compare(node.left, swapped, node.comparators))
        case ast.BoolOp(op=op, values=values):
            yield _swap(node, ast.BoolOp(SWAPS[type(op)](), values))
        case ast.BinOp(op=op) if type(op) in SWAPS:
            yield _swap(node, ast.BinOp(node.left, SWAPS[type(op)](), node.right))
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield _swap(node, node.operand)
        case ast.If(test=test, body=body, orelse=orelse):
            yield f"if not ({ast.unparse(test)})", ast.If(_negated(test), body, orelse)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield _swap(node, ast.IfExp(test, orelse, body))
        case ast.Constant(value=bool() as value):
            yield _swap(node, ast.Constant(not value))
        case ast.Constant(value=int() | float() as value):
            yield _swap(node, ast.Constant(value + 1))
        case ast.Constant(value=str() as value) if isinstance(parent, ast.Dict | ast.Compare):
            yield _swap(node, ast.Constant(f"{value}!"))
        case ast.Expr():
            yield f"{ast.unparse(node)} → pass", ast.Pass()
        case _:
            yield from _shorter(node)


def _shorter(node: ast.AST) -> Iterator[Variant]:
    """Yield the node without one of its parts."""
    match node:
        case ast.Tuple(elts=elts, ctx=ast.Load()) | ast.List(elts=elts, ctx=ast.Load()):
            for n, each in enumerate(elts):
                items = [*elts[:n], *elts[n + 1 :]]
                label = f"{ast.unparse(node)} without {ast.unparse(each)}"
                yield label, type(node)(items, ast.Load())
        case ast.Dict(keys=keys, values=values):
            for n, key in enumerate(keys):
                name = ast.unparse(key) if key else f"**{ast.unparse(values[n])}"
                left = [*keys[:n], *keys[n + 1 :]], [*values[:n], *values[n + 1 :]]
                yield f"{{…}} without {name}", ast.Dict(*left)
        case ast.Call(keywords=keywords):
            for n, keyword in enumerate(keywords):
                label = f"{ast.unparse(node.func)}(…) without {ast.unparse(keyword)}"
                given = [*keywords[:n], *keywords[n + 1 :]]
                yield label, ast.Call(node.func, node.args, given)
        case ast.comprehension(ifs=ifs):
            for n, each in enumerate(ifs):
                label = f"for {ast.unparse(node.target)} without if {ast.unparse(each)}"
                kept = [*ifs[:n], *ifs[n + 1 :]]
                yield label, ast.comprehension(node.target, node.iter, kept, node.is_async)
        case ast.match_case(guard=ast.expr() as guard):
            yield (
                f"case without if {ast.unparse(guard)}",
                ast.match_case(node.pattern, None, node.body),
            )


def _negated(test: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _swap(old: ast.expr, new: ast.expr) -> Variant:
    return f"{ast.unparse(old)} → {ast.unparse(new)}", new
