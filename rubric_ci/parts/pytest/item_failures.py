"""Failures of items: exceptions raised at the line of an eval file, and their text."""

import ast
from pathlib import Path
from typing import NoReturn

import pytest


class Missed(AssertionError):
    """An answer misses criteria."""


class Waived(AssertionError):
    """An answer misses criteria that a waiver excuses."""


class GateFails(AssertionError):
    """The gate of the run fails."""


class NoVerdict(Exception):
    """A judge, a target, a script or a budget failed: an error, not a failed test."""


class InvalidCheck(Exception):
    """The criteria of a check are not valid."""


for _each in (Missed, Waived, GateFails, NoVerdict, InvalidCheck):
    _each.__module__ = "rubric_ci"  # what pytest prints before the name


def raise_at(path: Path, line: int, name: str, error: BaseException) -> NoReturn:
    """Raise an error at a line of a file that is not Python.

    So every reader of a report, also an IDE, finds the place. `name` is the case.
    """
    tree = ast.parse("raise error")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
    code = compile(tree, str(path), "exec").replace(co_name=name)
    exec(code, {"error": error.with_traceback(None)})  # noqa: S102 - one fixed statement
    raise error


def cut(info: pytest.ExceptionInfo[BaseException], path: Path) -> None:
    """Leave of a traceback only what is in a file, if it is there."""
    found = info.traceback.cut(path=path)
    if found[0].path == path:
        info.traceback = found
