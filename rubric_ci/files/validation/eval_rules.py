"""Rules of eval files that a schema cannot express: each is a generator over plain data.

Rules run on data of any shape. Each checks only values of the right type and reports nothing where
another rule reports the cause.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rubric_ci.evaluators.kind import criteria_at, evaluators_of, execution_of, with_members
from rubric_ci.files.validation.config_summary import WrittenTarget
from rubric_ci.files.validation.rubric_rules import criteria_problems
from rubric_ci.files.validation.shape_rules import OUT_OF_RANGE
from rubric_ci.files.yaml_text.document import FILE_SIZE, MAX_VALUES
from rubric_ci.text.suggestions import nearest, suggest
from rubric_ci.values.problems import (
    CASE,
    GOOD_CASE,
    GOOD_FILE,
    WEIGHT_TOTAL,
    WRONG_TYPE,
    Path,
    Problem,
    Rule,
    list_at,
    mappings,
    with_cases,
    with_evaluator,
)

CASE_ID_DUPLICATE: Final = Rule(
    id="case-id-duplicate",
    meaning="Reports, baselines and selections identify cases by id, so ids are unique in a file.",
    hint="give every case of a file its own id",
    bad=with_cases(GOOD_CASE * 2),
    good=with_cases(GOOD_CASE + GOOD_CASE.replace("greeting", "farewell")),
)
CASE_EMPTY: Final = Rule(
    id="case-empty",
    switchable=True,
    meaning="The case has nothing to be graded by, and no description of a good answer.",
    hint="add `rubrics`, or an `expected_outcome` to draft them from",
    bad=CASE,
    good=f"{CASE}    expected_outcome: A friendly greeting\n",
)
UNUSED_SETTING: Final = Rule(
    id="unused-setting",
    severity="warning",
    switchable=True,
    meaning=(
        "The setting has no effect in rubric-ci. Most of these are AgentV settings without a "
        "counterpart; misspelt settings of a command target are reported as well."
    ),
    hint="remove it, or start its name with `x-`",
    bad="targets: [{name: default, model: openai/a, max_retries: 9}]\n",
    good="targets: [{name: default, model: openai/a}]\n",
)
UNKNOWN_TARGET: Final = Rule(
    id="unknown-target",
    switchable=True,
    meaning=(
        "Targets are defined in `rubric-ci.yaml`, or in `targets.yaml`, `.agentv/targets.yaml` or "
        "`.agentv/providers.yaml` next to the eval files. Without any of these files, target "
        "names are not checked."
    ),
    bad=f"execution: {{target: defualt}}\n{GOOD_FILE}",
    good=f"execution: {{target: default}}\n{GOOD_FILE}",
)
AGENT_TARGET: Final = Rule(
    id="agent-target",
    severity="warning",
    switchable=True,
    meaning=(
        "A targets file may define an AgentV agent, or an alias of no target, which rubric-ci does "
        "not start. Cases with such a target get no verdict."
    ),
    hint="start it with `provider: cli`, or record its answers",
    bad=f"execution: {{target: codex}}\n{GOOD_FILE}",
    good=f"execution: {{target: default}}\n{GOOD_FILE}",
)
UNGRADED_CASES: Final = Rule(
    id="ungraded-cases",
    severity="notice",
    switchable=True,
    meaning=(
        "Cases with an expected outcome and no rubrics or evaluators are skipped by "
        "`rubric-ci run`. `default_evaluator: llm_judge` in `rubric-ci.yaml` lets the judge grade "
        "them by their expected outcome."
    ),
)
EVALUATOR_NAME_DUPLICATE: Final = Rule(
    id="evaluator-name-duplicate",
    meaning=(
        "Reports identify evaluators by name, so names are unique in a list. Inline rubrics have "
        "the name `rubric`."
    ),
    hint="give every evaluator of a list its own name",
    bad=with_evaluator(
        "- {name: check, type: latency, threshold: 9}\n- {name: check, type: cost, budget: 1}"
    ),
    good=with_evaluator(
        "- {name: fast, type: latency, threshold: 9}\n- {name: cheap, type: cost, budget: 1}"
    ),
)


def ungraded_cases(data: Any, file: str) -> Iterator[Problem]:
    """Yield one problem if cases of a file have an expected outcome and nothing to grade it."""
    cases = data.get("evalcases") if isinstance(data, dict) else None
    if not isinstance(cases, list) or data.keys() & {"rubrics", "evaluator"}:
        return
    inherited = bool(execution_of(data).get("evaluators"))
    found = [index for index, case in enumerate(cases) if _is_ungraded(case, inherited=inherited)]
    if found:
        many = "1 case has" if len(found) == 1 else f"{len(found):,} of {len(cases):,} cases have"
        message = f"{many} an expected outcome and no evaluator, and will not be graded"
        hint = (
            f"run `rubric-ci generate rubrics {file}`, or set `default_evaluator: llm_judge` in "
            "rubric-ci.yaml"
        )
        yield Problem(UNGRADED_CASES, ("evalcases", found[0], "id"), message, hint)


def _is_ungraded(case: Any, *, inherited: bool) -> bool:
    if not isinstance(case, dict) or not case.keys() & {"expected_outcome", "outcome"}:
        return False
    own = evaluators_of(case)
    return not _has_rubrics(case) and not (own[1] if own else inherited)


def _has_rubrics(case: dict[str, Any]) -> bool:
    return "rubrics" in case or any(True for _ in _turns_with_rubrics(case))


def _turns_with_rubrics(case: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    for path, turn in mappings(case, "turns"):
        if "rubrics" in turn:
            yield path, turn["rubrics"]


def eval_problems(data: Any) -> Iterator[Problem]:
    if not isinstance(data, dict):
        return
    suite = execution_of(data)
    yield from criteria_problems(data.get("rubrics"), ("rubrics",))
    cases = data.get("evalcases")
    inline = "rubrics" in data or not _is_bare_case(cases)
    path: Path = ("execution", "evaluators")
    yield from evaluators_problems(suite.get("evaluators"), path, inline=inline)
    yield from _same_ids(data)
    for path, case in mappings(data, "evalcases"):
        yield from _case(case, path, data, suite)


def expansion_problems(data: Any) -> Iterator[Problem]:
    """Yield the settings of a suite that are too many with the number of its cases."""
    if not isinstance(data, dict):
        return
    cases = [case for _, case in mappings(data, "evalcases")]
    for path, own, key in _inherited(data):
        heirs = sum(key not in case for case in cases) if key else len(cases)
        if own * heirs > MAX_VALUES:
            message = f"{heirs:,} cases with {own:,} entries each are more than {MAX_VALUES:,}"
            yield Problem(FILE_SIZE, path, message)


def _inherited(data: dict[str, Any]) -> Iterator[tuple[Path, int, str]]:
    """Yield the settings that cases inherit from the suite: path, entries, replacing key."""
    for key in ("messages", "vars", "depends_on"):
        yield (key,), _entries(data.get(key)), ""
    for key in ("rubrics", "targets"):
        yield (key,), _entries(criteria_at(data.get(key), ())[0]), key
    if found := evaluators_of(data):
        members = with_members(found[1], ())
        criteria = (criteria_at(each.get("rubrics"), ())[0] for _, each in members)
        yield found[0], _entries(found[1]) + sum(map(_entries, criteria)), "evaluators"


def _entries(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _is_bare_case(cases: Any) -> bool:
    return not isinstance(cases, list) or any(
        isinstance(case, dict) and not _has_rubrics(case) and not evaluators_of(case)
        for case in cases
    )


def target_problems(data: Any, known: Mapping[str, WrittenTarget]) -> Iterator[Problem]:
    """Yield references to undefined targets and to agents."""
    for path, name in _named_targets(data):
        if name and name not in known:
            yield unknown_target(name, path, known.keys() - {""})
        elif name and known[name].is_not_started:
            message = f"`{name}` is a target that rubric-ci does not start"
            yield Problem(AGENT_TARGET, path, message)


def _named_targets(data: Any) -> Iterator[tuple[Path, str]]:
    named: list[tuple[Path, Any]]
    named = [(("targets", index), name) for index, name in enumerate(list_at(data, "targets"))]
    for path, owner in [((), data), *mappings(data, "evalcases")]:
        if isinstance(owner, dict):
            named.append(((*path, "target"), owner.get("target")))
            named.append(((*path, "execution", "target"), execution_of(owner).get("target")))
    yield from ((path, name) for path, name in named if isinstance(name, str))


def unknown_target(name: str, path: Path, known: Iterable[str]) -> Problem:
    message = f"no target is called `{name}`"
    return Problem(UNKNOWN_TARGET, path, message, suggest(name, known))


def _same_ids(data: dict[str, Any]) -> Iterator[Problem]:
    named = (((*path, "id"), case.get("id")) for path, case in mappings(data, "evalcases"))
    for path, name, first in _repeated(named, {}):
        message = f"the id `{name}` is taken by an earlier case"
        yield Problem(CASE_ID_DUPLICATE, path, message, first=first)


def _repeated(
    named: Iterable[tuple[Path, Any]], taken: dict[str, Path]
) -> Iterator[tuple[Path, str, Path]]:
    """Yield each name that is taken, between its path and the path of the first."""
    for path, name in named:
        if isinstance(name, str) and (first := taken.setdefault(name, path)) is not path:
            yield path, name, first


def _case(case: dict[str, Any], path: Path, data: dict[str, Any], suite: Any) -> Iterator[Problem]:
    rubrics = case.get("rubrics")
    yield from criteria_problems(rubrics, (*path, "rubrics"))
    for turn, criteria in _turns_with_rubrics(case):
        yield from criteria_problems(criteria, (*path, *turn, "rubrics"))
    yield from _too_few_turns(case, path)
    inline = "rubrics" in case or "rubrics" in data
    if found := evaluators_of(case):
        yield from evaluators_problems(found[1], (*path, *found[0]), inline=inline)
    elif (
        not inline
        and not _has_rubrics(case)
        and not suite.get("evaluators")
        and "evaluator" not in data
    ):
        yield from _nothing_to_grade(case, path)


def _too_few_turns(case: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Yield a maximum of turns at which the simulated user would say nothing."""
    match case:
        case {"turns": list(turns), "simulated_user": {"max_turns": int(most)}}:
            if 1 <= most <= len(turns):
                message = f"`max_turns` must be more than {len(turns)}, the number of `turns`"
                yield Problem(OUT_OF_RANGE, (*path, "simulated_user", "max_turns"), message)


