"""The part of the configuration that checking eval files needs, without the classes of a run."""

from collections.abc import Iterator, Mapping
from posixpath import basename, dirname, join, normpath
from typing import Any, Final, NamedTuple

from rubric_ci.files.yaml_text.source import Source
from rubric_ci.values.agent_names_and_credentials import AGENTV_AGENTS, CREDENTIALS
from rubric_ci.values.problems import list_at, mapping_at, mappings

STARTED: Final = tuple(CREDENTIALS)
"""Agent programs that rubric-ci starts, but not from a targets file of AgentV."""


class WrittenKind(NamedTuple):
    """A kind of target without its own model, as a configuration writes it."""

    what: str  # in messages
    definition: str  # in the schema: its own keys
    shared: tuple[str, ...]  # the keys of all targets that have an effect
    telling: tuple[str, ...]  # settings by which a target without `provider` is seen to be one
    no_calls: str = ""  # why its answers have no calls of tools; empty: they may have


_SHARED: Final = ("name", "provider", "judge_target", "grader_target", "depends_on", "cache")
_PROGRAM: Final = (*_SHARED, "timeout_seconds", "concurrency", "skill", "cost_per_run")
_SERVICE: Final = (*_SHARED, "timeout_seconds", "concurrency", "workers")
KINDS: Final[Mapping[str, WrittenKind]] = {
    "cli": WrittenKind(
        "a command",
        "cliTarget",
        (*_PROGRAM, "workers", "attachments_format"),
        ("command_template", "command"),
    ),
    "http": WrittenKind("a service", "httpTarget", _SERVICE, ("url",)),
    "mock": WrittenKind("a fixed answer", "mockTarget", _SHARED, ("response",), "calls no tools"),
    "recorded": WrittenKind("recorded answers", "recordedTarget", _SHARED, ("answers",)),
    "runner": WrittenKind(
        "a runner", "runnerTarget", ("name", "provider", "depends_on"), ("reads",)
    ),
    **dict.fromkeys(STARTED, WrittenKind("an agent", "agentTarget", _PROGRAM, ())),
}
"""By `provider`; any other is the provider of a model."""
PROVIDERS: Final = {
    key: name
    for name in sorted(KINDS, key=lambda name: name != "runner")
    for key in KINDS[name].telling
}
"""Settings of a target that is not a model, and its provider; a runner has a command as well."""
NO_MODELS: Final = tuple(name for name in KINDS if name not in STARTED)


class ConfigSummary(NamedTuple):
    """Globs of eval files, severities of rules and names of targets."""

    globs: tuple[str, ...] = ()  # relative to the repository root
    rules: Mapping[str, str] = {}
    targets: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()  # targets whose provider is in `AGENTV_AGENTS`
    prompts: Mapping[str, tuple[str, str]] = {}  # by target: this file, and the prompt as written
    compare: tuple[str, ...] = ()  # targets that answer each case of files that name none
    bodies: Mapping[str, tuple[str, Any]] = {}  # by service: this file, and the body of requests
    without_calls: Mapping[str, str] = {}  # targets that report no calls of tools, and why not
    programs: Mapping[str, str] = {}  # of targets whose tools are known: the agent
    models: Mapping[str, tuple[str, Mapping[str, Any]]] = {}  # by target: model and settings
    default_evaluator: str = "none"  # of cases with an expected outcome and no evaluator


