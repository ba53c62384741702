"""Check a file: its text, its schema, its rules and its references.

NOTE: modules that describe problems are imported late: a file without problems needs none.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from rubric_ci.evaluators.assertions.keys import KEYS
from rubric_ci.files.validation.config_summary import NO_TARGETS, KnownTargets, is_of_agentv
from rubric_ci.files.validation.eval_rules import (
    eval_problems,
    expansion_problems,
    target_problems,
    ungraded_cases,
)
from rubric_ci.files.validation.reference_rules import (
    eval_guidelines_problems,
    guidelines_problems,
    reference_problems,
)
from rubric_ci.files.validation.rubric_files import (
    SHARED,
    IncludedSource,
    open_rubric,
    problems_of_tests,
    repeated_criteria,
)
from rubric_ci.files.validation.rubric_rules import GATE_KIND
from rubric_ci.files.validation.schema import problems as schema_problems
from rubric_ci.files.yaml_text.csv_cases import SUFFIXES
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.values import parts
from rubric_ci.values.problems import MAX_PROBLEMS, UNKNOWN_KEY, Problem
from rubric_ci.values.references import Lookup, Machine, NearFile

if TYPE_CHECKING:
    from rubric_ci.files.validation.gate_and_waiver_rules import FindSizes, FindStates
    from rubric_ci.files.validation.project_rules import NearestPath, Winners
    from rubric_ci.values.diagnostics import Diagnostic
    from rubric_ci.values.model_end_and_parameters import Models

_MARK = "rubric-ci:"  # of comments that silence a rule
_OF_WHOLE_LISTS = frozenset(("condition-parent", "example-mark", "unused-variable", "weight-total"))
"""Rules that would report what a criterion explains that could not be included."""
_KINDS = frozenset(("score_ranges", "levels", "choices"))  # make a criterion of another kind


class Surroundings(NamedTuple):
    """The facts that an eval file is checked against; an unknown fact is not checked."""

    lookup: Lookup
    known: KnownTargets = NO_TARGETS
    nearest_path: "NearestPath | None" = None  # of a glob under `depends_on`
    machine: "Callable[[], Machine] | None" = None  # that starts scripts
    near_file: NearFile = lambda _: ""  # that a missing one probably is
    default_evaluator: str = ""  # of the configuration; only `none` leaves cases ungraded
    models: "Callable[[], Models] | None" = None


def check_evals(source: Source, around: Surroundings) -> "tuple[Diagnostic, ...]":
    if other := _other_tool(source):
        return _diagnosed(source, [other])
    first = _include_problems(source) if isinstance(source, IncludedSource) else ()
    if not source.readable:
        return _diagnosed(source, [])
    found = _eval_problems(source, around.lookup, around.near_file)
    if any(each.rule is UNKNOWN_KEY for each in found):  # a golden set has one for each key
        foreign = parts.offered("files of other tools")
        if foreign and (golden := foreign.golden_set(source.data, source.file)):
            return _diagnosed(source, [golden])
    found.extend(_problems_with_targets(source, around.known))
    if not source.of_other_tool:
        raw = source.raw if isinstance(source, IncludedSource) else source
        found.extend(_first(repeated_criteria(raw.data)))
    if around.default_evaluator == "none":
        found.extend(ungraded_cases(source.data, source.file))
    if around.nearest_path and _mentions(source, "depends_on"):
        from rubric_ci.files.validation.project_rules import unmatched_dependencies

        found.extend(_first(unmatched_dependencies(source.data, around.nearest_path)))
    if around.models and _mentions(source, "model"):
        from rubric_ci.files.validation.model_rules import evaluator_model_problems

        found.extend(_first(evaluator_model_problems(source.data, around.models)))
    if around.known.targets:
        found.extend(_first(_media_problems(source, around)))
    if around.machine and _mentions(source, "evaluators", "workspace"):
        from rubric_ci.files.validation.command_rules import script_problems

        found.extend(_first(script_problems(source.data, around.machine())))
    if any(each.severity.value == "error" for each in first):
        found = [each for each in found if each.rule.id not in _OF_WHOLE_LISTS]
    return _diagnosed(source, found, first)


def _problems_with_targets(source: Source, known: KnownTargets) -> Iterator[Problem]:
    if known.prompts or _has_variables(source.texts()):
        yield from _first(_variable_problems(source, known))
    if known.targets and _mentions(source, *KEYS):
        from rubric_ci.files.validation.assertion_rules import call_problems

        yield from _first(call_problems(source.data, known))
    if known.targets:
        yield from _first(target_problems(source.data, known.targets))


def _include_problems(source: IncludedSource) -> "tuple[Diagnostic, ...]":
    """Return the problems of the file as it is written, and of files that it cannot include."""
    raw = source.raw
    own = [*schema_problems("eval", raw), *source.problems]
    own.extend(_ambiguous(raw, own))
    found = list(_diagnosed(raw, own))
    for each in source.files.values():
        found += _diagnosed(each.document, [*each.problems]) if each.faulty else ()
    return tuple(found)


def check_rubric(
    path: str, text: str, lookup: Lookup
) -> "tuple[tuple[Diagnostic, ...], Mapping[str, str]]":
    """Return all problems of a rubric file, and its text by its name."""
    from rubric_ci.files.validation.assertion_rules import assertion_problems

    opened = open_rubric(path, text)
    document, found = opened.document, list(opened.problems)
    if document.readable:
        if isinstance(document.data, dict):
            own = document.data.get("tests"), document.data.get("criteria")
            found.extend(_first(problems_of_tests(*own, lookup)))
            found.extend(guidelines_problems(document.data, (), lookup))
        data = {"rubrics": document.data}
        inner = _first(assertion_problems(data, lookup))
        found.extend(each._replace(path=each.path[1:]) for each in inner)
    found.extend(_ambiguous(document, found))
    return _diagnosed(document, found), document.texts()


def check_config(
    document: Source,
    *,
    targets_only: bool = False,
    others: Callable[[], frozenset[str]] | None = None,
    winners: "Winners | None" = None,
    nearest_path: "NearestPath | None" = None,
    machine: "Callable[[], Machine] | None" = None,
    sizes: "FindSizes | None" = None,
    models: "Callable[[], Models] | None" = None,
) -> "tuple[Diagnostic, ...]":
    """Return all problems of a configuration or a targets file.

    The functions look up things outside of the file; without one, rules that need it are skipped.
    """
    from rubric_ci.files.validation.config_rules import config_problems
    from rubric_ci.files.validation.gate_and_waiver_rules import pass_rate_problems, tag_problems
    from rubric_ci.files.validation.project_rules import shadowed_targets, unmatched_dependencies

    problems = config_problems(document, _rule_ids, targets_only=targets_only, others=others)
    found = [*_first(problems), *_first(pass_rate_problems(document.data, sizes))]
    if models:
        from rubric_ci.files.validation.model_rules import MODEL_PRICE, model_problems

        own = not is_of_agentv(document.file)
        of_models = [*_first(model_problems(document.data, models, providers=own))]
        prices = {each.path for each in of_models if each.rule == MODEL_PRICE}
        found = [*(each for each in found if each.path not in prices), *of_models]
    if sizes and _mentions(document, "tags"):
        found.extend(_first(tag_problems(document.data, sizes)))
    if sizes and not targets_only:
        from rubric_ci.files.validation.config_rules import forbidden_variables
        from rubric_ci.files.validation.project_rules import recorded_problems

        found.extend(_first(recorded_problems(document.data, sizes)))
        if "${{" in "".join(document.texts().values()):
            found.extend(_first(forbidden_variables(document.data)))
    if sizes and _mentions(document, "prompt", "body"):
        from rubric_ci.files.validation.project_rules import unused_prompt_problems

        found.extend(_first(unused_prompt_problems(document.data, sizes)))
    if winners:
        found.extend(_first(shadowed_targets(document.data, winners)))
    if nearest_path:
        found.extend(_first(unmatched_dependencies(document.data, nearest_path)))
    if machine:
        from rubric_ci.files.validation.command_rules import target_command_problems

        found.extend(_first(target_command_problems(document.data, machine())))
    return _diagnosed(document, found)


def check_prompts(
    document: Source, lookup: Lookup, near_file: NearFile = lambda _: ""
) -> "tuple[Diagnostic, ...]":
    """Return the problems of prompt files, skills and rubric files that a configuration names."""
    if not _mentions(document, "prompt", "skill", SHARED):
        return ()
    from rubric_ci.files.validation.includes import shared_of
    from rubric_ci.files.validation.reference_rules import prompt_problems

    found = list(_first(prompt_problems(document.data, lookup, near_file)))
    found += shared_of(document, lookup).problems
    of_text = _diagnosed(document, [])  # `check_config` has them
    return tuple(each for each in _diagnosed(document, found) if each not in of_text)


def check_waivers(
    document: Document, find_states: "FindStates | None" = None
) -> "tuple[Diagnostic, ...]":
    """Return all problems of `waivers.yaml`; without `find_states`, of the file alone."""
    from rubric_ci.files.validation.gate_and_waiver_rules import waiver_problems

    return _diagnosed(document, list(_first(waiver_problems(document, find_states))))


def switched(
    found: "tuple[Diagnostic, ...]", texts: Mapping[str, str], rules: Mapping[str, str]
) -> "tuple[Diagnostic, ...]":
    """Return the remaining diagnostics of a file and its sidecar, with configured severities."""
    if not found:
        return ()
    has_comments = any(_MARK in text for text in texts.values())
    if not has_comments and not any(each.rule in rules for each in found):
        from rubric_ci.files.validation.located_problems import position

        return tuple(sorted(found, key=position))
    from rubric_ci.files.validation.rules import apply_suppressions  # imports every rule

    return apply_suppressions(found, texts, rules)


def _media_problems(source: Source, around: Surroundings) -> Iterator[Problem]:
    texts = source.texts().values()
    if not around.models or not any("image" in each or ".pdf" in each.lower() for each in texts):
        return
    from rubric_ci.files.validation.media_rules import model_problems
    from rubric_ci.files.validation.reference_rules import media_of

    media = list(media_of(source.data, around.lookup))
    yield from model_problems(source.data, media, around.known, around.models)


def _mentions(source: Source, *words: str) -> bool:
    """Return False where no text has a word, so that the data has none; a dialect's may."""
    # A text with escapes in quotes, such as `\u0067`, may have any word.
    written = (*words, "\\")
    texts = source.texts().values()
    return source.of_other_tool or any(word in text for text in texts for word in written)


