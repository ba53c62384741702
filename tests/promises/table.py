"""What works with what: every kind of answer against every promise, as one table.

A cell holds, is refused with exit code 2 and a sentence, or does not apply. The tests of this
folder try each cell; `python -m tests.docs.promises` writes `docs/what-works-with-what.md` from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Refused:
    """The command ends with exit code 2; the text is part of what it says."""

    says: str
    why: str


@dataclass(frozen=True, slots=True)
class DoesNotApply:
    """There is nothing that the promise could be about."""

    why: str


@dataclass(frozen=True, slots=True)
class Holds:
    """The check of the promise passes."""


Cell: TypeAlias = Holds | Refused | DoesNotApply


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRow:
    """A kind of answer in words, its page, and the parts of the program that are of this kind."""

    title: str
    page: str
    covers: frozenset[str]  # such as `provider:cli`; `test_promises.py` finds all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A promise in words, its page, and the kinds for which it does not hold."""

    title: str
    says: str
    page: str
    but: Mapping[str, Cell] = field(default_factory=dict)


def _named(sort: str, *names: str) -> frozenset[str]:
    return frozenset(f"{sort}:{name}" for name in names)


KINDS: Final[Mapping[str, KindRow]] = {
    "model": KindRow(title="model", page="targets.md", covers=_named("target", "LlmTarget")),
    "command": KindRow(
        title="command",
        page="targets.md",
        covers=_named("target", "CliTarget") | _named("provider", "cli"),
    ),
    "service": KindRow(
        title="HTTP service that a run starts",
        page="services.md",
        covers=_named("target", "ServiceTarget"),
    ),
    "http": KindRow(
        title="HTTP service, deployed", page="services.md", covers=_named("provider", "http")
    ),
    "agent": KindRow(
        title="agent with a workspace",
        page="agents.md",
        covers=_named(
            "provider", "claude-code", "codex", "copilot", "gemini-cli", "opencode", "qwen"
        )
        | _named("case", "workspace")
        | _named("workspace", "copy", "git", "keep", "of_target", "sandbox", "container"),
    ),
    "prepared": KindRow(
        title="workspace with repositories, set-up and hooks",
        page="agents.md",
        covers=_named("workspace", "setup", "repos", "hooks"),
    ),
    "scripted": KindRow(
        title="conversation, scripted", page="conversations.md", covers=_named("case", "turns")
    ),
    "simulated": KindRow(
        title="conversation, simulated user",
        page="conversations.md",
        covers=_named("case", "simulated_user"),
    ),
    "recorded": KindRow(
        title="recorded or fixed answer",
        page="targets.md",
        covers=_named("target", "RecordedTarget", "MockTarget")
        | _named("provider", "recorded", "mock"),
    ),
    "skill": KindRow(title="skill, compared", page="agents.md", covers=_named("config", "compare")),
    "runner": KindRow(
        title="another tool that is started",
        page="adopt.md",
        covers=_named("target", "RunnerTarget") | _named("provider", "runner"),
    ),
    "adopted": KindRow(
        title="results of another tool",
        page="adopt.md",
        covers=_named(
            "tool",
            *("promptfoo", "inspect", "deepeval", "pydantic-evals"),
            *("agent-skills", "junit", "csv"),
        ),
    ),
    "dialect": KindRow(
        title="eval file of another tool",
        page="bring.md",
        covers=_named("dialect", *("agent_skills", "agentv", "agentv_targets")),
    ),
    "table": KindRow(
        title="table with variables",
        page="eval-files.md",
        covers=_named("case", "vars") | _named("table", ".csv", ".tsv"),
    ),
    "layered": KindRow(
        title="criteria of a rubric file, with conditions, a penalty, guidelines and examples",
        page="rubrics.md",
        covers=frozenset(),
    ),
    "choices": KindRow(title="criterion with choices", page="rubrics.md", covers=frozenset()),
    "penalty": KindRow(
        title="penalty that a judge marks", page="evaluators.md", covers=frozenset()
    ),
    "golden": KindRow(
        title="golden set, or cases of another tool, imported",
        page="bring.md",
        covers=_named(
            "dialect", *("golden_sets_and_tables", "github_models", "openai_evals", "promptfoo")
        ),
    ),
    "trace": KindRow(
        title="recorded trace, imported",
        page="bring.md",
        covers=_named("trace", "otlp", "langfuse", "langsmith", "phoenix", "braintrust"),
    ),
    "workbook": KindRow(title="workbook, imported", page="bring.md", covers=frozenset()),
    "picture": KindRow(
        title="case with an image or a document",
        page="conversations.md",
        covers=_named("part", "MediaPart"),
    ),
}
NO_KINDS: Final = frozenset(("target:UnsupportedTarget",)).union(  # `validate` refuses it
    _named("case", "id", "written_id", "file", "span", "references", "depends_on"),  # where it is
    _named("case", "stopped", "inapplicable"),  # it gets no answer, or none is graded
    _named("case", "input_messages", "expected_outcome", "expected_messages", "evaluators"),
    _named("case", "opts_out", "only_shared", "variant", "template"),
    _named("case", "target", "tags", "trials", "conversation_id", "note", "metadata"),
    _named("part", "TextPart", "FilePart", "DataPart"),  # texts
    _named("config", "evals", "judge", "targets", "gate", "regression", "rules", "env_allow"),
    _named("config", "shared_rubrics"),
    _named("config", "untrusted", "judges"),
)
"""What every kind has."""

