"""Rules across the files of a project: targets, globs, recorded answers, prompts of targets.

No target is shadowed, each glob matches a file, and each case has a recorded answer.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.evaluators.kind import target_names
from rubric_ci.files.validation.agentv import snake_case
from rubric_ci.files.validation.config_summary import Prompt
from rubric_ci.files.validation.gate_and_waiver_rules import CaseName, FindSizes
from rubric_ci.files.validation.http_target_and_literal_rules import BODY_VARIABLES
from rubric_ci.files.validation.shape_rules import MISSING_KEY
from rubric_ci.files.yaml_text.jsonlines import read_recording
from rubric_ci.text.globs import TooManyComparisons
from rubric_ci.text.numbers import listed
from rubric_ci.text.suggestions import did_you_mean, nearest, suggest
from rubric_ci.values.problems import INPUTS, Path, Problem, Rule, list_at, mappings

_INPUTS: Final = {*INPUTS, "turns", "simulated_user", "vars"}


class Winner(NamedTuple):
    """A file whose target of the same name is used instead."""

    file: str
    folder: str  # for the eval files of this folder; empty: for all


Winners: TypeAlias = Callable[[], Mapping[str, Winner]]
"""The names of targets that another file defines with precedence."""

NearestPath: TypeAlias = Callable[[str], str | None]
"""A glob to a hint with the nearest existing path, or to None if it matches a file.

