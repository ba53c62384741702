"""Rules of several judges, a panel of different families or a cascade, and of their login."""

import re
from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.model.rules import Rule
from rubric_ci.validation.agentv import snake_case
from rubric_ci.validation.config_summary import JUDGE_KEYS, JUDGES_KEYS
from rubric_ci.yaml_text.problems import Path, Problem

_OWN: Final = {"panel": {"panel"}, "cascade": {"cascade", "margin"}}

JUDGES: Final = Rule(
    id="judges",
    meaning=(
        "A `panel` has an odd number of judges, so that there is a majority. The settings of its "
        "members are their own; `votes`, `mode`, `output`, `evidence` and `canary` hold for all."
    ),
    hint="give each member its settings, and the panel or the cascade those of all judges",
    bad="judge: {panel: [openai/a, anthropic/b, gemini/c], temperature: 0}\n",
    good="judge: {panel: [openai/a, anthropic/b, gemini/c], votes: 3}\n",
)
AUTH_AND_KEY: Final = Rule(
    id="auth-and-key",
    meaning="A judge has an API key or a workload identity: which of both counts would be a guess.",
    hint="remove the key, and its secret from the repository",
    bad='judge: {model: openai/a, api_key: "${{ OPENAI_API_KEY }}", auth: {oidc: openai}}\n',
    good="judge: {model: openai/a, auth: {oidc: openai}}\n",
)
PANEL_FAMILY: Final = Rule(
    id="panel-family",
    severity="warning",
    switchable=True,
    meaning=(
        "Models of one family make the same mistakes, and prefer answers of their own family: a "
        "panel of them has fewer independent votes than members."
    ),
    hint="choose models of different families",
    bad="judge: {panel: [openai/gpt-6-luna, openai/gpt-6.1-sol, gemini/gemini-3.8-flash]}\n",
    good=(
        "judge: {panel: [openai/gpt-6-luna, anthropic/claude-sonnet-5-5, gemini/gemini-3.8-flash]}"
        "\n"
    ),
)


# Those of one family share training, and with it mistakes and preferences.
_FAMILIES: Final = (
    ("GPT", r"gpt|chatgpt|codex|o\d"),
    ("Claude", r"claude"),
    ("Gemini", r"gemini|gemma"),
    ("Llama", r"(?:meta-)?llama|meta"),
    ("Mistral", r"mistral|mixtral|magistral|ministral|codestral|pixtral"),
    ("Qwen", r"qwen|qwq"),
    ("DeepSeek", r"deepseek"),
    ("Grok", r"grok"),
    ("Command", r"command"),
    ("Nova", r"nova|amazon"),
    ("Phi", r"phi"),
    ("Kimi", r"kimi|moonshot"),
    ("GLM", r"glm|chatglm"),
)
_PATTERNS: Final = tuple((name, re.compile(rf"(?:{start})(?![a-z])")) for name, start in _FAMILIES)
_COMMANDS: Final = {"claude-code": "Claude", "codex": "GPT", "gemini-cli": "Gemini"}


def members_of(judge: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield each judge of a panel or a cascade with its place."""
    for key in ("panel", "cascade"):
        members = judge.get(key)
        for index, member in enumerate(members if isinstance(members, list) else ()):
            if isinstance(member, dict | str):
                yield ("judge", key, index), member


def judges_problems(judge: dict[str, Any], several: str) -> Iterator[Problem]:
    """Yield the settings that a panel or a cascade cannot have."""
    for key in judge:
        if snake_case(key) not in {*JUDGE_KEYS, *_OWN[several]} and not key.startswith("x-"):
            message = f"`{key}` has no effect beside `{several}`"
            yield Problem(JUDGES, ("judge", key), message, at_key=True)
    for place, member in members_of(judge):
        shared = {*JUDGE_KEYS, *JUDGES_KEYS}
        for key in member if isinstance(member, dict) else ():
            if snake_case(key) in shared:
                message = f"`{key}` is a setting of all judges, not of one"
                yield Problem(JUDGES, (*place, key), message, at_key=True)
    if several == "panel" and isinstance(judge["panel"], list):
        yield from _panel(judge["panel"])


def _panel(members: list[Any]) -> Iterator[Problem]:
    if len(members) > 2 and len(members) % 2 == 0:
        message = f"a panel needs an odd number of judges, not {len(members)}"
        yield Problem(JUDGES, ("judge", "panel"), message)
    families: dict[str, str] = {}
    for index, member in enumerate(members):
        settings = member if isinstance(member, dict) else {"model": member}
        name = str(settings.get("model") or "")
        found = family(name, str(settings.get("cli") or ""))
        if found in families:
            message = f"`{name}` and `{families[found]}` are of one family, {found}"
            yield Problem(PANEL_FAMILY, ("judge", "panel", index), message)
        elif found:
            families[found] = name


def family(model: str, cli: str = "") -> str:
    """Return the family of a model, or of a command-line tool with it; empty: not known."""
    # bedrock/eu.anthropic.claude-sonnet-5-5-v1:0, openrouter/meta-llama/llama-3.3-70b
    parts = [part for part in re.split(r"[/.:@]", model.casefold()) if part]
    for part in reversed(parts):
        for name, pattern in _PATTERNS:
            if pattern.match(part):
                return name
    return _COMMANDS.get(cli, "")
