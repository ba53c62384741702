"""Texts that freeze what reads them: whole functions take linear time on hostile text.

Every function of the package that takes one text is found by its signature; what takes more is in
`READERS`. A text may begin, go on and end with what makes a pattern fail as late as possible.
"""

import importlib
import inspect
import pkgutil
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import product
from time import process_time

import pytest

import rubric_ci
from rubric_ci.files.validation.validator import Surroundings, check_evals
from rubric_ci.files.yaml_text.source import open_source
from rubric_ci.gate.selection.prefilter import count_cases
from rubric_ci.models.judge.injection_scan import scan_for_injection
from rubric_ci.models.judge.prompt import escaped
from rubric_ci.models.judge.reply import find_object
from rubric_ci.models.judge.reply_checks import _is_quoted_in
from rubric_ci.parts.litellm.litellm_client import _without_prefixes
from rubric_ci.text import answer_text, escape
from rubric_ci.text.globs import matcher
from rubric_ci.values.references import NotFound

pytestmark = pytest.mark.deep

SIZES = (1_000, 16_000)  # linear: 16 times; quadratic: 256 times
MARGIN = 5
FLOOR = 25e-6


def glob(text: str) -> object:
    return matcher(["**/*a*a*b", "**a**/**c", "**/x/**/*/**/z*"])(text)


def check(key: str, text: str) -> object:
    """Check an eval file with an evaluator that has a hostile field."""
    before = "evalcases:\n- id: a\n  input: b\n  evaluators:\n  - name: c\n    "
    source = open_source("a.eval.yaml", f"{before}{key}: {text}\n")
    return check_evals(source, Surroundings(lambda _: NotFound("missing")))


READERS: dict[str, Callable[[str], object]] = {
    "suspicions": lambda text: scan_for_injection(text, question="What?", criteria=["Is it so?"]),
    "fence": escaped,
    "evidence": lambda text: _is_quoted_in(text, text),
    "code blocks": answer_text.extract_code,
    "reply": find_object,
    "message": _without_prefixes,
    "glob": glob,
    "wildcards": lambda text: matcher([text])("a/b" * 20),
    "cases": lambda text: count_cases("a.yaml", f"evalcases:\n{text}"),
    "markdown": escape.markdown,
    "prose": escape.prose,
    "html prose": escape.html_prose,
    "log line": escape.log_line,
    **{
        f"validate: {key}": partial(check, key)
        for key in ("weight", "prompt", "type", "script", "x-note")
    },
}
UNITS: tuple[str, ...] = ("a", " ", "\n", "<", "< ", "<a", "`", "```\n", "{", "[", "*", "**/")
UNITS += (
    "*a",
    "...",
    '"',
    "-\n",
    "litellm.",
    "- id: x\n",
    "  - id: x\n    id: y\n",
    "é ",
    "\u200b",
    "a/",
    "?",
    "\\",
)


UNITS += ("0", "7", "/", "'")
PUMPED = (
    *UNITS,
    "00 ",
    "1_",
    "//",
    ":0",
    "0.",
    "- ",
    " #",
    "\t",
    "|",
    "{{",
    "%",
    "\0",
    "aB",
    "_",
    "](",
)
BEGINNINGS = ("", "a")
ENDINGS = ("", " \0\n")


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_is_linear(reader: str, unit: str) -> None:
    for ending in ENDINGS:
        small, large = ("<" + unit * (size // len(unit)) + ending for size in SIZES)
        read = READERS[reader]
        bound = max(seconds(read, small), seconds(read, small), FLOOR) * MARGIN
        bound *= SIZES[1] / SIZES[0]
        assert any(seconds(read, large) <= bound for _ in range(3)), ending


def seconds(read: Callable[[str], object], text: str) -> float:
    started = process_time()
    with suppress(Exception):  # how a text is refused is tested elsewhere
        result = read(text)
        if isinstance(result, Iterator):
            deque(result, maxlen=0)
    return process_time() - started


QUICK, LONGER = 2_000, 16_000
SUSPECT = 1e-3  # seconds that no text of `QUICK` letters takes in a reader without a loop of Python
LINEAR = 24  # times: linear 8, quadratic 64
ROUNDS = 6  # of both sizes in turn: other work slows one of them, now and then for seconds


def readers_of_one_text() -> Mapping[str, Mapping[str, Callable[[str], object]]]:
    """Return the functions of the package that need one text and nothing else, by their folder."""
    found: dict[str, dict[str, Callable[[str], object]]] = defaultdict(dict)
    for each in pkgutil.walk_packages(rubric_ci.__path__, "rubric_ci."):
        module = importlib.import_module(each.name)
        for name, value in vars(module).items():
            function = inspect.unwrap(value) if callable(value) else value
            own = inspect.isfunction(function) and function.__module__ == each.name
            own = own and not inspect.iscoroutinefunction(function)  # it would not run
            if own and takes_one_text(function):
                found[each.name.split(".")[1]][f"{each.name}.{name}"] = function
    return found


def takes_one_text(function: Callable[..., object]) -> bool:
    parameters = list(inspect.signature(function).parameters.values())
    needed = [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    return needed == parameters[:1] and [each.annotation for each in needed] in ([str], ["str"])


FOUND = readers_of_one_text()
NOT_READERS = {
    "rubric_ci.services.drafting.review_and_insertion._ask": "waits for a terminal",
    "rubric_ci.system.output_and_masking.print_block": "prints",
    "rubric_ci.parts.lab.judge_test._rubric_files": "a pattern of the command line",
    "rubric_ci.files.yaml_text.document.alias_lines": "reads what `yaml_over_limits` passes",
    "rubric_ci.files.yaml_text.document._events": "likewise",
    "rubric_ci.system.git.snapshot._above": "a path of git's; its result is as long as its square",
    "rubric_ci.files.project.file_kinds.targets_candidates": "likewise",
    "rubric_ci.files.project.file_kinds.agentv_configs": "likewise",
    "rubric_ci.files.project.links.ancestors": "likewise",
}


@pytest.mark.parametrize("folder", sorted(FOUND))
def test_every_function_of_one_text_is_linear(folder: str) -> None:
    readers = {name: read for name, read in FOUND[folder].items() if name not in NOT_READERS}
    assert {name: text for name, read in readers.items() if (text := slow_text(read))} == {}


def test_functions_are_found() -> None:
    names = {name for readers in FOUND.values() for name in readers}
    known = {"files.yaml_text.scalars.resolve", "evaluators.kind.names_file"}
    assert {f"rubric_ci.{name}" for name in known} <= names
    assert len(names) > 150


@pytest.mark.parametrize("pattern", [r"[0-9]+\.?[0-9]*", r"\S*/\S*", r"(?:a|b)*c|.*/.*/x"])
def test_growth_is_seen(pattern: str) -> None:
    assert slow_text(lambda text: re.fullmatch(pattern, text))


def slow_text(read: Callable[[str], object]) -> str:
    """Return the parts of a text for which the time grows faster than the text, or nothing."""
    for beginning, unit, ending in product(BEGINNINGS, PUMPED, ENDINGS):
        quick, longer = (
            beginning + unit * (size // len(unit)) + ending for size in (QUICK, LONGER)
        )
        if seconds(read, quick) > SUSPECT and all(
            seconds(read, longer) > LINEAR * max(seconds(read, quick), SUSPECT)
            for _ in range(ROUNDS)
        ):
            return f"{beginning!r} + {unit!r} * n + {ending!r}"
    return ""