It raises TooManyComparisons.
"""

TARGET_SHADOWED: Final = Rule(
    id="target-shadowed",
    severity="warning",
    switchable=True,
    meaning=(
        "Another file defines a target of this name and comes first: `rubric-ci.yaml`, then the "
        "targets file nearest to the eval file."
    ),
    hint="rename one of the two, or remove it",
)
DEPENDS_ON_UNMATCHED: Final = Rule(
    id="depends-on-unmatched",
    severity="warning",
    switchable=True,
    meaning=(
        "A glob under `depends_on` matches no file, so no change runs its cases. Globs are "
        "relative to the root of the repository."
    ),
)

RECORDING_MISSING: Final = Rule(
    id="recording-missing",
    severity="notice",
    switchable=True,
    meaning=(
        "The file of recorded answers does not exist here. Unless a step writes it before the run, "
        "no case of the target has an answer."
    ),
    hint="fix the path, which is relative to the root of the repository, or record the answers",
)
RECORDED_ANSWERS: Final = Rule(
    id="recorded-answers",
    severity="warning",
    switchable=True,
    meaning=(
        "A case has no recorded answer, or shares it with a case of another file that has the same "
        "id, or a line cannot be read: the case would be errored, or graded by another's answer."
    ),
    hint='add a line {"id": …, "answer": …}, with "file" for an id that several files have',
)
RECORDED_UNREAD: Final = Rule(
    id="recorded-unread",
    meaning="A line of a recording has another form: a run stops at it.",
    hint='write one {"id": …, "answer": …} a line',
)
TARGET_PROMPT_VARIABLE: Final = Rule(
    id="target-prompt-variable",
    severity="warning",
    switchable=True,
    meaning=(
        "The prompt of a target that no case names uses a variable that no case has, so "
        "`run --target` would have no answer."
    ),
    hint="add it to `vars` of the cases, or correct the prompt",
)
SHOWN: Final = 3  # cases in a message


class _Recorded(NamedTuple):
    """The ids of a recording, those that name their file, and its first problem."""

    ids: frozenset[str]
    files: frozenset[tuple[str, str]]
    problem: str = ""


def shadowed_targets(data: Any, winners: Winners) -> Iterator[Problem]:
    """Yield targets of a configuration or a targets file that other files shadow."""
    for index, target in enumerate(list_at(data, "targets")):
        name = target.get("name") if isinstance(target, dict) else None
        winner = winners().get(name) if isinstance(name, str) else None
        if winner:
            where = f" for eval files in `{winner.folder}`" if winner.folder else ""
            message = f"`{name}` is also defined in `{winner.file}`, which comes first{where}"
            yield Problem(TARGET_SHADOWED, ("targets", index, "name"), message)


def unmatched_dependencies(data: Any, nearest_path: NearestPath) -> Iterator[Problem]:
    """Yield globs under `depends_on` that match no file of the repository."""
    yield from _unmatched(data, (), nearest_path)
    for key in ("evalcases", "targets"):
        for index, owner in enumerate(list_at(data, key)):
            yield from _unmatched(owner, (key, index), nearest_path)


def _unmatched(owner: Any, path: Path, nearest_path: NearestPath) -> Iterator[Problem]:
    for key in owner if isinstance(owner, dict) else ():
        if isinstance(key, str) and snake_case(key) == "depends_on":
            for index, glob in enumerate(list_at(owner, key)):
                yield from _glob_problems(glob, (*path, key, index), nearest_path)


def _glob_problems(glob: Any, path: Path, nearest_path: NearestPath) -> Iterator[Problem]:
    try:
        hint = nearest_path(glob) if isinstance(glob, str) else None
    except TooManyComparisons as error:
        yield Problem(DEPENDS_ON_UNMATCHED, path, f"`{glob}` is not looked up: {error}")
        return
    if hint is not None:
        yield Problem(DEPENDS_ON_UNMATCHED, path, f"no file matches `{glob}`", hint)


def unused_prompt_problems(data: Any, sizes: FindSizes) -> Iterator[Problem]:
    """Yield variables that no case has, in prompts of targets that no case names.

    Those that cases name are checked with their files.
    """
    known, prompts = sizes().variables | {"input"}, sizes().prompts()
    targets = list_at(data, "targets")
    default = _default(targets)
    named = {case.target for case in sizes().names}
    used = [*named, *([] if all(named) else [default]), *list_at(data, "compare")]
    for index, target in enumerate(targets if sizes().names else ()):
        prompt = prompts.get(str(target.get("name"))) if isinstance(target, dict) else None
        if prompt is None or prompt.target in used:
            continue
        place: Path = ("targets", index, "body" if prompt.is_body else "prompt")
        own = BODY_VARIABLES if prompt.is_body else set()
        for name in sorted(prompt.names - known - own):
            message = f"{prompt.what} uses `{{{{ {name} }}}}`, which no case has"
            yield Problem(TARGET_PROMPT_VARIABLE, place, message, suggest(name, known))


def recorded_problems(data: Any, sizes: FindSizes) -> Iterator[Problem]:
    """Yield recordings of a configuration that are missing, cannot be read or lack cases."""
    targets = list_at(data, "targets")
    default = _default(targets)
    for index, target in enumerate(targets):
        answers = target.get("answers") if isinstance(target, dict) else None
        if not isinstance(answers, str) or target.get("provider") != "recorded" or "${{" in answers:
            continue
        place: Path = ("targets", index, "answers")
        read = sizes().read
        if read is None:
            return
        content = read(answers)
        if content is None:
            yield Problem(RECORDING_MISSING, place, f"there is no file `{answers}`")
            continue
        used = [case for case in sizes().names if (case.target or default) == target.get("name")]
        recorded = _read_recorded(content)
        for message, hint in _problems(answers, recorded, used):
            rule = RECORDED_UNREAD if recorded.problem else RECORDED_ANSWERS
            yield Problem(rule, place, message, hint)


def _default(targets: list[Any]) -> Any:
    only = len(targets) == 1 and isinstance(targets[0], dict)
    return targets[0].get("name") if only else "default"


def _read_recorded(content: bytes) -> _Recorded:
    ids, files = set[str](), set[tuple[str, str]]()
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            file, name, _ = read_recording(line)
        except ValueError as error:
            return _Recorded(frozenset(), frozenset(), f"line {number}: {error}")
        if file:
            files.add((file, name))
        else:
            ids.add(name)
    return _Recorded(frozenset(ids), frozenset(files))


def _problems(
    answers: str, recorded: _Recorded, used: Sequence[CaseName]
) -> Iterator[tuple[str, str]]:
    if recorded.problem:
        yield f"`{answers}`: {recorded.problem}", 'write one {"id": …, "answer": …} a line'
        return
    shared = [case for case in used if (case.file, case.id) not in recorded.files]
    missing = [case.id for case in shared if case.id not in recorded.ids]
    if missing:
        unused = recorded.ids - {case.id for case in used}
        meant = nearest(missing[0], [*unused], most=1_000)
        hint = f"its `{meant}` is not a case; {did_you_mean(missing[0])}" if meant else ""
        cases = listed([f"`{name}`" for name in missing], SHOWN)
        yield f"`{answers}` has no answer for {cases}", hint
    by_id: dict[str, dict[str, None]] = {}
    for case in shared:
        by_id.setdefault(case.id, {})[case.file] = None
    for name, files in by_id.items():
        if len(files) > 1 and name in recorded.ids:
            where = " and of ".join(f"`{file}`" for file in [*files][:SHOWN])
            yield f"`{name}` is a case of {where}, which get the same answer", ""


def case_prompt_problems(
    data: Any, prompts: Mapping[str, Prompt], compare: Sequence[str]
) -> Iterator[Problem]:
    """Yield cases without a variable of their target's prompt, and cases without an input.

    `prompts` has the targets' prompts by name; "" is the default target. A variable that all cases
    lack is one mistake, of the prompt.
    """
    from rubric_ci.files.validation.variable_rules import INPUT, UNDEFINED_VARIABLE, vars_of

    asked = Counter[Prompt]()
    lacking: dict[tuple[Prompt, str], list[tuple[Path, set[str]]]] = defaultdict(list)
    for path, case in mappings(data, "evalcases"):
        known = {*vars_of(data), *vars_of(case), INPUT}
        names = target_names(case, data, compare)
        found = [prompts[name] for name in names if name in prompts]
        asked.update(found)
        for prompt in found:
            for name in prompt.names - known - (BODY_VARIABLES if prompt.is_body else set()):
                lacking[prompt, name].append((path, known))
        if len(found) == len(names):
            continue
        if "messages" not in data and case.keys() & _INPUTS == {"vars"}:
            message = "the case has no `input_messages` or `input`"
            hint = "add one, `messages` to the suite, or a `prompt` to the target"
            yield Problem(MISSING_KEY, path, message, hint)
    for (prompt, name), cases in sorted(lacking.items(), key=lambda item: item[0][1]):
        every = 1 < len(cases) == asked[prompt]
        for path, known in cases[: 1 if every else None]:
            which = "no case of the file has" if every else "is not a variable of the case"
            message = f"{prompt.what} uses `{{{{ {name} }}}}`, which {which}"
            yield Problem(UNDEFINED_VARIABLE, (*path, "id"), message, suggest(name, known))
