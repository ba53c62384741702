"""The data of another tool's file in our format, and the place of each value in that file."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.yaml_text.source import STOPPED, MovedSource, Source
from rubric_ci.text.numbers import numbered
from rubric_ci.text.suggestions import SYNONYMS, slip
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import with_texts
from rubric_ci.values.problems import GOOD_FILE, Path, Rule
from rubric_ci.values.references import Found, NotFound
from rubric_ci.values.walk import text_or_json

_MOST_COMPARED: Final = 100  # problems of a file, of which a key names the nearest known one
VARIABLE: Final = re.compile(r"\{\{-?\s*+(?:vars\.)?([A-Za-z_]\w*+(?:\.\w++)*+)\s*+-?\}\}")
"""A variable in a text of AgentV or promptfoo, also below another one."""

NOT_SUPPORTED: Final = Rule(
    id="not-supported",
    meaning=(
        "The file is written for another tool and is read as it is, but this part of it has no "
        "counterpart here. The file is not graded as if it were whole."
    ),
    hint="remove it, or write the file for rubric-ci (docs/evals.md)",
    bad="tests:\n  - {id: a, input: Hi, criteria: Greets, workspace: {repos: []}}\n",
    good=GOOD_FILE,
)

SKIPPED_THERE: Final = Rule(
    id="skipped-there",
    meaning=(
        "The tool that the file is written for skips this part, or it decides about no score, so "
        "it counts for nothing here either, unless the message says what it is here."
    ),
    hint="complete it, or remove it",
    severity="warning",
    bad=(
        "prompts: ['{{ input }}']\ntests:\n"
        "- {id: a, vars: {input: Hi}, assert: [Greets, {type: llm-rubric}]}\n"
    ),
    good=GOOD_FILE,
)

TARGET_NOT_SUPPORTED: Final = Rule(
    id="target-not-supported",
    severity="warning",
    meaning=(
        "A targets file that is written for another tool has a target without a counterpart here. "
        "Other targets of the file are used; a case that names this one gets no verdict."
    ),
    hint="a case that uses it gets no verdict",
)

FIXTURE_MISSING: Final = Rule(
    id="fixture-missing",
    severity="warning",
    meaning=(
        "A file that a case of another tool gives to the agent is not there. The case gets no "
        "verdict; the other cases of its file are graded."
    ),
    hint="add it, or remove it from the case",
)

CASE_NOT_SUPPORTED: Final = Rule(
    id="case-not-supported",
    severity="warning",
    meaning=(
        "A case of another tool's file has a part without a counterpart here. The case gets no "
        "verdict; the other cases of its file are graded. If every case has such a part, each is "
        "the error `not-supported`."
    ),
    hint="the case gets no verdict; remove this part, or write the case for rubric-ci",
)

KEPT_AS_METADATA: Final = Rule(
    id="kept-as-metadata",
    meaning=(
        "The file is written for another tool. No reader of its format grades by these keys, so "
        "they are kept as metadata of the case."
    ),
    severity="notice",
    bad="evals:\n  - {prompt: Hi, expected_output: Greets., slug: greet}\n",
    good="evals:\n  - {prompt: Hi, expected_output: Greets.}\n",
)


ReadText: TypeAlias = Callable[[str], str | None]
"""The name of a file, as the file of a tool has it, to its text; None: there is no such file."""


class Beside(NamedTuple):
    """The files that a translation may read and name: those from the folder of the tool's file."""

    read: ReadText = lambda _: None
    base: str = "."  # that folder, from the folder of the new file of an import
    glob: Callable[[str], Sequence[str]] = lambda _: ()
    stem: str = "cases"  # of the new file
    place: ReadText = lambda _: None  # of a file, from the root
    below: Callable[[str], Sequence[Found | NotFound]] = lambda _: ()  # a folder that is not empty
    is_missing: Callable[[str], bool] = lambda _: False  # nothing is there

    def matching(self, name: str) -> Sequence[str]:
        """Return a name, or the files that fit it as a glob."""
        return self.glob(name) if any(sign in name for sign in "*?[") else (name,)


ALONE: Final = Beside()

Placed: TypeAlias = tuple[Any, Path]
"""A value, and its path in the file of a tool."""


