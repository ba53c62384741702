"""The kinds of target, their settings, and the facts that other code asks for."""

import json
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar, Final, Self, TypeAlias, cast

from rubric_ci.values.agent_program import (
    AgentProgram,
    HealthCheck,
    HttpRequest,
    JudgeCommand,
    ServiceProgram,
)
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import ADOPTED_TOOLS
from rubric_ci.values.hosts import WorkloadIdentity
from rubric_ci.values.json_value import JSON
from rubric_ci.values.results import Answer
from rubric_ci.values.workspace_settings import PromptTemplate, Skill, Workspace
from rubric_ci.values.written_keys import ENVIRONMENT, Key, from_root

ASKED: Final = "asked"
DEPLOYED: Final = "its service is deployed, and what answers there may have changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A litellm model: its name and the options of its calls; or a command that judges."""

    model: str  # a litellm model name: "openai/gpt-6-luna"; of a command the name in reports
    options: Mapping[str, JSON] = field(default_factory=dict, repr=False)
    """api_key, api_base, api_version, temperature, max_tokens, …; values may hold `${{ NAME }}`."""
    timeout_seconds: float = 60.0
    command: JudgeCommand | None = None  # None: a request to a server
    identity: WorkloadIdentity | None = None  # in place of an API key
    http: HttpRequest | None = None  # a service of the user's, not a model

    @property
    def provider(self) -> str:
        """The owner of a credential: `openai` for `openai/gpt-5`, `gpt` for `gpt-5`."""
        name, slash, _ = self.model.partition("/")
        return name if slash else name.partition("-")[0]


class TargetFacts:
    """The facts of a target; no other module needs to know its kind.

    A kind has the settings below that it can be given. The others are as here: empty.
    """

    __slots__ = ()
    agent: AgentProgram | None = None
    alias: str = ""
    answers: str = ""
    cache: bool = False
    command_template: str = ""
    concurrency: int | None = None
    cost_per_run: float | None = None
    cwd: str = "."
    cwd_from_eval_folder: bool = False
    did: Answer | None = None
    endpoint: Endpoint | None = None
    env: tuple[str, ...] = ()
    healthcheck: HealthCheck | None = None
    held: tuple[str, ...] = ()
    only: str = ""
    program: ServiceProgram | None = None
    prompt: PromptTemplate | None = None
    reads: str = ""
    response: str = ""
    skill: Skill | None = None
    timeout_seconds: float = 60.0
    workspace: Workspace | None = None
    can_answer: ClassVar[bool] = True  # a case, unless that fails
    reads_every_file: ClassVar[bool] = False  # unless its settings say which
    runs: ClassVar[str] = ""  # how code of the repository answers, in words
    starts_program: ClassVar[bool] = False  # for each answer, or for all of a file

    @property
    def is_asked(self) -> bool:
        """True if an answer takes a request or a start."""
        return self.starts_program or self.endpoint is not None

    @property
    def works_in_folder(self) -> bool:
        """True for an agent, and for a command in a workspace: it has one folder in all turns."""
        return (self.agent, self.workspace) != (None, None)

    @property
    def why_no_answers(self) -> str:
        """Why it answers no case, in words; empty: it may."""
        return ""

    @property
    def tool(self) -> "RunnerTarget | None":
        return None

    @property
    def model(self) -> Endpoint | None:
        """The model that answers, which may also judge and draft; None: a service, a program."""
        return None if self.endpoint is None or self.endpoint.http else self.endpoint

    @property
    def answered_by(self) -> str:
        """The program or service that is asked, in words; empty: none is."""
        if self.endpoint:
            return f"{'service' if self.endpoint.http else 'model'} {self.endpoint.model}"
        if self.agent:
            return f"agent {self.agent.name}"
        return f"command {self.command_template}" if self.command_template else ""

    @property
    def source(self) -> str:
        """Where its answers come from; a kind whose answers are written down has its own words."""
        return ASKED

    @property
    def is_at_hand(self) -> bool:
        """True if its answers are written down, and always the same."""
        return self.source != ASKED

    @property
    def credential_of(self) -> str:
        """The provider or the program that gets its credential, in words; empty: none does."""
        if self.endpoint:
            return f"model of {self.endpoint.provider}"
        return f"program {self.agent.name if self.agent else ''}" if self.starts_program else ""

    @property
    def request_texts(self) -> tuple[str, ...]:
        """What is sent around a question: prompt, body and skill; variables are replaced in it."""
        if self.endpoint is None:
            return ()
        http, prompt = self.endpoint.http, self.prompt
        body = http.body if http else None
        return (
            *(text for _, text in (prompt.messages if prompt else ())),
            *([] if body is None else [json.dumps(body, ensure_ascii=False)]),
            *([self.skill.text] if self.skill else ()),
        )

    def may_read(self, variable: str) -> bool:
        """Return True if an answer may depend on a variable that the messages do not have."""
        return any(variable in text for text in self.request_texts)

    @property
    def with_variables(self) -> tuple[JSON | Mapping[str, JSON], ...]:
        options = self.endpoint.options if self.endpoint else None
        check = self.healthcheck and self.healthcheck.texts
        return (options, self.command_template, self.only, self.cwd, check)

    @property
    def assumed_dependencies(self) -> tuple[str, ...] | None:
        """Its `depends_on` if that is not written; None: every file."""
        if not self.reads_every_file:
            return ()
        if not (self.agent and self.workspace) or self.workspace.copy == ".":
            return None
        skills = (f"{self.skill.path}/**",) if self.skill else ()
        return (*filter(None, (self.workspace.copy,)), *skills)

    @property
    def always_selected(self) -> str:
        """Why each of its cases runs, whatever changed; empty: its files decide."""
        return ""

    @property
    def url_before(self) -> str:
        """The URL of the deployed service of the base; empty: there is none."""
        return ""

    @property
    def answers_on_both_sides(self) -> bool:
        """True if the base of a change can be asked, and not only the server of the change."""
        return True

    def having(self, **settings: object) -> Self:
        made: Self = replace(cast(Any, self), **settings)
        return made

    def at_base(self, head: "TargetFacts") -> Self:  # noqa: ARG002 - a deployed service needs it
        """Return the target of the base as it is asked next to the head's."""
        return self


