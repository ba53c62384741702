"""Eval files, cases, messages and evaluators, with aliases and short forms normalised."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Annotated, ClassVar, Literal, TypeAlias, TypeGuard

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media
from rubric_ci.values.messages import FilePart, Message, SimulatedUser, TextPart, Turn, media_in
from rubric_ci.values.rubric import MarkedAnswer, MarkTest, Rubric
from rubric_ci.values.trace import SeenPart
from rubric_ci.values.walk import text_or_json
from rubric_ci.values.workspace_settings import Workspace
from rubric_ci.values.written_keys import ENVIRONMENT, Key

ScoreFrom: TypeAlias = Literal["output", "exit_status", "output_or_exit_status"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricSpec:
    """A judge marks the criteria of a rubric; assertions are checked without it."""

    name: Annotated[str, Key()]
    type: Annotated[str, Key()] = "rubric"  # or "llm_judge" with rubrics
    weight: Annotated[float, Key()] = 1.0
    rubric: Annotated[Rubric, Key.of("rubrics", name="rubrics", aliases={"criteria": "#rubrics"})]
    sees: Annotated[tuple[SeenPart, ...], Key.of("sees")] = ("answer",)
    guidelines: Annotated[tuple[str, ...], Key.of("guidelines")] = ()
    seen_by: tuple[str, ...] = field(default=(), compare=False)
    guided_by: tuple[str, ...] = field(default=(), compare=False)
    """The rubric file of each part, and of each of the guidelines; empty: the file of the case."""
    examples: Annotated[tuple[MarkedAnswer, ...], Key.of("markedExamples")] = ()
    tests: Annotated[
        tuple[MarkTest, ...],
        Key(
            [{"answer": "We will refund you.", "marks": {"no-promise": True}}],
            minItems=1,
            items={"$ref": "#/$defs/caseTest"},
        ),
    ] = field(default=(), compare=False)
    """In `rubrics` of a case: answers with the marks that a judge must give them, for `rubric-ci
    judge test`. No judge that grades is shown them."""
    turn: int = 0  # of a conversation, from 1: marks the answer of this turn only
    model: Annotated[str, Key()] = ""  # replaces the configured judge's model
    span: Span

    @property
    def is_about_work(self) -> bool:
        """True if its judge sees more than the answer."""
        return self.sees != ("answer",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container that a script runs in, without files of this machine."""

    image: Annotated[str, Key("python:3.13-slim")]
    """Image with the programs that the script needs."""
    memory: Annotated[str, Key("4g", pattern="^[0-9]+[bkmgBKMG]?$")] = ""
    """Limit of the memory, as the engine has it."""
    cpus: Annotated[float | None, Key(2, title="CPUs", exclusiveMinimum=0)] = None
    """Limit of the processors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeJudgeSpec:
    name: Annotated[str, Key()]
    type: Annotated[str, Key()] = "code_judge"
    weight: Annotated[float, Key()] = 1.0
    script: Annotated[
        str | tuple[str, ...],
        Key("python -m py_compile {code_file}", ["python", "check.py"], minItems=1),
    ]
    """Shell command, or a list of its words. `{answer_file}` and `{code_file}` are replaced by the
    paths of files with the answer and with its fenced code."""
    cwd: Annotated[str, Key("../scripts", title="Working directory", default=".")]  # from the root
    """Working directory of the script, relative to this file's folder."""
    timeout_seconds: Annotated[float, Key(30, exclusiveMinimum=0)] = 60.0
    """Timeout in seconds. Then the script and all its child processes are killed."""
    env: Annotated[tuple[str, ...], ENVIRONMENT] = ()
    config: Annotated[Mapping[str, JSON], Key({"strict": True})] = field(default_factory=dict)
    """Your own keys, passed to the script."""
    score_from: Annotated[ScoreFrom | None, Key("exit_status", default="output")] = None
    """`output`: the script prints a JSON object with `score`. `exit_status`: status 0 scores 1.0,
    any other 0.0; the default if the script takes `{answer_file}` or `{code_file}`.
    `output_or_exit_status`: the status counts if no object is printed."""
    container: Annotated[Container | None, Key.of("container")] = None
    depends_on: Annotated[tuple[str, ...] | None, Key.of("dependsOn")] = None
    """Globs of the files that the script reads, relative to the repository root, in place of all
    files in its folder. A change to one of them selects the cases, and is a change of the
    grading."""
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmJudgeSpec:
    """A judge gives a free-form score 0..1 on a prompt with {{ variables }}."""

    name: Annotated[str, Key()]
    type: Annotated[str, Key()] = "llm_judge"
    weight: Annotated[float, Key()] = 1.0
    prompt: Annotated[str, Key.of("judgePrompt")] = ""  # its text; empty: the built-in prompt
    prompt_path: str = ""  # relative to the repository root, where the prompt is a file
    prompt_script: CodeJudgeSpec | None = None  # prints the template; replaces `prompt`
    model: Annotated[str, Key("openai/gpt-6-luna")] = ""
    """litellm model name of the judge, instead of the configured judge."""
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringSpec:
    """An evaluator without a judge or a script; `evaluators/` has each type."""

    maximums: ClassVar[tuple[str, ...]] = ()  # settings that are limits; None is no limit
    name: Annotated[str, Key("syntax")]
    """Name of the evaluator in reports."""
    type: str
    weight: Annotated[float, Key.of("weight")] = 1.0
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedAverage:
    weights: Annotated[Mapping[str, float], Key.of("memberWeights")] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeSpec:
    """Several evaluators, aggregated by weighted mean, a script or a judge."""

    name: Annotated[str, Key()]
    type: Annotated[str, Key()] = "composite"
    weight: Annotated[float, Key()] = 1.0
    evaluators: Annotated[tuple["EvaluatorSpec", ...], Key.of("evaluators", minItems=1)]
    aggregator: Annotated[WeightedAverage | CodeJudgeSpec | LlmJudgeSpec, Key.of("aggregator")]
    required_min_score: float = 0.0  # 0 to 1; a lower score misses a gate
    span: Span