@dataclass(slots=True)
class Translation:
    """Our data of a file; `paths` has the path in the file of each value that moved."""

    data: dict[str, Any] = field(default_factory=dict)
    paths: dict[Path, Path] = field(default_factory=dict)
    problems: dict[tuple[Rule, Path, str], None] = field(default_factory=dict)  # each once
    slips: set[Path] = field(default_factory=set)  # of problems: misspelt keys
    targets: list[dict[str, Any]] = field(default_factory=list)  # of an import
    judges: dict[str, Path] = field(default_factory=dict)  # of an import: each as JSON
    beside: Beside = ALONE
    variables: dict[str, Any] = field(default_factory=dict)  # of an import: by case, for programs
    shims: set[str] = field(default_factory=set)  # names of the scripts that an import writes
    images: dict[str, bytes] = field(default_factory=dict)  # that an import writes, by their names
    files: dict[str, None] = field(default_factory=dict)  # with graders, from the root

    def put(self, place: Path, value: Any, theirs: Path) -> None:
        """Add a value at a path of our data, which is at a path of the file."""
        owner: Any = self.data
        for step in place[:-1]:
            owner = owner[step]
        last = place[-1]
        if isinstance(owner, list):
            owner.append(value)
        else:
            owner[last] = value
        self.paths[place] = theirs

    def copy(
        self, owner: Mapping[str, Any], names: Mapping[str, str], ours: Path, theirs: Path
    ) -> None:
        """Add the values that a mapping has; `names` are our names by its own."""
        for key, name in names.items():
            if key in owner:
                self.put((*ours, name), owner[key], (*theirs, key))

    def put_list(self, place: Path, items: Iterable[Placed], theirs: Path) -> None:
        """Add a list whose items have places of their own."""
        self.put(place, [], theirs)
        for number, (value, path) in enumerate(items):
            self.put((*place, number), value, path)

    def mapping(self, value: Any, path: Path, message: str) -> dict[str, Any]:
        """Return a mapping; empty for None, and with a report for another value."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.refuse(path, message)
        return {}

    def refuse(self, path: Path, message: str) -> None:
        """Report a part of the file that has no counterpart."""
        self.problems[NOT_SUPPORTED, path, message] = None

    def skip(self, path: Path, message: str) -> None:
        """Report a part of the file that counts for no score there."""
        self.problems[SKIPPED_THERE, path, message] = None

    def stop(self, case: Path, path: Path, message: str) -> None:
        """Report that a case gets no verdict, and why; the others of its file do."""
        self.problems[FIXTURE_MISSING, path, message] = None
        self.put((*case, STOPPED), message, path)

    def stop_unsupported(self, cases: Iterable[Path]) -> None:
        """Let cases with a part that has no counterpart get no verdict, if others have none.

        A misspelt key stays an error. A case whose graders are such parts has one criterion, which
        nothing marks.
        """
        of_case: dict[Path, list[tuple[Path, str]]] = {case: [] for case in cases}
        ours = {self.paths[case]: case for case in of_case}
        for rule, path, message in self.problems:
            if rule is NOT_SUPPORTED and path not in self.slips and path[:2] in ours:
                of_case[ours[path[:2]]].append((path, message))
        if all(of_case.values()):
            return
        for case, refused in of_case.items():
            for path, message in refused:
                del self.problems[NOT_SUPPORTED, path, message]
                self.problems[CASE_NOT_SUPPORTED, path, message] = None
            for path, message in refused[:1]:
                self.put((*case, STOPPED), message, path)
                if {"rubrics", "execution"}.isdisjoint(self.data["evalcases"][case[-1]]):
                    self.put((*case, "rubrics"), [message], path)

    def leave(self, path: Path, message: str) -> None:
        """Report a target that is not started; the others of its file are."""
        self.problems[TARGET_NOT_SUPPORTED, path, message] = None

    def describe(self, path: Path, message: str) -> None:
        """Report a part of the file that is kept and grades nothing."""
        self.problems[KEPT_AS_METADATA, path, message] = None

    def refuse_keys(self, owner: Mapping[str, Any], known: Iterable[str], path: Path) -> None:
        names = dict.fromkeys(known)
        for key in owner:
            if key not in names and not str(key).startswith("x-"):
                free = [name for name in names if name not in owner]
                few = len(self.problems) < _MOST_COMPARED
                meant = _meant(str(key), free) if few else ""
                if meant:
                    self.slips.add((*path, key))
                other = f", `{meant}` has one" if meant else ""
                self.refuse((*path, key), f"`{key}` has no counterpart{other}")

    def keep_braces(self) -> None:
        """Let braces in texts be text, as they are for a tool that has no templates, or no more."""
        if any(sign in json.dumps(self.data, default=str) for sign in ("{{", "{%")):
            self.put(("raw",), True, ())

    def skip_keys(
        self, owner: Mapping[str, Any], known: Iterable[str], deciding: Iterable[str], path: Path
    ) -> None:
        """Report the keys that the tool ignores; those that decide, and slips, are refused."""
        names = dict.fromkeys(known)
        kept = {k: v for k, v in owner.items() if not self._is_ignored(k, names, owner)}
        self.slips |= {(*path, key) for key in kept if key not in {*names, *deciding}}
        self.refuse_keys(
            {k: v for k, v in owner.items() if k in kept or k in deciding}, names, path
        )
        for key in (each for each in owner if each not in kept and each not in deciding):
            self.skip((*path, key), f"`{key}` has no effect: the tool ignores it")

    @staticmethod
    def _is_ignored(key: Any, known: Mapping[str, None], owner: Mapping[str, Any]) -> bool:
        if key in known or str(key).startswith(("x-", "__")):
            return False
        free = [name for name in known if name not in owner]
        return not (slip(str(key), list(known)) or _meant(str(key), free))


def _meant(key: str, known: list[str]) -> str:
    """Return the known key that another one misspells or that it is in other tools, or ""."""
    return next((name for name in SYNONYMS.get(key, ()) if name in known), "") or slip(key, known)


def placed(written: Any, path: Path, *, alone: bool = False) -> list[Placed]:
    """Return the items of a list with their places; `alone`: another value is the only item."""
    if isinstance(written, list):
        return [(each, (*path, at)) for at, each in enumerate(written)]
    return [(written, path)] if alone else []


def named_apart(
    evaluators: Sequence[Mapping[str, Any]], taken: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Return evaluators with names that differ, also from those that are taken."""
    names = numbered((each["name"] for each in evaluators), taken)
    return [{**each, "name": name} for each, name in zip(evaluators, names, strict=True)]