Name: TypeAlias = Annotated[str, Key()]
JudgeName: TypeAlias = Annotated[str, Key(aliases={"grader_target": "other"})]
Globs: TypeAlias = Annotated[tuple[str, ...] | None, Key()]
"""The fields that every kind of target has; the model says what they mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmTarget(TargetFacts):
    name: Annotated[str, Key("default")]
    """Name that eval files refer to. `default` answers the cases that name no target."""
    endpoint: Endpoint = field()
    concurrency: Annotated[int | None, Key(16, aliases={"workers": "older"}, minimum=1)] = None
    """Maximum number of cases that this target answers at the same time, within `--concurrency`."""
    judge_target: Annotated[str, Key("strict-judge", aliases={"grader_target": "other"})] = ""
    """Name of the target that judges this target's answers, instead of `judge`."""
    depends_on: Annotated[tuple[str, ...] | None, Key.of("dependsOn")] = ()
    cache: Annotated[bool, Key(False)] = True
    """Whether answers of a model or a command may be kept in the cache and reused. Set `false` if
    they depend on more than the case, the configuration and `depends_on`, such as a database."""
    prompt: PromptTemplate | None = None
    skill: Skill | None = None
    held: tuple[str, ...] = ()  # options that count after the merge: it is not asked before


@dataclass(frozen=True, slots=True, kw_only=True)
class CliTarget(TargetFacts):
    reads_every_file: ClassVar[bool] = True
    runs: ClassVar[str] = "starts a program"
    starts_program: ClassVar[bool] = True
    name: Name
    command_template: Annotated[
        str, Key("python agent.py --prompt {PROMPT}", aliases={"command": "other"})
    ] = ""  # empty: `agent` has the command
    """Shell command. `{PROMPT}`, `{PROMPT_FILE}`, `{GUIDELINES}`, `{EVAL_ID}`, `{EVAL_FILE}`,
    `{ROOT}`, `{ATTEMPT}`, `{FILES}` and `{OUTPUT_FILE}` are replaced, quoted for the shell."""
    agent: AgentProgram | None = None
    trace: Annotated[str, Key("atif", "trace.json")] = ""
    """Trace of the command's work: the format of its output (`claude-code`, `codex`, `copilot`,
    `gemini-cli`, `opencode`, `qwen`, `atif`, `otlp`), or the path of a file in one of them that it
    writes. `none`: an output that looks like one is the answer."""
    workspace: Annotated[Workspace | None, Key.of("workspace")] = None  # None: the repository
    skill: Skill | None = None
    cwd: Annotated[str, Key("agent", title="Working directory", to=from_root)] = "."
    """Working directory of the command, relative to this file's folder."""
    cwd_from_eval_folder: bool = False  # then `cwd` is relative to the eval file's folder
    files_format: Annotated[
        str, Key("--file {path}", title="Format of files", aliases={"attachments_format": ""})
    ] = "{path}"
    """Format of each file in `{FILES}`. `{path}` and `{basename}` are replaced, quoted for the
    shell."""
    timeout_seconds: Annotated[float, Key()] = 120.0
    cost_per_run: Annotated[float | None, Key()] = None  # None: not known
    healthcheck: Annotated[HealthCheck | None, Key.of("healthCheck")] = None
    env: Annotated[tuple[str, ...], ENVIRONMENT] = ()
    concurrency: Annotated[int | None, Key(aliases={"workers": "older"})] = None
    judge_target: JudgeName = ""
    depends_on: Globs = None  # None: every file of the repository
    cache: Annotated[bool, Key()] = True
    held: tuple[str, ...] = ()  # options that count after the merge: it is not started before

    def may_read(self, variable: str) -> bool:  # noqa: ARG002 - of any: it looks the case up
        return any(word in self.command_template for word in ("{EVAL_ID}", "{EVAL_FILE}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTarget(LlmTarget):
    """A service answers; `endpoint.http` says how it is asked."""

    runs: ClassVar[str] = "asks a service"
    program: ServiceProgram | None = None  # None: it is deployed
    depends_on: Globs = None  # None: every file of the repository

    @property
    def url_before(self) -> str:
        return str(self.endpoint.options.get("url_before", ""))

    @property
    def answers_on_both_sides(self) -> bool:
        """False for a service that is deployed at one place, which would answer as the head.

        Its kept answers count in place of the base's.
        """
        return bool(self.program or self.url_before)

    @property
    def always_selected(self) -> str:
        """A deployed service may have changed, unless its files are written."""
        return DEPLOYED if self.program is None and self.depends_on is None else ""

    def at_base(self, head: TargetFacts) -> Self:
        """Return the service of the base as it is asked: where the head says, if deployed."""
        if self.program:
            return self
        options = {k: v for k, v in self.endpoint.options.items() if k != "url_before"}
        url = head.url_before if head.endpoint and head.endpoint.http else self.url_before
        if url:
            options |= {"api_base": url, "url_before": url}
        return replace(self, endpoint=replace(self.endpoint, options=options))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTarget(TargetFacts):
    name: Name
    answers: Annotated[str, Key("answers.jsonl", to=from_root)] = field()
    """JSON Lines file, relative to this file's folder."""
    judge_target: JudgeName = ""
    depends_on: Globs = ()

    @property
    def source(self) -> str:
        return f"recorded: {self.answers}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MockTarget(TargetFacts):
    name: Name
    response: Annotated[str, Key("42", type="string")] = ""
    """Answer to every case."""
    did: Answer | None = None  # the answer with the work that a judge sees, in place of `response`
    judge_target: JudgeName = ""
    depends_on: Globs = ()

    @property
    def source(self) -> str:
        return f"fixed: {self.response}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerTarget(TargetFacts):
    """Another eval tool, which has its own cases; `run --target` reads its results."""

    reads_every_file: ClassVar[bool] = True
    name: Name
    command_template: Annotated[
        str, Key("promptfoo eval --no-cache -o {RESULTS}/results.json", title="Command")
    ] = field()
    """Shell command that runs the tool. `{RESULTS}` is an empty folder for its results, `{ONLY}`
    the place of `only`; without it, `only` is appended."""
    reads: Annotated[str, Key("promptfoo", title="Tool", enum=ADOPTED_TOOLS)] = field()
    """Tool whose results it writes, as `rubric-ci adopt --from` names it."""
    only: Annotated[str, Key("--filter-pattern {CASE_REGEX}", title="Choice of cases")] = ""
    """Arguments that run some cases only: `{CASE_REGEX}` is a regular expression of their ids,
    `{CASE_IDS}` the ids with commas. Without it, no suspect gets further trials."""
    graders: Annotated[tuple[str, ...], Key(["model_graded_qa"])] = ()
    """Assertions, metrics or scorers that decide; the others are shown. Without it, all decide."""
    cwd: Annotated[str, Key("evals", title="Working directory", to=from_root)] = "."
    """Working directory of the command, relative to this file's folder."""
    env: Annotated[tuple[str, ...], ENVIRONMENT] = ()
    timeout_seconds: Annotated[float, Key(120, title="Timeout", exclusiveMinimum=0)] = 1800.0
    """Timeout of one run of the tool in seconds."""
    judge_target: str = ""
    depends_on: Globs = None

    @property
    def why_no_answers(self) -> str:
        return "a runner has its own cases"

    @property
    def tool(self) -> Self:
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsupportedTarget(TargetFacts):
    """A target that is not started: its provider has no counterpart, or it has errors."""

    can_answer: ClassVar[bool] = False
    reads_every_file: ClassVar[bool] = True
    name: Name
    provider: str
    reason: str = ""  # empty: this version does not support the provider
    alias: str = ""  # the variable with the name of the target that it stands for
    judge_target: JudgeName = ""
    depends_on: Globs = None

    @property
    def why_no_answers(self) -> str:
        unknown = f"provider `{self.provider}` is not supported yet"
        return "the target is not started" if self.reason else unknown


Target: TypeAlias = (
    LlmTarget
    | ServiceTarget
    | CliTarget
    | RecordedTarget
    | MockTarget
    | RunnerTarget
    | UnsupportedTarget
)