def _nothing_to_grade(case: dict[str, Any], path: Path) -> Iterator[Problem]:
    wanted = ("expected_outcome", "outcome", "rubrics")
    slips = case.keys() - {"expected_output"}  # is spelt like an outcome, and is a reference
    if case.keys().isdisjoint(wanted) and not any(nearest(key, wanted) for key in slips):
        message = "the case has neither rubrics nor evaluators nor an `expected_outcome`"
        yield Problem(CASE_EMPTY, path, message)


def evaluators_problems(
    evaluators: Any, path: Path, *, inline: bool = False, by_name: bool = False
) -> Iterator[Problem]:
    """Yield the problems of a list of evaluators.

    `inline`: rubrics are graded with them. `by_name`: a composite has weights of its members, which
    come before their own.
    """
    if not isinstance(evaluators, list):
        return
    yield from _same_names(evaluators, path, {"rubric"} if inline else set())
    if not inline and not by_name:
        yield from _no_weight(evaluators, path)
    for index, evaluator in enumerate(evaluators):
        if isinstance(evaluator, dict):
            yield from _evaluator(evaluator, (*path, index))


def _same_names(evaluators: list[Any], path: Path, inline: set[str]) -> Iterator[Problem]:
    named = (
        ((*path, index, "name"), evaluator.get("name"))
        for index, evaluator in enumerate(evaluators)
        if isinstance(evaluator, dict)
    )
    for where, name, first in _repeated(named, dict.fromkeys(inline, ())):
        owner = "an earlier evaluator" if first else "the inline rubrics"
        message = f"the name `{name}` is taken by {owner}"
        yield Problem(EVALUATOR_NAME_DUPLICATE, where, message, first=first)


