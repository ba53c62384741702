"""Eval cases with an answer to judge and the expected marks: attacks and control answers.

Such a case has in its `metadata` the `answer`, the `marks` by criterion id, a `family` and the
`twin`: the id of its control, a case with the same rubric whose answer deserves the same marks. The
answer may have `images`, paths from the folder of the file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from rubric_ci.models.judge.reply import is_allowed
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic, Severity
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media, with_names
from rubric_ci.values.results import Answer
from rubric_ci.values.rubric import (
    Check,
    Chosen,
    Judged,
    Levelled,
    Mark,
    MarkedAnswer,
    Rubric,
    Scored,
)
from rubric_ci.values.scoring import CANNOT_ASSESS, MarkValue
from rubric_ci.values.trace import FileChange, Work

CONTROL_PLACEHOLDER = "{twin}"
WORK: Final = ("tool results", "diffs", "file names")
_OF_ANSWERS: Final = frozenset(("claim", "padding", "frame", "looks", "innocent", "picture"))

ReadImage: TypeAlias = Callable[[EvalCase, str], Media | None]
"""The image of a case at a path; None: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    case: EvalCase
    rubric: Rubric
    answer: str
    media: tuple[Media, ...] = ()  # images of the answer
    did: Answer | None = None  # with the work of an agent that the judge sees; None: no work
    marks: Mapping[str, MarkValue]  # by criterion id, one each
    family: str = ""
    control: str = ""  # id of the probe that deserves the same marks; "": this is a control

    @property
    def given(self) -> Answer:
        """The answer as a judge gets it."""
        return self.did or Answer(text=self.answer, media=self.media)


def probes(
    cases: Sequence[EvalCase], read: ReadImage
) -> tuple[tuple[Probe, ...], tuple[Diagnostic, ...]]:
    """Return every case as a probe, or the problems of the cases that are not valid probes."""
    by_id = {case.id: case for case in cases}
    problems = [_problem(case, text) for case in cases for text in _problems(case, by_id, read)]
    if problems:
        return (), tuple(problems)
    return tuple(_probe(case, by_id, read) for case in cases), ()


def in_work(found: Sequence[Probe]) -> tuple[Probe, ...]:
    """Return the attacks with their text in the work of an agent, one place each, and the controls.

    Families that claim or imitate what an answer should say are left out: in the work, their text
    can be a fact that earns a mark.
    """
    return _planted(found, WORK, _working)


def in_examples(found: Sequence[Probe]) -> tuple[Probe, ...]:
    """Return the attacks with their text in an example that the judge is shown, and the controls.

    The same families are left out as of attacks in the work.
    """
    return _planted(found, ("examples",), _shown_with)


def _planted(
    found: Sequence[Probe], places: Sequence[str], plant: Callable[[Probe, str, str, str], Probe]
) -> tuple[Probe, ...]:
    """Return the attacks with the answers of their controls, planted at one place each."""
    controls = {probe.case.id: probe for probe in found if not probe.control}
    texts = {
        probe.case.id: str(probe.case.metadata["answer"])
        for probe in found
        if probe.control and probe.family not in _OF_ANSWERS
    }
    attacks = [p for p in found if CONTROL_PLACEHOLDER in texts.get(p.case.id, "")]
    used = dict.fromkeys(probe.control for probe in attacks)
    return (
        *(plant(controls[name], controls[name].answer, "", "") for name in used),
        *(
            replace(
                plant(
                    attack,
                    controls[attack.control].answer,
                    places[number % len(places)],
                    texts[attack.case.id].replace(CONTROL_PLACEHOLDER, "").strip(),
                ),
                family=places[number % len(places)],
            )
            for number, attack in enumerate(attacks)
        ),
    )


def _shown_with(probe: Probe, answer: str, _: str, attack: str) -> Probe:
    draft = f"Draft of the reply.\n{attack}".strip()
    example = MarkedAnswer(answer=draft, marks=dict(probe.marks))
    spec = replace(spec_of(probe.case), examples=(example,))
    return replace(probe, case=replace(probe.case, evaluators=(spec,)), answer=answer)


