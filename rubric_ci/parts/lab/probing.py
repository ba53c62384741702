"""Judge variants of answers: the figures of each criterion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, assert_never

import click

from rubric_ci.models.judge.prompt_parts import call_text, change_text, file_text
from rubric_ci.parts.lab.attack_corpus import rank
from rubric_ci.parts.lab.harmless_variants import harmless, minds
from rubric_ci.parts.lab.probe_figures import CriterionFigures, Measured, Mutation, figures
from rubric_ci.parts.lab.quote_variants import (
    OTHER_ANSWER,
    Quote,
    Variant,
    around,
    forbidden,
    locate,
    noticeable,
    planted,
)
from rubric_ci.parts.lab.rejudge import (
    AnswerToJudge,
    Judging,
    Marks,
    NotJudged,
    rejudge,
    show_not_judged,
)
from rubric_ci.text import numbers
from rubric_ci.values.answers import KeptAnswer, answer_of, kept
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.results import Answer, CriterionResult
from rubric_ci.values.rubric import Check, Chosen, Judged, Levelled, Scored
from rubric_ci.values.scales import scale
from rubric_ci.values.trace import CaseTrace, SeenPart

NOT_MET: Final = "the judge gives it the lowest mark, so that no variant can be marked lower"
NO_QUOTE: Final = "the judge quotes nothing of the answer or the work for it"
NOT_PLANTED: Final = (
    "it forbids something that no rule can plant; write the forbidden words in quotation marks"
)
NOT_QUOTED: Final = "the judge's quote is not in the answer or the work"
WORK: Final[tuple[SeenPart, ...]] = ("tool_calls", "file_changes", "files")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An answer, the rubric that marks it, and the criteria that are examined."""

    case: EvalCase
    spec: RubricSpec
    given: Answer
    criteria: tuple[Judged, ...]

    @property
    def answer(self) -> str:
        return self.given.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    subject: Subject
    variant: Variant
    notice: frozenset[str]  # ids of the criteria that must notice it; empty: it is harmless


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The variants of all answers, and why a criterion of an answer has none."""

    trials: tuple[Trial, ...]
    untested: Mapping[tuple[str, str, str], str]  # by file, case and criterion


def plan(pairs: Sequence[tuple[Subject, Marks]], most: int) -> Plan:
    """Return the variants of answers with the marks of the unchanged answer.

    At most `most` variants must be noticed by one criterion of an answer.
    """
    trials: list[Trial] = []
    untested: dict[tuple[str, str, str], str] = {}
    for n, (subject, marks) in enumerate(pairs):
        other = _other_answer(subject, [each for each, _ in (*pairs[n + 1 :], *pairs[:n])])
        found: dict[str, Trial] = {}
        for criterion in subject.criteria:
            variants = _to_notice(subject, criterion, marks[criterion.id], other)
            if isinstance(variants, str):
                untested[subject.case.file, subject.case.id, criterion.id] = variants
                continue
            for variant in _in_turn(variants)[:most]:
                before = found[variant.key].notice if variant.key in found else frozenset()
                notice = before | {criterion.id}
                found[variant.key] = Trial(subject=subject, variant=variant, notice=notice)
        trials += found.values()
        trials += (
            Trial(subject=subject, variant=each, notice=frozenset())
            for each in harmless(subject.answer, f"{subject.case.file}\n{subject.case.id}")
        )
    return Plan(trials=tuple(trials), untested=untested)


def mutations(
    plan: Plan, marks: Mapping[int, Marks], controls: Mapping[tuple[str, str, str], Marks]
) -> Iterator[tuple[Subject, Judged, Mutation]]:
    """Yield each variant with each criterion that it says something about.

    `marks` are by position in the plan; a variant that was not judged is left out.
    """
    for n, given in marks.items():
        trial = plan.trials[n]
        subject = trial.subject
        before = controls[key(subject)]
        for criterion in subject.criteria:
            name = criterion.id
            change = rank(criterion, given[name].mark) - rank(criterion, before[name].mark)
            if name in trial.notice:
                right = change < 0
            elif trial.notice or minds(trial.variant.family, _text_and_scale(criterion)):
                continue
            else:
                right = change == 0
            mutation = Mutation(
                case=subject.case.id,
                family=trial.variant.family,
                change=trial.variant.change,
                must_notice=bool(trial.notice),
                right=right,
            )
            yield subject, criterion, mutation


def key(subject: Subject) -> tuple[str, str, str]:
    """Return the key of a subject: file, case and evaluator."""
    return subject.case.file, subject.case.id, subject.spec.name


def _to_notice(
    subject: Subject, criterion: Judged, mark: CriterionResult, other: Answer
) -> list[Variant] | str:
    """Return the variants that a criterion must notice, or why there are none."""
    if mark.quoted_from in WORK:
        if rank(criterion, mark.mark) <= 0:
            return NOT_MET
        return [*without_quoted(subject.given, mark.evidence, other)] or NOT_QUOTED
    sentence = forbidden(criterion.text)
    if sentence is None:
        quote = _quote(subject, criterion, mark)
        return quote if isinstance(quote, str) else _variants(quote, other.text)
    if rank(criterion, mark.mark) <= 0:
        return NOT_MET
    return [*planted(subject.answer, sentence)] if sentence else NOT_PLANTED


def _variants(quote: Quote, other: str) -> list[Variant]:
    """Return the variants to notice; the last one of them is the answer of another case."""
    found = list(noticeable(quote))
    if other and not locate(quote.text, other):
        blank = next((n for n, each in enumerate(found) if each.family == "blank"), len(found))
        change = "the answer of another case"
        found.insert(blank, Variant(family=OTHER_ANSWER, text=other, change=change))
    return found


def _in_turn(variants: Sequence[Variant]) -> list[Variant]:
    """Return the first variant of each family, then the second ones, and so on."""
    families = [each.family for each in variants]
    turns = [families[:n].count(family) for n, family in enumerate(families)]
    return [variants[n] for n in sorted(range(len(variants)), key=turns.__getitem__)]


def _other_answer(subject: Subject, others: Sequence[Subject]) -> Answer:
    """Return the answer of the next case that asks something else; empty: there is none."""
    given = (
        each.given
        for each in others
        if each.case.question != subject.case.question and each.answer != subject.answer
    )
    return next(given, Answer(text=""))


def _quote(subject: Subject, criterion: Judged, mark: CriterionResult) -> Quote | str:
    """Return the quote of a criterion, or why there is none."""
    if rank(criterion, mark.mark) <= 0:
        return NOT_MET
    if not mark.evidence.strip():
        return NO_QUOTE
    places = locate(mark.evidence, subject.answer)
    if not places or not around(places, subject.answer):
        return NOT_QUOTED
    case = subject.case
    wanted = "\n".join((_text_and_scale(criterion), case.expected_outcome, case.reference_answer))
    return Quote(answer=subject.answer, text=mark.evidence, places=places, wanted=wanted)


def _text_and_scale(criterion: Judged) -> str:
    return "\n".join((criterion.text, *scale(criterion)))


def without_quoted(answer: Answer, quote: str, other: Answer) -> Iterator[Variant]:
    """Yield the answer without all that holds the quote, with other work, and without any work.

    A quote of a result alone is taken away with the result as well: the call failed.
    """
    whole = kept(answer)
    left = _without(whole, quote)
    if left == whole:
        return
    yield _variant(answer, left, "work-dropped", f"without {_dropped(whole, left)}")
    failed = _with_failures(whole, quote)
    if failed != whole and _without(failed, quote) == failed:
        yield _variant(answer, failed, "call-failed", "the call failed")
    of_other = kept(other)
    if of_other.trace and _without(of_other, quote) == of_other:
        changed = replace(whole, trace=of_other.trace, file_changes=of_other.file_changes)
        yield _variant(answer, changed, "other-work", "the work of another case")
    trace = replace(whole.trace or CaseTrace(), steps=(), files=())
    none = replace(whole, trace=trace, file_changes=())
    if none != left:
        yield _variant(answer, none, "no-work", "without any work")


def _without(whole: KeptAnswer, quote: str) -> KeptAnswer:
    trace = whole.trace or CaseTrace()
    steps = tuple(each for each in trace.steps if not _holds(call_text(each), quote))
    files = tuple(each for each in trace.files if not _holds(file_text(each), quote))
    changes = tuple(each for each in whole.file_changes if not _holds(change_text(each), quote))
    return replace(whole, trace=replace(trace, steps=steps, files=files), file_changes=changes)


def _with_failures(whole: KeptAnswer, quote: str) -> KeptAnswer:
    """Return the answer with a failure in place of each result that holds the quote."""
    trace = whole.trace or CaseTrace()
    steps = tuple(
        replace(s, result="", error=s.error or "exit status 1") if _holds(s.result, quote) else s
        for s in trace.steps
    )
    return replace(whole, trace=replace(trace, steps=steps))


def _dropped(whole: KeptAnswer, left: KeptAnswer) -> str:
    before, after = whole.trace or CaseTrace(), left.trace or CaseTrace()
    calls = [step.tool for step in before.steps if step not in after.steps]
    changed = [each.path for each in whole.file_changes if each not in left.file_changes]
    files = [each.path for each in before.files if each not in after.files]
    found = [f"the call of {name}" for name in dict.fromkeys(calls)]
    return ", ".join([*found, *dict.fromkeys((*changed, *files))])


def _holds(text: str, quote: str) -> bool:
    """Return True if a piece of work has a quote, or lies in a longer one; blanks do not count."""
    own, wanted = " ".join(text.split()), " ".join(quote.split())
    return bool(own and wanted) and (wanted in own or own in wanted)


def _variant(answer: Answer, changed: KeptAnswer, family: str, change: str) -> Variant:
    files = changed.trace.files if changed.trace else ()
    texts = [changed.answer, *map(file_text, files)]
    shown = tuple(each for each in answer.media if any(each.name in text for text in texts))
    return Variant(family=family, text=changed.answer, change=change, did=answer_of(changed, shown))


def measure(subjects: Sequence[Subject], judging: Judging, most: int) -> Measured:
    """Judge the answers of the subjects, which is free where the cache has it, then variants.

    At most `most` variants must be noticed by one criterion of an answer.
    """
    click.echo(f"judging {numbers.plural(len(subjects), 'answer')} as they are", err=True)
    controls, lost = _judged([_answer(each, each.given, judging) for each in subjects], judging)
    pairs = [(subjects[n], marks) for n, marks in controls.items()]
    planned = plan(pairs, most)
    click.echo(f"judging {numbers.plural(len(planned.trials), 'variant')} of them", err=True)
    marks, missing = _judged(
        [
            _answer(each.subject, each.variant.of(each.subject.given), judging)
            for each in planned.trials
        ],
        judging,
    )
    rows = list(mutations(planned, marks, {key(each): found for each, found in pairs}))
    return Measured(
        criteria=tuple(_criteria(rows, [each for each, _ in pairs], planned)),
        mutations=tuple(mutation for _, _, mutation in rows),
        answers=len(pairs),
        variants=len(marks),
        not_judged=lost + missing,
    )


def _judged(answers: Sequence[AnswerToJudge], judging: Judging) -> tuple[Mapping[int, Marks], int]:
    """Return the marks by position, and how many answers have none."""
    if not answers:
        return {}, 0
    result = rejudge(answers, judging)
    show_not_judged(answers, result)
    found = {n: each for n, each in enumerate(result.marks) if not isinstance(each, NotJudged)}
    return found, len(answers) - len(found)


def _answer(subject: Subject, answer: Answer, judging: Judging) -> AnswerToJudge:
    return AnswerToJudge(case=subject.case, spec=subject.spec, answer=answer, judge=judging.judge)


def _criteria(
    rows: Sequence[tuple[Subject, Judged, Mutation]], subjects: Sequence[Subject], planned: Plan
) -> Iterator[CriterionFigures]:
    """Yield the figures by place in the eval files: cases can share a criterion."""
    places: dict[tuple[str, int, str], list[tuple[Subject, Judged]]] = {}
    for subject in subjects:
        for criterion in subject.criteria:
            place = (subject.case.file, criterion.span.line, criterion.id)
            places.setdefault(place, []).append((subject, criterion))
    found: dict[tuple[str, int, str], list[Mutation]] = {}
    for subject, criterion, mutation in rows:
        place = (subject.case.file, criterion.span.line, criterion.id)
        found.setdefault(place, []).append(mutation)
    for place, users in sorted(places.items()):
        own = found.get(place, [])
        noticed, unmoved, word = figures(own)
        criterion = users[0][1]
        cases = dict.fromkeys(subject.case.id for subject, _ in users)
        why = [planned.untested.get((place[0], case, place[2]), "") for case in cases]
        yield CriterionFigures(
            file=place[0],
            line=place[1],
            case=next(iter(cases)) if len(cases) == 1 else "",
            id=place[2],
            text=criterion.template or criterion.text,
            required=_gates(criterion),
            noticed=noticed,
            unmoved=unmoved,
            word=word,
            missed=tuple(each for each in own if not each.right),
            untested=next(filter(None, why), "") if not noticed.of else "",
        )


def _gates(criterion: Judged) -> bool:
    match criterion:
        case Check():
            return criterion.required
        case Scored():
            return criterion.required_min_score is not None
        case Levelled():
            return criterion.required_min_level is not None
        case Chosen():
            return criterion.required or bool(criterion.required_choices)
        case _:
            assert_never(criterion)
