"""`rubric-ci validate --explain RULE`: what a rule means, with a bad and a good example."""

import sys

from rubric_ci.errors import ExitCode, UserError
from rubric_ci.model.rulebook import RULES
from rubric_ci.render.rules import render_rule
from rubric_ci.source.checking.nearest import did_you_mean


def explain(rule: str) -> ExitCode:
    """Print the page of a rule, or of all of them."""
    if rule != "all" and rule not in RULES:
        hint = did_you_mean(rule, RULES) or "`rubric-ci validate --explain all` lists the rules"
        raise UserError(f"there is no rule `{rule}`", hint)
    pages = [render_rule(name) for name in (RULES if rule == "all" else [rule])]
    sys.stdout.write("\n".join(pages))
    return ExitCode.OK
