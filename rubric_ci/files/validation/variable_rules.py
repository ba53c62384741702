"""Rules of variables, in the texts of a case and in the prompt of its target.

A text uses variables that a case has, and a case has none that are never used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.evaluators.assertions.marking import TABLE
from rubric_ci.evaluators.kind import (
    FILLED_OF_USER,
    INCLUDED,
    UNFILLED,
    Included,
    criteria_at,
    evaluators_of,
    with_members,
)
from rubric_ci.files.validation.assertion_rules import ASSERTION_VALUE
from rubric_ci.files.validation.shape_rules import NOT_TEXT
from rubric_ci.files.yaml_text.csv_cases import SUFFIXES, spelt, usual_names
from rubric_ci.files.yaml_text.document import FILE_SIZE
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.text.suggestions import did_you_mean, slip, suggest
from rubric_ci.values.problems import (
    MESSAGES,
    Path,
    Problem,
    Rule,
    list_at,
    mapping_at,
    mappings,
    with_cases,
)

INPUT: Final = "input"
OUTCOMES: Final = ("expected_outcome", "outcome")

_ADA: Final = with_cases(
    "  - id: greeting\n    vars: {name: Ada}\n"
    '    input: "Greet {{ name }}"\n    rubrics: [Greets]\n'
)
UNDEFINED_VARIABLE: Final = Rule(
    id="undefined-variable",
    meaning=(
        "`{{ name }}` in a message or a criterion is replaced by the variable of this name under "
        "`vars` of the case or the suite. Without it, the target would be asked a question with "
        "braces in it, or the judge about them."
    ),
    hint="add it to `vars`, or set `raw: true` if the braces are part of the text",
    bad=with_cases('  - id: greeting\n    input: "Greet {{ name }}"\n    rubrics: [Greets]\n'),
    good=_ADA,
)
UNUSED_VARIABLE: Final = Rule(
    id="unused-variable",
    severity="warning",
    switchable=True,
    meaning=(
        "No message, no criterion and no prompt of a target uses the variable: it changes nothing. "
        "A column of a table may be unused, unless its name misspells another one."
    ),
    hint="use it as `{{ name }}` in a message or a criterion, or remove it",
    bad=_ADA.replace('"Greet {{ name }}"', "Say hello"),
    good=_ADA,
)
VARIABLE_NAME: Final = Rule(
    id="variable-name",
    meaning="In the prompt of a target `{{ input }}` is the input of the case.",
    hint="give the variable another name",
    bad=_ADA.replace("name", "input"),
    good=_ADA,
)
TEMPLATE_SYNTAX: Final = Rule(
    id="template-syntax",
    meaning=(
        "A text with `{{` or `{%` is a template of Jinja2: variables, `if`, `for`, `{% raw %}` and "
        "the filters `trim`, `lower`, `upper`, `join`, `tojson`."
    ),
    hint="correct it, or set `raw: true` if the braces are part of the text",
    bad=_ADA.replace(" }}", ""),
    good=_ADA,
)
MOST_FILLED: Final = 64_000_000  # characters of all texts of a file with their variables
_TOO_LONG: Final = (
    f"the texts of the cases have more than {MOST_FILLED:,} characters with their variables"
)

_Case: TypeAlias = tuple[Path, dict[str, Any]]


class Text(NamedTuple):
    """A text of a message, and its path."""

    path: Path
    text: str
    included: Included | None = None  # of a rubric file, with its own variables

    def known(self, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the variables of a case, of the include and of the rubric file."""
        if self.included is None:
            return variables
        return {**self.included.defaults, **variables, **self.included.given}


def variable_problems(source: Source, used_by_prompts: frozenset[str] | None) -> Iterator[Problem]:
    """Yield templates that cannot be rendered and, if prompts are known, unused variables."""
    data, written = source.data, source.written
    cases: list[_Case] = [*mappings(data, "evalcases")]
    if not cases:
        return
    yield from _values(data, ("vars",), written)
    for path, case in cases:
        yield from _values(case, (*path, "vars"), written)
    raw_suite = data.get("raw") is True
    shared = [] if raw_suite else list(_texts(data.get("messages"), ("messages",)))
    judged = {} if raw_suite else _judged(data, ())
    from rubric_ci.text.template import used  # files without variables do not need Jinja2

    of_suite = {name for each in shared for name in used(each.text).names}
    of_suite |= used_by_prompts or set()
    anywhere = set(of_suite)
    faulty = used_by_prompts is None or any(used(each.text).fault for each in shared)
    room = _Room(vars_of(data))
    for path, case in cases:
        raw = case.get("raw", data.get("raw")) is True
        own = list(_own_texts(case, path, raw=raw))
        inherited = [each for key in _inherited(case) for each in judged.get(key, ())]
        every = (*own, *inherited)
        names = {name for each in every for name in used(each.text).names}
        faults = any(used(each.text).fault for each in every)
        faulty = faulty or faults
        if not faults and used_by_prompts is not None:
            yield from _unused_of(case, names | of_suite, vars_of(data), path, source)
        anywhere |= names
        known = {**vars_of(data), **vars_of(case)} if every or shared else {}
        size = room.size_with(vars_of(case))
        for each in own:
            yield from _problems(each, known, size=size)
        if room.is_full(size, (*every, *shared)):
            yield Problem(FILE_SIZE, path, _TOO_LONG)
            return
    if not faulty:
        yield from _unused(vars_of(data).keys() - anywhere, ("vars",))
    for each in shared:
        yield from _suite_text_problems(each, data, cases)
    for key, texts in judged.items():
        heirs = [(path, case) for path, case in cases if key in _inherited(case)]
        for each in texts:
            yield from _suite_text_problems(each, data, heirs, f"`{key}`")


