"""Which cases a change affects, and the reason that the report gives."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.gate.selection.affected_cases import (
    Revision,
    Selection,
    Setup,
    matched,
    place,
    select,
    select_all,
)
from rubric_ci.gate.selection.dependencies import ChangedPaths
from rubric_ci.values.agent_program import HttpRequest
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    WeightedAverage,
)
from rubric_ci.values.messages import DataPart, FilePart, Message, TextPart
from rubric_ci.values.rubric import Check, Rubric
from rubric_ci.values.scope import Scope
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS, Thresholds
from rubric_ci.values.targets import (
    DEPLOYED,
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    ServiceTarget,
    Target,
)
from rubric_ci.values.workspace_settings import GitSource, Hook, Hooks, Workspace

Aggregator: TypeAlias = WeightedAverage | CodeJudgeSpec | LlmJudgeSpec

HERE = Span(1, 1, 1, 2)
JUDGE = JudgeConfig(endpoint=Endpoint(model="openai/m", options={"temperature": 0}))
HOOK = Hook(command=("sh", "b.sh"), cwd="evals", timeout_seconds=60)
MOCK = MockTarget(name="mock", response="yes")
AGENT = CliTarget(name="agent", command_template="python bin/agent.py {PROMPT}")
NARROW = replace(AGENT, depends_on=("src/**",))
READS_EVAL_FILE = replace(NARROW, command_template="agent {EVAL_FILE} {EVAL_ID}")
KEPT = RecordedTarget(name="kept", answers="answers.jsonl")
SERVICE = ServiceTarget(
    name="bot", endpoint=Endpoint(model="http/bot", http=HttpRequest()), depends_on=None
)


def ask(*parts: TextPart | FilePart | DataPart) -> tuple[Message, ...]:
    return (Message(role="user", parts=parts),)


def rubric(*texts: str, span: Span = HERE) -> RubricSpec:
    criteria = tuple(Check(id=f"c{n}", text=text, span=span) for n, text in enumerate(texts))
    return RubricSpec(name="rubric", rubric=Rubric(criteria), span=span)


CASE = EvalCase(
    id="a",
    file="evals/a.yaml",
    span=HERE,
    expected_outcome="Says yes",
    input_messages=ask(TextPart("Yes?"), FilePart("prompts/a.md", "Be kind.")),
    evaluators=(rubric("polite"),),
    references=("prompts/a.md",),
)
SCRIPT = CodeJudgeSpec(
    name="s", script="python ../judges/tone.py {answer_file}", cwd="evals", span=HERE
)
MEAN = WeightedAverage()
PROMPTED = LlmJudgeSpec(name="l", prompt="Is it?", prompt_path="judges/p.md", span=HERE)


def side(
    *cases: EvalCase,
    target: Target = MOCK,
    judge: JudgeConfig | None = JUDGE,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    answers: Mapping[str, str] | None = None,
    unreadable: Mapping[str, str] | None = None,
) -> Revision:
    setup = Setup(target=target, judge=judge, thresholds=thresholds)
    return Revision(
        cases=cases,
        setups={place(case): setup for case in cases},
        answers=answers or {},
        unreadable=unreadable or {},
    )


def without_setup(reason: str) -> Revision:
    return Revision(cases=(CASE,), setups={place(CASE): reason})


def why(head: Revision, base: Revision, *paths: str) -> dict[str, str]:
    """Return the reason of every case that runs."""
    selection = select(head, base, ChangedPaths(paths))
    assert selection.scope.suite == len(head.cases)
    return {case.id: reason for case, reason in selection.chosen}


def test_nothing_changed() -> None:
    again = replace(CASE, input_messages=(*CASE.input_messages,))
    assert select(side(again), side(CASE), ChangedPaths(())) == Selection(
        chosen=(), scope=Scope(suite=1).narrowed("changed-since")
    )


ELSEWHERE = Span(70, 3, 70, 9)


@pytest.mark.parametrize(
    "now",
    [
        replace(CASE, span=ELSEWHERE, evaluators=(rubric("polite", span=ELSEWHERE),)),
        replace(CASE, file="evals/b.yaml"),
        replace(CASE, note="later", tags=("slow",), metadata={"owner": "me"}),
        replace(CASE, conversation_id="c7", depends_on=("src/**",)),
    ],
    ids=["moved in its file", "moved to another file", "notes and tags", "more dependencies"],
)
def test_what_does_not_matter(now: EvalCase) -> None:
    assert why(side(now), side(CASE)) == {}


def asking(text: TextPart | DataPart, path: str, content: str) -> EvalCase:
    return replace(CASE, input_messages=ask(text, FilePart(path, content)))


SILENT = replace(CASE, expected_outcome="")


@pytest.mark.parametrize(
    ("now", "edited"),
    [
        (replace(CASE, expected_outcome="Says no"), "expected_outcome"),
        (replace(CASE, evaluators=(replace(rubric("polite"), name="t"),)), "rubrics, evaluators"),
        (replace(SILENT, input_messages=ask(TextPart("No?"))), "expected_outcome, input_messages"),
        (asking(DataPart("Yes?"), "prompts/a.md", "Be kind."), "input_messages"),
        (asking(TextPart("Yes?"), "prompts/b.md", "Be kind."), "input_messages"),
        (replace(CASE, file="evals/b.yaml", expected_outcome="Says no"), "expected_outcome"),
    ],
)
def test_an_edit(now: EvalCase, edited: str) -> None:
    assert why(side(now), side(CASE)) == {now.id: f"the case was edited: {edited}"}


def test_a_new_case() -> None:
    assert why(side(replace(CASE, id="b")), side(CASE)) == {"b": "the case is new"}


def test_an_edited_file() -> None:
    edited = asking(TextPart("Yes?"), "prompts/a.md", "Be rude.")
    assert why(side(edited), side(CASE)) == {"a": "`prompts/a.md` changed"}


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (DataPart({"n": 1}), DataPart({"n": True})),
        (DataPart({"n": 1}), DataPart({"n": 1.0})),
        (DataPart({"n": None}), DataPart({})),
        (DataPart({"a": 1, "b": 2}), DataPart({"b": 2, "a": 1})),  # a target reads this order
        (TextPart(DataPart({"n": 1}).text), DataPart({"n": 1})),
    ],
)
def test_data_is_compared_as_it_is_written(then: TextPart | DataPart, now: DataPart) -> None:
    head, base = (side(replace(CASE, input_messages=ask(each))) for each in (now, then))
    assert why(head, base) == {"a": "the case was edited: input_messages"}


def composite(*members: EvaluatorSpec, by: Aggregator = MEAN) -> CompositeSpec:
    return CompositeSpec(name="c", evaluators=members, aggregator=by, span=HERE)


WHERE: Mapping[str, Callable[[LlmJudgeSpec], EvaluatorSpec]] = {
    "alone": lambda prompted: prompted,
    "in a composite": composite,
    "combines a composite": lambda prompted: composite(SCRIPT, by=prompted),
}


@pytest.mark.parametrize("where", WHERE.values(), ids=WHERE)
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("judges/p.md", "`judges/p.md` changed", id="file"),
        pytest.param("", "the case was edited: evaluators", id="in the eval file"),
    ],
)
def test_an_edited_prompt_of_a_judge_is_named_by_its_place(
    where: Callable[[LlmJudgeSpec], EvaluatorSpec], path: str, reason: str
) -> None:
    was = replace(PROMPTED, prompt_path=path)
    now = replace(was, prompt="Is it not?")
    then = side(replace(CASE, evaluators=(where(was),)))
    assert why(side(replace(CASE, evaluators=(where(now),))), then) == {"a": reason}


SCRIPTED = replace(CASE, evaluators=(SCRIPT,))
STRICT = Thresholds(passing=0.9)


@pytest.mark.parametrize(
    ("now", "then", "reason"),
    [
        (side(CASE), side(CASE, target=replace(MOCK, response="no")), "target `mock` changed"),
        (side(CASE), side(CASE, target=AGENT), "its target is `mock`, was `agent`"),
        (side(CASE, judge=replace(JUDGE, votes=3)), side(CASE), "judge changed"),
        (side(CASE, judge=None), side(CASE), "judge changed"),
        (side(SCRIPTED, judge=None), side(SCRIPTED), ""),
        (side(CASE, thresholds=STRICT), side(CASE), "thresholds changed"),
        (side(CASE, thresholds=STRICT, judge=None), side(CASE), "judge and thresholds changed"),
        (side(CASE, target=KEPT), side(CASE, target=KEPT), ""),
        (side(CASE), without_setup("its target is new"), "its target is new"),
        (
            side(CASE),
            side(CASE, target=replace(MOCK, depends_on=("src/**",), judge_target="j")),
            "",
        ),
    ],
)
def test_what_it_runs_with(now: Revision, then: Revision, reason: str) -> None:
    assert why(now, then) == ({now.cases[0].id: reason} if reason else {})


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"temperature": 0, "top_p": 1}, True),
        ({"top_p": 1, "temperature": 0, "api_key": "${{ OTHER }}"}, True),
        ({"temperature": 0.0, "top_p": 1}, False),
        ({"temperature": 0, "top_p": 1, "api_base": "https://elsewhere"}, False),
    ],
)
def test_options_of_a_model(options: dict[str, object], *, same: bool) -> None:
    def model(of: dict[str, object]) -> LlmTarget:
        return LlmTarget(name="m", endpoint=Endpoint(model="openai/m", options=of))

    then = side(CASE, target=model({"temperature": 0, "top_p": 1}))
    reasons = why(side(CASE, target=model(options)), then)
    assert reasons == ({} if same else {"a": "target `m` changed"})


INNER, OUTER = (
    replace(SCRIPT, script=f"python {name}.py", cwd="lib") for name in ("inner", "gate")
)
SHARED = replace(CASE, evaluators=(composite(INNER, by=OUTER),))
PREPARED = Workspace(copy="work", setup="sh b.sh ../tools/c.sh")
BUNDLED = Workspace(repos=(GitSource(path="lib.bundle", ref="main"),))
HOOKED = replace(CASE, workspace=Workspace(hooks=Hooks(before_each=HOOK)))
RULED = replace(CASE, evaluators=(replace(SCRIPT, script="python ../judges"),))


@pytest.mark.parametrize(
    ("case", "target", "paths", "changed"),
    [
        (SCRIPTED, MOCK, ["judges/tone.py"], "`judges/tone.py`"),
        # A folder is all that is below.
        (
            RULED,
            MOCK,
            ["judges/b.py", "judges/c/a.md", "judges.py"],
            "`judges/b.py` and `judges/c/a.md`",
        ),
        (SCRIPTED, MOCK, ["judges"], "`judges`"),  # a submodule, or a link to a folder
        (SCRIPTED, MOCK, ["judges/other.py", "tone.py"], ""),
        (CASE, NARROW, ["src/a.py"], "`src/a.py`"),
        (CASE, NARROW, ["src/b.py", "src/a.py"], "`src/a.py` and `src/b.py`"),
        (CASE, NARROW, ["src/a", "src/b", "src/c"], "`src/a` and 2 more files"),
        (CASE, NARROW, ["bin/agent.py"], "`bin/agent.py`"),
        (CASE, NARROW, ["README.md"], ""),
        (CASE, NARROW, ["evals/a.yaml"], ""),  # its cases are compared one by one
        (CASE, READS_EVAL_FILE, ["evals/a.yaml"], "`evals/a.yaml`"),
        (CASE, READS_EVAL_FILE, ["evals/b.yaml"], ""),
        (CASE, AGENT, ["evals/b.yaml"], ""),
        (CASE, AGENT, ["bin/agent.py", "README.md"], "`bin/agent.py`"),
        (replace(CASE, workspace=Workspace(copy="work")), MOCK, ["work/a"], "`work/a`"),
        (replace(CASE, workspace=Workspace(copy="work")), MOCK, ["README.md"], ""),
        (replace(CASE, workspace=BUNDLED), MOCK, ["lib.bundle"], "`lib.bundle`"),
        (replace(CASE, workspace=PREPARED), MOCK, ["b.sh", "tools/c.sh"], "`tools/c.sh`"),
        (replace(CASE, workspace=Workspace(setup="sh b.sh")), MOCK, ["b.sh"], "`b.sh`"),
        (HOOKED, MOCK, ["b.sh", "evals/b.sh"], "`evals/b.sh`"),
        (replace(CASE, depends_on=("data/*",)), MOCK, ["data/x"], "`data/x`"),
        (replace(CASE, depends_on=("evals/*",)), MOCK, ["evals/b.yaml"], "`evals/b.yaml`"),
        (replace(CASE, references=("a.md", "data/g.json")), MOCK, ["data/g.json"], "`data/g.json`"),
        (SHARED, MOCK, ["lib/inner.py", "lib/gate.py"], "`lib/gate.py` and `lib/inner.py`"),
    ],
)
def test_files_it_reads(case: EvalCase, target: Target, paths: list[str], changed: str) -> None:
    now = side(case, target=target)
    selection = select(now, now, ChangedPaths(paths, compared={"evals/b.yaml"}))
    assert [why for _, why in selection.chosen] == ([f"{changed} changed"] if changed else [])


def test_a_target_without_dependencies_depends_on_every_file() -> None:
    now = side(CASE, target=AGENT)
    selection = select(now, now, ChangedPaths(["README.md"]))
    reason = "`README.md` changed, and target `agent` depends on every file"
    assert selection.chosen == ((CASE, reason),)
    (note,) = selection.notes
    assert note == (
        "Target `agent` has no `depends_on`, so it depends on every file of the repository: "
        "list the files that it uses there, and fewer cases run."
    )
    assert select(now, now, ChangedPaths([])).notes == ()


@pytest.mark.parametrize("paths", [[], ["README.md"], ["evals/b.yaml"]])
def test_the_cases_of_a_deployed_service_always_run(paths: list[str]) -> None:
    now = side(CASE, target=SERVICE)
    selection = select(now, now, ChangedPaths(paths, compared={"evals/b.yaml"}))
    assert [why for _, why in selection.chosen] == [DEPLOYED]
    assert selection.notes == (
        (
            "Target `bot` has no `depends_on`, so its service is deployed and its cases always "
            "run: list the files that it uses there, and fewer cases run."
        ),
    )
    listed = side(CASE, target=replace(SERVICE, depends_on=("bot.py",)))
    assert select(listed, listed, ChangedPaths(["README.md"])).chosen == ()


ONE = '{"id": "a", "answer": "yes"}\n'
TWO = '{"id": "b", "answer": "no"}\n'
APART = '{"id": "c", "answer": "one\u2028line"}\n'  # no line of JSON Lines ends there


@pytest.mark.parametrize(
    ("then", "now", "runs"),
    [
        (ONE, ONE + TWO, False),
        (ONE + TWO, "\n" + TWO + ONE, False),
        (ONE, ONE.replace("yes", "no"), True),
        ("", ONE, True),
        (ONE, ONE + '{"id": "a", "file": "evals/a.yaml", "answer": "no"}\n', True),
        (ONE, ONE + '{"id": "a", "file": "evals/b.yaml", "answer": "no"}\n', False),
        (ONE + TWO, ONE + "{broken", True),
        (ONE + "{broken", ONE + "{broken", False),
        (ONE + APART, ONE + APART + TWO, False),
        (ONE + "{broken", ONE.replace("yes", "no") + "{broken", True),
        (ONE, ONE + "[]", True),
        (ONE, ONE + '{"answer": "no id"}', True),
        (ONE, ONE + '{"id": "b", "file": 1}', True),
    ],
)
def test_a_recorded_answer(then: str, now: str, *, runs: bool) -> None:
    head = side(CASE, target=KEPT, answers={"answers.jsonl": now})
    base = side(CASE, target=KEPT, answers={"answers.jsonl": then})
    reasons = why(head, base, "answers.jsonl")
    assert reasons == ({"a": "its answer in `answers.jsonl` changed"} if runs else {})


def test_several_reasons() -> None:
    now = side(replace(CASE, expected_outcome="Says no"), target=NARROW)
    then = side(CASE, target=replace(NARROW, command_template="agent"))
    assert why(now, then, "src/a.py") == {
        "a": "the case was edited: expected_outcome; target `agent` changed; `src/a.py` changed"
    }


def test_a_base_that_does_not_parse() -> None:
    other = replace(CASE, file="evals/b.yaml", id="b")
    base = side(
        other, unreadable={"evals/a.yaml": "the base does not parse: line 3: duplicate key `id`"}
    )
    selection = select(side(CASE, other), base, ChangedPaths([]))
    assert selection == Selection(
        chosen=((CASE, "the base does not parse: line 3: duplicate key `id`"),),
        scope=Scope(suite=2).narrowed("changed-since"),
        notes=(
            (
                "`evals/a.yaml` cannot be compared with the base, so its cases run: "
                "the base does not parse: line 3: duplicate key `id`."
            ),
        ),
    )


@pytest.mark.parametrize(
    ("count", "listed"),
    [
        (1, "`g0`"),
        (5, "`g0`, `g1`, `g2`, `g3`, `g4`"),
        (7, "`g0`, `g1`, `g2`, `g3`, `g4` and 2 more"),
    ],
)
def test_removed_cases_are_noted(count: int, listed: str) -> None:
    gone = [replace(CASE, id=f"g{n}") for n in range(count)]
    selection = select(side(CASE), side(*gone, CASE), ChangedPaths([]))
    assert selection.notes == (f"Removed since the base: {listed}.",)
    assert selection.chosen == ()


OLD = replace(CASE, file="evals/old.yaml")
OLDER = replace(CASE, file="evals/older.yaml")
EDITED = replace(OLD, expected_outcome="Says no")
ELSEWHERE_EDITED = replace(EDITED, target="other")
ROW = replace(CASE, id=f"{CASE.id} [default]", written_id=CASE.id, target="default")


@pytest.mark.parametrize(
    ("base", "origin"),
    [
        pytest.param((), None, id="new"),
        pytest.param((replace(OLD, id="b"),), None, id="another id"),
        pytest.param((OLD,), OLD, id="moved"),
        pytest.param((EDITED, OLDER), OLDER, id="moved and not edited"),
        pytest.param((replace(OLD, target="other"), OLDER), OLDER, id="moved, same target"),
        pytest.param((ELSEWHERE_EDITED,), ELSEWHERE_EDITED, id="moved and edited"),
        pytest.param((replace(EDITED, file=CASE.file), OLD), OLD, id="another one took its place"),
        pytest.param((ROW,), ROW, id="one of several targets"),
        pytest.param((replace(ROW, target="other"),), None, id="another of several targets"),
    ],
)
def test_the_origin_of_a_case(base: tuple[EvalCase, ...], origin: EvalCase | None) -> None:
    assert matched([CASE], base) == ({(CASE.file, CASE.id): origin} if origin else {})


def test_a_case_that_stayed_is_not_taken_for_one_that_went() -> None:
    stayed = replace(CASE, input_messages=(*CASE.input_messages,))
    went = replace(CASE, file="evals/b.yaml", target="other")
    base = replace(
        side(went, CASE), setups={**side(went, target=AGENT).setups, **side(CASE).setups}
    )
    selection = select(side(stayed), base, ChangedPaths([]))
    assert (selection.chosen, selection.scope.narrowed_by) == ((), ("changed-since",))


def test_a_copy_is_a_new_case() -> None:
    copy = replace(CASE, file="evals/b.yaml")
    selection = select(side(CASE, copy), side(CASE), ChangedPaths([]))
    assert selection.chosen == ((copy, "the case is new"),)


def test_nothing_to_compare_with() -> None:
    assert select_all((CASE,), "`schedule` events have no base commit") == Selection(
        chosen=((CASE, "there is nothing to compare with"),),
        scope=Scope(suite=1),
        notes=(
            (
                "Every case runs, as there is nothing to compare with: "
                "`schedule` events have no base commit."
            ),
        ),
    )


CASES = st.builds(
    EvalCase,
    id=st.sampled_from("abc"),
    file=st.sampled_from(["x.yaml", "y.yaml"]),
    span=st.builds(Span, *[st.integers(1, 9)] * 4),
    expected_outcome=st.sampled_from(["", "yes"]),
)
FILES = st.lists(CASES, unique_by=lambda case: (case.file, case.id)).map(tuple)


@given(FILES, FILES, st.randoms())
def test_order_and_position_never_matter(
    now: tuple[EvalCase, ...], then: tuple[EvalCase, ...], random: Random
) -> None:
    shuffled = [replace(case, span=HERE) for case in now]
    random.shuffle(shuffled)
    reasons = {(case.file, case.id): why for case, why in chosen(now, then)}
    assert {(case.file, case.id): why for case, why in chosen(tuple(shuffled), then)} == reasons


@given(FILES)
def test_a_side_never_differs_from_itself(cases: tuple[EvalCase, ...]) -> None:
    assert chosen(cases, tuple(reversed(cases))) == ()


@given(FILES, FILES)
def test_every_case_is_chosen_with_a_reason_or_has_an_equal_in_the_base(
    now: tuple[EvalCase, ...], then: tuple[EvalCase, ...]
) -> None:
    run = {(case.file, case.id) for case, why in chosen(now, then) if why}
    for case in now:
        if (case.file, case.id) not in run:
            assert any((w.id, w.expected_outcome) == (case.id, case.expected_outcome) for w in then)


def chosen(
    now: tuple[EvalCase, ...], then: tuple[EvalCase, ...]
) -> tuple[tuple[EvalCase, str], ...]:
    return select(side(*now), side(*then), ChangedPaths([])).chosen


def test_a_case_has_the_setup_of_its_folder_and_target() -> None:
    other = replace(CASE, file="support/b.yaml", target="other")
    assert [place(each) for each in (CASE, other)] == [("evals", ""), ("support", "other")]
    mocked = side(CASE).setup(place(CASE))
    setups = {("evals", ""): mocked, ("support", "other"): replace(mocked, target=AGENT)}
    both = Revision(cases=(CASE, other), setups=setups)
    paths = ChangedPaths(["bin/agent.py"])
    assert [case for case, _ in select(both, both, paths).chosen] == [other]
