"""Every rule: its id, how much it matters unless configured, and what to do about it."""

from typing import Final

ERROR: Final = "error"
WARNING: Final = "warning"

RULES: Final[dict[str, tuple[str, str]]] = {
    # The text as YAML or JSON.
    "unreadable": (ERROR, ""),
    "encoding": (ERROR, "save the file as UTF-8"),
    "file-size": (ERROR, "split the file"),
    "yaml-syntax": (ERROR, ""),
    "yaml-tab": (ERROR, "indent with spaces"),
    "yaml-character": (ERROR, "remove it, or write it as an escape in double quotes"),
    "yaml-line-break": (WARNING, "use ordinary line breaks; editors number the lines differently"),
    "yaml-empty": (ERROR, "write something, or remove the file"),
    "yaml-documents": (ERROR, "keep one document to a file"),
    "yaml-duplicate-key": (ERROR, "remove one of them"),
    "yaml-key": (ERROR, "quote it, or write it as one word"),
    "yaml-merge": (ERROR, ""),
    "yaml-alias": (ERROR, "write the value out"),
    "yaml-expansion": (ERROR, "write the values out"),
    "yaml-depth": (ERROR, "nest less"),
    "yaml-tag": (ERROR, "remove the tag"),
    "yaml-number-size": (ERROR, "quote it, if it is meant as text"),
    "json-syntax": (ERROR, "write one JSON object a line"),
    "too-many-problems": (ERROR, "mend those above first"),
    # Shapes.
    "wrong-type": (ERROR, ""),
    "not-text": (ERROR, "quote it"),
    "ambiguous-text": (ERROR, "quote it"),
    "plain-number": (ERROR, "write a plain decimal number"),
    "not-finite": (ERROR, "write a finite number"),
    "missing-key": (ERROR, ""),
    "missing-value": (ERROR, "write a value, or remove the key"),
    "unknown-key": (ERROR, "remove it, or let its name begin with `x-`"),
    "unknown-value": (ERROR, ""),
    "empty-text": (ERROR, "write a text, or remove the key"),
    "out-of-range": (ERROR, ""),
    "too-few": (ERROR, ""),
    "alias-conflict": (ERROR, "remove the older spelling"),
    "similar-key": (WARNING, ""),
    "unused-setting": (WARNING, "remove it, or let its name begin with `x-`"),
    # Cases and evaluators.
    "case-id-duplicate": (ERROR, "give every case of a file its own id"),
    "case-empty": (ERROR, "add `rubrics`, or an `expected_outcome` to draft them from"),
    "evaluator-type": (ERROR, ""),
    "evaluator-name-duplicate": (ERROR, "give every evaluator of a list its own name"),
    "unknown-member": (ERROR, ""),
    "weight-total": (ERROR, "give one of them a weight above 0"),
    # Criteria.
    "criterion-text": (ERROR, "say what is looked for in `expected_outcome`"),
    "criterion-kind": (ERROR, "split it into two criteria"),
    "criterion-id-duplicate": (ERROR, "give every criterion of a list its own id"),
    "gate-kind": (WARNING, ""),
    "gate-out-of-reach": (ERROR, "lower it to a declared level"),
    "score-range-type": (ERROR, "write [low, high] with two integers from 0 to 10"),
    "score-range-bounds": (ERROR, "keep 0 <= low <= high <= 10"),
    "score-range-overlap": (ERROR, "ranges must not share a value"),
    "score-range-coverage": (ERROR, "together the ranges must cover 0 to 10"),
    "score-range-text": (ERROR, "say in `expected_outcome` what such an answer is like"),
    "levels-type": (ERROR, "write levels as integers"),
    "levels-count": (ERROR, "declare at least two levels"),
    "levels-duplicate": (ERROR, "declare every level once"),
    "levels-text": (ERROR, "say in `criteria` what such an answer is like"),
    # Configuration and targets.
    "literal-secret": (WARNING, "write `${{ NAME }}` and set the environment variable NAME"),
    "target-name-duplicate": (ERROR, "give every target its own name"),
    "target-shadowed": (WARNING, "rename one of the two, or remove it"),
    "judge-target": (ERROR, "name a target with `model`"),
    "threshold-order": (ERROR, "keep `borderline` at or below `pass`"),
    "unknown-placeholder": (ERROR, ""),
    "unknown-rule": (ERROR, "`rubric-ci validate --explain` lists the rules"),
    "votes-even": (ERROR, "an even number of votes can tie"),
    # References.
    "lone-part": (WARNING, "begin it with `- `"),
    "file-missing": (ERROR, "paths are looked up beside the eval file, then in the folders above"),
    "prompt-variable": (ERROR, ""),
    "depends-on-unmatched": (WARNING, ""),
    "unknown-target": (ERROR, ""),
    "agent-target": (WARNING, "let `provider: cli` start it, or record its answers"),
    "unused-ignore": (WARNING, ""),
}

SWITCHABLE: Final = frozenset(
    (
        *("yaml-line-break", "unknown-key", "similar-key", "ambiguous-text", "plain-number"),
        *("unused-setting", "agent-target", "lone-part"),
        *("case-empty", "gate-kind", "gate-out-of-reach", "unknown-member", "prompt-variable"),
        *("unknown-target", "literal-secret", "unused-ignore"),
        *("target-shadowed", "depends-on-unmatched"),
    )
)
"""Rules that may be turned off: grading does not depend on what they ask."""
