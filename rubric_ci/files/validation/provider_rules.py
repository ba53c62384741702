"""Rules of providers: of models, and of agent programs that are started by name."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from rubric_ci.files.validation.config_summary import KINDS, NO_MODELS, STARTED
from rubric_ci.text.suggestions import ALIASES, COMMON, did_you_mean, misnamed, nearest
from rubric_ci.values.agent_names_and_credentials import AGENT_NAMES, AGENTV_AGENTS, instead_of
from rubric_ci.values.problems import Path, Problem, Rule

MODEL_PROVIDER: Final = Rule(
    id="model-provider",
    switchable=True,
    meaning=(
        "A model is named with its provider, such as `openai/gpt-6-luna`. Without a known one no "
        "request can be sent, so no case would get a verdict."
    ),
    hint="write `provider/model`",
    bad="judge: {model: gpt-6-luna}\n",
    good="judge: {model: openai/gpt-6-luna}\n",
)
AGENT_PROVIDER: Final = Rule(
    id="agent-provider",
    severity="warning",
    switchable=True,
    meaning="rubric-ci does not start this agent program by name, so its cases have no answer.",
    hint="write `provider: cli` with the program's command line as `command_template`",
    bad="targets: [{name: default, provider: pi-cli}]\n",
    good="targets: [{name: default, provider: cli, command_template: 'pi -p {PROMPT}'}]\n",
)

_ADDRESSES: Final = ("api_base", "apiBase", "base_url", "baseURL", "endpoint")


def agent_problems(target: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Yield the provider of a target if it is an agent program that is not started."""
    provider = target.get("provider")
    if isinstance(provider, str) and provider.lower() in AGENTV_AGENTS.difference(STARTED):
        message = f"provider `{provider}` is not supported"
        yield Problem(AGENT_PROVIDER, (*path, "provider"), message, instead_of(provider))


def agent_meant(provider: str) -> str:
    """Return the program or kind of target that a misspelt provider means; empty: none."""
    return "" if provider in KINDS else nearest(provider, (*STARTED, *NO_MODELS))


def provider_problems(
    settings: Mapping[str, Any], path: Path, place: Path, known: Collection[str]
) -> Iterator[Problem]:
    """Yield a provider that is missing, misspelt or unknown; `place` is the model's."""
    provider, model = settings.get("provider"), settings.get("model")
    if "cli" in settings or "command" in settings or "panel" in settings:
        return
    if isinstance(provider, str):
        yield from _named(provider, model, path, known)
    elif isinstance(model, str):
        served = not settings.keys().isdisjoint(_ADDRESSES)
        if wrong := misnamed(model, known, served=served):
            yield Problem(MODEL_PROVIDER, place, wrong.message, wrong.hint)


def _named(provider: str, model: Any, path: Path, known: Collection[str]) -> Iterator[Problem]:
    name = provider.lower()
    targets = () if path[0] == "judge" else (*NO_MODELS, *STARTED, *AGENTV_AGENTS)
    if name in (*COMMON, *ALIASES, *targets) or name in known or "${{" in provider:
        return
    hint = _meant(name, model, path[0] == "judge", known)
    message = f"`{provider}` is not a known provider"
    yield Problem(MODEL_PROVIDER, (*path, "provider"), message, hint)


def _meant(name: str, model: Any, judges: bool, known: Collection[str]) -> str:
    agent = AGENT_NAMES.get(name) or nearest(name, (*STARTED, *(() if judges else NO_MODELS)))
    if agent:
        return did_you_mean(f"cli: {agent}" if judges else agent)
    if isinstance(model, str) and "/" in model and misnamed(model, known) is None:
        return f"remove `provider`: `{model}` names its own"
    return did_you_mean(nearest(name, COMMON)) or "write a provider of models, such as `openai`"