def _other_tool(source: Source) -> Problem | None:
    data, file = source.data, source.file
    has_cases = isinstance(data, dict) and "evalcases" in data
    if not isinstance(data, dict | list) or (has_cases and not file.endswith(".jsonl")):
        return None
    if (foreign := parts.offered("files of other tools")) is None:
        return None
    if isinstance(data, list):
        found = foreign.recognise_records(data, (0,), file)
    elif has_cases:
        found = foreign.recognise_lines(data["evalcases"], file)
    else:
        found = foreign.recognise(data, file)
    problem: Problem | None = found
    return problem


def _rule_ids() -> Collection[str]:
    from rubric_ci.files.validation.rules import RULES  # for a configuration that has `rules`

    return RULES


def _eval_problems(source: Source, lookup: Lookup, near_file: NearFile) -> list[Problem]:
    written = source.raw if isinstance(source, IncludedSource) else source
    of_schema = schema_problems("eval", written)
    kinds = {problem.path[:-1] for problem in of_schema if problem.meant in _KINDS}  # misspelt
    found = of_schema if written is source else []  # `_include_problems` has them
    rules = _first(chain(expansion_problems(source.data), eval_problems(source.data)))
    found.extend(p for p in rules if p.rule != GATE_KIND or p.path[:-1] not in kinds)
    found.extend(_ambiguous(source, found))
    found.extend(_first(reference_problems(source.data, lookup, near_file)))
    if _mentions(source, "guidelines"):
        found.extend(_first(eval_guidelines_problems(source.data, lookup, near_file)))
    if not source.of_other_tool and _mentions(source, "file://"):
        from rubric_ci.files.validation.http_target_and_literal_rules import literal_files

        found.extend(_first(literal_files(source.data)))
    if _mentions(source, "trials"):
        from rubric_ci.files.validation.gate_and_waiver_rules import trial_problems

        found.extend(_first(trial_problems(source.data)))
    if _mentions(source, *KEYS):
        from rubric_ci.files.validation.assertion_rules import assertion_problems

        found.extend(_first(assertion_problems(source.data, lookup, near_file)))
    if _mentions(source, "field_accuracy"):
        of_answers = parts.offered("problems of reference answers")
        found.extend(_first(of_answers(source.data, lookup)) if of_answers else ())
    return found


