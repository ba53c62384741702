"""All rules of `rubric-ci validate` by id, collected from the modules that check them."""

from collections.abc import Mapping
from typing import Final

from rubric_ci.model.rules import Rule
from rubric_ci.validation import (
    ambiguous_scalars,
    assertion_rules,
    command_rules,
    config_rules,
    diagnostics,
    eval_rules,
    evaluator_rules,
    field_rules,
    gate_rules,
    guideline_rules,
    ignore_comments,
    judge_command_rules,
    model_rules,
    other_tools,
    project_rules,
    reference_rules,
    rubric_rules,
    shape_rules,
    target_rules,
    waiver_rules,
)
from rubric_ci.yaml_text import (
    constructor,
    document,
    jsonlines,
    limits,
    plain_scalars,
    problems,
    scalars,
    source,
    syntax_errors,
)

_MODULES = (
    *(constructor, document, jsonlines, limits, problems, scalars, source, syntax_errors),
    *(
        ambiguous_scalars,
        assertion_rules,
        command_rules,
        config_rules,
        diagnostics,
        eval_rules,
        evaluator_rules,
        field_rules,
    ),
    *(
        guideline_rules,
        ignore_comments,
        judge_command_rules,
        model_rules,
        other_tools,
        plain_scalars,
        project_rules,
        reference_rules,
        rubric_rules,
    ),
    *(gate_rules, shape_rules, target_rules, waiver_rules),
)

RULES: Final[Mapping[str, Rule]] = {
    rule.id: rule
    for rule in sorted(
        value for module in _MODULES for value in vars(module).values() if isinstance(value, Rule)
    )
}
