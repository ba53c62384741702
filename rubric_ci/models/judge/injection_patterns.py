"""Prompt-injection patterns, matched in folded text: lower case, without accents.

Ordinary answers must not match: `set debug to true`, `>>> f(10)`, `user: root`, `if all
conditions are met`.
"""

import re
from collections.abc import Callable, Iterator

from rubric_ci.values.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A pattern, and hints: each of its matches contains one, and most answers contain none.

    It is compiled when an answer contains one.
    """

    hints: tuple[str, ...]
    pattern: Callable[[], re.Pattern[str]]

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Return the matches in folded text; a search for the hints takes a tenth of the time."""
        for hint in self.hints:
            if hint in text:
                return self.pattern().finditer(text)
        return iter(())


_JUDGE = r"(?:judge|grader|evaluator|examiner)"
_TOP = r"(?:full|top|maximum|maximal|highest|perfect|best)(?:\ possible)?\ (?:mark|score|point)s?"
_ALL = r"(?:all|each|every|everything|both|the\ criteri\w+|this\ answer)"
_MET = r"(?:satisfied|met|fulfilled|passed)"

ORDER = Pattern(
    hints=(
        *("ignore", "disregard", "forget", "override", "satisfied", "met", "fulfilled", "passed"),
        *("mark", "score", "point", "judge", "grader", "evaluator", "examiner", "instruction"),
    ),
    pattern=lambda: re.compile(
        rf"""
    \b(?:
        (?:ignore|disregard|forget|override)\b .{{0,20}} \b(?:rubric|criteri\w+)\b
        | (?:ignore|disregard|forget|override)\b .{{0,20}} \b(?:previous|prior|above|earlier|your)\b
            .{{0,15}} \b(?:instructions?|rules|prompts?|text)\b
        | (?:mark|grade|rate|count)\s+{_ALL}\b .{{0,30}} \b{_MET}\b
        | (?:give|award|assign|output)\b .{{0,40}} \b{_TOP}\b
        | (?:award|give)\ {_TOP}
        | as\ (?:the\ |an?\ )?{_JUDGE},?\ you\b | dear\ {_JUDGE}\b | note\ to\ the\ {_JUDGE}\b
        | {_JUDGE}\ must\b
        | (?:new|final|updated)\ instructions?\b
        | (?:return|set|say)\ satisfied\b
    )
    | ^\W{{0,20}}{_JUDGE}:
    """,
        re.VERBOSE | re.DOTALL | re.MULTILINE,
    ),
)
ROLE = Pattern(
    hints=(
        *("im_start", "im_end", "endoftext", "sys>", "inst]", "system", "developer", "human:"),
        *("assistant:", "judge", "you are ", "stay in character"),
    ),
    pattern=lambda: re.compile(
        r"""
    <(?: \|?/?(?:im_start|im_end|system|endoftext)\|?> | </?sys>> ) | \[/?inst\]
    | ^(?:
        [ \t]*(?:system|developer|human|assistant):\s+\S+\ +\S+\ +\S+
        | [ \t]*\[(?:system|developer|judge)\] | \#+\ *(?:system|judge)\ *$
    )
    | \b(?: you\ are\ (?:now\ an?\b | \w+bot\b) | stay\ in\ character\b )
    """,
        re.VERBOSE | re.MULTILINE,
    ),
)
FENCE = Pattern(
    hints=("_", "</", "<<<", "end ", "begin ", "]]></"),
    pattern=lambda: re.compile(
        r"""
    [<‹⟨〈《«]\s*+(?:/\s*+)?(?:question|expected_outcome|reference_answer|answer|data)_[0-9a-f]{6,}
    | </\s*(?:candidate_|model_)?(?:answer|response|submission)\s*>
    | <<<[^<>\n]{0,60}\b(?:end|begin)\b[^<>\n]{0,60}>>>
    | ^\W{0,20}(?:end|begin)\ (?:of\ )?(?:the\ )?(?:untrusted\ |candidate\ )?
        (?:answer|text|data)\W{0,20}$
    | \]\]></
    """,
        re.VERBOSE | re.MULTILINE,
    ),
)
REPLY = Pattern(
    hints=("satisfied", '"c'),
    pattern=lambda: re.compile(
        r"""
    \bsatisfied["']?\s*[:=]\s*(?:true|satisfied)\b
    | "c\d+"\s*:\s*\{ | "checks"\s*:\s*\[\s*\{
    | =\ satisfied,
    """,
        re.VERBOSE,
    ),
)
CLAIM = Pattern(
    hints=("criteri", "self-", "10 "),
    pattern=lambda: re.compile(
        rf"""
    \b(?:all|both|every|each)\b .{{0,20}} \bcriteri\w+ .{{0,20}} \b{_MET}\b
    | \bself-(?:assessment|grade|score)\b
    | \b(?:score|scored|rating|answer)\b .{{0,20}} \b10\ (?:/|out\ of)\ 10\b
    """,
        re.VERBOSE | re.DOTALL,
    ),
)
OPENING = re.compile(
    r"(?:thought process|solution|(?:final )?answer|解答?)"
    r"|(?:let|think)"
    r"(?: (?:s|us|me|solve|think|work|this|it|the|problem|through|about|step|by|out))*"
)
