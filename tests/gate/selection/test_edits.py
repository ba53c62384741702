"""The fingerprint of a case: whatever a verdict can depend on changes it, field by field."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple, TypeAlias, TypeVar

import pytest

from rubric_ci.gate.selection import affected_cases
from rubric_ci.gate.selection.affected_cases import Revision, Setup, place, select
from rubric_ci.gate.selection.dependencies import ChangedPaths, held_files
from rubric_ci.parts.graders.usage_limits import LatencySpec
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    TrialRule,
)
from rubric_ci.values.messages import DataPart, FilePart, Message, TextPart, Turn
from rubric_ci.values.rubric import Check, Rubric
from rubric_ci.values.scoring import Thresholds
from rubric_ci.values.targets import Endpoint, LlmTarget
from rubric_ci.values.workspace_settings import Hook, Hooks, PromptTemplate, Workspace
from tests.gate.selection.test_affected_cases import HERE, composite
from tests.model_values import Change, changes, examples

Value = TypeVar("Value")
Compared: TypeAlias = tuple[tuple[Change, bool], ...]

NO_VERDICT_DEPENDS_ON = {
    "*.span": "where it stands in its file",
    "EvalCase.file": "a moved case is the same case; what its folder decides is in its target",
    "EvalCase.written_id": "a part of the id, which has the name of the target too",
    "EvalCase.target": "the target itself is compared, not only its name",
    "EvalCase.depends_on": "the files under it are compared, by `ChangedPaths`",
    "EvalCase.references": "the files are compared: as text if read, else by `ChangedPaths`",
    "EvalCase.tags": "cases are selected and counted by it, never graded",
    "EvalCase.conversation_id": "cases are grouped by it in statistics",
    "EvalCase.note": "carried for people",
    "EvalCase.metadata": "carried for people, unless a script or a hook reads it (`is_read`)",
    "EvalCase.inapplicable": "it follows from the evaluators",
    "EvalCase.only_shared": "it follows from the evaluators",
    "EvalCase.opts_out": "it follows from the evaluators",
    "EvalCase.variant": "a comparison sets it while it runs",
    "EvalCase.stopped": "the missing file is no part of the messages, so one that is added is",
    "Check.tags": "waivers read it, after grading",
    "Scored.tags": "waivers read it, after grading",
    "Levelled.tags": "waivers read it, after grading",
    "Chosen.tags": "waivers read it, after grading",
    "Assertion.tags": "waivers read it, after grading",
    "*Target.concurrency": "how many requests are in flight",
    "JudgeCommand.concurrency": "how many commands run at once",
    "*Target.judge_target": "the judge that it leads to is compared",
    "*Target.depends_on": "the files under it are compared, by `ChangedPaths`",
    "Endpoint.identity": "who asks, as an API key says",
    "CodeJudgeSpec.depends_on": "the files under it are compared, by `ChangedPaths`",
    "*Target.cache": "whether an answer is kept",
    "EvalCase.template": "the comparison counts its rows as one, after grading",
}
"""Pattern of "Class.field" to the reason that no verdict depends on it."""


def listed(change: Change) -> bool:
    return any(fnmatchcase(at, key) for at in change.place for key in NO_VERDICT_DEPENDS_ON)


def is_read(change: Change) -> bool:
    """Return True for metadata of a case with a script or a hook."""
    read = isinstance(change.value, EvalCase) and change.value.gives_metadata
    return read and "EvalCase.metadata" in change.place


SETUP: Setup = examples(Setup)[0]
PLAIN: EvalCase = examples(EvalCase)[0]


def evaluators() -> Iterator[EvaluatorSpec]:
    """Yield every evaluator; one composite has every kind of member, another is nested."""
    specs: list[EvaluatorSpec] = examples(EvaluatorSpec)
    models = [spec for spec in specs if isinstance(spec, LlmJudgeSpec)]
    composites = [spec for spec in specs if isinstance(spec, CompositeSpec)]
    small = [replace(spec, evaluators=spec.evaluators[:1]) for spec in composites]
    kinds = {type(member): member for member in composites[0].evaluators}
    yield from (spec for spec in specs if not isinstance(spec, CompositeSpec))
    yield from (replace(spec, prompt_path="") for spec in models)  # it is in the eval file
    yield replace(small[0], evaluators=(*kinds.values(), small[-1]))
    yield from small


def cases() -> Iterator[EvalCase]:
    """Yield cases without evaluators, and cases of one evaluator without messages."""
    yield from (replace(case, evaluators=()) for case in examples(EvalCase))
    bare = replace(PLAIN, input_messages=(), expected_messages=())
    yield from (replace(bare, evaluators=(spec,)) for spec in evaluators())


def side(case: EvalCase, setup: Setup = SETUP) -> Revision:
    return Revision(cases=(case,), setups={place(case): setup})


def differs(head: Revision, base: Revision) -> bool:
    return bool(select(head, base, ChangedPaths([])).chosen)


def compared() -> Iterator[tuple[Change, bool]]:
    """Yield changes of a case or of what it runs with, and whether the case runs for them."""
    of_cases = ((case, change) for case in cases() for change in changes(EvalCase, case))
    for case, change in some_of_each_place(of_cases):
        yield change, differs(side(change.value), side(case))
    of_setups = ((setup, change) for setup in examples(Setup) for change in changes(Setup, setup))
    for setup, change in some_of_each_place(of_setups):
        yield change, differs(side(PLAIN, change.value), side(PLAIN, setup))


def some_of_each_place(found: Iterable[tuple[Value, Change]]) -> Iterator[tuple[Value, Change]]:
    """Yield the first three changes of each place, and every 64th: most are much alike."""
    tried = Counter[tuple[str, ...]]()
    for value, change in found:
        n = tried[change.place]
        tried[change.place] += 1
        if n < 3 or n % 64 == 0:
            yield value, change


@pytest.fixture(scope="module")
def every_change() -> Compared:
    return tuple(compared())


def test_a_change_of_what_a_verdict_depends_on_runs_the_case(every_change: Compared) -> None:
    missed = {
        change.place
        for change, runs in every_change
        if not runs and (is_read(change) or not listed(change))
    }
    assert sorted(missed) == [], "put it into the fingerprint, or list it with the reason"


def test_what_is_listed_runs_no_case(every_change: Compared) -> None:
    found = [change for change, runs in every_change if runs and not is_read(change)]
    wrong = {change.place for change in found if listed(change)}
    assert sorted(wrong) == [], "it is part of the fingerprint: take it off the list"


def test_what_is_listed_exists(every_change: Compared) -> None:
    places = {at for change, _ in every_change for at in change.place}
    unknown = [key for key in NO_VERDICT_DEPENDS_ON if not any(fnmatchcase(p, key) for p in places)]
    assert unknown == []


RUBRIC = RubricSpec(name="r", rubric=Rubric((Check(id="c", text="Kind", span=HERE),)), span=HERE)
MODEL = LlmJudgeSpec(name="m", span=HERE)
SCRIPT = CodeJudgeSpec(name="s", script="true", cwd=".", span=HERE)
LIMIT = LatencySpec(name="l", threshold_ms=1, span=HERE)


@pytest.mark.parametrize(
    ("specs", "judged"),
    [
        pytest.param((), False, id="nothing to grade"),
        pytest.param((RUBRIC,), True, id="rubric"),
        pytest.param((MODEL,), True, id="free-form judge"),
        pytest.param((replace(MODEL, prompt_script=SCRIPT),), True, id="judge with a script"),
        pytest.param((SCRIPT, LIMIT), False, id="script and limit"),
        pytest.param((SCRIPT, RUBRIC), True, id="script and rubric"),
        pytest.param((composite(SCRIPT, LIMIT),), False, id="composite of scripts"),
        pytest.param((composite(SCRIPT, RUBRIC),), True, id="composite with a rubric"),
        pytest.param((composite(composite(MODEL)),), True, id="nested composite with a judge"),
        pytest.param((composite(SCRIPT, by=MODEL),), True, id="composite that a judge combines"),
        pytest.param((composite(LIMIT, by=SCRIPT),), False, id="composite that a script combines"),
    ],
)
def test_the_judge_counts_if_it_marks(specs: tuple[EvaluatorSpec, ...], *, judged: bool) -> None:
    case = replace(PLAIN, evaluators=specs, simulated_user=None)
    assert affected_cases.is_judged(replace(case, simulated_user=PLAIN.simulated_user))
    assert affected_cases.is_judged(case) is judged
    assert differs(side(case), side(case, replace(SETUP, judge=None))) is judged


ASKED = Message(role="user", parts=(TextPart("Yes?"), FilePart("data/a.csv", "1")))


EMPTY = EvalCase(id="a", file="a.yaml", span=HERE)
INLINE = replace(RUBRIC, name="rubric")
PROMPTED = replace(MODEL, prompt="Old", prompt_path="prompts/m.md")
COMBINED = composite(PROMPTED, SCRIPT, by=replace(PROMPTED, prompt_path="prompts/by.md"))


HOOKED = Workspace(hooks=Hooks(before_each=Hook(command=("true",), timeout_seconds=1)))


def graded_by(*specs: EvaluatorSpec) -> EvalCase:
    return replace(EMPTY, evaluators=specs)


def answered(*parts: TextPart | DataPart) -> EvalCase:
    return replace(EMPTY, expected_messages=(Message(role="assistant", parts=parts),))


BY_SCRIPT = graded_by(SCRIPT)
BY_PRINTED = graded_by(replace(MODEL, prompt_script=SCRIPT))
BY_PROMPT, BY_COMBINED = graded_by(PROMPTED), graded_by(COMBINED)
EDITED = replace(PROMPTED, prompt="New")
COMBINES = replace(COMBINED, aggregator=replace(EDITED, prompt_path="prompts/by.md"))
VARS = {"a": 1, "b": 2}
MARKS = {"expected_outcome", "expected_messages", "rubrics", "evaluators", "metadata"}
"""The keys of a case by which an answer is marked."""


class Edit(NamedTuple):
    """A case, what is edited in it, and what it was."""

    now: EvalCase
    key: str = ""
    was: EvalCase = EMPTY
    file: str = ""  # of a prompt


EDITS = {
    "a message": Edit(replace(EMPTY, input_messages=(ASKED,)), "input_messages"),
    "a turn": Edit(replace(EMPTY, turns=(Turn(text="Yes?"),)), "turns"),
    "a user": Edit(replace(EMPTY, simulated_user=PLAIN.simulated_user), "simulated_user"),
    "an outcome": Edit(replace(EMPTY, expected_outcome="x"), "expected_outcome"),
    "an answer": Edit(answered(TextPart("x")), "expected_messages", answered()),
    "an answer as data": Edit(
        answered(TextPart("{}")), "expected_messages", answered(DataPart({}))
    ),
    "inline rubrics": Edit(graded_by(INLINE), "rubrics"),
    "inline rubrics next to a script": Edit(graded_by(INLINE, SCRIPT), "rubrics", BY_SCRIPT),
    "rubrics with a name": Edit(graded_by(RUBRIC), "evaluators"),
    "rubrics after a script": Edit(graded_by(SCRIPT, INLINE), "evaluators", BY_SCRIPT),
    "a judge with the name of rubrics": Edit(
        graded_by(replace(MODEL, name="rubric")), "evaluators"
    ),
    "a prompt": Edit(
        graded_by(replace(MODEL, prompt="New")),
        "evaluators",
        graded_by(replace(MODEL, prompt="Old")),
    ),
    "a prompt file": Edit(graded_by(EDITED), was=BY_PROMPT, file="prompts/m.md"),
    "the prompt file of a member": Edit(
        graded_by(replace(COMBINED, evaluators=(EDITED, SCRIPT))),
        was=BY_COMBINED,
        file="prompts/m.md",
    ),
    "the prompt file of what combines": Edit(
        graded_by(COMBINES), was=BY_COMBINED, file="prompts/by.md"
    ),
    "a variable": Edit(replace(EMPTY, vars={"a": 1}), "vars"),
    "the order of variables": Edit(
        replace(EMPTY, vars=VARS), was=replace(EMPTY, vars=dict(reversed(VARS.items())))
    ),
    "a workspace": Edit(replace(EMPTY, workspace=Workspace(copy="work")), "workspace"),
    "metadata": Edit(replace(EMPTY, metadata=VARS)),
    "trials": Edit(replace(EMPTY, trials=TrialRule(count=3, passes=2)), "trials"),
    **{
        f"metadata that {who} reads": Edit(replace(was, metadata=VARS), "metadata", was)
        for who, was in {
            "a script": BY_SCRIPT,
            "the script of a prompt": BY_PRINTED,
            "a hook": replace(EMPTY, workspace=HOOKED),
        }.items()
    },
}


@pytest.mark.parametrize(("now", "key", "was", "file"), EDITS.values(), ids=EDITS)
def test_an_edit_is_of_one_key(now: EvalCase, key: str, was: EvalCase, file: str) -> None:
    found = affected_cases.edits(now, was)
    assert {*found.keys} == {key} - {""}
    assert [*found.files] == ([file] if file else [])
    assert affected_cases.is_marked_alike(now, was) is (key not in MARKS and not file)


def test_the_files_of_a_case() -> None:
    case = replace(
        graded_by(MODEL, SCRIPT, COMBINED),
        input_messages=(ASKED,),
        expected_messages=(replace(ASKED, parts=(FilePart("data/b.csv", "2"),)),),
    )
    assert held_files(case) == {"data/a.csv", "data/b.csv", "prompts/m.md", "prompts/by.md"}


TEMPLATE = PromptTemplate(path="prompts/t.md", messages=(("user", "Old"),), takes_input=False)
ENDPOINT = Endpoint(model="openai/m")
TARGET = LlmTarget(name="bot", endpoint=ENDPOINT, prompt=TEMPLATE)
RUNS = replace(SETUP, target=TARGET)

MODELLED = replace(TARGET, endpoint=Endpoint(model="openai/n"))
REWORDED = replace(TARGET, prompt=replace(TEMPLATE, messages=(("user", "New"),)))
TAKING = replace(TARGET, prompt=replace(TEMPLATE, takes_input=True))
SETUPS: dict[str, tuple[Setup, set[str]]] = {
    "the same": (RUNS, set()),
    "a prompt": (replace(RUNS, target=REWORDED), {"`prompts/t.md`"}),
    "a prompt with the input": (replace(RUNS, target=TAKING), {"`prompts/t.md`"}),
    "no prompt": (replace(RUNS, target=replace(TARGET, prompt=None)), {"target `bot`"}),
    "a model": (replace(RUNS, target=MODELLED), {"target `bot`"}),
    "thresholds": (replace(RUNS, thresholds=Thresholds(passing=0.9)), {"thresholds"}),
    "a judge": (replace(RUNS, judge=None), {"judge"}),
}


@pytest.mark.parametrize(("now", "parts"), SETUPS.values(), ids=SETUPS)
def test_what_a_case_runs_with_has_names(now: Setup, parts: set[str]) -> None:
    assert {*affected_cases.setup_changes(now, RUNS, judged=True)} == parts
    assert {*affected_cases.setup_changes(now, RUNS, judged=False)} == parts - {"judge"}