def renamed(value: Any, old: str, new: str) -> Any:
    """Return data with one key renamed at every depth."""
    if isinstance(value, list):
        return [renamed(each, old, new) for each in value]
    if not isinstance(value, dict):
        return value
    return {new if key == old else key: renamed(each, old, new) for key, each in value.items()}


def filled(value: Any, variables: Mapping[str, Any], *, keep: frozenset[str] = frozenset()) -> Any:
    """Return a value with variables in its texts, but for those that are not known.

    A text that is one variable becomes its value; texts under the keys of `keep` stay.
    """
    if isinstance(value, dict):
        return {
            key: each if key in keep else filled(each, variables, keep=keep)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [filled(each, variables, keep=keep) for each in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    if whole := VARIABLE.fullmatch(value.strip()):
        return _value_of(whole, variables)
    return VARIABLE.sub(lambda match: text_or_json(_value_of(match, variables)), value)


_ENVIRONMENT: Final = re.compile(r"\{\{\s*+env\.([A-Za-z_]\w*+)\s*+\}\}")


def with_environment(value: Any) -> Any:
    """Return a value with variables of the environment in its texts as we write them."""
    return with_texts(value, lambda text: _ENVIRONMENT.sub(r"${{ \1 }}", text))


def _value_of(match: re.Match[str], variables: Mapping[str, Any]) -> Any:
    owner: Any = variables
    for step in match[1].split("."):
        if not isinstance(owner, dict) or step not in owner:
            return match[0]
        owner = owner[step]
    return owner


_TOKEN: Final = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2}|.)|\(\?(?:<[=!]|<\w+>|P?.)?|\[\[:|\[\^?\]", re.DOTALL
)
_SAME_LETTERS: Final = frozenset("dDsSwWbBnrtfv")


def other_meaning(pattern: str) -> str:
    r"""Return the first part of JavaScript's that RE2 reads in another way, or not; "": none.

    `\s` is any Unicode white space there, and `.` no carriage return; both are taken over.
    """
    return next((each[0] for each in _TOKEN.finditer(pattern) if not _is_same(each[0])), "")


def _is_same(part: str) -> bool:
    if part.startswith("\\"):
        letter = part[1:]
        return len(letter) > 1 or letter in _SAME_LETTERS or not letter.isalnum()
    return part == "(?:" or (part.startswith("(?<") and part.endswith(">"))


class TranslatedSource(MovedSource):
    """A file of another tool, with what its dialect found in it."""

    def __init__(self, document: Source, found: Translation) -> None:
        super().__init__(document, found.data, found.paths, found.problems)
        self.found = found

    @property
    def rubric_files(self) -> tuple[str, ...]:
        return tuple(self.found.files)
