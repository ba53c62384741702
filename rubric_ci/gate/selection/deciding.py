"""Which cases decide: the gate's tags and targets, and the options of a run that choose cases."""

from collections.abc import Callable, Sequence

from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.grading.case_choice import read_keyword
from rubric_ci.grading.resolve import is_asked_for
from rubric_ci.values.command_settings import RunSettings
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.gate import is_gating


def asked_by(
    settings: RunSettings, marked: Callable[[EvalCase], bool] = lambda _: True
) -> Callable[[EvalCase], bool]:
    """Return a predicate of the cases that --tag and -k choose; `marked`: and pytest's -m.

    A case that another id, file or place would choose is told as removed.
    """
    matches = read_keyword(settings.keyword)

    def asked_for(case: EvalCase) -> bool:
        tagged = is_asked_for(case, ids=(), tags=settings.tags)
        return tagged and matches(case) and marked(case)

    return asked_for


def none_decides(
    loaded: LoadedProject, settings: RunSettings, asked_for: Callable[[EvalCase], bool]
) -> bool:
    """Return True if no case decides, of the whole suite or where the base had one that did.

    A part of the suite that a person runs need not have a case that decides.
    """
    gate = loaded.config.gate
    if not (gate.tags or gate.not_tags or gate.targets) or loaded.unread or loaded.invalid:
        return False

    def decide(cases: Sequence[EvalCase]) -> bool:
        return any(is_gating(case, gate) and asked_for(case) for case in cases)

    if not loaded.cases or decide(loaded.cases):
        return False
    narrowed = (settings.paths, settings.places, settings.cases, settings.tags, settings.keyword)
    base = loaded.change.grading
    return not any(narrowed) or (base is not None and decide(loaded.at_base(base).cases))