def _ambiguous(source: Source, found: list[Problem]) -> list[Problem]:
    if not source.ambiguous:
        return []
    from rubric_ci.files.validation.ambiguity_rules import ambiguous_scalar_problems

    return [*_first(ambiguous_scalar_problems(source, found))]


def _has_variables(texts: Mapping[str, str]) -> bool:
    return any(
        file.endswith(SUFFIXES) or any(word in text for word in ("{{", "{%", "vars", "applies_if"))
        for file, text in texts.items()
    )


def _variable_problems(source: Source, known: KnownTargets) -> Iterator[Problem]:
    from rubric_ci.files.validation.http_target_and_literal_rules import conversation_problems
    from rubric_ci.files.validation.project_rules import case_prompt_problems
    from rubric_ci.files.validation.variable_rules import variable_problems

    prompts = known.prompts
    if prompts is None:
        yield from variable_problems(source, None)
        return
    used = frozenset[str]().union(*(each.names for each in prompts.values()))
    yield from variable_problems(source, used)
    yield from case_prompt_problems(source.data, prompts, known.compare)
    yield from conversation_problems(source.data, prompts, known.compare)


def _first(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Limit problems to one more than are reported, to know whether there are more."""
    return islice(problems, MAX_PROBLEMS + 1)


def _diagnosed(
    source: Source, found: list[Problem], first: "tuple[Diagnostic, ...]" = ()
) -> "tuple[Diagnostic, ...]":
    if not (found or first or source.text_problems):
        return ()
    from rubric_ci.files.validation.located_problems import diagnose

    return diagnose(source, found, first)
