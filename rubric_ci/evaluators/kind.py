"""A type of evaluator as a row of the table, and what is asked of the data of any evaluator.

NOTE: `validate` imports this for every file with evaluators, so specs are imported for types only.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from posixpath import join
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from rubric_ci.values.json_value import JSON, with_texts
from rubric_ci.values.problems import Path, mappings
from rubric_ci.values.references import Found, Lookup

if TYPE_CHECKING:
    from rubric_ci.text.redact import Redactor
    from rubric_ci.values.config import JudgeConfig
    from rubric_ci.values.diagnostics import Span
    from rubric_ci.values.evals import EvalCase, EvaluatorSpec
    from rubric_ci.values.llm_calls import ChatMessage, Unsent
    from rubric_ci.values.media import Media
    from rubric_ci.values.problems import Placed, Problem
    from rubric_ci.values.results import Answer, Assessment

ANSWER_FILE: Final = "{answer_file}"
CODE_FILE: Final = "{code_file}"
"""In a script: the path of a file with the answer, and with the code in it."""
RESULTS_VARIABLE: Final = "EVALUATOR_RESULTS_JSON"
"""In the prompt of an aggregator: the results of the members."""
_AGENTV_FILES: Final = ("targets.yaml", "providers.yaml", "config.yaml")
_PROMPT_FILE: Final = (
    r"[^\s/]*/\S*|\S+\.[A-Za-z0-9]{1,6}|.+\.(?:md|txt|prompt|j2|jinja|mustache|hbs)"
)
UNFILLED: Final = frozenset(("id", "tags", "field"))
"""Keys of a criterion whose texts are names: no variable is replaced in them."""
FILLED_OF_USER: Final = ("persona", "goal", "end")

INCLUDED: Final = "x-included"
"""The key of a criterion of a rubric file: its `Included`, which no YAML holds."""


class Included(NamedTuple):
    """The place of an included criterion, and the variables that its file and its include give."""

    span: "Span"
    given: Mapping[str, Any]
    defaults: Mapping[str, Any]
    shared: bool = False  # with every case


Evaluator: TypeAlias = dict[str, Any]
"""The data of an evaluator."""


_VARIABLE: Final = re.compile(r"\s*\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}\s*")


def criteria_at(rubrics: Any, path: Path) -> tuple[Any, Path]:
    """Return the criteria of `rubrics`, a list or a mapping with `criteria`, and their path."""
    if isinstance(rubrics, dict) and "criteria" in rubrics:
        return rubrics["criteria"], (*path, "criteria")
    return rubrics, path


def weight_of(criterion: dict[str, Any]) -> tuple[float, bool]:
    """Return the weight or the penalty of a criterion, and True for a penalty."""
    if "penalty" in criterion:
        return float(criterion["penalty"]), True
    weight = float(criterion.get("weight", 1.0))
    return abs(weight), weight < 0


def is_penalty(criterion: dict[str, Any]) -> bool:
    """Return True for a criterion that names a fault; its values may be of any type."""
    weight = criterion.get("weight", 0)
    return "penalty" in criterion or (isinstance(weight, int | float) and weight < 0)


def execution_of(owner: dict[str, Any]) -> dict[str, Any]:
    """Return `execution` of a suite or a case; empty if it is missing or no mapping."""
    execution = owner.get("execution")
    return execution if isinstance(execution, dict) else {}


def target_names(case: Any, suite: dict[str, Any], compare: Sequence[str]) -> list[str]:
    """Return the targets that answer a case; "" is the default one."""
    if isinstance(case, dict) and (own := named_target(case)):
        return [own]
    several = suite.get("targets")
    if isinstance(several, list):
        return [name for name in several if isinstance(name, str)]
    shared = named_target(suite)
    return [shared] if shared else [*compare] or [""]


def named_target(owner: dict[str, Any]) -> str:
    """Return the target that a suite or a case names; empty: none."""
    name = execution_of(owner).get("target", owner.get("target", ""))
    return name if isinstance(name, str) else ""


def evaluators_of(owner: dict[str, Any]) -> tuple[Path, list[Any]] | None:
    """Return the evaluators that a suite or a case has, and their path in it; None: it has none."""
    execution = execution_of(owner)
    holder, path = (execution, ("execution",)) if "evaluators" in execution else (owner, ())
    if "evaluators" not in holder:
        return None
    found = holder["evaluators"]
    return (*path, "evaluators"), found if isinstance(found, list) else []


def written_evaluators(data: Any) -> Iterator[tuple[Path, Evaluator]]:
    """Yield every evaluator of an eval file with its path, and the members of composites."""
    if not isinstance(data, dict):
        return
    yield from _own_evaluators(data, ())
    for path, case in mappings(data, "evalcases"):
        yield from _own_evaluators(case, path)


def _own_evaluators(owner: dict[str, Any], path: Path) -> Iterator[tuple[Path, Evaluator]]:
    if found := evaluators_of(owner):
        yield from with_members(found[1], (*path, *found[0]))


def with_members(evaluators: Any, path: Path) -> Iterator[tuple[Path, Evaluator]]:
    """Yield evaluators with their paths, each before its members."""
    for index, evaluator in enumerate(evaluators if isinstance(evaluators, list) else ()):
        if isinstance(evaluator, dict):
            where: Path = (*path, index)
            yield where, evaluator
            yield from with_members(evaluator.get("evaluators"), (*where, "evaluators"))


def takes_file(script: str | Sequence[str]) -> bool:
    """Return True for a script that gets the answer as a file."""
    words = (script,) if isinstance(script, str) else script
    return any(name in word for word in words for name in (ANSWER_FILE, CODE_FILE))


def is_agentv_file(data: Any, lookup: Lookup) -> bool:
    """Return True for an eval file of AgentV: by its `$schema`, or by the nearest `.agentv` folder.

    Another `$schema` marks an eval file of rubric-ci.
    """
    schema = data.get("$schema") if isinstance(data, dict) else None
    if isinstance(schema, str):
        return schema.startswith("agentv")
    return any(isinstance(lookup(f".agentv/{name}"), Found) for name in _AGENTV_FILES)


def names_file(prompt: str) -> bool:
    """Return True if a prompt is the path of a file, not the text itself."""
    return "{{" not in prompt and re.fullmatch(_PROMPT_FILE, prompt.strip()) is not None


class UsedFiles:
    """Looks up references and collects the paths that were found."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self._paths: dict[str, None] = {}

    def read(self, reference: str) -> Found:
        found = self.lookup(reference)
        if not isinstance(found, Found):
            raise TypeError(f"{reference} was found by the checks: {found.reason}")
        self._paths[found.path] = None
        return found

    def part(self, reference: str) -> "Found | Media":
        """Return a file of a message that the checks found: a text, or an image or document."""
        found = self.lookup(reference)
        if isinstance(found, Found) or found.media is None:
            return self.read(reference)
        self._paths[found.media.path] = None
        return found.media

    def note_script(self, script: str | list[str], cwd: str) -> None:
        """Collect the words of a command that name files."""
        for word in _words(script):
            if "/" in word or "." in word:
                found = self.lookup(join(cwd, word))
                if isinstance(found, Found):
                    self._paths[found.path] = None

    def paths(self) -> tuple[str, ...]:
        """Return every path once, in the order of the file."""
        return tuple(self._paths)