def _inherited(case: dict[str, Any]) -> Iterator[str]:
    if "rubrics" not in case:
        yield "rubrics"
    if evaluators_of(case) is None:
        yield "evaluators"


def _judged(owner: dict[str, Any], path: Path) -> dict[str, list[Text]]:
    """Return the templates among the criteria of a suite, a case or a turn, by their key."""
    found = evaluators_of(owner) or ((), [])
    evaluators = with_members(found[1], (*path, *found[0]))
    return {
        "rubrics": [*_criteria(owner.get("rubrics"), (*path, "rubrics"))],
        "evaluators": [
            text
            for where, each in evaluators
            for text in _criteria(each.get("rubrics"), (*where, "rubrics"))
        ],
    }


def _criteria(rubrics: Any, path: Path) -> Iterator[Text]:
    criteria, where = criteria_at(rubrics, path)
    for index, each in enumerate(criteria if isinstance(criteria, list) else ()):
        yield from _texts(each, (*where, index)) if isinstance(each, str) else ()
        if isinstance(each, dict):
            included = each.get(INCLUDED)
            yield from _condition_variable(
                each.get("applies_if"), (*where, index, "applies_if"), included
            )
            for key in each.keys() - UNFILLED:
                for text in _templates(each[key], (*where, index, key)):
                    yield text._replace(included=included)


def _condition_variable(condition: Any, path: Path, included: Included | None) -> Iterator[Text]:
    """Yield the variable that a condition names, as a text that uses it."""
    name = condition.get("var") if isinstance(condition, dict) else None
    if isinstance(name, str) and name.isidentifier():
        yield Text((*path, "var"), f"{{{{ {name} }}}}", included)


def _templates(value: Any, path: Path) -> Iterator[Text]:
    if isinstance(value, str):
        yield from _texts(value, path)
    pairs = enumerate(value) if isinstance(value, list) else ()
    for key, each in value.items() if isinstance(value, dict) else pairs:
        yield from _templates(each, (*path, key))


def _values(
    owner: dict[str, Any], path: Path, written: Callable[[Path], str | None]
) -> Iterator[Problem]:
    for name, value in vars_of(owner).items():
        if name == INPUT:
            message = "`input` is the input of the case"
            yield Problem(VARIABLE_NAME, (*path, name), message, at_key=True)
        text = written((*path, name)) if isinstance(value, bool) else None
        if text not in (None, "true", "false"):
            message = f"`{text}` reads as {'true' if value else 'false'}"
            yield Problem(NOT_TEXT, (*path, name), message, f'quote it: "{text}"')


def _suite_text_problems(
    shared: Text, data: Any, heirs: list[_Case], what: str = "`messages`"
) -> Iterator[Problem]:
    """Yield the problems of a suite's text, at the cases that have it and lack a variable.

    A variable that no case of the suite has is a problem of the text, also where no case has it.
    """
    from rubric_ci.text.template import used

    suite, cases = vars_of(data), mappings(data, "evalcases")
    every = shared.known(suite).keys() | set[str]().union(*(vars_of(case) for _, case in cases))
    if used(shared.text).fault or used(shared.text).names - every:
        yield from _problems(shared, dict.fromkeys(every))
        return
    room = _Room(suite)
    for path, case in heirs:
        size = room.size_with(vars_of(case))
        yield from _problems(shared, {**suite, **vars_of(case)}, (*path, "id"), what, size=size)


class _Room:
    """How many characters the texts of a file may have with their variables."""

    def __init__(self, suite: Mapping[str, Any]) -> None:
        self._suite = {name: _length(value) for name, value in suite.items()}
        self._left = MOST_FILLED

    def size_with(self, own: Mapping[str, Any]) -> "Size":
        """Return the most characters that a text of a case has with the variables of both."""
        lengths = {name: _length(value) for name, value in own.items()}

        def size(text: str, names: Iterable[str]) -> int:
            found = [lengths.get(name, self._suite.get(name, 0)) for name in names]
            return len(text) + text.count("{{") * max(found, default=0)

        return size

    def is_full(self, size: "Size", texts: Iterable[Text]) -> bool:
        """Take the texts of a case; return True if they are more than fit."""
        from rubric_ci.text.template import used

        self._left -= sum(size(each.text, used(each.text).names) for each in texts)
        return self._left < 0