def summarize_config(document: Source) -> ConfigSummary:
    """Read the valid parts of a configuration or a targets file."""
    data = document.data if isinstance(document.data, dict) else {}
    named = [*_named_targets(data)]
    return ConfigSummary(
        globs=tuple(glob_from_root(document.file, glob) for glob in _texts(data, "evals")),
        rules={
            name: word or "off"
            for name, word in mapping_at(data, "rules").items()
            if word is False or word in ("error", "warning", "notice", "off")  # may be a list
        },
        targets=frozenset(name for name, *_ in named),
        agents=frozenset(
            name
            for name, provider, _ in named
            if provider in AGENTV_AGENTS
            and (provider not in STARTED or is_of_agentv(document.file))
        ),
        prompts={
            name: (document.file, target["prompt"])
            for name, _, target in named
            if isinstance(target.get("prompt"), str)
        },
        compare=tuple(_texts(data, "compare")),
        bodies={
            name: (document.file, target.get("body"))
            for name, provider, target in named
            if provider == "http"
        },
        without_calls={
            name: why
            for name, provider, target in named
            if (why := _without_calls(provider, target))
        },
        programs={
            name: provider
            for name, provider, target in named
            if provider in STARTED and not ("mcp_servers" in target or target.get("project_files"))
        },
        models={name: (model, target) for name, _, target in named if (model := _model(target))},
        default_evaluator="llm_judge" if data.get("default_evaluator") == "llm_judge" else "none",
    )


def is_of_agentv(file: str) -> bool:
    """Return True for a targets file of AgentV, which has agents for itself."""
    return basename(dirname(file)) == ".agentv"


def _texts(data: Any, key: str) -> Iterator[str]:
    yield from (item for item in list_at(data, key) if isinstance(item, str))


def _named_targets(data: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each target that has a name, after the name and the provider in small letters."""
    for _, target in mappings(data, "targets"):
        name, provider = target.get("name"), target.get("provider")
        if isinstance(name, str):
            yield name, provider.lower() if isinstance(provider, str) else "", target


def _without_calls(name: str, target: Mapping[str, Any]) -> str:
    """Return why a target reports no calls of tools; empty: it may report them.

    A command may print its messages with the calls.
    """
    if name == "http":
        return "" if "tool_calls" in target else "is a service without `tool_calls`"
    if kind := KINDS.get(name):
        return f"is {kind.what}, which {kind.no_calls}" if kind.no_calls else ""
    return "" if name in AGENTV_AGENTS else "is a model, which is asked without tools"


def _model(target: Mapping[str, Any]) -> str:
    """Return the model of a target with its provider; empty: it has none, or a variable."""
    provider, model = target.get("provider", ""), target.get("model")
    if not isinstance(model, str) or not isinstance(provider, str) or "${{" in model:
        return ""
    if provider.lower() in KINDS or provider.lower() in AGENTV_AGENTS:
        return ""
    return model if not provider or model.startswith(f"{provider}/") else f"{provider}/{model}"


def texts_of(body: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the texts of a body, which are templates, each with its place."""
    match body:
        case str():
            yield (), body
        case dict() | list():
            items = body.items() if isinstance(body, dict) else enumerate(body)
            for key, value in items:
                yield from (((key, *path), text) for path, text in texts_of(value))


def glob_from_root(file: str, glob: str) -> str:
    """Return a glob relative to the repository root; it was relative to the file."""
    negation = "!" if glob.startswith("!") else ""
    return negation + normpath(join(dirname(file), glob.removeprefix("!")))


class Prompt(NamedTuple):
    """The prompt of a target, or the body of its requests: the file, and the variables in it."""

    target: str
    path: str
    names: frozenset[str]
    is_body: bool = False

    @property
    def what(self) -> str:
        word = "body" if self.is_body else "prompt"
        return f"`{self.path}`, the {word} of the target `{self.target}`,"


class KnownTargets(NamedTuple):
    """The targets that an eval file can name."""

    names: frozenset[str] = frozenset()  # without any, they are not checked
    agents: frozenset[str] = frozenset()  # those that rubric-ci does not start
    prompts: Mapping[str, Prompt] | None = {}
    """Prompts by target, the default one's under ""; None: they are not known, and unused
    variables are not reported."""
    compare: tuple[str, ...] = ()  # targets that answer the cases that name none
    without_calls: Mapping[str, str] = {}
    """Targets that report no calls of tools, by name, the default one under "": why not."""
    programs: Mapping[str, str] = {}  # by target, the default one under "": the agent
    models: Mapping[str, tuple[str, Mapping[str, Any]]] = {}
    """The models of targets with their settings, by name, the default one under ""."""


NO_TARGETS: Final = KnownTargets()