def _words(script: str | list[str]) -> list[str]:
    """Return the words of a command; a path may be written with the backslashes of Windows."""
    if not isinstance(script, str):
        return [*dict.fromkeys((*script, *(word.replace("\\", "/") for word in script)))]
    spellings = dict.fromkeys((script, script.replace("\\", "/")))
    return [word for each in spellings for word in _split(each)]


def _split(script: str) -> list[str]:
    import shlex  # few files have scripts

    from rubric_ci.text.command_lines_and_variables import MOST_SHELL

    try:
        # NOTE: shlex takes the square of the length of a word.
        return shlex.split(script) if len(script) <= MOST_SHELL else script.split()
    except ValueError:  # quotes that only a shell understands
        return script.split()


class Fill(NamedTuple):
    """The values of variables in the texts of a case; a value is data and is not read again."""

    variables: Mapping[str, JSON] | None = None  # None: texts are used unchanged
    typed: bool = False  # a value that is one variable keeps its type

    def text(self, written: str) -> str:
        """Return a text with its variables replaced."""
        if self.variables is None or not ("{{" in written or "{%" in written):
            return written
        from rubric_ci.text.template import render  # few files have templates

        return render(written, self.variables)

    def value(self, written: JSON) -> JSON:
        """Return a value with the variables of its texts replaced; names of keys stay."""
        return with_texts(written, self._typed if self.typed else self.text)

    def _typed(self, written: str) -> JSON:
        name = _VARIABLE.fullmatch(written)
        return (self.variables or {})[name[1]] if name else self.text(written)


class Written(NamedTuple):
    """An evaluator as an eval file that `validate` accepts has it."""

    source: "Placed"
    path: Path
    data: Evaluator
    files: UsedFiles
    members: "tuple[EvaluatorSpec, ...]" = ()  # of a kind that has members
    fill: Fill = Fill()
    tags: Sequence[str] = ()  # of the case
    variables: Mapping[str, JSON] = {}  # of the case and its suite

    def span(self, *keys: str | int) -> "Span":
        from rubric_ci.values.diagnostics import Span

        return Span(*self.source.locate((*self.path, *keys)))

    def inside(self, *keys: str | int) -> "Written":
        data: Any = self.data
        for key in keys:
            data = data[key]
        return self._replace(path=(*self.path, *keys), data=data)


class ExpectedRequest(NamedTuple):
    """A request to a judge about an answer that is not known yet."""

    write: "Callable[[], tuple[ChatMessage, ...]]"
    output_tokens: int
    answers: int = 1  # how many of them it shows: of a conversation one per turn
    most: int = 1  # how often it is sent if all votes of `auto` are taken
    briefing: "Callable[[], Mapping[str, int]]" = dict
    """Returns the characters of its guidelines and examples, by their file."""


class Kind(NamedTuple):
    """One type of evaluator."""

    read: "Callable[[Written], EvaluatorSpec]"
    assess: "Callable[[EvalCase, Answer, Any, Any], Awaitable[Assessment | Unsent]] | None" = None
    """Asks a judge, starts a script or combines its members, in a `RunContext`; Unsent: of judge
    requests, if the context sends none."""
    measure: "Callable[[EvalCase, Answer, Any, Redactor], Assessment] | None" = None
    """Needs nothing but the answer; a type has either this or `assess`."""
    expected: "Callable[[EvalCase, Any, JudgeConfig], Sequence[ExpectedRequest]] | None" = None
    """Returns the judge requests about one answer, without repairs; None: it sends none."""
    problems: "Callable[[Evaluator, Path], Iterator[Problem]] | None" = None
    """Yields the problems that a schema cannot state, by rules that are not the core's."""
    criteria: bool = False  # under `rubrics`
    members: bool = False  # under `evaluators`
    means: bool = False  # its score is the weighted mean of its criteria
    whole: tuple[str, ...] = ()  # settings whose values are integers by name