Size: TypeAlias = Callable[[str, Iterable[str]], int]


def _no_size(_: str, __: Iterable[str]) -> int:
    return 0


def _length(value: Any) -> int:
    """Return how many characters a value has at most as text or as JSON."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 2 + sum(len(str(key)) + _length(each) + 6 for key, each in value.items())
    return 2 + sum(_length(each) + 4 for each in value) if isinstance(value, list) else 30


def _problems(
    of: Text, known: Mapping[str, Any], case: Path = (), what: str = "", *, size: Size = _no_size
) -> Iterator[Problem]:
    """Yield the undefined variables of a template, else why it cannot be rendered.

    `case` is the place if the text is the suite's.
    """
    from rubric_ci.text.template import MOST_TEXT, NotRendered, TooLong, render, used

    known = of.known(known)
    found, path, where = used(of.text), case or of.path, f"{what} of the suite: " * bool(case)
    if found.fault:
        line, reason = found.fault
        place = f"line {line} of the text: " if "\n" in of.text.strip() else ""
        yield Problem(TEMPLATE_SYNTAX, path, f"{where}{place}{reason}")
        return
    for name in sorted(found.names - known.keys()):
        message = f"{where}`{{{{ {name} }}}}` is not a variable of the case"
        hint = suggest(name, known) if known else ""
        yield Problem(UNDEFINED_VARIABLE, path, message, hint, part=_written(of.text, name))
    key = str(of.path[-1])
    may_fail = key in TABLE or not found.plain or size(of.text, found.names) > MOST_TEXT
    if found.names <= known.keys() and may_fail:
        try:
            filled = render(of.text, known)
        except TooLong as error:
            yield Problem(FILE_SIZE, path, f"{where}{error}", "shorten it, or its variables")
            return
        except NotRendered as error:
            yield Problem(UNDEFINED_VARIABLE, path, f"{where}{error}")
            return
        if key in TABLE and (reason := TABLE[key].problem(filled)):
            yield Problem(ASSERTION_VALUE, path, f"{where}`{key}` of `{filled}`: {reason}")


def _written(text: str, name: str) -> str:
    for piece in text.split("{{")[1:]:
        inner, end, _ = piece.partition("}}")
        if end and name in inner:
            return f"{{{{{inner}}}}}"
    return ""


def _unused_of(
    case: dict[str, Any], used: set[str], of_suite: dict[str, Any], path: Path, source: Source
) -> Iterator[Problem]:
    """Yield the variables of a case that nothing uses; of a row, its misspelt columns."""
    unused = vars_of(case).keys() - used
    if not unused or not source.location(path).file.endswith(SUFFIXES):
        yield from _unused(unused, (*path, "vars"))
        return
    lacking = used - vars_of(case).keys() - of_suite.keys()
    for name in sorted(unused):
        if other := slip(spelt(name), [*sorted(lacking), *usual_names(case.keys())]):
            where, message = (*path, "vars", name), f"nothing uses the column `{name}`"
            yield Problem(UNUSED_VARIABLE, where, message, did_you_mean(other), at_key=True)


def _unused(names: set[str], path: Path) -> Iterator[Problem]:
    for name in sorted(filter(str.isidentifier, names - {INPUT})):
        hint = f"use it as `{{{{ {name} }}}}` in a message or a criterion, or remove it"
        yield Problem(UNUSED_VARIABLE, (*path, name), f"nothing uses `{name}`", hint, at_key=True)


def vars_of(owner: dict[str, Any]) -> dict[str, Any]:
    return mapping_at(owner, "vars")


def _own_texts(case: dict[str, Any], path: Path, *, raw: bool) -> Iterator[Text]:
    for key in () if raw else MESSAGES:
        yield from _texts(case.get(key), (*path, key))
    for key in () if raw else OUTCOMES:
        yield from _texts(case.get(key), (*path, key))
    for texts in () if raw else _judged(case, path).values():
        yield from texts
    for number, turn in enumerate(() if raw else list_at(case, "turns")):
        where: Path = (*path, "turns", number)
        yield from _texts(turn, where) if isinstance(turn, str) else ()
        if isinstance(turn, dict):
            for key in ("input", "expected_outcome"):
                yield from _texts(turn.get(key), (*where, key))
            yield from _criteria(turn.get("rubrics"), (*where, "rubrics"))
    user = case.get("simulated_user")
    if isinstance(user, dict) and not raw:
        for key in FILLED_OF_USER:
            yield from _texts(user.get(key), (*path, "simulated_user", key))


def _texts(written: Any, path: Path) -> Iterator[Text]:
    """Yield the templates among the texts of messages and of parts."""
    if isinstance(written, str):
        if "{{" in written or "{%" in written:
            yield Text(path, written)
    elif isinstance(written, list):
        for index, each in enumerate(written):
            key = "content" if isinstance(each, dict) and "role" in each else "value"
            if isinstance(each, dict):
                yield from _texts(each.get(key), (*path, index, key))
    elif isinstance(written, dict):
        yield from _templates(written, path)
