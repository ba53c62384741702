"""Equal answers of a side count once."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.comparison import repeated_answers
from rubric_ci.values.answers import pictures_of
from rubric_ci.values.config import (
    CliTarget,
    Endpoint,
    HttpRequest,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    Target,
)
from rubric_ci.values.results import Graded, Trial
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trace import CaseTrace, FileChange, Step
from tests.pictures import media, png
from tests.sample_reports import graded

LONG = "an answer that is too long to be given twice by chance"
COMMAND = CliTarget(name="agent", command_template="agent {PROMPT}")
VERDICTS: Mapping[str, Verdict] = {"p": "pass", "b": "borderline", "f": "fail"}


def model(**options: Any) -> LlmTarget:
    return LlmTarget(name="m", endpoint=Endpoint(model="openai/any", options=options))


def of_trials(*trials: tuple[str, str | None]) -> Graded:
    """Return a case with the verdict and the answer of each trial."""
    every = [Trial(verdict=VERDICTS[v], score=0.0, answer=answer) for v, answer in trials]
    return graded("0", every[0].verdict, answer=every[0].answer or "", trials=tuple(every))


def counted(case: Graded, target: Target) -> str:
    once = repeated_answers.counted_once(case, repeated_answers.said(case), target)
    return "".join(trial.verdict[0] for trial in once.trials)


@pytest.mark.parametrize(
    ("target", "long", "short"),
    [
        pytest.param(COMMAND, "f", "f", id="a command"),
        pytest.param(model(temperature=0), "f", "f", id="temperature 0"),
        pytest.param(model(seed=7), "f", "f", id="a seed"),
        pytest.param(model(temperature="${{ T }}"), "f", "f", id="an unknown temperature"),
        pytest.param(model(), "f", "fff", id="the temperature of the provider"),
        pytest.param(model(temperature=0.7), "f", "fff", id="temperature 0.7"),
        pytest.param(MockTarget(name="m", response="x"), "fff", "fff", id="a fixed response"),
        pytest.param(RecordedTarget(name="r", answers="a.jsonl"), "fff", "fff", id="recorded"),
    ],
)
def test_equal_answers_count_once(target: Target, long: str, short: str) -> None:
    """Two draws of a short answer, like a label, are often equal; two of a long one are not."""
    assert counted(of_trials(*[("f", LONG)] * 3), target) == long
    assert counted(of_trials(*[("f", "no")] * 3), target) == short


def test_equal_texts_with_other_images_count_each() -> None:
    case = of_trials(*[("f", LONG)] * 3)
    shots = (pictures_of("answer", [media("out.png", png(width, 3))]) for width in (4, 5, 5))
    trials = tuple(replace(t, media=m) for t, m in zip(case.trials, shots, strict=True))
    assert counted(replace(case, trials=trials), COMMAND) == "ff"


def test_a_service_is_not_known_to_vary() -> None:
    service = LlmTarget(name="s", endpoint=Endpoint(model="s", http=HttpRequest()))
    assert not repeated_answers.varies(service)


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        pytest.param([("f", LONG), ("f", LONG + "!"), ("f", LONG)], "ff", id="two answers"),
        pytest.param([("f", None), ("f", None)], "ff", id="answers that were not kept"),
        pytest.param([("f", LONG), ("p", LONG), ("p", LONG)], "p", id="a judge that erred once"),
        pytest.param([("f", LONG), ("p", LONG)], "f", id="the lower of two"),
        pytest.param([("f", LONG), ("b", LONG), ("p", LONG)], "b", id="the median"),
    ],
)
def test_equal_answers_have_their_median_verdict(
    trials: list[tuple[str, str | None]], expected: str
) -> None:
    assert counted(of_trials(*trials), COMMAND) == expected


def test_equal_texts_after_different_work_are_different_answers() -> None:
    def worked(tool: str, path: str) -> Graded:
        changes = (FileChange(path=path, kind="added"),)
        trace = CaseTrace(steps=(Step(tool=tool, duration_ms=1.0),))
        return graded("0", "fail", answer="Done.", trace=trace, file_changes=changes)

    first = worked("Bash", "a")
    more = [worked("Bash", "a"), worked("Read", "a"), worked("Bash", "b")]
    later = replace(more[0], trace=CaseTrace(steps=(Step(tool="Bash", duration_ms=9.0),)))
    answers = repeated_answers.said(first, [*more, later])
    assert answers[0] == answers[1] == answers[4]
    assert len(set(answers)) == 3
    several = replace(first, trials=of_trials(("f", "Done."), ("f", "Done.")).trials)
    assert repeated_answers.said(several) == [None, None]  # the work of each trial is not kept


def test_a_recorded_answer_is_a_part_of_the_change() -> None:
    case = replace(of_trials(*[("f", LONG)] * 3), recorded=True)
    assert counted(case, COMMAND) == "fff"


@pytest.mark.parametrize(
    ("trials", "verdicts"),
    [
        pytest.param([("f", LONG)] * 3, "f", id="equal"),
        pytest.param([("f", LONG), ("p", LONG), ("p", LONG)], "p", id="the judge differs"),
        pytest.param([("f", LONG), ("p", LONG)], "f", id="the lower of two"),
        pytest.param([("f", LONG), ("p", f"{LONG}.")], "fp", id="other answers"),
        pytest.param([("f", "no")] * 3, "fff", id="a label"),
        pytest.param([("f", None)] * 3, "fff", id="texts are not kept"),
    ],
)
def test_a_trial_of_each_answer_of_a_report(
    trials: list[tuple[str, str | None]], verdicts: str
) -> None:
    found = repeated_answers.each_once(of_trials(*trials).trials)
    assert "".join(trial.verdict[0] for trial in found) == verdicts


def test_the_work_is_a_part_of_the_answer_of_a_report() -> None:
    one = Trial(verdict="fail", score=0.0, answer=LONG, trace=CaseTrace(steps=(Step(tool="a"),)))
    other = replace(one, trace=CaseTrace(steps=(Step(tool="b"),)))
    assert len(repeated_answers.each_once([one, one, other])) == 2


def test_the_images_are_a_part_of_the_answer_of_a_report() -> None:
    shots = (pictures_of("answer", [media("out.png", png(width, 3))]) for width in (4, 5))
    one, other = (Trial(verdict="fail", score=0.0, answer=LONG, media=each) for each in shots)
    assert len(repeated_answers.each_once([one, one, other])) == 2
