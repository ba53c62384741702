"""The pages of the rules as markdown: docs/rules.md, and `validate --explain` in a terminal."""

from rubric_ci.model.rulebook import RULES, SWITCHABLE
from rubric_ci.model.rulepages import PAGES

_HEAD = """\
<!-- Generated from rubric_ci/model/rulepages.py by `make golden`; do not edit. -->
# Rules
What `rubric-ci validate` looks for; `rubric-ci validate --explain RULE` prints a section of this.
The severity of a rule is set in `rubric-ci.yaml`, and a comment silences one on its line, as far as
grading does not depend on it:

```yaml
rules: {gate-kind: error, similar-key: off}
```

```yaml
    colour: red # rubric-ci: ignore[unknown-key]
```

"""


def render() -> str:
    """Return docs/rules.md."""
    return _HEAD + "\n".join(render_rule(rule) for rule in RULES)


def render_rule(rule: str) -> str:
    """Return the section of one rule."""
    page, (severity, hint) = PAGES[rule], RULES[rule]
    switch = "may be turned off" if rule in SWITCHABLE else "always on"
    lines = [f"## {rule}", f"{severity}, {switch}", "", page.meaning]
    if hint:
        lines += ["", f"What to do: {hint}."]
    if page.bad:
        lines += ["", "Bad:", *_fenced(page.bad), "", "Good:", *_fenced(page.good)]
    return "\n".join(lines) + "\n"


def _fenced(text: str) -> list[str]:
    language = "json" if text.startswith("{") else "yaml"
    return [f"```{language}", *_shortened(text), "```"]


def _shortened(text: str) -> list[str]:
    """Cut what is only long; show what cannot be seen."""
    lines = text.replace("\u2028", "\\u2028").replace("\x07", "\\x07").splitlines()
    return [line if len(line) <= 120 else f"{line[:60]} … {line[-30:]}" for line in lines]