_OWN_REQUESTS: Final = DoesNotApply(
    "the tool sends its own requests, and rubric-ci none; a note of the report says so of a cap"
)
_NOTHING_SENT: Final = DoesNotApply("nothing is sent or started: the results are there")
_OWN_CACHE: Final = DoesNotApply("the tool is started each time, and has its own cache")
_OWN_JUDGE: Final = DoesNotApply("the tool marks the answers; no judge request is sent")
_OTHER_FOLDER: Final = DoesNotApply(
    "hooks, or the branch of a repository, may give another folder each time: the judge is asked "
    "nothing again, each answer is a new one, and a note says so with `--reuse answers`"
)
_NO_RUBRIC: Final = Refused(
    "has results that csv judged: there is no rubric to mark",
    "the judge of the tool is checked with its own commands",
)
_NO_FILES: Final = DoesNotApply("the tool judges by its own criteria, and not by rubric files")
_ONE_ANSWER: Final = Refused(
    "variants are made of one answer, and not of a conversation",
    "the text of several turns cannot be changed by rules",
)


def _tools(runner: Cell, adopted: Cell | None = None) -> Mapping[str, Cell]:
    return {"runner": runner, "adopted": adopted or runner}


PROMISES: Final[Mapping[str, Promise]] = {
    "estimate": Promise(
        title="estimated before",
        says="The judge requests that a run announces are those that it sends; calls of a target "
        "are announced, or their bound is.",
        page="cost.md",
        but=_tools(_OWN_REQUESTS, _NOTHING_SENT),
    ),
    "caps": Promise(
        title="capped",
        says="`--max-calls` holds for requests of judges, targets and simulated users and for "
        "starts of agents; what is beyond it is errored.",
        page="cost.md",
        but=_tools(_OWN_REQUESTS, _NOTHING_SENT),
    ),
    "counted": Promise(
        title="counted after",
        says="`totals.calls` has every request that was sent and every start of an agent.",
        page="cost.md",
        but=_tools(_OWN_REQUESTS, _NOTHING_SENT),
    ),
    "cache": Promise(
        title="cached",
        says="A second run asks the judge nothing, and with `--reuse answers` no target.",
        page="cost.md",
        but={**_tools(_OWN_CACHE, _NOTHING_SENT), "prepared": _OTHER_FOLDER},
    ),
    "replay": Promise(
        title="recorded and replayed",
        says="`--replay` starts and requests nothing, and gives the verdicts, answers and work of "
        "the run with `--record`.",
        page="cost.md",
        but=_tools(
            Refused("--record has no effect on the target tool", "the tool writes a results file"),
            _NOTHING_SENT,
        ),
    ),
    "against": Promise(
        title="compared under both rubrics",
        says="An answer that is worse under the base's rubrics fails `fail_on: regression`, also "
        "if the change made the rubrics lenient.",
        page="compare.md",
        but={
            "http": DoesNotApply(
                "one server answers for the change only; kept answers of the base count, and "
                "`url_before` names its server"
            ),
            "adopted": DoesNotApply(
                "the results are of one state; `--baseline FILE` compares with another report"
            ),
        },
    ),
    "grading-changes": Promise(
        title="grading changes told",
        says="A change that weakens the grading is listed.",
        page="policy.md",
    ),
    "waivers": Promise(
        title="waivers by question",
        says="A waiver excuses the criterion of its case, until the question changes.",
        page="gate.md",
    ),
    "policy": Promise(
        title="policy of the base",
        says="The gate and the judge of the base hold, even if the change sets others.",
        page="policy.md",
    ),
    "label": Promise(
        title="labelled",
        says="`judge label` shows and keeps the whole answer.",
        page="calibration.md",
        but=_tools(_NO_RUBRIC),
    ),
    "calibrate": Promise(
        title="calibrated",
        says="`judge calibrate` judges the labelled answers; no target is asked.",
        page="calibration.md",
        but=_tools(_NO_RUBRIC),
    ),
    "judge-test": Promise(
        title="rubrics tested",
        says="`judge test` judges the answers of tests; no target is asked.",
        page="rubrics.md",
        but=_tools(_NO_FILES),
    ),
    "probe": Promise(
        title="probed",
        says="`probe` takes away what a criterion quotes, and the criterion notices it.",
        page="calibration.md",
        but={**_tools(_NO_RUBRIC), "scripted": _ONE_ANSWER, "simulated": _ONE_ANSWER},
    ),
    "sentinel": Promise(
        title="watched at night",
        says="The first night remembers marks, and asks for each five times.",
        page="compare.md",
        but=_tools(
            Refused("--trials has no effect on the target tool", "the tool judges"), _OWN_JUDGE
        ),
    ),
    "history": Promise(
        title="in the history", says="`history add` and `history show` take the report.",
        page="compare.md",
    ),
    "reports": Promise(
        title="in every report",
        says="JSON, Markdown, JUnit, SARIF and HTML have its cases, and `report.json` reads back "
        "as it was written.",
        page="reports.md",
    ),
    "masking": Promise(
        title="masked",
        says="A secret in an answer or in its work is in no output and in no judge request.",
        page="threat-model.md",
    ),
    "fence": Promise(
        title="fenced",
        says="All that a target wrote is inside the fence of a judge request.",
        page="calibration.md",
        but=_tools(_OWN_JUDGE),
    ),
    "untrusted": Promise(
        title="graded for a stranger",
        says="`run --untrusted` grades the criteria and prompts of a commit, and starts, reads and "
        "requests nothing else that it changed: such a case is skipped.",
        page="public-repositories.md",
        but=_tools(
            Refused("--untrusted", "the tool reads its own files, and runs them"),
            Refused("No such option '--untrusted'", "results are data of their author"),
        ),
    ),
}  # fmt: skip


def cell(kind: str, promise: str) -> Cell:
    """Return what a promise means for a kind."""
    return PROMISES[promise].but.get(kind, Holds())