EvaluatorSpec: TypeAlias = RubricSpec | LlmJudgeSpec | CodeJudgeSpec | MeasuringSpec | CompositeSpec


def asks_judge(spec: EvaluatorSpec) -> TypeGuard[RubricSpec | LlmJudgeSpec]:
    """Return True if an evaluator sends judge requests: a rubric of assertions alone does not."""
    if isinstance(spec, RubricSpec):
        return bool(spec.rubric.judged)
    return isinstance(spec, LlmJudgeSpec)


def every_evaluator(specs: Iterable[EvaluatorSpec]) -> Iterator[EvaluatorSpec]:
    """Yield every evaluator, including members and aggregators of composites."""
    for spec in specs:
        yield spec
        if isinstance(spec, LlmJudgeSpec) and spec.prompt_script:
            yield spec.prompt_script
        if isinstance(spec, CompositeSpec):
            yield from every_evaluator(spec.evaluators)
            if not isinstance(spec.aggregator, WeightedAverage):
                yield spec.aggregator


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRule:
    """A case passes if `passes` of `count` answers pass, each graded on its own."""

    count: Annotated[int, Key(5, minimum=1, maximum=100)]
    """Number of trials."""
    passes: Annotated[int, Key(4, name="pass", minimum=1, maximum=100)]
    """Number of trials that must pass. Without it, all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCase:
    """One case, with everything that it inherits from its suite."""

    id: Annotated[str, Key("refund-without-receipt")]
    """Name of the case in reports, unique in the file."""
    file: str  # the eval file, as reports name it, forward slashes
    span: Span  # of the case's `id`
    expected_outcome: Annotated[
        str, Key("Explains how quicksort works and when it is slow", aliases={"outcome": "older"})
    ] = ""
    """Description of a good answer. The judge sees it, and `rubric-ci generate rubrics` drafts
    criteria from it."""
    input_messages: Annotated[
        tuple[Message, ...], Key.of("messages", aliases={"input": "#input"})
    ] = ()
    """Conversation that the target answers."""
    # of a conversation that begins with the input messages
    turns: Annotated[tuple[Turn, ...], Key.of("turns")] = ()
    simulated_user: Annotated[SimulatedUser | None, Key.of("simulatedUser")] = None
    expected_messages: Annotated[
        tuple[Message, ...], Key.of("messages", aliases={"expected_output": "#expectedOutput"})
    ] = ()
    """Reference conversation. The text of its last message is the reference answer."""
    evaluators: Annotated[  # inline rubrics first, named "rubric"
        tuple[EvaluatorSpec, ...],
        Key.of("evaluators", aliases={"rubrics": "#caseRubrics", "execution": "#execution"}),
    ] = ()
    """Older spelling of `execution.evaluators`."""
    opts_out: Annotated[bool, Key(False, name="shared_rubrics", default=True)] = False
    """`false`: without the `shared_rubrics` of the suite; those of the configuration stay."""
    only_shared: bool = False  # its criteria are those of every case: its own can be drafted
    inapplicable: bool = False  # it has no evaluators, because of its tags and variables
    # empty: the default target
    target: Annotated[str, Key("default", title="Target (older spelling)")] = ""
    """Older spelling of `execution.target`."""
    # replaces the target's, but for its sandbox
    workspace: Annotated[Workspace | None, Key.of("workspace")] = None
    written_id: str = ""  # the id in the file, if several targets answer the case
    # of the case and its suite; `raw`: the texts have none
    vars: Annotated[Mapping[str, JSON], Key.of("vars", aliases={"raw": "#raw"})] = field(
        default_factory=dict
    )
    tags: Annotated[tuple[str, ...], Key(["smoke", "python"], default=[])] = ()
    """Tags to select cases by: `rubric-ci run --tag TAG`."""
    # None: the trials of the run, and their median
    trials: Annotated[TrialRule | None, Key.of("trials")] = None
    conversation_id: Annotated[
        str, Key("python-code-generation", title="Conversation", type="string", default="")
    ] = ""
    """Identifies cases of one conversation. It is not interpreted."""
    note: Annotated[  # with the other two, a line each
        str,
        Key(
            "Known to be hard for small models",
            aliases={"description": "#caseDescription", "notes": "#caseNotes"},
            type="string",
            default="",
        ),
    ] = ""
    """Note for readers of this file."""
    metadata: Annotated[Mapping[str, JSON], Key.of("metadata")] = field(default_factory=dict)
    # globs relative to the repository root
    depends_on: Annotated[tuple[str, ...], Key.of("dependsOn")] = ()
    references: tuple[str, ...] = ()  # every file the case refers to, relative to the root
    stopped: str = ""  # why a case of another tool's file gets no answer; empty: it does
    template: str = ""  # of its question: digits of a text with variables that its rows share
    variant: str = ""  # blanks that a comparison sends at the end of the last message

    @property
    def key(self) -> tuple[str, str]:
        return self.file, self.id

    @property
    def own_id(self) -> str:
        """The id as the file has it, which recordings and commands know."""
        return self.written_id or self.id

    @property
    def rubrics(self) -> tuple[RubricSpec, ...]:
        return tuple(spec for spec in self.evaluators if isinstance(spec, RubricSpec))

    @property
    def looks_in_workspace(self) -> bool:
        """Whether a script reads the folder that the target worked in."""
        specs = every_evaluator(self.evaluators)
        return self.workspace is not None and any(isinstance(s, CodeJudgeSpec) for s in specs)

    @property
    def gives_metadata(self) -> bool:
        """Whether a script, or a command around the work in the workspace, reads the metadata."""
        specs = every_evaluator(self.evaluators)
        hooks = self.workspace.hooks.every if self.workspace else ()
        return bool(hooks) or any(isinstance(s, CodeJudgeSpec) for s in specs)

    @property
    def most_turns(self) -> int:
        """How many turns a conversation has at most; 0: the case has one answer."""
        return self.simulated_user.max_turns if self.simulated_user else len(self.turns)

    @property
    def question(self) -> str:
        """The input messages as one text; roles are included if there are several messages.

        No guidelines. Of a conversation the user's messages and goal; else the variables.
        """
        return self._written_question + self.variant

    @property
    def _written_question(self) -> str:
        if not self.input_messages and not self.most_turns:
            return "\n".join(f"{name}: {text_or_json(value)}" for name, value in self.vars.items())
        messages = [message for message in self.input_messages if not message.is_guideline]
        messages += [Message(role="user", parts=(TextPart(t.text),)) for t in self.turns]
        user = self.simulated_user
        if len(messages) == 1 and not user:
            return messages[0].text
        texts = [f"[{message.role}]\n{message.text}" for message in messages]
        return "\n\n".join(
            [*texts, f"[simulated user]\n{user.persona}\n{user.goal}"] if user else texts
        )

    @property
    def guidelines(self) -> tuple[FilePart, ...]:
        """The guidelines in the input messages, each file once."""
        parts = (part for message in self.input_messages for part in message.parts)
        return tuple(dict.fromkeys(p for p in parts if isinstance(p, FilePart) and p.guideline))

    @property
    def media(self) -> tuple[Media, ...]:
        """The images and documents of the question, each once, in order."""
        parts = [part for message in self.input_messages for part in message.parts]
        parts += [part for turn in self.turns for part in turn.parts]
        return tuple(dict.fromkeys(media_in(parts)))

    @property
    def reference_media(self) -> tuple[Media, ...]:
        """The images and documents of the last expected message."""
        return self.expected_messages[-1].media if self.expected_messages else ()

    @property
    def reference_answer(self) -> str:
        """The last expected message's text, or ""."""
        return self.expected_messages[-1].text if self.expected_messages else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalFile:
    """The cases of one file, in its order."""

    path: str  # as reports name it
    dataset: Annotated[str, Key("support-refunds")]
    """Name of the suite in reports. Without it, the name of the file."""
    description: Annotated[
        str, Key("Answers of the support agent about refunds", type="string", default="")
    ] = ""
    """Subject of this suite."""
    cases: Annotated[tuple[EvalCase, ...], Key.of("cases", name="evalcases")]
    in_files: bool = False  # cases are in other files, which `evalcases` names
    rubric_files: tuple[str, ...] = ()  # that it includes, relative to the repository root
    of_other_tool: bool = False  # written for another tool, and read as it is
