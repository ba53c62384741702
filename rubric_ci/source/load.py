"""An eval file's text to its cases, or to what is wrong with it."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from rubric_ci.model.diagnostic import Diagnostic
from rubric_ci.model.evals import EvalFile
from rubric_ci.model.references import Lookup
from rubric_ci.source.checking.check import check_evals
from rubric_ci.source.checking.diagnosis import has_errors
from rubric_ci.source.checking.switches import switched
from rubric_ci.source.parsing.parse import parse
from rubric_ci.source.text.opening import open_source


class Loaded(NamedTuple):
    """The cases, unless there are errors, and every problem."""

    eval_file: EvalFile | None
    diagnostics: tuple[Diagnostic, ...]


def load(
    path: str,
    text: str,
    lookup: Lookup,
    sidecar: str | None = None,
    rules: Mapping[str, str] | None = None,
) -> Loaded:
    """Check a text and parse it.

    `path` is relative to the repository root, with forward slashes. `sidecar` is the text of the
    YAML file beside a JSON Lines file, if there is one; `rules` are the configuration's switches.
    """
    source = open_source(path, text, sidecar)
    looked_up = cache(lookup)
    found = switched(check_evals(source, looked_up), source.texts(), rules or {})
    return Loaded(None if has_errors(found) else parse(source, looked_up), found)