def _no_weight(evaluators: list[Any], path: Path) -> Iterator[Problem]:
    weights = [e.get("weight", 1.0) if isinstance(e, dict) else 1.0 for e in evaluators]
    if weights and all(weight == 0 for weight in weights):
        yield Problem(WEIGHT_TOTAL, path, "every evaluator has weight 0, so nothing is graded")


def _evaluator(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    # Files without evaluators need neither.
    from rubric_ci.evaluators.table import kind_of
    from rubric_ci.files.validation.evaluator_rules import evaluator_problems, has_weights_by_name

    kind = kind_of(evaluator)
    if kind.criteria:
        yield from criteria_problems(evaluator.get("rubrics"), (*path, "rubrics"))
    if kind.members:
        members = evaluator.get("evaluators")
        by_name = has_weights_by_name(evaluator)
        yield from evaluators_problems(members, (*path, "evaluators"), by_name=by_name)
    yield from evaluator_problems(evaluator, path)
    for key in kind.whole:
        yield from _whole(evaluator.get(key), (*path, key))


def _whole(values: Any, path: Path) -> Iterator[Problem]:
    if isinstance(values, dict):
        for name, count in values.items():
            if isinstance(count, float) and count.is_integer():  # others fail the schema
                message = f"`{name}` must be an integer, not {count}"
                yield Problem(WRONG_TYPE, (*path, name), message)