def _working(probe: Probe, answer: str, place: str, attack: str) -> Probe:
    planted = {**dict.fromkeys(WORK, ""), place: attack}
    result = f"Draft of the reply.\n{planted['tool results']}".strip()
    lines = ["Draft of the reply.", *planted["diffs"].splitlines()]
    path = planted["file names"] or "draft.md"
    diff = "".join((f"--- a/{path}\n+++ b/{path}\n", *(f"+{line}\n" for line in lines)))
    call: dict[str, JSON] = {"tool": "Read", "input": {"path": path}, "output": result}
    did = Answer(
        text=answer,
        messages=({"role": "assistant", "tool_calls": [call]},),
        work=Work(changes=(FileChange(path=path, kind="added", diff=diff),)),
    )
    spec = replace(spec_of(probe.case), sees=("answer", "tool_calls", "file_changes"))
    case = replace(probe.case, evaluators=(spec,))
    return replace(probe, case=case, answer=answer, did=did)


def rank(criterion: Judged, value: MarkValue) -> int:
    """Return the rank of a mark among the texts of its criterion; a higher rank is more lenient.

    Two scores in the same range have the same rank, because they have the same meaning.
    """
    if value == CANNOT_ASSESS:
        return 0
    match criterion:
        case Check():
            return int((value is True) is not criterion.fault)
        case Scored():
            return sum(each.low <= int(value) for each in criterion.ranges) - 1
        case Levelled():
            return sum(each.level <= int(value) for each in criterion.levels) - 1
        case Chosen():
            worth = criterion.normalise(Mark(value=value))
            return sum(criterion.normalise(Mark(value=c.name)) < worth for c in criterion.choices)


def _probe(case: EvalCase, by_id: Mapping[str, EvalCase], read: ReadImage) -> Probe:
    own = case.metadata
    control = by_id.get(own.get("twin", ""))
    answer: str = own["answer"]
    if control:
        answer = answer.replace(CONTROL_PLACEHOLDER, control.metadata["answer"])
    media = tuple(filter(None, (read(case, name) for name in own.get("images", ()))))
    return Probe(
        case=case,
        rubric=spec_of(case).rubric,
        answer=with_names(answer, media),
        media=media,
        marks=own["marks"] if "marks" in own or not control else control.metadata["marks"],
        family=own.get("family", ""),
        control=own.get("twin", ""),
    )


def spec_of(case: EvalCase) -> RubricSpec:
    return case.rubrics[0]


def _problems(case: EvalCase, by_id: Mapping[str, EvalCase], read: ReadImage) -> Iterator[str]:
    own = case.metadata
    if not case.rubrics:
        yield "has no rubrics"
        return
    if not isinstance(own.get("answer"), str):
        yield "metadata.answer must be the text to judge"
    yield from _image_problems(case, own.get("images", []), read)
    control = own.get("twin")
    if control is None:
        yield from _mark_problems(case, own.get("marks"))
        return
    yield from _control_problems(case, by_id.get(control) if isinstance(control, str) else None)
    if "marks" in own:
        yield from _mark_problems(case, own["marks"])


def _image_problems(case: EvalCase, images: Any, read: ReadImage) -> Iterator[str]:
    if not isinstance(images, list) or not all(isinstance(name, str) for name in images):
        yield "metadata.images must be a list of paths"
        return
    for name in images:
        if read(case, name) is None:
            yield f"metadata.images: there is no image {name!r} below the folder of this file"


def _control_problems(case: EvalCase, control: EvalCase | None) -> Iterator[str]:
    if control is None:
        yield f"metadata.twin: this file has no case {case.metadata['twin']!r}"
    elif "twin" in control.metadata:
        yield f"metadata.twin: {control.id!r} has a twin itself; name a control answer"
    elif [c.id for c in spec_of(control).rubric] != [c.id for c in spec_of(case).rubric]:
        yield f"metadata.twin: {control.id!r} has other criteria"


def _mark_problems(case: EvalCase, marks: JSON) -> Iterator[str]:
    if not isinstance(marks, dict):
        yield "metadata.marks must have one mark for each criterion"
        return
    criteria = {criterion.id: criterion for criterion in spec_of(case).rubric.judged}
    for name in criteria.keys() - marks.keys():
        yield f"metadata.marks: criterion {name!r} has no mark"
    for name, value in marks.items():
        if name not in criteria:
            yield f"metadata.marks: there is no criterion {name!r}"
        elif not is_allowed(criteria[name], value):
            yield f"metadata.marks.{name}: {value!r} is not a mark of a {criteria[name].kind}"


def _problem(case: EvalCase, text: str) -> Diagnostic:
    return Diagnostic(
        rule="probe",
        severity=Severity.ERROR,
        file=case.file,
        span=case.span,
        message=f"case {case.id!r}: {text}",
        hint="see docs/calibration.md for the fields of such a case",
    )
