"""Configuration, parsed from `rubric-ci.yaml` and targets files: judge, targets and gate."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Annotated, Final, Literal, TypeAlias

from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.scope import UntrustedCaps
from rubric_ci.values.targets import Endpoint, Target
from rubric_ci.values.written_keys import Key

OutputMode: TypeAlias = Literal["json_schema", "json_object", "prompt"]


PANEL: Final = " + "  # between the judges in the name of a panel


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig:
    endpoint: Endpoint  # of several judges the first
    others: tuple[Endpoint, ...] = ()  # further judges of a panel
    mode: Annotated[Literal["batched", "isolated"], Key("isolated")] = "batched"
    """`batched` sends all criteria of a case in one judge request, `isolated` sends one request per
    criterion."""
    output: Annotated[OutputMode | None, Key("json_object")] = None
    """How structured output is requested: a JSON Schema, JSON mode, or the prompt only. Without it,
    the best mode that the model is known to support."""
    evidence: Annotated[Literal["warn", "strict"], Key("strict")] = "warn"
    """If a quote is not in the answer: `warn` adds a warning to the report, `strict` rejects the
    reply and sends the judge request again."""
    votes: Annotated[int | Literal["auto"], Key(3, "auto", minimum=1)] = 1
    """Judge votes per criterion: an odd number, or `auto` to vote again only when it could change
    the verdict."""
    canary: Annotated[bool, Key(True)] = False
    """Add a control criterion that no answer satisfies. If the judge marks it as satisfied, the
    case is errored. With `cli` or `command` it is on by default."""
    images: Annotated[Literal["off", "auto", "required"], Key("required")] = "auto"
    """Images and documents of a case and of its answer: `auto` shows them to a judge whose model
    takes them, and tells any other judge their names, with a warning in the report. `required` lets
    the case be errored where the model takes none. `off` shows none."""

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        return (self.endpoint, *self.others)

    @property
    def members(self) -> "tuple[JudgeConfig, ...]":
        return tuple(map(self.alone, self.endpoints)) if self.others else (self,)

    @property
    def name(self) -> str:
        """The models, as reports and calibrations name the judge."""
        return PANEL.join(each.model for each in self.endpoints)

    def alone(self, endpoint: Endpoint) -> "JudgeConfig":
        return replace(self, endpoint=endpoint, others=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    evals: Annotated[tuple[str, ...], Key(["evals/**/*.yaml"], maxItems=1000, default=[])] = ()
    """Globs of eval files, relative to this file's folder. Commands read these files when no path
    is given."""
    compare: Annotated[
        tuple[str, ...], Key(["with-skill", "without-skill"], minItems=2, uniqueItems=True)
    ] = ()
    """Targets that all answer every case of the eval files that name no target, side by side in one
    report with the difference of the first to the last."""
    judge: Annotated[
        JudgeConfig | None,
        Key.of("one_judge", "openai/gpt-6-luna", {"model": "openai/gpt-6-luna", "votes": 3}),
    ] = None
    """Model that marks answers: its name, or an object with its name and settings."""
    targets: Annotated[Mapping[str, Target], Key.of("targets")] = field(default_factory=dict)
    gate: Annotated[GateConfig, Key.of("gate")] = field(default_factory=GateConfig)
    regression: Annotated[RegressionConfig, Key.of("regression")] = RegressionConfig()
    rules: Annotated[
        Mapping[str, str],
        Key(
            {"gate-kind": "error"},
            additionalProperties={"enum": ["error", "warning", "notice", "off", False]},
            default={},
            to=lambda rules, _: {rule: word or "off" for rule, word in rules.items()},
        ),
    ] = field(default_factory=dict)
    """Severity of each rule of `rubric-ci validate`; `off` or `false` disables the rule.
    `rubric-ci validate --explain RULE` explains it."""
    env_allow: Annotated[
        tuple[str, ...], Key.of("env", name="env", to=lambda env, _: tuple(env.get("allow", ())))
    ] = ()
    untrusted: Annotated[UntrustedCaps, Key.of("untrusted")] = field(default_factory=UntrustedCaps)
    # each text by its id
    shared_rubrics: Annotated[Mapping[str, str], Key.of("sharedRubrics")] = field(
        default_factory=dict
    )
    judges: Mapping[str, Target] | None = None  # targets that may judge; None: all of `targets`
