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


class WrittenTarget(NamedTuple):
    """A target as a configuration or a targets file has it."""

    file: str
    provider: str  # in small letters; empty: none is written
    data: Mapping[str, Any]

    @property
    def is_not_started(self) -> bool:
        """Return True for an agent of AgentV."""
        started = self.provider in STARTED and not is_of_agentv(self.file)
        return self.provider in AGENTV_AGENTS and not started

    @property
    def without_calls(self) -> str:
        """Return why the target reports no calls of tools; empty: it may report them.

        A command may print its messages with the calls.
        """
        if self.provider == "http":
            return "" if "tool_calls" in self.data else "is a service without `tool_calls`"
        if kind := KINDS.get(self.provider):
            return f"is {kind.what}, which {kind.no_calls}" if kind.no_calls else ""
        return "" if self.provider in AGENTV_AGENTS else "is a model, which is asked without tools"

    @property
    def program(self) -> str:
        """Return the agent program whose tools are known; empty: there may be others."""
        others = "mcp_servers" in self.data or self.data.get("project_files")
        return self.provider if self.provider in STARTED and not others else ""

    @property
    def model(self) -> str:
        """Return the model with its provider; empty: there is none, or a variable."""
        provider, model = self.data.get("provider", ""), self.data.get("model")
        if not isinstance(model, str) or not isinstance(provider, str) or "${{" in model:
            return ""
        if self.provider in KINDS or self.provider in AGENTV_AGENTS:
            return ""
        return model if not provider or model.startswith(f"{provider}/") else f"{provider}/{model}"


class ConfigSummary(NamedTuple):
    """Globs of eval files, severities of rules, and targets by their names."""

    globs: tuple[str, ...] = ()  # relative to the repository root
    rules: Mapping[str, str] = {}
    targets: Mapping[str, WrittenTarget] = {}
    compare: tuple[str, ...] = ()  # targets that answer each case of files that name none
    default_evaluator: str = "none"  # of cases with an expected outcome and no evaluator


def summarize_config(document: Source) -> ConfigSummary:
    """Read the valid parts of a configuration or a targets file."""
    data = document.data if isinstance(document.data, dict) else {}
    return ConfigSummary(
        globs=tuple(glob_from_root(document.file, glob) for glob in _texts(data, "evals")),
        rules={
            name: word or "off"
            for name, word in mapping_at(data, "rules").items()
            if word is False or word in ("error", "warning", "notice", "off")  # may be a list
        },
        targets=dict(_named_targets(data, document.file)),
        compare=tuple(_texts(data, "compare")),
        default_evaluator="llm_judge" if data.get("default_evaluator") == "llm_judge" else "none",
    )


def is_of_agentv(file: str) -> bool:
    """Return True for a targets file of AgentV, which has agents for itself."""
    return basename(dirname(file)) == ".agentv"


def _texts(data: Any, key: str) -> Iterator[str]:
    yield from (item for item in list_at(data, key) if isinstance(item, str))


def _named_targets(data: Any, file: str) -> Iterator[tuple[str, WrittenTarget]]:
    for _, target in mappings(data, "targets"):
        name, provider = target.get("name"), target.get("provider")
        if isinstance(name, str):
            lowered = provider.lower() if isinstance(provider, str) else ""
            yield name, WrittenTarget(file, lowered, target)


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
    """The targets that an eval file can name; without any, they are not checked."""

    targets: Mapping[str, WrittenTarget] = {}
    """By name; the one that answers cases without a target is also under ""."""
    prompts: Mapping[str, Prompt] | None = {}
    """Prompts by target; None: they are not known, and unused variables are not reported."""
    compare: tuple[str, ...] = ()  # targets that answer the cases that name none

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.targets) - {""}


NO_TARGETS: Final = KnownTargets()
