"""Rules that the JSON Schema checks; some places of a file have their own rules."""

from typing import Final

from rubric_ci.files.validation.rubric_rules import (
    LEVELS_TYPE,
    SCORE_RANGE_BOUNDS,
    SCORE_RANGE_COVERAGE,
    SCORE_RANGE_OVERLAP,
    SCORE_RANGE_TYPE,
)
from rubric_ci.values.problems import (
    GOOD_CASE,
    GOOD_FILE,
    Path,
    Rule,
    with_cases,
    with_evaluator,
    with_rubrics,
)


def _with_role(role: str) -> str:
    text = f"  - id: greeting\n    input: [{{role: {role}, content: Hello}}]\n"
    return with_cases(f"{text}    rubrics: [Greets]\n")


MISSING_KEY: Final = Rule(
    id="missing-key",
    meaning="A required field is missing.",
    bad=with_cases("  - input: Say hello\n    rubrics: [Greets]\n"),
    good=with_cases(GOOD_CASE),
)
MISSING_VALUE: Final = Rule(
    id="missing-value",
    meaning="A key has no value.",
    hint="write a value, or remove the key",
    bad=with_cases("  - id: greeting\n    input:\n    rubrics: [Greets]\n"),
    good=with_cases(GOOD_CASE),
)
NOT_TEXT: Final = Rule(
    id="not-text",
    meaning=(
        "The field requires text, and YAML reads the value as another type: `no` is a boolean, "
        "`007` a number."
    ),
    hint="quote it",
    bad=with_cases("  - id: 007\n    input: Say hello\n    rubrics: [Greets]\n"),
    good=with_cases('  - id: "007"\n    input: Say hello\n    rubrics: [Greets]\n'),
)
UNKNOWN_VALUE: Final = Rule(
    id="unknown-value",
    meaning="The field accepts only certain values.",
    bad=_with_role("human"),
    good=_with_role("user"),
)
EMPTY_TEXT: Final = Rule(
    id="empty-text",
    meaning="The text is empty.",
    hint="write text, or remove the key",
    bad=with_cases('  - id: ""\n    input: Say hello\n    rubrics: [Greets]\n'),
    good=with_cases(GOOD_CASE),
)
OUT_OF_RANGE: Final = Rule(
    id="out-of-range",
    meaning="The number is too small or too large for its field.",
    bad=with_rubrics("- score_ranges: {0: cold, 6: warm}\n  required_min_score: 11"),
    good=with_rubrics("- score_ranges: {0: cold, 6: warm}\n  required_min_score: 7"),
)
TOO_FEW: Final = Rule(
    id="too-few", meaning="The list needs more entries.", bad="evalcases: []\n", good=GOOD_FILE
)
ALIAS_CONFLICT: Final = Rule(
    id="alias-conflict",
    meaning="Two spellings of one field are given, and only one of them would be used.",
    hint="remove the older spelling",
    bad=with_cases(
        f"{GOOD_CASE}    outcome: A greeting\n    expected_outcome: A friendly greeting\n"
    ),
    good=with_cases(f"{GOOD_CASE}    expected_outcome: A friendly greeting\n"),
)
EVALUATOR_TYPE: Final = Rule(
    id="evaluator-type",
    meaning="No evaluator has this type, so this entry would grade nothing.",
    bad=with_evaluator("- {name: check, type: code, script: ./check}"),
    good=with_evaluator("- {name: check, type: code_judge, script: ./check}"),
)
CRITERION_TEXT: Final = Rule(
    id="criterion-text",
    meaning="A criterion needs text that describes what the judge should look for.",
    hint="describe what to look for in `expected_outcome`",
    bad=with_rubrics("- {id: greets, weight: 2}"),
    good=with_rubrics("- {id: greets, expected_outcome: Greets the reader, weight: 2}"),
)
ASSERTION_OPTION: Final = Rule(
    id="assertion-option",
    meaning=(
        "`not`, `ignore_case`, `exact` and `field` belong to assertions, `ignore_case` to those "
        "that compare texts or names of tools, and `exact` to those that would leave out white "
        "space or a code fence. Elsewhere they would change nothing."
    ),
    hint="remove it, or write the criterion as an assertion such as `contains`",
    bad=with_rubrics("- {expected_outcome: Promises a refund, not: true}"),
    good=with_rubrics("- {contains: a refund, not: true}"),
)
CRITERION_KIND: Final = Rule(
    id="criterion-kind",
    meaning=(
        "A criterion is a checklist item, has `score_ranges`, has `levels`, or has one key of an "
        "assertion."
    ),
    hint="split it into two criteria",
    bad=with_rubrics("- score_ranges: {0: cold, 6: warm}\n  levels: {1: cold, 2: warm}"),
    good=with_rubrics("- score_ranges: {0: cold, 6: warm}\n- levels: {1: cold, 2: warm}"),
)
SCORE_RANGE_TEXT: Final = Rule(
    id="score-range-text",
    meaning="Each range describes the answers that get such a score.",
    hint="describe such an answer in `expected_outcome`",
    bad=with_rubrics("- score_ranges:\n    - {score_range: [0, 10]}"),
    good=with_rubrics("- score_ranges:\n    - {score_range: [0, 10], expected_outcome: a}"),
)

_OF_RANGES: Final = {
    "type": SCORE_RANGE_TYPE,
    "bounds": SCORE_RANGE_BOUNDS,
    "text": SCORE_RANGE_TEXT,
}


def _names_text(key: str | int) -> bool:
    from rubric_ci.values.rubric import Level, ScoreRange
    from rubric_ci.values.written_keys import keys_of

    return key in {*keys_of(ScoreRange, "text"), *keys_of(Level, "text")}


def rule_of(path: Path, check: str, otherwise: Rule) -> Rule:  # noqa: PLR0911 - one line per rule
    """Return the rule for a failed check at a path: some places have their own rules."""
    if path and path[-1] == "score_ranges" and check in {"at least", "at most"}:
        return SCORE_RANGE_COVERAGE if check == "at least" else SCORE_RANGE_OVERLAP
    if "score_ranges" in path:
        kind = {"type": "type", "bounds": "bounds", "key": "bounds"}.get(check)
        if path[-1] == "score_range":
            kind = "type"
        elif _names_text(path[-1]) or kind is None:
            kind = "text" if check in {"required", "pattern", "type"} else None
        if isinstance(path[-1], str) and path[-2] == "score_ranges" and check != "key":
            kind = "text"
        return _OF_RANGES[kind] if kind else otherwise
    if path and path[-1] == "levels":
        return TOO_FEW if check == "at least" else LEVELS_TYPE
    if "levels" in path and (path[-1] == "level" or check == "key"):
        return LEVELS_TYPE
    if {"rubrics", "criteria"} & {*path} and path[-1] == "expected_outcome":
        return CRITERION_TEXT
    if len(path) > 2 and path[-1] == "type" and path[-3] == "evaluators":
        return EVALUATOR_TYPE if check == "enum" else otherwise
    return otherwise
